/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rte_memory.h>

#include "lcore/placement.h"
#include "lcore/rebalance.h"

static const int any_socket[MR_MAX_LCORES]; /* all on node 0 */

static unsigned rx_load(const struct mr_placement *p, unsigned lcore)
{
	unsigned load = 0;

	for (unsigned port = 0; port < RTE_MAX_ETHPORTS; port++)
		for (unsigned q = 0; q < MR_MAX_QUEUES; q++)
			load += p->rx_lcore[port][q] == lcore;
	return load;
}

static void check_rx(const struct mr_placement *p, const struct mr_placement_port *ports,
		     unsigned port_count, unsigned lcores)
{
	unsigned queues = 0, sum = 0, least = UINT16_MAX, most = 0;

	for (unsigned i = 0; i < port_count; i++)
		for (unsigned q = 0; q < MR_MAX_QUEUES; q++) {
			unsigned poller = p->rx_lcore[ports[i].port][q];

			if (q < ports[i].rxq)
				assert_in_range(poller, 0, lcores - 1);
			else
				assert_int_equal(poller, MR_NO_LCORE);
			queues += q < ports[i].rxq;
		}
	for (unsigned lcore = 0; lcore < lcores; lcore++) {
		unsigned load = rx_load(p, lcore);

		sum += load;
		least = load < least ? load : least;
		most = load > most ? load : most;
	}
	assert_int_equal(sum, queues);
	assert_in_range(most - least, 0, 1);
}

static void check_tx(const struct mr_placement *p, const struct mr_placement_port *port,
		     unsigned lcores)
{
	unsigned users[MR_MAX_QUEUES] = {0};
	unsigned used = port->txq < lcores ? port->txq : lcores;

	for (unsigned lcore = 0; lcore < lcores; lcore++) {
		unsigned queue = p->tx_queue[lcore][port->port];

		assert_in_range(queue, 0, used - 1);
		users[queue]++;
	}
	for (unsigned q = 0; q < MR_MAX_QUEUES; q++) {
		unsigned owner = p->tx_owner[port->port][q];

		if (q >= used) {
			assert_int_equal(owner, MR_NO_LCORE);
			continue;
		}
		/* An owner sends on its own queue, so it owns no other one of the port. */
		assert_in_range(owner, 0, lcores - 1);
		assert_int_equal(p->tx_queue[owner][port->port], q);
		assert_in_range(users[q], lcores / used, (lcores + used - 1) / used);
	}
	assert_int_equal(p->tx_owner[port->port][p->tx_queue[p->home[port->port]][port->port]],
			 p->home[port->port]);
}

static void every_queue_has_one_lcore_and_loads_are_even(void **state)
{
	(void)state;
	for (unsigned lcores = 1; lcores <= 8; lcores++)
		for (unsigned port_count = 1; port_count <= 4; port_count++)
			for (uint16_t rxq = 1; rxq <= 8; rxq++)
				for (uint16_t txq = 1; txq <= 8; txq++) {
					struct mr_placement_port ports[4];
					struct mr_placement p, again;

					for (uint16_t i = 0; i < port_count; i++)
						ports[i] = (struct mr_placement_port){
							.port = (uint16_t)(3 * i),
							.rxq = rxq,
							.txq = txq};
					mr_placement_compute(&p, ports, port_count, any_socket,
							     lcores);
					check_rx(&p, ports, port_count, lcores);
					for (unsigned i = 0; i < port_count; i++)
						check_tx(&p, &ports[i], lcores);
					mr_placement_compute(&again, ports, port_count, any_socket,
							     lcores);
					assert_memory_equal(&p, &again, sizeof(p));
				}
}

static void ports_that_differ_in_queues_are_even_too(void **state)
{
	(void)state;
	const struct mr_placement_port ports[] = {{.port = 0, .rxq = 1, .txq = 1},
						  {.port = 1, .rxq = 5, .txq = 3},
						  {.port = 2, .rxq = 2, .txq = 16},
						  {.port = 31, .rxq = 3, .txq = 2}};
	struct mr_placement p;

	for (unsigned lcores = 1; lcores <= MR_MAX_LCORES; lcores++) {
		mr_placement_compute(&p, ports, 4, any_socket, lcores);
		check_rx(&p, ports, 4, lcores);
		for (unsigned i = 0; i < 4; i++)
			check_tx(&p, &ports[i], lcores);
	}
}

static void queues_go_to_their_own_node_first(void **state)
{
	(void)state;
	/* Two lcores on each of two nodes, a port of four queues on each: a far queue is never
	 * needed. With lcores filled in their order port 1 would fill node 0. */
	const int sockets[] = {0, 1, 0, 1};
	const struct mr_placement_port ports[] = {{.port = 0, .socket = 1, .rxq = 4, .txq = 1},
						  {.port = 1, .socket = 0, .rxq = 4, .txq = 1}};
	struct mr_placement p;

	mr_placement_compute(&p, ports, 2, sockets, 4);
	check_rx(&p, ports, 2, 4);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned q = 0; q < 4; q++)
			assert_int_equal(sockets[p.rx_lcore[i][q]], ports[i].socket);
}

static void an_idle_far_lcore_takes_a_second_queue(void **state)
{
	(void)state;
	const int sockets[] = {0, 1};
	const struct mr_placement_port port = {.port = 0, .socket = 0, .rxq = 2, .txq = 2};
	struct mr_placement p;

	mr_placement_compute(&p, &port, 1, sockets, 2);
	assert_int_equal(p.rx_lcore[0][0], 0);
	assert_int_equal(p.rx_lcore[0][1], 1);
}

static void a_lone_tx_queue_belongs_to_the_only_lcore_that_sends_on_it(void **state)
{
	(void)state;
	struct mr_placement_port ports[] = {{.port = 0, .rxq = 1, .txq = 1},
					    {.port = 1, .rxq = 1, .txq = 1},
					    {.port = 2, .rxq = 1, .txq = 1},
					    {.port = 3, .rxq = 1, .txq = 1}};
	struct mr_placement p;

	mr_placement_compute(&p, ports, 2, any_socket, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(p.tx_owner[i][0], p.rx_lcore[!i][0]);
		assert_int_equal(p.home[i], p.tx_owner[i][0]);
	}
	/* Four ports in two pairs, whose packets stay in the pair. */
	for (unsigned i = 0; i < 4; i++)
		ports[i].feeds = 1u << (i ^ 1);
	mr_placement_compute(&p, ports, 4, any_socket, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(p.tx_owner[i][0], p.rx_lcore[i ^ 1][0]);
}

static void the_worker_that_does_not_poll_owns_the_way_out(void **state)
{
	(void)state;
	const struct mr_placement_port ports[] = {
		{.port = 0, .rxq = 1, .txq = 1, .workers = 0x3, .feeds = 0x2},
		{.port = 1, .rxq = 1, .txq = 1, .feeds = 0x1}};
	struct mr_placement p;

	mr_placement_compute(&p, ports, 2, any_socket, 2);
	assert_int_equal(p.tx_owner[1][0], !p.rx_lcore[0][0]);
}

static void pinned_queues_stay_and_the_others_make_even(void **state)
{
	(void)state;
	uint8_t pinned[4][MR_MAX_QUEUES];
	struct mr_placement_port ports[4];
	struct mr_placement p;
	unsigned random = 1;

	for (unsigned round = 0; round < 500; round++) {
		unsigned lcores = 1 + round % 5, free_queues = 0, pins[MR_MAX_LCORES] = {0};

		for (unsigned i = 0; i < 4; i++) {
			ports[i] = (struct mr_placement_port){
				.port = (uint16_t)i, .rxq = 4, .txq = 1, .pinned = pinned[i]};
			for (unsigned q = 0; q < 4; q++) {
				random = random * 1103515245 + 12345;
				pinned[i][q] =
					random >> 16 & 1 ? MR_NO_LCORE : (random >> 20) % lcores;
				if (pinned[i][q] == MR_NO_LCORE)
					free_queues++;
				else
					pins[pinned[i][q]]++;
			}
		}
		mr_placement_compute(&p, ports, 4, any_socket, lcores);
		unsigned highest = 0, lowest = UINT16_MAX, sum = 0;
		for (unsigned lcore = 0; lcore < lcores; lcore++) {
			unsigned load = rx_load(&p, lcore);

			sum += load;
			assert_true(load >= pins[lcore]);
			lowest = load < lowest ? load : lowest;
			if (load > pins[lcore]) /* took a free one, so it was not full before */
				highest = load > highest ? load : highest;
		}
		assert_int_equal(sum, 16);
		assert_true(free_queues == 0 || highest <= lowest + 1);
		for (unsigned i = 0; i < 4; i++)
			for (unsigned q = 0; q < 4; q++)
				if (pinned[i][q] != MR_NO_LCORE)
					assert_int_equal(p.rx_lcore[i][q], pinned[i][q]);
	}
}

static void a_rebalancing_step_lowers_the_maximum_or_does_nothing(void **state)
{
	(void)state;
	const struct mr_queue_load queues[] = {{.port = 0, .lcore = 1, .percent = 50},
					       {.port = 1, .lcore = 1, .percent = 30},
					       {.port = 2, .lcore = 1, .percent = 15},
					       {.port = 3, .lcore = 0, .percent = 40},
					       {.port = 4, .lcore = 2, .percent = 20}};
	unsigned to;

	/* 95, 40, 20: the middle one goes to the idlest, 65 and 50; the largest would make 70. */
	assert_int_equal(mr_rebalance_step(queues, 5, (const double[]){40, 95, 20}, 3, &to), 1);
	assert_int_equal(to, 2);
	/* One queue a lcore: no move helps. */
	assert_int_equal(mr_rebalance_step(queues + 2, 3, (const double[]){40, 15, 20}, 3, &to),
			 -1);
	/* Nothing is gained by moving what an lcore does alone, or by a hair. */
	assert_int_equal(mr_rebalance_step(queues, 1, (const double[]){0, 50}, 2, &to), -1);
	assert_int_equal(mr_rebalance_step(queues + 2, 1, (const double[]){49.5, 50}, 2, &to), -1);
	assert_int_equal(mr_rebalance_step(NULL, 0, (const double[]){90}, 1, &to), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_queue_has_one_lcore_and_loads_are_even),
		cmocka_unit_test(ports_that_differ_in_queues_are_even_too),
		cmocka_unit_test(queues_go_to_their_own_node_first),
		cmocka_unit_test(an_idle_far_lcore_takes_a_second_queue),
		cmocka_unit_test(a_lone_tx_queue_belongs_to_the_only_lcore_that_sends_on_it),
		cmocka_unit_test(the_worker_that_does_not_poll_owns_the_way_out),
		cmocka_unit_test(pinned_queues_stay_and_the_others_make_even),
		cmocka_unit_test(a_rebalancing_step_lowers_the_maximum_or_does_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
