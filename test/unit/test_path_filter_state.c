/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that keep state, through the whole packet path. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <rte_byteorder.h>
#include <rte_tcp.h>

#include "routed.h"
#include "test_eal.h"

enum { TRANSPORT = 34, SYN = RTE_TCP_SYN_FLAG, ACK = RTE_TCP_ACK_FLAG, RST = RTE_TCP_RST_FLAG };

static void end(struct harness *h)
{
	harness_command(h, "filter flush");
	harness_command(h, "filter default allow");
	harness_command(h, "filter state flush");
	routed_end(h);
}

/* A frame from the host behind one port to that behind another. */
static struct frame between(unsigned from, unsigned to, unsigned sport, unsigned dport,
			    int protocol, unsigned payload)
{
	static const char *const router[] = {ROUTER(0), ROUTER(1), ROUTER(2)};
	static const char *const host[] = {HOST(0), HOST(1), HOST(2)};
	static const char *const address[] = {"10.0.0.9", "10.0.1.9", "10.0.2.9"};

	return IPV4(.to = router[from], .from = host[from], .src = address[from],
		    .dst = address[to], .sport = sport, .dport = dport, .protocol = protocol,
		    .payload = payload);
}

static struct frame udp(unsigned from, unsigned to, unsigned sport, unsigned dport)
{
	return between(from, to, sport, dport, 17, 26);
}

static struct frame tcp(unsigned from, unsigned to, unsigned sport, unsigned dport, uint8_t flags,
			uint32_t seq, uint32_t ack)
{
	struct frame frame = between(from, to, sport, dport, 6, 20);
	struct rte_tcp_hdr *header = (struct rte_tcp_hdr *)(frame.bytes + TRANSPORT);

	header->sent_seq = rte_cpu_to_be_32(seq);
	header->recv_ack = rte_cpu_to_be_32(ack);
	header->data_off = 5 << 4;
	header->tcp_flags = flags;
	header->rx_win = rte_cpu_to_be_16(1000);
	return frame;
}

static void passes(struct harness *h, unsigned from, unsigned to, struct frame frame)
{
	struct frame out = to == 0   ? TO_HOST(0, &frame)
			   : to == 1 ? TO_HOST(1, &frame)
				     : TO_HOST(2, &frame);

	routed_send(h, from, &frame);
	harness_expect(h, to, &out);
	harness_expect_nothing(h);
}

static void is_dropped(struct harness *h, unsigned from, struct frame frame,
		       enum mr_drop_reason reason)
{
	routed_send(h, from, &frame);
	harness_expect_nothing(h);
	harness_dropped(h, reason, 1);
}

static void a_flow_passes_in_both_directions(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 allow udp from 10.0.0.0/24 to any keep-state");
	is_dropped(h, 1, udp(1, 0, 53, 1000), MR_DROP_filter_denied);
	passes(h, 0, 1, udp(0, 1, 1000, 53));
	passes(h, 1, 0, udp(1, 0, 53, 1000));
	is_dropped(h, 1, udp(1, 0, 54, 1000), MR_DROP_filter_denied);
	is_dropped(h, 2, udp(2, 0, 53, 1000), MR_DROP_filter_denied);
	end(h);
}

static void a_flow_ends_by_time(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 check-state");
	harness_command(h, "filter add 200 allow udp from 10.0.0.0/24 to any keep-state");
	passes(h, 0, 1, udp(0, 1, 1000, 53));
	harness_advance(h, 29000);
	passes(h, 1, 0, udp(1, 0, 53, 1000));
	harness_advance(h, 299000);
	passes(h, 1, 0, udp(1, 0, 53, 1000));
	harness_advance(h, 301000);
	is_dropped(h, 1, udp(1, 0, 53, 1000), MR_DROP_filter_denied);
	harness_command(h, "filter state timeout udp-opening 5");
	passes(h, 0, 1, udp(0, 1, 1000, 53));
	harness_advance(h, 6000);
	is_dropped(h, 1, udp(1, 0, 53, 1000), MR_DROP_filter_denied);
	harness_command(h, "filter state timeout udp-opening 30");
	harness_refused(h, -ENOENT, "filter state timeout nothing 30");
	harness_refused(h, -EINVAL, "filter state timeout icmp 0");
	end(h);
}

static void a_connection_is_followed(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 check-state");
	harness_command(h, "filter add 200 allow tcp from 10.0.0.0/24 to any setup keep-state");
	is_dropped(h, 0, tcp(0, 1, 1000, 80, ACK, 5, 5), MR_DROP_filter_denied);
	passes(h, 0, 1, tcp(0, 1, 1000, 80, SYN, 100, 0));
	is_dropped(h, 1, tcp(1, 0, 80, 1000, SYN | ACK, 700, 999), MR_DROP_filter_bad_state);
	passes(h, 1, 0, tcp(1, 0, 80, 1000, SYN | ACK, 700, 101));
	passes(h, 0, 1, tcp(0, 1, 1000, 80, ACK, 101, 701));
	is_dropped(h, 1, tcp(1, 0, 80, 1000, RST, 90000, 0), MR_DROP_filter_bad_state);
	is_dropped(h, 0, tcp(0, 1, 1000, 80, SYN, 90000, 0), MR_DROP_filter_bad_state);
	harness_advance(h, 3600000);
	passes(h, 1, 0, tcp(1, 0, 80, 1000, ACK, 701, 101));
	passes(h, 0, 1, tcp(0, 1, 1000, 80, RST, 101, 0));
	harness_advance(h, 12000);
	is_dropped(h, 1, tcp(1, 0, 80, 1000, ACK, 701, 101), MR_DROP_filter_denied);
	end(h);
}

static struct frame echo(unsigned from, unsigned to, uint8_t type, unsigned id)
{
	struct frame request = between(from, to, 0, 0, 1, 26);
	struct ipv4 ip = {.to = from == 0 ? ROUTER(0) : ROUTER(1),
			  .from = from == 0 ? HOST(0) : HOST(1),
			  .src = from == 0 ? "10.0.0.9" : "10.0.1.9",
			  .dst = to == 0 ? "10.0.0.9" : "10.0.1.9"};

	request = frame_echo(&ip, id, 1, 32);
	request.bytes[TRANSPORT] = type;
	frame_fix_icmp(&request);
	return request;
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

		passes(h, 0, 1, echo(0, 1, 8, id));
		is_dropped(h, 1, echo(1, 0, 8, id), MR_DROP_filter_denied);
		is_dropped(h, 1, echo(1, 0, 0, id + 1), MR_DROP_filter_denied);
		passes(h, 1, 0, echo(1, 0, 0, id));
	}
	end(h);
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
	struct frame of_flow = udp(0, 1, 1000, 53), other = udp(0, 1, 1001, 53);
	struct frame syn = tcp(0, 1, 1000, 80, SYN, 100, 0);
	struct frame forged = tcp(0, 1, 1000, 80, SYN, 900000, 0);
	struct frame redirect;

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 allow ip from 10.0.0.0/24 to any keep-state");
	passes(h, 0, 1, of_flow);
	passes(h, 0, 1, syn);
	passes(h, 1, 0, error_about(&of_flow, "10.0.0.9"));
	passes(h, 1, 0, error_about(&syn, "10.0.0.9"));
	is_dropped(h, 1, error_about(&other, "10.0.0.9"), MR_DROP_filter_denied);
	is_dropped(h, 1, error_about(&forged, "10.0.0.9"), MR_DROP_filter_denied);
	is_dropped(h, 1, error_about(&of_flow, "10.0.2.9"), MR_DROP_filter_denied);
	redirect = error_about(&of_flow, "10.0.0.9");
	redirect.bytes[TRANSPORT] = 5;
	frame_fix_icmp(&redirect);
	is_dropped(h, 1, redirect, MR_DROP_filter_denied);
	end(h);
}

static void a_limit_is_kept(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 allow udp from any to any 53 limit src-addr 3");
	for (unsigned i = 0; i < 3; i++)
		passes(h, 0, 1, udp(0, 1, 1000 + i, 53));
	is_dropped(h, 0, udp(0, 1, 2000, 53), MR_DROP_filter_state_limit);
	passes(h, 2, 1, udp(2, 1, 2000, 53));
	passes(h, 0, 1, udp(0, 1, 1001, 53));
	harness_advance(h, 40000);
	passes(h, 0, 1, udp(0, 1, 2000, 53));
	end(h);
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
			frames[i] = udp(0, 1, i % 3 == 1 ? 4000 + i : 1000, i % 3 == 2 ? 54 : 53);
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
	end(h);
}

static void a_rule_that_stays_keeps_its_flows(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 allow udp from 10.0.0.0/24 to any 53 keep-state");
	harness_command(h, "filter add 200 allow udp from 10.0.0.0/24 to any 54 keep-state");
	passes(h, 0, 1, udp(0, 1, 1000, 53));
	passes(h, 0, 1, udp(0, 1, 1000, 54));
	harness_command(h, "filter delete 200");
	harness_command(h, "filter add 50 deny tcp from any to any");
	passes(h, 1, 0, udp(1, 0, 53, 1000));
	is_dropped(h, 1, udp(1, 0, 54, 1000), MR_DROP_filter_denied);
	harness_command(h, "filter add 200 allow udp from 10.0.0.0/24 to any 54 keep-state");
	is_dropped(h, 1, udp(1, 0, 54, 1000), MR_DROP_filter_denied);
	harness_command(h, "filter state flush");
	is_dropped(h, 1, udp(1, 0, 53, 1000), MR_DROP_filter_denied);
	end(h);
}

static void rules_before_the_first_with_state_decide(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "filter add 100 deny udp from any to any 1000 in recv port 2");
	harness_command(h, "filter add 200 skipto 400 udp from any to any 2000");
	harness_command(h, "filter add 300 allow udp from 10.0.0.0/24 to any keep-state");
	harness_command(h, "filter add 400 deny udp from any to 10.0.0.0/24");
	passes(h, 0, 2, udp(0, 2, 1000, 53));
	is_dropped(h, 2, udp(2, 0, 53, 1000), MR_DROP_filter_denied);
	passes(h, 0, 1, udp(0, 1, 1000, 53));
	passes(h, 1, 0, udp(1, 0, 53, 1000));
	passes(h, 0, 1, udp(0, 1, 2000, 53)); /* makes a flow, which the way back jumps past */
	is_dropped(h, 1, udp(1, 0, 53, 2000), MR_DROP_filter_denied);
	end(h);
}

static void show_tells_of_flows(void **state)
{
	(void)state;
	struct harness *h = routed();
	json_t *reply, *flows;
	char *text;

	harness_command(h, "filter add 100 allow udp from 10.0.0.0/24 to any keep-state");
	passes(h, 0, 1, udp(0, 1, 1000, 53));
	passes(h, 1, 0, udp(1, 0, 53, 1000));
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
	end(h);
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
