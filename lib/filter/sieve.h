/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_SIEVE_H
#define FILTER_SIEVE_H

#include "filter/groups.h"
#include "filter/sieve_fwd.h"

/* Room for the tables of a sieve; filled by filter_sieve_compile. */
struct filter_sieve_tables {
	uint8_t class_of[FILTER_SIEVE_WORDS][65536];
	uint64_t groups_of[FILTER_SIEVE_WORDS][FILTER_CLASSES];
};

/* Makes the sieve of rules in groups. Returns 0 or -ENOMEM. */
int filter_sieve_compile(const struct filter_matches *all, const struct filter_grouping *grouping,
			 struct filter_sieve_tables *tables, struct filter_sieve *sieve);

#endif
