/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bridge/mac_table.h"
#include "test_eal.h"

static struct mr_rcu *rcu;
static struct mac_table *table;

/* Station n of bridge: a local unicast address. */
static uint64_t key_of(uint16_t bridge, uint32_t n)
{
	const struct rte_ether_addr mac = {
		{2, 0, (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n}};

	return mac_key_of(bridge, &mac);
}

static void make_table(uint32_t capacity)
{
	rcu = mr_rcu_create(4);
	assert_non_null(rcu);
	assert_int_equal(mac_table_create(&table, rcu, capacity, SOCKET_ID_ANY, NULL), 0);
}

static int drop_table(void **state)
{
	(void)state;
	mac_table_destroy(table);
	mr_rcu_destroy(rcu);
	table = NULL;
	rcu = NULL;
	return 0;
}

/* The key of bridge 0 with the lowest number from *n on that selects the bucket of index. */
static uint64_t next_key_in_bucket(ptrdiff_t index, uint32_t *n)
{
	uint64_t key;

	do
		key = key_of(0, (*n)++);
	while (mac_table_bucket(table, key) - table->buckets != index);
	return key;
}

static void assert_station(uint64_t key, uint64_t word)
{
	uint64_t found;

	assert_int_equal(mac_table_find(table, key, &found), 0);
	assert_int_equal(found, word);
}

static void assert_absent(uint64_t key)
{
	uint64_t found;

	assert_int_equal(mac_table_find(table, key, &found), -ENOENT);
}

static void keys_carry_address_and_bridge(void **state)
{
	(void)state;
	const uint8_t header[14] = {0x02, 1, 2, 3, 4, 5, 0x06, 7, 8, 9, 10, 11, 0x08, 0x00};
	const struct rte_ether_addr source = {{0x06, 7, 8, 9, 10, 11}};
	struct rte_ether_addr back;

	assert_int_equal(mac_key(7, header + 6), mac_key_of(7, &source));
	assert_int_not_equal(mac_key(7, header), mac_key(7, header + 6));
	assert_int_not_equal(mac_key(7, header), mac_key(8, header));
	for (unsigned bridge = 0; bridge <= MAC_TABLE_BRIDGE_MAX; bridge += MAC_TABLE_BRIDGE_MAX) {
		uint64_t key = mac_key((uint16_t)bridge, header + 6);
		assert_int_equal(mac_key_bridge(key), bridge);
		back = mac_key_addr(key);
		assert_memory_equal(&back, &source, sizeof(back));
		assert_false(mac_key_is_group(key));
	}
	assert_true(mac_key_is_group(mac_key(0, (const uint8_t *)"\x01\x00\x5e\0\0\0\0")));
}

static void words_read_back(void **state)
{
	(void)state;
	uint64_t word = station_word(0xfedc, 0x87654321, true);

	assert_int_equal(station_port(word), 0xfedc);
	assert_int_equal(station_seen(word), 0x87654321);
	assert_true(station_is_static(word));
	assert_false(station_is_static(station_word(0xffff, UINT32_MAX, false)));
}

static void only_unicast_addresses_are_stations(void **state)
{
	(void)state;
	const struct rte_ether_addr zero = {{0}}, group = {{0x01, 0, 0x5e, 0, 0, 1}};
	struct station *found;
	uint64_t keys[1] = {mac_key_of(0, &zero)};

	make_table(16);
	assert_int_equal(mac_table_add(table, mac_key_of(0, &zero), 1, 1, true), -EINVAL);
	assert_int_equal(mac_table_add(table, mac_key_of(0, &group), 1, 1, true), -EINVAL);
	assert_int_equal(mac_table_add(table, 0, 1, 1, true), -EINVAL);
	/* A frame may carry the zero address: it must not be taken for a free slot. */
	mac_table_lookup_bulk(table, keys, 1, &found);
	assert_null(found);
}

static void capacity_is_checked(void **state)
{
	(void)state;
	struct mr_error error = {{0}};
	struct mac_table *wrong = NULL;

	make_table(1);
	assert_int_equal(mac_table_create(&wrong, rcu, 0, SOCKET_ID_ANY, &error), -ERANGE);
	assert_string_equal(error.text, "MAC table capacity 0: must be 1 to 4194304");
	assert_int_equal(
		mac_table_create(&wrong, rcu, MAC_TABLE_CAPACITY_MAX + 1, SOCKET_ID_ANY, NULL),
		-ERANGE);
	assert_null(wrong);
	assert_int_equal(mac_table_add(table, key_of(0, 1), 1, 1, false), 0);
	assert_int_equal(mac_table_add(table, key_of(0, 2), 1, 1, false), -ENOSPC);
	assert_int_equal(mac_table_add(table, key_of(0, 1), 2, 1, false), 0);
	assert_int_equal(mac_table_add(table, key_of(0, 1), 2, 1, true), 0);
	assert_int_equal(mac_table_del(table, key_of(0, 1)), 0);
	assert_int_equal(mac_table_add(table, key_of(0, 2), 1, 1, false), 0);
	assert_int_equal(mac_table_count(table, MAC_TABLE_ANY), 1);
}

/* Any table, filled to its capacity, takes every station, and few live in extra buckets. */
static void a_table_fills_to_its_capacity(void **state)
{
	(void)state;
	const uint32_t capacity = 65536;
	struct mac_table_stats stats;

	make_table(capacity);
	for (uint32_t i = 0; i < capacity; i++)
		assert_int_equal(mac_table_add(table, key_of((uint16_t)(i % 5), i), 1, 1, false),
				 0);
	assert_int_equal(mac_table_add(table, key_of(0, capacity), 1, 1, false), -ENOSPC);
	for (uint32_t i = 0; i < capacity; i++)
		assert_station(key_of((uint16_t)(i % 5), i), station_word(1, 1, false));
	mac_table_stats(table, &stats);
	assert_int_equal(stats.stations, capacity);
	assert_in_range(stats.in_extra, 0, capacity / 50);
	assert_int_equal(stats.memory, mac_table_memory(table));
}

enum { SPREAD = 4096, PATTERNS = 6 };

/* Addresses as they occur: consecutive, counted in other bytes, in steps, or one on many bridges.
 */
static uint64_t key_of_pattern(unsigned pattern, uint32_t i)
{
	const uint8_t low = (uint8_t)i, high = (uint8_t)(i >> 8);
	const struct rte_ether_addr macs[PATTERNS] = {
		{{2, 0, 0, 0, high, low}},
		{{2, 0, 0, low, high, 0}},
		{{2, low, high, 1, 1, 1}},
		{{2, 0, 0, high, (uint8_t)(i >> 4 & 15), (uint8_t)(i << 4)}},
		{{2, 0, 0, 0, 0, high}},
		{{2, 0, 0, 0, 0, 1}},
	};
	const uint16_t bridges[PATTERNS] = {0, 0, 0, 0, low, (uint16_t)i};

	return mac_key_of(bridges[pattern], &macs[pattern]);
}

/* Every table has a multiplier of its own; none may be unlucky for a pattern. */
static void addresses_of_any_pattern_spread_evenly(void **state)
{
	(void)state;
	struct mac_table_stats stats;

	make_table(SPREAD);
	for (unsigned n = 0; n < 20 * PATTERNS; n++) {
		for (uint32_t i = 0; i < SPREAD; i++)
			assert_int_equal(
				mac_table_add(table, key_of_pattern(n % PATTERNS, i), 1, 1, false),
				0);
		mac_table_stats(table, &stats);
		assert_int_equal(stats.stations, SPREAD);
		assert_in_range(stats.in_extra, 0, SPREAD / 50);
		mac_table_destroy(table);
		while (mr_rcu_poll(rcu) != 0)
			;
		assert_int_equal(mac_table_create(&table, rcu, SPREAD, SOCKET_ID_ANY, NULL), 0);
	}
}

/* However long stations come and go in a full table, it takes each, and few lie in extra buckets.
 */
static void a_full_table_stays_in_shape(void **state)
{
	(void)state;
	static uint64_t keys[SPREAD];
	struct mac_table_stats stats;

	srandom(2);
	make_table(SPREAD);
	for (uint32_t i = 0; i < SPREAD; i++) {
		keys[i] = key_of(0, i);
		assert_int_equal(mac_table_add(table, keys[i], 1, 1, false), 0);
	}
	for (uint32_t n = SPREAD; n < 20 * SPREAD; n++) {
		uint32_t i = (uint32_t)random() % SPREAD;
		assert_int_equal(mac_table_del(table, keys[i]), 0);
		keys[i] = key_of(0, n);
		assert_int_equal(mac_table_add(table, keys[i], 1, 1, false), 0);
		if (n % 32 == 0)
			mr_rcu_poll(rcu);
	}
	while (mr_rcu_poll(rcu) != 0)
		;
	mac_table_stats(table, &stats);
	assert_int_equal(stats.stations, SPREAD);
	assert_in_range(stats.in_extra, 1, SPREAD / 25);
	assert_in_range(stats.extra_buckets, 1, stats.in_extra);
}

static void a_station_moves_and_is_refreshed_once_a_second(void **state)
{
	(void)state;
	struct station *station;

	make_table(16);
	assert_int_equal(mac_table_add(table, key_of(0, 1), 3, 100, false), 0);
	station = mac_table_lookup(table, key_of(0, 1));
	assert_false(station_refresh(station, 3, 100));
	assert_false(station_refresh(station, 3, 101));
	assert_station(key_of(0, 1), station_word(3, 101, false));
	assert_true(station_refresh(station, 4, 101));
	assert_station(key_of(0, 1), station_word(4, 101, false));
	assert_int_equal(mac_table_add(table, key_of(0, 1), 5, 102, false), 0);
	assert_station(key_of(0, 1), station_word(5, 102, false));
	assert_ptr_equal(mac_table_lookup(table, key_of(0, 1)), station);
	assert_int_equal(mac_table_count(table, 0), 1);
}

static void a_static_station_is_changed_by_management_only(void **state)
{
	(void)state;
	struct station *learned, *station;

	make_table(16);
	assert_int_equal(mac_table_add(table, key_of(0, 1), 3, 100, false), 0);
	learned = mac_table_lookup(table, key_of(0, 1));
	assert_int_equal(mac_table_add(table, key_of(0, 1), 4, 100, true), 0);
	/* An lcore that found the learned station before still writes to it. */
	assert_true(station_refresh(learned, 9, 101));
	station = mac_table_lookup(table, key_of(0, 1));
	assert_ptr_not_equal(station, learned);
	assert_false(station_refresh(station, 9, 101));
	assert_int_equal(mac_table_add(table, key_of(0, 1), 9, 101, false), -EEXIST);
	assert_station(key_of(0, 1), station_word(4, 100, true));
	assert_int_equal(mac_table_add(table, key_of(0, 1), 5, 102, true), 0);
	assert_station(key_of(0, 1), station_word(5, 102, true));
	assert_int_equal(mac_table_count(table, MAC_TABLE_ANY), 1);
	assert_int_equal(mac_table_del(table, key_of(0, 1)), 0);
	assert_int_equal(mac_table_del(table, key_of(0, 1)), -ENOENT);
	assert_int_equal(mac_table_count(table, 0), 0);
}

static void flush_keeps_static_stations(void **state)
{
	(void)state;
	make_table(64);
	for (uint16_t bridge = 0; bridge < 2; bridge++)
		for (uint16_t port = 0; port < 2; port++) {
			uint32_t n = bridge * 2u + port;
			assert_int_equal(mac_table_add(table, key_of(bridge, n), port, 1, false),
					 0);
			assert_int_equal(
				mac_table_add(table, key_of(bridge, 10 + n), port, 1, true), 0);
		}
	assert_int_equal(mac_table_flush(table, 0, 1, false), 1);
	assert_absent(key_of(0, 1));
	assert_station(key_of(0, 0), station_word(0, 1, false));
	assert_station(key_of(0, 11), station_word(1, 1, true));
	assert_station(key_of(1, 3), station_word(1, 1, false));
	assert_int_equal(mac_table_flush(table, MAC_TABLE_ANY, 1, false), 1);
	assert_absent(key_of(1, 3));
	assert_int_equal(mac_table_flush(table, MAC_TABLE_ANY, MAC_TABLE_ANY, false), 2);
	assert_int_equal(mac_table_count(table, MAC_TABLE_ANY), 4);
	assert_int_equal(mac_table_flush(table, 1, MAC_TABLE_ANY, true), 2);
	assert_int_equal(mac_table_count(table, 1), 0);
	assert_int_equal(mac_table_count(table, 0), 2);
}

static uint32_t ageing_by_bridge(void *arg, uint16_t bridge)
{
	return ((const uint32_t *)arg)[bridge];
}

static uint32_t age_all(uint32_t ageing_0, uint32_t ageing_1, uint32_t now)
{
	uint32_t ageing[] = {ageing_0, ageing_1};

	return mac_table_age(table, ageing_by_bridge, ageing, now, UINT32_MAX);
}

static void stations_age_by_their_bridge(void **state)
{
	(void)state;
	make_table(16);
	assert_int_equal(mac_table_add(table, key_of(0, 1), 1, 100, false), 0);
	assert_int_equal(mac_table_add(table, key_of(1, 1), 1, 100, false), 0);
	assert_int_equal(mac_table_add(table, key_of(0, 2), 1, 100, true), 0);
	assert_int_equal(age_all(300, 10, 110), 0);
	assert_int_equal(age_all(300, 10, 111), 1);
	assert_absent(key_of(1, 1));
	assert_int_equal(age_all(300, 10, 400), 0);
	assert_int_equal(age_all(0, 10, 401), 0); /* 0: never */
	assert_int_equal(age_all(300, 10, 401), 1);
	assert_int_equal(age_all(1, 1, 1000000), 0);
	assert_station(key_of(0, 2), station_word(1, 100, true));
	/* An lcore's clock may be a second ahead, and seconds wrap. */
	assert_int_equal(mac_table_add(table, key_of(0, 3), 1, 51, false), 0);
	assert_int_equal(age_all(1, 1, 50), 0);
	assert_int_equal(mac_table_add(table, key_of(0, 3), 1, UINT32_MAX - 1, false), 0);
	assert_int_equal(age_all(10, 10, 8), 0);
	assert_int_equal(age_all(10, 10, 9), 1);
}

static void ageing_walks_a_bounded_number_of_buckets(void **state)
{
	(void)state;
	struct mac_table_stats stats;
	uint32_t ageing[] = {10}, aged = 0;

	make_table(64);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(mac_table_add(table, key_of(0, i), 1, 100, false), 0);
	mac_table_stats(table, &stats);
	for (uint32_t i = 0; i < stats.buckets; i++) {
		uint32_t n = mac_table_age(table, ageing_by_bridge, ageing, 200, 1);
		assert_in_range(n, 0, MAC_BUCKET_SLOTS);
		aged += n;
	}
	assert_int_equal(aged, 64);
}

static void a_slot_is_reused_only_after_a_grace_period(void **state)
{
	(void)state;
	struct station *held;
	uint32_t n = 0;
	uint64_t first, other;

	make_table(8);
	assert_int_equal(rte_rcu_qsbr_thread_register(rcu->qsbr, 0), 0);
	rte_rcu_qsbr_thread_online(rcu->qsbr, 0);
	first = next_key_in_bucket(3, &n);
	other = next_key_in_bucket(3, &n);
	assert_int_equal(mac_table_add(table, first, 1, 1, false), 0);
	held = mac_table_lookup(table, first);
	assert_int_equal(mac_table_del(table, first), 0);
	assert_null(mac_table_lookup(table, first));
	for (unsigned i = 0; i < 3; i++)
		mr_rcu_poll(rcu);
	assert_int_equal(mac_table_add(table, other, 7, 7, false), 0);
	assert_ptr_not_equal(mac_table_lookup(table, other), held);
	station_refresh(held, 2, 2);
	assert_station(other, station_word(7, 7, false));
	assert_int_equal(mac_table_del(table, other), 0);

	rte_rcu_qsbr_quiescent(rcu->qsbr, 0);
	for (unsigned i = 0; i < 3; i++)
		mr_rcu_poll(rcu);
	assert_int_equal(mac_table_add(table, other, 7, 7, false), 0);
	assert_ptr_equal(mac_table_lookup(table, other), held);
	rte_rcu_qsbr_thread_offline(rcu->qsbr, 0);
}

/* Stations that all select one bucket: found in its chain, which is bounded and is given back. */
static void colliding_stations_share_a_bounded_chain(void **state)
{
	(void)state;
	const unsigned room = MAC_BUCKET_SLOTS * (1 + MAC_TABLE_CHAIN);
	struct mac_table_stats stats;
	uint64_t keys[64];
	struct station *found[64];
	uint32_t n = 0;

	make_table(64);
	for (unsigned i = 0; i < 64; i++)
		keys[i] = next_key_in_bucket(5, &n);
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < 64; i++)
			assert_int_equal(
				mac_table_add(table, keys[i], (uint16_t)i, round, i % 2 == 0),
				i < room ? 0 : -ENOSPC);
		mac_table_lookup_bulk(table, keys, 64, found);
		for (unsigned i = 0; i < 64; i++) {
			if (i < room)
				assert_int_equal(station_load(found[i]),
						 station_word((uint16_t)i, round, i % 2 == 0));
			else
				assert_null(found[i]);
		}
		mac_table_stats(table, &stats);
		assert_int_equal(stats.extra_buckets, MAC_TABLE_CHAIN);
		assert_int_equal(stats.in_extra, room - MAC_BUCKET_SLOTS);
		for (unsigned i = 0; i < room; i++)
			assert_int_equal(mac_table_del(table, keys[(i * 7 + round) % room]), 0);
		while (mr_rcu_poll(rcu) != 0)
			;
		mac_table_stats(table, &stats);
		assert_int_equal(stats.extra_buckets, 0);
		assert_int_equal(stats.in_extra, 0);
	}
}

struct page {
	unsigned room, seen;
	uint64_t sum;
};

static bool put_on_page(void *arg, uint64_t key, uint64_t word)
{
	struct page *page = arg;

	(void)word;
	if (page->room == 0)
		return false;
	page->room--;
	page->seen++;
	page->sum += key;
	return true;
}

static bool delete_it(void *arg, uint64_t key, uint64_t word)
{
	(void)arg;
	(void)word;
	return mac_table_del(table, key) == 0;
}

static void stations_are_listed_page_by_page(void **state)
{
	(void)state;
	uint32_t position = 0;
	uint64_t sum = 0;
	struct page page = {0};

	make_table(128);
	for (uint32_t i = 0; i < 100; i++) {
		uint64_t key = key_of((uint16_t)(i % 2), i);
		assert_int_equal(mac_table_add(table, key, (uint16_t)(i % 4), 1, false), 0);
		if (i % 4 == 1)
			sum += key;
	}
	for (unsigned pages = 0; position != UINT32_MAX; pages++) {
		assert_in_range(pages, 0, 4);
		page.room = 7;
		mac_table_iterate(table, 1, 1, &position, put_on_page, &page);
	}
	assert_int_equal(page.seen, 25);
	assert_int_equal(page.sum, sum);
	position = 0;
	mac_table_iterate(table, 0, MAC_TABLE_ANY, &position, delete_it, NULL);
	assert_int_equal(mac_table_count(table, MAC_TABLE_ANY), 50);
	assert_int_equal(mac_table_count(table, 0), 0);
}

/*
 * The model: an array. Bridges, addresses, ports and times are few, so that operations meet the
 * same stations, a full table and chains all the time.
 */
enum { BRIDGES = 3, ADDRESSES = 40, STATIONS = BRIDGES * ADDRESSES, CAPACITY = 48, PORTS = 5 };

struct model {
	uint64_t words[STATIONS];
	bool present[STATIONS];
	unsigned count, bridge_count[BRIDGES];
};

static uint16_t model_bridge(unsigned i)
{
	return (uint16_t)(i / ADDRESSES);
}

static uint64_t model_key(unsigned i)
{
	return key_of(model_bridge(i), i % ADDRESSES);
}

static void model_set(struct model *model, unsigned i, bool present)
{
	if (present != model->present[i]) {
		model->count += present ? 1 : -1u;
		model->bridge_count[model_bridge(i)] += present ? 1 : -1u;
	}
	model->present[i] = present;
}

static void model_add(struct model *model, unsigned i, uint64_t word)
{
	uint16_t port = station_port(word);
	bool is_static = station_is_static(word);
	int code = mac_table_add(table, model_key(i), port, station_seen(word), is_static);

	if (code == -ENOSPC && model->count < CAPACITY) {
		/* Slots are short until the grace period of deleted ones is over. */
		assert_int_not_equal(mr_rcu_poll(rcu), 0);
		while (mr_rcu_poll(rcu) != 0)
			;
		code = mac_table_add(table, model_key(i), port, station_seen(word), is_static);
	}
	if (model->present[i] && station_is_static(model->words[i]) && !is_static) {
		assert_int_equal(code, -EEXIST);
	} else if (!model->present[i] && model->count == CAPACITY) {
		assert_int_equal(code, -ENOSPC);
	} else {
		assert_int_equal(code, 0);
		model_set(model, i, true);
		model->words[i] = word;
	}
}

static void model_refresh(struct model *model, unsigned i, uint16_t port, uint32_t now)
{
	struct station *station = mac_table_lookup(table, model_key(i));

	assert_int_equal(station != NULL, model->present[i]);
	if (station == NULL)
		return;
	if (station_is_static(model->words[i])) {
		assert_false(station_refresh(station, port, now));
		return;
	}
	assert_int_equal(station_refresh(station, port, now),
			 station_port(model->words[i]) != port);
	model->words[i] = station_word(port, now, false);
}

static void model_flush(struct model *model, int bridge, int port, bool with_static)
{
	unsigned flushed = 0;

	for (unsigned i = 0; i < STATIONS; i++)
		if (model->present[i] && (bridge < 0 || model_bridge(i) == bridge) &&
		    (port < 0 || station_port(model->words[i]) == port) &&
		    (with_static || !station_is_static(model->words[i]))) {
			model_set(model, i, false);
			flushed++;
		}
	assert_int_equal(mac_table_flush(table, bridge, port, with_static), flushed);
}

static void model_age(struct model *model, const uint32_t *ageing, uint32_t now)
{
	unsigned aged = 0;

	for (unsigned i = 0; i < STATIONS; i++) {
		uint32_t limit = ageing[model_bridge(i)];
		if (model->present[i] && !station_is_static(model->words[i]) && limit != 0 &&
		    now - station_seen(model->words[i]) > limit) {
			model_set(model, i, false);
			aged++;
		}
	}
	assert_int_equal(
		mac_table_age(table, ageing_by_bridge, (void *)(uintptr_t)ageing, now, UINT32_MAX),
		aged);
}

static void model_compare(const struct model *model)
{
	uint64_t keys[MAC_TABLE_BULK_MAX];
	struct station *found[MAC_TABLE_BULK_MAX];

	assert_int_equal(mac_table_count(table, MAC_TABLE_ANY), model->count);
	for (unsigned bridge = 0; bridge < BRIDGES; bridge++)
		assert_int_equal(mac_table_count(table, (int)bridge), model->bridge_count[bridge]);
	for (unsigned i = 0; i < STATIONS; i += MAC_TABLE_BULK_MAX) {
		unsigned n = STATIONS - i < MAC_TABLE_BULK_MAX ? STATIONS - i : MAC_TABLE_BULK_MAX;
		for (unsigned j = 0; j < n; j++)
			keys[j] = model_key(i + j);
		mac_table_lookup_bulk(table, keys, n, found);
		for (unsigned j = 0; j < n; j++) {
			assert_int_equal(found[j] != NULL, model->present[i + j]);
			if (found[j] != NULL)
				assert_int_equal(station_load(found[j]), model->words[i + j]);
		}
	}
}

static void random_operations_agree_with_the_model(void **state)
{
	(void)state;
	static const uint32_t ageing[BRIDGES] = {30, 0, 300};
	struct model model = {0};
	unsigned full = 0;
	uint32_t now = 1000;

	srandom(1);
	make_table(CAPACITY);
	for (unsigned operation = 0; operation < 40000; operation++) {
		unsigned i = (unsigned)random() % STATIONS;
		uint16_t port = (uint16_t)(random() % PORTS);
		switch (random() % 64) {
		case 0:
			model_flush(&model, (int)(random() % (BRIDGES + 1)) - 1,
				    (int)(random() % (PORTS + 1)) - 1, random() % 4 == 0);
			break;
		case 1:
			model_age(&model, ageing, now);
			break;
		case 2 ... 8:
			assert_int_equal(mac_table_del(table, model_key(i)),
					 model.present[i] ? 0 : -ENOENT);
			model_set(&model, i, false);
			break;
		case 9 ... 12:
			model_add(&model, i, station_word(port, now, true));
			break;
		case 13 ... 40:
			model_add(&model, i, station_word(port, now, false));
			break;
		case 41 ... 56:
			model_refresh(&model, i, port, now);
			break;
		case 57 ... 60:
			now += (uint32_t)random() % 8;
			break;
		default:
			mr_rcu_poll(rcu);
		}
		full += model.count == CAPACITY;
		if (operation % 8 == 0)
			model_compare(&model);
	}
	assert_true(full > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_carry_address_and_bridge),
		cmocka_unit_test(words_read_back),
		cmocka_unit_test_teardown(only_unicast_addresses_are_stations, drop_table),
		cmocka_unit_test_teardown(capacity_is_checked, drop_table),
		cmocka_unit_test_teardown(a_table_fills_to_its_capacity, drop_table),
		cmocka_unit_test_teardown(addresses_of_any_pattern_spread_evenly, drop_table),
		cmocka_unit_test_teardown(a_full_table_stays_in_shape, drop_table),
		cmocka_unit_test_teardown(a_station_moves_and_is_refreshed_once_a_second,
					  drop_table),
		cmocka_unit_test_teardown(a_static_station_is_changed_by_management_only,
					  drop_table),
		cmocka_unit_test_teardown(flush_keeps_static_stations, drop_table),
		cmocka_unit_test_teardown(stations_age_by_their_bridge, drop_table),
		cmocka_unit_test_teardown(ageing_walks_a_bounded_number_of_buckets, drop_table),
		cmocka_unit_test_teardown(a_slot_is_reused_only_after_a_grace_period, drop_table),
		cmocka_unit_test_teardown(colliding_stations_share_a_bounded_chain, drop_table),
		cmocka_unit_test_teardown(stations_are_listed_page_by_page, drop_table),
		cmocka_unit_test_teardown(random_operations_agree_with_the_model, drop_table),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
