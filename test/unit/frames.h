/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_TEST_FRAMES_H
#define MR_TEST_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Frames for tests, built from what matters to a case; the rest has sensible values. */
struct frame {
	unsigned length;
	uint8_t bytes[9100];
};

/* What a case says about an IPv4 packet. Zero means: the usual. */
struct ipv4 {
	const char *to, *from; /* MACs */
	const char *src, *dst; /* addresses */
	int ttl;               /* 64; TTL_ZERO for 0 */
	int protocol;          /* 17 */
	unsigned payload;      /* bytes behind the IP header; 26 */
	unsigned sport, dport; /* 1000, 2000 */
	unsigned id, tos;
	unsigned fragment;      /* flags and offset as in the header */
	const uint8_t *options; /* a multiple of 4 bytes */
	unsigned options_length;
	unsigned pad;  /* bytes of 0xaa behind the packet */
	unsigned seed; /* varies the payload */
};
#define TTL_ZERO (-1)

struct frame frame_ipv4(const struct ipv4 *ip);
#define IPV4(...) frame_ipv4(&(struct ipv4){__VA_ARGS__})

/* A frame of any type, payload filled with its index. length: without FCS. */
struct frame frame_raw(const char *to, const char *from, uint16_t type, unsigned length);

/* A copy with a VLAN tag pushed. */
struct frame frame_tagged(const struct frame *frame, uint16_t tpid, uint16_t tci);

/* ARP of Ethernet and IPv4. operation: 1 request, 2 reply. */
struct frame frame_arp(const char *to, const char *from, unsigned operation, const char *sender_mac,
		       const char *sender, const char *target_mac, const char *target);

/* What a router makes of an IPv4 frame: new MACs, TTL one less, checksum recomputed from scratch,
 * padding behind the packet zeroed or taken off. */
struct frame frame_routed(const struct frame *frame, const char *to, const char *from);

/* ICMP echo request with a right checksum. payload: bytes behind the ICMP header. */
struct frame frame_echo(const struct ipv4 *ip, unsigned id, unsigned sequence, unsigned payload);

/* Recomputes the IPv4 header checksum, or the ICMP checksum, of a frame that a case changed. */
void frame_fix_ipv4(struct frame *frame);
void frame_fix_icmp(struct frame *frame);

/* One's complement sum as RFC 1071 describes it, byte by byte: the tests' own. */
uint16_t reference_checksum(const uint8_t *data, unsigned length);

#endif
