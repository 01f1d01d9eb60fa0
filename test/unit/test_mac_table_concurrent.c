/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One writer adds, deletes, flushes and ages stations while readers do what forwarding lcores do:
 * look up in bulk and refresh what they find. Stations are few and their table small, so that slots
 * and extra buckets are reused all the time. Each address has ports of its own, which the writer
 * and the readers alone give it: a word with another port is half made, or was written through
 * a record that was reused too early. Static stations have their address's static port.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bridge/mac_table.h"
#include "test_eal.h"

enum { READERS = 2, STATIONS = 96, CAPACITY = 32, CHANGES = 20000, KEPT = 4, BULK = 32 };

/* Ports of station i are 8i..8i+7: 8i is its static one. */
enum { PORTS_EACH = 8 };

struct trial {
	struct mr_rcu *rcu;
	struct mac_table *table;
	uint64_t keys[STATIONS];
	bool stop;        /* written by the writer, atomically */
	unsigned running; /* readers that look up, atomically */
};

struct reader {
	struct trial *trial;
	unsigned id;
	uint64_t found, wrong, missing; /* the reader's own, read after its end */
};

static uint32_t random_number(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(*state >> 33);
}

static uint16_t dynamic_port(unsigned i, uint64_t *random)
{
	return (uint16_t)(i * PORTS_EACH + 1 + random_number(random) % (PORTS_EACH - 1));
}

static bool is_word_of(unsigned i, uint64_t word)
{
	uint16_t port = station_port(word);

	if (station_is_static(word))
		return port == i * PORTS_EACH;
	return port / PORTS_EACH == i && port % PORTS_EACH != 0;
}

static void look_up_and_refresh(struct reader *reader, uint64_t *random, uint32_t now)
{
	const struct trial *t = reader->trial;
	unsigned which[BULK];
	uint64_t keys[BULK];
	struct station *stations[BULK];

	for (unsigned i = 0; i < BULK; i++) {
		which[i] = random_number(random) % STATIONS;
		keys[i] = t->keys[which[i]];
	}
	mac_table_lookup_bulk(t->table, keys, BULK, stations);
	for (unsigned i = 0; i < BULK; i++) {
		if (stations[i] == NULL) {
			reader->missing += which[i] < KEPT;
			continue;
		}
		reader->found++;
		reader->wrong += !is_word_of(which[i], station_load(stations[i]));
		station_refresh(stations[i], dynamic_port(which[i], random), now);
		reader->wrong += !is_word_of(which[i], station_load(stations[i]));
	}
}

static void *forward_until_stopped(void *arg)
{
	struct reader *reader = arg;
	struct trial *t = reader->trial;
	uint64_t random = reader->id + 1;
	uint32_t now = 0;

	rte_rcu_qsbr_thread_register(t->rcu->qsbr, reader->id);
	rte_rcu_qsbr_thread_online(t->rcu->qsbr, reader->id);
	__atomic_fetch_add(&t->running, 1, __ATOMIC_RELAXED);
	while (!__atomic_load_n(&t->stop, __ATOMIC_RELAXED)) {
		look_up_and_refresh(reader, &random, now++);
		rte_rcu_qsbr_quiescent(t->rcu->qsbr, reader->id);
	}
	rte_rcu_qsbr_thread_offline(t->rcu->qsbr, reader->id);
	rte_rcu_qsbr_thread_unregister(t->rcu->qsbr, reader->id);
	return NULL;
}

static uint32_t ageing_of_all(void *arg, uint16_t bridge)
{
	return bridge == 0 ? 0 : *(const uint32_t *)arg;
}

/* Ageing must not take the stations of bridge 0, nor does anything else. */
static void change_at_random(struct trial *t, uint64_t *random, unsigned *refused)
{
	unsigned i = KEPT + random_number(random) % (STATIONS - KEPT);
	uint32_t ageing = 1;

	switch (random_number(random) % 256) {
	case 0:
		mac_table_flush(t->table, 1 + (int)(random_number(random) % 2), MAC_TABLE_ANY,
				true);
		break;
	case 1 ... 8:
		mac_table_age(t->table, ageing_of_all, &ageing, random_number(random), 4);
		break;
	case 9 ... 90:
		mac_table_del(t->table, t->keys[i]);
		break;
	case 91 ... 120:
		*refused += mac_table_add(t->table, t->keys[i], (uint16_t)(i * PORTS_EACH), 0,
					  true) != 0;
		break;
	default:
		*refused +=
			mac_table_add(t->table, t->keys[i], dynamic_port(i, random), 0, false) != 0;
	}
}

/* May have to wait for slots: readers that are not running hold grace periods up. */
static void make_static(struct trial *t, unsigned i)
{
	uint16_t port = (uint16_t)(i * PORTS_EACH);

	while (mac_table_add(t->table, t->keys[i], port, 0, true) == -ENOSPC) {
		mr_rcu_poll(t->rcu);
		sched_yield();
	}
	assert_int_equal(mac_table_add(t->table, t->keys[i], port, 0, true), 0);
}

static void readers_see_whole_stations_of_their_own_address(void **state)
{
	(void)state;
	static struct trial t;
	struct reader readers[READERS] = {0};
	pthread_t threads[READERS];
	uint64_t random = 9;
	unsigned refused = 0;

	t.rcu = mr_rcu_create(READERS);
	assert_non_null(t.rcu);
	assert_int_equal(mac_table_create(&t.table, t.rcu, CAPACITY, SOCKET_ID_ANY, NULL), 0);
	for (unsigned i = 0; i < STATIONS; i++) {
		const struct rte_ether_addr mac = {{2, 0, 0, 0, 0, (uint8_t)(i + 1)}};
		t.keys[i] = mac_key_of(i < KEPT ? 0 : (uint16_t)(1 + i % 2), &mac);
	}
	for (unsigned i = 0; i < KEPT; i++)
		assert_int_equal(
			mac_table_add(t.table, t.keys[i], dynamic_port(i, &random), 0, false), 0);
	for (unsigned i = 0; i < READERS; i++) {
		readers[i] = (struct reader){.trial = &t, .id = i};
		assert_int_equal(
			pthread_create(&threads[i], NULL, forward_until_stopped, &readers[i]), 0);
	}
	while (__atomic_load_n(&t.running, __ATOMIC_RELAXED) < READERS)
		sched_yield();

	for (unsigned change = 0; change < CHANGES; change++) {
		/* The stations of bridge 0 become static one by one and are found all the time. */
		if (change % (CHANGES / KEPT) == CHANGES / KEPT / 2)
			make_static(&t, change / (CHANGES / KEPT));
		change_at_random(&t, &random, &refused);
		if (change % 128 == 0)
			sched_yield();
		mr_rcu_poll(t.rcu);
	}
	__atomic_store_n(&t.stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < READERS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(readers[i].wrong, 0);
		assert_int_equal(readers[i].missing, 0);
		assert_true(readers[i].found > 0);
	}
	assert_true(t.rcu->freed > 0); /* slots were reused under the readers */
	assert_in_range(refused, 1, CHANGES / 2);
	mac_table_destroy(t.table);
	mr_rcu_destroy(t.rcu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_see_whole_stations_of_their_own_address),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
