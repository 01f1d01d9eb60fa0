/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the router's vector loops found unusual, one packet at a time and in the order of RFC 1812:
 * link layer (5.3.4), header (5.2.2), options (4.2.2.6), destination, TTL (5.3.1). Anything that
 * wants an answer goes to the control thread; the reason to drop it there is decided here already,
 * for the case that its ring is full.
 */
#include "route/route_exception_fwd.h"

#include <netinet/in.h>

#include "lcore/output_fwd.h"
#include "packet/ipv4_fwd.h"
#include "packet/punt.h"
#include "route/ipv4_table_fwd.h"
#include "route/route_rewrite_fwd.h"

#define OK (-1) /* no reason to drop */

/* Options of more than one byte have a length that counts itself and the type (RFC 791 3.1). */
enum { OPTION_END = 0, OPTION_NOP = 1, OPTION_LSRR = 131, OPTION_SSRR = 137 };

static int check_options(const uint8_t *option, unsigned length)
{
	while (length > 0 && option[0] != OPTION_END) {
		unsigned size = 1;

		if (option[0] == OPTION_LSRR || option[0] == OPTION_SSRR)
			return MR_DROP_ip_source_route;
		if (option[0] != OPTION_NOP) {
			if (length < 2 || option[1] < 2 || option[1] > length)
				return MR_DROP_ip_options;
			size = option[1];
		}
		option += size;
		length -= size;
	}
	return OK;
}

static int check_link_layer(const uint8_t *frame, const struct mr_iface *iface)
{
	uint64_t to = 0;

	memcpy(&to, frame, RTE_ETHER_ADDR_LEN);
	if (to == iface->mac)
		return OK;
	if ((frame[0] & 1) == 0)
		return MR_DROP_other_host;
	/* A multicast packet is not routed for another reason than being in a multicast frame. */
	if (frame[RTE_ETHER_HDR_LEN + 16] >> 4 == 14)
		return MR_DROP_ip_multicast;
	return MR_DROP_link_multicast;
}

/* available: bytes from header on. */
static int check_header(const uint8_t *header, unsigned available)
{
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)header;

	if (available < sizeof(*ip))
		return MR_DROP_truncated;
	unsigned length = rte_ipv4_hdr_len(ip), total = rte_be_to_cpu_16(ip->total_length);

	if (ip->version != 4)
		return MR_DROP_ip_version;
	if (length < sizeof(*ip) || total < length)
		return MR_DROP_ip_header;
	if (total > available)
		return MR_DROP_truncated;
	if (rte_raw_cksum(header, length) != 0xffff)
		return MR_DROP_ip_checksum;
	if (!ipv4_source_ok((uint8_t)ip->src_addr))
		return MR_DROP_ip_source;
	return check_options(header + sizeof(*ip), length - (unsigned)sizeof(*ip));
}

/* A good packet by its adjacency. */
static void follow(struct mr_lcore *lcore, struct rte_mbuf *m, const struct mr_iface *iface,
		   const struct mr_adjacency *adjacency)
{
	static const int16_t drop_reason[MR_ADJ_KINDS] = {
		[MR_ADJ_NO_ROUTE] = OK,
		[MR_ADJ_FORWARD] = OK,
		[MR_ADJ_MULTIPATH] = MR_DROP_no_route, /* of multipaths: not made */
		[MR_ADJ_RESOLVE] = OK,
		[MR_ADJ_CONNECTED] = OK,
		[MR_ADJ_UNREACHABLE] = OK,
		[MR_ADJ_LOCAL] = OK,
		[MR_ADJ_BLACKHOLE] = MR_DROP_blackhole,
		[MR_ADJ_BROADCAST] = MR_DROP_directed_broadcast,
		[MR_ADJ_MULTICAST] = MR_DROP_ip_multicast,
		[MR_ADJ_MARTIAN] = MR_DROP_ip_destination,
	};
	struct rte_ipv4_hdr *ip =
		rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
	unsigned total = rte_be_to_cpu_16(ip->total_length);

	if (drop_reason[adjacency->kind] != OK) {
		mr_drop(lcore, iface->port, (enum mr_drop_reason)drop_reason[adjacency->kind], &m,
			1);
		return;
	}
	if (adjacency->kind == MR_ADJ_LOCAL) {
		mr_punt(lcore, m, iface->index, MR_PUNT_LOCAL, 0, MR_DROP_punt_full);
		return;
	}
	if (ip->time_to_live <= 1) {
		mr_punt(lcore, m, iface->index, MR_PUNT_TTL, 0, MR_DROP_ttl_exceeded);
		return;
	}
	switch (adjacency->kind) {
	case MR_ADJ_FORWARD:
		if (total > adjacency->mtu) {
			mr_punt(lcore, m, iface->index, MR_PUNT_TOO_BIG, adjacency->next_hop,
				MR_DROP_punt_full);
			return;
		}
		mr_route_rewrite(m, adjacency, RTE_ETHER_HDR_LEN + total);
		mr_output(lcore, adjacency->iface, &m, 1);
		return;
	case MR_ADJ_RESOLVE:
	case MR_ADJ_CONNECTED:
		mr_punt(lcore, m, iface->index, MR_PUNT_RESOLVE, adjacency->next_hop,
			MR_DROP_punt_full);
		return;
	case MR_ADJ_UNREACHABLE:
		mr_punt(lcore, m, iface->index, MR_PUNT_UNREACHABLE, adjacency->next_hop,
			MR_DROP_neighbour_unreachable);
		return;
	default:
		mr_punt(lcore, m, iface->index, MR_PUNT_NO_ROUTE, 0, MR_DROP_no_route);
	}
}

void mr_route_exception(struct mr_lcore *lcore, struct rte_mbuf *m, const struct mr_iface *iface)
{
	const struct mr_route_fwd *router = lcore->forwarding->route;
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint16_t type = (uint16_t)(frame[12] << 8 | frame[13]);
	int reason = check_link_layer(frame, iface);

	if (type == RTE_ETHER_TYPE_ARP && reason != MR_DROP_other_host) {
		mr_punt(lcore, m, iface->index, MR_PUNT_ARP, 0, MR_DROP_punt_full);
		return;
	}
	if (type != RTE_ETHER_TYPE_IPV4 && reason != MR_DROP_other_host)
		reason = MR_DROP_ethertype;
	if (reason == OK)
		reason = check_header(frame + RTE_ETHER_HDR_LEN, m->data_len - RTE_ETHER_HDR_LEN);
	if (reason != OK) {
		mr_drop(lcore, iface->port, (enum mr_drop_reason)reason, &m, 1);
		return;
	}
	uint32_t next_hop, destination;

	memcpy(&destination, frame + RTE_ETHER_HDR_LEN + 16, sizeof(destination));
	destination = rte_bswap32(destination);
	mr_ipv4_table_lookup_bulk(router->ipv4, &destination, 1, &next_hop);
	follow(lcore, m, iface, mr_adjacency_path(router, mr_adjacency_load(router, next_hop), m));
}
