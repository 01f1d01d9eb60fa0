/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lookups beside changes. In the first test one writer changes a table at random while readers look
 * up a fixed set of addresses. The writer first notes, for each change, what every address should
 * find after it. A reader takes the number of the last finished change before its lookup and of the
 * last begun change after it: what it found must be what one of the states between them says.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rte_common.h>
#include <rte_malloc.h>

#include "base/rcu.h"
#include "route/ipv4_table.h"
#include "route/ipv4_table_fwd.h"
#include "test_eal.h"

#define READERS 2
#define CHANGES 6000
#define ADDRESSES 32
#define PREFIXES 120
#define HISTORY 4096 /* states that can still be compared with */

struct candidate {
	uint32_t prefix;
	unsigned length;
	uint32_t next_hop; /* 0: not in the table */
};

struct trial {
	struct mr_rcu *rcu;
	struct mr_ipv4_table *table;
	uint32_t addresses[ADDRESSES];
	struct candidate candidates[PREFIXES];      /* the writer's */
	uint32_t expected[HISTORY][ADDRESSES];      /* written by the writer, atomically */
	uint64_t begun, finished;                   /* written by the writer, atomically */
	bool stop;                                  /* written by the writer, atomically */
	unsigned running;                           /* readers that look up, atomically */
	uint64_t compared[READERS], wrong[READERS]; /* each reader's, read after its end */
};

struct reader {
	struct trial *trial;
	unsigned id;
};

static uint32_t random_number(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return *state >> 33;
}

static uint32_t host_mask(unsigned length)
{
	return length == 32 ? 0 : UINT32_MAX >> length;
}

static bool was_right(struct trial *t, uint64_t from, uint64_t to, unsigned address, uint32_t found)
{
	for (uint64_t i = from; i <= to; i++)
		if (__atomic_load_n(&t->expected[i % HISTORY][address], __ATOMIC_RELAXED) == found)
			return true;
	return false;
}

static void *read_until_stopped(void *arg)
{
	struct reader *reader = arg;
	struct trial *t = reader->trial;
	uint32_t found[ADDRESSES];

	rte_rcu_qsbr_thread_register(t->rcu->qsbr, reader->id);
	rte_rcu_qsbr_thread_online(t->rcu->qsbr, reader->id);
	__atomic_fetch_add(&t->running, 1, __ATOMIC_RELAXED);
	while (!__atomic_load_n(&t->stop, __ATOMIC_RELAXED)) {
		uint64_t from = __atomic_load_n(&t->finished, __ATOMIC_ACQUIRE), to;

		mr_ipv4_table_lookup_bulk(t->table, t->addresses, ADDRESSES, found);
		to = __atomic_load_n(&t->begun, __ATOMIC_ACQUIRE);
		/* A reader that slept too long cannot know; half the history is left for the
		 * writer to go on while we compare. */
		if (to - from < HISTORY / 2) {
			for (unsigned i = 0; i < ADDRESSES; i++)
				reader->trial->wrong[reader->id] +=
					!was_right(t, from, to, i, found[i]);
			t->compared[reader->id]++;
		}
		rte_rcu_qsbr_quiescent(t->rcu->qsbr, reader->id);
	}
	rte_rcu_qsbr_thread_offline(t->rcu->qsbr, reader->id);
	rte_rcu_qsbr_thread_unregister(t->rcu->qsbr, reader->id);
	return NULL;
}

static bool covers(const struct candidate *c, uint32_t address)
{
	return (address & ~host_mask(c->length)) == c->prefix;
}

static uint32_t model_lookup(const struct trial *t, uint32_t address)
{
	const struct candidate *best = NULL;

	for (unsigned i = 0; i < PREFIXES; i++) {
		const struct candidate *c = &t->candidates[i];

		if (c->next_hop != 0 && covers(c, address) &&
		    (best == NULL || c->length > best->length))
			best = c;
	}
	return best != NULL ? best->next_hop : 0;
}

/* What all addresses find after a change of one candidate. */
static void note_expected(struct trial *t, uint64_t change, const struct candidate *changed)
{
	for (unsigned i = 0; i < ADDRESSES; i++) {
		uint32_t next_hop = t->expected[(change - 1) % HISTORY][i];

		if (covers(changed, t->addresses[i]))
			next_hop = model_lookup(t, t->addresses[i]);
		__atomic_store_n(&t->expected[change % HISTORY][i], next_hop, __ATOMIC_RELAXED);
	}
}

/* Candidate 0 is the default route, 1 a very short prefix, whose change takes long; the others nest
 * around few anchors. */
static void choose_candidates_and_addresses(struct trial *t, uint64_t *random)
{
	static const uint32_t anchors[] = {0x0a010203, 0x0a010fff, 0xc0a80000};

	for (unsigned i = 1; i < PREFIXES; i++) {
		struct candidate *c = &t->candidates[i];
		bool known;

		do {
			c->length = i == 1 ? 4 : 12 + random_number(random) % 21;
			c->prefix = anchors[random_number(random) % RTE_DIM(anchors)];
			c->prefix ^= random_number(random) % 2 << random_number(random) % 12;
			c->prefix &= ~host_mask(c->length);
			known = false;
			for (unsigned k = 0; k < i; k++)
				known |= t->candidates[k].length == c->length &&
					 t->candidates[k].prefix == c->prefix;
		} while (known);
	}
	for (unsigned i = 0; i < ADDRESSES; i++)
		t->addresses[i] = anchors[i % RTE_DIM(anchors)] ^
				  random_number(random) % 2 << random_number(random) % 12;
}

static void every_lookup_finds_what_was_right_meanwhile(void **state)
{
	(void)state;
	static struct trial t;
	struct reader readers[READERS];
	pthread_t threads[READERS];
	uint64_t random = 7;
	uint32_t next_hop = 0;

	t.rcu = mr_rcu_create(READERS);
	assert_non_null(t.rcu);
	t.table = mr_ipv4_table_create(t.rcu, SOCKET_ID_ANY, PREFIXES);
	assert_non_null(t.table);
	choose_candidates_and_addresses(&t, &random);
	for (unsigned i = 0; i < READERS; i++) {
		readers[i] = (struct reader){&t, i};
		assert_int_equal(pthread_create(&threads[i], NULL, read_until_stopped, &readers[i]),
				 0);
	}
	while (__atomic_load_n(&t.running, __ATOMIC_RELAXED) < READERS)
		sched_yield();

	for (uint64_t change = 1; change <= CHANGES; change++) {
		unsigned which =
			random_number(&random) % 3 == 0 ? 0 : random_number(&random) % PREFIXES;
		struct candidate *c = &t.candidates[which];
		bool was_there = c->next_hop != 0;

		/* Every change has a next hop of its own, so that none is right by accident. */
		c->next_hop = was_there && random_number(&random) % 3 != 0 ? 0 : ++next_hop;
		note_expected(&t, change, c);
		__atomic_store_n(&t.begun, change, __ATOMIC_RELEASE);
		if (c->next_hop == 0)
			assert_int_equal(mr_ipv4_table_del(t.table, c->prefix, c->length), 0);
		else if (was_there)
			assert_int_equal(
				mr_ipv4_table_replace(t.table, c->prefix, c->length, c->next_hop),
				0);
		else
			assert_int_equal(
				mr_ipv4_table_add(t.table, c->prefix, c->length, c->next_hop), 0);
		__atomic_store_n(&t.finished, change, __ATOMIC_RELEASE);
		mr_rcu_poll(t.rcu);
	}
	__atomic_store_n(&t.stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < READERS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(t.wrong[i], 0);
		assert_true(t.compared[i] > 0);
	}
	assert_true(t.rcu->freed > 0); /* nodes were reused under the readers */
	mr_ipv4_table_destroy(t.table);
	mr_rcu_destroy(t.rcu);
}

/*
 * The default route stands in another word than all others, so two changes during one lookup could
 * let it see a state that never was. The writer goes round, as fast as it can, between
 *   {1,A} {A} {3,A} {3} {3,A} {A}   (1 and 3: default routes, A: a route with next hop 2)
 * in which A's address has never no route and never next hop 1.
 */
#define ROUNDS 200000

struct default_trial {
	struct mr_rcu *rcu;
	struct mr_ipv4_table *table;
	bool stop;      /* written by the writer, atomically */
	bool running;   /* written by the reader, atomically */
	uint64_t wrong; /* the reader's, read after its end */
};

static void *read_default_until_stopped(void *arg)
{
	struct default_trial *t = arg;
	uint32_t addresses[MR_IPV4_TABLE_MAX_BULK], found[MR_IPV4_TABLE_MAX_BULK];

	/* Those after the first lie deep, so that it waits for them before the default route. */
	addresses[0] = 0x0a000001;
	for (unsigned i = 1; i < RTE_DIM(addresses); i++)
		addresses[i] = 0x0a090001;
	rte_rcu_qsbr_thread_register(t->rcu->qsbr, 0);
	rte_rcu_qsbr_thread_online(t->rcu->qsbr, 0);
	__atomic_store_n(&t->running, true, __ATOMIC_RELAXED);
	while (!__atomic_load_n(&t->stop, __ATOMIC_RELAXED)) {
		mr_ipv4_table_lookup_bulk(t->table, addresses, RTE_DIM(addresses), found);
		t->wrong += found[0] != 2 && found[0] != 3;
		rte_rcu_qsbr_quiescent(t->rcu->qsbr, 0);
	}
	rte_rcu_qsbr_thread_unregister(t->rcu->qsbr, 0);
	return NULL;
}

static void default_route_and_others_are_seen_together(void **state)
{
	(void)state;
	static struct default_trial t;
	struct mr_ipv4_table *table;
	pthread_t thread;
	bool ok = true;

	t.rcu = mr_rcu_create(1);
	assert_non_null(t.rcu);
	t.table = table = mr_ipv4_table_create(t.rcu, SOCKET_ID_ANY, 3);
	assert_non_null(table);
	ok &= mr_ipv4_table_add(table, 0x0a000000, 24, 2) == 0;
	ok &= mr_ipv4_table_add(table, 0, 0, 1) == 0;
	ok &= mr_ipv4_table_add(table, 0x0a090001, 32, 4) == 0;
	assert_int_equal(pthread_create(&thread, NULL, read_default_until_stopped, &t), 0);
	while (!__atomic_load_n(&t.running, __ATOMIC_RELAXED))
		sched_yield();
	for (unsigned i = 0; i < ROUNDS; i++) {
		ok &= mr_ipv4_table_del(table, 0, 0) == 0;
		ok &= mr_ipv4_table_add(table, 0, 0, 3) == 0;
		ok &= mr_ipv4_table_del(table, 0x0a000000, 24) == 0;
		ok &= mr_ipv4_table_add(table, 0x0a000000, 24, 2) == 0;
		ok &= mr_ipv4_table_del(table, 0, 0) == 0;
		ok &= mr_ipv4_table_add(table, 0, 0, 1) == 0;
	}
	__atomic_store_n(&t.stop, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(ok);
	assert_int_equal(t.wrong, 0);
	mr_ipv4_table_destroy(table);
	mr_rcu_destroy(t.rcu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_lookup_finds_what_was_right_meanwhile),
		cmocka_unit_test(default_route_and_others_are_seen_together),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
