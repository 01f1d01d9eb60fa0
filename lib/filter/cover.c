/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/cover.h"

#include <string.h>

/* Whether every range of inner lies within one of outer; both are sorted and disjoint. */
static bool ranges_within(const struct mr_filter_test *inner, const struct mr_filter_test *outer)
{
	unsigned at = 0;

	for (unsigned i = 0; i < inner->count; i++) {
		while (at < outer->count && outer->range[at].last < inner->range[i].first)
			at++;
		if (at == outer->count || inner->range[i].first < outer->range[at].first ||
		    inner->range[i].last > outer->range[at].last)
			return false;
	}
	return true;
}

static bool ranges_apart(const struct mr_filter_test *a, const struct mr_filter_test *b)
{
	unsigned at = 0;

	for (unsigned i = 0; i < a->count; i++) {
		while (at < b->count && b->range[at].last < a->range[i].first)
			at++;
		if (at < b->count && b->range[at].first <= a->range[i].last)
			return false;
	}
	return true;
}

static bool test_covers(const struct mr_filter_test *wide, const struct mr_filter_test *narrow)
{
	if (narrow == NULL)
		return false;
	if (wide->negated)
		return narrow->negated ? ranges_within(wide, narrow) : ranges_apart(wide, narrow);
	return !narrow->negated && ranges_within(narrow, wide);
}

static bool address_within(const struct mr_filter_address *inner,
			   const struct mr_filter_address *outer)
{
	if (inner->is_set || outer->is_set)
		return inner->is_set && outer->is_set && inner->set == outer->set;
	return inner->prefix.length >= outer->prefix.length &&
	       mr_prefix_contains(&outer->prefix, &inner->prefix.addr);
}

static bool all_within(const struct mr_filter_addresses *inner,
		       const struct mr_filter_addresses *outer)
{
	for (unsigned i = 0; i < inner->count; i++) {
		bool found = false;

		for (unsigned j = 0; j < outer->count && !found; j++)
			found = address_within(&inner->alternative[i], &outer->alternative[j]);
		if (!found)
			return false;
	}
	return true;
}

static bool addresses_cover(const struct mr_filter_addresses *wide,
			    const struct mr_filter_addresses *narrow)
{
	if (wide->count == 0)
		return true;
	if (narrow->count == 0 || wide->negated != narrow->negated)
		return false;
	return wide->negated ? all_within(wide, narrow) : all_within(narrow, wide);
}

static bool mac_covers(const struct mr_filter_mac *wide, const struct mr_filter_mac *narrow)
{
	struct rte_ether_addr first = narrow->mac;

	if (wide->bits == 0)
		return true;
	if (wide->negated || narrow->negated)
		return wide->negated == narrow->negated && wide->bits == narrow->bits &&
		       rte_is_same_ether_addr(&wide->mac, &narrow->mac);
	for (unsigned bit = wide->bits; bit < 48; bit++)
		first.addr_bytes[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
	return narrow->bits >= wide->bits && rte_is_same_ether_addr(&wide->mac, &first);
}

static bool flags_cover(const struct mr_filter_tcp *wide, const struct mr_filter_tcp *narrow)
{
	if ((wide->set | wide->clear) == 0)
		return true;
	if (wide->negated || narrow->negated)
		return memcmp(wide, narrow, sizeof(*wide)) == 0;
	return (wide->set & ~narrow->set) == 0 && (wide->clear & ~narrow->clear) == 0;
}

static bool wish_covers(uint8_t wide, uint8_t narrow)
{
	return wide == MR_FILTER_ANY || wide == narrow;
}

bool mr_filter_rule_covers(const struct mr_filter_rule *wide, const struct mr_filter_rule *narrow)
{
	if ((narrow->families & ~wide->families) != 0 ||
	    !wish_covers(wide->direction, narrow->direction) ||
	    !wish_covers(wide->fragment, narrow->fragment) ||
	    !wish_covers(wide->options, narrow->options) ||
	    !wish_covers(wide->established, narrow->established))
		return false;
	if (!flags_cover(&wide->tcp, &narrow->tcp) ||
	    !mac_covers(&wide->src_mac, &narrow->src_mac) ||
	    !mac_covers(&wide->dst_mac, &narrow->dst_mac) ||
	    !addresses_cover(&wide->src, &narrow->src) ||
	    !addresses_cover(&wide->dst, &narrow->dst))
		return false;
	for (unsigned i = 0; i < wide->tests; i++)
		if (!test_covers(
			    &wide->test[i],
			    mr_filter_rule_test(narrow, (enum mr_filter_field)wide->test[i].field)))
			return false;
	return true;
}
