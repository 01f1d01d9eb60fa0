/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_SIEVE_FWD_H
#define FILTER_SIEVE_FWD_H

/*
 * The sieve: which groups of rules may match a packet, as a mask.
 *
 * The rules are put into at most 64 groups. For each of a few 16-bit words of the key a table says
 * which groups have a rule that allows the word's value; the masks of all words are ANDed. A zero
 * means that no rule matches, which most packets of most rule sets are told after two loads a word.
 * Of a group that is one rule the masks often say all that the rule does; then there is nothing
 * left to be compared. Masks repeat, so a table is a byte for each value, which names one of at
 * most 256 masks: a word's tables take 66 kB, of which traffic touches a part.
 */
#include <stdint.h>
#include <string.h>

#include "filter/key_fwd.h"

#define FILTER_GROUPS 64
#define FILTER_SIEVE_WORDS 8 /* that a sieve looks at, at most */
#define FILTER_CLASSES 256   /* masks of a word, at most */

/* Tables of a word, indexed by its value as it lies in memory. */
struct filter_sieve_word {
	const uint8_t *class_of;
	const uint64_t *groups_of; /* by class */
	uint32_t offset;           /* of the word in what is looked at: a key, or a frame */
};

struct filter_sieve {
	uint64_t every; /* group */
	uint64_t exact; /* groups of one rule, which matches whatever the sieve lets pass */
	uint32_t words; /* even */
	struct filter_sieve_word word[FILTER_SIEVE_WORDS];
};

static inline uint64_t filter_sieve_word_groups(const struct filter_sieve_word *word,
						const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at + word->offset, sizeof(value));
	return word->groups_of[word->class_of[value]];
}

#endif
