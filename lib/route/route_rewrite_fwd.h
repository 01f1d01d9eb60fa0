/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_ROUTE_ROUTE_REWRITE_FWD_H
#define MR_ROUTE_ROUTE_REWRITE_FWD_H

#include "packet/flow_hash_fwd.h"
#include "packet/ipv4_fwd.h"
#include "route/route_fwd.h"

static inline const struct mr_adjacency *mr_adjacency_load(const struct mr_route_fwd *router,
							   uint32_t next_hop)
{
	return __atomic_load_n(&router->adjacency[next_hop], __ATOMIC_ACQUIRE);
}

/* One of several next hops, by the packet's flow. The hash's high part is scaled, not divided. */
static inline const struct mr_adjacency *mr_adjacency_choose(const struct mr_route_fwd *router,
							     const struct mr_adjacency *multipath,
							     uint32_t flow_hash)
{
	uint32_t path = (uint32_t)((uint64_t)flow_hash * multipath->path_count >> 32);

	return mr_adjacency_load(router, multipath->path[path]);
}

/* An adjacency itself, or the path that it has for a packet. m starts with an Ethernet header; its
 * IP header is looked at only if there are several paths. */
static inline const struct mr_adjacency *mr_adjacency_path(const struct mr_route_fwd *router,
							   const struct mr_adjacency *adjacency,
							   struct rte_mbuf *m)
{
	if (adjacency->kind != MR_ADJ_MULTIPATH)
		return adjacency;
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, RTE_ETHER_HDR_LEN);

	return mr_adjacency_choose(router, adjacency,
				   mr_flow_of_ipv4(ip, ipv4_total_length(ipv4_load(ip))));
}

/* Makes a packet ready to leave by a MR_ADJ_FORWARD adjacency: new Ethernet header, TTL, checksum,
 * and nothing behind the IP packet, which ends length bytes from the frame's start. */
static inline void mr_route_rewrite(struct rte_mbuf *m, const struct mr_adjacency *adjacency,
				    unsigned length)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	if (unlikely(length != m->data_len))
		ipv4_trim(m, length);
	memcpy(frame, adjacency->header, sizeof(adjacency->header));
	ipv4_decrement_ttl(frame + RTE_ETHER_HDR_LEN);
}

#endif
