/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/interval.h"

#include <stdlib.h>

#include <rte_common.h>

void filter_bits_mask(uint8_t *mask, unsigned size, unsigned bits)
{
	for (unsigned i = 0; i < size; i++) {
		unsigned left = bits > i * 8 ? bits - i * 8 : 0;

		mask[i] = left >= 8 ? 0xff : (uint8_t)(0xff00 >> left);
	}
}

struct filter_span32 filter_prefix_span32(const struct mr_prefix *prefix)
{
	uint32_t first = mr_addr_ipv4(&prefix->addr);
	uint32_t mask = (uint32_t)(UINT64_C(0xffffffff00000000) >> prefix->length);

	return (struct filter_span32){first & mask, first | ~mask};
}

struct filter_span128 filter_prefix_span128(const struct mr_prefix *prefix)
{
	uint8_t mask[16];
	struct filter_ipv6 first, bits;

	filter_bits_mask(mask, sizeof(mask), prefix->length);
	first.high = rte_be_to_cpu_64(mr_load64(prefix->addr.bytes));
	first.low = rte_be_to_cpu_64(mr_load64(prefix->addr.bytes + 8));
	bits.high = rte_be_to_cpu_64(mr_load64(mask));
	bits.low = rte_be_to_cpu_64(mr_load64(mask + 8));
	return (struct filter_span128){{first.high & bits.high, first.low & bits.low},
				       {first.high | ~bits.high, first.low | ~bits.low}};
}

static int compare32(const void *left, const void *right)
{
	const struct filter_span32 *a = left, *b = right;

	return (a->first > b->first) - (a->first < b->first);
}

uint32_t filter_span32_merge(struct filter_span32 *span, uint32_t count)
{
	uint32_t kept = 0;

	qsort(span, count, sizeof(*span), compare32);
	for (uint32_t i = 0; i < count; i++) {
		if (kept > 0 && span[i].first <= (uint64_t)span[kept - 1].last + 1)
			span[kept - 1].last = RTE_MAX(span[kept - 1].last, span[i].last);
		else
			span[kept++] = span[i];
	}
	return kept;
}

static int compare_ipv6(const struct filter_ipv6 *a, const struct filter_ipv6 *b)
{
	return a->high != b->high ? (a->high > b->high) - (a->high < b->high)
				  : (a->low > b->low) - (a->low < b->low);
}

static int compare128(const void *left, const void *right)
{
	const struct filter_span128 *a = left, *b = right;

	return compare_ipv6(&a->first, &b->first);
}

/* Whether b begins within a or just behind its end. */
static bool touches(const struct filter_span128 *a, const struct filter_span128 *b)
{
	struct filter_ipv6 next = {a->last.high + (a->last.low == UINT64_MAX), a->last.low + 1};

	return compare_ipv6(&b->first, &a->last) <= 0 || compare_ipv6(&b->first, &next) == 0;
}

uint32_t filter_span128_merge(struct filter_span128 *span, uint32_t count)
{
	uint32_t kept = 0;

	qsort(span, count, sizeof(*span), compare128);
	for (uint32_t i = 0; i < count; i++) {
		if (kept > 0 && touches(&span[kept - 1], &span[i])) {
			if (compare_ipv6(&span[i].last, &span[kept - 1].last) > 0)
				span[kept - 1].last = span[i].last;
		} else {
			span[kept++] = span[i];
		}
	}
	return kept;
}
