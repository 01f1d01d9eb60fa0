/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PACKET_FLOW_HASH_FWD_H
#define MR_PACKET_FLOW_HASH_FWD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>

#include "packet/link_fwd.h"
#include "packet/load_fwd.h"

/*
 * A number that is the same for all packets of a flow, in both of its directions: of addresses and
 * ports where an IP packet has them; of addresses only for other protocols and for every fragment,
 * so that one datagram's fragments stay together; of the two MACs for all else. VLAN tags (up to
 * two) do not count. Neither does anything that changes on the way.
 *
 * Each end of a flow is mixed into a number of its own and the two are added, which does not know
 * an order. Frames may be cut or malformed: what is not there is not read.
 */
#define MR_FLOW_MAX_EXTENSIONS 4 /* IPv6 extension headers that are looked behind */

static inline uint64_t mr_flow_mix(uint64_t x)
{
	x *= UINT64_C(0x9e3779b97f4a7c15); /* 2^64 by the golden ratio: spreads every input bit */
	return x ^ x >> 29;
}

/* The whole hash; its upper bits are the better ones. */
static inline uint32_t mr_flow_of_ends(uint64_t a, uint64_t b)
{
	return (uint32_t)(mr_flow_mix(mr_flow_mix(a) + mr_flow_mix(b)) >> 32);
}

/* Source and destination port are the first four bytes. */
static inline bool mr_flow_has_ports(uint8_t protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_SCTP ||
	       protocol == IPPROTO_UDPLITE || protocol == IPPROTO_DCCP;
}

/* length: bytes of the packet that can be read, at least a header's. */
static inline uint32_t mr_flow_of_ipv4(const uint8_t *ip, unsigned length)
{
	unsigned header = (ip[0] & 0xfu) * 4;
	uint64_t source = mr_load32(ip + 12), destination = mr_load32(ip + 16);
	bool fragment = (mr_load16(ip + 6) &
			 RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)) != 0;

	if (!fragment && mr_flow_has_ports(ip[9]) && length >= header + 4) {
		source |= (uint64_t)mr_load16(ip + header) << 32;
		destination |= (uint64_t)mr_load16(ip + header + 2) << 32;
	}
	return mr_flow_of_ends(source, destination);
}

/* Where the ports are, or 0. */
static inline unsigned mr_flow_ipv6_ports(const uint8_t *ip, unsigned length)
{
	unsigned offset = sizeof(struct rte_ipv6_hdr);
	uint8_t protocol = ip[6];

	for (unsigned i = 0; i <= MR_FLOW_MAX_EXTENSIONS; i++) {
		if (length < offset + 4)
			return 0;
		if (mr_flow_has_ports(protocol))
			return offset;
		if (protocol != IPPROTO_HOPOPTS && protocol != IPPROTO_ROUTING &&
		    protocol != IPPROTO_DSTOPTS)
			return 0; /* a fragment header, too, ends here */
		protocol = ip[offset];
		offset += (ip[offset + 1] + 1u) * 8;
	}
	return 0;
}

static inline uint32_t mr_flow_of_ipv6(const uint8_t *ip, unsigned length)
{
	unsigned ports = mr_flow_ipv6_ports(ip, length);
	uint64_t source = mr_flow_mix(mr_load64(ip + 8)) + mr_load64(ip + 16);
	uint64_t destination = mr_flow_mix(mr_load64(ip + 24)) + mr_load64(ip + 32);

	if (ports != 0) {
		source = mr_flow_mix(source) + mr_load16(ip + ports);
		destination = mr_flow_mix(destination) + mr_load16(ip + ports + 2);
	}
	return mr_flow_of_ends(source, destination);
}

/* length: bytes of the frame that can be read, at least an Ethernet header's. */
static inline uint32_t mr_flow_hash(const uint8_t *frame, unsigned length)
{
	unsigned offset;
	uint16_t type = mr_link_payload(frame, length, &offset);

	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4) && length >= offset + sizeof(struct rte_ipv4_hdr))
		return mr_flow_of_ipv4(frame + offset, length - offset);
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6) && length >= offset + sizeof(struct rte_ipv6_hdr))
		return mr_flow_of_ipv6(frame + offset, length - offset);
	/* Two loads of eight bytes that overlap hold the six bytes of each MAC. */
	return mr_flow_of_ends(mr_load64(frame) << 16, mr_load64(frame + 6) << 16);
}

#endif
