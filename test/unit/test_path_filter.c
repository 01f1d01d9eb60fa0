/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules do to packets on their way, through the whole packet path. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "filter/filter.h"
#include "filter/slow.h"
#include "routed.h"
#include "test_eal.h"

#define A "02:aa:00:00:00:01"
#define B "02:aa:00:00:00:02"

static void end(struct harness *h)
{
	harness_command(h, "filter flush");
	harness_command(h, "filter default allow");
	routed_end(h);
}

static struct frame to_1(unsigned dport)
{
	return FROM_0(.dst = "10.0.1.9", .dport = dport);
}

/* Sends frames in one burst on port 0; those whose bits are set leave on port 1, in their order. */
static void pass(struct harness *h, const struct frame *frames, unsigned count, uint64_t which)
{
	harness_burst(h, 0, frames, count);
	harness_run(h);
	for (unsigned i = 0; i < count; i++) {
		struct frame out = TO_HOST(1, &frames[i]);

		if ((which >> i & 1) != 0)
			harness_expect(h, 1, &out);
	}
	harness_expect_nothing(h);
}

static void passes(struct harness *h, unsigned dport)
{
	struct frame frame = to_1(dport);

	pass(h, &frame, 1, 1);
}

static void is_denied(struct harness *h, unsigned dport)
{
	struct frame frame = to_1(dport);

	pass(h, &frame, 1, 0);
	harness_dropped(h, MR_DROP_filter_denied, 1);
}

/* What a rule has counted. */
static uint64_t packets_of(struct harness *h, uint64_t number)
{
	char *text = harness_show(h, "filter show");
	json_t *reply = json_loads(text, 0, NULL), *rules, *rule;
	uint64_t packets = UINT64_MAX;
	size_t i;

	assert_non_null(reply);
	rules = json_object_get(reply, "rules");
	assert_true(json_is_array(rules));
	json_array_foreach (rules, i, rule)
		if (strtoull(json_string_value(json_object_get(rule, "rule")), NULL, 10) == number)
			packets = (uint64_t)json_integer_value(json_object_get(rule, "packets"));
	json_decref(reply);
	free(text);
	return packets;
}

static void a_rule_denies_what_it_matches_and_nothing_else(void **state)
{
	(void)state;
	struct harness *h = routed();

	passes(h, 80);
	harness_command(h, "filter add 100 deny udp from any to 10.0.1.0/24 80,443");
	is_denied(h, 80);
	is_denied(h, 443);
	passes(h, 81);
	assert_int_equal(packets_of(h, 100), 2);
	harness_command(h, "filter delete 100");
	passes(h, 80);
	end(h);
}

static void verdicts_of_a_burst_belong_to_their_packets(void **state)
{
	(void)state;
	struct harness *h = routed();
	static struct frame frames[64];

	harness_command(h, "filter add 100 deny udp from any to any 80");
	harness_command(h, "filter add 200 count udp from any to any 443");
	for (unsigned count = 1; count <= 64; count += 7) {
		uint64_t kept = 0, counted = packets_of(h, 200);
		unsigned denied = 0, of_200 = 0;

		for (unsigned i = 0; i < count; i++) {
			unsigned kind = (i * 7 + count) % 3;

			frames[i] = FROM_0(.dst = "10.0.1.9", .seed = i,
					   .dport = kind == 0   ? 80
						    : kind == 1 ? 443
								: 5000 + i);
			denied += kind == 0;
			of_200 += kind == 1;
			kept |= (uint64_t)(kind != 0) << i;
		}
		pass(h, frames, count, kept);
		harness_dropped(h, MR_DROP_filter_denied, denied);
		/* At both hooks. */
		assert_int_equal(packets_of(h, 200) - counted, 2 * of_200);
	}
	end(h);
}

static void the_sender_of_a_rejected_packet_is_told(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame frame = to_1(80);

	harness_command(h, "filter add 100 reject log udp from any to any 80 in");
	harness_send(h, 0, &frame);
	harness_run(h);
	routed_told(h, &frame, 3, 13, 0);
	harness_expect_nothing(h);
	harness_dropped(h, MR_DROP_filter_rejected, 1);
	harness_consumed(h, 1); /* what was logged */
	end(h);
}

static void hooks_are_told_apart(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter add 100 deny udp from any to any 1 in via port 0");
	harness_command(h, "filter add 200 deny udp from any to any 2 out via port 1");
	harness_command(h, "filter add 300 deny udp from any to any 3 in via port 1");
	harness_command(h, "filter add 400 deny udp from any to any 4 out via port 0");
	is_denied(h, 1);
	is_denied(h, 2);
	passes(h, 3);
	passes(h, 4);
	end(h);
}

static void a_default_that_denies_leaves_arp_alone(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame request =
		frame_arp(BROADCAST, HOST(0), 1, HOST(0), "10.0.0.9", NO_MAC, "10.0.0.1");
	struct frame reply =
		frame_arp(HOST(0), ROUTER(0), 2, ROUTER(0), "10.0.0.1", HOST(0), "10.0.0.9");

	harness_command(h, "filter default deny");
	is_denied(h, 80);
	harness_send(h, 0, &request);
	harness_run(h);
	harness_expect(h, 0, &reply);
	harness_expect_nothing(h);
	harness_consumed(h, 1);
	/* The appliance's own packets meet the rules as others do. */
	struct frame ttl = FROM_0(.dst = "10.0.1.9", .ttl = 1);

	harness_command(h, "filter add 100 allow udp from any to any in");
	harness_send(h, 0, &ttl);
	harness_run(h);
	harness_expect_nothing(h);
	harness_dropped(h, MR_DROP_ttl_exceeded, 1);
	harness_dropped(h, MR_DROP_filter_denied, 1);
	end(h);
}

static void skipto_goes_on_where_it_says(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter add 100 skipto 300 udp from any to any 80 in");
	harness_command(h, "filter add 200 deny udp from any to any in");
	harness_command(h, "filter add 300 count udp from any to any in");
	passes(h, 80);
	is_denied(h, 81);
	assert_int_equal(packets_of(h, 100), 1);
	assert_int_equal(packets_of(h, 200), 1);
	assert_int_equal(packets_of(h, 300), 1);
	end(h);
}

static void a_dscp_that_is_set_is_all_that_changes(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame in = FROM_0(.dst = "10.0.1.9", .tos = 0x03);
	struct frame expected = FROM_0(.dst = "10.0.1.9", .tos = 46 << 2 | 0x03);

	harness_command(h, "filter add 100 set-dscp 46 udp from any to any in");
	expected = TO_HOST(1, &expected);
	harness_send(h, 0, &in);
	harness_run(h);
	harness_expect(h, 1, &expected);
	harness_expect_nothing(h);
	end(h);
}

static void a_mirrored_packet_leaves_twice(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame frame = to_1(80), out = TO_HOST(1, &frame);

	harness_command(h, "filter add 100 mirror port 2 udp from any to any in");
	harness_send(h, 0, &frame);
	harness_run(h);
	harness_expect(h, 1, &out);
	harness_expect(h, 2, &frame);
	harness_expect_nothing(h);
	end(h);
}

static void what_exceeds_a_rate_is_dropped(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame frame = FROM_0(.dst = "10.0.1.9", .payload = 980), frames[4];

	/* 1,518 bytes at once, and not another 1,014 for a second. */
	harness_command(h, "filter add 100 police 8K burst 1518 udp from any to any in");
	for (unsigned i = 0; i < 4; i++)
		frames[i] = frame;
	pass(h, frames, 4, 1);
	harness_dropped(h, MR_DROP_filter_policed, 3);
	/* What is spent stays spent when other rules come. */
	harness_command(h, "filter add 200 count ip from any to any");
	pass(h, frames, 1, 0);
	harness_dropped(h, MR_DROP_filter_policed, 1);
	end(h);
}

static void headers_that_deceive_are_dropped_where_rules_look_at_them(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame tiny =
		FROM_0(.dst = "10.0.1.9", .protocol = 6, .payload = 8, .fragment = 0x2000);

	pass(h, &tiny, 1, 1);
	harness_command(h, "filter add 100 deny tcp from any to any 23");
	pass(h, &tiny, 1, 0);
	harness_dropped(h, MR_DROP_filter_tiny_fragment, 1);
	end(h);
}

static void a_bridge_is_filtered_unless_exempt(void **state)
{
	(void)state;
	struct harness *h = harness();
	struct frame frame =
		IPV4(.to = B, .from = A, .src = "192.0.2.1", .dst = "192.0.2.2", .dport = 80);
	struct frame tagged = frame_tagged(&frame, 0x8100, 7);
	const struct frame *const frames[] = {&frame, &tagged};

	harness_begin(h);
	harness_command(h, "bridge add br0");
	for (unsigned port = 0; port < 3; port++)
		harness_command(h, "bridge member add br0 port %u", port);
	harness_command(h, "filter add 100 deny udp from any to any 80 out via port 1");
	for (unsigned i = 0; i < 2; i++) {
		/* Flooded: one output of the shared frame is denied, the other is not. */
		harness_send(h, 0, frames[i]);
		harness_run(h);
		harness_expect(h, 2, frames[i]);
		harness_expect_nothing(h);
		harness_dropped(h, MR_DROP_filter_denied, 1);
	}
	harness_command(h, "filter add 50 set-dscp 8 udp from any to any out via port 2");
	harness_send(h, 0, &frame);
	harness_run(h);
	struct frame marked = IPV4(.to = B, .from = A, .src = "192.0.2.1", .dst = "192.0.2.2",
				   .dport = 80, .tos = 8 << 2);
	harness_expect(h, 2, &marked);
	harness_dropped(h, MR_DROP_filter_denied, 1);
	harness_command(h, "filter bridge br0 off");
	harness_send(h, 0, &frame);
	harness_run(h);
	harness_expect(h, 1, &frame);
	harness_expect(h, 2, &frame);
	harness_expect_nothing(h);
	harness_command(h, "filter flush");
	harness_command(h, "bridge del br0");
	harness_end(h);
}

/* An lcore sends the control thread a hundred summaries a second; what it logs goes its way. */
static void what_is_logged_is_copied_at_a_rate(void **state)
{
	(void)state;
	struct harness *h = routed();
	const struct mr_filter_slow *slow = h->rig.mr->filter->slow;
	uint64_t told = slow->logged + slow->log_suppressed;
	static struct frame frames[50];

	harness_command(h, "filter add 100 allow log udp from any to any 80 in");
	harness_advance(h, 1000);
	for (unsigned i = 0; i < 50; i++)
		frames[i] = FROM_0(.dst = "10.0.1.9", .dport = 80, .seed = i);
	for (unsigned burst = 0; burst < 3; burst++)
		pass(h, frames, 50, UINT64_MAX);
	harness_consumed(h, 100);
	passes(h, 81);
	harness_consumed(h, 0);
	harness_advance(h, 1000);
	passes(h, 80);
	harness_consumed(h, 1);
	assert_int_equal(slow->logged + slow->log_suppressed - told, 101);
	assert_true(slow->log_suppressed > 0);
	end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_denies_what_it_matches_and_nothing_else),
		cmocka_unit_test(verdicts_of_a_burst_belong_to_their_packets),
		cmocka_unit_test(the_sender_of_a_rejected_packet_is_told),
		cmocka_unit_test(hooks_are_told_apart),
		cmocka_unit_test(a_default_that_denies_leaves_arp_alone),
		cmocka_unit_test(skipto_goes_on_where_it_says),
		cmocka_unit_test(a_dscp_that_is_set_is_all_that_changes),
		cmocka_unit_test(a_mirrored_packet_leaves_twice),
		cmocka_unit_test(what_exceeds_a_rate_is_dropped),
		cmocka_unit_test(headers_that_deceive_are_dropped_where_rules_look_at_them),
		cmocka_unit_test(a_bridge_is_filtered_unless_exempt),
		cmocka_unit_test(what_is_logged_is_copied_at_a_rate),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
