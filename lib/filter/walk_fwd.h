/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_WALK_FWD_H
#define FILTER_WALK_FWD_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>

#include "filter/plain_cache_fwd.h"
#include "filter/program_fwd.h"

/* Flows that have been made in this burst, as a set of hashes: packets that no flow knew before ask
 * again. */
#define FLOWS_MADE_BITS 10 /* of a hash */

struct flows_made {
	bool any; /* else hash is not set */
	uint64_t hash[(1 << FLOWS_MADE_BITS) / 64];
};

/* Packets on their way through the rules. */
struct walk {
	const struct mr_filter_program *program;
	struct mr_lcore *lcore;
	struct mr_filter_hits *hits; /* the lcore's, by counter */
	struct rte_mbuf **packet;
	const struct mr_iface *iface; /* of the hook */
	bool out;                     /* which hook */
	uint64_t kept;                /* mask of packets that go on */
	uint64_t first;               /* mask of packets that meet flows before any rule */
	uint64_t tell;                /* those of them for which this is so at output, too */
	uint64_t asked;               /* mask of packets that were looked up among flows */
	struct flows_made made;
	unsigned count;             /* of those below */
	uint8_t at[MR_VECTOR_SIZE]; /* in packet[] */
	uint32_t start[MR_VECTOR_SIZE], rule[MR_VECTOR_SIZE];
	struct mr_filter_key key[MR_VECTOR_SIZE];
};

static inline struct plain_cache *filter_plain_cache(const struct walk *walk)
{
	return walk->program->fwd->plain[walk->lcore->index];
}

/* Counts what met a rule. */
static inline void filter_hit(const struct walk *walk, uint32_t counter, uint64_t packets,
			      uint64_t bytes)
{
	struct mr_filter_hits *hits = &walk->hits[counter];

	mr_count(&hits->packets, packets);
	mr_count(&hits->bytes, bytes);
	__atomic_store_n(&hits->seconds,
			 __atomic_load_n(&walk->lcore->forwarding->seconds, __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
}

static inline uint64_t filter_bytes(struct rte_mbuf *const *packets, unsigned count)
{
	uint64_t bytes = 0;

#pragma GCC unroll 4
	for (unsigned i = 0; i < count; i++)
		bytes += packets[i]->pkt_len;
	return bytes;
}

/* Packets that meet rules one after the other: neighbours mostly meet the same one, and are counted
 * at once. All zero at first. */
struct filter_run {
	const struct mr_filter_effect *effect;
	uint64_t packets, bytes;
};

/* The last of them. */
static inline void filter_run_end(const struct walk *walk, const struct filter_run *run)
{
	if (run->packets != 0)
		filter_hit(walk, run->effect->counter, run->packets, run->bytes);
}

void filter_log(const struct walk *walk, unsigned i, const struct mr_filter_effect *effect);

/* Packet i meets a rule, which is logged if the rule says so. */
static inline const struct mr_filter_effect *
filter_run_add(const struct walk *walk, struct filter_run *run, unsigned i, uint32_t rule)
{
	const struct mr_filter_effect *effect = &walk->program->effect[rule];

	if (effect != run->effect) {
		filter_run_end(walk, run);
		*run = (struct filter_run){.effect = effect};
	}
	run->packets++;
	run->bytes += walk->packet[i]->pkt_len;
	if (unlikely(effect->log))
		filter_log(walk, i, effect);
	return effect;
}

/* Counts packets of a mask that all meet the same rule. */
void filter_count_all(const struct walk *walk, const struct mr_filter_effect *effect,
		      uint64_t mask);

/* Takes `count` packets, without those that are kept already, through the rules: then walk->kept
 * are those that go on, and the others have ended. */
void filter_meet_rules(struct walk *walk, unsigned count);

#endif
