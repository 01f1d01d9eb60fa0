/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP, packets that wait for it, and what becomes of neighbours: through the whole packet path. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routed.h"
#include "test_eal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define X "02:cc:00:00:00:01" /* MACs that nobody knows yet */
#define Y "02:cc:00:00:00:02"
#define HOLD_MAX 16

/* 10.0.0.9, known by a static MAC, is who sends; all others have to be found. */
static struct harness *setup(void)
{
	struct harness *h = routed_addresses();

	harness_command(h, "neighbour add 10.0.0.9 mac " HOST(0) " port 0");
	return h;
}

static void finish(struct harness *h)
{
	harness_command(h, "neighbour del 10.0.0.9 port 0");
	for (unsigned port = 1; port < HARNESS_PORTS; port++) {
		harness_link(h, port, false); /* forgets what was learned */
		harness_link(h, port, true);
		harness_advance(h, 2100);
		routed_announcements(h, port);
	}
	routed_addresses_end(h);
}

static void expect_request(struct harness *h, const char *to, const char *target)
{
	struct frame request = frame_arp(to, ROUTER(1), 1, ROUTER(1), "10.0.1.1", NO_MAC, target);

	harness_expect(h, 1, &request);
}

static void reply(struct harness *h, const char *mac, const char *address)
{
	struct frame frame = frame_arp(ROUTER(1), mac, 2, mac, address, ROUTER(1), "10.0.1.1");

	routed_send(h, 1, &frame);
	harness_consumed(h, 1);
}

static void expect_sent(struct harness *h, const struct frame *frame, const char *mac)
{
	struct frame out = frame_routed(frame, mac, ROUTER(1));

	harness_expect(h, 1, &out);
}

static bool shows(struct harness *h, const char *command, const char *text)
{
	char *all = harness_show(h, command);
	bool found = strstr(all, text) != NULL;

	free(all);
	return found;
}

static void addresses_are_announced(void **state)
{
	(void)state;
	struct harness *h = harness();
	struct frame first =
		frame_arp(BROADCAST, ROUTER(1), 1, ROUTER(1), "10.0.1.1", NO_MAC, "10.0.1.1");
	struct frame second =
		frame_arp(BROADCAST, ROUTER(1), 1, ROUTER(1), "10.5.0.1", NO_MAC, "10.5.0.1");

	harness_begin(h);
	/* RFC 5227 2.3: twice, two seconds apart, once the address is in use. */
	harness_command(h, "address add 10.0.1.1/24 port 1");
	harness_run(h);
	harness_expect(h, 1, &first);
	harness_advance(h, 1900);
	harness_expect_nothing(h);
	harness_advance(h, 200);
	harness_expect(h, 1, &first);
	harness_command(h, "address add 10.5.0.1/16 port 1");
	harness_run(h);
	harness_advance(h, 60000);
	for (unsigned i = 0; i < 2; i++) {
		harness_expect(h, 1, &first);
		harness_expect(h, 1, &second);
	}
	harness_expect_nothing(h);

	/* Not without link, but as soon as there is. */
	harness_command(h, "address del 10.5.0.1/16 port 1");
	harness_command(h, "address del 10.0.1.1/24 port 1");
	harness_link(h, 1, false);
	harness_command(h, "address add 10.0.1.1/24 port 1");
	harness_advance(h, 5000);
	harness_expect_nothing(h);
	harness_link(h, 1, true);
	harness_expect(h, 1, &first);
	harness_advance(h, 2100);
	harness_expect(h, 1, &first);
	harness_command(h, "address del 10.0.1.1/24 port 1");
	harness_end(h);
}

static void requests_are_answered_and_their_senders_learned(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame request = frame_arp(BROADCAST, X, 1, X, "10.0.1.7", NO_MAC, "10.0.1.1");
	struct frame answer = frame_arp(X, ROUTER(1), 2, ROUTER(1), "10.0.1.1", X, "10.0.1.7");
	struct frame packet = FROM_0(.dst = "10.0.1.7");

	for (unsigned length = 42; length <= 100; length += 29) {
		request.length = length;
		routed_send(h, 1, &request);
		harness_expect(h, 1, &answer);
		harness_expect_nothing(h);
		harness_consumed(h, 1);
	}
	routed_send(h, 0, &packet);
	expect_sent(h, &packet, X);
	/* It moved to another card. */
	request = frame_arp(BROADCAST, Y, 1, Y, "10.0.1.7", NO_MAC, "10.0.1.1");
	answer = frame_arp(Y, ROUTER(1), 2, ROUTER(1), "10.0.1.1", Y, "10.0.1.7");
	routed_send(h, 1, &request);
	harness_expect(h, 1, &answer);
	harness_consumed(h, 1);
	routed_send(h, 0, &packet);
	expect_sent(h, &packet, Y);
	finish(h);
}

/* L3-17 of published faults: who may be believed, and about what. */
static void arp_that_is_not_believed(void **state)
{
	(void)state;
	struct harness *h = setup();
	static const struct {
		const char *to, *from;
		unsigned operation;
		const char *mac, *sender, *target;
		enum mr_drop_reason reason;
	} cases[] = {
		/* A host of another port's subnet, or of none. */
		{BROADCAST, X, 1, X, "10.0.2.9", "10.0.1.1", MR_DROP_arp_spoofed},
		{BROADCAST, X, 1, X, "192.0.2.1", "10.0.1.1", MR_DROP_arp_spoofed},
		{BROADCAST, X, 1, X, "10.0.1.255", "10.0.1.1", MR_DROP_arp_spoofed},
		{BROADCAST, X, 1, X, "10.0.1.0", "10.0.1.1", MR_DROP_arp_spoofed},
		{BROADCAST, X, 1, X, "224.0.0.1", "10.0.1.1", MR_DROP_arp_spoofed},
		{BROADCAST, X, 1, X, "127.0.0.1", "10.0.1.1", MR_DROP_arp_spoofed},
		/* Another MAC than the frame's, or one that is no station's. */
		{BROADCAST, X, 1, Y, "10.0.1.7", "10.0.1.1", MR_DROP_arp_spoofed},
		{BROADCAST, X, 1, BROADCAST, "10.0.1.7", "10.0.1.1", MR_DROP_arp_spoofed},
		{BROADCAST, "01:00:5e:00:00:01", 1, "01:00:5e:00:00:01", "10.0.1.7", "10.0.1.1",
		 MR_DROP_arp_spoofed},
		{BROADCAST, NO_MAC, 1, NO_MAC, "10.0.1.7", "10.0.1.1", MR_DROP_arp_spoofed},
		{ROUTER(1), X, 2, X, "0.0.0.0", "10.0.1.1", MR_DROP_arp_spoofed},
		/* Not for us: no proxy ARP, and not by another port's address either. */
		{BROADCAST, X, 1, X, "10.0.1.7", "10.0.1.8", MR_DROP_arp_ignored},
		{BROADCAST, X, 1, X, "10.0.1.7", "10.0.2.1", MR_DROP_arp_ignored},
		{BROADCAST, X, 1, X, "0.0.0.0", "10.0.1.7", MR_DROP_arp_ignored},
		{BROADCAST, ROUTER(1), 1, ROUTER(1), "10.0.1.1", "10.0.1.1", MR_DROP_arp_ignored},
		{Y, X, 1, X, "10.0.1.7", "10.0.1.1", MR_DROP_other_host},
		{BROADCAST, X, 3, X, "10.0.1.7", "10.0.1.1", MR_DROP_arp_invalid},
		{BROADCAST, X, 0, X, "10.0.1.7", "10.0.1.1", MR_DROP_arp_invalid},
	};
	char *before = harness_show(h, "show neighbour");

	for (unsigned i = 0; i < COUNT(cases); i++) {
		struct frame frame =
			frame_arp(cases[i].to, cases[i].from, cases[i].operation, cases[i].mac,
				  cases[i].sender, NO_MAC, cases[i].target);

		routed_send(h, 1, &frame);
		harness_expect_nothing(h);
		harness_dropped(h, cases[i].reason, 1);
	}
	/* Each field of the fixed part. */
	for (unsigned at = 14; at < 20; at++) {
		struct frame frame = frame_arp(BROADCAST, X, 1, X, "10.0.1.7", NO_MAC, "10.0.1.1");

		frame.bytes[at] ^= 3;
		routed_send(h, 1, &frame);
		harness_dropped(h, MR_DROP_arp_invalid, 1);
	}
	for (unsigned length = 14; length < 42; length++) {
		struct frame frame = frame_arp(BROADCAST, X, 1, X, "10.0.1.7", NO_MAC, "10.0.1.1");

		frame.length = length;
		routed_send(h, 1, &frame);
		harness_dropped(h, MR_DROP_arp_invalid, 1);
	}
	/* Answers that nobody asked for. */
	reply(h, X, "10.0.1.7");
	char *after = harness_show(h, "show neighbour");
	assert_string_equal(after, before);
	free(before);
	free(after);

	/* A conflict is counted, and the address defended once in ten seconds (RFC 5227 2.4). */
	struct frame claim = frame_arp(BROADCAST, X, 1, X, "10.0.1.1", NO_MAC, "10.0.1.1");
	struct frame defence =
		frame_arp(BROADCAST, ROUTER(1), 1, ROUTER(1), "10.0.1.1", NO_MAC, "10.0.1.1");
	for (unsigned i = 0; i < 3; i++)
		routed_send(h, 1, &claim);
	harness_expect(h, 1, &defence);
	harness_dropped(h, MR_DROP_arp_conflict, 3);
	finish(h);
}

/* Sends count numbered packets to dst, which has no MAC: all but the latest 16 are dropped. */
static void hold(struct harness *h, const char *dst, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct frame packet = FROM_0(.dst = dst, .id = i, .ttl = 2 + (int)i,
					     .payload = 20 + i, .pad = i % 3 * 5);

		routed_send(h, 0, &packet);
	}
	harness_dropped(h, MR_DROP_neighbour_queue_full, count > HOLD_MAX ? count - HOLD_MAX : 0);
}

static void expect_held(struct harness *h, const char *dst, unsigned count, const char *mac)
{
	for (unsigned i = count > HOLD_MAX ? count - HOLD_MAX : 0; i < count; i++) {
		struct frame packet = FROM_0(.dst = dst, .id = i, .ttl = 2 + (int)i,
					     .payload = 20 + i, .pad = i % 3 * 5);

		expect_sent(h, &packet, mac);
	}
	harness_expect_nothing(h);
}

static void packets_wait_and_leave_in_order(void **state)
{
	(void)state;
	struct harness *h = setup();

	for (unsigned count = 1; count <= 40; count += count < 15 || count > 18 ? 5 : 1) {
		char dst[16];

		snprintf(dst, sizeof(dst), "10.0.1.%u", 100 + count);
		hold(h, dst, count);
		expect_request(h, BROADCAST, dst);
		harness_expect_nothing(h);
		reply(h, X, dst);
		expect_held(h, dst, count, X);
		/* And then no packet takes the long way. */
		hold(h, dst, 3);
		expect_held(h, dst, 3, X);
	}
	finish(h);
}

static void packets_wait_for_a_gateway(void **state)
{
	(void)state;
	struct harness *h = setup();

	harness_command(h, "route add 203.0.113.0/24 via 10.0.1.2");
	harness_command(h, "route add 192.0.2.0/24 via 10.0.1.2");
	harness_run(h);
	hold(h, "203.0.113.1", 9);
	expect_request(h, BROADCAST, "10.0.1.2");
	hold(h, "192.0.2.200", 1);
	reply(h, X, "10.0.1.2");
	for (unsigned i = 0; i < 9; i++) {
		struct frame packet = FROM_0(.dst = "203.0.113.1", .id = i, .ttl = 2 + (int)i,
					     .payload = 20 + i, .pad = i % 3 * 5);
		expect_sent(h, &packet, X);
	}
	expect_held(h, "192.0.2.200", 1, X);
	harness_command(h, "route del 203.0.113.0/24");
	harness_command(h, "route del 192.0.2.0/24");
	finish(h);
}

static void what_is_too_big_waits_too(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame fragments[2],
		may = FROM_0(.dst = "10.0.1.7", .payload = 1481),
		not = FROM_0(.dst = "10.0.1.7", .payload = 1481, .fragment = 0x4000);
	struct frame out = frame_routed(&may, X, ROUTER(1));

	routed_send(h, 0, &may);
	routed_send(h, 0, &not );
	expect_request(h, BROADCAST, "10.0.1.7");
	reply(h, X, "10.0.1.7");
	assert_int_equal(routed_fragments(&out, 1500, fragments, 2), 2);
	harness_expect(h, 1, &fragments[0]);
	harness_expect(h, 1, &fragments[1]);
	routed_told(h, &not, 3, 4, 1500);
	harness_dropped(h, MR_DROP_fragmentation_needed, 1);
	finish(h);
}

static void answers_of_the_router_wait_too(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame ping = frame_echo(
		&(struct ipv4){.to = ROUTER(1), .from = X, .src = "10.0.1.7", .dst = "10.0.1.1"}, 1,
		2, 100);
	struct frame answer = routed_echo_reply(&ping);

	routed_send(h, 1, &ping);
	harness_consumed(h, 1);
	expect_request(h, BROADCAST, "10.0.1.7");
	harness_expect_nothing(h);
	reply(h, X, "10.0.1.7");
	routed_expect_own(h, 1, &answer);
	finish(h);
}

static void expect_told_of_held(struct harness *h, const char *dst, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct frame packet = FROM_0(.dst = dst, .id = i, .ttl = 2 + (int)i,
					     .payload = 20 + i, .pad = i % 3 * 5);

		routed_told(h, &packet, 3, 1, 0);
	}
	harness_expect_nothing(h);
	harness_dropped(h, MR_DROP_neighbour_unreachable, count);
}

static void a_host_that_does_not_answer(void **state)
{
	(void)state;
	struct harness *h = setup();

	hold(h, "10.0.1.7", 5);
	for (unsigned i = 0; i < 3; i++) { /* RFC 1122 2.3.2.1: at most one a second */
		expect_request(h, BROADCAST, "10.0.1.7");
		harness_expect_nothing(h);
		harness_advance(h, i < 2 ? 1000 : 900);
	}
	harness_expect_nothing(h);
	harness_advance(h, 200);
	expect_told_of_held(h, "10.0.1.7", 5);
	/* While it counts as dead, nobody waits for it. */
	hold(h, "10.0.1.7", 2);
	expect_told_of_held(h, "10.0.1.7", 2);
	/* But it is given another chance, and may speak up by itself at any time. */
	harness_advance(h, 5000);
	hold(h, "10.0.1.7", 2);
	expect_request(h, BROADCAST, "10.0.1.7");
	reply(h, X, "10.0.1.7");
	expect_held(h, "10.0.1.7", 2, X);
	finish(h);
}

/* L3-15 of published faults: a dead gateway takes no configuration with it. */
static void a_gateway_dies_and_comes_back(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame packet = FROM_0(.dst = "203.0.113.1"), got;
	unsigned asked = 0;

	harness_command(h, "route add 203.0.113.0/24 via 10.0.1.2");
	hold(h, "203.0.113.1", 1);
	expect_request(h, BROADCAST, "10.0.1.2");
	reply(h, X, "10.0.1.2");
	expect_held(h, "203.0.113.1", 1, X);
	char *routes = harness_show(h, "show route 203.0.113.0/24");

	/* It is verified by unicast, three times, while packets still go there. */
	for (unsigned s = 0; s < 100 && asked < 3; s++) {
		routed_send(h, 0, &packet);
		expect_sent(h, &packet, X);
		harness_advance(h, 1000);
		if (harness_take(h, 1, &got)) {
			struct frame request = frame_arp(X, ROUTER(1), 1, ROUTER(1), "10.0.1.1",
							 NO_MAC, "10.0.1.2");
			assert_memory_equal(got.bytes, request.bytes, 60);
			asked++;
		}
	}
	assert_int_equal(asked, 3);
	harness_advance(h, 1000);
	for (unsigned i = 0; i < 5; i++) {
		routed_send(h, 0, &packet);
		routed_told(h, &packet, 3, 1, 0);
		harness_expect_nothing(h);
		harness_dropped(h, MR_DROP_neighbour_unreachable, 1);
		assert_true(shows(h, "show route 203.0.113.0/24", "10.0.1.2"));
		assert_true(shows(h, "show address", "10.0.1.1"));
		harness_advance(h, 5000);
		expect_request(h, BROADCAST, "10.0.1.2"); /* again and again */
	}
	reply(h, Y, "10.0.1.2");
	routed_send(h, 0, &packet);
	expect_sent(h, &packet, Y);
	char *now = harness_show(h, "show route 203.0.113.0/24");
	assert_string_equal(now, routes);
	free(now);
	free(routes);
	harness_command(h, "route del 203.0.113.0/24");
	finish(h);
}

static void a_host_that_answers_stays(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame packet = FROM_0(.dst = "10.0.1.7"), got;
	unsigned verified = 0;

	hold(h, "10.0.1.7", 1);
	expect_request(h, BROADCAST, "10.0.1.7");
	reply(h, X, "10.0.1.7");
	expect_held(h, "10.0.1.7", 1, X);
	for (unsigned s = 0; s < 300; s++) {
		routed_send(h, 0, &packet);
		expect_sent(h, &packet, X);
		harness_advance(h, 1000);
		if (harness_take(h, 1, &got)) {
			reply(h, X, "10.0.1.7");
			verified++;
		}
	}
	assert_in_range(verified, 3, 10); /* every 30 to 90 seconds */
	/* And when it is silent, it is forgotten. */
	harness_advance(h, 95000);
	assert_false(shows(h, "show neighbour", "10.0.1.7"));
	while (harness_take(h, 1, &got))
		verified++;
	finish(h);
}

static void static_neighbours_stand(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame packet = FROM_0(.dst = "10.0.1.9");

	harness_command(h, "neighbour add 10.0.1.9 mac " HOST(1) " port 1");
	harness_advance(h, 600000);
	harness_expect_nothing(h);
	reply(h, X, "10.0.1.9"); /* contradicted */
	routed_send(h, 0, &packet);
	expect_sent(h, &packet, HOST(1));
	harness_link(h, 1, false);
	routed_send(h, 0, &packet);
	routed_told(h, &packet, 3, 0, 0);
	harness_dropped(h, MR_DROP_no_route, 1);
	harness_link(h, 1, true);
	harness_advance(h, 2100);
	routed_announcements(h, 1);
	routed_send(h, 0, &packet);
	expect_sent(h, &packet, HOST(1));
	/* One that is added while packets wait for it. */
	hold(h, "10.0.1.7", 4);
	expect_request(h, BROADCAST, "10.0.1.7");
	harness_command(h, "neighbour add 10.0.1.7 mac " X " port 1");
	harness_run(h);
	expect_held(h, "10.0.1.7", 4, X);
	harness_command(h, "neighbour del 10.0.1.7 port 1");
	harness_command(h, "neighbour del 10.0.1.9 port 1");
	finish(h);
}

/* Packets that wait have an end, whatever is taken away under them. */
static void what_was_waited_for_is_taken_away(void **state)
{
	(void)state;
	struct harness *h = setup();

	hold(h, "10.0.1.7", 3);
	expect_request(h, BROADCAST, "10.0.1.7");
	harness_link(h, 1, false);
	expect_told_of_held(h, "10.0.1.7", 3);
	harness_link(h, 1, true);
	harness_advance(h, 2100);
	routed_announcements(h, 1);

	hold(h, "10.0.1.7", 3);
	expect_request(h, BROADCAST, "10.0.1.7");
	harness_command(h, "neighbour del 10.0.1.7 port 1");
	harness_run(h);
	expect_told_of_held(h, "10.0.1.7", 3);

	harness_command(h, "route add 203.0.113.0/24 via 10.0.1.2");
	hold(h, "203.0.113.1", 3);
	expect_request(h, BROADCAST, "10.0.1.2");
	harness_command(h, "route del 203.0.113.0/24");
	harness_run(h);
	expect_told_of_held(h, "203.0.113.1", 3);

	hold(h, "10.0.1.7", 3);
	expect_request(h, BROADCAST, "10.0.1.7");
	harness_command(h, "address del 10.0.1.1/24 port 1");
	harness_run(h);
	expect_told_of_held(h, "10.0.1.7", 3);
	harness_command(h, "address add 10.0.1.1/24 port 1");
	harness_advance(h, 2100);
	routed_announcements(h, 1);
	finish(h);
}

/* C-03 and C-05 of published faults. */
static void commands_about_what_is_not_there(void **state)
{
	(void)state;
	struct harness *h = setup();
	static const struct {
		const char *line;
		int code;
	} cases[] = {
		{"route del 192.0.2.0/24", -ENOENT},
		{"route del 10.0.1.0/24", -EPERM},
		{"route del 10.0.1.1/32", -EPERM},
		{"neighbour del 10.0.1.77 port 1", -ENOENT},
		{"neighbour del 192.0.2.1", -ENOENT},
		{"neighbour del 10.0.1.7 port 4", -ENODEV},
		{"address del 10.0.9.1/24 port 1", -ENOENT},
		{"address del 10.0.1.1/25 port 1", -ENOENT},
		{"address del 10.0.1.1/24 port 31", -ENODEV},
		{"address del 10.0.1.1/24 port 32", -ENODEV},
		{"route add 20.0.1.0/33 via 10.0.1.2", -EINVAL},
		{"route add 20.0.1/24 via 10.0.1.2", -EINVAL},
		{"route add /0 via 10.0.1.2", -EINVAL},
		{"route add ::ffff:1.2.3.4/96 via 10.0.1.2", -EINVAL},
		{"route add fe80::/10 via 10.0.1.2", -EINVAL},
		{"route add 20.0.0.0/24 via 192.0.2.1", -ENETUNREACH},
		{"route add 20.0.0.0/24 via 10.0.1.1", -EINVAL},
		{"route add 20.0.0.0/24 via 10.0.1.255", -EINVAL},
		{"route add 20.0.0.0/24 via 10.0.1.2 10.0.1.2", -EINVAL},
		{"neighbour add 10.0.1.7 mac ff:ff:ff:ff:ff:ff port 1", -EINVAL},
		{"neighbour add 10.0.2.7 mac " X " port 1", -ENETUNREACH},
		{"neighbour add 10.0.0.9 mac " X " port 0", -EEXIST},
		{"address add 10.0.1.129/25 port 2", -EEXIST},
	};

	for (unsigned i = 0; i < COUNT(cases); i++)
		harness_refused(h, cases[i].code, cases[i].line);
	/* Host bits are cleared; both texts name the route. */
	for (unsigned i = 0; i < 2; i++) {
		harness_command(h, "route add 20.0.1.1/24 via 10.0.1.2");
		assert_true(shows(h, "show route", "20.0.1.0/24"));
		harness_refused(h, -EEXIST, "route add 20.0.1.77/24 via 10.0.2.2");
		harness_command(h, i == 0 ? "route del 20.0.1.1/24" : "route del 20.0.1.0/24");
		harness_refused(h, -ENOENT, "route del 20.0.1.0/24");
	}
	finish(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_announced),
		cmocka_unit_test(requests_are_answered_and_their_senders_learned),
		cmocka_unit_test(arp_that_is_not_believed),
		cmocka_unit_test(packets_wait_and_leave_in_order),
		cmocka_unit_test(packets_wait_for_a_gateway),
		cmocka_unit_test(what_is_too_big_waits_too),
		cmocka_unit_test(answers_of_the_router_wait_too),
		cmocka_unit_test(a_host_that_does_not_answer),
		cmocka_unit_test(a_gateway_dies_and_comes_back),
		cmocka_unit_test(a_host_that_answers_stays),
		cmocka_unit_test(static_neighbours_stand),
		cmocka_unit_test(what_was_waited_for_is_taken_away),
		cmocka_unit_test(commands_about_what_is_not_there),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
