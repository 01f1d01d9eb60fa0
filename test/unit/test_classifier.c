/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_cycles.h>
#include <rte_ip.h>
#include <rte_malloc.h>

#include "filter/classifier.h"
#include "filter/rule_text.h"
#include "filter/verdict_cache_fwd.h"

#include "filter_model.h"
#include "filter_random.h"
#include "test_eal.h"

enum { SETS = 60, FRAMES = 1500 };

/* Whether packets may be asked to go on behind this rule. */
static bool goes_on(const struct mr_filter_set *set, uint32_t rule)
{
	return rule < set->count && !mr_filter_action_is_final(set->rule[rule]->action);
}

static uint32_t next_start(const struct mr_filter_set *set, uint32_t rule)
{
	return set->rule[rule]->action == MR_FILTER_SKIPTO
		       ? mr_filter_set_at(set, set->rule[rule]->argument.number)
		       : rule + 1;
}

/* Keys as a hook reads them: those that frames have which no rule is asked about are left out. */
static unsigned random_keys(uint64_t *seed, uint32_t wants, bool out, struct mr_filter_key *key,
			    unsigned count)
{
	unsigned keys = 0;

	while (keys < count) {
		uint8_t frame[FILTER_FRAME_SIZE];
		unsigned length = filter_random_frame(seed, frame);
		struct mr_filter_place place = filter_random_place(seed);

		if (place.out == out && length >= 14 &&
		    mr_filter_key_read(frame, length, wants, &place, &key[keys]) == MR_FILTER_READ)
			keys++;
	}
	return keys;
}

/* What a key says of its packet, as the model has it. */
static uint32_t first_by_model(const struct mr_filter_set *set, const struct mr_filter_key *key,
			       bool out, uint32_t start)
{
	struct mr_filter_place place = {.iface_in = rte_be_to_cpu_16(key->iface_in),
					.iface_out = rte_be_to_cpu_16(key->iface_out),
					.vrf = rte_be_to_cpu_16(key->vrf),
					.out = out};
	struct model_packet packet = {
		.vlan = rte_be_to_cpu_16(key->vlan),
		.ethertype = rte_be_to_cpu_16(key->ethertype),
		.ip4 = (key->flags & MR_FILTER_IPV4) != 0,
		.ip6 = (key->flags & MR_FILTER_IPV6) != 0,
		.protocol = key->protocol,
		.length = rte_be_to_cpu_16(key->length),
		.ttl = key->ttl,
		.dscp = key->dscp,
		.options = (key->flags & MR_FILTER_OPTIONS) != 0,
		.later = (key->flags & MR_FILTER_LATER) != 0,
		.has_ports = (key->flags & MR_FILTER_PORTS) != 0,
		.has_tcp = (key->flags & MR_FILTER_TCP) != 0,
		.has_icmp = (key->flags & MR_FILTER_ICMP) != 0,
		.sport = rte_be_to_cpu_16(key->sport),
		.dport = rte_be_to_cpu_16(key->dport),
		.tcp_flags = key->tcp_flags,
		.icmp_type = key->icmp.type,
	};

	memcpy(packet.src_mac, key->src_mac, sizeof(packet.src_mac));
	memcpy(packet.dst_mac, key->dst_mac, sizeof(packet.dst_mac));
	memcpy(packet.src, key->src, sizeof(packet.src));
	memcpy(packet.dst, key->dst, sizeof(packet.dst));
	return model_first(set, &packet, &place, start);
}

/* Takes a burst all the way through a set, and compares each step with the plain evaluation. */
static unsigned follow(const struct mr_filter_set *set, const struct mr_classifier *c, bool out,
		       struct mr_verdict_cache *cache, const struct mr_filter_key *from,
		       unsigned count)
{
	struct mr_filter_key key[MR_CLASSIFY_MAX];
	uint32_t start[MR_CLASSIFY_MAX] = {0}, rule[MR_CLASSIFY_MAX];
	unsigned matched = 0;
	bool first = true;

	memcpy(key, from, count * sizeof(*key));
	while (count > 0) {
		unsigned left = 0;

		mr_classify(c, cache, key, first ? NULL : start, count, rule);
		for (unsigned i = 0; i < count; i++) {
			assert_int_equal(rule[i], first_by_model(set, &key[i], out, start[i]));
			matched += rule[i] < set->count;
			if (!goes_on(set, rule[i]))
				continue;
			key[left] = key[i];
			start[left++] = next_start(set, rule[i]);
		}
		count = left;
		first = false;
	}
	return matched;
}

static void check_set(uint64_t *seed, const struct mr_filter_set *set, bool out,
		      struct mr_verdict_cache *cache)
{
	struct mr_error error;
	struct mr_classifier *c = mr_classifier_compile(set, out, SOCKET_ID_ANY, &error);
	struct mr_filter_key *key = calloc(FRAMES, sizeof(*key));

	assert_non_null(c);
	random_keys(seed, c->wants, out, key, FRAMES);
	for (unsigned at = 0, count; at < FRAMES; at += count) {
		count = RTE_MIN(1 + filter_random(seed, MR_CLASSIFY_MAX), FRAMES - at);
		if (c->trivial)
			for (unsigned i = 0; i < count; i++)
				assert_int_equal(c->trivial_rule,
						 first_by_model(set, &key[at + i], out, 0));
		follow(set, c, out, cache, &key[at], count);
	}
	free(key);
	mr_classifier_free(c);
}

static void random_sets_give_each_packet_its_rule(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned i = 0; i < SETS; i++) {
		struct mr_filter_set *set =
			filter_random_set(&seed, 1 + filter_random(&seed, i % 4 == 0 ? 300 : 40));

		check_set(&seed, set, i % 2, NULL);
		mr_filter_set_free(set);
	}
}

/* One cache outlives all classifiers, and so must find nothing of those before; a cache of few
 * verdicts has them collide all the time. */
static void cached_verdicts_are_of_their_own_rules_and_flow(void **state)
{
	static const uint32_t sizes[] = {MR_VERDICT_CACHE_MIN, 4096};
	uint64_t seed = 2;

	(void)state;
	for (unsigned size = 0; size < 2; size++) {
		struct mr_verdict_cache *cache =
			mr_verdict_cache_create(sizes[size], SOCKET_ID_ANY);

		assert_non_null(cache);
		for (unsigned i = 0; i < SETS / 4; i++) {
			struct mr_filter_set *set =
				filter_random_set(&seed, 20 + filter_random(&seed, 200));

			check_set(&seed, set, i % 2, cache);
			mr_filter_set_free(set);
		}
		mr_verdict_cache_free(cache);
	}
}

static void add_rule(struct mr_filter_set *set, const char *text)
{
	struct mr_filter_fault fault;
	struct mr_filter_rule *rule;

	assert_int_equal(mr_filter_rule_parse(text, set, &rule, &fault), 0);
	assert_int_equal(mr_filter_rule_number(rule, set->count + 1, &fault), 0);
	assert_int_equal(mr_filter_set_append(set, rule), 0);
}

static struct mr_filter_set *set_of(const char *const *rules)
{
	struct mr_filter_set *set = mr_filter_set_new();

	for (unsigned i = 0; rules[i] != NULL; i++)
		add_rule(set, rules[i]);
	return set;
}

static void sets_that_decide_nothing_by_fields_are_trivial(void **state)
{
	static const struct {
		const char *rules[3];
		bool in, out;
		uint32_t in_rule, out_rule;
	} cases[] = {
		{{NULL}, true, true, 0, 0},
		{{"allow all from any to any"}, true, true, 0, 0},
		{{"deny all from any to any", "deny tcp from any to any 80"}, true, true, 0, 0},
		{{"deny all from any to any in"}, true, true, 0, 1},
		{{"deny all from any to any xmit port 1"}, true, false, 1, 0},
		{{"allow ip from any to any"}, false, false, 0, 0},
		{{"count all from any to any"}, false, false, 0, 0},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mr_filter_set *set = set_of(cases[i].rules);

		for (unsigned out = 0; out < 2; out++) {
			struct mr_classifier *c =
				mr_classifier_compile(set, out, SOCKET_ID_ANY, NULL);

			assert_int_equal(c->trivial, out ? cases[i].out : cases[i].in);
			if (c->trivial) {
				assert_int_equal(c->trivial_rule,
						 out ? cases[i].out_rule : cases[i].in_rule);
				assert_int_equal(c->wants, 0);
			}
			mr_classifier_free(c);
		}
		mr_filter_set_free(set);
	}
}

/* Rules that no sieve tells apart: so every packet has groups enough to be worth a verdict. */
static struct mr_filter_set *set_alike(uint32_t rules)
{
	struct mr_filter_set *set = mr_filter_set_new();

	for (uint32_t i = 0; i < rules; i++) {
		char text[128];

		snprintf(text, sizeof(text),
			 "deny ip from 10.0.0.0/8 to 10.0.0.0/8 dscp %u not ipttl %u", i % 64,
			 i % 256);
		add_rule(set, text);
	}
	return set;
}

static void make_flow(struct mr_filter_key *key, uint32_t number)
{
	uint32_t address = rte_cpu_to_be_32(RTE_IPV4(10, 0, 0, 0) | number);

	memset(key, 0, sizeof(*key));
	memcpy(key->src, &address, sizeof(address));
	key->dst[0] = 10;
	key->flags = MR_FILTER_IPV4;
	key->ttl = 1;
	key->dscp = 63;
}

static void verdicts_are_remembered_until_rules_change(void **state)
{
	struct mr_filter_set *set = set_alike(60);
	struct mr_classifier *c = mr_classifier_compile(set, false, SOCKET_ID_ANY, NULL);
	struct mr_classifier *other = mr_classifier_compile(set, false, SOCKET_ID_ANY, NULL);
	struct mr_verdict_cache *cache = mr_verdict_cache_create(256, SOCKET_ID_ANY);
	struct mr_filter_key key[2];
	uint32_t rule[2];

	(void)state;
	assert_true(c->generation != other->generation);
	make_flow(&key[0], 1);
	make_flow(&key[1], 2);
	for (unsigned i = 0; i < 3; i++)
		mr_classify(c, cache, key, NULL, 2, rule);
	assert_int_equal(cache->worth.asked, 6);
	assert_int_equal(cache->worth.known, 4);
	/* What is not of the flow counts too. */
	key[0].ttl = 2;
	mr_classify(c, cache, key, NULL, 2, rule);
	assert_int_equal(cache->worth.known, 5);
	mr_classify(other, cache, key, NULL, 2, rule);
	assert_int_equal(cache->worth.known, 5);
	mr_classify(c, cache, key, NULL, 2, rule);
	assert_int_equal(cache->worth.known, 5);
	mr_verdict_cache_free(cache);
	mr_classifier_free(c);
	mr_classifier_free(other);
	mr_filter_set_free(set);
}

static void a_flood_of_new_flows_makes_the_cache_pause(void **state)
{
	struct mr_filter_set *set = set_alike(60);
	struct mr_classifier *c = mr_classifier_compile(set, false, SOCKET_ID_ANY, NULL);
	struct mr_verdict_cache *cache = mr_verdict_cache_create(256, SOCKET_ID_ANY);
	struct mr_filter_key key[MR_CLASSIFY_MAX];
	uint32_t rule[MR_CLASSIFY_MAX], flow = 0, paused = 0, bursts = 10000;

	(void)state;
	for (unsigned n = 0; n < bursts; n++) {
		for (unsigned i = 0; i < MR_CLASSIFY_MAX; i++)
			make_flow(&key[i], ++flow);
		mr_classify(c, cache, key, NULL, MR_CLASSIFY_MAX, rule);
		paused += cache->worth.pause > 0;
	}
	assert_true(paused > bursts * 9 / 10);
	/* It wakes again. */
	for (unsigned n = 0; n < 1000; n++)
		mr_classify(c, cache, key, NULL, MR_CLASSIFY_MAX, rule);
	assert_int_equal(cache->worth.pause, 0);
	assert_true(cache->worth.known > 0);
	mr_verdict_cache_free(cache);
	mr_classifier_free(c);
	mr_filter_set_free(set);
}

/* As many rules as there may be, of many kinds; packets are made to match one of them. */
static void a_full_set_is_compiled_in_time_and_exact(void **state)
{
	struct mr_filter_set *set = mr_filter_set_new();
	struct mr_classifier *c;
	uint64_t seed = 3, begin;

	(void)state;
	for (uint32_t i = 0; i < MR_FILTER_MAX_RULES; i++) {
		static const unsigned lengths[] = {0, 8, 13, 16, 20, 24, 27, 30, 32};
		unsigned src = lengths[filter_random(&seed, 9)], port = 1 + i % 1000;
		unsigned dst = lengths[1 + filter_random(&seed, 8)];
		char text[160];

		snprintf(text, sizeof(text), "%s %s from 10.%u.%u.%u/%u to 10.%u.%u.%u/%u %u-%u",
			 i % 3 == 0 ? "count" : "deny", i % 2 == 0 ? "tcp" : "udp",
			 filter_random(&seed, 256), filter_random(&seed, 256), i & 255, src,
			 i >> 8 & 255, filter_random(&seed, 256), i & 255, dst, port,
			 port + (i % 5 == 0 ? filter_random(&seed, 60000) : 0));
		add_rule(set, text);
	}
	begin = rte_rdtsc();
	c = mr_classifier_compile(set, false, SOCKET_ID_ANY, NULL);
	assert_non_null(c);
	assert_true(rte_rdtsc() - begin < 20 * rte_get_tsc_hz());
	for (unsigned n = 0; n < 8; n++) {
		struct mr_filter_key key[8];

		for (unsigned i = 0; i < 8; i++) {
			const struct mr_filter_rule *rule =
				set->rule[filter_random(&seed, set->count)];

			memset(&key[i], 0, sizeof(key[i]));
			memcpy(key[i].src, rule->src.alternative[0].prefix.addr.bytes, 4);
			memcpy(key[i].dst, rule->dst.alternative[0].prefix.addr.bytes, 4);
			key[i].dport = rte_cpu_to_be_16(
				(uint16_t)mr_filter_rule_test(rule, MR_FILTER_DPORT)->range->first);
			key[i].protocol = n % 2 ? 6 : 17;
			key[i].flags = MR_FILTER_IPV4 | MR_FILTER_PORTS;
		}
		follow(set, c, false, NULL, key, 8);
	}
	mr_classifier_free(c);
	mr_filter_set_free(set);
}

static void without_memory_a_set_is_refused(void **state)
{
	struct mr_filter_set *set = set_alike(1000);
	struct mr_error error = {{0}};
	void *block[64];
	unsigned blocks = 0;

	(void)state;
	/* Nothing is left of the heap but crumbs. */
	for (size_t size = 64 << 20; size >= 16 << 10 && blocks < 64;) {
		block[blocks] = rte_malloc(NULL, size, 0);
		if (block[blocks] != NULL)
			blocks++;
		else
			size /= 2;
	}
	assert_null(mr_classifier_compile(set, false, SOCKET_ID_ANY, &error));
	assert_non_null(strstr(error.text, "no memory to compile 1000 rules"));
	while (blocks > 0)
		rte_free(block[--blocks]);
	mr_filter_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_sets_give_each_packet_its_rule),
		cmocka_unit_test(cached_verdicts_are_of_their_own_rules_and_flow),
		cmocka_unit_test(sets_that_decide_nothing_by_fields_are_trivial),
		cmocka_unit_test(verdicts_are_remembered_until_rules_change),
		cmocka_unit_test(a_flood_of_new_flows_makes_the_cache_pause),
		cmocka_unit_test(a_full_set_is_compiled_in_time_and_exact),
		cmocka_unit_test(without_memory_a_set_is_refused),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
