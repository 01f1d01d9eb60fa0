/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/flow_walk_fwd.h"

#include <rte_branch_prediction.h>

#include "filter/log_fwd.h"
#include "filter/rule.h"
#include "lcore/output_fwd.h"

/* Packets of a walk that are looked up, by their place in its list. */
struct flow_burst {
	struct flow_context context;
	uint64_t asked;  /* mask: to be looked up */
	uint64_t makers; /* mask: whose rule keeps state */
	uint64_t hash[MR_VECTOR_SIZE];
	struct flow_packet packet[MR_VECTOR_SIZE];
};

static struct flow_context context_of(const struct mr_filter_program *program,
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
	uint16_t domain =
		walk->iface->mode == MR_MODE_BRIDGE ? (uint16_t)(walk->iface->bridge + 1) : 0;
	uint32_t epoch = __atomic_load_n(&burst->context.flows->epoch, __ATOMIC_RELAXED);

	for (uint64_t left = burst->asked | burst->makers; left != 0; left &= left - 1) {
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
	for (uint64_t left = burst->asked | burst->makers; left != 0; left &= left - 1) {
		unsigned n = (unsigned)__builtin_ctzll(left);

		if (burst->packet[n].kind == FLOW_OF_KEY)
			flow_prefetch_entry(burst->context.own, burst->hash[n]);
	}
}

/* Does what the rule says that made the packet's flow: it allows. */
static void pass(struct walk *walk, unsigned i, uint32_t rule)
{
	const struct mr_filter_effect *effect = &walk->program->effect[rule];
	struct rte_mbuf *m = walk->packet[i];

	filter_hit(walk, effect->counter, 1, m->pkt_len);
	if (unlikely(effect->log))
		mr_filter_log(walk->lcore, &walk->program->fwd->log[walk->lcore->index], m,
			      walk->iface->index,
			      mr_filter_log_word(effect->number, effect->action, walk->out));
	walk->kept |= UINT64_C(1) << i;
}

static void refuse(const struct walk *walk, unsigned i, enum flow_answer why)
{
	enum mr_drop_reason reason = why == FLOW_BAD_STATE  ? MR_DROP_filter_bad_state
				     : why == FLOW_NO_PLACE ? MR_DROP_filter_state_full
							    : MR_DROP_filter_state_limit;

	mr_drop(walk->lcore, walk->iface->port, reason, &walk->packet[i], 1);
}

static bool is_refused(enum flow_answer answer)
{
	return answer == FLOW_BAD_STATE || answer == FLOW_NO_PLACE || answer == FLOW_OVER_LIMIT;
}

/* Ends a packet's way through the rules, if its flow decides it: whether the packet is still on its
 * way. */
static bool meet(struct walk *walk, const struct flow_burst *burst, unsigned n)
{
	unsigned i = walk->at[n];
	enum flow_answer answer;
	uint32_t rule;

	if ((burst->asked >> n & 1) != 0) {
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
	if (likely(!is_refused(answer)))
		return true;
	refuse(walk, i, answer);
	return false;
}

static void meet_all(struct walk *walk, struct flow_burst *burst, bool ruled)
{
	unsigned count = walk->count, left = 0;

	if ((burst->asked | burst->makers) == 0)
		return;
	read_packets(walk, burst);
	prefetch_entries(burst);
	for (unsigned n = 0; n < count; n++) {
		if (!meet(walk, burst, n))
			continue;
		if (left != n) {
			walk->key[left] = walk->key[n];
			walk->start[left] = walk->start[n];
			walk->at[left] = walk->at[n];
			if (ruled)
				walk->rule[left] = walk->rule[n];
		}
		left++;
	}
	walk->count = left;
}

void filter_meet_flows(struct walk *walk)
{
	struct flow_burst burst;

	burst.context = context_of(walk->program, walk->lcore);
	burst.asked = UINT64_MAX >> (64 - walk->count);
	burst.makers = 0;
	meet_all(walk, &burst, false);
}

void filter_keep_flows(struct walk *walk)
{
	const struct mr_filter_effect *effect = walk->program->effect;
	/* A list is never longer, which a compiler cannot know. */
	unsigned count = RTE_MIN(walk->count, (unsigned)MR_VECTOR_SIZE);
	struct flow_burst burst;

	burst.context = context_of(walk->program, walk->lcore);
	burst.asked = 0;
	burst.makers = 0;
	for (unsigned n = 0; n < count; n++) {
		uint32_t first = effect[walk->start[n]].state[walk->out];
		bool asked = (walk->asked >> walk->at[n] & 1) != 0;

		burst.asked |= (uint64_t)(!asked && walk->rule[n] >= first) << n;
		burst.makers |= (uint64_t)(effect[walk->rule[n]].keep != NULL) << n;
	}
	meet_all(walk, &burst, true);
}

void mr_filter_tick(const struct mr_hooks *hooks, struct mr_lcore *lcore)
{
	const struct mr_filter_program *program = (const struct mr_filter_program *)hooks;
	struct flow_context context = context_of(program, lcore);

	filter_flow_sweep(&context);
}
