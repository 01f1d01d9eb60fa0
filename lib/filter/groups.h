/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_GROUPS_H
#define FILTER_GROUPS_H

#include "filter/group_fwd.h"
#include "filter/projection.h"
#include "filter/sieve_fwd.h"

/* An item of a rule; see filter/projection.h. */
struct filter_item {
	uint32_t match;
	uint8_t item;
};

/* Which items stand together in a group: item[start[g]] to item[start[g + 1] - 1] of group g,
 * ascending by match, and the bits that all of them fix and are hashed by. */
struct filter_grouping {
	uint32_t count; /* of items */
	unsigned groups;
	uint32_t start[FILTER_GROUPS + 1];
	struct filter_item *item;
	uint8_t mask[FILTER_GROUPS][FILTER_KEY_SIZE];
};

/* Puts the rules of matches 0 to count - 1 into groups, ascending by their first rule. Returns 0 or
 * -ENOMEM. */
int filter_grouping_make(const struct filter_matches *all, uint32_t count,
			 struct filter_grouping *grouping);

void filter_grouping_clear(struct filter_grouping *grouping);

/* Buckets, and words of filters, that the groups of `count` items take, at most. */
uint32_t filter_groups_buckets(uint32_t count);
uint32_t filter_groups_filter_words(uint32_t count);

/* Writes the groups as the packet path reads them. Returns 0 or -ENOMEM. */
int filter_groups_fill(const struct filter_matches *all, const struct filter_grouping *grouping,
		       struct filter_groups *groups);

#endif
