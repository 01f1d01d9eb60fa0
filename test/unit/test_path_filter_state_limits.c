/* SPDX-License-Identifier: BSD-3-Clause */
/* How many flows a rule allows: of what they are alike in, and until when they count. */
#include <string.h>

#include "stateful.h"
#include "test_eal.h"

static struct harness *begin(const char *protocol, const char *limit)
{
	struct harness *h = routed();

	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 check-state");
	harness_command(h, "filter add 200 allow %s from 10.0.0.0/8 to any limit %s", protocol,
			limit);
	return h;
}

static void is_over_limit(struct harness *h, unsigned from, struct frame frame)
{
	stateful_dropped(h, from, frame, MR_DROP_filter_state_limit);
}

struct ends {
	unsigned from, to, sport, dport;
};

static struct frame of(const struct ends *e)
{
	return stateful_udp(e->from, e->to, e->sport, e->dport);
}

/* Each kind counts what it names, and nothing else. */
static void flows_are_alike_in_what_is_named(void **state)
{
	(void)state;
	static const struct {
		const char *limit;
		struct ends same, other; /* as 0 to 1, 1000 to 53; and not */
	} kinds[] = {
		{"src-addr 1", {0, 2, 1001, 54}, {3, 1, 1000, 53}},
		{"dst-addr 1", {2, 1, 1001, 54}, {0, 3, 1000, 53}},
		{"src-port 1", {2, 3, 1000, 54}, {0, 1, 1001, 53}},
		{"dst-port 1", {2, 3, 1001, 53}, {0, 1, 1000, 54}},
		{"src-addr,dst-addr 1", {0, 1, 1001, 54}, {0, 2, 1000, 53}},
		{"src-addr,dst-port 1", {0, 2, 1001, 53}, {0, 1, 1000, 54}},
		{"dst-addr,dst-port 1", {2, 1, 1001, 53}, {0, 1, 1000, 54}},
		{"src-addr,dst-addr,dst-port 1", {0, 1, 1001, 53}, {2, 1, 1000, 53}},
	};
	const struct ends first = {0, 1, 1000, 53};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct harness *h = begin("udp", kinds[i].limit);

		stateful_passes(h, first.from, first.to, of(&first));
		is_over_limit(h, kinds[i].same.from, of(&kinds[i].same));
		stateful_passes(h, kinds[i].other.from, kinds[i].other.to, of(&kinds[i].other));
		/* Answers are not counted as if they came first. */
		stateful_passes(h, 1, 0, stateful_udp(1, 0, 53, 1000));
		stateful_end(h);
	}
}

static void a_flow_counts_until_it_ends(void **state)
{
	(void)state;
	struct harness *h = begin("ip", "src-addr 1");

	/* By time. */
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 1000, 53));
	harness_advance(h, 28000);
	is_over_limit(h, 0, stateful_udp(0, 1, 1001, 53));
	harness_advance(h, 4000);
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 1001, 53));
	/* An answer keeps it, whoever sends. */
	stateful_passes(h, 1, 0, stateful_udp(1, 0, 53, 1001));
	harness_advance(h, 290000);
	stateful_passes(h, 1, 0, stateful_udp(1, 0, 53, 1001));
	harness_advance(h, 290000);
	is_over_limit(h, 0, stateful_udp(0, 1, 1002, 53));
	harness_advance(h, 12000);
	/* By a reset, and what is closed is soon forgotten. */
	stateful_passes(h, 0, 1, TCP(.from = 0, .to = 1, .flags = SYN, .seq = 100));
	is_over_limit(h, 0, stateful_udp(0, 1, 1002, 53));
	stateful_passes(h, 1, 0, TCP(.from = 1, .to = 0, .flags = RST | ACK, .seq = 0, .ack = 101));
	harness_advance(h, 12000);
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 1002, 53));
	/* By a flush, at once. */
	harness_command(h, "filter state flush");
	stateful_passes(h, 0, 1, stateful_udp(0, 1, 1003, 53));
	is_over_limit(h, 0, stateful_udp(0, 1, 1004, 53));
	stateful_end(h);
}

/* What is refused for another reason is not counted; nor is what makes no flow. */
static void what_makes_no_flow_does_not_count(void **state)
{
	(void)state;
	struct harness *h = begin("ip", "src-addr 1");

	stateful_passes(h, 0, 1, TCP(.from = 0, .to = 1, .flags = RST, .seq = 100));
	stateful_dropped(h, 0, TCP(.from = 0, .to = 1, .seq = 100), MR_DROP_filter_bad_state);
	stateful_passes(h, 0, 1, stateful_echo(0, 1, 13, 1));
	stateful_passes(h, 0, 1, TCP(.from = 0, .to = 1, .data = 100, .fragment = 64));
	stateful_passes(h, 0, 1, stateful_echo(0, 1, 8, 1));
	is_over_limit(h, 0, stateful_echo(0, 1, 8, 2));
	stateful_end(h);
}

/* An lcore that sleeps has few turns, 30 a second here; what is over does not count for long. */
static void many_that_are_over_are_forgotten_by_an_idle_lcore(void **state)
{
	(void)state;
	enum { MANY = 900, ROUNDS = 3 };
	struct harness *h = begin("ip", "src-addr 900");

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < MANY; i++) {
			struct frame frame = stateful_udp(0, 1, 2000 + i, 53 + round);

			harness_send(h, 0, &frame);
		}
		harness_run(h);
		for (unsigned i = 0; i < MANY; i++) {
			struct frame frame = stateful_udp(0, 1, 2000 + i, 53 + round);
			struct frame out = TO_HOST(1, &frame);

			harness_expect(h, 1, &out);
		}
		is_over_limit(h, 0, stateful_udp(0, 1, 1000, 53));
		harness_advance(h, 33000);
	}
	stateful_end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_are_alike_in_what_is_named),
		cmocka_unit_test(a_flow_counts_until_it_ends),
		cmocka_unit_test(what_makes_no_flow_does_not_count),
		cmocka_unit_test(many_that_are_over_are_forgotten_by_an_idle_lcore),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
