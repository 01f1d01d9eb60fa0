/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who writes which cache line. A line that one thread writes while others use it costs each of
 * them a miss, whatever they use of it; so on the packet path the only such lines are those that
 * pass work on: the rings, the pool, the flag of who sleeps, and stations.
 *
 * Each struct is listed here whole, with who writes its fields. No line may have fields of two
 * kinds. A field that is not listed fails the test, unless it fits where alignment left room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <rte_rcu_qsbr.h>
#include <rte_ring.h>

#include "base/rcu.h"
#include "bridge/bridge.h"
#include "bridge/mac_table_fwd.h"
#include "lcore/handover_fwd.h"
#include "lcore/lcores.h"
#include "lcore/sleep.h"
#include "port/iface.h"
#include "route/adjacency.h"
#include "route/ipv4_table_fwd.h"
#include "route/route_fwd.h"
#include "test_eal.h"

enum writer {
	CONTROL, /* now and then, when something changes; lcores read */
	CLOCK,   /* the control thread, all the time; others read */
	PRIVATE, /* the control thread, which is the only one to read, too */
	LCORE,   /* the lcore, all the time; others read at most for a report */
	ANY,     /* several threads: what passes something on */
	PRODUCER,
	CONSUMER,
};

struct field {
	const char *name;
	size_t at, size;
	enum writer writer;
};

#define FIELD(type, member, who)                                                                   \
	{                                                                                          \
		.name = #type "." #member, .at = offsetof(struct type, member),                    \
		.size = sizeof(((struct type *)0)->member), .writer = (who)                        \
	}

#define LINE RTE_CACHE_LINE_SIZE

/* Fields are in the order of the struct. */
static void check_struct(const struct field *fields, unsigned count, size_t size)
{
	const struct field *before = NULL;

	for (unsigned i = 0; i < count; before = &fields[i++]) {
		size_t end = before != NULL ? before->at + before->size : 0;
		const struct field *f = &fields[i];

		if (f->at < end)
			fail_msg("%s is listed in the wrong place", f->name);
		/* What alignment leaves is less than a line, and less than 8 bytes in a line. */
		if (f->at - end >= (f->at % LINE == 0 ? LINE : 8))
			fail_msg("there is something before %s that is not listed", f->name);
		if (before != NULL && f->writer != before->writer &&
		    (end - 1) / LINE == f->at / LINE)
			fail_msg("%s and %s share a cache line and not their writer", before->name,
				 f->name);
	}
	size_t end = before->at + before->size;
	if (size - end >= LINE)
		fail_msg("there is something behind %s that is not listed", before->name);
	/* What is allocated or declared next to it begins with a line of its own. */
	assert_int_equal(size % LINE, 0);
}

#define CHECK(type, ...)                                                                           \
	do {                                                                                       \
		static const struct field fields[] = {__VA_ARGS__};                                \
		check_struct(fields, RTE_DIM(fields), sizeof(struct type));                        \
	} while (0)

static void lcores(void **state)
{
	(void)state;
	CHECK(mr_lcore, FIELD(mr_lcore, plan, CONTROL), FIELD(mr_lcore, forwarding, CONTROL),
	      FIELD(mr_lcore, qsbr, CONTROL), FIELD(mr_lcore, sleep, CONTROL),
	      FIELD(mr_lcore, punt, CONTROL), FIELD(mr_lcore, punt_error, CONTROL),
	      FIELD(mr_lcore, inject, CONTROL), FIELD(mr_lcore, learn, CONTROL),
	      FIELD(mr_lcore, id, CONTROL), FIELD(mr_lcore, index, CONTROL),
	      FIELD(mr_lcore, socket, CONTROL), FIELD(mr_lcore, stop, CONTROL),
	      FIELD(mr_lcore, now, LCORE), FIELD(mr_lcore, current_plan, LCORE),
	      FIELD(mr_lcore, hooks, LCORE), FIELD(mr_lcore, was_busy, LCORE),
	      FIELD(mr_lcore, tx_pending, LCORE), FIELD(mr_lcore, vector, LCORE),
	      FIELD(mr_lcore, tx, LCORE), FIELD(mr_lcore, counters, LCORE));
	/* The control thread has counters of its own. */
	assert_int_equal(sizeof(struct mr_counters) % LINE, 0);
	CHECK(mr_sleep, FIELD(mr_sleep, asleep, ANY), FIELD(mr_sleep, mode, CONTROL),
	      FIELD(mr_sleep, event, CONTROL), FIELD(mr_sleep, epoll, CONTROL),
	      FIELD(mr_sleep, watched, CONTROL), FIELD(mr_sleep, watch, CONTROL));
}

static void what_lcores_are_told(void **state)
{
	(void)state;
	CHECK(mr_forwarding, FIELD(mr_forwarding, ifaces, CONTROL),
	      FIELD(mr_forwarding, stage, CONTROL), FIELD(mr_forwarding, bridge, CONTROL),
	      FIELD(mr_forwarding, route, CONTROL), FIELD(mr_forwarding, hooks, CONTROL),
	      FIELD(mr_forwarding, seconds, CLOCK), FIELD(mr_forwarding, rx_interrupt_lock, ANY));
	assert_int_equal(offsetof(struct mr_lcores, forwarding) % LINE, 0);
	CHECK(mr_plan, FIELD(mr_plan, rx_count, CONTROL), FIELD(mr_plan, source_count, CONTROL),
	      FIELD(mr_plan, spread_count, CONTROL), FIELD(mr_plan, rx_interrupts, CONTROL),
	      FIELD(mr_plan, tx, CONTROL), FIELD(mr_plan, rx, CONTROL),
	      FIELD(mr_plan, source, CONTROL), FIELD(mr_plan, spread, CONTROL),
	      FIELD(mr_plan, spread_source, CONTROL));
	assert_int_equal(sizeof(struct mr_iface) % LINE, 0);
}

static void tables(void **state)
{
	(void)state;
	CHECK(mr_bridges, FIELD(mr_bridges, fwd, CONTROL), FIELD(mr_bridges, bridge, PRIVATE),
	      FIELD(mr_bridges, now, PRIVATE), FIELD(mr_bridges, aged_ms, PRIVATE),
	      FIELD(mr_bridges, table_full, PRIVATE));
	/* An lcore that refreshes a station touches the line of that station's bucket only. What
	 * the control thread counts of a table follows the one line that lcores read. */
	assert_int_equal(sizeof(struct mac_bucket), LINE);
	assert_int_equal(_Alignof(struct mac_bucket), LINE);
	assert_int_equal(sizeof(struct mac_table), LINE);
	assert_int_equal(sizeof(struct mr_ipv4_table), LINE);
	assert_int_equal(sizeof(struct mr_adjacency) % LINE, 0);
}

static void rings_and_grace_periods(void **state)
{
	(void)state;
	CHECK(rte_ring, FIELD(rte_ring, name, CONTROL), FIELD(rte_ring, flags, CONTROL),
	      FIELD(rte_ring, memzone, CONTROL), FIELD(rte_ring, size, CONTROL),
	      FIELD(rte_ring, mask, CONTROL), FIELD(rte_ring, capacity, CONTROL),
	      FIELD(rte_ring, pad0, CONTROL), FIELD(rte_ring, prod, PRODUCER),
	      FIELD(rte_ring, pad1, CONTROL), FIELD(rte_ring, cons, CONSUMER),
	      FIELD(rte_ring, pad2, CONTROL));
	CHECK(mr_handover, FIELD(mr_handover, size, CONTROL), FIELD(mr_handover, mask, CONTROL),
	      FIELD(mr_handover, slot, CONTROL), FIELD(mr_handover, rest, CONTROL),
	      FIELD(mr_handover, apart_0, CONTROL), FIELD(mr_handover, put, PRODUCER),
	      FIELD(mr_handover, known_taken, PRODUCER), FIELD(mr_handover, apart_1, CONTROL),
	      FIELD(mr_handover, taken, CONSUMER), FIELD(mr_handover, apart_2, CONTROL));
	assert_int_equal(sizeof(struct mr_handover_slot), LINE);
	assert_int_equal(sizeof(struct mr_handover_rest), LINE);
	/* The control thread's tokens, and a line for each lcore's quiescent states. */
	CHECK(rte_rcu_qsbr, FIELD(rte_rcu_qsbr, token, CLOCK),
	      FIELD(rte_rcu_qsbr, acked_token, CLOCK), FIELD(rte_rcu_qsbr, num_elems, CONTROL),
	      FIELD(rte_rcu_qsbr, num_threads, CONTROL), FIELD(rte_rcu_qsbr, max_threads, CONTROL));
	assert_int_equal(offsetof(struct rte_rcu_qsbr, qsbr_cnt) % LINE, 0);
	assert_int_equal(sizeof(struct rte_rcu_qsbr_cnt), LINE);
}

static void assert_on_a_line(const void *object)
{
	assert_non_null(object);
	assert_int_equal((uintptr_t)object % LINE, 0);
}

/* Where objects really are. */
static void allocations(void **state)
{
	static const unsigned ids[] = {1, 2};
	struct mr mr = {.rcu = mr_rcu_create(2), .ifaces = mr_ifaces_create()};
	struct mr_iface iface = {.index = 0};
	(void)state;

	assert_int_equal(mr_lcores_create(&mr, ids, 2, NULL), 0);
	assert_int_equal(mr_lcores_place(&mr, NULL), 0);
	assert_int_equal(mr_iface_publish(&mr, &iface), 0);
	assert_int_equal(mr_bridges_create(&mr, 16, NULL), 0);
	assert_on_a_line(mr.lcores);
	assert_on_a_line(mr.lcores->control);
	assert_on_a_line(mr.rcu->qsbr);
	assert_on_a_line(mr.ifaces);
	assert_on_a_line(mr_iface(&mr, 0));
	assert_on_a_line(mr.bridges);
	assert_on_a_line(mr.bridges->fwd.stations);
	assert_on_a_line(mr.bridges->fwd.stations->buckets);
	for (unsigned i = 0; i < 2; i++) {
		assert_on_a_line(mr.lcores->lcore[i]);
		assert_on_a_line(mr.lcores->lcore[i]->sleep);
		assert_on_a_line(mr.lcores->lcore[i]->plan);
		assert_on_a_line(mr.lcores->lcore[i]->learn);
		assert_on_a_line(mr.lcores->lcore[i]->punt);
	}
	mr_bridges_destroy(&mr);
	mr_lcores_destroy(&mr);
	mr_rcu_synchronize(mr.rcu);
	mr_ifaces_destroy(mr.ifaces);
	mr_rcu_destroy(mr.rcu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lcores),      cmocka_unit_test(what_lcores_are_told),
		cmocka_unit_test(tables),      cmocka_unit_test(rings_and_grace_periods),
		cmocka_unit_test(allocations),
	};
	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
