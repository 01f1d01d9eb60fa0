/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IPv4 table beside rte_fib (DIR24_8, 4-byte next hops, scalar and AVX-512) and rte_lpm: cycles
 * a lookup in bursts of 32, and cycles a change. All tables hold the same routes and run by turns,
 * pass after pass; medians are printed, so that the machine's swings hit all alike. Before that,
 * all answers are compared.
 *
 *   bench_ipv4_table [EAL options]
 *
 * rte_fib uses AVX-512 only with EAL's --force-max-simd-bitwidth=512.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_fib.h>
#include <rte_lpm.h>

#include "base/rcu.h"
#include "route/ipv4_table.h"
#include "route/ipv4_table_fwd.h"

#define BURST 32
#define FLOWS 4096
#define MANY (1u << 20) /* random destinations, and lookups in a pass */
#define PASSES 11
#define CHANGES 20000
/* rte_lpm goes through all rules of a length for each change: hours for a full table. */
#define LPM_MAX_ROUTES 100000
#define LPM_CHANGES 200

struct bench {
	struct mr_rcu *rcu;
	struct mr_ipv4_table *table;
	struct rte_fib *fib;
	struct rte_lpm *lpm;
	uint32_t count;
	struct mr_ipv4_route *routes;
	uint32_t *flows, *many;
};

typedef void lookup_fn(struct bench *b, const uint32_t *addresses, uint32_t *found);

static void lookup_table(struct bench *b, const uint32_t *addresses, uint32_t *found)
{
	mr_ipv4_table_lookup_bulk(b->table, addresses, BURST, found);
}

static void lookup_fib(struct bench *b, const uint32_t *addresses, uint32_t *found)
{
	uint64_t next_hops[BURST];

	rte_fib_lookup_bulk(b->fib, (uint32_t *)(uintptr_t)addresses, next_hops, BURST);
	for (unsigned i = 0; i < BURST; i++)
		found[i] = next_hops[i];
}

static void lookup_lpm(struct bench *b, const uint32_t *addresses, uint32_t *found)
{
	rte_lpm_lookup_bulk(b->lpm, addresses, found, BURST);
	for (unsigned i = 0; i < BURST; i++)
		found[i] = found[i] & RTE_LPM_LOOKUP_SUCCESS ? found[i] & 0xffffff : 0;
}

static const struct {
	const char *name;
	lookup_fn *lookup;
	enum rte_fib_lookup_type fib_type;
} contenders[] = {
	{"millrace", lookup_table, RTE_FIB_LOOKUP_DEFAULT},
	{"fib scalar", lookup_fib, RTE_FIB_LOOKUP_DIR24_8_SCALAR_MACRO},
	{"fib avx512", lookup_fib, RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512},
	{"lpm", lookup_lpm, RTE_FIB_LOOKUP_DEFAULT},
};

static uint64_t random_state = 1;

static uint32_t random_number(void)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return random_state >> 32;
}

/* Lengths as in the Internet's table, in thousandths. */
static unsigned random_length(void)
{
	static const struct {
		unsigned share, length;
	} lengths[] = {{610, 24}, {110, 22}, {100, 23}, {45, 21}, {43, 20}, {25, 19},
		       {14, 18},  {13, 16},  {8, 17},   {6, 32},  {4, 28},  {4, 25},
		       {6, 15},   {6, 14},   {3, 13},   {2, 12},  {1, 10}};
	unsigned x = random_number() % 1000;

	for (unsigned i = 0; i < RTE_DIM(lengths); i++) {
		if (x < lengths[i].share)
			return lengths[i].length;
		x -= lengths[i].share;
	}
	return 24;
}

/* Routes come in clusters, about 25 a /16, as allocations do. */
static struct mr_ipv4_route random_route(uint32_t count)
{
	struct mr_ipv4_route route = {.length = random_length()};
	uint32_t cluster = random_number() % (1 + count / 25) * UINT32_C(2654435761);

	route.prefix = ((1 + (cluster >> 24) % 223) << 24 | (cluster & 0xff0000) |
			(random_number() & 0xffff)) &
		       ~(uint32_t)(UINT64_C(0xffffffff) >> route.length);
	return route;
}

static uint32_t address_in_some_route(const struct bench *b)
{
	const struct mr_ipv4_route *route = &b->routes[random_number() % b->count];

	return route->prefix |
	       (random_number() & (uint32_t)(UINT64_C(0xffffffff) >> route->length));
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t median(uint64_t *samples, unsigned n)
{
	qsort(samples, n, sizeof(samples[0]), compare);
	return samples[n / 2];
}

static void *must(void *pointer, const char *what)
{
	if (pointer == NULL) {
		fprintf(stderr, "no memory for %s\n", what);
		exit(1);
	}
	return pointer;
}

static void create_tables(struct bench *b)
{
	struct rte_fib_conf fib = {.type = RTE_FIB_DIR24_8,
				   .max_routes = b->count * 2 + 16,
				   .dir24_8 = {RTE_FIB_DIR24_8_4B, 65536}};
	struct rte_lpm_config lpm = {.max_rules = b->count + 1, .number_tbl8s = 16384};

	b->rcu = must(mr_rcu_create(1), "grace periods");
	b->table = must(mr_ipv4_table_create(b->rcu, SOCKET_ID_ANY, b->count + 2), "table");
	b->fib = must(rte_fib_create("bench", SOCKET_ID_ANY, &fib), "rte_fib");
	b->lpm = b->count > LPM_MAX_ROUTES
			 ? NULL
			 : must(rte_lpm_create("bench", SOCKET_ID_ANY, &lpm), "rte_lpm");
}

static void add_routes(struct bench *b)
{
	uint64_t ours, fib, lpm;
	bool ok = true;

	for (uint32_t i = 0; i < b->count;) {
		struct mr_ipv4_route route = random_route(b->count);

		if (mr_ipv4_table_find(b->table, route.prefix, route.length) != 0)
			continue;
		route.next_hop = 1 + i % 250;
		ok &= mr_ipv4_table_add(b->table, route.prefix, route.length, route.next_hop) == 0;
		b->routes[i++] = route;
	}
	/* Again, so that nothing but the table is measured. */
	for (uint32_t i = 0; i < b->count; i++)
		ok &= mr_ipv4_table_del(b->table, b->routes[i].prefix, b->routes[i].length) == 0;
	mr_rcu_synchronize(b->rcu);
	ours = rte_rdtsc_precise();
	for (uint32_t i = 0; i < b->count; i++)
		ok &= mr_ipv4_table_add(b->table, b->routes[i].prefix, b->routes[i].length,
					b->routes[i].next_hop) == 0;
	ours = rte_rdtsc_precise() - ours;
	fib = rte_rdtsc_precise();
	for (uint32_t i = 0; i < b->count; i++)
		ok &= rte_fib_add(b->fib, b->routes[i].prefix, b->routes[i].length,
				  b->routes[i].next_hop) == 0;
	fib = rte_rdtsc_precise() - fib;
	lpm = rte_rdtsc_precise();
	for (uint32_t i = 0; b->lpm != NULL && i < b->count; i++)
		ok &= rte_lpm_add(b->lpm, b->routes[i].prefix, b->routes[i].length,
				  b->routes[i].next_hop) == 0;
	lpm = rte_rdtsc_precise() - lpm;
	if (!ok) {
		fprintf(stderr, "a table refused a route\n");
		exit(1);
	}
	printf("  fill, cycles a route:   millrace %" PRIu64 "  fib %" PRIu64 "  lpm %" PRIu64 "\n",
	       ours / b->count, fib / b->count, lpm / b->count);
}

static bool contends(struct bench *b, unsigned i)
{
	if (contenders[i].lookup == lookup_lpm)
		return b->lpm != NULL;
	return contenders[i].lookup != lookup_fib ||
	       rte_fib_select_lookup(b->fib, contenders[i].fib_type) == 0;
}

static void compare_answers(struct bench *b, const uint32_t *addresses)
{
	uint32_t ours[BURST], found[BURST];

	for (unsigned i = 0; i < RTE_DIM(contenders); i++) {
		if (!contends(b, i))
			continue;
		for (unsigned k = 0; k < MANY; k += BURST) {
			lookup_table(b, addresses + k, ours);
			contenders[i].lookup(b, addresses + k, found);
			if (memcmp(ours, found, sizeof(ours)) != 0) {
				fprintf(stderr, "%s differs\n", contenders[i].name);
				exit(1);
			}
		}
	}
}

static void measure_lookups(struct bench *b, const char *name, const uint32_t *addresses,
			    uint32_t count)
{
	uint64_t samples[RTE_DIM(contenders)][PASSES];
	uint32_t found[BURST];

	for (unsigned pass = 0; pass < PASSES; pass++) {
		for (unsigned i = 0; i < RTE_DIM(contenders); i++) {
			uint64_t start;

			if (!contends(b, i))
				continue;
			start = rte_rdtsc_precise();
			for (unsigned k = 0; k < MANY; k += BURST)
				contenders[i].lookup(b, addresses + k % count, found);
			samples[i][pass] = rte_rdtsc_precise() - start;
		}
	}
	printf("  %-22s ", name);
	for (unsigned i = 0; i < RTE_DIM(contenders); i++)
		if (contends(b, i))
			printf("  %s %.2f", contenders[i].name,
			       (double)median(samples[i], PASSES) / MANY);
	printf("\n");
}

/* Deletes and adds routes of a full table, each measured by itself. */
static void measure_changes(struct bench *b)
{
	static uint64_t del[3][CHANGES], add[3][CHANGES];
	uint32_t lpm_changes = b->lpm != NULL ? LPM_CHANGES : 0;

	for (uint32_t i = 0; i < CHANGES; i++) {
		const struct mr_ipv4_route *r = &b->routes[random_number() % b->count];
		uint64_t t[7];

		t[0] = rte_rdtsc_precise();
		mr_ipv4_table_del(b->table, r->prefix, r->length);
		t[1] = rte_rdtsc_precise();
		mr_ipv4_table_add(b->table, r->prefix, r->length, r->next_hop);
		t[2] = rte_rdtsc_precise();
		rte_fib_delete(b->fib, r->prefix, r->length);
		t[3] = rte_rdtsc_precise();
		rte_fib_add(b->fib, r->prefix, r->length, r->next_hop);
		t[4] = t[5] = t[6] = rte_rdtsc_precise();
		if (i < lpm_changes) {
			rte_lpm_delete(b->lpm, r->prefix, r->length);
			t[5] = rte_rdtsc_precise();
			rte_lpm_add(b->lpm, r->prefix, r->length, r->next_hop);
			t[6] = rte_rdtsc_precise();
		}
		for (unsigned k = 0; k < 3; k++) {
			del[k][i] = t[2 * k + 1] - t[2 * k];
			add[k][i] = t[2 * k + 2] - t[2 * k + 1];
		}
		if (i % 64 == 0)
			mr_rcu_poll(b->rcu);
	}
	printf("  delete, median cycles:  millrace %" PRIu64 "  fib %" PRIu64,
	       median(del[0], CHANGES), median(del[1], CHANGES));
	if (lpm_changes > 0)
		printf("  lpm %" PRIu64, median(del[2], lpm_changes));
	printf("\n  add, median cycles:     millrace %" PRIu64 "  fib %" PRIu64,
	       median(add[0], CHANGES), median(add[1], CHANGES));
	if (lpm_changes > 0)
		printf("  lpm %" PRIu64, median(add[2], lpm_changes));
	printf("\n  99.9%% of millrace's:    delete %" PRIu64 "  add %" PRIu64 "\n",
	       del[0][CHANGES - CHANGES / 1000], add[0][CHANGES - CHANGES / 1000]);
}

static void measure_short_prefix(struct bench *b, uint32_t prefix, unsigned length)
{
	uint64_t add[PASSES], del[PASSES];

	for (unsigned i = 0; i < PASSES; i++) {
		uint64_t start = rte_rdtsc_precise(), middle;

		mr_ipv4_table_add(b->table, prefix, length, 251);
		middle = rte_rdtsc_precise();
		mr_ipv4_table_del(b->table, prefix, length);
		del[i] = rte_rdtsc_precise() - middle;
		add[i] = middle - start;
	}
	printf("  a /%u, median us:        add %.1f  delete %.1f\n", length,
	       1e6 * median(add, PASSES) / rte_get_tsc_hz(),
	       1e6 * median(del, PASSES) / rte_get_tsc_hz());
}

static void run(uint32_t count)
{
	struct bench b = {.count = count};
	struct mr_ipv4_table_memory memory;

	b.routes = must(calloc(count, sizeof(*b.routes)), "routes");
	b.flows = must(calloc(FLOWS, sizeof(uint32_t)), "flows");
	b.many = must(calloc(MANY, sizeof(uint32_t)), "addresses");
	create_tables(&b);
	printf("%u routes\n", count);
	add_routes(&b);
	mr_ipv4_table_memory(b.table, &memory);
	printf("  memory, MB:             lcores read %.1f  control %.1f\n",
	       memory.shared_used / 1e6, memory.control_used / 1e6);
	for (unsigned i = 0; i < FLOWS; i++)
		b.flows[i] = address_in_some_route(&b);
	for (unsigned i = 0; i < MANY; i++)
		b.many[i] = address_in_some_route(&b);
	compare_answers(&b, b.many);
	measure_lookups(&b, "4096 flows, cycles:", b.flows, FLOWS);
	measure_lookups(&b, "random, cycles:", b.many, MANY);
	measure_changes(&b);
	measure_short_prefix(&b, 0, 0);
	measure_short_prefix(&b, 0, 1);
	measure_short_prefix(&b, UINT32_C(20) << 24, 8);
	mr_ipv4_table_destroy(b.table);
	mr_rcu_destroy(b.rcu);
	rte_fib_free(b.fib);
	rte_lpm_free(b.lpm);
	free(b.routes);
	free(b.flows);
	free(b.many);
}

int main(int argc, char **argv)
{
	if (rte_eal_init(argc, argv) < 0) {
		fprintf(stderr, "EAL did not start\n");
		return 1;
	}
	printf("TSC at %.2f GHz\n", rte_get_tsc_hz() / 1e9);
	run(16);
	run(100000);
	run(1000000);
	rte_eal_cleanup();
	return 0;
}
