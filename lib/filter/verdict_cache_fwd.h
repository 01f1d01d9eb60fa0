/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_VERDICT_CACHE_FWD_H
#define FILTER_VERDICT_CACHE_FWD_H

/*
 * Verdicts by flow: what was found for a key and a start is found again without looking at rules.
 *
 * A verdict is a cache line that holds the whole flow part of the key, so that a hit is exact
 * whatever collides. It has two places to be in, neighbouring lines. What differs between packets
 * of a flow (length, TTL and so on) stands in an array beside, which is not touched unless rules
 * look at it. Verdicts carry an epoch, which counts the classifiers that the lcore has seen: so a
 * new one makes all of them void at once, and nothing need be cleared.
 *
 * All of it is written by the lcore that it belongs to, and read by no other.
 */
#include <assert.h>
#include <stdalign.h>
#include <stdint.h>

#include "filter/classifier_fwd.h"
#include "filter/worth_fwd.h"

struct verdict {
	alignas(64) uint8_t flow[MR_FILTER_FLOW_SIZE];
	uint32_t start;
	uint32_t rule;
	uint64_t epoch; /* 0: never written */
};

static_assert(sizeof(struct verdict) == 64, "a verdict is a cache line");

struct verdict_rest {
	uint8_t bytes[sizeof(struct mr_filter_key) - MR_FILTER_FLOW_SIZE];
};

struct mr_verdict_cache {
	alignas(64) struct verdict *verdict; /* pairs, at even indices */
	struct verdict_rest *rest;           /* by verdict */
	uint32_t mask;                       /* verdicts less one */
	uint32_t turn;                       /* which of a pair is replaced next: bit 0 */
	uint64_t generation;                 /* of the classifier that epoch stands for */
	uint64_t epoch;
	struct filter_worth worth;
};

/*
 * Takes the packets out of a list (indices of keys, in packet[0] to packet[count - 1]) whose
 * verdict is known, and writes their rules; returns how many are left. Of these, place[i] is where
 * the verdict of packet[i] will be put by verdict_cache_put. Returns count without a look when the
 * cache is pausing, which *ask then says.
 */
unsigned verdict_cache_get(struct mr_verdict_cache *cache, const struct mr_classifier *c,
			   const struct mr_filter_key *key, const uint32_t *start, uint8_t *packet,
			   unsigned count, uint32_t *rule, uint32_t *place, bool *ask);

/* Remembers the rules of packets. */
void verdict_cache_put(struct mr_verdict_cache *cache, const struct mr_classifier *c,
		       const struct mr_filter_key *key, const uint32_t *start,
		       const uint8_t *packet, unsigned count, const uint32_t *rule,
		       const uint32_t *place);

#endif
