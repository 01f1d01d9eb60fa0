/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets meet the rules at two hooks: when they arrived and before they leave. What a set of rules
 * does not look at is not read: where the same rule decides about everything a hook only counts.
 *
 * Else the headers of the whole vector are read, all packets are looked up at once, and each goes
 * where its own rule says. Those whose rule is not final go on from the rule after it, once more as
 * a vector, until none is left; so a packet costs a lookup for each such rule that it matches and
 * nothing for rules that it does not.
 *
 * On routed interfaces rules are about IP: ARP and whatever else the router does not route passes.
 */
#include "filter/filter_fwd.h"

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_ether.h>

#include "filter/action_fwd.h"
#include "filter/log_fwd.h"
#include "filter/police_fwd.h"
#include "filter/program_fwd.h"
#include "filter/rule.h"
#include "lcore/output_fwd.h"
#include "packet/mask_fwd.h"
#include "packet/punt.h"

/* Packets on their way through the rules. */
struct walk {
	const struct mr_filter_program *program;
	struct mr_lcore *lcore;
	struct mr_filter_hits *hits; /* the lcore's, by counter */
	struct rte_mbuf **packet;
	const struct mr_iface *iface; /* of the hook */
	bool out;                     /* which hook */
	uint64_t kept;                /* mask of packets that go on */
	unsigned count;               /* of those below */
	uint8_t at[MR_VECTOR_SIZE];   /* in packet[] */
	uint32_t start[MR_VECTOR_SIZE], rule[MR_VECTOR_SIZE];
	struct mr_filter_key key[MR_VECTOR_SIZE];
};

static void hit(const struct walk *walk, uint32_t counter, uint64_t packets, uint64_t bytes)
{
	struct mr_filter_hits *hits = &walk->hits[counter];

	mr_count(&hits->packets, packets);
	mr_count(&hits->bytes, bytes);
	__atomic_store_n(&hits->seconds,
			 __atomic_load_n(&walk->lcore->forwarding->seconds, __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
}

static void drop(const struct walk *walk, unsigned i, enum mr_drop_reason reason)
{
	mr_drop(walk->lcore, walk->iface->port, reason, &walk->packet[i], 1);
}

static bool is_ip(const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint16_t type;

	memcpy(&type, frame + 12, sizeof(type));
	return type == RTE_BE16(RTE_ETHER_TYPE_IPV4) || type == RTE_BE16(RTE_ETHER_TYPE_IPV6);
}

/* Reads the keys of all packets of a mask that rules are about. */
static void read_keys(struct walk *walk, const struct mr_classifier *classifier, uint64_t mask)
{
	bool routed = walk->iface->mode == MR_MODE_ROUTE;
	struct mr_filter_place place = {
		.iface_in = walk->iface->index, .iface_out = MR_IFACE_NONE, .out = walk->out};

	for (; mask != 0; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctzll(mask);
		const struct rte_mbuf *m = walk->packet[i];
		enum mr_filter_reading reading;

		if (routed && unlikely(!is_ip(m))) {
			walk->kept |= UINT64_C(1) << i;
			continue;
		}
		if (walk->out) {
			place.iface_in = m->port; /* a port's base interface has its number */
			place.iface_out = walk->iface->index;
		}
		reading = mr_filter_key_read(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len,
					     classifier->wants, &place, &walk->key[walk->count]);
		if (unlikely(reading != MR_FILTER_READ)) {
			drop(walk, i, mr_filter_reading_drop(reading));
			continue;
		}
		walk->start[walk->count] = 0;
		walk->at[walk->count++] = (uint8_t)i;
	}
}

/* Does what a rule says; returns whether the packet goes on through the rules. */
static bool act(struct walk *walk, unsigned i, const struct mr_filter_effect *effect)
{
	struct rte_mbuf **packet = &walk->packet[i];

	switch ((enum mr_filter_action)effect->action) {
	case MR_FILTER_ALLOW:
		walk->kept |= UINT64_C(1) << i;
		return false;
	case MR_FILTER_DENY:
		drop(walk, i, MR_DROP_filter_denied);
		return false;
	case MR_FILTER_REJECT:
		mr_punt(walk->lcore, *packet, walk->iface->index, MR_PUNT_REJECT, 0,
			MR_DROP_filter_rejected);
		return false;
	case MR_FILTER_SET_DSCP:
		if (mr_filter_set_dscp(walk->lcore, packet, effect->dscp))
			return true;
		drop(walk, i, MR_DROP_no_mbuf);
		return false;
	case MR_FILTER_POLICE:
		if (mr_filter_police_spend(effect->police, walk->lcore->index, (*packet)->pkt_len))
			return true;
		drop(walk, i, MR_DROP_filter_policed);
		return false;
	case MR_FILTER_MIRROR:
		mr_filter_mirror(walk->lcore, *packet, effect->iface);
		return true;
	default:
		return true;
	}
}

/* One lookup and what follows from it, for all packets that are still on their way. */
static void step(struct walk *walk, const struct mr_classifier *classifier,
		 struct mr_verdict_cache *cache)
{
	const struct mr_filter_effect *run; /* neighbours mostly meet the same rule */
	uint64_t packets = 0, bytes = 0;
	unsigned count = walk->count;

	mr_classify(classifier, cache, walk->key, walk->start, count, walk->rule);
	walk->count = 0;
	run = &walk->program->effect[walk->rule[0]];
	for (unsigned n = 0; n < count; n++) {
		const struct mr_filter_effect *effect = &walk->program->effect[walk->rule[n]];
		unsigned i = walk->at[n];

		if (effect != run) {
			hit(walk, run->counter, packets, bytes);
			run = effect;
			packets = bytes = 0;
		}
		packets++;
		bytes += walk->packet[i]->pkt_len;
		if (unlikely(effect->log))
			mr_filter_log(
				walk->lcore, &walk->program->fwd->log[walk->lcore->index],
				walk->packet[i], walk->iface->index,
				mr_filter_log_word(effect->number, effect->action, walk->out));
		if (likely(effect->action == MR_FILTER_ALLOW)) {
			walk->kept |= UINT64_C(1) << i;
		} else if (act(walk, i, effect)) {
			walk->key[walk->count] = walk->key[n];
			walk->start[walk->count] = effect->next;
			walk->at[walk->count++] = (uint8_t)i;
		}
	}
	hit(walk, run->counter, packets, bytes);
}

/* Returns the mask of packets that go on, of `count`. */
static uint64_t meet_rules(struct walk *walk, unsigned count)
{
	const struct mr_classifier *classifier = walk->program->classifier[walk->out];

	read_keys(walk, classifier, UINT64_MAX >> (64 - count) & ~walk->kept);
	while (walk->count != 0)
		step(walk, classifier, walk->program->fwd->cache[walk->lcore->index][walk->out]);
	return walk->kept;
}

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

	return classifier->trivial && effect->action == MR_FILTER_ALLOW && !effect->log ? effect
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

static uint64_t bytes_of(struct rte_mbuf *const *packets, unsigned count)
{
	uint64_t bytes = 0;

#pragma GCC unroll 4
	for (unsigned i = 0; i < count; i++)
		bytes += packets[i]->pkt_len;
	return bytes;
}

/* ---- the first glance ---- */

/* Counts packets of a mask that all meet the same rule. */
static void count_all(const struct walk *walk, const struct mr_filter_effect *effect, uint64_t mask)
{
	uint64_t bytes = 0;

	if (mask == 0)
		return;
	if ((mask & (mask + 1)) == 0) {
		bytes = bytes_of(walk->packet, (unsigned)__builtin_popcountll(mask));
	} else {
		for (uint64_t left = mask; left != 0; left &= left - 1)
			bytes += walk->packet[__builtin_ctzll(left)]->pkt_len;
	}
	hit(walk, effect->counter, (unsigned)__builtin_popcountll(mask), bytes);
}

static const struct mr_filter_effect *unmatched(const struct walk *walk)
{
	return &walk->program->effect[walk->program->count];
}

/* Lets the packets pass that no rule matches, and tells the output hook which they are. */
static void glance(struct walk *walk, unsigned count)
{
	const struct filter_glance *first = walk->program->glance;

	walk->kept = filter_glance(first, walk->packet, count);
	for (unsigned i = 0; i < count; i++)
		*mr_hook_word(walk->packet[i]) = (walk->kept >> i & 1) != 0 ? first->mark : 0;
	count_all(walk, unmatched(walk), walk->kept);
}

static void forget(const struct mr_vector *vector)
{
	for (unsigned i = 0; i < vector->count; i++)
		*mr_hook_word(vector->packet[i]) = 0;
}

/* Lets the packets pass of which the input hook said that no rule matches them. */
static void recall(struct walk *walk, unsigned count)
{
	uint32_t mark = walk->program->glance->mark;

	for (unsigned i = 0; i < count; i++)
		walk->kept |= (uint64_t)(*mr_hook_word(walk->packet[i]) == mark) << i;
	count_all(walk, unmatched(walk), walk->kept);
}

/* ---- the hooks ---- */

void mr_filter_input(const struct mr_hooks *hooks, struct mr_lcore *lcore, struct mr_vector *vector,
		     const struct mr_iface *iface)
{
	const struct mr_filter_program *program = (const struct mr_filter_program *)hooks;
	const struct mr_filter_effect *effect = passes_all(program, false);
	struct walk walk;

	if (unlikely(is_exempt(program, iface))) {
		forget(vector);
		return;
	}
	start(&walk, program, lcore, iface, vector->packet, false);
	if (program->glance != NULL)
		glance(&walk, vector->count);
	if (effect != NULL) {
		count_all(&walk, effect, mr_vector_all(vector) & ~walk.kept);
		return;
	}
	uint64_t kept = meet_rules(&walk, vector->count);

	if (unlikely(kept != mr_vector_all(vector)))
		vector->count = (uint16_t)keep(vector->packet, vector->count, kept);
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
	if (effect != NULL) {
		hit(&walk, effect->counter, count, *bytes);
		return count;
	}
	if (program->glance != NULL)
		recall(&walk, count);
	uint64_t kept = meet_rules(&walk, count);

	if (unlikely(kept != UINT64_MAX >> (64 - count))) {
		count = keep(packets, count, kept);
		*bytes = bytes_of(packets, count);
	}
	return count;
}
