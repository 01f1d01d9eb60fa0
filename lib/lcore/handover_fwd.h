/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_HANDOVER_FWD_H
#define MR_LCORE_HANDOVER_FWD_H

#include <stdint.h>

#include <rte_mbuf.h>

#include "packet/vector.h"

/*
 * Packets from one lcore to another one, in their order: one producer, one consumer. Short frames
 * cross by value, others as their buffer.
 */
#define MR_HANDOVER_FIRST 60u  /* bytes: the shortest Ethernet frame without its FCS */
#define MR_HANDOVER_INLINE 124 /* bytes: the longest frame that crosses by value */

/* The first part of a frame, or its buffer's address. */
struct mr_handover_slot {
	uint8_t frame[MR_HANDOVER_FIRST];
	uint16_t length; /* of the frame; 0: frame[] holds a struct rte_mbuf * */
	uint16_t unused;
};

/* What of a frame the slot of the same position has no room for. */
struct mr_handover_rest {
	uint8_t frame[RTE_CACHE_LINE_SIZE];
};

struct mr_handover {
	/* Set once. */
	uint32_t size; /* packets */
	uint32_t mask; /* of slots, a power of 2 of them */
	struct mr_handover_slot *slot;
	struct mr_handover_rest *rest;

	/* Some prefetchers fetch lines in pairs: what two lcores write is not next to each other.
	 */
	uint8_t apart_0 __rte_cache_aligned;
	/* Packets that were ever put, modulo 2^32, and those that the producer knows to be taken:
	 * written by the producer, who alone reads the second. */
	uint32_t put __rte_cache_aligned;
	uint32_t known_taken;
	uint8_t apart_1 __rte_cache_aligned;
	/* Packets that were ever taken, modulo 2^32: written by the consumer. */
	uint32_t taken __rte_cache_aligned;
	uint8_t apart_2 __rte_cache_aligned;
};

static_assert(sizeof(struct mr_handover_slot) == RTE_CACHE_LINE_SIZE, "a short frame is one line");
static_assert(offsetof(struct mr_handover_slot, length) == 48 + 2 * 6, "put_frame places it there");

/* Puts up to count packets, MR_VECTOR_SIZE at most; returns how many there was room for. Those, the
 * first ones, are the caller's no more. lcore_id: EAL's, of the caller. The producer only. */
unsigned mr_handover_put(struct mr_handover *handover, unsigned lcore_id, struct rte_mbuf **packets,
			 unsigned count);

/* Takes up to MR_VECTOR_SIZE packets, which then are the caller's; buffers for those that crossed
 * by value come from pool. Returns how many. Where the pool is empty such packets end, and *lost
 * says how many did. lcore_id: EAL's, of the caller. The consumer only. */
unsigned mr_handover_take(struct mr_handover *handover, unsigned lcore_id, struct rte_mempool *pool,
			  struct rte_mbuf **packets, unsigned *lost);

#endif
