/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of IPv4 forwarding, frame by frame, through the whole packet path. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "routed.h"
#include "test_eal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REMOTE "198.51.100.20" /* behind the gateway of port 1 */

static uint8_t *ip_of(struct frame *frame)
{
	return frame->bytes + 14;
}

static void put16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* A frame of port 0 must leave by port 1 to its host. */
static void passes(struct harness *h, const struct frame *frame)
{
	struct frame out = TO_HOST(1, frame);

	routed_send(h, 0, frame);
	harness_expect(h, 1, &out);
	harness_expect_nothing(h);
}

static void a_ttl_is_decremented_and_never_reaches_0(void **state)
{
	(void)state;
	struct harness *h = routed();

	for (int ttl = 2; ttl <= 255; ttl++) {
		struct frame frame = FROM_0(.dst = "10.0.1.9", .ttl = ttl);

		passes(h, &frame);
	}
	for (int ttl = TTL_ZERO; ttl <= 1; ttl += 2) {
		struct frame frame = FROM_0(.dst = "10.0.1.9", .ttl = ttl);

		routed_send(h, 0, &frame);
		routed_told(h, &frame, 11, 0, 0);
		harness_dropped(h, MR_DROP_ttl_exceeded, 1);
	}
	routed_end(h);
}

/* RFC 1624: headers at which an update of the checksum needs the end-around carry. */
static void checksums_made_for_the_carry(void **state)
{
	(void)state;
	struct harness *h = routed();
	static const struct {
		uint8_t header[20], out[4];
	} cases[] = {{{0x45, 0x00, 0x00, 0x2e, 0x8e, 0xec, 0x00, 0x00, 0x40, 0x11,
		       0xff, 0x80, 0xc0, 0x00, 0x02, 0x0a, 0xc6, 0x33, 0x64, 0x14},
		      {0x3f, 0x11, 0x00, 0x81}},
		     {{0x45, 0x00, 0x00, 0x2e, 0x8f, 0x6d, 0x00, 0x00, 0x40, 0x11,
		       0xfe, 0xff, 0xc0, 0x00, 0x02, 0x0a, 0xc6, 0x33, 0x64, 0x14},
		      {0x3f, 0x11, 0x00, 0x00}}};

	harness_command(h, "route add 198.51.100.0/24 via 10.0.1.2");
	for (unsigned i = 0; i < COUNT(cases); i++) {
		struct frame frame = FROM_0(.dst = REMOTE), out;

		memcpy(ip_of(&frame), cases[i].header, 20);
		routed_send(h, 0, &frame);
		assert_true(harness_take(h, 1, &out));
		assert_memory_equal(ip_of(&out) + 8, cases[i].out, 4);
		frame = TO_GATEWAY(1, &frame);
		assert_memory_equal(out.bytes, frame.bytes, out.length);
	}
	harness_command(h, "route del 198.51.100.0/24");
	routed_end(h);
}

/* Every incoming checksum within 2 * 0x100 of the wrap, 0xffff in place of 0 among them. */
static void checksums_around_the_wrap(void **state)
{
	(void)state;
	struct harness *h = routed();

	for (unsigned wanted = 0xfe00; wanted <= 0x10200; wanted++) {
		struct frame frame = FROM_0(.dst = "10.0.1.9");
		unsigned checksum = (unsigned)(ip_of(&frame)[10] << 8 | ip_of(&frame)[11]);
		/* The identification takes what the checksum gives. */
		unsigned id = checksum + 0xffff - (wanted & 0xffff);

		put16(ip_of(&frame) + 4, (id >> 16) + (id & 0xffff));
		frame_fix_ipv4(&frame);
		if (wanted == 0xffff)
			put16(ip_of(&frame) + 10, 0xffff);
		else
			assert_int_equal((ip_of(&frame)[10] << 8 | ip_of(&frame)[11]) % 0xffff,
					 (wanted & 0xffff) % 0xffff);
		passes(h, &frame);
	}
	routed_end(h);
}

static void checksums_that_are_wrong(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame good = FROM_0(.dst = "10.0.1.9");

	for (unsigned bit = 0; bit < 160; bit++) {
		struct frame bad = good;

		ip_of(&bad)[bit / 8] ^= (uint8_t)(1 << bit % 8);
		/* What is wrong with version and lengths is found before the checksum. */
		if (bit / 8 == 0 || bit / 8 == 2 || bit / 8 == 3)
			continue;
		routed_drops(h, &bad, MR_DROP_ip_checksum);
	}
	for (int by = -1; by <= 1; by += 2) {
		struct frame bad = good;

		put16(ip_of(&bad) + 10, (unsigned)((ip_of(&bad)[10] << 8 | ip_of(&bad)[11]) + by));
		routed_drops(h, &bad, MR_DROP_ip_checksum);
	}
	struct frame none = good;
	put16(ip_of(&none) + 10, 0);
	routed_drops(h, &none, MR_DROP_ip_checksum);
	put16(ip_of(&none) + 10, 0xffff);
	routed_drops(h, &none, MR_DROP_ip_checksum);
	routed_end(h);
}

static void versions_and_header_lengths(void **state)
{
	(void)state;
	struct harness *h = routed();

	for (unsigned first = 0; first < 256; first++) {
		struct frame frame = FROM_0(.dst = "10.0.1.9", .payload = 60);

		ip_of(&frame)[0] = (uint8_t)first;
		memset(ip_of(&frame) + 20, 1, 40); /* no operation, where it is an option */
		frame_fix_ipv4(&frame);
		if (first >> 4 != 4)
			routed_drops(h, &frame, MR_DROP_ip_version);
		else if ((first & 15) < 5)
			routed_drops(h, &frame, MR_DROP_ip_header);
		else
			passes(h, &frame);
	}
	/* A header that is longer than its packet. */
	for (unsigned words = 6; words < 16; words++) {
		struct frame frame = FROM_0(.dst = "10.0.1.9", .payload = 4 * (words - 5) - 1);

		ip_of(&frame)[0] = (uint8_t)(0x40 | words);
		memset(ip_of(&frame) + 20, 1, 40);
		frame_fix_ipv4(&frame);
		routed_drops(h, &frame, MR_DROP_ip_header);
	}
	routed_end(h);
}

static void total_lengths(void **state)
{
	(void)state;
	struct harness *h = routed();

	for (unsigned length = 34; length <= 100; length += 3) {
		for (unsigned total = 0; total <= length - 14 + 2; total++) {
			struct frame frame = FROM_0(.dst = "10.0.1.9", .payload = 100);

			frame.length = length;
			put16(ip_of(&frame) + 2, total);
			frame_fix_ipv4(&frame);
			if (total < 20)
				routed_drops(h, &frame, MR_DROP_ip_header);
			else if (total > length - 14)
				routed_drops(h, &frame, MR_DROP_truncated);
			else
				passes(h, &frame);
		}
	}
	for (unsigned length = 14; length < 34; length++) {
		struct frame frame = FROM_0(.dst = "10.0.1.9");

		frame.length = length;
		routed_drops(h, &frame, MR_DROP_truncated);
	}
	struct frame huge = FROM_0(.dst = "10.0.1.9");
	put16(ip_of(&huge) + 2, 0xffff);
	frame_fix_ipv4(&huge);
	routed_drops(h, &huge, MR_DROP_truncated);
	routed_end(h);
}

/* RFC 894: padding is no part of the packet, and must not carry what others left in it. */
static void padding_is_taken_off_or_zero(void **state)
{
	(void)state;
	struct harness *h = routed();

	for (unsigned payload = 1; payload <= 60; payload++) {
		for (unsigned pad = 0; pad <= 60; pad += payload % 7 + 1) {
			struct frame frame =
				FROM_0(.dst = "10.0.1.9", .payload = payload, .pad = pad);

			passes(h, &frame);
		}
	}
	struct frame published = FROM_0(.dst = "10.0.1.9", .payload = 8, .pad = 18), out;
	assert_int_equal(published.length, 60);
	routed_send(h, 0, &published);
	assert_true(harness_take(h, 1, &out));
	assert_int_equal(out.length, 60);
	for (unsigned i = 42; i < 60; i++)
		assert_int_equal(out.bytes[i], 0);
	routed_end(h);
}

static void options(void **state)
{
	(void)state;
	struct harness *h = routed();
	static const struct {
		uint8_t bytes[12];
		unsigned length;
		int reason; /* -1: passes unchanged */
	} cases[] = {
		{{1, 1, 1, 1}, 4, -1},
		{{0, 0, 0, 0}, 4, -1},
		{{0, 131, 0, 255}, 4, -1}, /* nothing counts behind the end of the list */
		{{1, 0, 7, 1}, 4, -1},
		{{7, 11, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 12, -1},
		{{7, 3, 4, 0}, 4, -1},
		{{68, 12, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 12, -1},
		{{148, 4, 0, 0}, 4, -1},
		{{222, 4, 1, 2}, 4, -1}, /* one that nobody knows */
		{{1, 222, 2, 1}, 4, -1},
		{{131, 7, 4, 10, 0, 1, 9, 0}, 8, MR_DROP_ip_source_route},
		{{137, 7, 4, 10, 0, 1, 9, 0}, 8, MR_DROP_ip_source_route},
		{{1, 131, 3, 4}, 4, MR_DROP_ip_source_route},
		{{7, 3, 4, 137, 3, 4, 0, 0}, 8, MR_DROP_ip_source_route},
		{{131, 0, 0, 0}, 4, MR_DROP_ip_source_route},
		{{1, 1, 1, 137}, 4, MR_DROP_ip_source_route},
		{{7, 0, 0, 0}, 4, MR_DROP_ip_options},
		{{7, 1, 0, 0}, 4, MR_DROP_ip_options},
		{{7, 5, 4, 0}, 4, MR_DROP_ip_options},
		{{7, 255, 4, 0}, 4, MR_DROP_ip_options},
		{{1, 1, 1, 7}, 4, MR_DROP_ip_options},
		{{1, 1, 68, 3}, 4, MR_DROP_ip_options},
		{{1, 222, 2, 222}, 4, MR_DROP_ip_options},
		{{222, 0, 1, 1}, 4, MR_DROP_ip_options},
	};

	for (unsigned i = 0; i < COUNT(cases); i++) {
		struct frame frame = FROM_0(.dst = "10.0.1.9", .options = cases[i].bytes,
					    .options_length = cases[i].length);
		struct frame to_us = FROM_0(.dst = "10.0.0.1", .options = cases[i].bytes,
					    .options_length = cases[i].length);

		if (cases[i].reason < 0) {
			passes(h, &frame);
			continue;
		}
		routed_drops(h, &frame, (enum mr_drop_reason)cases[i].reason);
		routed_drops(h, &to_us, (enum mr_drop_reason)cases[i].reason);
	}
	routed_end(h);
}

static const int ttls[] = {TTL_ZERO, 1, 2, 64};

/* Silently, whatever the TTL: RFC 1812 5.3.7, 4.3.2.7. */
static void addresses_that_are_never_forwarded(void **state)
{
	(void)state;
	struct harness *h = routed();
	static const char *const sources[] = {"0.0.0.0",   "0.255.255.255",   "127.0.0.1",
					      "127.9.9.9", "224.0.0.1",       "239.255.255.255",
					      "240.0.0.1", "255.255.255.255", "255.255.255.254"};
	static const struct {
		const char *address;
		enum mr_drop_reason reason;
	} destinations[] = {
		{"0.0.0.0", MR_DROP_ip_destination},
		{"0.1.2.3", MR_DROP_ip_destination},
		{"127.0.0.1", MR_DROP_ip_destination},
		{"127.255.255.255", MR_DROP_ip_destination},
		{"240.0.0.1", MR_DROP_ip_destination},
		{"255.255.255.254", MR_DROP_ip_destination},
		{"255.255.255.255", MR_DROP_ip_destination},
		{"224.0.0.1", MR_DROP_ip_multicast},
		{"224.0.0.9", MR_DROP_ip_multicast},
		{"239.255.255.255", MR_DROP_ip_multicast},
		{"10.0.0.255", MR_DROP_directed_broadcast}, /* of the port that it came from */
		{"10.0.1.255", MR_DROP_directed_broadcast},
		{"10.0.1.0", MR_DROP_directed_broadcast},
	};

	/* A default route does not make them routable. */
	harness_command(h, "route add 0.0.0.0/0 via 10.0.1.2");
	for (unsigned t = 0; t < COUNT(ttls); t++) {
		for (unsigned i = 0; i < COUNT(sources); i++) {
			struct frame frame =
				IPV4(.to = ROUTER(0), .from = HOST(0), .src = sources[i],
				     .dst = "10.0.1.9", .ttl = ttls[t]);

			routed_drops(h, &frame, MR_DROP_ip_source);
		}
		for (unsigned i = 0; i < COUNT(destinations); i++) {
			struct frame frame = FROM_0(.dst = destinations[i].address, .ttl = ttls[t]);

			routed_drops(h, &frame, destinations[i].reason);
		}
	}
	harness_command(h, "route del 0.0.0.0/0");
	routed_end(h);
}

/* RFC 1812 5.3.4: what came as a link-layer broadcast is not forwarded, and nobody is told. */
static void link_layer_groups_are_not_routed(void **state)
{
	(void)state;
	struct harness *h = routed();
	static const char *const groups[] = {BROADCAST, "01:00:5e:00:00:05", "33:33:00:00:00:01",
					     "01:80:c2:00:00:00", "03:00:00:00:00:00"};
	static const char *const to[] = {"10.0.1.9", "10.0.0.1", "10.0.1.1", "203.0.113.1"};

	for (unsigned t = 0; t < COUNT(ttls); t++) {
		for (unsigned g = 0; g < COUNT(groups); g++) {
			for (unsigned i = 0; i < COUNT(to); i++) {
				struct frame frame =
					IPV4(.to = groups[g], .from = HOST(0), .src = "10.0.0.9",
					     .dst = to[i], .ttl = ttls[t]);

				routed_drops(h, &frame, MR_DROP_link_multicast);
			}
			struct frame multicast =
				IPV4(.to = groups[g], .from = HOST(0), .src = "10.0.0.9",
				     .dst = "224.0.0.5", .ttl = ttls[t]);
			routed_drops(h, &multicast, MR_DROP_ip_multicast);
		}
	}
	routed_end(h);
}

static void frames_that_are_not_for_the_router(void **state)
{
	(void)state;
	struct harness *h = routed();
	static const uint16_t types[] = {0x0800, 0x0806, 0x86dd, 0x8100, 0x88b5, 0x0040};
	static const char *const others[] = {HOST(1), ROUTER(1), "02:00:00:00:01:00", NO_MAC};

	for (unsigned o = 0; o < COUNT(others); o++) {
		struct frame packet = IPV4(.to = others[o], .from = HOST(0), .src = "10.0.0.9",
					   .dst = "10.0.1.9");

		routed_drops(h, &packet, MR_DROP_other_host);
		for (unsigned i = 0; i < COUNT(types); i++) {
			struct frame frame = frame_raw(others[o], HOST(0), types[i], 60);

			routed_drops(h, &frame, MR_DROP_other_host);
		}
	}
	routed_end(h);
}

static void protocols_that_are_not_routed(void **state)
{
	(void)state;
	struct harness *h = routed();
	static const uint16_t types[] = {0x86dd, 0x88b5, 0x8847, 0x88cc, 0x0040,
					 0x05ff, 0x0000, 0xffff, 0x0801, 0x8035};
	static const char *const to[] = {ROUTER(0), BROADCAST, "01:80:c2:00:00:0e"};
	struct frame packet = FROM_0(.dst = "10.0.1.9");

	for (unsigned t = 0; t < COUNT(to); t++) {
		for (unsigned i = 0; i < COUNT(types); i++) {
			struct frame frame = frame_raw(to[t], HOST(0), types[i], 60);

			routed_drops(h, &frame, MR_DROP_ethertype);
			frame.length = 14;
			routed_drops(h, &frame, MR_DROP_ethertype);
		}
	}
	/* Tagged frames belong to VLANs that the port is not in, priority tags too. */
	static const struct {
		uint16_t tpid, tci;
	} tags[] = {{0x8100, 0}, {0x8100, 10}, {0x8100, 0xffff}, {0x88a8, 7}, {0x9100, 1}};
	for (unsigned i = 0; i < COUNT(tags); i++) {
		struct frame tagged = frame_tagged(&packet, tags[i].tpid, tags[i].tci);

		routed_drops(h, &tagged, MR_DROP_ethertype);
	}
	routed_end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ttl_is_decremented_and_never_reaches_0),
		cmocka_unit_test(checksums_made_for_the_carry),
		cmocka_unit_test(checksums_around_the_wrap),
		cmocka_unit_test(checksums_that_are_wrong),
		cmocka_unit_test(versions_and_header_lengths),
		cmocka_unit_test(total_lengths),
		cmocka_unit_test(padding_is_taken_off_or_zero),
		cmocka_unit_test(options),
		cmocka_unit_test(addresses_that_are_never_forwarded),
		cmocka_unit_test(link_layer_groups_are_not_routed),
		cmocka_unit_test(frames_that_are_not_for_the_router),
		cmocka_unit_test(protocols_that_are_not_routed),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
