/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that keep state on a bridge: VLANs, IPv6, ICMPv6, fragments. */
#include <stdlib.h>
#include <string.h>

#include "stateful.h"
#include "test_eal.h"

enum { UDP = 17, ICMP6 = 58, IPV6 = 40 };

static struct harness *begin(void)
{
	struct harness *h = stateful_bridges(1);

	harness_command(h, "filter add 100 allow ip from any to any recv port 0 keep-state");
	return h;
}

/* ---- IPv4 ---- */

static struct frame udp4(unsigned side, unsigned fragment)
{
	return IPV4(.from = side == 0 ? HOST(0) : HOST(1), .to = side == 0 ? HOST(1) : HOST(0),
		    .src = side == 0 ? "192.0.2.1" : "192.0.2.2",
		    .dst = side == 0 ? "192.0.2.2" : "192.0.2.1", .sport = side == 0 ? 1000 : 53,
		    .dport = side == 0 ? 53 : 1000, .fragment = fragment, .payload = 24);
}

static struct frame tagged(unsigned side, unsigned outer, unsigned inner)
{
	struct frame frame = udp4(side, 0);

	if (inner != 0)
		frame = frame_tagged(&frame, 0x8100, (uint16_t)inner);
	if (outer != 0)
		frame = frame_tagged(&frame, inner != 0 ? 0x88a8 : 0x8100, (uint16_t)outer);
	return frame;
}

static void each_vlan_has_its_own_flows(void **state)
{
	(void)state;
	static const struct {
		unsigned outer, inner;
	} tags[] = {{0, 0}, {5, 0}, {6, 0}, {7, 5}};
	struct harness *h = begin();

	for (unsigned known = 0; known < 4; known++) {
		/* The priority is no part of a VLAN. */
		stateful_bridged(h, 0, 1, tagged(0, tags[known].outer, tags[known].inner));
		for (unsigned i = 0; i < 4; i++) {
			struct frame reply =
				tagged(1, tags[i].outer == 0 ? 0 : tags[i].outer | 3u << 13,
				       tags[i].inner);

			if (i <= known)
				stateful_bridged(h, 1, 0, reply);
			else
				stateful_denied(h, 1, reply);
		}
	}
	stateful_bridges_end(h, 1);
}

static void a_first_fragment_is_of_its_flow_and_later_ones_are_not(void **state)
{
	(void)state;
	struct harness *h = begin();

	stateful_denied(h, 1, udp4(1, 0x2000));
	stateful_bridged(h, 0, 1, udp4(0, 0));
	stateful_bridged(h, 1, 0, udp4(1, 0x2000));
	stateful_denied(h, 1, udp4(1, 0x0003));
	harness_command(h, "filter add 50 allow ip from any to any frag");
	stateful_bridged(h, 1, 0, udp4(1, 0x0003));
	stateful_bridges_end(h, 1);
}

/* ---- IPv6 ---- */

/* From the host behind a port to the other, with so many bytes behind the header. */
static struct frame ipv6(unsigned side, uint8_t protocol, unsigned payload)
{
	struct frame frame = frame_raw(side == 0 ? HOST(1) : HOST(0), side == 0 ? HOST(0) : HOST(1),
				       0x86dd, 14 + IPV6 + payload);
	uint8_t *ip = frame.bytes + 14;

	memset(ip, 0, IPV6 + payload);
	ip[0] = 0x60;
	ip[5] = (uint8_t)payload;
	ip[6] = protocol;
	ip[7] = 64;
	ip[8] = ip[24] = 0x20;
	ip[23] = (uint8_t)(1 + side);
	ip[39] = (uint8_t)(2 - side);
	return frame;
}

static struct frame udp6(unsigned side)
{
	struct frame frame = ipv6(side, UDP, 16);
	uint8_t *udp = frame.bytes + 14 + IPV6;

	udp[side == 0 ? 1 : 3] = 77;
	udp[side == 0 ? 3 : 1] = 53;
	udp[5] = 16;
	return frame;
}

static struct frame icmp6(unsigned side, uint8_t type, unsigned payload)
{
	struct frame frame = ipv6(side, ICMP6, 8 + payload);

	frame.bytes[14 + IPV6] = type;
	return frame;
}

static struct frame echo6(unsigned side, uint8_t type, uint8_t id)
{
	struct frame frame = icmp6(side, type, 8);

	frame.bytes[14 + IPV6 + 5] = id;
	return frame;
}

/* An error from behind port 1 about a frame, of which it quotes so many bytes. */
static struct frame error_about(uint8_t type, const struct frame *about, unsigned quoted)
{
	struct frame frame = icmp6(1, type, quoted);

	memcpy(frame.bytes + 14 + IPV6 + 8, about->bytes + 14, quoted);
	return frame;
}

static void echo_is_answered_by_replies(void **state)
{
	(void)state;
	struct harness *h = begin();

	stateful_denied(h, 1, echo6(1, 129, 7));
	stateful_bridged(h, 0, 1, echo6(0, 128, 7));
	stateful_denied(h, 1, echo6(1, 128, 7));
	stateful_denied(h, 1, echo6(1, 129, 8));
	stateful_bridged(h, 1, 0, echo6(1, 129, 7));
	stateful_bridges_end(h, 1);
}

static void errors_are_about_packets_of_flows(void **state)
{
	(void)state;
	struct harness *h = begin();
	struct frame known = udp6(0), unknown = udp6(0), answer = udp6(1), error, to_another;

	unknown.bytes[14 + IPV6 + 1]++;
	stateful_bridged(h, 0, 1, known);
	for (uint8_t type = 1; type <= 4; type++) {
		error = error_about(type, &known, IPV6 + 16);
		stateful_bridged(h, 1, 0, error);
		/* The ports are there, and what else must be. */
		stateful_bridged(h, 1, 0, error_about(type, &known, IPV6 + 8));
		stateful_denied(h, 1, error_about(type, &known, IPV6 + 7));
		stateful_denied(h, 1, error_about(type, &known, IPV6 - 1));
		stateful_denied(h, 1, error_about(type, &unknown, IPV6 + 16));
		/* It goes to who sent the packet, and to nobody else. */
		to_another = error;
		to_another.bytes[14 + 39] = 9;
		stateful_denied(h, 1, to_another);
		stateful_denied(h, 1, error_about(type, &answer, IPV6 + 16));
		stateful_denied(h, 1, error_about(type, &error, IPV6 + 8 + 16));
	}
	stateful_denied(h, 1, error_about(5, &known, IPV6 + 16));
	stateful_denied(h, 1, error_about(0, &known, IPV6 + 16));
	stateful_bridges_end(h, 1);
}

/* What has no ports is known by its addresses; neighbour discovery makes no flow. */
static void other_protocols_and_messages(void **state)
{
	(void)state;
	struct harness *h = begin();

	stateful_denied(h, 1, ipv6(1, 47, 20));
	stateful_bridged(h, 0, 1, ipv6(0, 47, 20));
	stateful_bridged(h, 1, 0, ipv6(1, 47, 20));
	stateful_denied(h, 1, ipv6(1, 50, 20));
	stateful_bridged(h, 0, 1, icmp6(0, 135, 16));
	stateful_denied(h, 1, icmp6(1, 136, 16));
	stateful_bridges_end(h, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_vlan_has_its_own_flows),
		cmocka_unit_test(a_first_fragment_is_of_its_flow_and_later_ones_are_not),
		cmocka_unit_test(echo_is_answered_by_replies),
		cmocka_unit_test(errors_are_about_packets_of_flows),
		cmocka_unit_test(other_protocols_and_messages),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
