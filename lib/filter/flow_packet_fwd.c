/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/flow_packet_fwd.h"

#include <netinet/in.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "packet/link_fwd.h"
#include "packet/load_fwd.h"

enum {
	ICMP4_ECHO_REPLY = 0,
	ICMP4_UNREACHABLE = 3,
	ICMP4_ECHO_REQUEST = 8,
	ICMP4_TIME_EXCEEDED = 11,
	ICMP4_PARAMETER_PROBLEM = 12,
	ICMP6_UNREACHABLE = 1,
	ICMP6_PARAMETER_PROBLEM = 4,
	ICMP6_ECHO_REQUEST = 128,
	ICMP6_ECHO_REPLY = 129,
	ICMP_HEADER = 8,
	QUOTED = 8,     /* bytes of a transport header that an error must quote (RFC 792) */
	OPTION_END = 0, /* of TCP */
	OPTION_NOTHING = 1,
	OPTION_SCALE = 3,
};

/* An IP packet, of which `left` bytes behind its headers are there. */
struct ip_view {
	const uint8_t *src, *dst, *transport;
	unsigned left;
	bool ipv6;
	bool first, later; /* a fragment: the first of several; another one */
	uint8_t protocol;
};

static bool view_ipv4(const uint8_t *ip, unsigned length, struct ip_view *view)
{
	unsigned header, total;

	if (length < sizeof(struct rte_ipv4_hdr) || ip[0] >> 4 != IPVERSION)
		return false;
	header = (ip[0] & RTE_IPV4_HDR_IHL_MASK) * RTE_IPV4_IHL_MULTIPLIER;
	total = RTE_MIN(mr_number16(ip + 2), length);
	if (header < sizeof(struct rte_ipv4_hdr) || header > total)
		return false;
	*view = (struct ip_view){
		.src = ip + 12,
		.dst = ip + 16,
		.transport = ip + header,
		.left = total - header,
		.first = (mr_number16(ip + 6) & RTE_IPV4_HDR_MF_FLAG) != 0,
		.later = (mr_number16(ip + 6) & RTE_IPV4_HDR_OFFSET_MASK) != 0,
		.protocol = ip[9],
	};
	return true;
}

static bool is_extension(uint8_t protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
	       protocol == IPPROTO_DSTOPTS || protocol == IPPROTO_FRAGMENT ||
	       protocol == IPPROTO_AH;
}

static bool view_ipv6(const uint8_t *ip, unsigned length, struct ip_view *view)
{
	unsigned payload;

	if (length < sizeof(struct rte_ipv6_hdr) || ip[0] >> 4 != 6)
		return false;
	payload = length - (unsigned)sizeof(struct rte_ipv6_hdr);
	if (mr_number16(ip + 4) < payload)
		payload = mr_number16(ip + 4);
	*view = (struct ip_view){
		.src = ip + 8,
		.dst = ip + 24,
		.transport = ip + sizeof(struct rte_ipv6_hdr),
		.left = payload,
		.ipv6 = true,
		.protocol = ip[6],
	};
	for (unsigned i = 0; is_extension(view->protocol) && !view->later; i++) {
		const uint8_t *header = view->transport;
		unsigned size = 8;

		if (i == MR_FILTER_MAX_EXTENSIONS || view->left < 8)
			return false;
		if (view->protocol == IPPROTO_FRAGMENT) {
			view->first = (header[3] & 1) != 0;
			view->later = mr_number16(header + 2) >> 3 != 0;
		} else {
			size = view->protocol == IPPROTO_AH ? (header[1] + 2u) * 4
							    : (header[1] + 1u) * 8;
		}
		if (size > view->left)
			return false;
		view->protocol = header[0];
		view->transport += size;
		view->left -= size;
	}
	return true;
}

static bool view_ip(bool ipv6, const uint8_t *ip, unsigned length, struct ip_view *view)
{
	return ipv6 ? view_ipv6(ip, length, view) : view_ipv4(ip, length, view);
}

static bool view_frame(const uint8_t *frame, unsigned length, struct ip_view *view)
{
	unsigned offset;
	uint16_t type = mr_link_payload(frame, length, &offset);

	return view_ip(type != RTE_BE16(RTE_ETHER_TYPE_IPV4), frame + offset, length - offset,
		       view);
}

static bool has_ports(uint8_t protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_UDPLITE ||
	       protocol == IPPROTO_SCTP || protocol == IPPROTO_DCCP;
}

static bool is_icmp(bool ipv6, uint8_t protocol)
{
	return protocol == (ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
}

static enum flow_echo echo_of(bool ipv6, uint8_t type)
{
	if (type == (ipv6 ? ICMP6_ECHO_REQUEST : ICMP4_ECHO_REQUEST))
		return FLOW_ECHO_REQUEST;
	return type == (ipv6 ? ICMP6_ECHO_REPLY : ICMP4_ECHO_REPLY) ? FLOW_ECHO_REPLY
								    : FLOW_NO_ECHO;
}

static bool is_error(bool ipv6, uint8_t type)
{
	if (ipv6)
		return type >= ICMP6_UNREACHABLE && type <= ICMP6_PARAMETER_PROBLEM;
	return type == ICMP4_UNREACHABLE || type == ICMP4_TIME_EXCEEDED ||
	       type == ICMP4_PARAMETER_PROBLEM;
}

/* ---- TCP ---- */

/* The window scale of a SYN's options, -1 without. */
static int8_t scale_of(const uint8_t *option, unsigned left)
{
	while (left >= 2 && option[0] != OPTION_END) {
		unsigned size = option[0] == OPTION_NOTHING ? 1 : option[1];

		if (size == 0 || size > left || (size == 1 && option[0] != OPTION_NOTHING))
			return -1;
		if (option[0] == OPTION_SCALE && size == 3)
			return (int8_t)(option[2] & 0x7f);
		option += size;
		left -= size;
	}
	return -1;
}

static bool read_segment(const struct ip_view *view, struct tcp_segment *segment)
{
	if (!flow_segment_read(view->transport, view->left, segment))
		return false;
	segment->cut = view->first;
	if ((segment->flags & RTE_TCP_SYN_FLAG) != 0)
		segment->scale = scale_of(view->transport + sizeof(struct rte_tcp_hdr),
					  flow_segment_header(view->transport) -
						  (unsigned)sizeof(struct rte_tcp_hdr));
	return true;
}

/* ---- ICMP ---- */

static void read_echo(const struct ip_view *view, enum flow_echo echo, struct flow_packet *packet)
{
	uint16_t identifier = mr_load16(view->transport + 4);

	packet->key.echo = (uint8_t)echo;
	packet->key.sport = echo == FLOW_ECHO_REQUEST ? identifier : 0;
	packet->key.dport = echo == FLOW_ECHO_REPLY ? identifier : 0;
	packet->kind = FLOW_OF_KEY;
}

/* What an error quotes: the key of that packet, if the error goes to its sender. */
static void read_error(const struct ip_view *error, struct flow_packet *packet)
{
	unsigned size = error->ipv6 ? 16 : 4;
	struct flow_key *key = &packet->key;
	struct ip_view quoted;

	if (error->left < ICMP_HEADER || !view_ip(error->ipv6, error->transport + ICMP_HEADER,
						  error->left - ICMP_HEADER, &quoted))
		return;
	if (quoted.later || quoted.left < QUOTED || memcmp(quoted.src, error->dst, size) != 0)
		return;
	memcpy(key->src, quoted.src, size);
	memcpy(key->dst, quoted.dst, size);
	key->protocol = quoted.protocol;
	if (has_ports(quoted.protocol)) {
		key->sport = mr_load16(quoted.transport);
		key->dport = mr_load16(quoted.transport + 2);
	} else if (is_icmp(quoted.ipv6, quoted.protocol)) {
		enum flow_echo echo = echo_of(quoted.ipv6, quoted.transport[0]);

		if (echo == FLOW_NO_ECHO)
			return;
		read_echo(&quoted, echo, packet);
	}
	packet->is_tcp = quoted.protocol == IPPROTO_TCP;
	packet->segment.seq = mr_number32(quoted.transport + 4);
	packet->kind = FLOW_ERROR_OF;
}

static void read_icmp(const struct ip_view *view, uint8_t type, struct flow_packet *packet)
{
	enum flow_echo echo = echo_of(view->ipv6, type);

	if (echo != FLOW_NO_ECHO && view->left >= ICMP_HEADER)
		read_echo(view, echo, packet);
	else if (is_error(view->ipv6, type))
		read_error(view, packet);
}

void flow_packet_read(const uint8_t *frame, unsigned length, const struct mr_filter_key *key,
		      uint16_t domain, uint32_t epoch, struct flow_packet *packet)
{
	struct ip_view view;
	bool ipv6 = (key->flags & MR_FILTER_IPV6) != 0;

	packet->kind = FLOW_NO_KIND;
	packet->is_tcp = false;
	if ((key->flags & (MR_FILTER_IPV4 | MR_FILTER_IPV6)) == 0)
		return;
	packet->key = (struct flow_key){
		.epoch = epoch,
		.domain = domain,
		.vlan = domain != 0 ? key->vlan : 0,
		.protocol = key->protocol,
		.ipv6 = ipv6,
	};
	memcpy(packet->key.src, key->src, sizeof(key->src));
	memcpy(packet->key.dst, key->dst, sizeof(key->dst));
	if (is_icmp(ipv6, key->protocol)) {
		if ((key->flags & MR_FILTER_ICMP) != 0 && view_frame(frame, length, &view))
			read_icmp(&view, key->icmp.type, packet);
		return;
	}
	if (!has_ports(key->protocol)) {
		packet->kind = FLOW_OF_KEY;
		return;
	}
	if ((key->flags & MR_FILTER_PORTS) == 0)
		return;
	packet->key.sport = key->sport;
	packet->key.dport = key->dport;
	packet->is_tcp = key->protocol == IPPROTO_TCP;
	packet->kind = FLOW_OF_KEY;
	if (packet->is_tcp &&
	    (!view_frame(frame, length, &view) || !read_segment(&view, &packet->segment)))
		packet->kind = FLOW_BROKEN;
}
