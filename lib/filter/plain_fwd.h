/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_PLAIN_FWD_H
#define FILTER_PLAIN_FWD_H

/*
 * Plain packets: IPv4 without options or IPv6 without extension headers, whole, TCP or UDP, and
 * untagged unless it is said otherwise. Most packets are, and these have each field at a place that
 * is known without reading headers one after the other. A frame is plain when a few bytes of it
 * have the values that nearly all frames have; they are compared without a branch. Bytes may be
 * read before it is known whether they are the frame's, since buffers are larger than headers.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "packet/link_fwd.h"
#include "packet/load_fwd.h"

enum { FILTER_PLAIN_TCP = 6, FILTER_PLAIN_UDP = 17 };

/* Where plain IPv4 frames have what. */
enum {
	FILTER_PLAIN_PROTOCOL = 23,
	FILTER_PLAIN_TUPLE = 26, /* addresses and ports, 12 bytes */
	FILTER_PLAIN_TCP_FLAGS = 47,
	FILTER_PLAIN_MIN = 42, /* what the shortest measures */
};

/* Where plain IPv6 frames do. */
enum {
	FILTER_PLAIN_PROTOCOL6 = 20,
	FILTER_PLAIN_TUPLE6 = 22, /* 36 bytes */
};

/* Bytes of a frame's VLAN tags. What follows them is plain if it would be in their place. */
static inline unsigned filter_plain_tags(const uint8_t *frame, unsigned length)
{
	unsigned offset = RTE_ETHER_HDR_LEN;

	if (unlikely(mr_link_is_tag(mr_load16(frame + 12))))
		mr_link_payload(frame, length, &offset);
	return offset - RTE_ETHER_HDR_LEN;
}

/* Whether a header of TCP or UDP fits what is behind the IP header; that may be less than nothing.
 */
static inline bool filter_has_transport(uint8_t protocol, int left)
{
	return ((protocol == FILTER_PLAIN_TCP) & (left >= (int)sizeof(struct rte_tcp_hdr))) |
	       ((protocol == FILTER_PLAIN_UDP) & (left >= (int)sizeof(struct rte_udp_hdr)));
}

/* From the Ethernet type on: 0800, version 4 with a header of 20 bytes, no fragment. length: of the
 * frame, in bytes. */
static inline bool filter_is_plain_ipv4(const uint8_t *frame, unsigned length)
{
	unsigned total = rte_be_to_cpu_16(mr_load16(frame + 16));
	uint64_t start = mr_load64(frame + 12) & RTE_BE64(0xffffff0000000000);
	uint16_t fragment = mr_load16(frame + 20) & RTE_BE16(0x3fff);

	return (start == RTE_BE64(0x0800450000000000)) & (fragment == 0) &
	       (RTE_ETHER_HDR_LEN + total <= length) &
	       filter_has_transport(frame[FILTER_PLAIN_PROTOCOL],
				    (int)total - (int)sizeof(struct rte_ipv4_hdr));
}

static inline bool filter_is_plain_ipv6(const uint8_t *frame, unsigned length)
{
	unsigned payload = rte_be_to_cpu_16(mr_load16(frame + 18));
	uint64_t start = mr_load64(frame + 12) & RTE_BE64(0xfffff00000000000);

	return (start == RTE_BE64(0x86dd600000000000)) &
	       (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv6_hdr) + payload <= length) &
	       filter_has_transport(frame[FILTER_PLAIN_PROTOCOL6], (int)payload);
}

#endif
