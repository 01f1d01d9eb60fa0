/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows of bridges and of the router are apart: the same addresses and ports are not the same flow.
 */
#include <errno.h>
#include <string.h>

#include "stateful.h"
#include "test_eal.h"

#define FAR "02:cc:00:00:00:09"

/* Frames from and to hosts that are behind any port, with the same addresses everywhere. */
static struct frame datagram(unsigned side)
{
	return IPV4(.from = side == 0 ? HOST(0) : FAR, .to = side == 0 ? FAR : HOST(0),
		    .src = side == 0 ? "10.0.0.9" : "10.0.1.9",
		    .dst = side == 0 ? "10.0.1.9" : "10.0.0.9", .sport = side == 0 ? 1000 : 53,
		    .dport = side == 0 ? 53 : 1000);
}

/* From the far end to host 0, about what that has sent. */
static struct frame error_about(const struct frame *about)
{
	struct frame frame = stateful_error(1, 3, about, 28);
	struct frame addressed = datagram(1);

	memcpy(frame.bytes, addressed.bytes, 12);
	return frame;
}

static void bridges_are_apart(void **state)
{
	(void)state;
	struct harness *h = stateful_bridges(2);
	struct frame query = datagram(0), answer = datagram(1), error = error_about(&query);

	harness_command(h, "filter add 100 allow ip from any to any recv port 0,2 keep-state");
	stateful_bridged(h, 0, 1, query);
	stateful_bridged(h, 1, 0, error);
	stateful_denied(h, 3, answer);
	stateful_denied(h, 3, error);
	stateful_bridged(h, 1, 0, answer);
	stateful_bridged(h, 2, 3, query);
	stateful_bridged(h, 3, 2, answer);
	stateful_bridged(h, 3, 2, error);
	assert_int_equal(stateful_flows(h), 4);
	stateful_bridges_end(h, 2);
}

/* A bridge that is exempt makes and meets no flow, and is none the worse for it later. */
static void an_exempt_bridge_has_no_flows(void **state)
{
	(void)state;
	struct harness *h = stateful_bridges(1);

	harness_command(h, "filter add 100 allow ip from any to any recv port 0 limit src-addr 1");
	harness_command(h, "filter bridge br0 off");
	stateful_bridged(h, 0, 1, datagram(0));
	stateful_bridged(h, 1, 0, datagram(1));
	assert_int_equal(stateful_flows(h), 0);
	harness_command(h, "filter bridge br0 on");
	stateful_denied(h, 1, datagram(1));
	stateful_bridged(h, 0, 1, datagram(0));
	stateful_bridged(h, 1, 0, datagram(1));
	harness_command(h, "filter bridge br0 off");
	stateful_bridged(h, 1, 0, datagram(1));
	harness_command(h, "filter bridge br0 on");
	stateful_bridged(h, 1, 0, datagram(1));
	stateful_bridges_end(h, 1);
}

/* What is not IP has no flow: rules with state for IP do not match it. */
static void other_frames_meet_no_flow(void **state)
{
	(void)state;
	struct harness *h = stateful_bridges(1);
	struct frame arp = frame_arp(FAR, HOST(0), 1, HOST(0), "10.0.0.9", NO_MAC, "10.0.1.9");
	struct frame other = frame_raw(FAR, HOST(0), 0x88b5, 100);
	struct frame snap = frame_raw(FAR, HOST(0), 80, 94);

	harness_command(h, "filter add 100 check-state");
	harness_command(h, "filter add 200 allow ip from any to any keep-state");
	stateful_denied(h, 0, arp);
	stateful_denied(h, 0, other);
	stateful_denied(h, 0, snap);
	harness_refused(h, -EINVAL, "filter add 300 allow all from any to any keep-state");
	harness_command(h, "filter add 300 allow all from any to any src-mac 02:bb:00:00:00:09");
	for (unsigned i = 0; i < 2; i++) {
		stateful_bridged(h, 0, 1, arp);
		stateful_bridged(h, 0, 1, other);
		stateful_bridged(h, 0, 1, snap);
	}
	arp = frame_arp(HOST(0), FAR, 2, FAR, "10.0.1.9", HOST(0), "10.0.0.9");
	stateful_denied(h, 1, arp);
	assert_int_equal(stateful_flows(h), 0);
	stateful_bridges_end(h, 1);
}

/* A frame that is flooded meets its flow at each port that it leaves by. */
static void a_flooded_frame_is_of_one_flow(void **state)
{
	(void)state;
	struct harness *h = stateful_bridges(1);
	struct frame query = datagram(0), answer = datagram(1);
	struct frame syn = TCP(.from = 0, .to = 1, .flags = SYN, .seq = 100);

	memcpy(syn.bytes, query.bytes, 12);
	harness_command(h, "bridge member add br0 port 2");
	harness_command(h, "bridge member add br0 port 3");
	for (unsigned hook = 0; hook < 3; hook++) {
		harness_command(h, "filter flush");
		if (hook != 1)
			harness_command(h,
					"filter add 100 allow ip from 10.0.0.9 to any %s limit "
					"src-addr 2",
					hook == 0 ? "out" : "");
		else
			harness_command(h, "filter add 100 allow ip from 10.0.0.9 to any in "
					   "limit src-addr 2");
		if (hook == 0)
			harness_command(h, "filter add 200 allow ip from any to any in");
		if (hook == 1)
			harness_command(h, "filter add 200 allow ip from any to any out");
		for (unsigned i = 0; i < 3; i++) {
			harness_send(h, 0, i == 1 ? &syn : &query);
			harness_run(h);
			for (unsigned port = 1; port < 4; port++)
				harness_expect(h, port, i == 1 ? &syn : &query);
			harness_expect_nothing(h);
		}
		assert_int_equal(stateful_flows(h), 2);
		harness_send(h, 3, &answer);
		harness_run(h);
		harness_expect(h, 0, &answer);
		harness_expect_nothing(h);
		harness_command(h, "filter state flush");
		harness_command(h, "station flush br0");
		harness_advance(h, 2000);
	}
	stateful_bridges_end(h, 1);
}

/* The same between routed ports and a bridge beside them. */
static void the_router_is_apart(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame query = stateful_udp(0, 1, 1000, 53), answer = stateful_udp(1, 0, 53, 1000);

	for (unsigned port = 2; port < 4; port++) {
		harness_command(h, "neighbour del 10.0.%u.9 port %u", port, port);
		harness_command(h, "neighbour del 10.0.%u.2 port %u", port, port);
		harness_command(h, "address del 10.0.%u.1/24 port %u", port, port);
	}
	harness_command(h, "bridge add br0");
	for (unsigned port = 2; port < 4; port++)
		harness_command(h, "bridge member add br0 port %u", port);
	harness_command(h, "filter default deny");
	harness_command(h, "filter add 100 allow ip from any to any recv port 0,2 keep-state");
	stateful_passes(h, 0, 1, query);
	stateful_denied(h, 3, datagram(1));
	stateful_bridged(h, 2, 3, datagram(0));
	stateful_bridged(h, 3, 2, datagram(1));
	stateful_passes(h, 1, 0, answer);
	harness_command(h, "filter flush");
	harness_command(h, "filter default allow");
	harness_command(h, "bridge del br0");
	for (unsigned port = 2; port < 4; port++)
		routed_port_again(h, port);
	harness_advance(h, 3000);
	for (unsigned port = 0; port < HARNESS_PORTS; port++)
		routed_announcements(h, port);
	stateful_end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bridges_are_apart),
		cmocka_unit_test(an_exempt_bridge_has_no_flows),
		cmocka_unit_test(other_frames_meet_no_flow),
		cmocka_unit_test(a_flooded_frame_is_of_one_flow),
		cmocka_unit_test(the_router_is_apart),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
