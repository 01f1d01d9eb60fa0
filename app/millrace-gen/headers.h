/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_HEADERS_H
#define GEN_HEADERS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Where things are in a frame: any number of VLAN tags, IPv4 (also with options) or IPv6 without
 * extension headers, UDP. Every length is checked against the frame's.
 */
struct frame_headers {
	uint16_t l3_at, udp_at;
	uint16_t tag_at; /* last TAG_SIZE octets of the UDP payload; 0: it is shorter */
	bool ipv6;
};

/* frame has length octets, in one piece. Returns 0, or -EINVAL when it is not such a frame, or a
 * fragment. */
int headers_find(const uint8_t *frame, uint16_t length, struct frame_headers *headers);

/* Sum of the UDP pseudo header (RFC 768, RFC 8200 section 8.1), not folded, as it stands in
 * memory. */
uint32_t headers_pseudo_sum(const uint8_t *frame, const struct frame_headers *headers);

/* Whether the checksums of IPv4 header and UDP are right; a UDP checksum of 0 is right in IPv4. */
bool headers_checksums_ok(const uint8_t *frame, const struct frame_headers *headers);

#endif
