/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames.h"
#include "packet/flow_hash_fwd.h"

#define A "02:00:00:00:00:0a"
#define B "02:00:00:00:00:0b"

#define FLOW(...) IPV4(.to = B, .from = A, __VA_ARGS__)

static uint32_t hash(const struct frame *frame)
{
	return mr_flow_hash(frame->bytes, frame->length);
}

static uint32_t hash_of(struct frame frame)
{
	return hash(&frame);
}

static void both_directions_of_a_flow_are_one(void **state)
{
	(void)state;
	static const int protocols[] = {6, 17, 132, 1, 47};

	for (unsigned i = 0; i < 5; i++) {
		int p = protocols[i];
		struct frame there =
			IPV4(.to = B, .from = A, .src = "192.0.2.1", .dst = "198.51.100.7",
			     .protocol = p, .sport = 1234, .dport = 80);
		struct frame back =
			IPV4(.to = A, .from = B, .src = "198.51.100.7", .dst = "192.0.2.1",
			     .protocol = p, .sport = 80, .dport = 1234, .ttl = 3, .payload = 99);

		/* What protocols without ports have there is not looked at. */
		if (p == 6 || p == 132) {
			memcpy(there.bytes + 34, (uint8_t[]){4, 210, 0, 80}, 4);
			memcpy(back.bytes + 34, (uint8_t[]){0, 80, 4, 210}, 4);
		}
		assert_int_equal(hash(&there), hash(&back));
	}
	assert_int_equal(hash_of(frame_raw(A, B, 0x88b5, 60)),
			 hash_of(frame_raw(B, A, 0x88b6, 99)));
}

static void what_tells_flows_apart_counts(void **state)
{
	(void)state;
	const uint32_t usual = hash_of(FLOW(.src = "192.0.2.1", .dst = "198.51.100.7"));

	assert_int_not_equal(usual, hash_of(FLOW(.src = "192.0.2.2", .dst = "198.51.100.7")));
	assert_int_not_equal(usual, hash_of(FLOW(.src = "192.0.2.1", .dst = "198.51.100.8")));
	assert_int_not_equal(
		usual, hash_of(FLOW(.src = "192.0.2.1", .dst = "198.51.100.7", .sport = 1001)));
	assert_int_not_equal(
		usual, hash_of(FLOW(.src = "192.0.2.1", .dst = "198.51.100.7", .dport = 1001)));
	assert_int_not_equal(hash_of(frame_raw(A, B, 0x88b5, 60)),
			     hash_of(frame_raw(A, "02:00:00:00:00:0c", 0x88b5, 60)));
}

static void fragments_of_a_datagram_are_one(void **state)
{
	(void)state;
	struct frame first = FLOW(.src = "192.0.2.1", .dst = "198.51.100.7", .fragment = 0x2000);
	struct frame middle = FLOW(.src = "192.0.2.1", .dst = "198.51.100.7", .fragment = 0x2010,
				   .seed = 5, .sport = 7);
	struct frame last = FLOW(.src = "192.0.2.1", .dst = "198.51.100.7", .fragment = 0x0020,
				 .payload = 4, .seed = 9, .dport = 9);

	assert_int_equal(hash(&first), hash(&middle));
	assert_int_equal(hash(&first), hash(&last));
}

static void tags_and_options_do_not_count(void **state)
{
	(void)state;
	static const uint8_t options[] = {1, 1, 1, 0};
	struct frame plain = FLOW(.src = "192.0.2.1", .dst = "198.51.100.7");
	struct frame tagged = frame_tagged(&plain, 0x8100, 7);
	struct frame twice = frame_tagged(&tagged, 0x88a8, 9);

	assert_int_equal(hash(&plain), hash(&tagged));
	assert_int_equal(hash(&plain), hash(&twice));
	assert_int_equal(hash(&plain), hash_of(FLOW(.src = "192.0.2.1", .dst = "198.51.100.7",
						    .options = options, .options_length = 4)));
}

/* Extension headers of 8 bytes each, then ports. */
static struct frame ipv6(uint8_t source, uint8_t destination, const uint8_t *extensions,
			 unsigned count, uint16_t sport, uint16_t dport)
{
	struct frame frame = frame_raw(A, B, 0x86dd, 14 + 40 + 8 * count + 8);
	uint8_t *ip = frame.bytes + 14, *at = ip + 40;

	memset(ip, 0, 40 + 8 * count + 8);
	ip[0] = 0x60;
	ip[6] = count != 0 ? extensions[0] : 17;
	ip[8] = ip[24] = 0x20;
	ip[23] = source;
	ip[39] = destination;
	for (unsigned i = 0; i < count; i++, at += 8)
		at[0] = i + 1 < count ? extensions[i + 1] : 17;
	at[0] = (uint8_t)(sport >> 8);
	at[1] = (uint8_t)sport;
	at[2] = (uint8_t)(dport >> 8);
	at[3] = (uint8_t)dport;
	return frame;
}

static void ipv6_flows_are_seen_behind_extension_headers(void **state)
{
	(void)state;
	static const uint8_t extensions[] = {0, 43, 60, 60, 60};
	static const uint8_t fragment[] = {0, 44};
	uint32_t plain = hash_of(ipv6(1, 2, NULL, 0, 1000, 2000));

	assert_int_equal(plain, hash_of(ipv6(2, 1, NULL, 0, 2000, 1000)));
	assert_int_equal(plain, hash_of(ipv6(1, 2, extensions, 4, 1000, 2000)));
	assert_int_not_equal(plain, hash_of(ipv6(1, 2, NULL, 0, 1001, 2000)));
	assert_int_not_equal(plain, hash_of(ipv6(1, 3, NULL, 0, 1000, 2000)));
	/* A fragment, and what is too far behind: by addresses. */
	assert_int_equal(hash_of(ipv6(1, 2, fragment, 2, 1000, 2000)),
			 hash_of(ipv6(2, 1, fragment, 2, 7, 8)));
	assert_int_equal(hash_of(ipv6(1, 2, extensions, 5, 1000, 2000)),
			 hash_of(ipv6(1, 2, fragment, 2, 7, 8)));
}

/* Whatever is cut, nothing behind the end is read: a copy of exactly that size is what sanitizers
 * and valgrind watch. */
static void cut_frames_are_not_read_beyond_their_end(void **state)
{
	(void)state;
	static const uint8_t extensions[] = {0, 43, 60};
	struct frame frames[4];

	frames[0] = FLOW(.src = "192.0.2.1", .dst = "198.51.100.7");
	frames[1] = frame_tagged(&frames[0], 0x8100, 7);
	frames[2] = ipv6(1, 2, extensions, 3, 1, 2);
	frames[3] = frames[0];
	frames[3].bytes[14] = 0x4f; /* a header that is longer than the packet */
	for (unsigned i = 0; i < 4; i++)
		for (unsigned length = 14; length <= frames[i].length; length++) {
			uint8_t *exact = malloc(length), *noisy = malloc(length + 64);

			memcpy(exact, frames[i].bytes, length);
			memset(noisy, 0x5c, length + 64);
			memcpy(noisy, exact, length);
			assert_int_equal(mr_flow_hash(exact, length), mr_flow_hash(noisy, length));
			free(exact);
			free(noisy);
		}
}

/* Shares of a hash's upper end, as spreading makes them. */
static void flows_that_differ_in_one_number_spread_evenly(void **state)
{
	(void)state;
	for (unsigned workers = 2; workers <= 5; workers++) {
		unsigned share[5] = {0};

		for (unsigned i = 0; i < 1000; i++) {
			uint64_t h = hash_of(FLOW(.src = "10.0.0.1", .dst = "10.0.1.1",
						  .sport = 1024 + i, .dport = 80));

			share[h * workers >> 32]++;
		}
		for (unsigned i = 0; i < workers; i++)
			assert_in_range(share[i], 1000 / workers * 3 / 4, 1000 / workers * 5 / 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_directions_of_a_flow_are_one),
		cmocka_unit_test(what_tells_flows_apart_counts),
		cmocka_unit_test(fragments_of_a_datagram_are_one),
		cmocka_unit_test(tags_and_options_do_not_count),
		cmocka_unit_test(ipv6_flows_are_seen_behind_extension_headers),
		cmocka_unit_test(cut_frames_are_not_read_beyond_their_end),
		cmocka_unit_test(flows_that_differ_in_one_number_spread_evenly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
