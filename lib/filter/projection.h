/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_PROJECTION_H
#define FILTER_PROJECTION_H

#include "filter/match_fwd.h"

/*
 * What a rule leaves of a key when only a part of it is looked at. Both views are never too narrow:
 * whatever the rule matches lies in them.
 */

#define FILTER_KEY_SIZE sizeof(struct mr_filter_key)
#define FILTER_HALVES (FILTER_KEY_SIZE / 2) /* 16-bit words of a key */

/* The bits that a rule fixes: all keys that it matches agree with value where mask is set. */
struct filter_ternary {
	uint8_t mask[FILTER_KEY_SIZE];
	uint8_t value[FILTER_KEY_SIZE]; /* 0 where mask is */
};

void filter_project_bits(const struct filter_matches *all, const struct filter_match *match,
			 struct filter_ternary *ternary);

/* A set of values of a 16-bit word of the key, read as numbers in network byte order. */
struct filter_values {
	bool all;
	uint64_t bits[65536 / 64];
};

/* Adds the values of a word (0 to FILTER_HALVES - 1) that a rule allows. */
void filter_project_word(const struct filter_matches *all, const struct filter_match *match,
			 unsigned word, struct filter_values *values);

#endif
