/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_ROUTE_ADJACENCY_H
#define MR_ROUTE_ADJACENCY_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>

/*
 * Next hops: a route leads to a next hop index, and the index to an adjacency, which says what
 * happens to the packet. An adjacency never changes once published; the control thread replaces the
 * pointer in the index's slot and frees the old one after a grace period, so that a rewrite is
 * never seen half made. Index 0 stands for "no route".
 */
#define MR_MAX_NEXT_HOPS 65536
#define MR_NEXT_HOP_NONE 0

enum mr_adjacency_kind {
	MR_ADJ_NO_ROUTE,
	MR_ADJ_FORWARD,     /* header is complete */
	MR_ADJ_MULTIPATH,   /* one of several next hops, by flow */
	MR_ADJ_RESOLVE,     /* gateway without a MAC yet: punt */
	MR_ADJ_CONNECTED,   /* directly connected subnet, destination without a MAC yet: punt */
	MR_ADJ_UNREACHABLE, /* neighbour that does not answer: punt for ICMP 3/1 */
	MR_ADJ_LOCAL,       /* the appliance's own address */
	MR_ADJ_BLACKHOLE,
	MR_ADJ_BROADCAST, /* a connected subnet's broadcast or network address */
	MR_ADJ_MULTICAST, /* 224/4, which is not routed */
	MR_ADJ_MARTIAN,   /* destinations that are never routed */
	MR_ADJ_KINDS
};

#define MR_MAX_PATHS 16

struct mr_adjacency {
	uint8_t kind;
	uint8_t path_count; /* of MR_ADJ_MULTIPATH */
	uint16_t iface;     /* output interface */
	uint16_t mtu;       /* largest IP packet, bytes */
	uint16_t max_frame; /* mtu with Ethernet header; 0 unless MR_ADJ_FORWARD, so that one
			       comparison tells what may leave */
	uint8_t header[14]; /* Ethernet header that replaces the packet's, for IPv4 */
	uint32_t next_hop;  /* its own index */
	uint32_t path[MR_MAX_PATHS]; /* next hop indices of MR_ADJ_MULTIPATH */
} __rte_cache_aligned;

static_assert(offsetof(struct mr_adjacency, path) <= RTE_CACHE_LINE_SIZE / 2,
	      "hot part is in one line");

#endif
