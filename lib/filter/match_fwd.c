/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tests that few rules have. Lists are searched by halving, so that a rule that names a set of
 * many addresses costs a few steps more than one that names an address.
 */
#include "filter/match_fwd.h"
#include "packet/load_fwd.h"

static bool in_span16(const struct filter_span16 *span, uint32_t count, uint16_t value)
{
	uint32_t low = 0;

	/* The first span that does not end before value is the only one that may hold it. */
	while (low < count) {
		uint32_t middle = (low + count) >> 1;

		if (span[middle].last < value)
			low = middle + 1;
		else if (span[middle].first <= value)
			return true;
		else
			count = middle;
	}
	return false;
}

static bool in_span32(const struct filter_span32 *span, uint32_t count, uint32_t value)
{
	uint32_t low = 0;

	while (low < count) {
		uint32_t middle = (low + count) >> 1;

		if (span[middle].last < value)
			low = middle + 1;
		else if (span[middle].first <= value)
			return true;
		else
			count = middle;
	}
	return false;
}

static bool is_below(const struct filter_ipv6 *a, const struct filter_ipv6 *b)
{
	return a->high < b->high || (a->high == b->high && a->low < b->low);
}

static bool in_span128(const struct filter_span128 *span, uint32_t count,
		       const struct filter_ipv6 *value)
{
	uint32_t low = 0;

	while (low < count) {
		uint32_t middle = (low + count) >> 1;

		if (is_below(&span[middle].last, value))
			low = middle + 1;
		else if (!is_below(value, &span[middle].first))
			return true;
		else
			count = middle;
	}
	return false;
}

static bool in_table(const struct filter_matches *all, const struct filter_table *table,
		     const uint8_t *address, uint16_t flags)
{
	if (flags & MR_FILTER_IPV4) {
		uint32_t value;

		memcpy(&value, address, sizeof(value));
		return in_span32(all->span32 + table->v4, table->v4_count, rte_be_to_cpu_32(value));
	}
	struct filter_ipv6 value = {rte_be_to_cpu_64(mr_load64(address)),
				    rte_be_to_cpu_64(mr_load64(address + 8))};

	return in_span128(all->span128 + table->v6, table->v6_count, &value);
}

static bool in_tables(const struct filter_matches *all, const struct filter_test *test,
		      const uint8_t *address, uint16_t flags)
{
	for (uint32_t i = 0; i < test->count; i++) {
		const struct filter_table *table = &all->table[all->table_list[test->at + i]];

		if (in_table(all, table, address, flags))
			return true;
	}
	return false;
}

static bool holds(const struct filter_matches *all, const struct filter_test *test,
		  const struct mr_filter_key *key)
{
	const uint8_t *at = (const uint8_t *)key + test->offset;

	switch (test->kind) {
	case FILTER_BITS:
		return (mr_load64(at) & test->bits.mask) == test->bits.value;
	case FILTER_RANGES8:
		return in_span16(all->span16 + test->at, test->count, *at);
	case FILTER_RANGES16:
		return in_span16(all->span16 + test->at, test->count,
				 rte_be_to_cpu_16(mr_load16(at)));
	default:
		return in_tables(all, test, at, key->flags);
	}
}

bool filter_match_further(const struct filter_matches *all, const struct filter_match *match,
			  const struct mr_filter_key *key)
{
	const struct filter_test *test = &all->test[match->test];

	for (unsigned i = 0; i < match->further; i++)
		if (holds(all, &test[i], key) == test[i].negated)
			return false;
	return true;
}
