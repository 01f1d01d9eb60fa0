/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A packet that changes lcores costs the cache lines that change with it. A buffer's address is an
 * eighth of a line, but behind it are the two lines of the header, which the sender wrote and the
 * owner of the queue reads, then writes when it receives into that buffer, while the pool is
 * emptied at one end and filled at the other. Between CPUs that share no cache a line takes 100 ns
 * and more.
 *
 * So a short frame crosses by value, and the sender writes it around the caches: an ordinary store
 * would first fetch the line from the lcore that has read it. The fence before the counter is
 * published makes those stores visible in time. The taker reads lines in order, which prefetchers
 * like; buffers stay with the lcore that received into them. Longer frames cross as the addresses
 * of their buffers, which is cheaper from about three lines on.
 *
 * Each side publishes one counter and works on a known value of the other's as long as that is
 * enough (as in Lamport's queue, with the caching of MCRingBuffer, Lee et al., IPDPS 2010).
 */
#include "lcore/handover_fwd.h"

#include <emmintrin.h>
#include <stdbool.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

/* Copies are of whole lines, so that their size is known: what they take beyond the frame's end is
 * inside the buffer and is never looked at. */
static inline bool crosses_by_value(const struct rte_mbuf *m)
{
	return m->data_len <= MR_HANDOVER_INLINE && m->nb_segs == 1 && m->data_len != 0 &&
	       m->data_off + MR_HANDOVER_FIRST + RTE_CACHE_LINE_SIZE <= (unsigned)m->buf_len;
}

/* Writes a line around the caches. What comes after needs a fence before others may see it. */
static inline void stream_line(void *to, __m128i a, __m128i b, __m128i c, __m128i d)
{
	__m128i *line = to;

	_mm_stream_si128(&line[0], a);
	_mm_stream_si128(&line[1], b);
	_mm_stream_si128(&line[2], c);
	_mm_stream_si128(&line[3], d);
}

static inline void put_frame(struct mr_handover *handover, uint32_t position,
			     const struct rte_mbuf *m)
{
	const __m128i *frame = rte_pktmbuf_mtod(m, const __m128i *);
	/* The length takes the place of the last quarter's bytes 12 and 13. */
	__m128i end = _mm_insert_epi16(_mm_loadu_si128(&frame[3]), m->data_len, 6);

	stream_line(&handover->slot[position], _mm_loadu_si128(&frame[0]),
		    _mm_loadu_si128(&frame[1]), _mm_loadu_si128(&frame[2]), end);
	if (m->data_len > MR_HANDOVER_FIRST) {
		frame = rte_pktmbuf_mtod_offset(m, const __m128i *, MR_HANDOVER_FIRST);
		stream_line(&handover->rest[position], _mm_loadu_si128(&frame[0]),
			    _mm_loadu_si128(&frame[1]), _mm_loadu_si128(&frame[2]),
			    _mm_loadu_si128(&frame[3]));
	}
}

static inline void put_buffer(struct mr_handover *handover, uint32_t position, struct rte_mbuf *m)
{
	struct mr_handover_slot *slot = &handover->slot[position];

	memcpy(slot->frame, &m, sizeof(m));
	slot->length = 0;
}

/* Whether a buffer that is freed goes back to pool as it is: its one user is here. */
static inline bool is_plain(const struct rte_mbuf *m, const struct rte_mempool *pool)
{
	return rte_mbuf_refcnt_read(m) == 1 && RTE_MBUF_DIRECT(m) && m->pool == pool;
}

/* Buffers of one segment each. Nearly always all are plain and of one pool: then neither a call nor
 * the second line of their headers is needed (next is NULL, since there is one segment). */
static void free_copied(struct rte_mbuf **copied, unsigned count, unsigned lcore_id)
{
	struct rte_mempool *pool = copied[0]->pool;
	bool plain = true;

	for (unsigned i = 0; i < count; i++)
		plain &= is_plain(copied[i], pool);
	if (likely(plain))
		rte_mempool_generic_put(pool, (void **)copied, count,
					rte_mempool_default_cache(pool, lcore_id));
	else
		rte_pktmbuf_free_bulk(copied, count);
}

/* As a driver does with a buffer that it received into: references, segments and next are as they
 * always are in a pool. */
static inline void take_frame(const struct mr_handover *handover, uint32_t position,
			      struct rte_mbuf *m)
{
	const struct mr_handover_slot *slot = &handover->slot[position];
	uint8_t *frame;

	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->port = RTE_MBUF_PORT_INVALID;
	m->ol_flags = 0;
	m->packet_type = 0;
	m->data_len = slot->length;
	m->pkt_len = slot->length;
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	memcpy(frame, slot, sizeof(*slot));
	if (slot->length > MR_HANDOVER_FIRST)
		memcpy(frame + MR_HANDOVER_FIRST, &handover->rest[position],
		       sizeof(handover->rest[position]));
}

unsigned mr_handover_put(struct mr_handover *handover, unsigned lcore_id, struct rte_mbuf **packets,
			 unsigned count)
{
	struct rte_mbuf *copied[MR_VECTOR_SIZE];
	uint32_t put = handover->put;
	unsigned copies = 0;

	if (handover->size - (put - handover->known_taken) < count) {
		handover->known_taken = __atomic_load_n(&handover->taken, __ATOMIC_ACQUIRE);
		count = RTE_MIN(count, handover->size - (put - handover->known_taken));
	}
	for (unsigned i = 0; i < count; i++) {
		uint32_t position = (put + i) & handover->mask;

		if (likely(crosses_by_value(packets[i]))) {
			put_frame(handover, position, packets[i]);
			copied[copies++] = packets[i];
		} else {
			put_buffer(handover, position, packets[i]);
		}
	}
	_mm_sfence();
	__atomic_store_n(&handover->put, put + count, __ATOMIC_RELEASE);
	if (copies != 0)
		free_copied(copied, copies, lcore_id);
	return count;
}

unsigned mr_handover_take(struct mr_handover *handover, unsigned lcore_id, struct rte_mempool *pool,
			  struct rte_mbuf **packets, unsigned *lost)
{
	struct rte_mempool_cache *cache = rte_mempool_default_cache(pool, lcore_id);
	struct rte_mbuf *fresh[MR_VECTOR_SIZE];
	uint32_t taken = handover->taken;
	uint32_t count = RTE_MIN(__atomic_load_n(&handover->put, __ATOMIC_ACQUIRE) - taken,
				 (uint32_t)MR_VECTOR_SIZE);
	unsigned used = 0, buffers = count, kept = 0;

	*lost = 0;
	if (count == 0)
		return 0;
	for (unsigned i = 0; i < count; i++)
		rte_prefetch0(&handover->slot[(taken + i) & handover->mask]);
	if (unlikely(rte_mempool_generic_get(pool, (void **)fresh, count, cache) != 0))
		buffers = 0;
	for (unsigned i = 0; i < count; i++) {
		uint32_t position = (taken + i) & handover->mask;

		if (unlikely(handover->slot[position].length == 0)) {
			memcpy(&packets[kept], handover->slot[position].frame,
			       sizeof(packets[kept]));
			mr_prefetch_mbuf(packets[kept++]);
		} else if (likely(used < buffers)) {
			packets[kept++] = fresh[used];
			take_frame(handover, position, fresh[used++]);
		} else {
			(*lost)++;
		}
	}
	__atomic_store_n(&handover->taken, taken + count, __ATOMIC_RELEASE);
	if (unlikely(used < buffers))
		rte_mempool_generic_put(pool, (void **)&fresh[used], buffers - used, cache);
	return kept;
}
