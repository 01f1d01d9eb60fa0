/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragments are copies, each in one buffer. DPDK's rte_ipv4_fragment_packet makes chains of a
 * header and a reference into the original instead, which the packet path (one segment a packet)
 * and devices without scattered transmission do not take; its copying sister is experimental in
 * 22.11, and neither leaves options out of the later fragments.
 */
#include "host/fragment.h"

#include <string.h>

#include <rte_ether.h>

#include "packet/checksum.h"

#define MIN_FRAME (RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN)
#define MAX_HEADER 60
#define OPTION_COPIED 0x80 /* RFC 791 3.1: the option goes into all fragments */

struct header {
	union {
		struct rte_ipv4_hdr ip;
		uint8_t bytes[MAX_HEADER];
	};
	uint16_t size;
};

/* The header of fragments after the first: only options with the copied flag. Options that are
 * malformed end the list. */
static void make_later_header(struct header *later, const struct header *first)
{
	uint16_t from = sizeof(struct rte_ipv4_hdr), to = from;

	memset(later, 0, sizeof(*later));
	later->ip = first->ip;
	while (from < first->size && first->bytes[from] != RTE_IPV4_HDR_OPT_EOL) {
		uint8_t length = 1;

		if (first->bytes[from] != RTE_IPV4_HDR_OPT_NOP) {
			if (from + 1 >= first->size)
				break;
			length = first->bytes[from + 1];
			if (length < 2 || from + length > first->size)
				break;
		}
		if (first->bytes[from] & OPTION_COPIED) {
			memcpy(&later->bytes[to], &first->bytes[from], length);
			to += length;
		}
		from += length;
	}
	later->size = RTE_ALIGN_CEIL(to, RTE_IPV4_IHL_MULTIPLIER); /* padded with end of list */
	later->ip.version_ihl = (uint8_t)(RTE_IPV4_VHL_DEF & 0xf0) |
				(uint8_t)(later->size / RTE_IPV4_IHL_MULTIPLIER);
}

static struct rte_mbuf *make_fragment(struct rte_mempool *pool, const struct header *header,
				      const uint8_t *payload, uint16_t size, uint16_t offset_flags)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint16_t frame = RTE_ETHER_HDR_LEN + header->size + size;
	uint16_t padded = RTE_MAX(frame, MIN_FRAME);
	struct rte_ipv4_hdr *ip;
	uint8_t *data;

	if (m == NULL)
		return NULL;
	data = (uint8_t *)rte_pktmbuf_append(m, padded);
	if (data == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	ip = (struct rte_ipv4_hdr *)(data + RTE_ETHER_HDR_LEN);
	memcpy(ip, header->bytes, header->size);
	memcpy(data + RTE_ETHER_HDR_LEN + header->size, payload, size);
	memset(data + frame, 0, padded - frame);
	ip->total_length = rte_cpu_to_be_16(header->size + size);
	ip->fragment_offset = rte_cpu_to_be_16(offset_flags);
	mr_ipv4_set_checksum(ip);
	return m;
}

unsigned mr_ipv4_fragment(const struct rte_ipv4_hdr *ip, uint16_t mtu, struct rte_mempool *pool,
			  struct rte_mbuf **fragments, unsigned max)
{
	uint16_t original = rte_be_to_cpu_16(ip->fragment_offset);
	uint16_t flags = original & (uint16_t)~RTE_IPV4_HDR_OFFSET_MASK;
	uint16_t unit = original & RTE_IPV4_HDR_OFFSET_MASK; /* of the next fragment */
	uint16_t left = rte_be_to_cpu_16(ip->total_length) - mr_ipv4_header_size(ip);
	const uint8_t *payload = (const uint8_t *)ip + mr_ipv4_header_size(ip);
	struct header first = {.size = mr_ipv4_header_size(ip)}, later;
	unsigned count = 0;

	/* An MTU beyond the pool's buffers cannot be used up. */
	mtu = RTE_MIN(mtu,
		      rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM - RTE_ETHER_HDR_LEN);
	memcpy(first.bytes, ip, first.size);
	make_later_header(&later, &first);
	if (mtu < first.size)
		return 0;
	do {
		const struct header *header = count == 0 ? &first : &later;
		uint16_t size = left, more = 0;

		if (header->size + left > mtu) {
			size = RTE_ALIGN_FLOOR(mtu - header->size, RTE_IPV4_HDR_OFFSET_UNITS);
			more = RTE_IPV4_HDR_MF_FLAG;
		}
		if ((size == 0 && left > 0) || count == max ||
		    (fragments[count] = make_fragment(pool, header, payload, size,
						      unit | flags | more)) == NULL) {
			rte_pktmbuf_free_bulk(fragments, count);
			return 0;
		}
		count++;
		payload += size;
		left -= size;
		unit += size / RTE_IPV4_HDR_OFFSET_UNITS;
	} while (left > 0);
	return count;
}
