/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bursts that hold a whole connection, both of its directions, or the same first packet many times:
 * each packet meets what the ones before it in the burst have left.
 */
#include <string.h>

#include "stateful.h"
#include "test_eal.h"

enum { MOST = 65, REPLY = 0, REQUEST = 8 };

/* Host 0 and, behind the gateway of the same port, another one: both directions come in a burst. */
static struct harness *begin(const char *rule)
{
	struct harness *h = routed();

	harness_command(h, "route add 10.9.0.0/24 via 10.0.0.2");
	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 check-state");
	harness_command(h, "filter add 200 %s", rule);
	return h;
}

static void end(struct harness *h)
{
	harness_command(h, "route del 10.9.0.0/24");
	stateful_end(h);
}

/* A segment of host 0 to the one behind the gateway, or back. */
static struct frame segment(bool back, unsigned flags, uint32_t seq, uint32_t ack, unsigned data)
{
	struct frame frame =
		TCP(.from = 0, .to = 0, .sport = back ? 80 : 1000, .dport = back ? 1000 : 80,
		    .flags = flags, .seq = seq, .ack = ack, .data = data);
	static const uint8_t far[] = {10, 9, 0, 9};

	memcpy(frame.bytes + (back ? 26 : 30), far, 4);
	frame_fix_ipv4(&frame);
	return frame;
}

static struct frame routed_segment(const struct frame *frame, bool back)
{
	return back ? TO_HOST(0, frame) : TO_GATEWAY(0, frame);
}

static void a_burst_holds_a_whole_connection(void **state)
{
	(void)state;
	enum { SEGMENTS = 11 };
	static const struct {
		bool back, passes;
		unsigned flags;
		uint32_t seq, ack;
		unsigned data;
	} talk[SEGMENTS] = {
		{false, true, SYN, 100, 0, 0},           {true, true, SYN | ACK, 700, 101, 0},
		{false, true, ACK, 101, 701, 0},         {true, false, ACK, 701, 900, 10},
		{false, true, ACK | PSH, 101, 701, 500}, {true, true, ACK, 701, 601, 1000},
		{true, false, RST, 1u << 30, 0, 0},      {false, true, FIN | ACK, 601, 1701, 0},
		{true, true, FIN | ACK, 1701, 602, 0},   {false, true, ACK, 602, 1702, 0},
		{false, true, SYN, 90000, 0, 0}, /* the next one */
	};
	const struct frame refusal = segment(true, RST | ACK, 0, 90001, 0);
	const struct frame refused = routed_segment(&refusal, true);
	struct frame frames[SEGMENTS];
	struct harness *h =
		begin("allow tcp from 10.0.0.0/24 to 10.9.0.0/24 setup limit src-addr 1");

	for (unsigned i = 0; i < SEGMENTS; i++)
		frames[i] = segment(talk[i].back, talk[i].flags, talk[i].seq, talk[i].ack,
				    talk[i].data);
	/* In one burst, in two at each place, and one by one. */
	for (unsigned cut = 0; cut <= SEGMENTS; cut++) {
		for (unsigned from = 0; from < SEGMENTS;) {
			unsigned to = cut == SEGMENTS ? from + 1 : from < cut ? cut : SEGMENTS;

			harness_burst(h, 0, frames + from, to - from);
			harness_run(h);
			from = to;
		}
		for (unsigned i = 0; i < SEGMENTS; i++) {
			struct frame out = routed_segment(&frames[i], talk[i].back);

			if (talk[i].passes)
				harness_expect(h, 0, &out);
		}
		harness_expect_nothing(h);
		harness_dropped(h, MR_DROP_filter_bad_state, 2);
		routed_send(h, 0, &refusal);
		harness_expect(h, 0, &refused);
		harness_command(h, "filter state flush");
		harness_advance(h, 2000);
	}
	end(h);
}

static void sends_many(struct harness *h, const struct frame *frame, unsigned count, unsigned pass,
		       enum mr_drop_reason reason)
{
	struct frame out = TO_HOST(1, frame);

	for (unsigned i = 0; i < count; i++)
		harness_send(h, 0, frame);
	harness_run(h);
	for (unsigned i = 0; i < pass; i++)
		harness_expect(h, 1, &out);
	harness_expect_nothing(h);
	harness_dropped(h, reason, count - pass);
}

/* The same packet is of one flow, and a limit of one is not reached by it. */
static void a_first_packet_many_times_makes_one_flow(void **state)
{
	(void)state;
	struct harness *h = begin("allow ip from 10.0.0.0/24 to any limit src-addr 1");
	const struct frame first[] = {stateful_udp(0, 1, 1000, 53),
				      TCP(.from = 0, .to = 1, .flags = SYN, .seq = 100),
				      TCP(.from = 0, .to = 1, .flags = ACK, .seq = 100, .ack = 7),
				      stateful_echo(0, 1, REQUEST, 7),
				      IPV4(.to = ROUTER(0), .from = HOST(0), .src = "10.0.0.9",
					   .dst = "10.0.1.9", .protocol = 47)};
	const struct frame other = stateful_udp(0, 1, 1001, 53);

	for (unsigned kind = 0; kind < sizeof(first) / sizeof(first[0]); kind++) {
		for (unsigned count = 1; count <= MOST; count += 16) {
			sends_many(h, &first[kind], count, count, MR_DROP_filter_state_limit);
			assert_int_equal(stateful_flows(h), 1);
			sends_many(h, &other, count, 0, MR_DROP_filter_state_limit);
			harness_command(h, "filter state flush");
			harness_advance(h, 2000);
		}
	}
	end(h);
}

/* All of a burst's packets want a flow of their own. */
static void a_burst_of_flows_stops_at_the_limit(void **state)
{
	(void)state;
	static struct frame frames[MOST];
	struct harness *h = begin("allow udp from 10.0.0.0/24 to any 53 limit src-addr 7");

	for (unsigned count = 1; count <= MOST; count++) {
		for (unsigned i = 0; i < count; i++)
			frames[i] = stateful_udp(0, 1, 2000 + i, 53);
		harness_burst(h, 0, frames, count);
		harness_run(h);
		for (unsigned i = 0; i < count && i < 7; i++) {
			struct frame out = TO_HOST(1, &frames[i]);

			harness_expect(h, 1, &out);
		}
		harness_expect_nothing(h);
		harness_dropped(h, MR_DROP_filter_state_limit, count > 7 ? count - 7 : 0);
		assert_int_equal(stateful_flows(h), count < 7 ? count : 7);
		harness_command(h, "filter state flush");
		harness_advance(h, 2000);
	}
	end(h);
}

/* Bursts on both ports in the same turn. */
static void answers_come_in_the_same_turn(void **state)
{
	(void)state;
	struct harness *h = begin("allow ip from 10.0.0.0/24 to any keep-state");

	for (unsigned count = 1; count <= 64; count += 9) {
		struct frame out;

		for (unsigned i = 0; i < count; i++) {
			struct frame query = i % 2 == 0 ? stateful_udp(0, 1, 3000 + i, 53)
							: stateful_echo(0, 1, REQUEST, i);
			struct frame answer = i % 2 == 0 ? stateful_udp(1, 0, 53, 3000 + i)
							 : stateful_echo(1, 0, REPLY, i);

			harness_send(h, 0, &query);
			harness_send(h, 1, &answer);
		}
		harness_run(h);
		for (unsigned i = 0; i < count; i++) {
			struct frame query = i % 2 == 0 ? stateful_udp(0, 1, 3000 + i, 53)
							: stateful_echo(0, 1, REQUEST, i);
			struct frame answer = i % 2 == 0 ? stateful_udp(1, 0, 53, 3000 + i)
							 : stateful_echo(1, 0, REPLY, i);

			out = TO_HOST(1, &query);
			harness_expect(h, 1, &out);
			out = TO_HOST(0, &answer);
			harness_expect(h, 0, &out);
		}
		harness_expect_nothing(h);
		harness_command(h, "filter state flush");
		harness_advance(h, 2000);
	}
	end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst_holds_a_whole_connection),
		cmocka_unit_test(a_first_packet_many_times_makes_one_flow),
		cmocka_unit_test(a_burst_of_flows_stops_at_the_limit),
		cmocka_unit_test(answers_come_in_the_same_turn),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
