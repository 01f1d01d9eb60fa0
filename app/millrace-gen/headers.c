/* SPDX-License-Identifier: BSD-3-Clause */
#include "headers.h"

#include <errno.h>
#include <netinet/in.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "packet/checksum.h"
#include "tag.h"

/* Skips the Ethernet header; returns the type of what follows and where it is, or 0. */
static uint16_t ethernet(const uint8_t *frame, uint16_t length, uint16_t *at)
{
	uint16_t type;

	for (*at = 2 * RTE_ETHER_ADDR_LEN; *at + 2 <= length; *at += RTE_VLAN_HLEN) {
		type = (uint16_t)(frame[*at] << 8 | frame[*at + 1]);
		if (type != RTE_ETHER_TYPE_VLAN && type != RTE_ETHER_TYPE_QINQ) {
			*at += 2;
			return type;
		}
	}
	return 0;
}

static int ipv4(const uint8_t *frame, uint16_t length, struct frame_headers *headers)
{
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(frame + headers->l3_at);
	uint16_t room = length - headers->l3_at;

	if (room < sizeof(*ip) || ip->version_ihl >> 4 != 4 || ip->next_proto_id != IPPROTO_UDP)
		return -EINVAL;
	if (ip->fragment_offset & rte_cpu_to_be_16((uint16_t)~RTE_IPV4_HDR_DF_FLAG))
		return -EINVAL;
	uint16_t header = mr_ipv4_header_size(ip), total = rte_be_to_cpu_16(ip->total_length);
	if (header < sizeof(*ip) || total < header || total > room)
		return -EINVAL;
	headers->udp_at = headers->l3_at + header;
	return total - header;
}

static int ipv6(const uint8_t *frame, uint16_t length, struct frame_headers *headers)
{
	const struct rte_ipv6_hdr *ip = (const struct rte_ipv6_hdr *)(frame + headers->l3_at);
	uint16_t room = length - headers->l3_at;

	if (room < sizeof(*ip) || frame[headers->l3_at] >> 4 != 6 || ip->proto != IPPROTO_UDP)
		return -EINVAL;
	uint16_t payload = rte_be_to_cpu_16(ip->payload_len);
	if (payload > room - sizeof(*ip))
		return -EINVAL;
	headers->udp_at = (uint16_t)(headers->l3_at + sizeof(*ip));
	return payload;
}

int headers_find(const uint8_t *frame, uint16_t length, struct frame_headers *headers)
{
	uint16_t type;
	int payload = -EINVAL; /* octets of the IP payload */

	*headers = (struct frame_headers){0};
	type = ethernet(frame, length, &headers->l3_at);
	headers->ipv6 = type == RTE_ETHER_TYPE_IPV6;
	if (type == RTE_ETHER_TYPE_IPV4)
		payload = ipv4(frame, length, headers);
	else if (type == RTE_ETHER_TYPE_IPV6)
		payload = ipv6(frame, length, headers);
	if (payload < (int)sizeof(struct rte_udp_hdr))
		return -EINVAL;

	const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)(frame + headers->udp_at);
	uint16_t datagram = rte_be_to_cpu_16(udp->dgram_len);
	if (datagram < sizeof(*udp) || datagram > payload)
		return -EINVAL;
	if (datagram >= sizeof(*udp) + TAG_SIZE)
		headers->tag_at = headers->udp_at + datagram - TAG_SIZE;
	return 0;
}

uint32_t headers_pseudo_sum(const uint8_t *frame, const struct frame_headers *headers)
{
	const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)(frame + headers->udp_at);
	const uint8_t *l3 = frame + headers->l3_at;
	uint32_t sum = rte_cpu_to_be_16(IPPROTO_UDP) + udp->dgram_len;

	if (headers->ipv6)
		return sum + rte_raw_cksum(l3 + offsetof(struct rte_ipv6_hdr, src_addr), 32);
	return sum + rte_raw_cksum(l3 + offsetof(struct rte_ipv4_hdr, src_addr), 8);
}

bool headers_checksums_ok(const uint8_t *frame, const struct frame_headers *headers)
{
	const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)(frame + headers->udp_at);
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(frame + headers->l3_at);
	uint32_t sum;

	if (!headers->ipv6 && !mr_checksum_ok(ip, mr_ipv4_header_size(ip)))
		return false;
	if (udp->dgram_cksum == 0)
		return !headers->ipv6;
	sum = headers_pseudo_sum(frame, headers) +
	      rte_raw_cksum(udp, rte_be_to_cpu_16(udp->dgram_len));
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}
