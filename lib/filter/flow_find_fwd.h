/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_FLOW_FIND_FWD_H
#define FILTER_FLOW_FIND_FWD_H

/*
 * Looking up in an lcore's own table of flows, by steps: each asks for the line of memory that the
 * next one reads, so that a burst waits for all of its lines at once. Keys are compared as words.
 *
 * The hash is of the folded kind: products of two words, each of which a salt hides.
 */
#include <smmintrin.h>

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "filter/flow_table_fwd.h"

struct flow_words {
	uint64_t word[FLOW_KEY_WORDS];
};

/* In the last word of a key. */
#define FLOW_WORD_IPV6 (UINT64_C(1) << 8 * (offsetof(struct flow_key, ipv6) % 8))

static inline uint64_t flow_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t flow_hash_words(const struct flow_table *table, const struct flow_words *key)
{
	uint64_t salt = table->salt, other = salt << 32 | salt >> 32, addresses, rest;
	const uint64_t *word = key->word;

	if (likely((word[5] & FLOW_WORD_IPV6) == 0))
		addresses = word[0] | word[2] << 32; /* half a word each */
	else
		addresses = flow_mix(word[0] ^ salt, word[1] ^ other) +
			    flow_mix(word[2] ^ other, word[3] ^ salt);
	rest = word[5] + (word[4] << 32); /* the epoch is the same in all that can be found */
	return flow_mix(flow_mix(addresses ^ salt, rest ^ other), salt);
}

static inline uint32_t flow_tag(uint64_t hash)
{
	return ((uint32_t)(hash >> 32) & ~(uint32_t)FLOW_TAG_SETTLED) | FLOW_TAG_USED;
}

static inline uint32_t flow_bucket(const struct flow_table *table, uint64_t hash, unsigned choice)
{
	uint32_t first = (uint32_t)hash;

	return (choice == 0 ? first : first ^ (flow_tag(hash) * UINT32_C(0x5bd1e995))) &
	       table->mask;
}

/* Mask of a bucket's places whose tags have the wanted value in some bits. */
static inline unsigned flow_compare_tags(const struct flow_tags *tags, uint32_t bits,
					 uint32_t value)
{
	const __m128i *four = (const __m128i *)tags->tag;
	__m128i mask = _mm_set1_epi32((int)bits), wanted = _mm_set1_epi32((int)value), equal[4];

	static_assert(FLOW_BUCKET == 16, "a bucket's answers are a byte each");
#pragma GCC unroll 4
	for (unsigned i = 0; i < 4; i++)
		equal[i] = _mm_cmpeq_epi32(_mm_and_si128(_mm_load_si128(&four[i]), mask), wanted);
	return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(equal[0], equal[1]),
							   _mm_packs_epi32(equal[2], equal[3])));
}

static inline unsigned flow_places(const struct flow_tags *tags, uint32_t tag)
{
	return flow_compare_tags(tags, ~(uint32_t)FLOW_TAG_SETTLED, tag);
}

static inline unsigned flow_free_places(const struct flow_tags *tags)
{
	return flow_compare_tags(tags, FLOW_TAG_USED, 0);
}

/* Places of flows that are not settled. */
static inline unsigned flow_open_places(const struct flow_tags *tags)
{
	return flow_compare_tags(tags, FLOW_TAG_USED | FLOW_TAG_SETTLED, FLOW_TAG_USED);
}

/* The first step. */
static inline void flow_prefetch(const struct flow_table *table, uint64_t hash)
{
	rte_prefetch0(&table->tags[flow_bucket(table, hash, 0)]);
}

/* The second: returns the slot where an entry most likely is, FLOW_NOWHERE: it is not in the first
 * bucket. */
static inline uint32_t flow_prefetch_entry(const struct flow_table *table, uint64_t hash)
{
	uint32_t bucket = flow_bucket(table, hash, 0), slot;
	unsigned found = flow_places(&table->tags[bucket], flow_tag(hash));

	if (unlikely(found == 0))
		return FLOW_NOWHERE;
	slot = bucket * FLOW_BUCKET + (uint32_t)__builtin_ctz(found);
	rte_prefetch0(&table->entry[slot]);
	return slot;
}

/* Whether an entry of the own table is of a key. */
static inline bool flow_is_at(const struct flow_entry *entry, const struct flow_words *key)
{
	const __m128i *a = (const __m128i *)entry->key, *b = (const __m128i *)key->word;
	__m128i differs = _mm_or_si128(_mm_or_si128(_mm_xor_si128(a[0], _mm_loadu_si128(&b[0])),
						    _mm_xor_si128(a[1], _mm_loadu_si128(&b[1]))),
				       _mm_xor_si128(a[2], _mm_loadu_si128(&b[2])));

	static_assert(FLOW_KEY_WORDS == 6, "three times two");
	return _mm_testz_si128(differs, differs) != 0;
}

/* All of them: the slot of a key, or FLOW_NOWHERE. */
static inline uint32_t flow_find_words(const struct flow_table *table, const struct flow_words *key,
				       uint64_t hash)
{
	for (unsigned choice = 0; choice < 2; choice++) {
		uint32_t bucket = flow_bucket(table, hash, choice);
		unsigned found = flow_places(&table->tags[bucket], flow_tag(hash));

		for (; found != 0; found &= found - 1) {
			uint32_t slot = bucket * FLOW_BUCKET + (uint32_t)__builtin_ctz(found);

			if (flow_is_at(&table->entry[slot], key))
				return slot;
		}
	}
	return FLOW_NOWHERE;
}

#endif
