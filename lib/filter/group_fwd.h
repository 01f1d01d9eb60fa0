/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_GROUP_FWD_H
#define FILTER_GROUP_FWD_H

/*
 * A group of rules, as the packet path searches it: a list when they are few, else a hash table of
 * bits of the key that all of its rules fix. Before a table stands a filter of a bit for each value
 * of a longer hash (Bloom's, with one hash): most packets that no rule of the table matches end
 * there, and so evenly that the branch is foreseen. The table's entries carry a tag out of the
 * hash, so that hardly ever a rule is looked at that does not match in these bits. Whatever is
 * found is compared in full: the table only leaves out.
 */
#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "filter/match_fwd.h"

#ifdef __SSE4_2__
#include <nmmintrin.h>
#endif

#define FILTER_KEY_WORDS 10       /* of eight bytes each */
#define FILTER_BITS_PER_BUCKET 16 /* of the filter; a power of two */
#define FILTER_ENTRY_BITS 17
#define FILTER_ENTRY_MASK ((UINT32_C(1) << FILTER_ENTRY_BITS) - 1)

static_assert(sizeof(struct mr_filter_key) == FILTER_KEY_WORDS * 8, "words of a key");

/* Entries are ascending by rule, within a list and within a bucket. */
struct filter_group {
	alignas(64) uint32_t first; /* the least and the greatest rule, indices in the set */
	uint32_t last;
	uint32_t entry;       /* the first of its entries */
	uint32_t count;       /* of them */
	uint32_t bucket;      /* its buckets' first; a bucket is where its entries start */
	uint32_t bucket_mask; /* buckets less one */
	uint32_t filter;      /* its filter's first word */
	uint8_t filter_shift; /* of the hash, to the bit's index */
	uint8_t words;        /* that are hashed; 0: a list */
	uint8_t word[FILTER_KEY_WORDS];
	uint64_t mask[FILTER_KEY_WORDS]; /* of word[i] */
};

/* What the groups of a classifier refer to. */
struct filter_groups {
	uint32_t count;
	uint64_t tables;            /* those that are no lists */
	struct filter_group *group; /* ascending by first */
	uint64_t *filter;
	uint32_t *bucket; /* those of a group, and one more: where its entries end */
	uint32_t *entry;  /* index of a match, and above it a tag */
};

static inline uint32_t filter_hash_word(uint32_t hash, uint64_t word)
{
#ifdef __SSE4_2__
	return (uint32_t)_mm_crc32_u64(hash, word);
#else
	uint64_t mixed = (word ^ hash) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(mixed ^ mixed >> 32);
#endif
}

/* The hash of what a group's rules fix of a key, which is any 80 bytes. */
static inline uint32_t filter_group_hash(const struct filter_group *group, const uint8_t *key)
{
	uint32_t hash = 0;

	for (unsigned i = 0; i < group->words; i++)
		hash = filter_hash_word(hash,
					mr_load64(key + 8u * group->word[i]) & group->mask[i]);
	return hash;
}

/* The word of the filter that a hash is looked up in, and whether its bit is set. */
static inline const uint64_t *filter_group_word(const struct filter_groups *groups,
						const struct filter_group *group, uint32_t hash)
{
	return &groups->filter[group->filter + (hash >> group->filter_shift >> 6)];
}

static inline bool filter_group_may_have(const struct filter_groups *groups,
					 const struct filter_group *group, uint32_t hash)
{
	return *filter_group_word(groups, group, hash) >> (hash >> group->filter_shift & 63) & 1;
}

static inline uint32_t filter_hash_tag(uint32_t hash)
{
	return hash & ~FILTER_ENTRY_MASK;
}

#endif
