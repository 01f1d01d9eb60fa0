/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_CLASSIFIER_FWD_H
#define MR_FILTER_CLASSIFIER_FWD_H

#include <stdbool.h>
#include <stdint.h>

#include "filter/group_fwd.h"
#include "filter/key_fwd.h"
#include "filter/match_fwd.h"
#include "filter/sieve_fwd.h"

/* The rules of a set that a hook's packets can reach, compiled. Written by the control thread
 * before it is published, and never again. */
struct mr_classifier {
	uint32_t count; /* rules of the set: what is answered when none matches */
	uint32_t wants; /* MR_FILTER_WANT_*: what keys are to be read with */
	/* Every packet meets the same final rule first, or none (count), whatever its fields: then
	 * there is nothing to be read and nothing to be asked. */
	bool trivial;
	uint32_t trivial_rule;
	uint64_t generation; /* no two classifiers of a process have the same */
	struct filter_sieve sieve;
	struct filter_groups groups;
	struct filter_matches all;
};

/* Verdicts of an lcore at a hook, by flow; see classifier.h. */
struct mr_verdict_cache;

#define MR_CLASSIFY_MAX 64

/*
 * For each of `count` packets, at most MR_CLASSIFY_MAX: rule[i] is the index of the first rule of
 * the set that is not before start[i] and matches key[i], or c->count if there is none. Keys must
 * have been read with c->wants. start[i] must be 0, or one behind a rule whose action is not final,
 * or where a rule skips to; NULL: all are 0. cache: the lcore's own for the hook, or NULL. Lcores,
 * within a read side.
 */
void mr_classify(const struct mr_classifier *c, struct mr_verdict_cache *cache,
		 const struct mr_filter_key *key, const uint32_t *start, unsigned count,
		 uint32_t *rule);

#endif
