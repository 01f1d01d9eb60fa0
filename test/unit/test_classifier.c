/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filter/classifier.h"
#include "filter/rule_text.h"

#include "filter_linear.h"
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
			assert_int_equal(rule[i], filter_linear_first(set, &key[i], out, start[i]));
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
						 filter_linear_first(set, &key[at + i], out, 0));
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

static struct mr_filter_set *set_of(const char *const *rules)
{
	struct mr_filter_set *set = mr_filter_set_new();

	for (uint32_t i = 0; rules[i] != NULL; i++) {
		struct mr_filter_fault fault;
		struct mr_filter_rule *rule;

		assert_int_equal(mr_filter_rule_parse(rules[i], set, &rule, &fault), 0);
		assert_int_equal(mr_filter_rule_number(rule, i + 1, &fault), 0);
		assert_int_equal(mr_filter_set_append(set, rule), 0);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_sets_give_each_packet_its_rule),
		cmocka_unit_test(sets_that_decide_nothing_by_fields_are_trivial),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
