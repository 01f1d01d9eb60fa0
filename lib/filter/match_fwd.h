/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_MATCH_FWD_H
#define FILTER_MATCH_FWD_H

/*
 * A rule's tests as the packet path makes them: exactly what the rule says, for one packet.
 *
 * What most rules test stands in one cache line and is compared without a branch; the rest (lists
 * of addresses, several ranges, negations, long IPv6 prefixes, MACs, flags) is a short list of
 * further tests in shared pools, which is looked at only when all else agrees. All of it is written
 * by the control thread before a classifier is published, and never again.
 */
#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

#include "filter/key_fwd.h"
#include "packet/load_fwd.h"

/* Words are compared as they lie in memory; ports are in host byte order. A value lies in a span
 * when it is at most `span` above `first`. */
struct filter_match {
	alignas(64) uint64_t src_mask; /* of the first eight bytes */
	uint64_t src_value;
	uint64_t dst_mask, dst_value;
	uint16_t sport_first, sport_span;
	uint16_t dport_first, dport_span;
	uint16_t flags_mask, flags_value; /* of key->flags */
	uint8_t protocol_first, protocol_span;
	uint8_t families; /* MR_FILTER_FAMILY_*: bit (flags & 3) of it */
	uint8_t further;  /* tests from `test` on */
	uint32_t test;
	uint32_t rule; /* index in the set */
};

static_assert(sizeof(struct filter_match) == 64, "a cache line");
static_assert(MR_FILTER_IPV4 == 1 && MR_FILTER_IPV6 == 2, "flags & 3 is the family's bit");

enum filter_further {
	FILTER_BITS,     /* eight bytes of the key at offset, masked, equal value */
	FILTER_RANGES8,  /* the byte at offset lies in one of the ranges */
	FILTER_RANGES16, /* the number at offset does */
	FILTER_IN,       /* the address at offset lies in one of the address tables */
};

struct filter_test {
	uint8_t kind; /* enum filter_further */
	uint8_t offset;
	bool negated;
	uint32_t count; /* of ranges or tables */
	union {
		struct {
			uint64_t mask, value;
		} bits;
		uint32_t at; /* first of them in ranges or table_list */
	};
};

/* Inclusive. */
struct filter_span16 {
	uint16_t first, last;
};

struct filter_span32 {
	uint32_t first, last;
};

struct filter_ipv6 {
	uint64_t high, low;
};

struct filter_span128 {
	struct filter_ipv6 first, last;
};

/* Addresses of either family as sorted disjoint intervals in host byte order. */
struct filter_table {
	uint32_t v4, v4_count; /* in span32 */
	uint32_t v6, v6_count; /* in span128 */
};

/* The tests of all rules of a classifier. */
struct filter_matches {
	struct filter_match *match; /* by rule, ascending */
	struct filter_test *test;
	struct filter_span16 *span16;
	struct filter_span32 *span32;
	struct filter_span128 *span128;
	struct filter_table *table;
	uint32_t *table_list;
};

/* Whether the further tests of a rule hold. */
bool filter_match_further(const struct filter_matches *all, const struct filter_match *match,
			  const struct mr_filter_key *key);

/* Whether a rule matches a packet. */
static inline bool filter_match(const struct filter_matches *all, const struct filter_match *match,
				const struct mr_filter_key *key)
{
	uint64_t differs = ((mr_load64(key->src) & match->src_mask) ^ match->src_value) |
			   ((mr_load64(key->dst) & match->dst_mask) ^ match->dst_value) |
			   ((key->flags & match->flags_mask) ^ match->flags_value);
	uint16_t sport = (uint16_t)(rte_be_to_cpu_16(key->sport) - match->sport_first);
	uint16_t dport = (uint16_t)(rte_be_to_cpu_16(key->dport) - match->dport_first);
	uint8_t protocol = (uint8_t)(key->protocol - match->protocol_first);
	bool agrees = (differs == 0) & (sport <= match->sport_span) & (dport <= match->dport_span) &
		      (protocol <= match->protocol_span) &
		      (match->families >> (key->flags & 3) & 1);

	return agrees && (match->further == 0 || filter_match_further(all, match, key));
}

#endif
