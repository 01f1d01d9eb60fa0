/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_FILTER_LINEAR_H
#define TEST_FILTER_LINEAR_H

#include "filter/key_fwd.h"
#include "filter/set.h"

/* What rules mean, in the plainest way: one after the other, test by test. */

bool filter_linear_matches(const struct mr_filter_set *set, const struct mr_filter_rule *rule,
			   const struct mr_filter_key *key, bool out);

/* The index of the first rule from `start` on that matches, or set->count. */
uint32_t filter_linear_first(const struct mr_filter_set *set, const struct mr_filter_key *key,
			     bool out, uint32_t start);

#endif
