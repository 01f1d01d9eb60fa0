/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP in IPv4 under rules that keep state: echo, and errors that are or are not about a flow. */
#include <string.h>

#include "stateful.h"
#include "test_eal.h"

enum { IP = 14, REPLY = 0, UNREACHABLE = 3, REDIRECT = 5, ECHO = 8, EXCEEDED = 11, PROBLEM = 12 };

static struct harness *begin(void)
{
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 check-state");
	harness_command(h, "filter add 200 allow ip from 10.0.0.0/24 to any keep-state");
	return h;
}

static void is_denied(struct harness *h, unsigned from, struct frame frame)
{
	stateful_dropped(h, from, frame, MR_DROP_filter_denied);
}

static void errors_of_all_types(void **state)
{
	(void)state;
	static const uint8_t good[] = {UNREACHABLE, EXCEEDED, PROBLEM};
	static const uint8_t bad[] = {1, 2, 4, REDIRECT, 6, 9, 10, 13, 14, 17, 30, 255};
	struct harness *h = begin();
	struct frame query = stateful_udp(0, 1, 1000, 53);
	struct frame answer = stateful_udp(1, 0, 53, 1000);

	stateful_passes(h, 0, 1, query);
	for (unsigned i = 0; i < sizeof(good); i++) {
		stateful_passes(h, 1, 0, stateful_error(1, good[i], &query, 28));
		/* From a router on the way, with all of the packet. */
		stateful_passes(h, 2, 0, stateful_error(2, good[i], &query, 46));
		/* What nobody has sent. */
		is_denied(h, 1, stateful_error(1, good[i], &answer, 28));
		is_denied(h, 2, stateful_error(2, good[i], &answer, 28));
	}
	for (unsigned i = 0; i < sizeof(bad); i++)
		is_denied(h, 1, stateful_error(1, bad[i], &query, 28));
	/* Of the answer, once it is there, the other end is told. */
	stateful_passes(h, 1, 0, answer);
	stateful_passes(h, 0, 1, stateful_error(0, UNREACHABLE, &answer, 28));
	stateful_passes(h, 2, 1, stateful_error(2, UNREACHABLE, &answer, 28));
	/* They make nothing live longer. */
	harness_advance(h, 290000);
	stateful_passes(h, 1, 0, stateful_error(1, UNREACHABLE, &query, 28));
	harness_advance(h, 11000);
	is_denied(h, 1, stateful_error(1, UNREACHABLE, &query, 28));
	stateful_end(h);
}

static void errors_quote_enough_and_the_right_packet(void **state)
{
	(void)state;
	struct harness *h = begin();
	struct frame query = stateful_udp(0, 1, 1000, 53), error, quoted;

	stateful_passes(h, 0, 1, query);
	stateful_passes(h, 1, 0, stateful_error(1, UNREACHABLE, &query, 28));
	for (unsigned size = 0; size < 28; size += 9)
		is_denied(h, 1, stateful_error(1, UNREACHABLE, &query, size));
	is_denied(h, 1, stateful_error(1, UNREACHABLE, &query, 27));
	/* Another version; a header that is too short, or longer than what there is. */
	for (unsigned start = 0; start < 256; start += 3) {
		quoted = query;
		quoted.bytes[IP] = (uint8_t)start;
		if (start == 0x45)
			continue;
		error = stateful_error(1, UNREACHABLE, &quoted, 28);
		is_denied(h, 1, error);
	}
	/* About another host's. */
	quoted = query;
	quoted.bytes[IP + 15] = 8;
	is_denied(h, 1, stateful_error(1, UNREACHABLE, &quoted, 28));
	/* To another host than the sender. */
	error = stateful_error(1, UNREACHABLE, &query, 28);
	error.bytes[IP + 18] = 2;
	frame_fix_ipv4(&error);
	is_denied(h, 1, error);
	/* Of another protocol, with the same ports. */
	quoted = query;
	quoted.bytes[IP + 9] = 6;
	is_denied(h, 1, stateful_error(1, UNREACHABLE, &quoted, 28));
	/* About an error, or a redirect. */
	error = stateful_error(1, UNREACHABLE, &query, 28);
	stateful_passes(h, 1, 0, error);
	is_denied(h, 0 + 2, stateful_error(2, UNREACHABLE, &error, 28));
	/* A later fragment of an error is no error. */
	error.bytes[IP + 7] = 2;
	frame_fix_ipv4(&error);
	is_denied(h, 1, error);
	stateful_end(h);
}

static void errors_about_segments_quote_what_was_sent(void **state)
{
	(void)state;
	struct harness *h = begin();
	static const struct {
		uint32_t seq;
		bool passes;
	} quote[] = {{101, true},       {100, true},        {601, true},          {602, false},
		     {1u << 31, false}, {0xfffffff0, true}, {101u - 70000, false}};

	stateful_passes(h, 0, 1, TCP(.from = 0, .to = 1, .flags = SYN, .seq = 100));
	stateful_passes(h, 1, 0,
			TCP(.from = 1, .to = 0, .flags = SYN | ACK, .seq = 700, .ack = 101));
	stateful_passes(h, 0, 1,
			TCP(.from = 0, .to = 1, .flags = ACK, .seq = 101, .ack = 701, .data = 500));
	for (unsigned i = 0; i < sizeof(quote) / sizeof(quote[0]); i++) {
		struct frame about = TCP(.from = 0, .to = 1, .flags = ACK, .seq = quote[i].seq);
		struct frame error = stateful_error(1, UNREACHABLE, &about, 28);

		if (quote[i].passes)
			stateful_passes(h, 1, 0, error);
		else
			is_denied(h, 1, error);
	}
	stateful_end(h);
}

static void echo_and_its_errors(void **state)
{
	(void)state;
	struct harness *h = begin();
	struct frame request = stateful_echo(0, 1, ECHO, 7), reply = stateful_echo(1, 0, REPLY, 7);
	struct frame other = stateful_echo(0, 1, ECHO, 8);

	is_denied(h, 1, reply);
	is_denied(h, 1, stateful_echo(1, 0, ECHO, 7));
	stateful_passes(h, 0, 1, request);
	is_denied(h, 1, stateful_echo(1, 0, ECHO, 7));
	is_denied(h, 1, stateful_echo(1, 0, REPLY, 8));
	is_denied(h, 2, stateful_echo(2, 0, REPLY, 7));
	stateful_passes(h, 1, 0, reply);
	stateful_passes(h, 1, 0, stateful_error(1, EXCEEDED, &request, 28));
	is_denied(h, 1, stateful_error(1, EXCEEDED, &other, 28));
	/* A timestamp request is no echo. */
	is_denied(h, 1, stateful_echo(1, 0, 14, 7));
	stateful_passes(h, 0, 1, stateful_echo(0, 1, 13, 7));
	is_denied(h, 1, stateful_echo(1, 0, 14, 7));
	/* A reply that nobody asked for makes a flow of its own kind: no request passes by it. */
	stateful_passes(h, 0, 1, stateful_echo(0, 1, REPLY, 9));
	is_denied(h, 1, stateful_echo(1, 0, REPLY, 9));
	stateful_end(h);
}

/* The appliance's own errors are about flows, too. */
static void errors_of_the_appliance_itself_pass(void **state)
{
	(void)state;
	struct harness *h = begin();
	struct frame query = stateful_udp(0, 1, 1000, 53);

	query.bytes[IP + 8] = 1;
	frame_fix_ipv4(&query);
	routed_send(h, 0, &query);
	routed_told(h, &query, EXCEEDED, 0, 0);
	harness_expect_nothing(h);
	harness_dropped(h, MR_DROP_ttl_exceeded, 1);
	stateful_end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_of_all_types),
		cmocka_unit_test(errors_quote_enough_and_the_right_packet),
		cmocka_unit_test(errors_about_segments_quote_what_was_sent),
		cmocka_unit_test(echo_and_its_errors),
		cmocka_unit_test(errors_of_the_appliance_itself_pass),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
