/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ICMP errors are where a router can be made to do harm: each is a packet that somebody else
 * caused, sent to an address that somebody else chose. So the rules of silence come first, then
 * the way back, then the rate limits, one of them for each interface on which the causes arrive,
 * such that a flood on one cannot keep the others from their path MTU discovery and traceroutes.
 */
#include <netinet/in.h>
#include <string.h>

#include "host/icmp.h"
#include "host/output.h"
#include "packet/checksum.h"
#include "route/router.h"

#define OWN_TTL 64
#define MAX_ERROR_SIZE 576           /* bytes of the IP packet, RFC 1812 4.3.2.3 */
#define PRECEDENCE_INTERNETWORK 0xc0 /* RFC 1812 4.3.2.5 */
#define TOS_BITS 0x1c                /* without precedence and ECN */

static const struct mr_token_rate total_rate = {.per_second = 1000, .burst = 500};
static const struct mr_token_rate iface_rate = {.per_second = 200, .burst = 100};

bool mr_is_host_address(struct mr *mr, uint32_t address)
{
	struct mr_addr addr = mr_addr_from_ipv4(address);

	if (address >> 24 == 0 || address >> 24 == 127 || address >> 29 == 7)
		return false;
	return !mr_router_is_local(mr, &addr, NULL) &&
	       mr_router_lookup(mr, &addr, 0)->kind != MR_ADJ_BROADCAST;
}

/* Destinations about which no error is sent: all groups, and broadcasts of connected subnets. */
static bool is_group_address(struct mr *mr, uint32_t address)
{
	struct mr_addr addr = mr_addr_from_ipv4(address);

	return address >> 28 == 14 || address == UINT32_MAX ||
	       mr_router_lookup(mr, &addr, 0)->kind == MR_ADJ_BROADCAST;
}

/* ICMP messages that are known to be no errors. Those that nobody knows could be. */
static bool is_icmp_query(uint8_t type)
{
	switch (type) {
	case MR_ICMP_ECHO_REPLY:
	case MR_ICMP_ECHO_REQUEST:
	case 9:  /* router advertisement */
	case 10: /* router solicitation */
	case 13: /* timestamp */
	case 14: /* timestamp reply */
	case 15: /* information request */
	case 16: /* information reply */
	case 17: /* address mask request */
	case 18: /* address mask reply */
	case 42: /* extended echo request, RFC 8335 */
	case 43: /* extended echo reply */
		return true;
	default:
		return false;
	}
}

static bool is_allowed(struct mr *mr, const struct mr_datagram *about)
{
	const struct rte_ipv4_hdr *ip = about->ip;

	if (about->link_group)
		return false;
	if (ip->fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_OFFSET_MASK))
		return false;
	if (ip->next_proto_id == IPPROTO_ICMP &&
	    (about->payload_size == 0 || !is_icmp_query(about->payload[0])))
		return false;
	return mr_is_host_address(mr, rte_be_to_cpu_32(ip->src_addr)) &&
	       !is_group_address(mr, rte_be_to_cpu_32(ip->dst_addr));
}

/* The address that an error comes from, in host byte order: one of the interface it leaves by
 * (RFC 1812 4.3.2.4), or, where that has none, one of the interface by which the packet came. 0 if
 * there is none either. */
static uint32_t choose_source(struct mr *mr, const struct mr_adjacency *way,
			      const struct mr_datagram *about)
{
	struct mr_addr peer = mr_addr_from_ipv4(rte_be_to_cpu_32(about->ip->src_addr)), addr;

	if (mr_router_source(mr, way->iface, &peer, &addr) < 0 &&
	    mr_router_source(mr, about->iface, &peer, &addr) < 0)
		return 0;
	return mr_addr_ipv4(&addr);
}

static bool is_within_limits(struct mr_host *host, uint16_t iface)
{
	return mr_token_take(&host->iface_error_bucket[iface], &iface_rate, host->now_ms) &&
	       mr_token_take(&host->error_bucket, &total_rate, host->now_ms);
}

static void count_sent(struct mr_host_stats *stats, uint8_t type, uint8_t code)
{
	if (type == MR_ICMP_TIME_EXCEEDED) {
		if (code == MR_ICMP_TRANSIT)
			stats->time_exceeded_sent++;
		else
			stats->reassembly_time_exceeded_sent++;
	} else if (code == MR_ICMP_NET) {
		stats->net_unreachable_sent++;
	} else if (code == MR_ICMP_HOST) {
		stats->host_unreachable_sent++;
	} else if (code == MR_ICMP_PROTOCOL) {
		stats->protocol_unreachable_sent++;
	} else if (code == MR_ICMP_PORT) {
		stats->port_unreachable_sent++;
	} else if (code == MR_ICMP_PROHIBITED) {
		stats->prohibited_sent++;
	} else {
		stats->fragmentation_needed_sent++;
	}
}

void mr_icmp_error(struct mr *mr, const struct mr_datagram *about, uint8_t type, uint8_t code,
		   uint16_t mtu)
{
	struct mr_host *host = mr->host;
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)host->datagram;
	struct mr_icmp_header *icmp = (struct mr_icmp_header *)(ip + 1);
	uint16_t quoted = RTE_MIN(about->header_size + about->payload_size,
				  (int)(MAX_ERROR_SIZE - sizeof(*ip) - sizeof(*icmp)));
	const struct mr_adjacency *way;
	uint32_t source;

	if (!is_allowed(mr, about)) {
		host->stats.errors_forbidden++;
		return;
	}
	way = mr_host_route(mr, rte_be_to_cpu_32(about->ip->src_addr));
	source = way != NULL ? choose_source(mr, way, about) : 0;
	if (source == 0) {
		host->stats.answers_unroutable++;
		return;
	}
	if (!is_within_limits(host, about->iface)) {
		host->stats.errors_rate_limited++;
		return;
	}
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.type_of_service =
			PRECEDENCE_INTERNETWORK | (about->ip->type_of_service & TOS_BITS),
		.total_length = rte_cpu_to_be_16(sizeof(*ip) + sizeof(*icmp) + quoted),
		.time_to_live = OWN_TTL,
		.next_proto_id = IPPROTO_ICMP,
		.src_addr = rte_cpu_to_be_32(source),
		.dst_addr = about->ip->src_addr,
	};
	*icmp = (struct mr_icmp_header){
		.type = type,
		.code = code,
		.sequence_or_mtu = rte_cpu_to_be_16(mtu),
	};
	memcpy(icmp + 1, about->ip, quoted);
	icmp->checksum = mr_checksum(icmp, sizeof(*icmp) + quoted);
	count_sent(&host->stats, type, code);
	mr_host_send(mr, way, about->iface, ip);
}
