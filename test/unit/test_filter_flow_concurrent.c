/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two lcores meet the two directions of the same flows while a third thread reads both tables. The
 * tables are small, so that entries are evicted and their slots used again all the time. A flow's
 * port says which rule made it: an entry that says otherwise was read half written.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rte_byteorder.h>

#include "filter/flow_fwd.h"
#include "filter/flow_state.h"
#include "filter/flow_table.h"
#include "filter/rule.h"
#include "test_eal.h"

enum { FLOWS = 300, PACKETS = 100000, RULES = 7, LCORES = 2 };

struct trial {
	struct filter_flows *flows;
	struct flow_rule rule[RULES];
	uint32_t now;     /* written by lcore 0, atomically */
	unsigned running; /* lcores, atomically */
};

struct lcore {
	struct trial *trial;
	unsigned index;
	uint64_t known, wrong;
};

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(*seed >> 33);
}

static struct flow_packet packet_of(uint32_t n, bool back)
{
	struct flow_packet packet = {
		.kind = FLOW_OF_KEY,
		.key = {.sport = rte_cpu_to_be_16((uint16_t)(n + 1)),
			.dport = rte_cpu_to_be_16(60000),
			.protocol = IPPROTO_UDP},
	};

	packet.key.src[0] = 1;
	packet.key.dst[0] = 2;
	if (back)
		packet.key = flow_reverse(&packet.key);
	return packet;
}

static unsigned rule_of(const struct flow_key *key)
{
	unsigned a = rte_be_to_cpu_16(key->sport), b = rte_be_to_cpu_16(key->dport);

	return ((a < b ? a : b) - 1) % RULES;
}

/* Either direction may make the flow, so both lcores sometimes do so at once. */
static void carry(struct lcore *lcore, uint64_t *seed, uint32_t now)
{
	struct trial *t = lcore->trial;
	struct flow_rules rules = {.program = 1, .count = RULES, .rule = t->rule};
	struct flow_context context = {.flows = t->flows,
				       .own = t->flows->table[lcore->index],
				       .rules = &rules,
				       .now = now};
	uint32_t random = next_random(seed);
	struct flow_packet packet = packet_of(random % FLOWS, lcore->index == 1);
	uint64_t hash = flow_hash(context.own, &packet.key);
	uint32_t rule = RULES;

	if (filter_flow_meet(&context, &packet, hash, &rule) == FLOW_KNOWN) {
		lcore->known++;
		lcore->wrong += rule != rule_of(&packet.key);
	} else if (lcore->index == 0 || (random >> 16) % 4 == 0) {
		filter_flow_make(&context, &packet, hash, &t->rule[rule_of(&packet.key)]);
	}
	filter_flow_sweep(&context, false);
}

static void *run_lcore(void *arg)
{
	struct lcore *lcore = arg;
	struct trial *t = lcore->trial;
	uint64_t seed = lcore->index + 1;

	for (unsigned i = 0; i < PACKETS; i++) {
		uint32_t now = __atomic_load_n(&t->now, __ATOMIC_RELAXED);

		carry(lcore, &seed, now);
		if (lcore->index == 0 && i % 64 == 0)
			__atomic_store_n(&t->now, now + 1, __ATOMIC_RELAXED);
	}
	__atomic_fetch_sub(&t->running, 1, __ATOMIC_RELAXED);
	return NULL;
}

static uint64_t read_tables(const struct trial *t, uint64_t *wrong)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < LCORES; i++) {
		const struct flow_table *table = t->flows->table[i];

		for (uint32_t slot = 0; slot < (table->mask + 1) * FLOW_BUCKET; slot++) {
			struct flow_view view;
			struct flow_key key;

			if (!flow_view_any(table, slot, &key, &view) || key.protocol == 0)
				continue;
			seen++;
			*wrong += view.serial != 100 + rule_of(&key);
		}
	}
	return seen;
}

static void what_is_read_is_of_one_flow(void **state)
{
	(void)state;
	struct trial t = {.flows = filter_flows_create(), .now = 1000, .running = LCORES};
	struct lcore lcore[LCORES];
	pthread_t thread[LCORES];
	uint64_t seen = 0, wrong = 0;

	assert_non_null(t.flows);
	t.flows->count = LCORES;
	for (uint32_t i = 0; i < RULES; i++)
		t.rule[i] = (struct flow_rule){.limit = {.serial = 100 + i,
							 .limit = 20 + i,
							 .by = i % 2 != 0 ? MR_FILTER_BY_SRC : 0},
					       .index = i};
	for (unsigned i = 0; i < LCORES; i++) {
		t.flows->table[i] = flow_table_create(64, i, SOCKET_ID_ANY);
		assert_non_null(t.flows->table[i]);
		lcore[i] = (struct lcore){.trial = &t, .index = i};
	}
	for (unsigned i = 0; i < LCORES; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, run_lcore, &lcore[i]), 0);
	while (__atomic_load_n(&t.running, __ATOMIC_RELAXED) != 0)
		seen += read_tables(&t, &wrong);
	for (unsigned i = 0; i < LCORES; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(lcore[i].wrong, 0);
		assert_true(lcore[i].known > PACKETS / 100);
	}
	assert_int_equal(wrong, 0);
	assert_true(seen > 0);
	filter_flows_free(t.flows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_is_of_one_flow),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
