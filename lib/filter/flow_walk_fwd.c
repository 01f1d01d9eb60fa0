/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/flow_walk_fwd.h"

#include <string.h>

#include <rte_branch_prediction.h>

#include "filter/flow_find_fwd.h"
#include "filter/flow_plain_fwd.h"
#include "filter/flow_word_fwd.h"
#include "filter/rule.h"
#include "lcore/output_fwd.h"
#include "packet/load_fwd.h"

/* Packets of a walk that are looked up, by their place in its list. */
struct flow_burst {
	struct flow_context context;
	uint64_t asked;  /* mask: to be looked up */
	uint64_t makers; /* mask: whose rule keeps state */
	uint64_t read;   /* mask: these, and who may have to ask again */
	uint64_t hash[MR_VECTOR_SIZE];
	struct flow_packet packet[MR_VECTOR_SIZE];
};

struct flow_context filter_flow_context(const struct mr_filter_program *program,
					const struct mr_lcore *lcore)
{
	struct filter_flows *flows = program->fwd->flows;

	return (struct flow_context){
		.flows = flows,
		.own = flows->table[lcore->index],
		.rules = &program->flows,
		.now = __atomic_load_n(&lcore->forwarding->seconds, __ATOMIC_RELAXED),
	};
}

static void read_packets(const struct walk *walk, struct flow_burst *burst)
{
	uint16_t domain = filter_flow_domain(walk->iface);
	uint32_t epoch = __atomic_load_n(&burst->context.flows->epoch, __ATOMIC_RELAXED);

	for (uint64_t left = burst->read; left != 0; left &= left - 1) {
		unsigned n = (unsigned)__builtin_ctzll(left);
		const struct rte_mbuf *m = walk->packet[walk->at[n]];
		struct flow_packet *packet = &burst->packet[n];

		flow_packet_read(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &walk->key[n],
				 domain, epoch, packet);
		if (packet->kind != FLOW_OF_KEY)
			continue;
		burst->hash[n] = flow_hash(burst->context.own, &packet->key);
		flow_prefetch(burst->context.own, burst->hash[n]);
	}
}

static void prefetch_entries(const struct flow_burst *burst)
{
	for (uint64_t left = burst->read; left != 0; left &= left - 1) {
		unsigned n = (unsigned)__builtin_ctzll(left);
		uint32_t slot;

		if (burst->packet[n].kind != FLOW_OF_KEY)
			continue;
		slot = flow_prefetch_entry(burst->context.own, burst->hash[n]);
		if (slot != FLOW_NOWHERE)
			rte_prefetch0(&burst->context.own->entry[slot].tcp);
	}
}

/* Does what the rule says that made the packet's flow: it allows. */
static void pass(struct walk *walk, unsigned i, uint32_t rule)
{
	struct filter_run run = {0};

	filter_run_add(walk, &run, i, rule);
	filter_run_end(walk, &run);
	flow_word_tell(walk, i, rule);
	walk->kept |= UINT64_C(1) << i;
}

static void refuse(const struct walk *walk, unsigned i, enum flow_answer why)
{
	enum mr_drop_reason reason = why == FLOW_BAD_STATE    ? MR_DROP_filter_bad_state
				     : why == FLOW_NO_PLACE   ? MR_DROP_filter_state_full
				     : why == FLOW_BAD_HEADER ? MR_DROP_filter_bad_header
							      : MR_DROP_filter_state_limit;

	mr_drop(walk->lcore, walk->iface->port, reason, &walk->packet[i], 1);
}

static bool is_refused(enum flow_answer answer)
{
	return answer == FLOW_BAD_STATE || answer == FLOW_NO_PLACE || answer == FLOW_OVER_LIMIT ||
	       answer == FLOW_BAD_HEADER;
}

/* Of one end of a flow. */
static uint64_t hash_of_end(const struct flow_table *table, const uint8_t *address, uint16_t port)
{
	return flow_mix(mr_load64(address) ^ table->salt,
			mr_load64(address + 8) ^ ~table->salt ^ port);
}

/* The same for both directions of a flow; nobody can choose which flows have it in common. */
static uint32_t hash_of_both(const struct flow_table *table, const struct flow_key *key)
{
	uint64_t sum = hash_of_end(table, key->src, key->sport) +
		       hash_of_end(table, key->dst, key->dport) + key->protocol;

	return (uint32_t)((sum * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - FLOWS_MADE_BITS));
}

static void note_made(struct walk *walk, const struct flow_burst *burst, unsigned n)
{
	uint32_t hash = hash_of_both(burst->context.own, &burst->packet[n].key);

	if (!walk->made.any)
		memset(&walk->made.hash, 0, sizeof(walk->made.hash));
	walk->made.any = true;
	walk->made.hash[hash / 64] |= UINT64_C(1) << hash % 64;
}

/* Whether a packet is to be looked up: for the first time, or once more because its flow may have
 * been made meanwhile. */
static bool is_asked(const struct walk *walk, const struct flow_burst *burst, unsigned n)
{
	uint32_t hash;

	if ((burst->asked >> n & 1) != 0)
		return true;
	if (!walk->made.any || (walk->asked >> walk->at[n] & 1) == 0 ||
	    burst->packet[n].kind == FLOW_NO_KIND)
		return false;
	hash = hash_of_both(burst->context.own, &burst->packet[n].key);
	return (walk->made.hash[hash / 64] >> hash % 64 & 1) != 0;
}

/* Ends a packet's way through the rules, if its flow decides it: whether the packet is still on its
 * way. */
static bool meet(struct walk *walk, const struct flow_burst *burst, unsigned n)
{
	unsigned i = walk->at[n];
	enum flow_answer answer;
	uint32_t rule;

	if (is_asked(walk, burst, n)) {
		walk->asked |= UINT64_C(1) << i;
		answer =
			filter_flow_meet(&burst->context, &burst->packet[n], burst->hash[n], &rule);
		if (answer == FLOW_KNOWN) {
			pass(walk, i, rule);
			return false;
		}
		if (unlikely(is_refused(answer))) {
			refuse(walk, i, answer);
			return false;
		}
	}
	if ((burst->makers >> n & 1) == 0)
		return true;
	answer = filter_flow_make(&burst->context, &burst->packet[n], burst->hash[n],
				  walk->program->effect[walk->rule[n]].keep);
	if (likely(!is_refused(answer))) {
		if (answer == FLOW_MADE) {
			note_made(walk, burst, n);
			flow_word_tell(walk, i, walk->rule[n]);
		}
		return true;
	}
	refuse(walk, i, answer);
	return false;
}

/* A packet stays on the list, at a place before its own. */
static void move(struct walk *walk, unsigned to, unsigned from)
{
	if (to == from)
		return;
	walk->key[to] = walk->key[from];
	walk->start[to] = walk->start[from];
	walk->at[to] = walk->at[from];
	walk->rule[to] = walk->rule[from]; /* if there is one yet */
}

/* All behind the first packet that may make a flow. */
static uint64_t who_may_ask_again(const struct walk *walk, const struct flow_burst *burst)
{
	uint64_t all = walk->count != 0 ? UINT64_MAX >> (64 - walk->count) : 0;

	if (walk->made.any)
		return all;
	return burst->makers != 0 ? all & (UINT64_MAX << __builtin_ctzll(burst->makers)) : 0;
}

static void meet_all(struct walk *walk, struct flow_burst *burst)
{
	unsigned count = walk->count, left = 0;

	burst->read = burst->asked | burst->makers | who_may_ask_again(walk, burst);
	if (burst->read == 0)
		return;
	read_packets(walk, burst);
	prefetch_entries(burst);
	for (unsigned n = 0; n < count; n++)
		if (meet(walk, burst, n))
			move(walk, left++, n);
	walk->count = left;
}

void filter_meet_flows(struct walk *walk)
{
	struct flow_burst burst;

	burst.context = filter_flow_context(walk->program, walk->lcore);
	burst.asked = UINT64_MAX >> (64 - walk->count);
	burst.makers = 0;
	meet_all(walk, &burst);
}

/* Whether a packet, whose rule is known, has passed a rule with state only now. */
static bool is_to_ask(const struct walk *walk, unsigned n)
{
	return (walk->asked >> walk->at[n] & 1) == 0 &&
	       walk->rule[n] >= walk->program->effect[walk->start[n]].state[walk->out];
}

/* Takes those off the list whose flows let them pass at once. */
static void pass_plain(struct walk *walk)
{
	unsigned count = walk->count, left = 0;
	uint64_t asked = 0, passed;

	for (unsigned n = 0; n < count; n++)
		asked |= (uint64_t)is_to_ask(walk, n) << walk->at[n];
	passed = filter_pass_flows(walk, asked);
	if (passed == 0)
		return;
	for (unsigned n = 0; n < count; n++)
		if ((passed >> walk->at[n] & 1) == 0)
			move(walk, left++, n);
	walk->count = left;
}

void filter_keep_flows(struct walk *walk)
{
	const struct mr_filter_effect *effect = walk->program->effect;
	struct flow_burst burst;
	unsigned count;

	pass_plain(walk);
	/* A list is never longer, which a compiler cannot know. */
	count = RTE_MIN(walk->count, (unsigned)MR_VECTOR_SIZE);
	burst.context = filter_flow_context(walk->program, walk->lcore);
	burst.asked = 0;
	burst.makers = 0;
	for (unsigned n = 0; n < count; n++) {
		burst.asked |= (uint64_t)is_to_ask(walk, n) << n;
		burst.makers |= (uint64_t)(effect[walk->rule[n]].keep != NULL) << n;
	}
	meet_all(walk, &burst);
}

void mr_filter_tick(const struct mr_hooks *hooks, struct mr_lcore *lcore)
{
	const struct mr_filter_program *program = (const struct mr_filter_program *)hooks;
	struct flow_context context = filter_flow_context(program, lcore);

	filter_flow_sweep(&context, !lcore->was_busy);
}
