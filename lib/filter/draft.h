/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_DRAFT_H
#define MR_FILTER_DRAFT_H

#include <netinet/in.h>

#include "filter/rule.h"

/*
 * A rule in the making: what the parser has read so far, with the place where it read it. It is
 * checked as a whole, then made into a rule.
 */
#define MR_FILTER_MAX_RANGES 1024   /* of all tests of a rule */
#define MR_FILTER_MAX_ADDRESSES 512 /* of each end of a rule */

/* What was wrong with a text, where (a column counted from 1), and what is allowed instead. */
struct mr_filter_fault {
	unsigned column;
	struct mr_error error;
};

/* Fills in a fault and returns -EINVAL. */
int mr_filter_refuse(struct mr_filter_fault *fault, unsigned column, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Things that are given at most once and need not be a field. */
enum mr_filter_item {
	MR_FILTER_ITEM_ACTION = MR_FILTER_FIELDS,
	MR_FILTER_ITEM_FAMILY, /* the word where a protocol could be */
	MR_FILTER_ITEM_ONLY,   /* ip4 or ip6 among the options */
	MR_FILTER_ITEM_SRC,
	MR_FILTER_ITEM_DST,
	MR_FILTER_ITEM_DIRECTION,
	MR_FILTER_ITEM_FRAGMENT,
	MR_FILTER_ITEM_OPTIONS,
	MR_FILTER_ITEM_ESTABLISHED,
	MR_FILTER_ITEM_TCP_FLAGS,
	MR_FILTER_ITEM_SRC_MAC,
	MR_FILTER_ITEM_DST_MAC,
	MR_FILTER_ITEM_STATE,
	MR_FILTER_ITEM_LOG,
	MR_FILTER_ITEMS
};

struct mr_filter_draft {
	struct mr_filter_rule rule;
	unsigned column[MR_FILTER_ITEMS]; /* where an item was read, by field too; 0: not given */
	struct mr_filter_test test[MR_FILTER_FIELDS]; /* count 0: none */
	unsigned ranges;
	struct mr_filter_range range[MR_FILTER_MAX_RANGES];
	struct mr_filter_address src[MR_FILTER_MAX_ADDRESSES], dst[MR_FILTER_MAX_ADDRESSES];
};

/* Whether protocol has ports where rules look for them. */
static inline bool mr_filter_protocol_has_ports(uint32_t protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_UDPLITE ||
	       protocol == IPPROTO_SCTP || protocol == IPPROTO_DCCP;
}

/* Refuses a draft that could not be honoured to the letter: that asks for what its packets never
 * have, or contradicts itself. Returns 0, or -EINVAL with the fault. */
int mr_filter_draft_check(const struct mr_filter_draft *draft, struct mr_filter_fault *fault);

/* Sorts what is a set: ranges without overlaps, addresses without duplicates. */
void mr_filter_draft_sort(struct mr_filter_draft *draft);

/* Makes the rule, with one reference, which is the caller's. NULL without memory. */
struct mr_filter_rule *mr_filter_draft_finish(const struct mr_filter_draft *draft);

#endif
