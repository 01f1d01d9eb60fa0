/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wake protocol between two threads. The sender publishes at a random moment around the
 * sleeper's announcement, so that its store and its load meet the sleeper's in every order. A lost
 * wakeup is a sleep that time ended although the sender had done all it does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <rte_memory.h>
#include <rte_pause.h>
#include <sched.h>

#include "lcore/sleep.h"
#include "test_eal.h"

#define ROUNDS 100000
#define LONG_US 500000

struct meeting {
	struct mr_sleep *sleep;
	uint64_t published __rte_cache_aligned; /* written by the sender: rounds begun */
	uint64_t told;                          /* and rounds ended */
	uint64_t taken __rte_cache_aligned;     /* written by the sleeper */
	uint64_t blocked, lost;
};

static uint64_t load(const uint64_t *value)
{
	return __atomic_load_n(value, __ATOMIC_ACQUIRE);
}

/* Up to 1023 looks at the flag, so that it is in this CPU's cache when it matters. */
static void dawdle(const struct mr_sleep *sleep, uint32_t *random)
{
	*random = *random * 1664525 + 1013904223;
	for (uint32_t looks = *random >> 22; looks != 0; looks--)
		(void)__atomic_load_n(&sleep->asleep, __ATOMIC_RELAXED);
}

static void *sleeper(void *arg)
{
	struct meeting *m = arg;
	uint32_t random = 2;

	for (uint64_t round = 1; round <= ROUNDS; round++) {
		dawdle(m->sleep, &random);
		while (load(&m->published) != round) {
			mr_sleep_announce(m->sleep, true);
			if (load(&m->published) == round) {
				mr_sleep_cancel(m->sleep);
				break;
			}
			m->blocked++;
			if (!mr_sleep_block(m->sleep, LONG_US) && load(&m->told) == round)
				m->lost++;
		}
		__atomic_store_n(&m->taken, round, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void send_rounds(struct meeting *m)
{
	uint32_t random = 1;

	for (uint64_t round = 1; round <= ROUNDS; round++) {
		dawdle(m->sleep, &random);
		__atomic_store_n(&m->published, round, __ATOMIC_RELEASE);
		mr_wake(m->sleep);
		__atomic_store_n(&m->told, round, __ATOMIC_RELEASE);
		for (unsigned tries = 0; load(&m->taken) != round; tries++)
			if (tries % 1024 == 1023)
				sched_yield(); /* where both share a CPU */
	}
}

static void no_wakeup_is_lost(void **state)
{
	static struct meeting m;
	pthread_t thread;
	(void)state;

	m.sleep = mr_sleep_create(SOCKET_ID_ANY);
	assert_non_null(m.sleep);
	assert_int_equal(pthread_create(&thread, NULL, sleeper, &m), 0);
	send_rounds(&m);
	pthread_join(thread, NULL);
	assert_int_equal(m.lost, 0);
	assert_true(m.blocked > 0);
	mr_sleep_destroy(m.sleep);
}

static void time_ends_a_sleep(void **state)
{
	struct mr_sleep *sleep = mr_sleep_create(SOCKET_ID_ANY);
	(void)state;

	assert_non_null(sleep);
	mr_sleep_announce(sleep, false);
	assert_false(mr_sleep_block(sleep, 100));
	assert_false(sleep->asleep);
	mr_sleep_destroy(sleep);
}

/* Several wakers make one wakeup, which ends one sleep, and none is made for one who is awake. */
static void a_wakeup_ends_one_sleep(void **state)
{
	struct mr_sleep *sleep = mr_sleep_create(SOCKET_ID_ANY);
	(void)state;

	assert_non_null(sleep);
	mr_wake(sleep);
	mr_sleep_announce(sleep, false);
	mr_wake(sleep);
	mr_wake(sleep);
	assert_true(mr_sleep_block(sleep, LONG_US));
	mr_sleep_announce(sleep, false);
	assert_false(mr_sleep_block(sleep, 100));
	mr_sleep_destroy(sleep);
}

static int start_eal(void **state)
{
	(void)state;
	test_eal_start("0@(0-1)"); /* the threads need two CPUs to race */
	assert_int_equal(mr_sleep_prepare(), 0);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_ends_a_sleep),
		cmocka_unit_test(a_wakeup_ends_one_sleep),
		cmocka_unit_test(no_wakeup_is_lost),
	};

	return cmocka_run_group_tests(tests, start_eal, NULL);
}
