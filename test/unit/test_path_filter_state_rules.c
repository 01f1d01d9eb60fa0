/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in a set of rules flows are met, what other rules do to their packets, and what counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "stateful.h"
#include "test_eal.h"

#define KEEP "filter add 200 allow udp from 10.0.0.0/24 to any keep-state"

static struct frame query(void)
{
	return stateful_udp(0, 1, 1000, 53);
}

static struct frame answer(void)
{
	return stateful_udp(1, 0, 53, 1000);
}

static void is_denied(struct harness *h, unsigned from, struct frame frame)
{
	stateful_dropped(h, from, frame, MR_DROP_filter_denied);
}

/* How many packets a rule has counted, by its number. */
static unsigned counted(struct harness *h, unsigned number)
{
	char *text = harness_show(h, "filter show");
	json_t *reply = json_loads(text, 0, NULL), *rule;
	unsigned sum = 0;
	size_t i;

	json_array_foreach (json_object_get(reply, "rules"), i, rule)
		if (strtoul(json_string_value(json_object_get(rule, "rule")), NULL, 10) == number)
			sum += (unsigned)json_integer_value(json_object_get(rule, "packets"));
	json_decref(reply);
	free(text);
	return sum;
}

static void without_rules_that_keep_state_nothing_is_known(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 check-state");
	is_denied(h, 0, query());
	harness_command(h, "filter add 200 allow udp from 10.0.0.0/24 to any");
	stateful_passes(h, 0, 1, query());
	is_denied(h, 1, answer());
	harness_command(h, "filter default allow");
	harness_command(h, "filter delete 200");
	stateful_passes(h, 1, 0, answer());
	assert_int_equal(stateful_flows(h), 0);
	stateful_end(h);
}

static void the_rule_that_made_a_flow_counts_it_once_a_hook(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 50 count udp from any to any");
	harness_command(h, "filter add 100 check-state");
	harness_command(h, "filter add 150 check-state");
	harness_command(h, KEEP);
	harness_command(h, "filter add 250 allow udp from any to any keep-state out");
	stateful_passes(h, 0, 1, query());
	stateful_passes(h, 0, 1, query());
	stateful_passes(h, 1, 0, answer());
	is_denied(h, 2, stateful_udp(2, 0, 53, 1000));
	assert_int_equal(counted(h, 50), 7);
	assert_int_equal(counted(h, 100), 0);
	assert_int_equal(counted(h, 150), 0);
	assert_int_equal(counted(h, 200), 6);
	assert_int_equal(counted(h, 250), 0);
	stateful_end(h);
}

static void a_jump_past_all_state_meets_no_flow(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 50 skipto 300 udp from any to any 1000 recv port 1");
	harness_command(h, "filter add 100 check-state");
	harness_command(h, KEEP);
	harness_command(h, "filter add 300 count ip from any to any");
	stateful_passes(h, 0, 1, query());
	is_denied(h, 1, answer());
	/* One that jumps to state meets it there. */
	harness_command(h, "filter add 400 check-state");
	stateful_passes(h, 1, 0, answer());
	stateful_end(h);
}

static void state_at_one_hook_is_not_asked_at_the_other(void **state)
{
	(void)state;
	struct harness *h = routed();

	/* In: the answer is let in, and is met by no flow on its way out. */
	harness_command(h, "filter default deny");
	harness_command(h, "filter add 200 allow udp from 10.0.0.0/24 to any in keep-state");
	is_denied(h, 0, query());
	harness_command(h, "filter add 300 allow udp from any to any 53 out");
	stateful_passes(h, 0, 1, query());
	is_denied(h, 1, answer());
	harness_command(h, "filter add 400 check-state");
	stateful_passes(h, 1, 0, answer());
	harness_command(h, "filter flush");
	harness_advance(h, 2000);

	/* Out. */
	harness_command(h, "filter add 200 allow udp from 10.0.0.0/24 to any out keep-state");
	harness_command(h, "filter add 300 allow udp from any to any in");
	is_denied(h, 1, answer());
	stateful_passes(h, 0, 1, query());
	stateful_passes(h, 1, 0, answer());
	is_denied(h, 2, stateful_udp(2, 0, 53, 1000));
	stateful_end(h);
}

/* What a rule drops makes no flow, and a flow does not excuse it. */
static void rules_before_state_do_their_part(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame marked = query(), out, copy;

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 50 police 8K burst 1518 udp from any to any in recv port 0");
	harness_command(h, "filter add 60 set-dscp ef udp from any to any in recv port 0");
	harness_command(h, "filter add 70 mirror port 3 udp from any to any in recv port 0");
	harness_command(h, "filter add 100 check-state");
	harness_command(h, KEEP);
	marked.bytes[15] = 46 << 2;
	frame_fix_ipv4(&marked);
	out = TO_HOST(1, &marked);
	for (unsigned i = 0; i < 1518 / 60; i++) {
		struct frame sent = query();

		routed_send(h, 0, &sent);
		harness_expect(h, 1, &out);
		assert_true(harness_take(h, 3, &copy));
	}
	stateful_dropped(h, 0, query(), MR_DROP_filter_policed);
	stateful_dropped(h, 0, stateful_udp(0, 1, 1001, 53), MR_DROP_filter_policed);
	is_denied(h, 1, stateful_udp(1, 0, 53, 1001));
	stateful_passes(h, 1, 0, answer());
	assert_int_equal(stateful_flows(h), 2);
	stateful_end(h);
}

static void log_with_state_logs_packets_of_the_flow(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 check-state");
	harness_command(h, "filter add 200 allow log udp from 10.0.0.0/24 to any keep-state");
	stateful_passes(h, 0, 1, query());
	stateful_passes(h, 1, 0, answer());
	stateful_passes(h, 0, 1, query());
	assert_int_equal(counted(h, 200), 6);
	harness_consumed(h, 6);
	stateful_end(h);
}

static void load(struct harness *h, const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/test_path_filter_state_rules.%d", (int)getpid());
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	harness_command(h, "filter load %s", path);
	unlink(path);
}

/* By `load` and one by one: a flow lives as long as its rule is the same. */
static void flows_end_with_their_rule(void **state)
{
	(void)state;
	struct harness *h = routed();

	load(h, "default deny\n"
		"add 200 allow udp from 10.0.0.0/24 to any 53 keep-state\n"
		"add 300 allow udp from 10.0.0.0/24 to any 54 limit src-addr 1\n");
	for (unsigned port = 53; port < 55; port++)
		stateful_passes(h, 0, 1, stateful_udp(0, 1, 1000, port));
	/* Others come and go, and the order in the file does not matter. */
	load(h, "add 300 allow udp from 10.0.0.0/24 to any 54 limit src-addr 1\n"
		"add 100 check-state\n"
		"add 50 count ip from any to any\n"
		"add 200 allow udp from 10.0.0.0/24 to any 53 keep-state\n");
	for (unsigned port = 53; port < 55; port++)
		stateful_passes(h, 1, 0, stateful_udp(1, 0, port, 1000));
	stateful_dropped(h, 0, stateful_udp(0, 1, 1001, 54), MR_DROP_filter_state_limit);
	/* Another limit or other tests are another rule, and the same with another number. */
	load(h, "add 201 allow udp from 10.0.0.0/24 to any 53 keep-state\n"
		"add 300 allow udp from 10.0.0.0/24 to any 54 limit src-addr 2\n");
	for (unsigned port = 53; port < 55; port++)
		is_denied(h, 1, stateful_udp(1, 0, port, 1000));
	assert_int_equal(stateful_flows(h), 0);
	/* The new rule counts anew. */
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 1000, 54));
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 1001, 54));
	stateful_dropped(h, 0, stateful_udp(0, 1, 1002, 54), MR_DROP_filter_state_limit);
	harness_command(h, "filter delete 300");
	is_denied(h, 1, stateful_udp(1, 0, 54, 1000));
	stateful_end(h);
}

static void timeouts_hold_for_flows_that_live(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, KEEP);
	stateful_passes(h, 0, 1, query());
	stateful_passes(h, 1, 0, answer());
	harness_advance(h, 20000);
	harness_command(h, "filter state timeout udp-established 10");
	is_denied(h, 1, answer());
	stateful_passes(h, 0, 1, query());
	stateful_passes(h, 1, 0, answer());
	harness_advance(h, 8000);
	harness_command(h, "filter state timeout udp-established 300");
	harness_advance(h, 200000);
	stateful_passes(h, 1, 0, answer());
	stateful_end(h);
}

static void a_flush_is_felt_at_once(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 check-state");
	harness_command(h, "filter add 200 allow ip from 10.0.0.0/24 to any limit src-addr 2");
	for (unsigned round = 0; round < 300; round++) {
		struct frame sent = answer();

		stateful_passes(h, 0, 1, query());
		stateful_passes(h, 1, 0, answer());
		stateful_passes(h, 0, 1,
				TCP(.from = 0, .to = 1, .flags = SYN, .seq = round * 9000));
		stateful_passes(h, 1, 0,
				TCP(.from = 1, .to = 0, .flags = SYN | ACK, .seq = round,
				    .ack = round * 9000 + 1));
		harness_send(h, 1, &sent); /* is on its way meanwhile */
		harness_command(h, "filter state flush");
		harness_run(h);
		harness_dropped(h, MR_DROP_filter_denied, 1);
		is_denied(h, 1,
			  TCP(.from = 1, .to = 0, .flags = ACK, .seq = round + 1,
			      .ack = round * 9000 + 1));
		assert_int_equal(stateful_flows(h), 0);
		if (round % 2 != 0)
			harness_advance(h, 1000);
	}
	stateful_end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_rules_that_keep_state_nothing_is_known),
		cmocka_unit_test(the_rule_that_made_a_flow_counts_it_once_a_hook),
		cmocka_unit_test(a_jump_past_all_state_meets_no_flow),
		cmocka_unit_test(state_at_one_hook_is_not_asked_at_the_other),
		cmocka_unit_test(rules_before_state_do_their_part),
		cmocka_unit_test(log_with_state_logs_packets_of_the_flow),
		cmocka_unit_test(flows_end_with_their_rule),
		cmocka_unit_test(timeouts_hold_for_flows_that_live),
		cmocka_unit_test(a_flush_is_felt_at_once),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
