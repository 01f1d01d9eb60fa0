/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_ROUTE_IPV4_TABLE_FWD_H
#define MR_ROUTE_IPV4_TABLE_FWD_H

/*
 * What forwarding lcores read of the IPv4 table, and how.
 *
 * The first 24 bits of an address index the root, an array of 32-bit entries (64 MB). An entry is a
 * leaf (next hop and length of the prefix it comes from) or refers to a node: 16 entries, one cache
 * line, for the next 4 bits; at most two nodes deep. So a prefix of up to 24 bits, as nearly all
 * are, is found with one access that depends on no other. A root of 20 bits takes 4 MB, but was
 * measured at 12 cycles a lookup instead of 3 with few routes, and at twice the cost of this one
 * with many, since most lookups then go on to a node.
 *
 * The control thread changes one entry at a time, with a release store, and frees a node that it
 * unlinked after a grace period. What a lookup returns was right at some moment between its start
 * and its end. The default route is not spread over the entries but stands in one word beside a
 * count of its changes: a lookup that saw the word change begins again, since an entry from before
 * the change and a default route from after it need never have been valid together.
 */
#include <assert.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#define MR_IPV4_TABLE_ROOT_BITS 24
#define MR_IPV4_TABLE_NODE_BITS 4
#define MR_IPV4_TABLE_MAX_BULK 64

struct mr_ipv4_table {
	uint32_t *root;         /* entries are written by the control thread; set once */
	uint64_t default_route; /* next hop, changes << 32; written by the control thread */
	struct mr_ipv4_table_control *control; /* control thread only */
} __rte_cache_aligned;

static_assert(sizeof(struct mr_ipv4_table) == RTE_CACHE_LINE_SIZE, "readers touch one line");

/*
 * Entries. Bit 0 tells a node (1) from a leaf (0).
 * Leaf: next hop << 7 | length << 1; 0 where no prefix but perhaps the default route covers.
 * Node: distance from the root in nodes << 1 | 1, signed.
 */
static inline uint32_t mr_ipv4_entry_is_node(uint32_t entry)
{
	return entry & 1;
}

static inline uint32_t mr_ipv4_entry_next_hop(uint32_t entry)
{
	return entry >> 7;
}

static inline uint32_t *mr_ipv4_entry_node(uint32_t *root, uint32_t entry)
{
	int64_t distance = (int32_t)entry >> 1;

	return (uint32_t *)((uintptr_t)root + (uintptr_t)(distance * RTE_CACHE_LINE_SIZE));
}

/* An acquire load: what is loaded after it, be it a node or the default route, is no older. */
static inline uint32_t mr_ipv4_entry_load(const uint32_t *entry)
{
	return __atomic_load_n(entry, __ATOMIC_ACQUIRE);
}

/* Replaces those of n entries that are nodes by the leaves of their addresses. All take a step
 * before any takes the next, so that their cache misses overlap; which ones go on is noted without
 * a branch that could be mispredicted. */
static inline void mr_ipv4_table_descend(uint32_t *root, const uint32_t *addresses, unsigned n,
					 uint32_t *entries)
{
	uint8_t unfinished[MR_IPV4_TABLE_MAX_BULK];
	unsigned shift = 32 - MR_IPV4_TABLE_ROOT_BITS, count = 0;

	for (unsigned i = 0; i < n; i++) {
		unfinished[count] = i;
		count += mr_ipv4_entry_is_node(entries[i]);
	}
	while (count > 0) {
		unsigned rest = 0;

		shift -= MR_IPV4_TABLE_NODE_BITS;
		for (unsigned j = 0; j < count; j++) {
			unsigned i = unfinished[j];
			const uint32_t *node = mr_ipv4_entry_node(root, entries[i]);
			uint32_t entry = mr_ipv4_entry_load(&node[(addresses[i] >> shift) & 15]);

			entries[i] = entry;
			unfinished[rest] = i;
			rest += mr_ipv4_entry_is_node(entry);
		}
		count = rest;
	}
}

/* Finds the next hops of n addresses (host byte order, at most MR_IPV4_TABLE_MAX_BULK), 0 where
 * there is no route. Any lcore that reports quiescent states to the table's mr_rcu may call it. */
static inline void mr_ipv4_table_lookup_bulk(const struct mr_ipv4_table *table,
					     const uint32_t *addresses, unsigned n,
					     uint32_t *next_hops)
{
	uint64_t seen, now = __atomic_load_n(&table->default_route, __ATOMIC_ACQUIRE);

	do {
		uint32_t any = 0;

		seen = now;
		for (unsigned i = 0; i < n; i++) {
			next_hops[i] = mr_ipv4_entry_load(
				&table->root[addresses[i] >> (32 - MR_IPV4_TABLE_ROOT_BITS)]);
			any |= next_hops[i];
		}
		if (mr_ipv4_entry_is_node(any))
			mr_ipv4_table_descend(table->root, addresses, n, next_hops);
		now = __atomic_load_n(&table->default_route, __ATOMIC_ACQUIRE);
	} while (unlikely(now != seen));

	for (unsigned i = 0; i < n; i++) {
		uint32_t next_hop = mr_ipv4_entry_next_hop(next_hops[i]);

		next_hops[i] = next_hop != 0 ? next_hop : (uint32_t)now;
	}
}

#endif
