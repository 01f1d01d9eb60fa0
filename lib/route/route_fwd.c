/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a vector through the router. Three loops, each doing one thing to every packet, so
 * that their cache misses overlap: check headers, look destinations up, rewrite. A packet that
 * any of them finds unusual is left as it is and noted in a mask; route_exception_fwd.c finds out
 * what it is about. All checks of RFC 1812 5.2.2 are made on every packet.
 *
 * Destinations that may not be routed (own addresses, broadcasts, 127/8 and the like) are routes of
 * the table themselves, so that the loops need no comparison for them.
 */
#include "route/route_fwd.h"

#include <smmintrin.h>

#include <rte_branch_prediction.h>

#include "lcore/output_fwd.h"
#include "packet/ipv4_fwd.h"
#include "packet/mask_fwd.h"
#include "route/ipv4_table_fwd.h"
#include "route/route_exception_fwd.h"
#include "route/route_rewrite_fwd.h"

struct headers {
	uint32_t destination[MR_VECTOR_SIZE]; /* host byte order */
	uint16_t length[MR_VECTOR_SIZE];      /* of the frame up to the end of the IP packet */
};

/* The first 16 bytes of a frame, as far as they are the same for all plain packets: to the
 * interface's MAC, IPv4, version 4 without options. */
static inline __m128i plain_frame(const struct mr_iface *iface)
{
	return _mm_set_epi64x(0x45ll << 48 | (long long)RTE_BE16(RTE_ETHER_TYPE_IPV4) << 32,
			      (long long)iface->mac);
}

/* 0 for any other frame. */
static inline int is_plain(const uint8_t *frame, __m128i plain)
{
	const __m128i mask = _mm_set_epi64x(0x00ffffff00000000, 0x0000ffffffffffff);
	__m128i start = _mm_loadu_si128((const __m128i *)frame);

	return _mm_testz_si128(_mm_xor_si128(start, plain), mask);
}

/* Fills headers; returns the mask of packets that are not plain IPv4 for this interface's MAC with
 * a good header and TTL left. */
static uint64_t check_headers(const struct mr_vector *vector, const struct mr_iface *iface,
			      struct headers *headers)
{
	__m128i plain = plain_frame(iface);
	unsigned count = vector->count;
	uint64_t unusual = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct rte_mbuf *m = vector->packet[i];
		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
		struct ipv4_words ip = ipv4_load(frame + RTE_ETHER_HDR_LEN);
		unsigned total_length = ipv4_total_length(ip);
		unsigned length = RTE_ETHER_HDR_LEN + total_length;

		headers->destination[i] = rte_bswap32(ip.destination);
		headers->length[i] = (uint16_t)length;
		if (likely(is_plain(frame, plain)) && total_length >= sizeof(struct rte_ipv4_hdr) &&
		    length <= m->data_len && ipv4_ttl(ip) > 1 && ipv4_words_source_ok(ip) &&
		    ipv4_checksum_ok(ip))
			continue;
		unusual |= 1ull << i;
	}
	return unusual;
}

/* Rewrites what has a complete adjacency and fills out; returns the mask of what has not. */
static uint64_t rewrite_all(const struct mr_route_fwd *router, const struct mr_vector *vector,
			    const uint32_t *next_hop, const uint16_t *length, uint16_t *out)
{
	unsigned count = vector->count;
	uint64_t unusual = 0;

	for (unsigned i = 0; i < count; i++) {
		struct rte_mbuf *m = vector->packet[i];
		const struct mr_adjacency *adjacency = mr_adjacency_load(router, next_hop[i]);

		if (unlikely(length[i] > adjacency->max_frame)) {
			adjacency = mr_adjacency_path(router, adjacency, m);
			if (length[i] > adjacency->max_frame) {
				unusual |= 1ull << i;
				continue;
			}
		}
		out[i] = adjacency->iface;
		mr_route_rewrite(m, adjacency, length[i]);
	}
	return unusual;
}

void mr_route_input(struct mr_lcore *lcore, struct mr_vector *vector, const struct mr_iface *iface)
{
	const struct mr_route_fwd *router = lcore->forwarding->route;
	struct headers headers;
	uint32_t next_hop[MR_VECTOR_SIZE];
	uint16_t out[MR_VECTOR_SIZE];
	uint64_t unusual = check_headers(vector, iface, &headers);

	mr_ipv4_table_lookup_bulk(router->ipv4, headers.destination, vector->count, next_hop);
	/* Longer than any adjacency allows: they take no way of their own below. */
	for (; unlikely(unusual != 0); unusual &= unusual - 1) {
		next_hop[__builtin_ctzll(unusual)] = MR_NEXT_HOP_NONE;
		headers.length[__builtin_ctzll(unusual)] = UINT16_MAX;
	}
	out[0] = MR_IFACE_NONE; /* a vector is never empty, which a compiler cannot know */
	unusual = rewrite_all(router, vector, next_hop, headers.length, out);

	mr_output_scatter(lcore, vector, mr_vector_all(vector) & ~unusual, out);
	for (; unlikely(unusual != 0); unusual &= unusual - 1)
		mr_route_exception(lcore, vector->packet[__builtin_ctzll(unusual)], iface);
}
