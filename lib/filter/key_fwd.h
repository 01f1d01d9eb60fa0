/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_KEY_FWD_H
#define MR_FILTER_KEY_FWD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "packet/drop.h"

/*
 * What rules can look at of a packet, in one record: its headers as they are.
 *
 * Only what is wanted is read; all else is zero, so that packets which the rules cannot tell apart
 * have equal keys: compare and hash them as bytes. The first MR_FILTER_FLOW_SIZE bytes, the flow
 * part, differ between flows; the rest differs between packets of one flow, and is zero unless some
 * rule looks at it. All numbers are in network byte order.
 *
 * A test of something that a packet does not have fails, whether it is negated or not. `flags` says
 * what the packet has:
 *
 *   MR_FILTER_IPV4, _IPV6   addresses, protocol, length, TTL and DSCP; neither: other frames
 *   MR_FILTER_PORTS         sport and dport: whole packets and first fragments of TCP, UDP,
 *                           UDP-Lite, SCTP and DCCP
 *   MR_FILTER_ICMP          type and code, in the bytes of sport: whole packets and first fragments
 *                           of ICMP in IPv4 and ICMPv6 in IPv6
 *   MR_FILTER_TCP           TCP flags: whole packets and first fragments of TCP
 *   MR_FILTER_LATER         a fragment that is not the first: it has addresses and a protocol, but
 *                           nothing of the transport header, whatever fragments came before it
 *   MR_FILTER_FIRST         the first fragment of several
 *   MR_FILTER_OPTIONS       IPv4 options, or a hop-by-hop options, destination options or routing
 *                           header in IPv6
 *   MR_FILTER_OUT           the hook: output; without it, input
 *
 * The protocol of IPv6 is what follows the chain of hop-by-hop options, routing, destination
 * options, fragment and authentication headers (RFC 8200 4, RFC 4302 2.2). An atomic fragment (RFC
 * 6946) is a whole packet. Of a later fragment it is what its fragment header names.
 */
struct mr_filter_key {
	uint8_t src[16]; /* IPv4: the first four, the others 0 */
	uint8_t dst[16];
	union {
		uint16_t sport;
		struct {
			uint8_t type, code;
		} icmp;
	};
	uint16_t dport;
	uint8_t protocol;
	uint8_t tcp_flags; /* the eight from CWR to FIN */
	uint16_t flags;    /* MR_FILTER_IPV4 and so on, in host byte order */
	uint16_t iface_in;
	uint16_t iface_out; /* MR_IFACE_NONE at input */
	uint16_t vlan;      /* VID of the outermost tag; 0: untagged or priority-tagged */
	uint16_t ethertype; /* after up to two VLAN tags */
	/* Of the packet rather than of its flow. */
	uint16_t length; /* of the IP packet, with its header */
	uint8_t ttl;
	uint8_t dscp;
	uint8_t src_mac[6];
	uint8_t dst_mac[6];
	uint16_t vrf;
	uint8_t zero[14];
};

#define MR_FILTER_FLOW_SIZE 48

static_assert(sizeof(struct mr_filter_key) == 80, "no padding, a multiple of 16");
static_assert(offsetof(struct mr_filter_key, length) == MR_FILTER_FLOW_SIZE, "flow part first");

enum {
	MR_FILTER_IPV4 = 1 << 0,
	MR_FILTER_IPV6 = 1 << 1,
	MR_FILTER_PORTS = 1 << 2,
	MR_FILTER_ICMP = 1 << 3,
	MR_FILTER_TCP = 1 << 4,
	MR_FILTER_LATER = 1 << 5,
	MR_FILTER_FIRST = 1 << 6,
	MR_FILTER_OPTIONS = 1 << 7,
	MR_FILTER_OUT = 1 << 8,
};

/*
 * What is wanted: a mask. Everything from MR_FILTER_WANT_FAMILY on needs the IP header; a set of
 * rules that wants any of it has all headers checked up to the transport's, one that wants none has
 * no header read and drops nothing for it.
 */
enum {
	MR_FILTER_WANT_IN = 1 << 0,
	MR_FILTER_WANT_OUT = 1 << 1,
	MR_FILTER_WANT_DIRECTION = 1 << 2, /* the flag MR_FILTER_OUT */
	MR_FILTER_WANT_VRF = 1 << 3,
	MR_FILTER_WANT_MACS = 1 << 4,
	MR_FILTER_WANT_VLAN = 1 << 5,
	MR_FILTER_WANT_ETHERTYPE = 1 << 6,
	MR_FILTER_WANT_FAMILY = 1 << 7, /* the flags MR_FILTER_IPV4 and _IPV6 */
	MR_FILTER_WANT_PROTOCOL = 1 << 8,
	MR_FILTER_WANT_SRC = 1 << 9,
	MR_FILTER_WANT_DST = 1 << 10,
	MR_FILTER_WANT_SPORT = 1 << 11,    /* with the flag MR_FILTER_PORTS */
	MR_FILTER_WANT_DPORT = 1 << 12,    /* with the flag MR_FILTER_PORTS */
	MR_FILTER_WANT_ICMP = 1 << 13,     /* with the flag MR_FILTER_ICMP */
	MR_FILTER_WANT_TCP = 1 << 14,      /* with the flag MR_FILTER_TCP */
	MR_FILTER_WANT_FRAGMENT = 1 << 15, /* the flags MR_FILTER_LATER and _FIRST */
	MR_FILTER_WANT_OPTIONS = 1 << 16,  /* the flag MR_FILTER_OPTIONS */
	MR_FILTER_WANT_LENGTH = 1 << 17,
	MR_FILTER_WANT_TTL = 1 << 18,
	MR_FILTER_WANT_DSCP = 1 << 19,
	MR_FILTER_WANT_ALL = (1 << 20) - 1,
	MR_FILTER_WANT_IP = MR_FILTER_WANT_ALL & ~(MR_FILTER_WANT_FAMILY - 1),
};

/* Where a packet is when rules look at it: interfaces and VRF, in host byte order. */
struct mr_filter_place {
	uint16_t iface_in;
	uint16_t iface_out; /* MR_IFACE_NONE at input */
	uint16_t vrf;
	uint16_t out; /* 1 at output, 0 at input */
};

/* How the reading of headers ended. Anything but MR_FILTER_READ is a packet to be dropped before
 * any rule sees it. */
enum mr_filter_reading {
	MR_FILTER_READ,
	MR_FILTER_BAD_HEADER,    /* impossible, or cut short within what must be there */
	MR_FILTER_TINY_FRAGMENT, /* a first fragment without the whole transport header, or a TCP
				    fragment that starts inside it (RFC 1858 3, RFC 3128) */
	MR_FILTER_LONG_CHAIN,    /* more than MR_FILTER_MAX_EXTENSIONS extension headers */
};

#define MR_FILTER_MAX_EXTENSIONS 8

/* Reads of a frame what is wanted into key, all of whose bytes are written. length: bytes of the
 * frame, at least an Ethernet header's. Any thread. */
enum mr_filter_reading mr_filter_key_read(const uint8_t *frame, unsigned length, uint32_t wanted,
					  const struct mr_filter_place *place,
					  struct mr_filter_key *key);

/* What a packet is dropped for whose headers could not be read. */
static inline enum mr_drop_reason mr_filter_reading_drop(enum mr_filter_reading reading)
{
	return reading == MR_FILTER_TINY_FRAGMENT ? MR_DROP_filter_tiny_fragment
	       : reading == MR_FILTER_LONG_CHAIN  ? MR_DROP_filter_long_chain
						  : MR_DROP_filter_bad_header;
}

#endif
