/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is over is ended in rounds, one a second, of short turns: packets wait meanwhile, and a
 * table may be large. What packets use needs no look, so a turn reads little more than tags. An
 * lcore that sleeps has few turns; when it is late and idle, they are longer.
 */
#include <string.h>

#include <rte_common.h>
#include <rte_prefetch.h>

#include "filter/flow_pair_fwd.h"
#include "lcore/counters.h"

enum {
	SLOTS_A_TURN = 128,
	ENTRIES_A_TURN = 4,
	IDLE_TURNS = 16, /* at once: about 10 us */
};

/* Whether an entry needs no closer look: a packet of this period or the one before, under the same
 * rules, has had one. */
static bool is_in_use(const struct flow_context *context, const struct flow_entry *entry)
{
	struct flow_key key;

	filter_flow_period(context);
	memcpy(&key, entry->key, sizeof(key));
	return entry->fresh >= context->own->recent &&
	       key.epoch == __atomic_load_n(&context->flows->epoch, __ATOMIC_RELAXED);
}

static void sweep_entry(const struct flow_context *context, uint32_t slot)
{
	struct flow_entry *entry = &context->own->entry[slot];
	struct flow_pair pair;
	uint32_t index;
	bool opening;

	if (is_in_use(context, entry))
		return;
	flow_pair_load(context, slot, &pair);
	if (!flow_pair_is_dead(context, &pair, &opening) && flow_entry_rule(context, entry, &index))
		return;
	flow_end(context->own, slot);
	mr_count(&context->own->counters.expired, 1);
}

/* Asks for the entries of the next turn. */
static void prefetch_entries(const struct flow_table *own)
{
	for (uint32_t i = 0; i < ENTRIES_A_TURN; i++) {
		const struct flow_entry *entry =
			&own->entry[(own->swept + i) & (flow_table_slots(own) - 1)];

		rte_prefetch0(entry);
	}
}

/* How many turns to take at once. The round of the second before has ended, unless it is late. */
static uint32_t turns_of(const struct flow_context *context, bool idle)
{
	return idle && context->now - context->own->round > 1 ? IDLE_TURNS : 1;
}

void filter_flow_sweep(const struct flow_context *context, bool idle)
{
	struct flow_table *own = context->own;
	uint32_t slots = flow_table_slots(own), slot = own->swept;
	uint32_t turns = turns_of(context, idle);
	uint32_t end = RTE_MIN(slot + turns * SLOTS_A_TURN, slots);

	if (own->round == context->now)
		return;
	for (unsigned entries = 0; slot < end && entries < turns * ENTRIES_A_TURN; slot++) {
		if (own->tags[slot / FLOW_BUCKET].tag[slot % FLOW_BUCKET] == 0)
			continue;
		sweep_entry(context, slot);
		entries++;
	}
	own->swept = slot;
	if (slot < slots) {
		prefetch_entries(own);
		return;
	}
	own->swept = 0;
	own->round = context->now;
}
