/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments of packets that belong to flows. */
#include <string.h>

#include "stateful.h"
#include "test_eal.h"

enum { MORE = 0x2000, CUT = 512 };

static struct harness *begin(void)
{
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 50 allow ip from any to any frag");
	harness_command(h, "filter add 100 check-state");
	harness_command(h, "filter add 200 allow ip from 10.0.0.0/24 to any keep-state");
	return h;
}

static void shakes_hands(struct harness *h)
{
	stateful_passes(h, 0, 1,
			TCP(.from = 0, .to = 1, .flags = SYN, .seq = 100, .window = 60000));
	stateful_passes(h, 1, 0,
			TCP(.from = 1, .to = 0, .flags = SYN | ACK, .seq = 700, .ack = 101,
			    .window = 4000));
	stateful_passes(
		h, 0, 1,
		TCP(.from = 0, .to = 1, .flags = ACK, .seq = 101, .ack = 701, .window = 60000));
}

/* A segment of so many bytes of data, in two fragments of which the first has CUT. */
static void passes_in_two(struct harness *h, unsigned from, uint32_t seq, uint32_t ack,
			  unsigned data, unsigned flags)
{
	static unsigned id;

	id++;
	stateful_passes(h, from, from ^ 1,
			TCP(.from = from, .to = from ^ 1, .flags = ACK | flags, .seq = seq,
			    .ack = ack, .data = CUT - 20, .fragment = MORE, .id = id,
			    .window = from == 0 ? 60000 : 4000));
	stateful_passes(h, from, from ^ 1,
			TCP(.from = from, .to = from ^ 1, .data = data - (CUT - 20) - 20,
			    .fragment = CUT / 8, .id = id));
}

/* How long a segment is, its first fragment does not tell. */
static void a_segment_in_fragments_is_acknowledged_as_a_whole(void **state)
{
	(void)state;
	struct harness *h = begin();
	uint32_t seq = 101;

	shakes_hands(h);
	for (unsigned i = 0; i < 20; i++, seq += 1460) {
		passes_in_two(h, 0, seq, 701, 1460, 0);
		stateful_passes(h, 1, 0,
				TCP(.from = 1, .to = 0, .flags = ACK, .seq = 701, .ack = seq + 1460,
				    .window = 4000));
	}
	/* The window still holds, and old segments still pass. */
	stateful_dropped(
		h, 0,
		TCP(.from = 0, .to = 1, .flags = ACK, .seq = seq + 3999, .ack = 701, .data = 2),
		MR_DROP_filter_bad_state);
	stateful_dropped(h, 1, TCP(.from = 1, .to = 0, .flags = ACK, .seq = 701, .ack = seq + 4001),
			 MR_DROP_filter_bad_state);
	stateful_passes(
		h, 0, 1,
		TCP(.from = 0, .to = 1, .flags = ACK, .seq = seq - 1460, .ack = 701, .data = 1460));
	passes_in_two(h, 0, seq - 1460, 701, 1460, 0);
	/* Both ends. */
	passes_in_two(h, 0, seq, 701, 1460, FIN);
	seq += 1461;
	stateful_passes(h, 1, 0,
			TCP(.from = 1, .to = 0, .flags = FIN | ACK, .seq = 701, .ack = seq,
			    .window = 4000));
	stateful_passes(h, 0, 1, TCP(.from = 0, .to = 1, .flags = ACK, .seq = seq, .ack = 702));
	stateful_end(h);
}

static void later_fragments_are_of_no_flow(void **state)
{
	(void)state;
	struct harness *h = begin();

	shakes_hands(h);
	harness_command(h, "filter delete 50");
	stateful_passes(h, 1, 0,
			TCP(.from = 1, .to = 0, .flags = ACK, .seq = 701, .ack = 101, .data = 492,
			    .fragment = MORE));
	stateful_dropped(h, 1, TCP(.from = 1, .to = 0, .data = 100, .fragment = CUT / 8),
			 MR_DROP_filter_denied);
	stateful_dropped(h, 1, TCP(.from = 1, .to = 0, .data = 100, .fragment = 1),
			 MR_DROP_filter_tiny_fragment);
	/* Where the rule that keeps state matches them, they pass and make none. */
	stateful_passes(h, 0, 2, TCP(.from = 0, .to = 2, .data = 100, .fragment = CUT / 8));
	stateful_dropped(h, 2, TCP(.from = 2, .to = 0, .data = 100, .fragment = CUT / 8),
			 MR_DROP_filter_denied);
	assert_int_equal(stateful_flows(h), 2);
	stateful_end(h);
}

/* The options would have been cut off. */
static void a_first_fragment_holds_the_header_with_its_options(void **state)
{
	(void)state;
	struct harness *h = begin();

	stateful_dropped(h, 0,
			 TCP(.from = 0, .to = 1, .flags = SYN, .seq = 100, .offset = 8, .data = 4,
			     .fragment = MORE),
			 MR_DROP_filter_bad_header);
	assert_int_equal(stateful_flows(h), 0);
	stateful_end(h);
}

static void errors_quote_first_fragments(void **state)
{
	(void)state;
	struct harness *h = begin();
	struct frame first = TCP(.from = 0, .to = 1, .flags = ACK, .seq = 101, .ack = 701,
				 .data = 492, .fragment = MORE, .id = 7);
	struct frame later = TCP(.from = 0, .to = 1, .data = 492, .fragment = CUT / 8, .id = 7);

	shakes_hands(h);
	stateful_passes(h, 0, 1, first);
	stateful_passes(h, 0, 1, later);
	stateful_passes(h, 1, 0, stateful_error(1, 11, &first, 28));
	stateful_dropped(h, 1, stateful_error(1, 11, &later, 28), MR_DROP_filter_denied);
	stateful_end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_segment_in_fragments_is_acknowledged_as_a_whole),
		cmocka_unit_test(later_fragments_are_of_no_flow),
		cmocka_unit_test(a_first_fragment_holds_the_header_with_its_options),
		cmocka_unit_test(errors_quote_first_fragments),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
