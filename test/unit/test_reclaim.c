/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers that a device has sent and kept, over a ring port whose ring is what it keeps. Port 0's
 * driver frees them on request, port 1's cannot.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "base/rcu.h"
#include "lcore/lcores.h"
#include "lcore/sleep_fwd.h"
#include "test_eal.h"

#define PORTS 2
#define LCORES 2

static struct rte_mempool *pool;
static struct rte_ring *rx[PORTS], *tx[PORTS];
static struct mr_port ports[PORTS];
static unsigned asked[PORTS], asked_wrongly;
static const struct mr_lcore *running; /* the lcore in whose place the test runs */

/* In the place of room port's: the ports of this test. */
struct mr_port *mr_port(struct mr *mr, uint16_t id)
{
	(void)mr;
	return id < PORTS ? &ports[id] : NULL;
}

/* In the place of ethdev's: what the drivers do. */
int rte_eth_tx_done_cleanup(uint16_t port, uint16_t queue, uint32_t count)
{
	struct rte_mbuf *m;
	int freed = 0;

	if (port >= PORTS || queue != 0 || count != 0 || running == NULL ||
	    running->plan->tx[port].handover != NULL) {
		asked_wrongly++;
		return -EINVAL;
	}
	asked[port]++;
	if (port == 1)
		return -ENOTSUP;
	for (; rte_ring_dequeue(tx[port], (void **)&m) == 0; freed++)
		rte_pktmbuf_free(m);
	return freed;
}

static int start_eal(void **state)
{
	const struct rte_eth_conf conf = {0};
	char name[32];
	(void)state;

	test_eal_start("0@0,(1-2)@0");
	pool = rte_pktmbuf_pool_create("reclaim", 255, 0, 0, 256, 0);
	assert_non_null(pool);
	for (uint16_t id = 0; id < PORTS; id++) {
		snprintf(name, sizeof(name), "reclaim_rx%u", id);
		rx[id] = rte_ring_create(name, 64, SOCKET_ID_ANY, 0);
		snprintf(name, sizeof(name), "reclaim_tx%u", id);
		tx[id] = rte_ring_create(name, 64, SOCKET_ID_ANY, 0);
		snprintf(name, sizeof(name), "reclaim%u", id);
		assert_int_equal(rte_eth_from_rings(name, &rx[id], 1, &tx[id], 1, 0), id);
		assert_int_equal(rte_eth_dev_configure(id, 1, 1, &conf), 0);
		assert_int_equal(rte_eth_rx_queue_setup(id, 0, 64, 0, NULL, pool), 0);
		assert_int_equal(rte_eth_tx_queue_setup(id, 0, 64, 0, NULL), 0);
		assert_int_equal(rte_eth_dev_start(id), 0);
		ports[id] = (struct mr_port){
			.id = id, .rxq = 1, .txq = 1, .burst = 32, .started = true, .pool = pool};
	}
	return 0;
}

static int make_appliance(void **state)
{
	static const unsigned ids[LCORES] = {1, 2};
	static struct mr mr;

	memset(asked, 0, sizeof(asked));
	asked_wrongly = 0;
	mr = (struct mr){.rcu = mr_rcu_create(LCORES), .ifaces = mr_ifaces_create()};
	assert_int_equal(mr_lcores_create(&mr, ids, LCORES, NULL), 0);
	for (uint16_t id = 0; id < PORTS; id++)
		assert_int_equal(mr_iface_publish(&mr, &(struct mr_iface){.index = id,
									  .port = id,
									  .mtu = 1500,
									  .max_frame = 1514,
									  .mode = MR_MODE_IO,
									  .io_peer = id ^ 1,
									  .link_up = true}),
				 0);
	mr_lcores_set_idle(&mr, MR_IDLE_ADAPTIVE);
	mr_lcores_adopt(&mr);
	assert_int_equal(mr_lcores_place(&mr, NULL), 0);
	*state = &mr;
	return 0;
}

static int end_appliance(void **state)
{
	struct mr *mr = *state;
	struct rte_mbuf *m;

	mr_lcores_stop(mr);
	mr_lcores_destroy(mr);
	mr_ifaces_destroy(mr->ifaces);
	mr_rcu_destroy(mr->rcu);
	while (rte_ring_dequeue(tx[1], (void **)&m) == 0)
		rte_pktmbuf_free(m);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	assert_int_equal(asked_wrongly, 0);
	return 0;
}

/* Sends packets that arrive on the other port; the device keeps them. */
static void send_out_of(struct mr *mr, unsigned port, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		assert_non_null(m);
		memset(rte_pktmbuf_append(m, 60), 0, 60);
		assert_int_equal(rte_ring_enqueue(rx[port ^ 1], m), 0);
	}
	for (unsigned i = 0; i < 2 * LCORES; i++)
		mr_lcore_iteration(mr->lcores->lcore[i % LCORES], i);
	assert_int_equal(rte_ring_count(tx[port]), count);
}

static void buffers_come_back_where_the_driver_can(void **state)
{
	struct mr *mr = *state;

	send_out_of(mr, 0, 40);
	send_out_of(mr, 1, 10);
	for (unsigned i = 0; i < LCORES; i++) {
		running = mr->lcores->lcore[i];
		mr_lcore_reclaim(mr->lcores->lcore[i]);
	}
	/* Each queue by its owner, once. */
	assert_int_equal(asked[0], 1);
	assert_int_equal(asked[1], 1);
	assert_int_equal(rte_mempool_in_use_count(pool), 10);
	send_out_of(mr, 0, 1); /* the port goes on */
	for (unsigned i = 0; i < LCORES; i++) {
		running = mr->lcores->lcore[i];
		mr_lcore_reclaim(mr->lcores->lcore[i]);
	}
	assert_int_equal(rte_mempool_in_use_count(pool), 10);
}

static void an_lcore_reclaims_when_it_falls_asleep(void **state)
{
	struct mr *mr = *state;
	unsigned empty;

	send_out_of(mr, 0, 40);
	for (unsigned i = 0; i < LCORES; i++) {
		struct mr_lcore *lcore = mr->lcores->lcore[i];

		running = lcore;
		for (empty = MR_IDLE_SPIN; lcore->counters.sleeps == 0; empty++)
			empty = mr_idle(lcore, empty);
		assert_in_range(empty, MR_IDLE_SPIN + 1, 10000);
	}
	assert_int_equal(asked[0], 1);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

static void a_stopped_port_is_left_alone(void **state)
{
	struct mr *mr = *state;

	assert_int_equal(mr_lcores_place_without(mr, 0, NULL), 0);
	for (unsigned i = 0; i < LCORES; i++) {
		running = mr->lcores->lcore[i];
		mr_lcore_reclaim(mr->lcores->lcore[i]);
	}
	assert_int_equal(asked[0], 0);
	assert_int_equal(asked[1], 1);
}

#define WITH_APPLIANCE(test) cmocka_unit_test_setup_teardown(test, make_appliance, end_appliance)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_APPLIANCE(buffers_come_back_where_the_driver_can),
		WITH_APPLIANCE(an_lcore_reclaims_when_it_falls_asleep),
		WITH_APPLIANCE(a_stopped_port_is_left_alone),
	};
	return cmocka_run_group_tests(tests, start_eal, NULL);
}
