/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MAC table beside rte_hash with its lock-free readers, in one process: bulk lookups of 32 keys
 * that are all found, in an order unlike that of the additions, alternating round by round. Both
 * are given room for every station: the MAC table a capacity of their number (it is full), rte_hash
 * twice as many entries, since it may refuse the last ones. The MAC table's figure includes the
 * read of each station's word; rte_hash's ends with the position of its key.
 *
 * Arguments are EAL's. Figures are medians; cycles are those of the TSC.
 */
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_hash.h>
#include <rte_malloc.h>

#include "bridge/mac_table.h"

enum { BULK = 32, ROUNDS = 9, LOOKUPS = 1 << 20 };

struct bench {
	uint32_t stations;
	uint64_t *keys;
	uint64_t *order;
	struct mr_rcu *rcu;
	struct mac_table *table;
	struct rte_hash *hash;
	uint64_t sum; /* keeps lookups from being optimised away */
};

static uint64_t random_number(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void fail(const char *what)
{
	fprintf(stderr, "bench_mac_table: %s failed\n", what);
	exit(1);
}

/* A new address each time: a serial number, well mixed by steps that lose nothing of its 40 bits.
 */
static uint64_t next_key(void)
{
	static uint64_t serial;
	uint64_t mixed = ++serial;
	struct rte_ether_addr mac = {{2}};

	for (unsigned i = 0; i < 2; i++) {
		mixed = mixed * 0x9e3779b97f4a7c15 & ((UINT64_C(1) << 40) - 1);
		mixed ^= mixed >> 20;
	}
	memcpy(mac.addr_bytes + 1, &mixed, 5);
	return mac_key_of(0, &mac);
}

static double table_cycles(struct bench *b)
{
	struct station *stations[BULK];
	uint64_t begin = rte_rdtsc_precise(), sum = 0;
	uint32_t at = 0;

	for (uint32_t n = 0; n < LOOKUPS; n += BULK) {
		mac_table_lookup_bulk(b->table, &b->order[at], BULK, stations);
		for (unsigned i = 0; i < BULK; i++)
			sum += station_load(stations[i]);
		at = at + 2 * BULK <= b->stations ? at + BULK : 0;
	}
	b->sum += sum;
	return (double)(rte_rdtsc_precise() - begin) / LOOKUPS;
}

static double hash_cycles(struct bench *b)
{
	const void *keys[BULK];
	int32_t positions[BULK];
	uint64_t begin = rte_rdtsc_precise(), sum = 0;
	uint32_t at = 0;

	for (uint32_t n = 0; n < LOOKUPS; n += BULK) {
		for (unsigned i = 0; i < BULK; i++)
			keys[i] = &b->order[at + i];
		rte_hash_lookup_bulk(b->hash, keys, BULK, positions);
		for (unsigned i = 0; i < BULK; i++)
			sum += (uint32_t)positions[i];
		at = at + 2 * BULK <= b->stations ? at + BULK : 0;
	}
	b->sum += sum;
	return (double)(rte_rdtsc_precise() - begin) / LOOKUPS;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

static void compare_lookups(struct bench *b, const char *when)
{
	double table[ROUNDS], hash[ROUNDS], ratio[ROUNDS];
	struct mac_table_stats stats;

	for (uint32_t i = 0; i < b->stations; i++)
		b->order[i] = b->keys[i];
	for (uint32_t i = b->stations - 1; i > 0; i--) {
		uint32_t j = (uint32_t)(random_number() % (i + 1));
		uint64_t key = b->order[i];
		b->order[i] = b->order[j];
		b->order[j] = key;
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		table[i] = table_cycles(b);
		hash[i] = hash_cycles(b);
		ratio[i] = hash[i] / table[i];
	}
	mac_table_stats(b->table, &stats);
	printf("%8u stations, %-8s: %6.1f cycles a lookup, rte_hash %6.1f, ratio %.2f; "
	       "%.2f%% of stations beyond their first line\n",
	       b->stations, when, median(table), median(hash), median(ratio),
	       100.0 * stats.in_extra / stats.stations);
}

static void hash_add(struct bench *b, uint64_t key)
{
	if (rte_hash_add_key(b->hash, &key) < 0)
		fail("rte_hash_add_key");
}

static void table_add(struct bench *b, uint64_t key)
{
	if (mac_table_add(b->table, key, 1, 1, false) != 0)
		fail("mac_table_add");
}

static void fill(struct bench *b)
{
	uint64_t begin = rte_rdtsc(), middle;

	for (uint32_t i = 0; i < b->stations; i++)
		table_add(b, b->keys[i]);
	middle = rte_rdtsc();
	for (uint32_t i = 0; i < b->stations; i++)
		hash_add(b, b->keys[i]);
	printf("%8u stations, %-8s: %6.2f million adds a second, rte_hash %6.2f; %zu kB\n",
	       b->stations, "fill", b->stations * 1e-6 * rte_get_tsc_hz() / (middle - begin),
	       b->stations * 1e-6 * rte_get_tsc_hz() / (rte_rdtsc() - middle),
	       mac_table_memory(b->table) >> 10);
}

/* Deletes one station at random and adds another, four times as often as there are stations. */
static void replace_all(struct bench *b)
{
	uint32_t changes = 4 * b->stations;
	uint64_t table_time = 0, hash_time = 0;

	for (uint32_t n = 0; n < changes; n++) {
		uint32_t i = (uint32_t)(random_number() % b->stations);
		uint64_t before = b->keys[i], begin, middle;
		int32_t position;
		b->keys[i] = next_key();
		begin = rte_rdtsc();
		if (mac_table_del(b->table, before) != 0)
			fail("mac_table_del");
		table_add(b, b->keys[i]);
		if (n % BULK == 0)
			mr_rcu_poll(b->rcu);
		middle = rte_rdtsc();
		position = rte_hash_del_key(b->hash, &before);
		if (position < 0 || rte_hash_free_key_with_position(b->hash, position) != 0)
			fail("rte_hash_del_key");
		hash_add(b, b->keys[i]);
		table_time += middle - begin;
		hash_time += rte_rdtsc() - middle;
	}
	printf("%8u stations, %-8s: %6.2f million deletes and adds a second, rte_hash %6.2f\n",
	       b->stations, "replace", 2e-6 * changes * rte_get_tsc_hz() / table_time,
	       2e-6 * changes * rte_get_tsc_hz() / hash_time);
}

static uint64_t bench(uint32_t stations)
{
	struct bench b = {.stations = stations};
	const struct rte_hash_parameters parameters = {
		.name = "bench",
		.entries = 2 * stations,
		.key_len = sizeof(uint64_t),
		.socket_id = SOCKET_ID_ANY,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF,
	};

	b.keys = malloc(stations * sizeof(*b.keys));
	b.order = malloc(stations * sizeof(*b.order));
	b.rcu = mr_rcu_create(1);
	b.hash = rte_hash_create(&parameters);
	if (b.keys == NULL || b.order == NULL || b.rcu == NULL || b.hash == NULL ||
	    mac_table_create(&b.table, b.rcu, stations, SOCKET_ID_ANY, NULL) != 0)
		fail("allocation");
	for (uint32_t i = 0; i < stations; i++)
		b.keys[i] = next_key();
	fill(&b);
	compare_lookups(&b, "filled");
	replace_all(&b);
	compare_lookups(&b, "replaced");
	mac_table_destroy(b.table);
	mr_rcu_destroy(b.rcu);
	rte_hash_free(b.hash);
	free(b.keys);
	free(b.order);
	return b.sum;
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;

	if (rte_eal_init(argc, argv) < 0)
		fail("rte_eal_init");
	sum += bench(1024);
	sum += bench(65536);
	sum += bench(1000000);
	rte_eal_cleanup();
	return sum == 0;
}
