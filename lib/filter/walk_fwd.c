/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets on their way through the rules of a hook. What is known by flow is asked first (see
 * plain_cache_fwd.h); of the others the headers are read and all are looked up at once, and each
 * goes where its own rule says. Those whose rule is not final go on from the rule after it, once
 * more as a vector, until none is left; so a packet costs a lookup for each such rule that it
 * matches and nothing for rules that it does not.
 *
 * On routed interfaces rules are about IP: ARP and whatever else the router does not route passes.
 */
#include "filter/walk_fwd.h"

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_ether.h>

#include "filter/action_fwd.h"
#include "filter/flow_plain_fwd.h"
#include "filter/flow_walk_fwd.h"
#include "filter/log_fwd.h"
#include "filter/plain_key_fwd.h"
#include "filter/police_fwd.h"
#include "filter/rule.h"
#include "lcore/output_fwd.h"
#include "packet/punt.h"

void filter_count_all(const struct walk *walk, const struct mr_filter_effect *effect, uint64_t mask)
{
	unsigned count = (unsigned)__builtin_popcountll(mask);
	uint64_t bytes = 0;

	if (count == 0)
		return;
	if (likely((mask & (mask + 1)) == 0))
		bytes = filter_bytes(walk->packet, count);
	else
		for (uint64_t left = mask; left != 0; left &= left - 1)
			bytes += walk->packet[__builtin_ctzll(left)]->pkt_len;
	filter_hit(walk, effect->counter, count, bytes);
}

void filter_log(const struct walk *walk, unsigned i, const struct mr_filter_effect *effect)
{
	mr_filter_log(walk->lcore, &walk->program->fwd->log[walk->lcore->index], walk->packet[i],
		      walk->iface->index,
		      mr_filter_log_word(effect->number, effect->action, walk->out));
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

static struct mr_filter_place place_of(const struct walk *walk, const struct rte_mbuf *m)
{
	return (struct mr_filter_place){
		.iface_in = m->port, /* a port's base interface has its number */
		.iface_out = walk->out ? walk->iface->index : MR_IFACE_NONE,
		.out = walk->out,
	};
}

/* A packet whose key has been read joins those that are on their way. */
static void join(struct walk *walk, unsigned i, uint32_t start)
{
	walk->start[walk->count] = start;
	walk->at[walk->count++] = (uint8_t)i;
}

/* Reads the key of a packet, which joins the others; or drops it. */
static void read_key(struct walk *walk, const struct mr_classifier *classifier, unsigned i,
		     uint32_t start)
{
	const struct rte_mbuf *m = walk->packet[i];
	struct mr_filter_place place = place_of(walk, m);
	enum mr_filter_reading reading =
		mr_filter_key_read(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len,
				   classifier->wants, &place, &walk->key[walk->count]);

	if (unlikely(reading != MR_FILTER_READ))
		drop(walk, i, mr_filter_reading_drop(reading));
	else
		join(walk, i, start);
}

/* Reads the keys of all packets of a mask that rules are about. */
static void read_keys(struct walk *walk, const struct mr_classifier *classifier, uint64_t mask)
{
	struct mr_filter_place place = place_of(walk, walk->packet[0]);
	bool routed = walk->iface->mode == MR_MODE_ROUTE;
	struct filter_plain_keys plain;

	filter_plain_keys_init(&plain, classifier->wants, &place);
	for (; mask != 0; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctzll(mask);
		const struct rte_mbuf *m = walk->packet[i];
		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

		if (likely(filter_is_plain_ipv4(frame, m->data_len))) {
			filter_plain_key(&plain, frame, m->port, &walk->key[walk->count]);
			join(walk, i, 0);
		} else if (routed && !is_ip(m)) {
			walk->kept |= UINT64_C(1) << i;
		} else {
			read_key(walk, classifier, i, 0);
		}
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

/* Does what rules say to `count` packets. Those that go on stay in the list; unread: the list has
 * no keys yet. */
static void follow(struct walk *walk, const struct mr_classifier *classifier, unsigned count,
		   bool unread)
{
	struct filter_run run = {0};

	walk->count = 0;
	for (unsigned n = 0; n < count; n++) {
		unsigned i = walk->at[n];
		const struct mr_filter_effect *effect =
			filter_run_add(walk, &run, i, walk->rule[n]);

		if (likely(effect->action == MR_FILTER_ALLOW)) {
			walk->kept |= UINT64_C(1) << i;
		} else if (act(walk, i, effect)) {
			if (unread) {
				read_key(walk, classifier, i, effect->next);
				continue;
			}
			walk->key[walk->count] = walk->key[n];
			walk->start[walk->count] = effect->next;
			walk->at[walk->count++] = (uint8_t)i;
		}
	}
	filter_run_end(walk, &run);
}

/* Finds the rules of the packets on their way. */
static void classify(struct walk *walk, const struct mr_classifier *classifier)
{
	mr_classify(classifier, walk->program->fwd->cache[walk->lcore->index][walk->out], walk->key,
		    walk->start, walk->count, walk->rule);
}

/* ---- what is known by flow ---- */

/* The rule of all packets of a mask, if it is one and the same and only lets them pass. */
static const struct mr_filter_effect *passes_with(const struct walk *walk, uint64_t mask,
						  const uint32_t *rule)
{
	uint32_t first = rule[__builtin_ctzll(mask)], differs = 0;
	const struct mr_filter_effect *effect = &walk->program->effect[first];

	for (uint64_t left = mask; left != 0; left &= left - 1)
		differs |= rule[__builtin_ctzll(left)] ^ first;
	return differs == 0 && effect->action == MR_FILTER_ALLOW && !effect->log ? effect : NULL;
}

/* Packets whose rules are known already. */
static void meet_known(struct walk *walk, const struct mr_classifier *classifier, uint64_t known,
		       const uint32_t *rule)
{
	const struct mr_filter_effect *same;
	unsigned count = 0;

	if (known == 0)
		return;
	same = passes_with(walk, known, rule);
	if (likely(same != NULL)) {
		walk->kept |= known;
		filter_count_all(walk, same, known);
		return;
	}
	for (; known != 0; known &= known - 1) {
		unsigned i = (unsigned)__builtin_ctzll(known);

		walk->at[count] = (uint8_t)i;
		walk->rule[count++] = rule[i];
	}
	follow(walk, classifier, count, true);
}

static void look_up(const struct walk *walk, uint64_t mask, struct plain_lookup *lookup)
{
	const struct mr_filter_program *program = walk->program;

	if (walk->out)
		plain_cache_recall(filter_plain_cache(walk), walk->packet, mask, walk->iface->index,
				   lookup);
	else
		plain_cache_get(filter_plain_cache(walk), program->classifier[0]->generation,
				program->tcp_flags, walk->packet, mask, lookup);
}

/* Remembers the rules that were found for packets of the list, from one of them on. */
static void remember(const struct walk *walk, const struct plain_lookup *lookup, unsigned from)
{
	for (unsigned n = from; n < walk->count; n++) {
		unsigned i = walk->at[n];

		if ((lookup->missed >> i & 1) == 0)
			continue;
		if (walk->out)
			plain_cache_put_output(filter_plain_cache(walk), walk->packet[i],
					       walk->iface->index, walk->rule[n]);
		else
			plain_cache_put(filter_plain_cache(walk), lookup, walk->packet[i], i,
					walk->rule[n]);
	}
}

void filter_meet_rules(struct walk *walk, unsigned count)
{
	const struct mr_classifier *classifier = walk->program->classifier[walk->out];
	uint64_t mask = UINT64_MAX >> (64 - count) & ~walk->kept;
	struct plain_lookup lookup;
	unsigned known = 0; /* of the list, those whose first rule was */

	lookup.missed = 0;
	mask &= ~filter_pass_flows(walk, mask & walk->first);
	if (walk->program->by_flow && mask != 0) {
		look_up(walk, mask, &lookup);
		meet_known(walk, classifier, lookup.known, lookup.rule);
		mask &= ~lookup.known;
		known = walk->count;
	}
	if (mask != 0)
		read_keys(walk, classifier, mask);
	if (walk->program->state_first[walk->out] && walk->count != 0)
		filter_meet_flows(walk);
	while (walk->count != 0) {
		classify(walk, classifier);
		if (lookup.missed != 0)
			remember(walk, &lookup, known);
		lookup.missed = 0;
		if (walk->program->flows.count != 0)
			filter_keep_flows(walk);
		if (likely(walk->count != 0))
			follow(walk, classifier, walk->count, false);
	}
}
