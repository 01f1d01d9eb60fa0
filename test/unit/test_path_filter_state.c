/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that keep state, through the whole packet path. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "stateful.h"
#include "test_eal.h"

enum { TRANSPORT = STATEFUL_TRANSPORT };

static struct frame tcp(unsigned from, unsigned to, unsigned sport, unsigned dport, uint8_t flags,
			uint32_t seq, uint32_t ack)
{
	return TCP(.from = from, .to = to, .sport = sport, .dport = dport, .flags = flags,
		   .seq = seq, .ack = ack);
}

static void a_flow_passes_in_both_directions(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 allow udp from 10.0.0.0/24 to any keep-state");
	stateful_dropped(h, 1, stateful_udp(1, 0, 53, 1000), MR_DROP_filter_denied);
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 1000, 53));
	stateful_passes(h, 1, 0, stateful_udp(1, 0, 53, 1000));
	stateful_dropped(h, 1, stateful_udp(1, 0, 54, 1000), MR_DROP_filter_denied);
	stateful_dropped(h, 2, stateful_udp(2, 0, 53, 1000), MR_DROP_filter_denied);
	stateful_end(h);
}

static void a_flow_ends_by_time(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 check-state");
	harness_command(h, "filter add 200 allow udp from 10.0.0.0/24 to any keep-state");
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 1000, 53));
	harness_advance(h, 29000);
	stateful_passes(h, 1, 0, stateful_udp(1, 0, 53, 1000));
	harness_advance(h, 299000);
	stateful_passes(h, 1, 0, stateful_udp(1, 0, 53, 1000));
	harness_advance(h, 301000);
	stateful_dropped(h, 1, stateful_udp(1, 0, 53, 1000), MR_DROP_filter_denied);
	harness_command(h, "filter state timeout udp-opening 5");
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 1000, 53));
	harness_advance(h, 6000);
	stateful_dropped(h, 1, stateful_udp(1, 0, 53, 1000), MR_DROP_filter_denied);
	harness_command(h, "filter state timeout udp-opening 30");
	harness_refused(h, -ENOENT, "filter state timeout nothing 30");
	harness_refused(h, -EINVAL, "filter state timeout icmp 0");
	stateful_end(h);
}

static void a_connection_is_followed(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 check-state");
	harness_command(h, "filter add 200 allow tcp from 10.0.0.0/24 to any setup keep-state");
	stateful_dropped(h, 0, tcp(0, 1, 1000, 80, ACK, 5, 5), MR_DROP_filter_denied);
	stateful_passes(h, 0, 1, tcp(0, 1, 1000, 80, SYN, 100, 0));
	stateful_dropped(h, 1, tcp(1, 0, 80, 1000, SYN | ACK, 700, 999), MR_DROP_filter_bad_state);
	stateful_passes(h, 1, 0, tcp(1, 0, 80, 1000, SYN | ACK, 700, 101));
	stateful_passes(h, 0, 1, tcp(0, 1, 1000, 80, ACK, 101, 701));
	stateful_dropped(h, 1, tcp(1, 0, 80, 1000, RST, 90000, 0), MR_DROP_filter_bad_state);
	stateful_dropped(h, 0, tcp(0, 1, 1000, 80, SYN, 90000, 0), MR_DROP_filter_bad_state);
	harness_advance(h, 3600000);
	stateful_passes(h, 1, 0, tcp(1, 0, 80, 1000, ACK, 701, 101));
	stateful_passes(h, 0, 1, tcp(0, 1, 1000, 80, RST, 101, 0));
	harness_advance(h, 12000);
	stateful_dropped(h, 1, tcp(1, 0, 80, 1000, ACK, 701, 101), MR_DROP_filter_denied);
	stateful_end(h);
}

static void a_request_is_no_reply(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 allow icmp from 10.0.0.0/24 to any keep-state");
	/* The id that a request's type would look like, if it were taken for a port. */
	for (unsigned i = 0; i < 2; i++) {
		unsigned id = i == 0 ? 77 : 0x0800;

		stateful_passes(h, 0, 1, stateful_echo(0, 1, 8, id));
		stateful_dropped(h, 1, stateful_echo(1, 0, 8, id), MR_DROP_filter_denied);
		stateful_dropped(h, 1, stateful_echo(1, 0, 0, id + 1), MR_DROP_filter_denied);
		stateful_passes(h, 1, 0, stateful_echo(1, 0, 0, id));
	}
	stateful_end(h);
}

/* An error about a frame, from the host behind port 1. */
static struct frame error_about(const struct frame *about, const char *to)
{
	struct frame frame = IPV4(.to = ROUTER(1), .from = HOST(1), .src = "10.0.1.9", .dst = to,
				  .protocol = 1, .payload = 8 + 28);

	memset(frame.bytes + TRANSPORT, 0, 8);
	frame.bytes[TRANSPORT] = 3;
	frame.bytes[TRANSPORT + 1] = 3;
	memcpy(frame.bytes + TRANSPORT + 8, about->bytes + 14, 28);
	frame_fix_icmp(&frame);
	return frame;
}

static void errors_about_a_flow_pass(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame of_flow = stateful_udp(0, 1, 1000, 53), other = stateful_udp(0, 1, 1001, 53);
	struct frame syn = tcp(0, 1, 1000, 80, SYN, 100, 0);
	struct frame forged = tcp(0, 1, 1000, 80, SYN, 900000, 0);
	struct frame redirect;

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 allow ip from 10.0.0.0/24 to any keep-state");
	stateful_passes(h, 0, 1, of_flow);
	stateful_passes(h, 0, 1, syn);
	stateful_passes(h, 1, 0, error_about(&of_flow, "10.0.0.9"));
	stateful_passes(h, 1, 0, error_about(&syn, "10.0.0.9"));
	stateful_dropped(h, 1, error_about(&other, "10.0.0.9"), MR_DROP_filter_denied);
	stateful_dropped(h, 1, error_about(&forged, "10.0.0.9"), MR_DROP_filter_denied);
	stateful_dropped(h, 1, error_about(&of_flow, "10.0.2.9"), MR_DROP_filter_denied);
	redirect = error_about(&of_flow, "10.0.0.9");
	redirect.bytes[TRANSPORT] = 5;
	frame_fix_icmp(&redirect);
	stateful_dropped(h, 1, redirect, MR_DROP_filter_denied);
	stateful_end(h);
}

static void a_limit_is_kept(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 allow udp from any to any 53 limit src-addr 3");
	for (unsigned i = 0; i < 3; i++)
		stateful_passes(h, 0, 1, stateful_udp(0, 1, 1000 + i, 53));
	stateful_dropped(h, 0, stateful_udp(0, 1, 2000, 53), MR_DROP_filter_state_limit);
	stateful_passes(h, 2, 1, stateful_udp(2, 1, 2000, 53));
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 1001, 53));
	harness_advance(h, 40000);
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 2000, 53));
	stateful_end(h);
}

static void a_burst_of_a_new_flow_makes_one(void **state)
{
	(void)state;
	struct harness *h = routed();
	static struct frame frames[64];

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 allow udp from any to any 53 limit src-addr 1");
	for (unsigned count = 1; count <= 64; count += 9) {
		for (unsigned i = 0; i < count; i++)
			frames[i] = stateful_udp(0, 1, i % 3 == 1 ? 4000 + i : 1000,
						 i % 3 == 2 ? 54 : 53);
		harness_burst(h, 0, frames, count);
		harness_run(h);
		for (unsigned i = 0; i < count; i += 3) {
			struct frame out = TO_HOST(1, &frames[i]);

			harness_expect(h, 1, &out);
		}
		harness_expect_nothing(h);
		harness_dropped(h, MR_DROP_filter_state_limit, (count + 1) / 3);
		harness_dropped(h, MR_DROP_filter_denied, count / 3);
	}
	stateful_end(h);
}

static void a_rule_that_stays_keeps_its_flows(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 allow udp from 10.0.0.0/24 to any 53 keep-state");
	harness_command(h, "filter add 200 allow udp from 10.0.0.0/24 to any 54 keep-state");
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 1000, 53));
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 1000, 54));
	harness_command(h, "filter delete 200");
	harness_command(h, "filter add 50 deny tcp from any to any");
	stateful_passes(h, 1, 0, stateful_udp(1, 0, 53, 1000));
	stateful_dropped(h, 1, stateful_udp(1, 0, 54, 1000), MR_DROP_filter_denied);
	harness_command(h, "filter add 200 allow udp from 10.0.0.0/24 to any 54 keep-state");
	stateful_dropped(h, 1, stateful_udp(1, 0, 54, 1000), MR_DROP_filter_denied);
	harness_command(h, "filter state flush");
	stateful_dropped(h, 1, stateful_udp(1, 0, 53, 1000), MR_DROP_filter_denied);
	stateful_end(h);
}

static void rules_before_the_first_with_state_decide(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter add 100 deny udp from any to any 1000 in recv port 2");
	harness_command(h, "filter add 200 skipto 400 udp from any to any 2000");
	harness_command(h, "filter add 300 allow udp from 10.0.0.0/24 to any keep-state");
	harness_command(h, "filter add 400 deny udp from any to 10.0.0.0/24");
	stateful_passes(h, 0, 2, stateful_udp(0, 2, 1000, 53));
	stateful_dropped(h, 2, stateful_udp(2, 0, 53, 1000), MR_DROP_filter_denied);
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 1000, 53));
	stateful_passes(h, 1, 0, stateful_udp(1, 0, 53, 1000));
	/* Makes a flow, which the way back jumps past. */
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 2000, 53));
	stateful_dropped(h, 1, stateful_udp(1, 0, 53, 2000), MR_DROP_filter_denied);
	stateful_end(h);
}

static void show_tells_of_flows(void **state)
{
	(void)state;
	struct harness *h = routed();
	json_t *reply, *flows;
	char *text;

	harness_command(h, "filter add 100 allow udp from 10.0.0.0/24 to any keep-state");
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 1000, 53));
	stateful_passes(h, 1, 0, stateful_udp(1, 0, 53, 1000));
	text = harness_show(h, "filter state show");
	reply = json_loads(text, 0, NULL);
	free(text);
	assert_non_null(reply);
	flows = json_object_get(reply, "flows");
	assert_int_equal(json_array_size(flows), 2);
	for (unsigned i = 0; i < 2; i++) {
		json_t *flow = json_array_get(flows, i);

		assert_string_equal(json_string_value(json_object_get(flow, "state")),
				    "established");
		assert_int_equal(json_integer_value(json_object_get(flow, "rule")), 100);
		assert_int_equal(json_integer_value(json_object_get(flow, "left")), 300);
	}
	json_decref(reply);
	stateful_end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flow_passes_in_both_directions),
		cmocka_unit_test(a_flow_ends_by_time),
		cmocka_unit_test(a_connection_is_followed),
		cmocka_unit_test(a_request_is_no_reply),
		cmocka_unit_test(errors_about_a_flow_pass),
		cmocka_unit_test(a_limit_is_kept),
		cmocka_unit_test(a_burst_of_a_new_flow_makes_one),
		cmocka_unit_test(a_rule_that_stays_keeps_its_flows),
		cmocka_unit_test(rules_before_the_first_with_state_decide),
		cmocka_unit_test(show_tells_of_flows),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
