/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_MATCH_H
#define FILTER_MATCH_H

#include <stddef.h>

#include "filter/match_fwd.h"
#include "filter/set.h"

/* How many entries of each array a set of rules takes at a hook, at most. */
struct filter_match_sizes {
	uint64_t match, test, span16, span32, span128, table, table_list;
};

/* Rules for which hook are compiled. Those for either leave out what a rule says about interfaces
 * by `via`, which means another one at each. */
enum filter_hook { FILTER_AT_INPUT, FILTER_AT_OUTPUT, FILTER_AT_EITHER };

/* What the rules of a set need at a hook; rules behind one that all packets end at are left out,
 * since none gets there. Returns 0, -ENOMEM, or -EFBIG when it is more than indices can name. */
int filter_match_sizes(const struct mr_filter_set *set, enum filter_hook hook,
		       struct filter_match_sizes *sizes);

/* Lays arrays of these sizes out from base on, aligned to cache lines, and returns how many bytes
 * they take; base NULL: all arrays are NULL. */
size_t filter_match_place(const struct filter_match_sizes *sizes, uint8_t *base,
			  struct filter_matches *all);

/* Writes the tests of the rules into arrays of these sizes. Returns how many rules there are, or
 * -ENOMEM. */
int filter_match_compile(const struct mr_filter_set *set, enum filter_hook hook,
			 struct filter_matches *all);

#endif
