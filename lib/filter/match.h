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

/* What the rules of a set need at a hook (out: the output's); rules behind one that all packets end
 * at are left out, since none gets there. Returns 0, -ENOMEM, or -EFBIG when it is more than
 * indices can name. */
int filter_match_sizes(const struct mr_filter_set *set, bool out, struct filter_match_sizes *sizes);

/* Writes the tests of the rules into arrays of these sizes. Returns how many rules there are, or
 * -ENOMEM. */
int filter_match_compile(const struct mr_filter_set *set, bool out, struct filter_matches *all);

#endif
