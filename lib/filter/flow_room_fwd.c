/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who makes room in a flood of new flows, when each packet wants a place and there is none.
 *
 * A line of tags says which of a bucket's flows are not settled, so those that no flood may end are
 * not even read. Of the others a few are looked at, others each time, and the one that was idle
 * longest goes: nearly the oldest, at a fraction of what finding the oldest costs.
 */
#include "filter/flow_room_fwd.h"

#include <rte_branch_prediction.h>

#include "filter/flow_find_fwd.h"
#include "filter/flow_pair_fwd.h"
#include "lcore/counters.h"

enum {
	LOOKED_AT = 4,         /* of those that are not settled */
	SETTLED_LOOKED_AT = 2, /* of those that are, which may be over */
};

/* Slots that a new entry could have. */
struct candidates {
	unsigned count;
	uint32_t slot[LOOKED_AT];
};

/* Picks a few of the places of a mask, whose upper half is the second bucket's. */
static void pick(struct flow_table *own, uint64_t hash, uint32_t places, unsigned most,
		 struct candidates *candidates)
{
	unsigned hand = own->hand++ % FLOW_CHOICES;

	places = places >> hand | (uint32_t)((uint64_t)places << (FLOW_CHOICES - hand));
	for (candidates->count = 0; places != 0 && candidates->count < most; places &= places - 1) {
		unsigned n = ((unsigned)__builtin_ctz(places) + hand) % FLOW_CHOICES;
		uint32_t bucket = flow_bucket(own, hash, n / FLOW_BUCKET);

		candidates->slot[candidates->count++] = bucket * FLOW_BUCKET + n % FLOW_BUCKET;
	}
}

/* Takes out the one that was idle longest. */
static uint32_t take_oldest(const struct flow_context *context, struct candidates *candidates)
{
	unsigned oldest = 0;
	uint32_t longest = 0, slot;

	for (unsigned i = 0; i < candidates->count; i++) {
		uint32_t idle = context->now - context->own->entry[candidates->slot[i]].seen;

		if (idle <= longest)
			continue;
		oldest = i;
		longest = idle;
	}
	slot = candidates->slot[oldest];
	candidates->slot[oldest] = candidates->slot[--candidates->count];
	return slot;
}

/* Ends an entry that is over, or opening and not settled. Else it is settled now, if it was not. */
static bool give_up(const struct flow_context *context, uint32_t slot)
{
	struct flow_table *own = context->own;
	const struct flow_entry *entry = &own->entry[slot];
	struct flow_pair pair;
	bool opening, dead;

	flow_pair_load(context, slot, &pair);
	dead = flow_pair_is_dead(context, &pair, &opening);
	if (!dead && (!opening || (entry->link & FLOW_SETTLED) != 0)) {
		flow_set_link(own, slot, entry->link | FLOW_SETTLED);
		return false;
	}
	mr_count(dead ? &own->counters.expired : &own->counters.evicted, 1);
	flow_end(own, slot);
	return true;
}

/* Looks at a few of the places of a mask; returns the slot of one that was given up. */
static uint32_t look(const struct flow_context *context, uint64_t hash, uint32_t places,
		     unsigned most)
{
	struct candidates candidates;

	pick(context->own, hash, places, most, &candidates);
	while (candidates.count != 0) {
		uint32_t slot = take_oldest(context, &candidates);

		if (give_up(context, slot))
			return slot;
	}
	return FLOW_NOWHERE;
}

uint32_t flow_make_room(const struct flow_context *context, uint64_t hash)
{
	struct flow_table *own = context->own;
	const struct flow_tags *first = &own->tags[flow_bucket(own, hash, 0)];
	const struct flow_tags *second = &own->tags[flow_bucket(own, hash, 1)];
	uint32_t slot = flow_free_slot(own, hash), open;

	while (slot == FLOW_NOWHERE) {
		open = flow_open_places(first) | flow_open_places(second) << FLOW_BUCKET;
		if (open == 0)
			return look(context, hash, UINT32_MAX, SETTLED_LOOKED_AT);
		slot = look(context, hash, open, LOOKED_AT); /* or there are fewer open ones now */
	}
	return slot;
}
