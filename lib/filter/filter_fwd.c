/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets meet the rules at two hooks: when they arrived and before they leave. What a set of rules
 * does not look at is not read: where the same rule decides about everything a hook only counts.
 * And what is found out at input is not found out again at output: a word in the packet says that
 * no rule matches it (glance_fwd.h), names its flow (plain_cache_fwd.h), or says that its flow let
 * it pass (flow_word_fwd.h).
 */
#include "filter/filter_fwd.h"

#include <rte_branch_prediction.h>

#include "filter/flow_word_fwd.h"
#include "filter/program_fwd.h"
#include "filter/rule.h"
#include "filter/walk_fwd.h"
#include "packet/mask_fwd.h"

/* Whether a bridge's traffic is left alone. */
static bool is_exempt(const struct mr_filter_program *program, const struct mr_iface *iface)
{
	return iface->mode == MR_MODE_BRIDGE &&
	       __atomic_load_n(&program->fwd->exempt[iface->bridge], __ATOMIC_RELAXED) != 0;
}

/* The rule that decides about every packet at a hook, if it lets all of them pass. */
static const struct mr_filter_effect *passes_all(const struct mr_filter_program *program, bool out)
{
	const struct mr_classifier *classifier = program->classifier[out];
	const struct mr_filter_effect *effect = &program->effect[classifier->trivial_rule];

	return classifier->trivial && effect->action == MR_FILTER_ALLOW && !effect->log &&
			       program->flows.count == 0
		       ? effect
		       : NULL;
}

static void start(struct walk *walk, const struct mr_filter_program *program,
		  struct mr_lcore *lcore, const struct mr_iface *iface, struct rte_mbuf **packets,
		  bool out)
{
	walk->program = program;
	walk->lcore = lcore;
	walk->hits = program->fwd->hits[lcore->index];
	walk->packet = packets;
	walk->iface = iface;
	walk->out = out;
	walk->kept = 0;
	walk->first = 0;
	walk->tell = 0;
	walk->asked = 0;
	walk->made.any = false;
	walk->count = 0;
}

/* Closes the gaps; returns how many packets are left. */
static unsigned keep(struct rte_mbuf **packets, unsigned count, uint64_t kept)
{
	unsigned left = 0;

	for (unsigned i = 0; i < count; i++)
		if ((kept >> i & 1) != 0)
			packets[left++] = packets[i];
	return left;
}

/* ---- what the input hook tells the output hook ---- */

static const struct mr_filter_effect *unmatched(const struct walk *walk)
{
	return &walk->program->effect[walk->program->count];
}

static void tell_nothing(struct rte_mbuf *const *packets, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		*mr_hook_word(packets[i]) = 0;
}

/* Lets packets of a mask pass that no rule matches, and tells the output hook which they are. */
static void pass_unmatched(struct walk *walk, uint64_t mask, unsigned count)
{
	walk->kept = mask;
	for (unsigned i = 0; i < count; i++)
		*mr_hook_word(walk->packet[i]) = (mask >> i & 1) != 0 ? PLAIN_WORD_UNMATCHED : 0;
	filter_count_all(walk, unmatched(walk), mask);
}

/* Finds the packets that no rule matches, or none before the first with state. */
static void glance(struct walk *walk, unsigned count)
{
	struct filter_worth *worth = &filter_plain_cache(walk)->glance_worth;
	const bool *first = walk->program->state_first;
	uint64_t all = UINT64_MAX >> (64 - count), mask = 0;

	if (walk->program->glance != NULL && filter_is_worth(worth, count)) {
		mask = filter_glance(walk->program->glance, walk->packet, count);
		filter_worth_note(worth, count, (unsigned)__builtin_popcountll(mask));
	}
	if (mask != 0 && !walk->program->glance_flows) {
		pass_unmatched(walk, mask, count);
		return;
	}
	tell_nothing(walk->packet, count);
	walk->first = first[0] ? all : mask;
	walk->tell = first[0] && first[1] ? all : mask;
}

/* Lets the packets pass of which the input hook said that no rule matches them. */
static void recall(struct walk *walk, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		walk->kept |= (uint64_t)(*mr_hook_word(walk->packet[i]) == PLAIN_WORD_UNMATCHED)
			      << i;
	filter_count_all(walk, unmatched(walk), walk->kept);
}

/* ---- the hooks ---- */

void mr_filter_input(const struct mr_hooks *hooks, struct mr_lcore *lcore, struct mr_vector *vector,
		     const struct mr_iface *iface)
{
	const struct mr_filter_program *program = (const struct mr_filter_program *)hooks;
	const struct mr_filter_effect *effect = passes_all(program, false);
	struct walk walk;

	if (unlikely(is_exempt(program, iface))) {
		tell_nothing(vector->packet, vector->count);
		return;
	}
	start(&walk, program, lcore, iface, vector->packet, false);
	/* Else the output hook is told something. */
	if (effect != NULL && program->glance == NULL && !program->by_flow) {
		filter_count_all(&walk, effect, mr_vector_all(vector));
		return;
	}
	glance(&walk, vector->count);
	filter_meet_rules(&walk, vector->count);
	if (unlikely(walk.kept != mr_vector_all(vector)))
		vector->count = (uint16_t)keep(vector->packet, vector->count, walk.kept);
}

unsigned mr_filter_output(const struct mr_hooks *hooks, struct mr_lcore *lcore,
			  const struct mr_iface *iface, struct rte_mbuf **packets, unsigned count,
			  uint64_t *bytes)
{
	const struct mr_filter_program *program = (const struct mr_filter_program *)hooks;
	const struct mr_filter_effect *effect = passes_all(program, true);
	struct walk walk;

	if (count == 0 || unlikely(is_exempt(program, iface)))
		return count;
	start(&walk, program, lcore, iface, packets, true);
	if (program->state_first[1])
		walk.first = UINT64_MAX >> (64 - count);
	if (effect != NULL) {
		filter_hit(&walk, effect->counter, count, *bytes);
		return count;
	}
	if (filter_tells_flows(program))
		flow_word_recall(&walk, UINT64_MAX >> (64 - count), FLOW_WORD_FIRST);
	else if (program->glance != NULL)
		recall(&walk, count);
	filter_meet_rules(&walk, count);
	if (unlikely(walk.kept != UINT64_MAX >> (64 - count))) {
		count = keep(packets, count, walk.kept);
		*bytes = filter_bytes(packets, count);
	}
	return count;
}
