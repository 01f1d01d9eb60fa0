/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments that no end would send, and connections that begin, end and begin anew. */
#include <string.h>

#include "stateful.h"
#include "test_eal.h"

#define RULE "filter add 200 allow tcp from 10.0.0.0/24 to any keep-state"

static struct harness *begin(const char *rule)
{
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 check-state");
	harness_command(h, "%s", rule);
	return h;
}

static void shakes_hands(struct harness *h, uint32_t client, uint32_t server)
{
	stateful_passes(h, 0, 1, TCP(.from = 0, .to = 1, .flags = SYN, .seq = client));
	stateful_passes(
		h, 1, 0,
		TCP(.from = 1, .to = 0, .flags = SYN | ACK, .seq = server, .ack = client + 1));
	stateful_passes(
		h, 0, 1,
		TCP(.from = 0, .to = 1, .flags = ACK, .seq = client + 1, .ack = server + 1));
}

static void data_offsets_are_within_the_segment(void **state)
{
	(void)state;
	static const struct {
		int offset;
		unsigned data;
	} bad[] = {{HEADER_ZERO, 0}, {4, 40}, {6, 0}, {15, 0}, {15, 39}};
	struct harness *h = begin(RULE);

	for (unsigned known = 0; known < 2; known++) {
		for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
			for (unsigned flags = 0; flags < 2; flags++)
				stateful_dropped(h, 0,
						 TCP(.from = 0, .to = 1, .seq = 101, .ack = 701,
						     .flags = flags == 0 ? SYN : ACK,
						     .offset = bad[i].offset, .data = bad[i].data),
						 MR_DROP_filter_bad_header);
		if (known == 0)
			shakes_hands(h, 100, 700);
	}
	assert_int_equal(stateful_flows(h), 2);
	stateful_end(h);
}

static void no_connection_begins_with_flags_that_nobody_sends(void **state)
{
	(void)state;
	static const uint8_t flags[] = {0,
					FIN,
					PSH,
					URG,
					PSH | URG,
					SYN | FIN,
					FIN | URG,
					SYN | RST,
					RST | FIN | SYN,
					SYN | FIN | ACK,
					SYN | RST | ACK,
					FIN | PSH | URG};
	struct harness *h = begin(RULE);

	for (unsigned known = 0; known < 2; known++) {
		for (unsigned i = 0; i < sizeof(flags); i++)
			stateful_dropped(
				h, 0,
				TCP(.from = 0, .to = 1, .flags = flags[i], .seq = 101, .ack = 701),
				MR_DROP_filter_bad_state);
		assert_int_equal(stateful_flows(h), known * 2);
		if (known == 0)
			shakes_hands(h, 100, 700);
	}
	stateful_end(h);
}

/* What an end resets that it does not know need not be known here. */
static void a_reset_of_no_connection_passes_and_begins_none(void **state)
{
	(void)state;
	struct harness *h = begin(RULE);

	stateful_passes(h, 0, 1, TCP(.from = 0, .to = 1, .flags = RST, .seq = 5));
	stateful_passes(h, 0, 1, TCP(.from = 0, .to = 1, .flags = RST | ACK, .seq = 5));
	stateful_dropped(h, 1, TCP(.from = 1, .to = 0, .flags = RST, .seq = 5),
			 MR_DROP_filter_denied);
	assert_int_equal(stateful_flows(h), 0);
	stateful_end(h);
}

static void who_sees_nothing_resets_nothing(void **state)
{
	(void)state;
	struct harness *h = begin(RULE);

	shakes_hands(h, 100, 700);
	stateful_dropped(h, 1, TCP(.from = 1, .to = 0, .flags = RST, .seq = 701 + 1001),
			 MR_DROP_filter_bad_state);
	stateful_dropped(h, 1, TCP(.from = 1, .to = 0, .flags = RST, .seq = 1u << 30),
			 MR_DROP_filter_bad_state);
	/* In the window: the end answers by a challenge (RFC 5961 3.2), and all goes on. */
	stateful_passes(h, 1, 0, TCP(.from = 1, .to = 0, .flags = RST, .seq = 701 + 500));
	harness_advance(h, 60000);
	stateful_passes(h, 0, 1, TCP(.from = 0, .to = 1, .flags = ACK, .seq = 101, .ack = 701));
	for (unsigned side = 0; side < 2; side++)
		stateful_dropped(h, side,
				 TCP(.from = side, .to = side ^ 1, .flags = SYN, .seq = 5000),
				 MR_DROP_filter_bad_state);
	stateful_dropped(h, 1, TCP(.from = 1, .to = 0, .flags = SYN | ACK, .seq = 5000, .ack = 101),
			 MR_DROP_filter_bad_state);
	stateful_dropped(h, 1, TCP(.from = 1, .to = 0, .flags = ACK, .seq = 701, .ack = 102),
			 MR_DROP_filter_bad_state);
	stateful_passes(
		h, 1, 0,
		TCP(.from = 1, .to = 0, .flags = ACK, .seq = 701, .ack = 101, .data = 1000));
	stateful_dropped(h, 1,
			 TCP(.from = 1, .to = 0, .flags = ACK, .seq = 1701, .ack = 101, .data = 1),
			 MR_DROP_filter_bad_state);
	stateful_end(h);
}

/* A connection that one end has reset or both have ended begins anew at once, whoever it was. */
static void a_connection_begins_anew(void **state)
{
	(void)state;
	struct harness *h = begin("filter add 200 allow tcp from 10.0.0.0/24 to any setup "
				  "limit src-addr 1");

	for (unsigned wait = 0; wait <= 2000; wait += 1000) {
		for (unsigned way = 0; way < 4; way++) {
			uint32_t c = 100 + 50000 * way, s = 700 + 70000 * way;

			if (wait != 0)
				harness_advance(h, wait);
			shakes_hands(h, c, s);
			if (way == 0) {
				stateful_passes(
					h, 0, 1,
					TCP(.from = 0, .to = 1, .flags = RST, .seq = c + 1));
			} else if (way == 1) {
				stateful_passes(
					h, 1, 0,
					TCP(.from = 1, .to = 0, .flags = RST, .seq = s + 1));
			} else {
				unsigned first = way % 2;
				uint32_t seq[] = {first == 0 ? c + 1 : s + 1,
						  first == 0 ? s + 1 : c + 1};

				stateful_passes(h, first, first ^ 1,
						TCP(.from = first, .to = first ^ 1,
						    .flags = FIN | ACK, .seq = seq[0],
						    .ack = seq[1]));
				stateful_passes(h, first ^ 1, first,
						TCP(.from = first ^ 1, .to = first,
						    .flags = FIN | ACK, .seq = seq[1],
						    .ack = seq[0] + 1));
				stateful_passes(h, first, first ^ 1,
						TCP(.from = first, .to = first ^ 1, .flags = ACK,
						    .seq = seq[0] + 1, .ack = seq[1] + 1));
			}
		}
	}
	stateful_end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_offsets_are_within_the_segment),
		cmocka_unit_test(no_connection_begins_with_flags_that_nobody_sends),
		cmocka_unit_test(a_reset_of_no_connection_passes_and_begins_none),
		cmocka_unit_test(who_sees_nothing_resets_nothing),
		cmocka_unit_test(a_connection_begins_anew),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
