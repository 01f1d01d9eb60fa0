/* SPDX-License-Identifier: BSD-3-Clause */
/* The first glance against what rules mean: it may know less, never anything wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_mbuf.h>

#include "filter/glance.h"
#include "filter/rule_text.h"
#include "port/iface.h"

#include "filter_model.h"
#include "filter_random.h"
#include "test_eal.h"

enum { SETS = 150, BURSTS = 60 };

/* What it knew, and what it could have known of whole TCP and UDP packets. */
struct score {
	unsigned known, unmatched;
};

static struct rte_mempool *pool;

static int setup(void **state)
{
	(void)state;
	pool = rte_pktmbuf_pool_create("glance", 255, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	return pool == NULL ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	rte_mempool_free(pool);
	return 0;
}

/* A buffer is used again and again, so behind a short frame lie the bytes of longer ones. */
static void fill(uint64_t *seed, struct rte_mbuf **packets, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned length;

		do
			length = filter_random_frame(seed, rte_pktmbuf_mtod(packets[i], uint8_t *));
		while (length < 14);
		packets[i]->data_len = (uint16_t)length;
		packets[i]->pkt_len = length;
	}
}

/* Whether no rule of a set matches at a hook. */
static bool none_matches(uint64_t *seed, const struct mr_filter_set *set, const struct rte_mbuf *m,
			 bool out)
{
	struct mr_filter_place place;
	struct model_verdict verdict;

	do
		place = filter_random_place(seed);
	while (place.out != out);
	model_filter(set, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &place, &verdict);
	return verdict.end != MODEL_UNREADABLE && verdict.matched == 0;
}

static bool is_plain(const struct rte_mbuf *m)
{
	struct model_packet packet;

	model_read(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &packet);
	return packet.state == MODEL_SOUND && (packet.protocol == 6 || packet.protocol == 17) &&
	       packet.has_ports && !packet.options && !packet.first;
}

static void check_burst(uint64_t *seed, const struct mr_filter_set *set,
			const struct filter_glance *glance, struct rte_mbuf **packets,
			unsigned count, struct score *score)
{
	uint64_t known;

	fill(seed, packets, count);
	known = filter_glance(glance, packets, count);
	for (unsigned i = 0; i < count; i++) {
		bool none = none_matches(seed, set, packets[i], false) &&
			    none_matches(seed, set, packets[i], true);

		if (known >> i & 1)
			assert_true(none);
		score->known += known >> i & 1;
		score->unmatched += none && is_plain(packets[i]);
	}
	assert_int_equal(count < 64 ? known >> count : 0, 0);
}

static void what_it_knows_is_right(void **state)
{
	struct rte_mbuf *packets[64];
	struct score score = {0};
	uint64_t seed = 7;

	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		packets[i] = rte_pktmbuf_alloc(pool);
		assert_non_null(packets[i]);
	}
	for (unsigned i = 0; i < SETS; i++) {
		struct mr_filter_set *set =
			filter_random_set(&seed, 1 + filter_random(&seed, i % 10 == 0 ? 200 : 6));
		struct filter_glance *glance;

		assert_int_equal(filter_glance_compile(set, SOCKET_ID_ANY, &glance), 0);
		for (unsigned j = 0; j < BURSTS && glance != NULL; j++)
			check_burst(&seed, set, glance, packets, 1 + filter_random(&seed, 64),
				    &score);
		filter_glance_free(glance);
		mr_filter_set_free(set);
	}
	/* Some rules match by what it does not look at. */
	assert_true(score.unmatched > 1000);
	assert_true(score.known > score.unmatched / 2);
	rte_pktmbuf_free_bulk(packets, 64);
}

static void add_rule(struct mr_filter_set *set, const char *text)
{
	struct mr_filter_fault fault;
	struct mr_filter_rule *rule;

	assert_int_equal(mr_filter_rule_parse(text, set, &rule, &fault), 0);
	assert_int_equal(mr_filter_rule_number(rule, set->count + 1, &fault), 0);
	assert_int_equal(mr_filter_set_append(set, rule), 0);
}

static void it_is_left_out_where_rules_match_every_plain_packet(void **state)
{
	static const struct {
		const char *rule;
		bool useful;
	} cases[] = {
		{"deny tcp from 192.0.2.1 to any 80", true},
		{"deny icmp from any to any", true},
		{"deny ip6 from 2001:db8::/32 to any", true},
		{"count ip from any to any", false},
		{"count ip from any to any in via port 1", false},
		{"allow ip from any to any ipttl 1", false},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mr_filter_set *set = mr_filter_set_new();
		struct filter_glance *glance;

		add_rule(set, cases[i].rule);
		assert_int_equal(filter_glance_compile(set, SOCKET_ID_ANY, &glance), 0);
		assert_int_equal(glance != NULL, cases[i].useful);
		filter_glance_free(glance);
		mr_filter_set_free(set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_knows_is_right),
		cmocka_unit_test(it_is_left_out_where_rules_match_every_plain_packet),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, setup, teardown);
}
