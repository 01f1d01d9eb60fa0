/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PACKET_VECTOR_H
#define MR_PACKET_VECTOR_H

#include <assert.h>
#include <stdint.h>

#include <rte_mbuf.h>

/* A set of packets of a vector is a 64-bit mask. */
#define MR_VECTOR_SIZE 64

/* What stages pass on: packets of one arrival interface, in their order. */
struct mr_vector {
	uint16_t count;
	uint16_t iface; /* of arrival */
	struct rte_mbuf *packet[MR_VECTOR_SIZE] __rte_cache_aligned;
};

/* Asks for both cache lines of a buffer's header, which another lcore wrote last: the first says
 * where and how long the frame is, the second where the buffer goes when it is sent. */
static inline void mr_prefetch_mbuf(struct rte_mbuf *m)
{
	rte_mbuf_prefetch_part1(m);
	rte_mbuf_prefetch_part2(m);
}

static_assert(MR_VECTOR_SIZE == 64, "a mask of packets is a uint64_t");

#endif
