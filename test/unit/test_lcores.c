/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control thread's side of the lcores over net_null devices: ports 0 to 2 never receive, port 3
 * receives for ever; all of them swallow what is sent.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "base/rcu.h"
#include "lcore/handover_fwd.h"
#include "lcore/lcores.h"
#include "lcore/rings.h"
#include "packet/punt.h"
#include "test_eal.h"

#define PORTS 4
#define QUEUES 4
#define BUFFERS 8191

static struct rte_mempool *pool;
static struct mr_port ports[PORTS];
static struct mr_port made[PORTS]; /* as the tests find them */

/* In the place of room port's: the ports of this test. */
struct mr_port *mr_port(struct mr *mr, uint16_t id)
{
	(void)mr;
	return id < PORTS ? &ports[id] : NULL;
}

static void make_port(uint16_t id)
{
	const struct rte_eth_conf conf = {0};
	char name[32];

	snprintf(name, sizeof(name), "net_null%u", id);
	assert_int_equal(rte_eal_hotplug_add("vdev", name, id == 3 ? "size=64" : "no-rx=1"), 0);
	assert_int_equal(rte_eth_dev_configure(id, QUEUES, QUEUES, &conf), 0);
	for (uint16_t q = 0; q < QUEUES; q++) {
		assert_int_equal(rte_eth_rx_queue_setup(id, q, 64, 0, NULL, pool), 0);
		assert_int_equal(rte_eth_tx_queue_setup(id, q, 64, 0, NULL), 0);
	}
	assert_int_equal(rte_eth_dev_start(id), 0);
	made[id] = (struct mr_port){
		.id = id, .rxq = 1, .txq = 1, .burst = 32, .pool = pool, .started = id != 3};
}

static int start_eal(void **state)
{
	(void)state;
	test_eal_start("0@0,(1-3)@(0-1)");
	pool = rte_pktmbuf_pool_create("lcores", BUFFERS, 64, 0, 512, 0);
	assert_non_null(pool);
	for (uint16_t id = 0; id < PORTS; id++)
		make_port(id);
	return 0;
}

static int make_appliance(void **state)
{
	static struct mr mr;
	static const unsigned ids[] = {1, 2};
	struct mr_error error = {{0}};

	memcpy(ports, made, sizeof(ports));
	mr = (struct mr){.rcu = mr_rcu_create(4), .ifaces = mr_ifaces_create()};
	assert_int_equal(mr_lcores_create(&mr, ids, 2, &error), 0);
	for (uint16_t id = 0; id < PORTS; id++)
		assert_int_equal(
			mr_iface_publish(&mr, &(struct mr_iface){.index = id,
								 .port = id,
								 .mtu = 1500,
								 .max_frame = 1514,
								 .mode = MR_MODE_IO,
								 .io_peer = id == 3 ? 0 : 1,
								 .link_up = true}),
			0);
	*state = &mr;
	return 0;
}

/* Whatever a test did, every packet has ended once and every buffer is back. */
static int end_appliance(void **state)
{
	struct mr *mr = *state;
	struct mr_balance b;

	mr_lcores_stop(mr);
	b = mr_lcores_balance(mr);
	assert_int_equal(b.received + b.originated + b.copied,
			 b.transmitted + b.consumed + b.dropped + b.held);
	mr_lcores_destroy(mr);
	mr_ifaces_destroy(mr->ifaces);
	mr_rcu_destroy(mr->rcu);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	return 0;
}

static void adopt_and_place(struct mr *mr)
{
	struct mr_error error = {{0}};

	mr_lcores_adopt(mr);
	assert_int_equal(mr_lcores_place(mr, &error), 0);
}

static struct rte_mbuf *new_frame(struct mr *mr)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, 60), 0, 60);
	mr_count(&mr->lcores->control->originated, 1);
	return m;
}

static uint64_t sent_on(const struct mr *mr, uint16_t port)
{
	uint64_t sent = 0;

	for (unsigned i = 0; i < mr->lcores->count; i++)
		for (unsigned q = 0; q < MR_MAX_QUEUES; q++)
			sent += mr_counter_read(
				&mr->lcores->lcore[i]->counters.tx[port][q].packets);
	return sent;
}

static void iterate_all(struct mr *mr, unsigned times)
{
	for (unsigned t = 0; t < times; t++)
		for (unsigned i = 0; i < mr->lcores->count; i++)
			mr_lcore_iteration(mr->lcores->lcore[i], t);
}

static void making_and_freeing_leaves_nothing(void **state)
{
	struct mr_error error = {{0}};
	static const unsigned ids[] = {1, 2, 3};
	struct rte_malloc_socket_stats before, after;
	(void)state;

	memcpy(ports, made, sizeof(ports));
	rte_malloc_get_socket_stats(0, &before);
	for (unsigned i = 0; i < 3; i++) {
		struct mr mr = {.rcu = mr_rcu_create(3), .ifaces = mr_ifaces_create()};

		assert_int_equal(mr_lcores_create(&mr, ids, 3, &error), 0);
		assert_int_equal(mr_lcores_place(&mr, &error), 0);
		mr_lcores_destroy(&mr);
		assert_null(mr.lcores);
		mr_rcu_destroy(mr.rcu);
		mr_ifaces_destroy(mr.ifaces);
	}
	rte_malloc_get_socket_stats(0, &after);
	assert_int_equal(after.alloc_count, before.alloc_count);
}

static void impossible_lcores_are_refused(void **state)
{
	struct mr mr = {.rcu = mr_rcu_create(1), .ifaces = mr_ifaces_create()};
	struct mr_error error = {{0}};
	(void)state;

	assert_int_equal(mr_lcores_create(&mr, NULL, 0, &error), -EINVAL);
	assert_non_null(strstr(error.text, "no lcore"));
	assert_int_equal(mr_lcores_create(&mr, (const unsigned[]){1, 2}, 2, NULL), -E2BIG);
	assert_int_equal(mr_lcores_create(&mr, (const unsigned[]){RTE_MAX_LCORE}, 1, NULL),
			 -EINVAL);
	assert_null(mr.lcores);
	mr_rcu_destroy(mr.rcu);
	mr_ifaces_destroy(mr.ifaces);
}

static void injected_frames_leave_or_end_under_a_reason(void **state)
{
	struct mr *mr = *state;
	const struct mr_counters *control = mr->lcores->control;

	mr_inject(mr, 0, new_frame(mr));
	assert_int_equal(control->drop[0][MR_DROP_stopped], 1);
	adopt_and_place(mr);

	mr_inject(mr, 0, new_frame(mr));
	iterate_all(mr, 1);
	assert_int_equal(sent_on(mr, 0), 1);

	mr_inject(mr, 77, new_frame(mr));
	assert_int_equal(control->drop[MR_PORT_NONE][MR_DROP_no_tx_path], 1);
	mr_inject(mr, 3, new_frame(mr)); /* not started */
	assert_int_equal(control->drop[3][MR_DROP_no_tx_path], 1);

	for (unsigned i = 0; i < MR_PACKET_RING_SIZE + 3; i++)
		mr_inject(mr, 1, new_frame(mr));
	assert_int_equal(control->drop[1][MR_DROP_inject_full], 3);
	assert_int_equal(mr_lcores_balance(mr).held, MR_PACKET_RING_SIZE);
	iterate_all(mr, MR_PACKET_RING_SIZE / MR_VECTOR_SIZE);
	assert_int_equal(sent_on(mr, 1), MR_PACKET_RING_SIZE);
	assert_int_equal(mr_lcores_balance(mr).held, 0);
}

static void what_waits_when_forwarding_stops_is_dropped(void **state)
{
	struct mr *mr = *state;

	adopt_and_place(mr);
	mr_inject(mr, 0, new_frame(mr));
	mr_lcores_stop(mr);
	assert_int_equal(mr->lcores->control->drop[MR_PORT_NONE][MR_DROP_stopped], 1);
	assert_int_equal(mr_lcores_balance(mr).held, 0);
}

static unsigned inputs;
static uint16_t input_kind[64];

static void note_input(struct mr *mr, struct rte_mbuf *m)
{
	input_kind[inputs++] = mr_punt_of(m)->kind;
	mr_count(&mr->lcores->control->consumed, 1);
	rte_pktmbuf_free(m);
}

static void punt(struct mr *mr, struct rte_ring *ring, uint16_t kind)
{
	struct rte_mbuf *m = new_frame(mr);

	*mr_punt_of(m) = (struct mr_punt){.kind = kind};
	assert_int_equal(rte_ring_sp_enqueue(ring, m), 0);
}

static void errors_wait_for_arp_and_share_the_budget(void **state)
{
	struct mr *mr = *state;
	struct mr_lcore **lcore = mr->lcores->lcore;

	inputs = 0;
	for (unsigned i = 0; i < 10; i++)
		punt(mr, lcore[0]->punt_error, MR_PUNT_TTL);
	punt(mr, lcore[1]->punt_error, MR_PUNT_NO_ROUTE);
	punt(mr, lcore[1]->punt, MR_PUNT_ARP);

	assert_int_equal(mr_lcores_drain(mr, 4, note_input), 1 + 2 + 1);
	assert_int_equal(input_kind[0], MR_PUNT_ARP);
	assert_int_equal(input_kind[1], MR_PUNT_TTL);
	assert_int_equal(input_kind[3], MR_PUNT_NO_ROUTE);
	assert_int_equal(mr_lcores_balance(mr).held, 8);
	assert_int_equal(mr_lcores_drain(mr, 100, note_input), 8);
	assert_int_equal(mr_lcores_drain(mr, 100, note_input), 0);
}

static uint64_t learned_sum;

static void sum_learned(struct mr *mr, const struct mr_learned *learned, unsigned count)
{
	(void)mr;
	for (unsigned i = 0; i < count; i++)
		learned_sum += learned[i].key * learned[i].iface;
}

static void learned_stations_arrive(void **state)
{
	struct mr *mr = *state;

	learned_sum = 0;
	for (uint64_t i = 0; i < 200; i++) {
		struct mr_learned learned = {.key = i, .iface = 1 + i % 2};

		assert_int_equal(rte_ring_sp_enqueue_elem(mr->lcores->lcore[i % 2]->learn, &learned,
							  sizeof(learned)),
				 0);
	}
	assert_int_equal(mr_lcores_drain_learned(mr, sum_learned), 200);
	assert_int_equal(learned_sum, 9900 + 2 * 10000);
	assert_int_equal(mr_lcores_drain_learned(mr, sum_learned), 0);
}

static uint64_t three(struct mr *mr)
{
	(void)mr;
	return 3;
}

static void rooms_above_add_what_they_hold(void **state)
{
	struct mr *mr = *state;

	mr_lcores_add_held(mr, three);
	assert_int_equal(mr_lcores_balance(mr).held, 3);
	mr->lcores->held_terms = 0;
}

static void plans_agree_on_rings_and_queues(void **state)
{
	struct mr *mr = *state;
	const struct mr_plan *plan[2];

	ports[1].rxq = 2;
	ports[1].txq = 2;
	adopt_and_place(mr);
	for (unsigned i = 0; i < 2; i++)
		plan[i] = mr->lcores->lcore[i]->plan;
	assert_int_equal(plan[0]->rx_count + plan[1]->rx_count, 4);

	/* Ports 0 and 2 have one tx queue: one lcore owns it and reads the other one's ring. */
	for (uint16_t port = 0; port < 3; port += 2) {
		unsigned owner = mr->lcores->placement.tx_owner[port][0];
		const struct mr_handover *ring = plan[!owner]->tx[port].handover;
		unsigned readers = 0;

		assert_null(plan[owner]->tx[port].handover);
		assert_non_null(ring);
		for (unsigned i = 0; i < plan[owner]->source_count; i++)
			readers += plan[owner]->source[i].ring == ring &&
				   plan[owner]->source[i].port == port;
		assert_int_equal(readers, 1);
	}
	/* Port 1 has one for each. */
	for (unsigned i = 0; i < 2; i++) {
		assert_true(plan[i]->tx[1].usable);
		assert_null(plan[i]->tx[1].handover);
		assert_false(plan[i]->tx[3].usable);
	}
	assert_int_not_equal(plan[0]->tx[1].queue, plan[1]->tx[1].queue);
}

/* Puts frames where an lcore that forwards to the port would. */
static void hand_over(struct mr *mr, unsigned sender, uint16_t port, unsigned count)
{
	struct mr_handover *ring = mr->lcores->lcore[sender]->plan->tx[port].handover;

	assert_non_null(ring);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(mr_handover_put(ring, LCORE_ID_ANY,
						 (struct rte_mbuf *[]){new_frame(mr)}, 1),
				 1);
}

static void packets_in_a_ring_survive_a_change_of_owner(void **state)
{
	struct mr *mr = *state;
	uint8_t owner;

	adopt_and_place(mr);
	owner = mr->lcores->placement.tx_owner[1][0];
	hand_over(mr, !owner, 1, 10);

	/* All that goes to port 1 comes in on ports 0 and 2: its old sender is its owner now. */
	assert_int_equal(mr_lcores_pin(mr, 0, 0, !owner, NULL), 0);
	assert_int_equal(mr_lcores_pin(mr, 2, 0, !owner, NULL), 0);
	assert_int_equal(mr->lcores->placement.tx_owner[1][0], !owner);
	assert_int_equal(sent_on(mr, 1), 10);
	assert_int_equal(mr_lcores_balance(mr).held, 0);
}

static void pins_survive_other_placements_until_released(void **state)
{
	struct mr *mr = *state;
	uint8_t there;

	adopt_and_place(mr);
	there = mr->lcores->placement.rx_lcore[1][0];
	assert_int_equal(mr_lcores_pin(mr, 1, 0, !there, NULL), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(mr_lcores_place_without(mr, (uint16_t)i, NULL), 0);
		assert_int_equal(mr_lcores_place(mr, NULL), 0);
		assert_int_equal(mr->lcores->placement.rx_lcore[1][0], !there);
	}
	assert_int_equal(mr_lcores_pin(mr, 1, 0, MR_NO_LCORE, NULL), 0);
	assert_int_equal(mr->lcores->placement.rx_lcore[1][0], there);
}

static void a_port_that_stops_leaves_nothing_in_its_rings(void **state)
{
	struct mr *mr = *state;
	unsigned owner;

	adopt_and_place(mr);
	owner = mr->lcores->placement.tx_owner[0][0];
	hand_over(mr, !owner, 0, 5);
	assert_int_equal(mr_lcores_place_without(mr, 0, NULL), 0);
	assert_int_equal(sent_on(mr, 0), 5);
	assert_int_equal(mr_lcores_balance(mr).held, 0);
	for (unsigned i = 0; i < 2; i++) {
		const struct mr_plan *plan = mr->lcores->lcore[i]->plan;

		assert_false(plan->tx[0].usable);
		for (unsigned r = 0; r < plan->rx_count; r++)
			assert_int_not_equal(plan->rx[r].port, 0);
		for (unsigned s = 0; s < plan->source_count; s++)
			assert_int_not_equal(plan->source[s].port, 0);
	}
}

static uint64_t received(struct mr *mr)
{
	return mr_lcores_balance(mr).received;
}

static void await_packets(struct mr *mr, uint64_t count)
{
	uint64_t target = received(mr) + count;

	while (received(mr) < target)
		rte_pause();
}

static void threads_lose_nothing_while_ports_come_and_go(void **state)
{
	struct mr *mr = *state;
	struct mr_balance b;

	/* What port 3 receives on two lcores leaves on port 0, which has one queue. */
	ports[3] = (struct mr_port){
		.id = 3, .rxq = 2, .txq = 2, .burst = 32, .pool = pool, .started = true};
	assert_int_equal(mr_lcores_place(mr, NULL), 0);
	assert_int_equal(mr_lcores_start(mr, NULL), 0);
	assert_int_equal(mr_lcores_start(mr, NULL), -EALREADY);
	for (unsigned i = 0; i < 8; i++) {
		await_packets(mr, 1000);
		assert_int_equal(mr_lcores_place_without(mr, i % 2 ? 2 : 1, NULL), 0);
		await_packets(mr, 1000);
		assert_int_equal(mr_lcores_place(mr, NULL), 0);
	}
	mr_lcores_stop(mr);
	b = mr_lcores_balance(mr);
	assert_in_range(b.transmitted, 1, b.received);
	assert_int_equal(b.received, b.transmitted + b.dropped);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(mr->lcores->lcore[i]->counters.drop[0][MR_DROP_no_tx_path], 0);
	/* A stopped lcore holds up no grace period. */
	mr_rcu_synchronize(mr->rcu);
}

#define WITH_APPLIANCE(test) cmocka_unit_test_setup_teardown(test, make_appliance, end_appliance)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(making_and_freeing_leaves_nothing),
		cmocka_unit_test(impossible_lcores_are_refused),
		WITH_APPLIANCE(injected_frames_leave_or_end_under_a_reason),
		WITH_APPLIANCE(what_waits_when_forwarding_stops_is_dropped),
		WITH_APPLIANCE(errors_wait_for_arp_and_share_the_budget),
		WITH_APPLIANCE(learned_stations_arrive),
		WITH_APPLIANCE(rooms_above_add_what_they_hold),
		WITH_APPLIANCE(plans_agree_on_rings_and_queues),
		WITH_APPLIANCE(packets_in_a_ring_survive_a_change_of_owner),
		WITH_APPLIANCE(pins_survive_other_placements_until_released),
		WITH_APPLIANCE(a_port_that_stops_leaves_nothing_in_its_rings),
		WITH_APPLIANCE(threads_lose_nothing_while_ports_come_and_go),
	};
	return cmocka_run_group_tests(tests, start_eal, NULL);
}
