/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that other filters have shown, through the packet path of a bridge of two ports. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "test_eal.h"

#define A "02:aa:00:00:00:01"
#define B "02:aa:00:00:00:02"
#define CHAIN(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static struct harness *bridged(void)
{
	struct harness *h = harness();

	harness_begin(h);
	harness_command(h, "bridge add br0");
	harness_command(h, "bridge member add br0 port 0");
	harness_command(h, "bridge member add br0 port 1");
	return h;
}

static void end(struct harness *h)
{
	harness_command(h, "filter flush");
	harness_command(h, "bridge del br0");
	harness_end(h);
}

/* One frame passes as it is, or is dropped for that reason. */
static void passes(struct harness *h, const struct frame *frame)
{
	harness_send(h, 0, frame);
	harness_run(h);
	harness_expect(h, 1, frame);
	harness_expect_nothing(h);
}

static void is_dropped(struct harness *h, const struct frame *frame, enum mr_drop_reason reason)
{
	harness_send(h, 0, frame);
	harness_run(h);
	harness_expect_nothing(h);
	harness_dropped(h, reason, 1);
}

static struct frame ipv4(unsigned protocol, unsigned dport, unsigned fragment, unsigned seed)
{
	return IPV4(.to = B, .from = A, .src = "192.0.2.1", .dst = "192.0.2.2",
		    .protocol = (int)protocol, .dport = dport, .fragment = fragment, .seed = seed);
}

/* An IPv6 packet: first is the first next header, then the bytes behind the IPv6 header. */
static struct frame ipv6(unsigned first, const uint8_t *behind, unsigned length)
{
	static const uint8_t address[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
	struct frame frame = frame_raw(B, A, 0x86dd, 14 + 40 + length);
	uint8_t *ip = frame.bytes + 14;

	memset(ip, 0, 40);
	ip[0] = 0x60;
	ip[4] = (uint8_t)(length >> 8);
	ip[5] = (uint8_t)length;
	ip[6] = (uint8_t)first;
	ip[7] = 64;
	memcpy(ip + 8, address, 16);
	memcpy(ip + 24, address, 16);
	memcpy(ip + 40, behind, length);
	return frame;
}

#define UDP(port) 0x30, 0, (port) >> 8, (port)&255, 0, 8, 0, 0
#define TCP(port)                                                                                  \
	0x30, 0, (port) >> 8, (port)&255, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 2, 0, 0, 0, 0, 0, 0
#define OPTIONS(next) next, 0, 1, 4, 0, 0, 0, 0
#define AH(next) next, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
#define FRAGMENT(next, offset, more)                                                               \
	next, 0, (offset) >> 5, ((offset) << 3 & 255) | (more), 0, 0, 0, 1

static void each_packet_of_a_burst_gets_its_own_verdict(void **state)
{
	struct harness *h = bridged();
	static struct frame frames[33];

	(void)state;
	harness_command(h, "filter add 100 deny udp from any to any 81 in");
	for (unsigned mixed = 0; mixed < 2; mixed++) {
		for (unsigned count = 1; count <= 33; count++) {
			for (unsigned first = 0; first < 2; first++) {
				unsigned denied = 0;

				for (unsigned i = 0; i < count; i++) {
					unsigned kind = mixed ? (i * 5 + count) % 3 : 0;
					unsigned port = 80 + (i + first) % 2;

					frames[i] = kind == 0   ? ipv4(17, port, 0, i)
						    : kind == 1 ? ipv6(17, CHAIN(UDP(port)))
								: frame_arp(B, A, 1, A, "192.0.2.1",
									    A, "192.0.2.2");
				}
				harness_burst(h, 0, frames, count);
				harness_run(h);
				for (unsigned i = 0; i < count; i++) {
					unsigned kind = mixed ? (i * 5 + count) % 3 : 0;

					if (kind != 2 && (i + first) % 2 == 1)
						denied++;
					else
						harness_expect(h, 1, &frames[i]);
				}
				harness_expect_nothing(h);
				harness_dropped(h, MR_DROP_filter_denied, denied);
			}
		}
	}
	end(h);
}

static void no_part_of_a_rule_is_ignored(void **state)
{
	struct harness *h = bridged();
	struct frame later = ipv4(6, 80, 3, 0);

	(void)state;
	harness_refused(h, -EINVAL, "filter add 100 deny tcp from any to any 443 frag");
	harness_command(h, "filter add 100 deny tcp from any to any 443");
	passes(h, &later);
	harness_command(h, "filter add 200 deny tcp from any to any frag");
	is_dropped(h, &later, MR_DROP_filter_denied);
	end(h);
}

static void flags_and_ports_are_of_their_protocols_only(void **state)
{
	static const uint8_t protocols[] = {17, 1, 47, 50};
	struct harness *h = bridged();

	(void)state;
	harness_refused(h, -EINVAL, "filter add 1 deny all from any to any tcpflags rst,urg");
	harness_refused(h, -EINVAL, "filter add 1 deny 47 from any to any 2000");
	harness_refused(h, -EINVAL, "filter add 1 deny 50 from any to any 2000");
	harness_command(h, "filter add 100 deny tcp from any to any tcpflags rst,urg");
	harness_command(h, "filter add 200 deny tcp,sctp from any to any 2000");
	for (unsigned i = 0; i < 4; i++) {
		struct frame frame = ipv4(protocols[i], 2000, 0, 0);

		frame.bytes[14 + 20 + 2] = 2000 >> 8;
		frame.bytes[14 + 20 + 3] = 2000 & 255;
		frame.bytes[14 + 20 + 13] = 0x24;
		passes(h, &frame);
		frame.bytes[14 + 9] = 6;
		frame_fix_ipv4(&frame);
		is_dropped(h, &frame, MR_DROP_filter_denied);
	}
	end(h);
}

static void ports_are_found_behind_extension_headers(void **state)
{
	struct harness *h = bridged();
	struct frame denied[] = {
		ipv6(0, CHAIN(OPTIONS(6), TCP(22))),
		ipv6(51, CHAIN(AH(0), OPTIONS(6), TCP(22))),
		ipv6(44, CHAIN(FRAGMENT(6, 0, 0), TCP(22))),
	};
	struct frame later = ipv6(44, CHAIN(FRAGMENT(6, 8, 0), TCP(22)));
	struct frame longer = ipv6(60, CHAIN(OPTIONS(60), OPTIONS(60), OPTIONS(60), OPTIONS(60),
					     OPTIONS(60), OPTIONS(60), OPTIONS(60), OPTIONS(60),
					     OPTIONS(60), OPTIONS(6), TCP(22)));
	struct frame tiny = ipv6(44, CHAIN(FRAGMENT(6, 0, 1), 0x30, 0, 0, 22, 0, 0, 0, 0));
	struct frame cut = ipv6(0, CHAIN(6, 3, 1, 4, 0, 0, 0, 0));

	(void)state;
	harness_command(h, "filter add 100 deny tcp from any to any 22");
	for (unsigned i = 0; i < 3; i++)
		is_dropped(h, &denied[i], MR_DROP_filter_denied);
	passes(h, &later);
	is_dropped(h, &longer, MR_DROP_filter_long_chain);
	is_dropped(h, &tiny, MR_DROP_filter_tiny_fragment);
	is_dropped(h, &cut, MR_DROP_filter_bad_header);
	harness_command(h, "filter add 200 deny tcp from any to any frag");
	is_dropped(h, &later, MR_DROP_filter_denied);
	end(h);
}

static void port_numbers_match_at_both_ends_or_are_refused(void **state)
{
	static const unsigned ports[] = {0, 1, 59999, 60006, 61999, 62170, 65529, 65535};
	static const char *const wrong[] = {"65536", "-1", "10-5", "80,,81", "08"};
	struct harness *h = bridged();
	char line[128];

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct frame hit = ipv6(17, CHAIN(UDP(ports[i])));
		struct frame above = ipv6(17, CHAIN(UDP((ports[i] + 1) & 65535)));
		struct frame below = ipv6(17, CHAIN(UDP((ports[i] - 1) & 65535)));

		harness_command(h, "filter add 100 deny udp from any to any %u in", ports[i]);
		is_dropped(h, &hit, MR_DROP_filter_denied);
		passes(h, &above);
		passes(h, &below);
		harness_command(h, "filter flush");
	}
	harness_command(h, "filter add 100 deny udp from any to any 60000-65535,5-5 in");
	for (unsigned i = 0; i < 5; i++) {
		snprintf(line, sizeof(line), "filter add 50 allow udp from any to any %s",
			 wrong[i]);
		harness_refused(h, -EINVAL, line);
	}
	struct frame inside[] = {ipv6(17, CHAIN(UDP(60000))), ipv6(17, CHAIN(UDP(65535))),
				 ipv6(17, CHAIN(UDP(5)))};
	struct frame outside[] = {ipv6(17, CHAIN(UDP(59999))), ipv6(17, CHAIN(UDP(4))),
				  ipv6(17, CHAIN(UDP(6)))};
	for (unsigned i = 0; i < 3; i++) {
		is_dropped(h, &inside[i], MR_DROP_filter_denied);
		passes(h, &outside[i]);
	}
	end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_packet_of_a_burst_gets_its_own_verdict),
		cmocka_unit_test(no_part_of_a_rule_is_ignored),
		cmocka_unit_test(flags_and_ports_are_of_their_protocols_only),
		cmocka_unit_test(ports_are_found_behind_extension_headers),
		cmocka_unit_test(port_numbers_match_at_both_ends_or_are_refused),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
