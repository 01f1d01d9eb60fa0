/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One to four lcores, ports and queues a port, all 64 combinations: `show config cores` names each
 * queue at one lcore, and that lcore, and no other one, polls it. Each rx queue is a ring that gets
 * one packet; it leaves on the port that it came from.
 */
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
#include "control/control.h"
#include "lcore/lcores.h"
#include "test_eal.h"

#define MOST 4 /* lcores, ports, queues */
#define ITERATIONS 5

static struct rte_mempool *pool;
static struct rte_ring *rx[MOST][MOST], *tx[MOST][MOST];
static struct mr_port ports[MOST];

/* In the place of room port's: the ports of this test. */
struct mr_port *mr_port(struct mr *mr, uint16_t id)
{
	(void)mr;
	return id < MOST && ports[id].started ? &ports[id] : NULL;
}

static struct rte_ring *make_ring(const char *kind, unsigned port, unsigned queue)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "%s%u_%u", kind, port, queue);
	return rte_ring_create(name, 64, SOCKET_ID_ANY, 0);
}

static int start_eal(void **state)
{
	char name[16];
	(void)state;

	test_eal_start("0@0,(1-4)@0");
	pool = rte_pktmbuf_pool_create("queues", 255, 0, 0, 256, 0);
	assert_non_null(pool);
	for (unsigned port = 0; port < MOST; port++) {
		for (unsigned queue = 0; queue < MOST; queue++) {
			rx[port][queue] = make_ring("rx", port, queue);
			tx[port][queue] = make_ring("tx", port, queue);
		}
		snprintf(name, sizeof(name), "queues%u", port);
		assert_int_equal(rte_eth_from_rings(name, rx[port], MOST, tx[port], MOST, 0), port);
	}
	return 0;
}

static void start_port(uint16_t id, uint16_t queues)
{
	const struct rte_eth_conf conf = {0};

	assert_int_equal(rte_eth_dev_configure(id, queues, queues, &conf), 0);
	for (uint16_t queue = 0; queue < queues; queue++) {
		assert_int_equal(rte_eth_rx_queue_setup(id, queue, 64, 0, NULL, pool), 0);
		assert_int_equal(rte_eth_tx_queue_setup(id, queue, 64, 0, NULL), 0);
	}
	assert_int_equal(rte_eth_dev_start(id), 0);
	ports[id] = (struct mr_port){
		.id = id, .rxq = queues, .txq = queues, .burst = 32, .started = true, .pool = pool};
}

static void make_appliance(struct mr *mr, unsigned lcores, unsigned port_count, unsigned queues)
{
	static const unsigned ids[MOST] = {1, 2, 3, 4};

	*mr = (struct mr){.rcu = mr_rcu_create(lcores), .ifaces = mr_ifaces_create()};
	assert_int_equal(mr_control_new(mr), 0);
	assert_int_equal(mr_control_register(mr->control, mr_lcore_cmds), 0);
	assert_int_equal(mr_lcores_create(mr, ids, lcores, NULL), 0);
	for (uint16_t id = 0; id < port_count; id++) {
		start_port(id, (uint16_t)queues);
		assert_int_equal(mr_iface_publish(mr, &(struct mr_iface){.index = id,
									 .port = id,
									 .mtu = 1500,
									 .max_frame = 1514,
									 .mode = MR_MODE_IO,
									 .io_peer = id,
									 .link_up = true}),
				 0);
	}
	mr_lcores_adopt(mr);
	assert_int_equal(mr_lcores_place(mr, NULL), 0);
}

static void destroy_appliance(struct mr *mr)
{
	mr_lcores_stop(mr);
	mr_lcores_destroy(mr);
	mr_control_free(mr);
	mr_ifaces_destroy(mr->ifaces);
	mr_rcu_destroy(mr->rcu);
	for (unsigned port = 0; port < MOST; port++) {
		if (ports[port].started)
			assert_int_equal(rte_eth_dev_stop((uint16_t)port), 0);
		ports[port].started = false;
	}
}

/* Who polls each queue, by lcore index, as `show config cores` says; once each. */
static void read_placement(struct mr *mr, unsigned queues, int poller[MOST][MOST])
{
	static const char line[] = "show config cores";
	struct mr_reply reply;
	unsigned port, queue;
	size_t i, j;
	json_t *row, *text;

	assert_int_equal(mr_control_execute(mr, line, strlen(line), &reply), 0);
	memset(poller, -1, sizeof(int[MOST][MOST]));
	json_array_foreach (json_object_get(reply.data, "lcores"), i, row) {
		json_array_foreach (json_object_get(row, "rx_queues"), j, text) {
			assert_int_equal(sscanf(json_string_value(text), "%u/%u", &port, &queue),
					 2);
			assert_in_range(port, 0, MOST - 1);
			assert_in_range(queue, 0, queues - 1);
			assert_int_equal(poller[port][queue], -1);
			poller[port][queue] = (int)i;
		}
	}
	assert_int_equal(i, mr->lcores->count);
	mr_reply_clear(&reply);
}

static void fill_queues(unsigned port_count, unsigned queues)
{
	for (unsigned port = 0; port < port_count; port++)
		for (unsigned queue = 0; queue < queues; queue++) {
			struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

			assert_non_null(m);
			assert_non_null(rte_pktmbuf_append(m, 60));
			assert_int_equal(rte_ring_enqueue(rx[port][queue], m), 0);
		}
}

static unsigned empty_ports(void)
{
	struct rte_mbuf *m;
	unsigned count = 0;

	for (unsigned i = 0; i < MOST * MOST; i++) {
		while (rte_ring_dequeue(tx[i / MOST][i % MOST], (void **)&m) == 0) {
			rte_pktmbuf_free(m);
			count++;
		}
	}
	return count;
}

static void check(unsigned lcores, unsigned port_count, unsigned queues)
{
	unsigned polled[MOST] = {0}; /* queues, by lcore */
	int poller[MOST][MOST];
	struct mr mr;

	make_appliance(&mr, lcores, port_count, queues);
	read_placement(&mr, queues, poller);
	fill_queues(port_count, queues);
	for (unsigned i = 0; i < ITERATIONS * lcores; i++)
		mr_lcore_iteration(mr.lcores->lcore[i % lcores], i);
	for (unsigned port = 0; port < MOST; port++)
		for (unsigned queue = 0; queue < queues; queue++) {
			if (port >= port_count) {
				assert_int_equal(poller[port][queue], -1);
				continue;
			}
			assert_in_range(poller[port][queue], 0, lcores - 1);
			polled[poller[port][queue]]++;
			for (unsigned i = 0; i < lcores; i++)
				assert_int_equal(
					mr.lcores->lcore[i]->counters.rx[port][queue].packets,
					(int)i == poller[port][queue]);
		}
	for (unsigned i = 0; i < lcores; i++) {
		const struct mr_counters *counters = &mr.lcores->lcore[i]->counters;

		assert_in_range(polled[i], port_count * queues / lcores,
				(port_count * queues + lcores - 1) / lcores);
		assert_int_equal(counters->polls, polled[i] * counters->iterations);
		assert_true(counters->iterations >= ITERATIONS);
	}
	assert_int_equal(empty_ports(), port_count * queues);
	destroy_appliance(&mr);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

static void each_queue_is_shown_and_polled_once(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MOST * MOST * MOST; i++)
		check(1 + i % MOST, 1 + i / MOST % MOST, 1 + i / MOST / MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_queue_is_shown_and_polled_once)};

	return cmocka_run_group_tests(tests, start_eal, NULL);
}
