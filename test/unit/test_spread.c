/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that cross between lcores, over ring ports in pairs: what arrives on port 0 leaves on
 * port 1, what arrives on port 2 leaves on port 3. Each frame says its flow and its number in it.
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_pause.h>
#include <rte_udp.h>

#include "base/rcu.h"
#include "bridge/bridge.h"
#include "bridge/mac_table.h"
#include "lcore/lcores.h"
#include "test_eal.h"

#define PORTS 4
#define LCORES 3
#define BUFFERS 16383
#define RING 1024
#define FLOWS 32
#define IN_FLIGHT 256 /* less than any ring on the way holds */

static struct rte_mempool *pool;
static struct rte_ring *rx[PORTS], *tx[PORTS];
static struct mr_port ports[PORTS];

/* In the place of room port's: the ports of this test. */
struct mr_port *mr_port(struct mr *mr, uint16_t id)
{
	(void)mr;
	return id < PORTS ? &ports[id] : NULL;
}

struct stamped {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	uint32_t flow, number;
} __rte_packed __rte_aligned(2);

static struct rte_mbuf *stamped_frame(uint32_t flow, uint32_t number)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct stamped *frame;

	if (m == NULL)
		return NULL;
	frame = (struct stamped *)rte_pktmbuf_append(m, 64);
	assert(frame != NULL);
	*frame = (struct stamped){
		.ether = {.dst_addr = {{2, 0, 0, 0, 0, 1}},
			  .src_addr = {{2, 0, 0, 0, 0, 2}},
			  .ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4)},
		.ip = {.version_ihl = 0x45, .next_proto_id = 17, .src_addr = 1, .dst_addr = 2},
		.udp.src_port = rte_cpu_to_be_16((uint16_t)(1000 + flow)),
		.flow = flow,
		.number = number};
	return m;
}

static struct rte_ring *make_ring(const char *kind, unsigned port)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%u", kind, port);
	return rte_ring_create(name, RING, SOCKET_ID_ANY, RING_F_EXACT_SZ);
}

static int start_eal(void **state)
{
	const struct rte_eth_conf conf = {0};
	char name[16];
	(void)state;

	test_eal_start("0@0,(1-3)@(0-1)");
	pool = rte_pktmbuf_pool_create("spread", BUFFERS, 64, 0, 256, 0);
	assert_non_null(pool);
	for (uint16_t id = 0; id < PORTS; id++) {
		rx[id] = make_ring("test_rx", id);
		tx[id] = make_ring("test_tx", id);
		snprintf(name, sizeof(name), "spread%u", id);
		assert_int_equal(rte_eth_from_rings(name, &rx[id], 1, &tx[id], 1, 0), id);
		assert_int_equal(rte_eth_dev_configure(id, 1, 1, &conf), 0);
		assert_int_equal(rte_eth_rx_queue_setup(id, 0, 64, 0, NULL, pool), 0);
		assert_int_equal(rte_eth_tx_queue_setup(id, 0, 64, 0, NULL), 0);
		assert_int_equal(rte_eth_dev_start(id), 0);
		ports[id] = (struct mr_port){
			.id = id, .rxq = 1, .txq = 1, .burst = 32, .pool = pool, .started = true};
	}
	return 0;
}

static int make_appliance(void **state)
{
	static struct mr mr;
	static const unsigned ids[LCORES] = {1, 2, 3};

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
	*state = &mr;
	return 0;
}

static void check_law(struct mr *mr)
{
	struct mr_balance b = mr_lcores_balance(mr);

	assert_int_equal(b.received + b.originated + b.copied,
			 b.transmitted + b.consumed + b.dropped + b.held);
}

/* Whatever a test did, every packet has ended once and every buffer is back. */
static int end_appliance(void **state)
{
	struct mr *mr = *state;

	mr_lcores_stop(mr);
	check_law(mr);
	mr_lcores_destroy(mr);
	mr_ifaces_destroy(mr->ifaces);
	mr_rcu_destroy(mr->rcu);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	return 0;
}

static void iterate_all(struct mr *mr, unsigned times)
{
	for (unsigned t = 0; t < times; t++)
		for (unsigned i = 0; i < LCORES; i++)
			mr_lcore_iteration(mr->lcores->lcore[i], t);
}

static void adopt(struct mr *mr)
{
	mr_lcores_adopt(mr);
	assert_int_equal(mr_lcores_place(mr, NULL), 0);
}

static void spread(struct mr *mr, struct mr_workers workers)
{
	assert_int_equal(mr_lcores_spread(mr, 0, &workers, NULL), 0);
}
#define SPREAD(mr, n, ...) spread(mr, (struct mr_workers){.count = (n), .lcore = {__VA_ARGS__}})

/* Flow by flow, count frames each, numbered from `from` on. */
static void receive(unsigned port, uint32_t from, uint32_t count)
{
	for (uint32_t number = from; number < from + count; number++)
		for (uint32_t flow = 0; flow < FLOWS; flow++)
			assert_int_equal(rte_ring_enqueue(rx[port], stamped_frame(flow, number)),
					 0);
}

/* Takes what left a port. Every frame must be the next one of its flow. */
static unsigned take(unsigned port, uint32_t *next)
{
	struct rte_mbuf *m;
	unsigned count = 0;

	while (rte_ring_dequeue(tx[port], (void **)&m) == 0) {
		const struct stamped *frame = rte_pktmbuf_mtod(m, const struct stamped *);

		assert_in_range(frame->flow, 0, FLOWS - 1);
		assert_int_equal(frame->number, next[frame->flow]);
		next[frame->flow]++;
		rte_pktmbuf_free(m);
		count++;
	}
	return count;
}

static uint64_t dropped(const struct mr *mr, uint16_t port, enum mr_drop_reason reason)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < LCORES; i++)
		sum += mr->lcores->lcore[i]->counters.drop[port][reason];
	return sum;
}

static void workers_share_the_flows_of_one_queue(void **state)
{
	struct mr *mr = *state;
	uint32_t next[FLOWS] = {0};
	uint64_t given = 0, taken = 0;
	unsigned poller;

	adopt(mr);
	SPREAD(mr, 3, 0, 1, 2);
	poller = mr->lcores->placement.rx_lcore[0][0];
	receive(0, 0, 10);
	iterate_all(mr, 30);
	assert_int_equal(take(1, next), 10 * FLOWS);
	for (unsigned i = 0; i < LCORES; i++) {
		const struct mr_counters *c = &mr->lcores->lcore[i]->counters;

		/* Received is counted where the port is polled only. */
		assert_int_equal(c->rx[0][0].packets, i == poller ? 10 * FLOWS : 0);
		assert_true(i == poller ? c->spread_given > 0 : c->spread_taken > 0);
		given += c->spread_given;
		taken += c->spread_taken;
	}
	assert_int_equal(given, taken);
	assert_in_range(given, 10, 10 * (FLOWS - 1)); /* the poller works, too */
	check_law(mr);
	assert_int_equal(mr_lcores_balance(mr).held, 0);

	SPREAD(mr, 0, 0);
	receive(0, 10, 1);
	iterate_all(mr, 10);
	assert_int_equal(take(1, next), FLOWS);
	assert_int_equal(mr->lcores->lcore[poller]->counters.spread_given, given);
}

static void a_full_ring_to_a_worker_drops_under_its_name(void **state)
{
	struct mr *mr = *state;
	uint32_t next[FLOWS] = {0};
	unsigned poller, worker;

	adopt(mr);
	poller = mr->lcores->placement.rx_lcore[0][0];
	worker = (poller + 1) % LCORES;
	SPREAD(mr, 1, (uint8_t)worker);
	receive(0, 0, MR_SPREAD_RING_SIZE / FLOWS + 2);
	for (unsigned i = 0; i < 40; i++)
		mr_lcore_iteration(mr->lcores->lcore[poller], i);
	assert_int_equal(dropped(mr, 0, MR_DROP_spread_full), 2 * FLOWS);
	assert_int_equal(mr_lcores_balance(mr).held, MR_SPREAD_RING_SIZE);
	check_law(mr);
	iterate_all(mr, 20);
	assert_int_equal(take(1, next), MR_SPREAD_RING_SIZE);
}

static void what_waits_for_workers_when_forwarding_stops_is_dropped(void **state)
{
	struct mr *mr = *state;
	unsigned poller;

	adopt(mr);
	poller = mr->lcores->placement.rx_lcore[0][0];
	SPREAD(mr, 1, (uint8_t)((poller + 1) % LCORES));
	receive(0, 0, 1);
	mr_lcore_iteration(mr->lcores->lcore[poller], 1);
	mr_lcores_stop(mr);
	assert_int_equal(mr->lcores->control->drop[0][MR_DROP_stopped], FLOWS);
}

static void what_waits_for_old_workers_leaves_before_what_follows(void **state)
{
	struct mr *mr = *state;
	uint32_t next[FLOWS] = {0};
	unsigned taken = 0;

	adopt(mr);
	for (uint32_t i = 0; i < 24; i++) {
		unsigned poller = mr->lcores->placement.rx_lcore[0][0];

		receive(0, 2 * i, 1);
		mr_lcore_iteration(mr->lcores->lcore[poller], i);
		receive(0, 2 * i + 1, 1);
		switch (i % 4) {
		case 0:
			SPREAD(mr, 2, 1, 2);
			break;
		case 1:
			assert_int_equal(mr_lcores_pin(mr, 0, 0, i % LCORES, NULL), 0);
			break;
		case 2:
			SPREAD(mr, 3, 2, 0, 1);
			break;
		default:
			SPREAD(mr, 0, 0);
		}
		taken += take(1, next);
	}
	iterate_all(mr, 60);
	assert_int_equal(taken + take(1, next), 48 * FLOWS);
	check_law(mr);
}

/* Port 3 never drains. Everything of it waits where it may or is dropped; port 1 loses nothing. */
static void a_port_that_does_not_drain_costs_only_its_own_packets(void **state)
{
	struct mr *mr = *state;
	uint32_t good[FLOWS] = {0};
	uint32_t number = 0;
	struct rte_mbuf *m;
	unsigned most = 0;

	mr->lcores->handover_size = 128;
	adopt(mr);
	SPREAD(mr, 3, 0, 1, 2);
	for (uint32_t i = 0; i < 20000; i++) {
		receive(0, number, 1);
		receive(2, number++, 1);
		iterate_all(mr, 3);
		take(1, good);
		if (i == 1000)
			most = rte_mempool_in_use_count(pool);
		if (i > 1000)
			assert_in_range(rte_mempool_in_use_count(pool), 0, most + 4 * FLOWS);
	}
	iterate_all(mr, 5);
	take(1, good);
	for (unsigned flow = 0; flow < FLOWS; flow++)
		assert_int_equal(good[flow], number);
	for (unsigned reason = 0; reason < MR_DROP_COUNT; reason++) {
		assert_int_equal(dropped(mr, 1, reason), 0);
		assert_int_equal(dropped(mr, 0, reason), 0);
	}
	assert_int_equal(dropped(mr, 3, MR_DROP_tx_full), number * FLOWS - RING);
	check_law(mr);
	while (rte_ring_dequeue(tx[3], (void **)&m) == 0)
		rte_pktmbuf_free(m);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

static void make_bridge(struct mr *mr)
{
	assert_int_equal(mr_bridges_create(mr, 64, NULL), 0);
	assert_int_equal(mr_bridge_add(mr, "br0", 300, NULL), 0);
	for (uint16_t id = 0; id < PORTS; id++)
		assert_int_equal(
			mr_bridge_member_add(mr, mr_bridge_find(mr, "br0"), id, false, NULL), 0);
}

/* Flooded by three lcores, then forwarded by other ones, out of one port and in order. */
static void bridged_flows_of_a_spread_port_keep_their_order(void **state)
{
	const struct rte_ether_addr station = {{2, 0, 0, 0, 0, 1}};
	uint32_t next[PORTS][FLOWS] = {0};
	struct mr *mr = *state;
	uint64_t copied = 0, learned = 0;

	make_bridge(mr);
	adopt(mr);
	SPREAD(mr, 3, 0, 1, 2);
	receive(0, 0, 4);
	iterate_all(mr, 30);
	for (unsigned port = 1; port < PORTS; port++)
		assert_int_equal(take(port, next[port]), 4 * FLOWS);
	for (unsigned i = 0; i < LCORES; i++)
		copied += mr->lcores->lcore[i]->counters.copied;
	assert_int_equal(copied, 4 * FLOWS * (PORTS - 2));
	/* Whichever lcore a flow went to, the station that sent it was told. */
	learned = mr_lcores_drain_learned(mr, mr_bridge_learn);
	assert_in_range(learned, LCORES, 4 * FLOWS);
	assert_int_equal(mac_table_count(mr->bridges->fwd.stations, MAC_TABLE_ANY), 1);

	assert_int_equal(mac_table_add(mr->bridges->fwd.stations,
				       mac_key_of(mr_bridge_find(mr, "br0")->id, &station), 1, 0,
				       true),
			 0);
	for (uint32_t number = 4; number < 24; number++) {
		receive(0, number, 1);
		mr_lcore_iteration(mr->lcores->lcore[mr->lcores->placement.rx_lcore[0][0]], 1);
		if (number % 4 == 0)
			SPREAD(mr, 3, 2, 0, 1);
		if (number % 4 == 2)
			SPREAD(mr, 2, 0, 2);
	}
	iterate_all(mr, 60);
	assert_int_equal(take(1, next[1]), 20 * FLOWS);
	assert_int_equal(take(2, next[2]) + take(3, next[3]), 0);
	check_law(mr);
	mr_bridges_destroy(mr);
}

/* A peer of the appliance that sends on port 0 and takes what leaves port 1. */
struct peer {
	bool stop;
	uint64_t sent, got, wrong;
	uint32_t number[FLOWS], next[FLOWS];
};

static void peer_take(struct peer *peer)
{
	struct rte_mbuf *m;

	while (rte_ring_dequeue(tx[1], (void **)&m) == 0) {
		const struct stamped *frame = rte_pktmbuf_mtod(m, const struct stamped *);

		if (frame->number != peer->next[frame->flow])
			peer->wrong++;
		peer->next[frame->flow] = frame->number + 1;
		rte_pktmbuf_free(m);
		__atomic_store_n(&peer->got, peer->got + 1, __ATOMIC_RELEASE);
	}
}

static void *run_peer(void *arg)
{
	struct peer *peer = arg;
	time_t end = time(NULL) + 60;

	while (!__atomic_load_n(&peer->stop, __ATOMIC_ACQUIRE) && time(NULL) < end) {
		for (unsigned i = 0; i < 32 && peer->sent < peer->got + IN_FLIGHT; i++) {
			uint32_t flow = (uint32_t)(peer->sent * 7 % FLOWS);
			struct rte_mbuf *m = stamped_frame(flow, peer->number[flow]);

			if (m == NULL || rte_ring_enqueue(rx[0], m) != 0) {
				rte_pktmbuf_free(m);
				break;
			}
			peer->number[flow]++;
			peer->sent++;
		}
		peer_take(peer);
		sched_yield(); /* there are more threads than cores */
	}
	while (peer->got < peer->sent && time(NULL) < end)
		peer_take(peer);
	return NULL;
}

static void await_packets(struct peer *peer, uint64_t count)
{
	uint64_t target = __atomic_load_n(&peer->got, __ATOMIC_ACQUIRE) + count;
	time_t end = time(NULL) + 30;

	while (__atomic_load_n(&peer->got, __ATOMIC_ACQUIRE) < target && time(NULL) < end)
		sched_yield();
}

static void change(struct mr *mr, unsigned i)
{
	switch (i % 6) {
	case 0:
		SPREAD(mr, 2, 0, 1);
		break;
	case 1:
	case 4:
		assert_int_equal(mr_lcores_pin(mr, 0, 0, i % LCORES, NULL), 0);
		break;
	case 2:
		SPREAD(mr, 3, 2, 1, 0);
		break;
	case 3:
		SPREAD(mr, 0, 0);
		break;
	default:
		/* Others come and go, and with them the owners of tx queues. */
		assert_int_equal(mr_lcores_place_without(mr, i % 12 == 5 ? 2 : 3, NULL), 0);
		assert_int_equal(mr_lcores_place(mr, NULL), 0);
	}
}

static void threads_keep_every_flow_in_order_while_all_moves(void **state)
{
	struct mr *mr = *state;
	struct peer peer = {0};
	struct mr_balance b;
	pthread_t thread;

	assert_int_equal(mr_lcores_place(mr, NULL), 0);
	assert_int_equal(mr_lcores_start(mr, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, run_peer, &peer), 0);
	for (unsigned i = 0; i < 24; i++) {
		await_packets(&peer, 200);
		change(mr, i);
	}
	await_packets(&peer, 200);
	__atomic_store_n(&peer.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	mr_lcores_stop(mr);
	assert_int_equal(peer.wrong, 0);
	assert_int_equal(peer.got, peer.sent);
	assert_true(peer.got > 25 * 200);
	b = mr_lcores_balance(mr);
	assert_int_equal(b.dropped, 0);
	assert_int_equal(b.received, b.transmitted);
}

#define WITH_APPLIANCE(test) cmocka_unit_test_setup_teardown(test, make_appliance, end_appliance)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_APPLIANCE(workers_share_the_flows_of_one_queue),
		WITH_APPLIANCE(a_full_ring_to_a_worker_drops_under_its_name),
		WITH_APPLIANCE(what_waits_for_workers_when_forwarding_stops_is_dropped),
		WITH_APPLIANCE(what_waits_for_old_workers_leaves_before_what_follows),
		WITH_APPLIANCE(a_port_that_does_not_drain_costs_only_its_own_packets),
		WITH_APPLIANCE(bridged_flows_of_a_spread_port_keep_their_order),
		WITH_APPLIANCE(threads_keep_every_flow_in_order_while_all_moves),
	};
	return cmocka_run_group_tests(tests, start_eal, NULL);
}
