/* SPDX-License-Identifier: BSD-3-Clause */
/* Where routed packets go: routes, next hops, MTUs and bursts, through the whole packet path. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routed.h"
#include "test_eal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define A "02:aa:00:00:00:01" /* stations of a bridge */
#define B "02:aa:00:00:00:02"

/* The ports' gateways as frames to them show. */
static struct frame to_gateway(const struct frame *frame, unsigned port)
{
	char gateway[18], router[18];

	snprintf(gateway, sizeof(gateway), "02:bb:00:00:0%u:02", port);
	snprintf(router, sizeof(router), "02:00:00:00:00:0%u", port);
	return frame_routed(frame, gateway, router);
}

static void passes(struct harness *h, const struct frame *frame, unsigned port)
{
	struct frame out = to_gateway(frame, port);

	routed_send(h, 0, frame);
	harness_expect(h, port, &out);
	harness_expect_nothing(h);
}

static void told_no_route(struct harness *h, const struct frame *frame)
{
	routed_send(h, 0, frame);
	routed_told(h, frame, 3, 0, 0);
	harness_expect_nothing(h);
	harness_dropped(h, MR_DROP_no_route, 1);
}

/* The longest prefix wins, and what is deleted uncovers the next shorter one. */
static void the_longest_match_wins_and_a_delete_restores(void **state)
{
	(void)state;
	struct harness *h = routed();
	static const struct {
		const char *prefix;
		unsigned gateway;
		const char *inside[2]; /* but not inside the longer ones */
	} routes[] = {
		{"0.0.0.0/0", 1, {"1.0.0.1", "223.255.255.255"}},
		{"10.0.0.0/8", 2, {"10.255.255.255", "10.9.255.255"}},
		{"10.10.0.0/16", 3, {"10.10.0.0", "10.10.127.255"}},
		{"10.10.128.0/17", 1, {"10.10.129.0", "10.10.255.255"}},
		{"10.10.128.0/24", 2, {"10.10.128.0", "10.10.128.63"}},
		{"10.10.128.64/26", 3, {"10.10.128.64", "10.10.128.126"}},
		{"10.10.128.80/31", 1, {"10.10.128.80", "10.10.128.80"}},
		{"10.10.128.81/32", 2, {"10.10.128.81", "10.10.128.81"}},
	};

	/* In every state between none and all: each address goes by the longest that is there. */
	for (unsigned present = 0; present <= 2 * COUNT(routes); present++) {
		bool adding = present < COUNT(routes);
		unsigned count = adding ? present : 2 * (unsigned)COUNT(routes) - present;

		for (unsigned r = 0; r < COUNT(routes); r++) {
			for (unsigned i = 0; i < 2; i++) {
				struct frame frame = FROM_0(.dst = routes[r].inside[i]);
				unsigned by = r < count ? r : count - 1;

				if (count == 0)
					told_no_route(h, &frame);
				else if (r != 0 || count == 1)
					passes(h, &frame, routes[by].gateway);
				else
					passes(h, &frame, routes[0].gateway);
			}
		}
		harness_advance(h, 200);
		if (adding)
			harness_command(h, "route add %s via 10.0.%u.2", routes[present].prefix,
					routes[present].gateway);
		else if (count > 0)
			harness_command(h, "route del %s", routes[count - 1].prefix);
	}
	routed_end(h);
}

/* Deleting in the other order: what is longer does not depend on what is shorter. */
static void a_covering_route_goes_first(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame in = FROM_0(.dst = "10.10.128.1"), out = FROM_0(.dst = "10.10.1.1");

	harness_command(h, "route add 10.10.0.0/16 via 10.0.1.2");
	harness_command(h, "route add 10.10.128.0/24 via 10.0.2.2");
	harness_command(h, "route del 10.10.0.0/16");
	passes(h, &in, 2);
	told_no_route(h, &out);
	harness_command(h, "route del 10.10.128.0/24");
	told_no_route(h, &in);
	routed_end(h);
}

static void routes_inside_a_connected_subnet(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame host = FROM_0(.dst = "10.0.1.9"), direct = TO_HOST(1, &host);
	static const char *const prefixes[] = {"10.0.1.8/30", "10.0.1.9/32", "10.0.1.8/31"};

	for (unsigned i = 0; i < COUNT(prefixes); i++) {
		harness_command(h, "route add %s via 10.0.2.2", prefixes[i]);
		passes(h, &host, 2);
		harness_command(h, "route del %s", prefixes[i]);
		routed_send(h, 0, &host);
		harness_expect(h, 1, &direct);
	}
	/* Not over the appliance's own address. */
	harness_command(h, "route add 10.0.1.0/28 via 10.0.2.2");
	struct frame own = frame_echo(
		&(struct ipv4){
			.to = ROUTER(0), .from = HOST(0), .src = "10.0.0.9", .dst = "10.0.1.1"},
		1, 1, 30);
	struct frame reply = routed_echo_reply(&own);
	routed_send(h, 0, &own);
	routed_expect_own(h, 0, &reply);
	harness_consumed(h, 1);
	harness_command(h, "route del 10.0.1.0/28");
	routed_end(h);
}

static void a_packet_may_leave_by_the_port_that_it_came_from(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame frame = FROM_0(.dst = "203.0.113.1");

	harness_command(h, "route add 203.0.113.0/24 via 10.0.0.2");
	passes(h, &frame, 0);
	harness_command(h, "route del 203.0.113.0/24");
	routed_end(h);
}

static void a_black_hole_is_silent(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "route add 203.0.0.0/16 via 10.0.1.2");
	harness_command(h, "route add 203.0.113.0/24 blackhole");
	for (int ttl = TTL_ZERO; ttl <= 3; ttl++) {
		struct frame frame = FROM_0(.dst = "203.0.113.1", .ttl = ttl);

		routed_drops(h, &frame, MR_DROP_blackhole);
	}
	struct frame beside = FROM_0(.dst = "203.0.114.1");
	passes(h, &beside, 1);
	harness_command(h, "route del 203.0.113.0/24");
	struct frame inside = FROM_0(.dst = "203.0.113.1");
	passes(h, &inside, 1);
	harness_command(h, "route del 203.0.0.0/16");
	routed_end(h);
}

/* A changed port tells its neighbours again who it is. */
static void set_mtu(struct harness *h, unsigned port, unsigned mtu)
{
	harness_command(h, "port config mtu %u %u", port, mtu);
	harness_advance(h, 2100);
	routed_announcements(h, port);
}

/* Which port one packet of a flow left by. */
static unsigned path_of(struct harness *h, const struct frame *frame)
{
	struct frame out;
	unsigned found = HARNESS_PORTS;

	routed_send(h, 0, frame);
	for (unsigned port = 1; port < HARNESS_PORTS; port++) {
		struct frame expected = to_gateway(frame, port);

		if (!harness_take(h, port, &out))
			continue;
		assert_int_equal(found, HARNESS_PORTS);
		assert_int_equal(out.length, expected.length);
		assert_memory_equal(out.bytes, expected.bytes, out.length);
		found = port;
	}
	assert_int_not_equal(found, HARNESS_PORTS);
	return found;
}

#define FLOWS 240

static struct frame of_flow(unsigned flow, unsigned packet)
{
	char to[16];

	snprintf(to, sizeof(to), "203.0.113.%u", flow % 3 == 0 ? 7 : flow);
	return FROM_0(.dst = to, .sport = flow % 3 == 0 ? flow : 99, .dport = 53,
		      .protocol = flow % 2 ? 17 : 6, .id = packet, .seed = packet,
		      .payload = 30 + packet, .tos = packet, .ttl = (int)(packet + 2));
}

static void flows_keep_to_one_of_several_paths(void **state)
{
	(void)state;
	struct harness *h = routed();
	unsigned before[FLOWS], of_port[HARNESS_PORTS] = {0}, moved = 0;

	harness_command(h, "route add 203.0.113.0/24 via 10.0.1.2 10.0.2.2 10.0.3.2");
	for (unsigned flow = 0; flow < FLOWS; flow++) {
		struct frame frame = of_flow(flow, 0);

		before[flow] = path_of(h, &frame);
		of_port[before[flow]]++;
		for (unsigned packet = 1; packet < 4; packet++) {
			frame = of_flow(flow, packet);
			assert_int_equal(path_of(h, &frame), before[flow]);
		}
	}
	for (unsigned port = 1; port < HARNESS_PORTS; port++)
		assert_in_range(of_port[port], FLOWS / 3 - FLOWS / 8, FLOWS / 3 + FLOWS / 8);

	/* Nothing goes to a path without link, and all is as before when it is back. */
	harness_link(h, 2, false);
	for (unsigned flow = 0; flow < FLOWS; flow++) {
		struct frame frame = of_flow(flow, 1);
		unsigned port = path_of(h, &frame);

		assert_int_not_equal(port, 2);
		moved += port != before[flow];
	}
	assert_in_range(moved, of_port[2], FLOWS - 1);
	harness_link(h, 2, true);
	harness_advance(h, 2100);
	routed_announcements(h, 2);
	for (unsigned flow = 0; flow < FLOWS; flow++) {
		struct frame frame = of_flow(flow, 2);

		assert_int_equal(path_of(h, &frame), before[flow]);
	}
	harness_command(h, "route del 203.0.113.0/24");
	routed_end(h);
}

static void link_is_back(struct harness *h, unsigned port)
{
	harness_link(h, port, true);
	harness_advance(h, 2100);
	routed_announcements(h, port);
}

static void without_any_path_the_sender_is_told(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame frame = FROM_0(.dst = "203.0.113.1");

	harness_command(h, "route add 203.0.113.0/24 via 10.0.1.2 10.0.2.2");
	harness_link(h, 1, false);
	harness_link(h, 2, false);
	told_no_route(h, &frame);
	link_is_back(h, 2);
	passes(h, &frame, 2);
	link_is_back(h, 1);
	harness_command(h, "route del 203.0.113.0/24");
	routed_end(h);
}

/* What `show route` says of a prefix. */
static void shown(struct harness *h, const char *prefix, const char *action)
{
	char line[64], wanted[64], *text;

	snprintf(line, sizeof(line), "show route %s", prefix);
	snprintf(wanted, sizeof(wanted), "\"%s\"", action);
	text = harness_show(h, line);
	if (strstr(text, wanted) == NULL)
		fail_msg("%s, not %s", text, wanted);
	free(text);
}

/* Without link a port's subnet and the routes over it are not there; its own address is. */
static void a_lost_link_withdraws_routes(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame host = FROM_0(.dst = "10.0.1.9"), far = FROM_0(.dst = "203.0.113.1");
	struct ipv4 to_own = {
		.to = ROUTER(0), .from = HOST(0), .src = "10.0.0.9", .dst = "10.0.1.1"};
	struct frame ping = frame_echo(&to_own, 7, 1, 40);
	struct frame reply = routed_echo_reply(&ping), out = TO_HOST(1, &host);

	harness_command(h, "route add 203.0.113.0/24 via 10.0.1.2");
	for (unsigned flap = 0; flap < 3; flap++) {
		harness_link(h, 1, false);
		told_no_route(h, &host);
		told_no_route(h, &far);
		routed_send(h, 0, &ping);
		routed_expect_own(h, 0, &reply);
		harness_consumed(h, 1);
		shown(h, "10.0.1.0/24", "linkdown");
		shown(h, "203.0.113.0/24", "linkdown");
		link_is_back(h, 1);
		shown(h, "203.0.113.0/24", "forward");
		passes(h, &far, 1);
		routed_send(h, 0, &host);
		harness_expect(h, 1, &out);
	}
	harness_command(h, "route del 203.0.113.0/24");
	routed_end(h);
}

/* What covers them takes over, and gives way again. */
static void a_covering_route_takes_the_place_of_withdrawn_ones(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame host = FROM_0(.dst = "10.0.1.9"), far = FROM_0(.dst = "203.0.113.1");
	struct frame out = TO_HOST(1, &host);

	harness_command(h, "route add 203.0.113.0/24 via 10.0.1.2");
	harness_command(h, "route add 203.0.0.0/16 via 10.0.2.2");
	harness_command(h, "route add 0.0.0.0/0 via 10.0.3.2");
	harness_link(h, 1, false);
	passes(h, &far, 2);
	passes(h, &host, 3);
	harness_link(h, 2, false);
	passes(h, &far, 3);
	harness_link(h, 3, false);
	told_no_route(h, &far);
	told_no_route(h, &host);
	for (unsigned port = 3; port > 0; port--)
		link_is_back(h, port);
	passes(h, &far, 1);
	routed_send(h, 0, &host);
	harness_expect(h, 1, &out);
	harness_command(h, "route del 203.0.113.0/24");
	harness_command(h, "route del 203.0.0.0/16");
	harness_command(h, "route del 0.0.0.0/0");
	routed_end(h);
}

/* Packets that have arrived when the link goes are sent or dropped under a name, none is lost. */
static void a_burst_in_flight_ends_somewhere(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame burst[24], out;
	unsigned sent = 0;

	harness_command(h, "route add 203.0.113.0/24 via 10.0.1.2");
	harness_command(h, "route add 203.0.0.0/16 via 10.0.2.2");
	for (unsigned i = 0; i < COUNT(burst); i++)
		burst[i] = of_flow(i, i);
	harness_burst(h, 0, burst, COUNT(burst));
	harness_link(h, 1, false);
	for (unsigned port = 1; port <= 2; port++)
		while (harness_take(h, port, &out))
			sent++;
	assert_int_equal(sent, COUNT(burst));
	harness_burst(h, 0, burst, COUNT(burst));
	harness_run(h);
	for (sent = 0; harness_take(h, 2, &out); sent++)
		;
	assert_int_equal(sent, COUNT(burst));
	link_is_back(h, 1);
	harness_command(h, "route del 203.0.113.0/24");
	harness_command(h, "route del 203.0.0.0/16");
	routed_end(h);
}

/* RFC 2992: fragments have no ports, so all of a datagram go by addresses. */
static void fragments_of_a_datagram_keep_together(void **state)
{
	(void)state;
	struct harness *h = routed();

	harness_command(h, "route add 203.0.113.0/24 via 10.0.1.2 10.0.2.2 10.0.3.2");
	for (unsigned host = 1; host < 100; host++) {
		char to[16];

		snprintf(to, sizeof(to), "203.0.113.%u", host);
		struct frame first = FROM_0(.dst = to, .fragment = 0x2000, .payload = 80, .id = 7,
					    .sport = host * 77);
		struct frame last = FROM_0(.dst = to, .fragment = 10, .payload = 99, .id = 7);
		assert_int_equal(path_of(h, &first), path_of(h, &last));
	}
	harness_command(h, "route del 203.0.113.0/24");
	routed_end(h);
}

static void mtus_of_each_port(void **state)
{
	(void)state;
	struct harness *h = routed();
	static const unsigned mtus[] = {0, 1500, 1000, 577};
	static struct frame fragments[64];

	set_mtu(h, 2, 1000);
	set_mtu(h, 3, 577);
	for (unsigned port = 1; port < HARNESS_PORTS; port++)
		harness_command(h, "route add 203.0.%u.0/24 via 10.0.%u.2", port, port);
	for (unsigned port = 1; port < HARNESS_PORTS; port++) {
		for (int over = -1; over <= 60; over++) {
			unsigned payload = (unsigned)((int)mtus[port] - 20 + over), count;
			char to[16];

			snprintf(to, sizeof(to), "203.0.%u.1", port);
			struct frame may =
				FROM_0(.dst = to, .payload = payload, .id = 0xabcd, .tos = 0x2e);
			struct frame not =
				FROM_0(.dst = to, .payload = payload, .fragment = 0x4000);
			if (over <= 0) {
				passes(h, &may, port);
				passes(h, &not, port);
				continue;
			}
			struct frame out = to_gateway(&may, port);
			count = routed_fragments(&out, mtus[port], fragments, COUNT(fragments));
			assert_int_equal(count, 2);
			routed_send(h, 0, &may);
			for (unsigned i = 0; i < count; i++)
				harness_expect(h, port, &fragments[i]);
			harness_expect_nothing(h);
			routed_send(h, 0, &not );
			routed_told(h, &not, 3, 4, mtus[port]);
			harness_dropped(h, MR_DROP_fragmentation_needed, 1);
		}
		harness_advance(h, 1000);
	}
	set_mtu(h, 2, 1500);
	set_mtu(h, 3, 1500);
	for (unsigned port = 1; port < HARNESS_PORTS; port++)
		harness_command(h, "route del 203.0.%u.0/24", port);
	routed_end(h);
}

/* All MTUs down to the smallest of IPv4; also of what is a fragment already. */
static void fragments_are_exact_at_any_mtu(void **state)
{
	(void)state;
	struct harness *h = routed();
	static struct frame fragments[64];
	static const unsigned fields[] = {0, 0x2000, 0x2000 | 64, 64, 0x1fff - 300};

	for (unsigned mtu = 68; mtu < 1500; mtu += 7 + mtu / 5) {
		set_mtu(h, 1, mtu);
		for (unsigned i = 0; i < COUNT(fields); i++) {
			struct frame frame = FROM_0(.dst = "10.0.1.9", .payload = 1480,
						    .fragment = fields[i], .id = mtu);
			struct frame out = TO_HOST(1, &frame);
			unsigned count = routed_fragments(&out, mtu, fragments, COUNT(fragments));

			routed_send(h, 0, &frame);
			for (unsigned f = 0; f < count; f++)
				harness_expect(h, 1, &fragments[f]);
			harness_expect_nothing(h);
		}
	}
	set_mtu(h, 1, 1500);
	routed_end(h);
}

static void two_ports_at_once(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame from_0 = FROM_0(.dst = "10.0.1.9");
	struct frame from_1 =
		IPV4(.to = ROUTER(1), .from = HOST(1), .src = "10.0.1.9", .dst = "10.0.0.9");
	struct frame to_2 =
		IPV4(.to = ROUTER(1), .from = HOST(1), .src = "10.0.1.9", .dst = "10.0.2.9");
	struct frame out_0 = TO_HOST(1, &from_0), out_1 = TO_HOST(0, &from_1),
		     out_2 = TO_HOST(2, &to_2);

	for (unsigned size = 1; size <= 70; size++) {
		for (unsigned i = 0; i < size; i++) {
			harness_send(h, 0, &from_0);
			harness_send(h, 1, i % 2 ? &from_1 : &to_2);
		}
		harness_run(h);
		for (unsigned i = 0; i < size; i++) {
			harness_expect(h, 1, &out_0);
			harness_expect(h, i % 2 ? 0 : 2, i % 2 ? &out_1 : &out_2);
		}
		harness_expect_nothing(h);
	}
	routed_end(h);
}

enum kind { GOOD, OTHER_PORT, TTL_1, ARP, TO_SELF, NO_ROUTE, BAD_CHECKSUM, HOLE, KINDS };

/* Whatever the neighbours in its burst are, each packet has its own result. */
static void bursts_of_mixed_packets(void **state)
{
	(void)state;
	struct harness *h = routed();
	static struct frame burst[65];
	struct ipv4 ping = {.to = ROUTER(0), .from = HOST(0), .src = "10.0.0.9", .dst = "10.0.0.1"};
	unsigned random = 4711;

	harness_command(h, "route add 203.0.113.0/24 blackhole");
	for (unsigned size = 1; size <= 65; size++) {
		unsigned kind[65], of_kind[KINDS] = {0};

		for (unsigned i = 0; i < size; i++) {
			random = random * 1103515245 + 12345;
			kind[i] = random >> 16 & 7;
			of_kind[kind[i]]++;
			burst[i] = FROM_0(.dst = kind[i] == OTHER_PORT ? "10.0.2.9"
						 : kind[i] == NO_ROUTE ? "198.51.100.1"
						 : kind[i] == HOLE     ? "203.0.113.1"
								       : "10.0.1.9",
					  .ttl = kind[i] == TTL_1 ? 1 : 64, .id = i,
					  .payload = 20 + i * 20);
			if (kind[i] == BAD_CHECKSUM)
				burst[i].bytes[24] ^= 1;
			if (kind[i] == ARP)
				burst[i] = frame_arp(BROADCAST, HOST(0), 1, HOST(0), "10.0.0.9",
						     NO_MAC, "10.0.0.1");
			if (kind[i] == TO_SELF)
				burst[i] = frame_echo(&ping, i, size, i);
		}
		harness_burst(h, 0, burst, size);
		harness_run(h);
		for (unsigned i = 0; i < size; i++) {
			struct frame out = TO_HOST(1, &burst[i]);

			if (kind[i] == GOOD) {
				harness_expect(h, 1, &out);
			} else if (kind[i] == OTHER_PORT) {
				out = TO_HOST(2, &burst[i]);
				harness_expect(h, 2, &out);
			}
		}
		/* What somebody asked for comes before what is only an error. */
		for (unsigned i = 0; i < size; i++) {
			struct frame out = routed_echo_reply(&burst[i]);

			if (kind[i] == TO_SELF)
				routed_expect_own(h, 0, &out);
			if (kind[i] == ARP) {
				out = frame_arp(HOST(0), ROUTER(0), 2, ROUTER(0), "10.0.0.1",
						HOST(0), "10.0.0.9");
				harness_expect(h, 0, &out);
			}
		}
		for (unsigned i = 0; i < size; i++) {
			if (kind[i] == TTL_1)
				routed_told(h, &burst[i], 11, 0, 0);
			if (kind[i] == NO_ROUTE)
				routed_told(h, &burst[i], 3, 0, 0);
		}
		harness_expect_nothing(h);
		harness_dropped(h, MR_DROP_ttl_exceeded, of_kind[TTL_1]);
		harness_dropped(h, MR_DROP_no_route, of_kind[NO_ROUTE]);
		harness_dropped(h, MR_DROP_ip_checksum, of_kind[BAD_CHECKSUM]);
		harness_dropped(h, MR_DROP_blackhole, of_kind[HOLE]);
		harness_consumed(h, of_kind[ARP] + of_kind[TO_SELF]);
		harness_advance(h, 1000);
	}
	harness_command(h, "route del 203.0.113.0/24");
	routed_end(h);
}

static void bridged_and_routed_ports_side_by_side(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame packet = FROM_0(.dst = "10.0.1.9"), routed_packet = TO_HOST(1, &packet);
	struct frame hello = frame_raw(BROADCAST, A, 0x0800, 60),
		     answer = frame_raw(A, B, 0x0800, 60);

	for (unsigned port = 2; port < 4; port++) {
		harness_command(h, "neighbour del 10.0.%u.9 port %u", port, port);
		harness_command(h, "neighbour del 10.0.%u.2 port %u", port, port);
		harness_command(h, "address del 10.0.%u.1/24 port %u", port, port);
	}
	harness_command(h, "bridge add br0");
	harness_command(h, "bridge member add br0 port 2");
	harness_command(h, "bridge member add br0 port 3");
	for (unsigned i = 0; i < 40; i++) {
		harness_send(h, 0, &packet);
		harness_send(h, 2, &hello);
		harness_send(h, 3, &answer);
	}
	/* A packet for the router's MAC is the router's on its own ports only. */
	harness_send(h, 3, &packet);
	harness_run(h);
	for (unsigned i = 0; i < 40; i++) {
		harness_expect(h, 1, &routed_packet);
		harness_expect(h, 3, &hello);
		harness_expect(h, 2, &answer);
	}
	harness_expect(h, 2, &packet);
	harness_expect_nothing(h);
	harness_command(h, "bridge del br0");
	for (unsigned port = 2; port < 4; port++) {
		routed_port_again(h, port);
		harness_advance(h, 2100);
		routed_announcements(h, port);
	}
	routed_end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_match_wins_and_a_delete_restores),
		cmocka_unit_test(a_covering_route_goes_first),
		cmocka_unit_test(routes_inside_a_connected_subnet),
		cmocka_unit_test(a_packet_may_leave_by_the_port_that_it_came_from),
		cmocka_unit_test(a_black_hole_is_silent),
		cmocka_unit_test(flows_keep_to_one_of_several_paths),
		cmocka_unit_test(without_any_path_the_sender_is_told),
		cmocka_unit_test(a_lost_link_withdraws_routes),
		cmocka_unit_test(a_covering_route_takes_the_place_of_withdrawn_ones),
		cmocka_unit_test(a_burst_in_flight_ends_somewhere),
		cmocka_unit_test(fragments_of_a_datagram_keep_together),
		cmocka_unit_test(mtus_of_each_port),
		cmocka_unit_test(fragments_are_exact_at_any_mtu),
		cmocka_unit_test(two_ports_at_once),
		cmocka_unit_test(bursts_of_mixed_packets),
		cmocka_unit_test(bridged_and_routed_ports_side_by_side),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
