/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PACKET_IPV4_FWD_H
#define MR_PACKET_IPV4_FWD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

/*
 * IPv4 headers as the packet path reads them: in three words rather than ten fields. All words are
 * as loaded from the frame by a little-endian machine.
 */
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are taken apart little-endian");

struct ipv4_words {
	uint64_t first;       /* version, IHL, TOS, total length, id, fragment offset */
	uint64_t second;      /* TTL, protocol, checksum, source */
	uint32_t destination; /* in network byte order */
};

static inline struct ipv4_words ipv4_load(const uint8_t *header)
{
	struct ipv4_words words;

	memcpy(&words.first, header, sizeof(words.first));
	memcpy(&words.second, header + 8, sizeof(words.second));
	memcpy(&words.destination, header + 16, sizeof(words.destination));
	return words;
}

static inline uint16_t ipv4_total_length(struct ipv4_words words)
{
	return (uint16_t)rte_bswap32((uint32_t)words.first);
}

static inline uint8_t ipv4_ttl(struct ipv4_words words)
{
	return (uint8_t)words.second;
}

/* The one's complement sum of the 20 bytes is all ones (RFC 1071; sums of any word size agree).
 * Adding a word to itself with its halves exchanged leaves in the upper half the sum of both with
 * the carry already brought around. */
static inline bool ipv4_checksum_ok(struct ipv4_words words)
{
	uint64_t sum = words.first + words.second;

	sum += sum < words.second;
	sum += words.destination;
	sum += sum < words.destination;
	sum += sum >> 32 | sum << 32;
	uint32_t half = (uint32_t)(sum >> 32);
	half += half >> 16 | half << 16;
	return half >= 0xffff0000;
}

/* Addresses that are never the source of a packet on a wire: 0/8, 127/8, multicast and 240/4
 * (RFC 1812 5.3.7). first_byte: of the address. */
static inline bool ipv4_source_ok(uint8_t first_byte)
{
	return first_byte != 0 && first_byte != 127 && first_byte < 224;
}

static inline bool ipv4_words_source_ok(struct ipv4_words words)
{
	return ipv4_source_ok((uint8_t)(words.second >> 32));
}

/* Decrements the TTL, which is not 0, and updates the checksum: RFC 1624 equation 3 for a word
 * that becomes smaller by 0x0100, that is, the checksum grows by it with end-around carry. TTL and
 * checksum are the ends of one 32-bit word, so one addition does both. */
static inline void ipv4_decrement_ttl(uint8_t *header)
{
	uint32_t word; /* from low to high: TTL, protocol, checksum in network byte order */

	memcpy(&word, header + 8, sizeof(word));
	word += (word >= 0xfffe0000 ? 0x20000u : 0x10000u) - 1;
	memcpy(header + 8, &word, sizeof(word));
}

/* Takes off what follows the IP packet, which is no part of it (RFC 894) and ends at the frame's
 * byte end, and pads the frame with zeros to Ethernet's minimum if it was that long. */
static inline void ipv4_trim(struct rte_mbuf *m, unsigned end)
{
	enum { MIN_FRAME = RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN };
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	unsigned length = end;

	if (end < MIN_FRAME && m->data_len > end) {
		length = RTE_MIN((unsigned)MIN_FRAME, (unsigned)m->data_len);
		memset(frame + end, 0, length - end);
	}
	m->data_len = (uint16_t)length;
	m->pkt_len = length;
}

#endif
