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

/*
 * A rule that lists addresses or ports fixes few bits as a whole, but more with one of them chosen.
 * So a rule may be looked at as several items, which together match what it does, at most
 * FILTER_ITEMS; lists that would make more are left whole.
 */
#define FILTER_ITEMS 16

unsigned filter_item_count(const struct filter_matches *all, const struct filter_match *match);

/* The bits that an item fixes: 0 to filter_item_count - 1, or FILTER_WHOLE for those of the rule.
 */
#define FILTER_WHOLE UINT8_MAX

void filter_project_bits(const struct filter_matches *all, const struct filter_match *match,
			 uint8_t item, struct filter_ternary *ternary);

/* A set of values of a 16-bit word of the key, read as numbers in network byte order. */
struct filter_values {
	bool all;
	uint64_t bits[65536 / 64];
};

/* Adds the values of a word (0 to FILTER_HALVES - 1) that an item of a rule allows. */
void filter_project_word(const struct filter_matches *all, const struct filter_match *match,
			 uint8_t item, unsigned word, struct filter_values *values);

/* Whether a rule says nothing but what it allows of single words; then these are marked, and the
 * values above are exactly what it allows of each. */
bool filter_is_by_words(const struct filter_matches *all, const struct filter_match *match,
			bool needed[FILTER_HALVES]);

#endif
