/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_SIEVE_H
#define FILTER_SIEVE_H

#include <stdbool.h>

#include "filter/groups.h"
#include "filter/sieve_fwd.h"

/* Room for the tables of a sieve; filled by filter_sieve_compile. */
struct filter_sieve_tables {
	uint8_t class_of[FILTER_SIEVE_WORDS][65536];
	uint64_t groups_of[FILTER_SIEVE_WORDS][FILTER_CLASSES];
};

/* A word of the key that a sieve may look at, and where packets have it. */
struct filter_sieve_choice {
	uint8_t word;   /* 0 to FILTER_HALVES - 1 */
	uint8_t offset; /* what struct filter_sieve_word gets */
	bool first;     /* only the word's first byte is there: what the second is says nothing */
};

struct filter_sieve_choices {
	unsigned count; /* at most FILTER_HALVES */
	struct filter_sieve_choice choice[FILTER_HALVES];
};

/* Makes the sieve of rules in groups, of words out of these. Returns 0 or -ENOMEM. */
int filter_sieve_compile(const struct filter_matches *all, const struct filter_grouping *grouping,
			 const struct filter_sieve_choices *choices,
			 struct filter_sieve_tables *tables, struct filter_sieve *sieve);

#endif
