/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_WARNINGS_H
#define MR_FILTER_WARNINGS_H

#include <jansson.h>

#include "filter/set.h"

/*
 * Rules that no packet ever meets, since a rule before them, with a final action, matches whatever
 * they match: duplicates (it does the same), contradictions (same tests, another action) and
 * shadowed rules (it matches more). Appended to an array as sentences, some of each, and how many
 * more there are.
 */

/* Of one rule, the set's index-th, against all before it. Exact as far as mr_filter_rule_covers. */
void mr_filter_warn_rule(const struct mr_filter_set *set, uint32_t index, json_t *warnings);

/* Of all rules. Sought are rules before them that have the same tests, or at most one prefix at
 * each end; with a bound on the work, whose reaching is said, too. */
void mr_filter_warn_set(const struct mr_filter_set *set, json_t *warnings);

#endif
