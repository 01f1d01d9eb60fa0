/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The only ICMP message that is answered is the echo request (RFC 1122 3.2.2.6, RFC 1812 4.3.3.6);
 * no timestamps, address masks or router solicitations, and no redirect is believed. The answer
 * comes from the address that was asked, goes back by route, and carries none of the request's
 * options, so that a record route or timestamp option is not continued.
 */
#include "host/icmp.h"

#include <netinet/in.h>
#include <string.h>

#include "host/output.h"
#include "packet/checksum.h"

#define OWN_TTL 64
#define ECN_BITS 0x03

static void reply(struct mr *mr, const struct mr_adjacency *way, const struct mr_datagram *request)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)mr->host->datagram;
	struct mr_icmp_header *icmp = (struct mr_icmp_header *)(ip + 1);

	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		/* RFC 1812 4.3.2.5; ECN marks belong to the request's own way. */
		.type_of_service = request->ip->type_of_service & (uint8_t)~ECN_BITS,
		.total_length = rte_cpu_to_be_16(sizeof(*ip) + request->payload_size),
		.time_to_live = OWN_TTL,
		.next_proto_id = IPPROTO_ICMP,
		.src_addr = request->ip->dst_addr,
		.dst_addr = request->ip->src_addr,
	};
	memcpy(icmp, request->payload, request->payload_size);
	icmp->type = MR_ICMP_ECHO_REPLY;
	icmp->code = 0;
	icmp->checksum = 0;
	icmp->checksum = mr_checksum(icmp, request->payload_size);
	mr->host->stats.echo_replies_sent++;
	mr_host_send(mr, way, request->iface, ip);
}

int mr_icmp_input(struct mr *mr, const struct mr_datagram *datagram)
{
	const struct mr_icmp_header *icmp = (const struct mr_icmp_header *)datagram->payload;
	const struct mr_adjacency *way;

	if (datagram->payload_size < sizeof(*icmp) ||
	    !mr_checksum_ok(datagram->payload, datagram->payload_size))
		return MR_DROP_icmp_invalid;
	if (icmp->type != MR_ICMP_ECHO_REQUEST)
		return MR_DROP_host_unwanted;

	mr->host->stats.echo_requests_received++;
	way = mr_host_route(mr, rte_be_to_cpu_32(datagram->ip->src_addr));
	if (way != NULL)
		reply(mr, way, datagram);
	else
		mr->host->stats.answers_unroutable++;
	return MR_HOST_CONSUMED;
}
