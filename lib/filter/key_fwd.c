/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Headers are read as they are, by one walk for all rules: IHL, options and the IPv6 chain are
 * followed, and nothing is taken for a transport header that is none. What a rule could be deceived
 * by (a header cut up among fragments, a chain without end) is told apart here and never reaches
 * the rules. So the classifier may compare bytes.
 *
 * Each length is checked once, against the end of the IP packet, which lies within the frame: what
 * follows the packet is padding and no part of it (RFC 894).
 */
#include "filter/key_fwd.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "packet/link_fwd.h"
#include "packet/load_fwd.h"

enum { UDP_LITE = 136 };

/* What the IP header says, or the chain of them. */
struct ip_packet {
	const uint8_t *transport;
	unsigned left; /* bytes from there on */
	uint8_t protocol;
	uint16_t flags; /* MR_FILTER_LATER, _FIRST, _OPTIONS */
};

/* Fewer bytes than this of a transport header tell nothing that could be relied on. */
static inline unsigned transport_size(uint8_t protocol, bool ipv6)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return sizeof(struct rte_tcp_hdr);
	case IPPROTO_UDP:
	case UDP_LITE:
		return 8;
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
		return 12;
	case IPPROTO_ICMP:
		return ipv6 ? 0 : 8;
	case IPPROTO_ICMPV6:
		return ipv6 ? 4 : 0;
	default:
		return 0;
	}
}

static inline bool has_ports(uint8_t protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == UDP_LITE ||
	       protocol == IPPROTO_SCTP || protocol == IPPROTO_DCCP;
}

static inline enum mr_filter_reading cut_short(const struct ip_packet *ip)
{
	return ip->flags & MR_FILTER_FIRST ? MR_FILTER_TINY_FRAGMENT : MR_FILTER_BAD_HEADER;
}

static enum mr_filter_reading read_transport(const struct ip_packet *ip, bool ipv6, uint32_t wanted,
					     struct mr_filter_key *key)
{
	const uint8_t *header = ip->transport;

	if (ip->left < transport_size(ip->protocol, ipv6))
		return cut_short(ip);
	if (has_ports(ip->protocol)) {
		if (wanted & (MR_FILTER_WANT_SPORT | MR_FILTER_WANT_DPORT))
			key->flags |= MR_FILTER_PORTS;
		if (wanted & MR_FILTER_WANT_SPORT)
			key->sport = mr_load16(header);
		if (wanted & MR_FILTER_WANT_DPORT)
			key->dport = mr_load16(header + 2);
		if (ip->protocol == IPPROTO_TCP && (wanted & MR_FILTER_WANT_TCP)) {
			key->flags |= MR_FILTER_TCP;
			key->tcp_flags = header[offsetof(struct rte_tcp_hdr, tcp_flags)];
		}
	} else if (ip->protocol == (ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP) &&
		   (wanted & MR_FILTER_WANT_ICMP)) {
		key->flags |= MR_FILTER_ICMP;
		key->icmp.type = header[0];
		key->icmp.code = header[1];
	}
	return MR_FILTER_READ;
}

/* offset: of a fragment that is not the first, in units of 8 bytes. */
static inline bool starts_in_tcp_header(uint8_t protocol, unsigned offset)
{
	return protocol == IPPROTO_TCP && offset * 8 < sizeof(struct rte_tcp_hdr);
}

static enum mr_filter_reading read_packet(const struct ip_packet *ip, bool ipv6, uint32_t wanted,
					  struct mr_filter_key *key)
{
	if (wanted & MR_FILTER_WANT_FAMILY)
		key->flags |= ipv6 ? MR_FILTER_IPV6 : MR_FILTER_IPV4;
	if (wanted & MR_FILTER_WANT_FRAGMENT)
		key->flags |= ip->flags & (MR_FILTER_LATER | MR_FILTER_FIRST);
	if (wanted & MR_FILTER_WANT_OPTIONS)
		key->flags |= ip->flags & MR_FILTER_OPTIONS;
	if (wanted & MR_FILTER_WANT_PROTOCOL)
		key->protocol = ip->protocol;
	if (ip->flags & MR_FILTER_LATER)
		return MR_FILTER_READ;
	return read_transport(ip, ipv6, wanted, key);
}

static enum mr_filter_reading read_ipv4(const uint8_t *header, unsigned length, uint32_t wanted,
					struct mr_filter_key *key)
{
	struct ip_packet ip = {0};

	if (unlikely(length < sizeof(struct rte_ipv4_hdr)))
		return MR_FILTER_BAD_HEADER;
	unsigned header_size = (header[0] & RTE_IPV4_HDR_IHL_MASK) * RTE_IPV4_IHL_MULTIPLIER;
	unsigned total = mr_number16(header + 2);
	uint16_t fragment = mr_number16(header + 6);
	unsigned offset = fragment & RTE_IPV4_HDR_OFFSET_MASK;
	if (unlikely(header[0] >> 4 != IPVERSION || header_size < sizeof(struct rte_ipv4_hdr) ||
		     total < header_size || total > length))
		return MR_FILTER_BAD_HEADER;

	ip.protocol = header[9];
	ip.transport = header + header_size;
	ip.left = total - header_size;
	if (header_size > sizeof(struct rte_ipv4_hdr))
		ip.flags = MR_FILTER_OPTIONS;
	if (offset != 0) {
		ip.flags |= MR_FILTER_LATER;
		if (starts_in_tcp_header(ip.protocol, offset))
			return MR_FILTER_TINY_FRAGMENT;
	} else if (fragment & RTE_IPV4_HDR_MF_FLAG) {
		ip.flags |= MR_FILTER_FIRST;
	}
	if (wanted & MR_FILTER_WANT_SRC)
		memcpy(key->src, header + 12, 4);
	if (wanted & MR_FILTER_WANT_DST)
		memcpy(key->dst, header + 16, 4);
	if (wanted & MR_FILTER_WANT_LENGTH)
		key->length = mr_load16(header + 2);
	if (wanted & MR_FILTER_WANT_TTL)
		key->ttl = header[8];
	if (wanted & MR_FILTER_WANT_DSCP)
		key->dscp = header[1] >> 2;
	return read_packet(&ip, false, wanted, key);
}

/* Notes what a fragment header says; false: the fragment starts within a TCP header. */
static bool read_fragment_header(const uint8_t *header, struct ip_packet *ip)
{
	uint16_t field = mr_number16(header + 2);

	if (field >> 3 != 0) {
		ip->flags |= MR_FILTER_LATER;
		return !starts_in_tcp_header(header[0], field >> 3);
	}
	if (field & 1)
		ip->flags |= MR_FILTER_FIRST;
	return true;
}

/* Follows the extension headers to the upper-layer header, or to the fragment header of a later
 * fragment, which nothing that could be read follows. */
static enum mr_filter_reading follow_chain(struct ip_packet *ip)
{
	bool was_fragment = false;

	for (unsigned i = 0;; i++) {
		const uint8_t *header = ip->transport;
		unsigned size;

		switch (ip->protocol) {
		case IPPROTO_HOPOPTS:
		case IPPROTO_ROUTING:
		case IPPROTO_DSTOPTS:
		case IPPROTO_FRAGMENT:
		case IPPROTO_AH:
			break;
		default:
			return MR_FILTER_READ;
		}
		if (i == MR_FILTER_MAX_EXTENSIONS)
			return MR_FILTER_LONG_CHAIN;
		if (ip->left < 8)
			return cut_short(ip);
		if (ip->protocol == IPPROTO_FRAGMENT) {
			if (was_fragment)
				return MR_FILTER_BAD_HEADER;
			was_fragment = true;
			size = 8;
			if (!read_fragment_header(header, ip))
				return MR_FILTER_TINY_FRAGMENT;
		} else if (ip->protocol == IPPROTO_AH) {
			size = (header[1] + 2u) * 4;
		} else {
			size = (header[1] + 1u) * 8;
			ip->flags |= MR_FILTER_OPTIONS;
		}
		if (size > ip->left)
			return cut_short(ip);
		ip->protocol = header[0];
		ip->transport += size;
		ip->left -= size;
		if (ip->flags & MR_FILTER_LATER)
			return MR_FILTER_READ;
	}
}

static enum mr_filter_reading read_ipv6(const uint8_t *header, unsigned length, uint32_t wanted,
					struct mr_filter_key *key)
{
	enum mr_filter_reading reading;
	struct ip_packet ip;
	unsigned payload;

	if (unlikely(length < sizeof(struct rte_ipv6_hdr)))
		return MR_FILTER_BAD_HEADER;
	payload = mr_number16(header + 4);
	if (unlikely(header[0] >> 4 != 6 || payload > length - sizeof(struct rte_ipv6_hdr)))
		return MR_FILTER_BAD_HEADER;
	ip = (struct ip_packet){.transport = header + sizeof(struct rte_ipv6_hdr),
				.left = payload,
				.protocol = header[6]};
	reading = follow_chain(&ip);
	if (unlikely(reading != MR_FILTER_READ))
		return reading;
	if (wanted & MR_FILTER_WANT_SRC)
		memcpy(key->src, header + 8, 16);
	if (wanted & MR_FILTER_WANT_DST)
		memcpy(key->dst, header + 24, 16);
	/* With a payload of 65535 bytes it would be more than fits: then the most that does. */
	if (wanted & MR_FILTER_WANT_LENGTH)
		key->length = rte_cpu_to_be_16((uint16_t)RTE_MIN(payload + 40, 65535u));
	if (wanted & MR_FILTER_WANT_TTL)
		key->ttl = header[7];
	if (wanted & MR_FILTER_WANT_DSCP)
		key->dscp = (uint8_t)((header[0] & 0x0f) << 2 | header[1] >> 6);
	return read_packet(&ip, true, wanted, key);
}

static void read_place(const struct mr_filter_place *place, uint32_t wanted,
		       struct mr_filter_key *key)
{
	if (wanted & MR_FILTER_WANT_IN)
		key->iface_in = rte_cpu_to_be_16(place->iface_in);
	if (wanted & MR_FILTER_WANT_OUT)
		key->iface_out = rte_cpu_to_be_16(place->iface_out);
	if (wanted & MR_FILTER_WANT_VRF)
		key->vrf = rte_cpu_to_be_16(place->vrf);
	if ((wanted & MR_FILTER_WANT_DIRECTION) && place->out)
		key->flags |= MR_FILTER_OUT;
}

enum mr_filter_reading mr_filter_key_read(const uint8_t *frame, unsigned length, uint32_t wanted,
					  const struct mr_filter_place *place,
					  struct mr_filter_key *key)
{
	unsigned offset;
	uint16_t type = mr_link_payload(frame, length, &offset);

	memset(key, 0, sizeof(*key));
	read_place(place, wanted, key);
	if (wanted & MR_FILTER_WANT_MACS) {
		memcpy(key->dst_mac, frame, sizeof(key->dst_mac));
		memcpy(key->src_mac, frame + 6, sizeof(key->src_mac));
	}
	if ((wanted & MR_FILTER_WANT_VLAN) && offset > RTE_ETHER_HDR_LEN)
		key->vlan = rte_cpu_to_be_16(mr_link_vid(frame));
	if (wanted & MR_FILTER_WANT_ETHERTYPE)
		key->ethertype = type;
	if ((wanted & MR_FILTER_WANT_IP) == 0)
		return MR_FILTER_READ;
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return read_ipv4(frame + offset, length - offset, wanted, key);
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		return read_ipv6(frame + offset, length - offset, wanted, key);
	return MR_FILTER_READ;
}
