/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/address_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By family, address, and the shorter prefix first, so that what contains others precedes them. */
static int compare_prefixes(const void *a, const void *b)
{
	const struct mr_prefix *x = a, *y = b;
	int order = memcmp(x->addr.bytes, y->addr.bytes, sizeof(x->addr.bytes));

	if (x->addr.family != y->addr.family)
		return x->addr.family == AF_INET ? -1 : 1;
	return order != 0 ? order : x->length - y->length;
}

static bool within(const struct mr_prefix *inner, const struct mr_prefix *outer)
{
	return inner->length >= outer->length && mr_prefix_contains(outer, &inner->addr);
}

struct mr_filter_address_set *
mr_filter_address_set_new(const char *name, const struct mr_prefix *prefixes, uint32_t count)
{
	struct mr_filter_address_set *set =
		calloc(1, sizeof(*set) + (size_t)count * sizeof(struct mr_prefix));
	uint32_t kept = 0;

	if (set == NULL)
		return NULL;
	struct mr_prefix *prefix = (struct mr_prefix *)(set + 1);
	for (uint32_t i = 0; i < count; i++)
		prefix[i] = mr_prefix_canonical(&prefixes[i]);
	qsort(prefix, count, sizeof(*prefix), compare_prefixes);
	for (uint32_t i = 0; i < count; i++)
		if (kept == 0 || !within(&prefix[i], &prefix[kept - 1]))
			prefix[kept++] = prefix[i];
	snprintf(set->name, sizeof(set->name), "%s", name);
	set->references = 1;
	set->prefix = prefix;
	set->count = kept;
	return set;
}

struct mr_filter_address_set *mr_filter_address_set_ref(struct mr_filter_address_set *set)
{
	__atomic_fetch_add(&set->references, 1, __ATOMIC_RELAXED);
	return set;
}

void mr_filter_address_set_unref(struct mr_filter_address_set *set)
{
	if (__atomic_sub_fetch(&set->references, 1, __ATOMIC_ACQ_REL) == 0)
		free(set);
}

bool mr_filter_address_set_equal(const struct mr_filter_address_set *a,
				 const struct mr_filter_address_set *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (compare_prefixes(&a->prefix[i], &b->prefix[i]) != 0)
			return false;
	return true;
}

/* The only one that can contain it is the last that does not come behind it. */
bool mr_filter_address_set_contains(const struct mr_filter_address_set *set,
				    const struct mr_prefix *prefix)
{
	uint32_t low = 0, high = set->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_prefixes(&set->prefix[middle], prefix) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && within(prefix, &set->prefix[low - 1]);
}
