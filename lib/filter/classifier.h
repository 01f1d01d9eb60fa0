/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_CLASSIFIER_H
#define MR_FILTER_CLASSIFIER_H

#include "base/error.h"
#include "filter/classifier_fwd.h"
#include "filter/set.h"

/*
 * Compiles the rules of a set for one hook (out: the output's). The set must not change meanwhile,
 * nor be freed; the classifier does not refer to it afterwards. Memory is linear in what the rules
 * say and known before it is taken: about 100 bytes a rule, 24 for each alternative and value that
 * a rule lists, and half a megabyte; while it is compiled, up to 700 bytes a rule more outside of
 * the hugepages. May be called on any thread, also on several at once. Returns NULL with error set
 * when there is no memory, on the socket or otherwise.
 */
struct mr_classifier *mr_classifier_compile(const struct mr_filter_set *set, bool out, int socket,
					    struct mr_error *error);

/* Frees a classifier that no lcore can reach any more (NULL: nothing). Any thread. */
void mr_classifier_free(struct mr_classifier *c);

/*
 * A cache of verdicts for one lcore and one hook, empty. entries: how many flows it holds, rounded
 * up to a power of two, at least MR_VERDICT_CACHE_MIN. It is written by the lcore that passes it to
 * mr_classify, and by nobody else; one that outlives a classifier serves the next one, and finds
 * nothing of the old one. Returns NULL without memory.
 */
struct mr_verdict_cache *mr_verdict_cache_create(uint32_t entries, int socket);

#define MR_VERDICT_CACHE_MIN 16
#define MR_VERDICT_CACHE_DEFAULT 16384

void mr_verdict_cache_free(struct mr_verdict_cache *cache);

#endif
