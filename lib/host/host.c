/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets come here from the punt rings with the reason why. Each handler looks at its packet and
 * returns how it ends, and it ends in one place.
 */
#include "host/host.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "host/arp.h"
#include "host/context.h"
#include "host/icmp.h"
#include "host/output.h"
#include "lcore/lcores.h"
#include "packet/checksum.h"
#include "packet/punt.h"
#include "route/neighbour.h"
#include "route/router.h"

uint16_t mr_host_port(struct mr *mr, uint16_t index)
{
	const struct mr_iface *iface = mr_iface(mr, index);

	return iface != NULL ? iface->port : MR_PORT_NONE;
}

void mr_host_end(struct mr *mr, uint16_t iface, int verdict, struct rte_mbuf *packet)
{
	if (verdict == MR_HOST_CONSUMED) {
		mr_count(&mr->lcores->control->consumed, 1);
		rte_pktmbuf_free(packet);
	} else {
		mr_control_drop(mr, mr_host_port(mr, iface), (enum mr_drop_reason)verdict, packet);
	}
}

/* Lcores have checked all this before they punted; whoever reads a packet checks it again. */
int mr_datagram_of(const struct rte_mbuf *packet, uint16_t iface, struct mr_datagram *datagram)
{
	const struct rte_ether_hdr *ethernet =
		rte_pktmbuf_mtod(packet, const struct rte_ether_hdr *);
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(ethernet + 1);
	uint16_t length = rte_pktmbuf_data_len(packet), header_size, total;

	if (packet->nb_segs != 1)
		return MR_DROP_segmented;
	if (length < sizeof(*ethernet) + sizeof(*ip))
		return MR_DROP_truncated;
	if (ip->version_ihl >> 4 != IPVERSION)
		return MR_DROP_ip_version;
	header_size = mr_ipv4_header_size(ip);
	total = rte_be_to_cpu_16(ip->total_length);
	if (header_size < sizeof(*ip) || total < header_size)
		return MR_DROP_ip_header;
	if (total > length - sizeof(*ethernet))
		return MR_DROP_truncated;
	if (!mr_checksum_ok(ip, header_size))
		return MR_DROP_ip_checksum;
	*datagram = (struct mr_datagram){
		.ip = ip,
		.payload = (const uint8_t *)ip + header_size,
		.header_size = header_size,
		.payload_size = total - header_size,
		.iface = iface,
		.link_group = rte_is_multicast_ether_addr(&ethernet->dst_addr),
	};
	return MR_HOST_CONSUMED;
}

/*
 * Nothing listens here yet but ICMP. A UDP port that nobody has gets its own code; any other
 * protocol, TCP too, is one that the appliance does not speak (RFC 1122 3.2.2.1).
 */
int mr_host_local(struct mr *mr, const struct mr_datagram *datagram)
{
	switch (datagram->ip->next_proto_id) {
	case IPPROTO_ICMP:
		return mr_icmp_input(mr, datagram);
	case IPPROTO_UDP:
		mr_icmp_error(mr, datagram, MR_ICMP_UNREACHABLE, MR_ICMP_PORT, 0);
		return MR_DROP_host_unwanted;
	default:
		mr_icmp_error(mr, datagram, MR_ICMP_UNREACHABLE, MR_ICMP_PROTOCOL, 0);
		return MR_DROP_host_unwanted;
	}
}

static int local_input(struct mr *mr, const struct mr_datagram *datagram, struct rte_mbuf *packet)
{
	const struct rte_ipv4_hdr *ip = datagram->ip;
	struct mr_addr destination = mr_addr_from_ipv4(rte_be_to_cpu_32(ip->dst_addr));

	if (datagram->link_group)
		return MR_DROP_link_multicast;
	if (!mr_router_is_local(mr, &destination, NULL)) /* not any more */
		return MR_DROP_host_unwanted;
	if (!mr_is_host_address(mr, rte_be_to_cpu_32(ip->src_addr)))
		return MR_DROP_ip_source;
	if (ip->fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK))
		return mr_reassembly_input(mr, datagram, packet);
	return mr_host_local(mr, datagram);
}

/* Forwards what is larger than the next hop's MTU: in fragments if its sender allows it, else the
 * sender is told the MTU (RFC 1812 5.2.6, RFC 1191 4). */
static int too_big_input(struct mr *mr, const struct mr_datagram *datagram, struct rte_mbuf *packet,
			 const struct mr_adjacency *way)
{
	struct rte_ipv4_hdr *ip =
		rte_pktmbuf_mtod_offset(packet, struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
	uint16_t out = way->iface;

	if (ip->time_to_live <= 1) {
		mr_icmp_error(mr, datagram, MR_ICMP_TIME_EXCEEDED, MR_ICMP_TRANSIT, 0);
		return MR_DROP_ttl_exceeded;
	}
	if (!mr_adjacency_leads_out(way)) /* not any more */
		return MR_DROP_no_route;
	if (ip->fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG)) {
		mr_icmp_error(mr, datagram, MR_ICMP_UNREACHABLE, MR_ICMP_TOO_BIG, way->mtu);
		mr_host_end(mr, out, MR_DROP_fragmentation_needed, packet);
		return MR_HOST_TAKEN;
	}
	ip->time_to_live--;
	if (mr_host_send_fragments(mr, way, datagram->iface, ip) == 0)
		rte_pktmbuf_free(packet); /* it goes on as its fragments */
	else
		mr_host_end(mr, out, MR_DROP_fragmentation_failed, packet);
	return MR_HOST_TAKEN;
}

static int ipv4_input(struct mr *mr, const struct mr_punt *punt, struct rte_mbuf *packet)
{
	struct mr_datagram datagram;
	int verdict = mr_datagram_of(packet, punt->iface, &datagram);

	if (verdict != MR_HOST_CONSUMED)
		return verdict;
	switch (punt->kind) {
	case MR_PUNT_LOCAL:
		return local_input(mr, &datagram, packet);
	case MR_PUNT_RESOLVE:
		mr_neighbour_hold(mr, packet);
		return MR_HOST_TAKEN;
	case MR_PUNT_TTL:
		mr_icmp_error(mr, &datagram, MR_ICMP_TIME_EXCEEDED, MR_ICMP_TRANSIT, 0);
		return MR_DROP_ttl_exceeded;
	case MR_PUNT_UNREACHABLE:
		mr_icmp_error(mr, &datagram, MR_ICMP_UNREACHABLE, MR_ICMP_HOST, 0);
		return MR_DROP_neighbour_unreachable;
	case MR_PUNT_TOO_BIG:
		return too_big_input(mr, &datagram, packet,
				     mr_router_adjacency(mr, punt->next_hop));
	default:
		mr_icmp_error(mr, &datagram, MR_ICMP_UNREACHABLE, MR_ICMP_NET, 0);
		return MR_DROP_no_route;
	}
}

void mr_host_input(struct mr *mr, struct rte_mbuf *packet)
{
	const struct mr_punt punt = *mr_punt_of(packet);
	const struct mr_iface *iface = mr_iface(mr, punt.iface);
	int verdict;

	if (iface == NULL)
		verdict = MR_DROP_unconfigured; /* removed while the packet was on its way */
	else if (punt.kind == MR_PUNT_ARP)
		verdict = mr_arp_input(mr, iface, packet);
	else
		verdict = ipv4_input(mr, &punt, packet);
	if (verdict != MR_HOST_TAKEN)
		mr_host_end(mr, punt.iface, verdict, packet);
}

/* What room route calls for a held packet whose neighbour does not answer. Nobody waits to hear
 * about the appliance's own packets. */
static void unreachable(struct mr *mr, uint16_t iface, struct rte_mbuf *packet)
{
	struct mr_datagram datagram;

	if (mr_punt_of(packet)->kind != MR_PUNT_ORIGINATED && iface < MR_MAX_IFACES &&
	    mr_datagram_of(packet, iface, &datagram) == MR_HOST_CONSUMED)
		mr_icmp_error(mr, &datagram, MR_ICMP_UNREACHABLE, MR_ICMP_HOST, 0);
	mr_host_end(mr, iface, MR_DROP_neighbour_unreachable, packet);
}

int mr_host_create(struct mr *mr, struct mr_error *error)
{
	struct mr_host *host = calloc(1, sizeof(*host));

	if (host != NULL)
		host->reassembly = mr_reassembly_create();
	if (host == NULL || host->reassembly == NULL) {
		free(host);
		return mr_fail(error, -ENOMEM, "no memory for ARP and ICMP");
	}
	mr->host = host;
	mr_lcores_add_held(mr, mr_host_held);
	mr_neighbour_set_handlers(mr, mr_arp_solicit, unreachable, mr_host_input);
	return 0;
}

void mr_host_destroy(struct mr *mr)
{
	if (mr->host == NULL)
		return;
	mr_reassembly_destroy(mr, mr->host->reassembly);
	free(mr->host);
	mr->host = NULL;
}

void mr_host_poll(struct mr *mr, uint64_t now_ms)
{
	mr->host->now_ms = now_ms;
	mr_reassembly_poll(mr);
	mr_arp_poll(mr);
}

void mr_host_withdraw(struct mr *mr, uint16_t iface)
{
	struct mr_host *host = mr->host;

	mr_reassembly_withdraw(mr, host->reassembly, iface);
	if (host->announce_ms[iface] != 0)
		host->announcing--;
	host->announce_ms[iface] = 0;
	host->defend_ms[iface] = 0;
	host->iface_error_bucket[iface] = (struct mr_token_bucket){0};
}

uint64_t mr_host_held(struct mr *mr)
{
	return mr->host != NULL ? mr_reassembly_held(mr->host->reassembly) : 0;
}
