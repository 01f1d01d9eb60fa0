/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash tables and lists of rules, laid out for reading: a table is an array that says where the
 * entries of each bucket start, and the entries, packed.
 */
#include "filter/groups.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>

enum { LIST = 3 }; /* rules that are compared sooner than hashed */

uint32_t filter_groups_buckets(uint32_t count)
{
	return 4 * count + FILTER_GROUPS; /* twice a power of two each, and an end */
}

uint32_t filter_groups_filter_words(uint32_t count)
{
	return filter_groups_buckets(count) / (64 / FILTER_BITS_PER_BUCKET) + FILTER_GROUPS;
}

static void choose_words(struct filter_group *group, const uint8_t *mask)
{
	for (unsigned i = 0; i < FILTER_KEY_WORDS; i++) {
		uint64_t word = mr_load64(mask + i * 8);

		if (word == 0)
			continue;
		group->word[group->words] = (uint8_t)i;
		group->mask[group->words++] = word;
	}
}

/* hash: room for one of each item. */
static void fill_table(const struct filter_matches *all, const struct filter_item *item,
		       struct filter_group *group, const struct filter_groups *groups,
		       uint32_t *hash)
{
	uint32_t *bucket = groups->bucket + group->bucket, at = group->entry;
	uint32_t buckets = group->bucket_mask + 1;

	memset(bucket, 0, (buckets + 1) * sizeof(*bucket));
	for (uint32_t i = 0; i < group->count; i++) {
		struct filter_ternary bits;

		filter_project_bits(all, &all->match[item[i].match], item[i].item, &bits);
		hash[i] = filter_group_hash(group, bits.value);
		groups->filter[group->filter + (hash[i] >> group->filter_shift >> 6)] |=
			UINT64_C(1) << (hash[i] >> group->filter_shift & 63);
		bucket[hash[i] & group->bucket_mask]++;
	}
	/* From how many to where they end, and by filling from behind to where they start. */
	for (uint32_t i = 0; i < buckets; i++) {
		at += bucket[i];
		bucket[i] = at;
	}
	bucket[buckets] = at;
	for (uint32_t i = group->count; i-- > 0;)
		groups->entry[--bucket[hash[i] & group->bucket_mask]] =
			item[i].match | filter_hash_tag(hash[i]);
}

int filter_groups_fill(const struct filter_matches *all, const struct filter_grouping *grouping,
		       struct filter_groups *groups)
{
	uint32_t *hash = malloc((grouping->count + 1) * sizeof(*hash));
	uint32_t bucket = 0, filter = 0;

	if (hash == NULL)
		return -ENOMEM;
	groups->count = grouping->groups;
	for (unsigned g = 0; g < grouping->groups; g++) {
		const struct filter_item *item = grouping->item + grouping->start[g];
		struct filter_group *group = &groups->group[g];

		group->count = grouping->start[g + 1] - grouping->start[g];
		group->first = all->match[item[0].match].rule;
		group->last = all->match[item[group->count - 1].match].rule;
		group->entry = grouping->start[g];
		if (group->count > LIST)
			choose_words(group, grouping->mask[g]);
		if (group->words == 0) {
			for (uint32_t i = 0; i < group->count; i++)
				groups->entry[group->entry + i] = item[i].match;
			continue;
		}
		groups->tables |= UINT64_C(1) << g;
		group->bucket = bucket;
		group->bucket_mask = 2 * rte_align32pow2(group->count) - 1;
		bucket += group->bucket_mask + 2;
		group->filter = filter;
		group->filter_shift = (uint8_t)(32 - rte_log2_u32((group->bucket_mask + 1) *
								  FILTER_BITS_PER_BUCKET));
		filter += (group->bucket_mask + 1) * FILTER_BITS_PER_BUCKET / 64;
		fill_table(all, item, group, groups, hash);
	}
	free(hash);
	return 0;
}
