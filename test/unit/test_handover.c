/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of every length and form cross between lcores as they are, in their order, once. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "lcore/handover.h"
#include "lcore/lcores.h"
#include "lcore/rings.h"
#include "test_eal.h"

#define SIZE 100 /* not a power of 2 */
#define BUFFERS 1023

static struct rte_mempool *pool, *dry;
static struct mr_handover *ring;
static unsigned control_drops;

/* In place of the appliance's. */
void mr_control_drop(struct mr *mr, uint16_t port, enum mr_drop_reason reason, struct rte_mbuf *m)
{
	(void)mr;
	assert_int_equal(port, 7);
	assert_int_equal(reason, MR_DROP_stopped);
	control_drops++;
	rte_pktmbuf_free(m);
}

void mr_await_position(struct mr *mr, const uint32_t *taken, uint32_t target)
{
	(void)mr;
	assert_int_equal(*taken, target);
}

static int start_eal(void **state)
{
	(void)state;
	test_eal_start("0");
	pool = rte_pktmbuf_pool_create("handover", BUFFERS, 0, 0, 2048, 0);
	dry = rte_pktmbuf_pool_create("dry", 1, 0, 0, 2048, 0);
	return pool == NULL || dry == NULL;
}

static int make_ring(void **state)
{
	(void)state;
	control_drops = 0;
	ring = mr_handover_create(SIZE, SOCKET_ID_ANY);
	return ring == NULL;
}

static int free_ring(void **state)
{
	(void)state;
	mr_handover_free(ring);
	return rte_mempool_in_use_count(pool) != 0;
}

/* A frame whose bytes follow from its length and number. */
static struct rte_mbuf *frame(uint16_t length, uint32_t number)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *bytes;

	assert_non_null(m);
	bytes = (uint8_t *)rte_pktmbuf_append(m, length);
	assert_non_null(bytes);
	for (unsigned i = 0; i < length; i++)
		bytes[i] = (uint8_t)(number * 31 + i);
	return m;
}

static void expect(const struct rte_mbuf *m, uint16_t length, uint32_t number)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);

	assert_int_equal(m->pkt_len, length);
	assert_int_equal(m->data_len, length);
	assert_int_equal(m->nb_segs, 1);
	assert_null(m->next);
	for (unsigned i = 0; i < length; i++)
		assert_int_equal(bytes[i], (uint8_t)(number * 31 + i));
}

static unsigned take(struct rte_mbuf **packets)
{
	unsigned lost, count = mr_handover_take(ring, LCORE_ID_ANY, pool, packets, &lost);

	assert_int_equal(lost, 0);
	return count;
}

static void every_length_arrives_whole(void **state)
{
	(void)state;
	struct rte_mbuf *in, *out[MR_VECTOR_SIZE];

	for (uint16_t length = 1; length <= 1514; length++) {
		in = frame(length, length);
		assert_int_equal(mr_handover_put(ring, LCORE_ID_ANY, &in, 1), 1);
		assert_int_equal(take(out), 1);
		/* A short one is another buffer by now, a long one the same. */
		if (length > MR_HANDOVER_INLINE)
			assert_ptr_equal(in, out[0]);
		expect(out[0], length, length);
		rte_pktmbuf_free(out[0]);
	}
	assert_int_equal(take(out), 0);
}

static void what_cannot_be_copied_crosses_as_its_buffer(void **state)
{
	(void)state;
	struct rte_mbuf *chain = frame(40, 1), *end = frame(40, 2), *out[MR_VECTOR_SIZE];

	assert_int_equal(rte_pktmbuf_chain(chain, end), 0);
	end = frame(40, 3);
	/* So near the buffer's end that copying whole lines would leave it. */
	end->data_off = end->buf_len - 40;
	assert_int_equal(mr_handover_put(ring, LCORE_ID_ANY, (struct rte_mbuf *[]){chain, end}, 2),
			 2);
	assert_int_equal(take(out), 2);
	assert_ptr_equal(out[0], chain);
	assert_ptr_equal(out[1], end);
	rte_pktmbuf_free(chain);
	rte_pktmbuf_free(end);
}

/* A flooded frame is shared: the copy that crosses is the taker's alone. */
static void a_shared_buffer_loses_one_user(void **state)
{
	(void)state;
	struct rte_mbuf *m = frame(60, 1), *out[MR_VECTOR_SIZE];

	rte_mbuf_refcnt_set(m, 2);
	assert_int_equal(mr_handover_put(ring, LCORE_ID_ANY, &m, 1), 1);
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	assert_int_equal(take(out), 1);
	assert_ptr_not_equal(out[0], m);
	expect(out[0], 60, 1);
	rte_pktmbuf_free(out[0]);
	rte_pktmbuf_free(m);
}

static void a_full_ring_takes_what_it_has_room_for(void **state)
{
	(void)state;
	struct rte_mbuf *in[MR_VECTOR_SIZE], *out[MR_VECTOR_SIZE];

	for (unsigned i = 0; i < MR_VECTOR_SIZE; i++)
		in[i] = frame(60, i);
	assert_int_equal(mr_handover_put(ring, LCORE_ID_ANY, in, 64), 64);
	for (unsigned i = 0; i < MR_VECTOR_SIZE; i++)
		in[i] = frame(200, 64 + i);
	assert_int_equal(mr_handover_put(ring, LCORE_ID_ANY, in, 64), SIZE - 64);
	assert_int_equal(mr_handover_count(ring), SIZE);
	assert_int_equal(mr_handover_put(ring, LCORE_ID_ANY, in + SIZE - 64, 1), 0);
	rte_pktmbuf_free_bulk(in + SIZE - 64, 128 - SIZE);
	assert_int_equal(take(out), 64);
	rte_pktmbuf_free_bulk(out, 64);
	assert_int_equal(take(out), SIZE - 64);
	expect(out[0], 200, 64);
	rte_pktmbuf_free_bulk(out, SIZE - 64);
}

static void without_buffers_only_what_needs_one_is_lost(void **state)
{
	(void)state;
	struct rte_mbuf *in[3] = {frame(60, 0), frame(300, 1), frame(60, 2)};
	struct rte_mbuf *out[MR_VECTOR_SIZE], *last = rte_pktmbuf_alloc(dry);
	unsigned lost;

	assert_int_equal(mr_handover_put(ring, LCORE_ID_ANY, in, 3), 3);
	assert_int_equal(mr_handover_take(ring, LCORE_ID_ANY, dry, out, &lost), 1);
	assert_int_equal(lost, 2);
	expect(out[0], 300, 1);
	rte_pktmbuf_free(out[0]);
	rte_pktmbuf_free(last);
	assert_int_equal(mr_handover_count(ring), 0);
}

static void what_is_discarded_is_counted_one_by_one(void **state)
{
	(void)state;
	struct rte_mbuf *in[3] = {frame(60, 0), frame(300, 1), frame(124, 2)};

	assert_int_equal(mr_handover_put(ring, LCORE_ID_ANY, in, 3), 3);
	mr_handover_discard(NULL, ring, 7, MR_DROP_stopped);
	assert_int_equal(control_drops, 3);
	assert_int_equal(mr_handover_count(ring), 0);
	mr_handover_discard(NULL, NULL, 7, MR_DROP_stopped);
	assert_int_equal(mr_handover_count(NULL), 0);
}

#define CROSSINGS 200000

static uint16_t length_of(uint32_t number)
{
	return (uint16_t)(14 + number * 2654435761u % 200);
}

static void *produce(void *unused)
{
	struct rte_mbuf *in[MR_VECTOR_SIZE];

	(void)unused;
	for (uint32_t number = 0; number < CROSSINGS;) {
		unsigned count = RTE_MIN(1 + number % 64, CROSSINGS - number), put = 0;

		for (unsigned i = 0; i < count; i++)
			while ((in[i] = rte_pktmbuf_alloc(pool)) == NULL)
				sched_yield();
		for (unsigned i = 0; i < count; i++) {
			uint16_t length = length_of(number + i);
			uint8_t *bytes = (uint8_t *)rte_pktmbuf_append(in[i], length);

			for (unsigned b = 0; b < length; b++)
				bytes[b] = (uint8_t)((number + i) * 31 + b);
		}
		while (put < count) {
			unsigned now = mr_handover_put(ring, LCORE_ID_ANY, in + put, count - put);

			if (now == 0)
				sched_yield();
			put += now;
		}
		number += count;
	}
	return NULL;
}

static void two_threads_keep_order_and_content(void **state)
{
	(void)state;
	struct rte_mbuf *out[MR_VECTOR_SIZE];
	pthread_t producer;

	assert_int_equal(pthread_create(&producer, NULL, produce, NULL), 0);
	for (uint32_t number = 0; number < CROSSINGS;) {
		unsigned lost, count = mr_handover_take(ring, LCORE_ID_ANY, pool, out, &lost);

		assert_int_equal(lost, 0);
		if (count == 0)
			sched_yield();
		for (unsigned i = 0; i < count; i++, number++)
			expect(out[i], length_of(number), number);
		rte_pktmbuf_free_bulk(out, count);
	}
	assert_int_equal(pthread_join(producer, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define WITH_RING(test) cmocka_unit_test_setup_teardown(test, make_ring, free_ring)
		WITH_RING(every_length_arrives_whole),
		WITH_RING(what_cannot_be_copied_crosses_as_its_buffer),
		WITH_RING(a_shared_buffer_loses_one_user),
		WITH_RING(a_full_ring_takes_what_it_has_room_for),
		WITH_RING(without_buffers_only_what_needs_one_is_lost),
		WITH_RING(what_is_discarded_is_counted_one_by_one),
		WITH_RING(two_threads_keep_order_and_content),
	};

	return cmocka_run_group_tests(tests, start_eal, NULL);
}
