/* SPDX-License-Identifier: BSD-3-Clause */
/* What the router says of itself: echo replies and errors, and when it says nothing. */
#include <stdio.h>
#include <string.h>

#include "routed.h"
#include "test_eal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REFILL_MS 1000 /* after which all tokens of a case's burst are there again */

static uint8_t *ip_of(struct frame *frame)
{
	return frame->bytes + 14;
}

static struct frame ping(const char *dst, unsigned payload)
{
	struct ipv4 ip = {.to = ROUTER(0), .from = HOST(0), .src = "10.0.0.9", .dst = dst};

	return frame_echo(&ip, 0x1234, payload, payload);
}

static void answers(struct harness *h, const struct frame *request)
{
	struct frame reply = routed_echo_reply(request);

	routed_send(h, 0, request);
	routed_expect_own(h, 0, &reply);
	harness_expect_nothing(h);
	harness_consumed(h, 1);
}

static void echo_of_all_sizes_to_each_address(void **state)
{
	(void)state;
	struct harness *h = routed();

	for (unsigned port = 0; port < HARNESS_PORTS; port++) {
		char own[16];

		snprintf(own, sizeof(own), "10.0.%u.1", port);
		for (unsigned payload = 0; payload <= 1472; payload += payload < 64 ? 1 : 64) {
			struct frame request = ping(own, payload);

			answers(h, &request);
		}
		struct frame largest = ping(own, 1472);
		answers(h, &largest);
	}
	routed_end(h);
}

/* A router hears what is sent to it whatever the TTL (RFC 1812 5.3.1). */
static void echo_with_any_ttl_tos_and_padding(void **state)
{
	(void)state;
	struct harness *h = routed();
	static const int ttls[] = {TTL_ZERO, 1, 2, 255};

	for (unsigned i = 0; i < COUNT(ttls); i++) {
		for (unsigned tos = 0; tos < 256; tos += 15) {
			struct ipv4 ip = {.to = ROUTER(0),
					  .from = HOST(0),
					  .src = "10.0.0.9",
					  .dst = "10.0.0.1",
					  .ttl = ttls[i],
					  .tos = tos,
					  .pad = tos % 20,
					  .fragment = tos & 1 ? 0x4000 : 0};
			struct frame request = frame_echo(&ip, tos, i, 10);

			answers(h, &request);
		}
	}
	routed_end(h);
}

/* Sends a datagram of port 0 in fragments and gathers what comes back, also in fragments. */
static void echo_in_fragments(struct harness *h, unsigned payload, unsigned step)
{
	static struct frame pieces[64];
	static uint8_t whole[65536];
	unsigned total = 8 + payload, count = 0, at = 0, reply_count = 0;
	struct frame got;

	whole[0] = 8;
	memset(whole + 1, 0, 7);
	for (unsigned i = 8; i < total; i++)
		whole[i] = (uint8_t)(i * 7 + i / 256);
	uint16_t sum = reference_checksum(whole, total);
	whole[2] = (uint8_t)(sum >> 8);
	whole[3] = (uint8_t)sum;
	for (; at < total; at += 1480, count++) {
		unsigned size = total - at < 1480 ? total - at : 1480;

		pieces[count] =
			FROM_0(.dst = "10.0.0.1", .protocol = 1, .payload = size, .id = payload,
			       .fragment = at / 8 | (at + size < total ? 0x2000 : 0));
		memcpy(ip_of(&pieces[count]) + 20, whole + at, size);
	}
	/* Any order: step has no factor in common with count. */
	for (unsigned i = 0, piece = 0; i < count; i++, piece = (piece + step) % count)
		harness_send(h, 0, &pieces[piece]);
	harness_run(h);
	harness_consumed(h, count);

	whole[0] = 0;
	whole[2] = whole[3] = 0;
	sum = reference_checksum(whole, total);
	whole[2] = (uint8_t)(sum >> 8);
	whole[3] = (uint8_t)sum;
	for (at = 0; at < total; reply_count++) {
		unsigned size = total - at < 1480 ? total - at : 1480;

		assert_true(harness_take(h, 0, &got));
		assert_int_equal(reference_checksum(ip_of(&got), 20), 0);
		assert_int_equal(ip_of(&got)[2] << 8 | ip_of(&got)[3], 20 + size);
		assert_int_equal(ip_of(&got)[6] << 8 | ip_of(&got)[7],
				 at / 8 | (at + size < total ? 0x2000 : 0));
		assert_memory_equal(ip_of(&got) + 20, whole + at, size);
		at += size;
	}
	harness_expect_nothing(h);
}

static void echo_beyond_the_mtu(void **state)
{
	(void)state;
	struct harness *h = routed();

	for (unsigned payload = 1473; payload < 1490; payload++)
		echo_in_fragments(h, payload, 1);
	echo_in_fragments(h, 4000, 1);
	echo_in_fragments(h, 4000, 2);
	echo_in_fragments(h, 9000, 5);
	echo_in_fragments(h, 65507, 1);
	echo_in_fragments(h, 65507, 44);
	routed_end(h);
}

/* The checksum of an echo reply is right for any data, also where the sum is 0 or all ones. */
static void checksums_of_answers(void **state)
{
	(void)state;
	struct harness *h = routed();

	for (unsigned value = 0; value < 0x10000;
	     value += value < 0x900 || value > 0xf700 ? 1 : 251) {
		struct frame request = ping("10.0.0.1", 2);

		ip_of(&request)[28] = (uint8_t)(value >> 8);
		ip_of(&request)[29] = (uint8_t)value;
		frame_fix_icmp(&request);
		answers(h, &request);
	}
	routed_end(h);
}

static void malformed_echo_is_not_answered(void **state)
{
	(void)state;
	struct harness *h = routed();

	for (unsigned size = 0; size < 8; size++) {
		struct frame request = ping("10.0.0.1", 0);

		ip_of(&request)[3] = (uint8_t)(20 + size);
		frame_fix_ipv4(&request);
		frame_fix_icmp(&request);
		routed_drops(h, &request, MR_DROP_icmp_invalid);
	}
	for (unsigned bit = 0; bit < 8 * 40; bit++) {
		struct frame request = ping("10.0.0.1", 32);

		ip_of(&request)[20 + bit / 8] ^= (uint8_t)(1 << bit % 8);
		routed_drops(h, &request, MR_DROP_icmp_invalid);
	}
	for (unsigned type = 0; type < 256; type++) {
		struct frame other = ping("10.0.0.1", 12);

		ip_of(&other)[20] = (uint8_t)type;
		frame_fix_icmp(&other);
		if (type != 8)
			routed_drops(h, &other, MR_DROP_host_unwanted);
	}
	routed_end(h);
}

/* What can go wrong with a packet that was otherwise good, and what its source is told. */
static const struct {
	const char *dst;
	int ttl;
	unsigned fragment, payload, type, code, mtu;
	enum mr_drop_reason reason;
} causes[] = {
	{"10.0.1.9", 1, 0, 0, 11, 0, 0, MR_DROP_ttl_exceeded},
	{"10.0.1.9", TTL_ZERO, 0, 0, 11, 0, 0, MR_DROP_ttl_exceeded},
	{"203.0.113.1", 1, 0, 0, 11, 0, 0, MR_DROP_ttl_exceeded},
	{"203.0.113.1", 64, 0, 0, 3, 0, 0, MR_DROP_no_route},
	{"10.0.1.9", 64, 0x4000, 1481, 3, 4, 1500, MR_DROP_fragmentation_needed},
	{"10.0.1.1", 64, 0, 0, 3, 3, 0, MR_DROP_host_unwanted}, /* no such port */
};

static struct frame causing(unsigned i, struct ipv4 ip)
{
	ip.to = ip.to != NULL ? ip.to : ROUTER(0);
	ip.from = HOST(0);
	ip.src = ip.src != NULL ? ip.src : "10.0.0.9";
	ip.dst = ip.dst != NULL ? ip.dst : causes[i].dst;
	ip.ttl = causes[i].ttl;
	ip.fragment |= causes[i].fragment;
	ip.payload = ip.payload > causes[i].payload ? ip.payload : causes[i].payload;
	return frame_ipv4(&ip);
}

static void errors_are_exact(void **state)
{
	(void)state;
	struct harness *h = routed();
	static const uint8_t route_record[] = {7, 7, 4, 0, 0, 0, 0, 0};
	static const unsigned sizes[] = {1, 8, 26, 100, 527, 528, 529, 800, 1480};

	for (unsigned i = 0; i < COUNT(causes); i++) {
		for (unsigned s = 0; s < COUNT(sizes); s++) {
			struct ipv4 ip = {
				.payload = sizes[s], .tos = 0xff - 21 * s, .id = s, .pad = s};

			if (s % 2 && sizes[s] < 1000) {
				ip.options = route_record;
				ip.options_length = sizeof(route_record);
			}
			struct frame frame = causing(i, ip);
			routed_send(h, 0, &frame);
			routed_told(h, &frame, causes[i].type, causes[i].code, causes[i].mtu);
			harness_expect_nothing(h);
			harness_dropped(h, causes[i].reason, 1);
		}
		harness_advance(h, REFILL_MS);
	}
	routed_end(h);
}

static void protocols_that_the_router_does_not_speak(void **state)
{
	(void)state;
	struct harness *h = routed();

	for (int protocol = 2; protocol < 256; protocol++) {
		struct frame frame = FROM_0(.dst = "10.0.0.1", .protocol = protocol);

		routed_send(h, 0, &frame);
		routed_told(h, &frame, 3, protocol == 17 ? 3 : 2, 0);
		harness_expect_nothing(h);
		harness_dropped(h, MR_DROP_host_unwanted, 1);
		if (protocol % 50 == 0)
			harness_advance(h, REFILL_MS);
	}
	routed_end(h);
}

static void sends_no_error(struct harness *h, unsigned cause, struct ipv4 ip,
			   enum mr_drop_reason reason)
{
	struct frame frame = causing(cause, ip);

	routed_drops(h, &frame, reason);
}

/* RFC 1812 4.3.2.7. */
static void errors_that_are_never_sent(void **state)
{
	(void)state;
	struct harness *h = routed();
	static const char *const bad_sources[] = {"0.0.0.0", "127.0.0.1", "224.0.0.1", "240.0.0.1",
						  "255.255.255.255"};
	static const char *const own_or_broadcast[] = {"10.0.0.255", "10.0.0.0", "10.0.1.255",
						       "10.0.0.1", "10.0.1.1"};
	static const char *const groups[] = {BROADCAST, "01:00:5e:00:00:01"};

	for (unsigned i = 0; i < COUNT(causes); i++) {
		bool local = causes[i].reason == MR_DROP_host_unwanted;

		/* To fragments but the first. */
		if (!local)
			for (unsigned offset = 1; offset < 0x2000; offset *= 3)
				sends_no_error(h, i, (struct ipv4){.fragment = offset},
					       causes[i].reason);
		for (unsigned s = 0; s < COUNT(bad_sources); s++)
			sends_no_error(h, i, (struct ipv4){.src = bad_sources[s]},
				       MR_DROP_ip_source);
		for (unsigned s = 0; s < COUNT(own_or_broadcast); s++)
			sends_no_error(h, i, (struct ipv4){.src = own_or_broadcast[s]},
				       local ? MR_DROP_ip_source : causes[i].reason);
		for (unsigned g = 0; g < COUNT(groups); g++)
			sends_no_error(h, i, (struct ipv4){.to = groups[g]},
				       MR_DROP_link_multicast);
		sends_no_error(h, i, (struct ipv4){.dst = "224.0.0.9"}, MR_DROP_ip_multicast);
		sends_no_error(h, i, (struct ipv4){.dst = "10.0.0.255"},
			       MR_DROP_directed_broadcast);
		/* Nowhere to send it. */
		if (!local)
			sends_no_error(h, i, (struct ipv4){.src = "192.0.2.1"}, causes[i].reason);
	}
	routed_end(h);
}

/* About ICMP only if it is known to be a query: an error about an error may never end. */
static void errors_about_icmp(void **state)
{
	(void)state;
	struct harness *h = routed();
	static const uint8_t queries[] = {0, 8, 9, 10, 13, 14, 15, 16, 17, 18, 42, 43};

	for (unsigned i = 0; i < COUNT(causes) - 1; i++) {
		for (unsigned type = 0; type < 256; type++) {
			struct frame frame = causing(i, (struct ipv4){.protocol = 1});

			ip_of(&frame)[20] = (uint8_t)type;
			frame_fix_icmp(&frame);
			routed_send(h, 0, &frame);
			if (memchr(queries, (int)type, sizeof(queries)) != NULL)
				routed_told(h, &frame, causes[i].type, causes[i].code,
					    causes[i].mtu);
			harness_expect_nothing(h);
			harness_dropped(h, causes[i].reason, 1);
		}
		harness_advance(h, REFILL_MS);
	}
	routed_end(h);
}

/* RFC 1812 4.3.2.8: no more than 200 a second for a port, after a burst of 100; others have
 * theirs. */
static void errors_are_limited(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame frame = FROM_0(.dst = "203.0.113.1"), got;
	struct frame from_1 =
		IPV4(.to = ROUTER(1), .from = HOST(1), .src = "10.0.1.9", .dst = "203.0.113.1");
	unsigned sent = 0;

	harness_advance(h, REFILL_MS);
	for (unsigned i = 0; i < 300; i++)
		routed_send(h, 0, &frame);
	for (unsigned i = 0; i < 100; i++)
		routed_told(h, &frame, 3, 0, 0);
	harness_expect_nothing(h);
	harness_dropped(h, MR_DROP_no_route, 300);

	routed_send(h, 1, &from_1);
	assert_true(harness_take(h, 1, &got));
	harness_dropped(h, MR_DROP_no_route, 1);

	/* Echo is no error. */
	struct frame request = ping("10.0.0.1", 56);
	answers(h, &request);

	for (unsigned ms = 0; ms < 2000; ms += 5) {
		for (unsigned i = 0; i < 3; i++)
			harness_send(h, 0, &frame);
		harness_advance(h, 5);
		while (harness_take(h, 0, &got))
			sent++;
	}
	assert_in_range(sent, 398, 402);
	harness_dropped(h, MR_DROP_no_route, 1200);
	harness_advance(h, REFILL_MS);
	routed_end(h);
}

/* Fragments to the router that no datagram is made of, and the memory that they take. */
static void fragments_that_harm(void **state)
{
	(void)state;
	struct harness *h = routed();
	static const struct {
		unsigned fragment, payload;
	} invalid[] = {{0x2000, 9}, {0x2000, 7}, {8191, 100}, {8191, 8}, {0x2000 | 8190, 16}};

	for (unsigned i = 0; i < COUNT(invalid); i++) {
		struct frame frame =
			FROM_0(.dst = "10.0.0.1", .protocol = 1, .fragment = invalid[i].fragment,
			       .payload = invalid[i].payload, .id = i);

		routed_drops(h, &frame, MR_DROP_fragment_invalid);
	}
	struct frame empty = FROM_0(.dst = "10.0.0.1", .protocol = 1, .fragment = 0x2000);
	ip_of(&empty)[3] = 20;
	frame_fix_ipv4(&empty);
	routed_drops(h, &empty, MR_DROP_fragment_invalid);

	struct frame early = FROM_0(.dst = "10.0.0.1", .protocol = 1, .fragment = 0x2000 | 10,
				    .payload = 80, .id = 77);
	struct frame last =
		FROM_0(.dst = "10.0.0.1", .protocol = 1, .fragment = 2, .payload = 16, .id = 77);
	struct frame overlap = FROM_0(.dst = "10.0.0.1", .protocol = 1, .fragment = 0x2000 | 15,
				      .payload = 80, .id = 77);
	routed_send(h, 0, &early);
	routed_drops(h, &last, MR_DROP_fragment_invalid);
	routed_drops(h, &early, MR_DROP_fragment_overlap); /* twice the same: one is kept */
	routed_send(h, 0, &overlap);
	harness_dropped(h, MR_DROP_fragment_overlap, 2);

	/* What never becomes whole goes after 30 seconds; the source is told if its first
	 * fragment is there. */
	struct frame first = FROM_0(.dst = "10.0.0.1", .protocol = 17, .fragment = 0x2000,
				    .payload = 40, .id = 78);
	routed_send(h, 0, &early);
	routed_send(h, 0, &first);
	harness_advance(h, 29000);
	harness_expect_nothing(h);
	harness_advance(h, 1500);
	routed_told(h, &first, 11, 1, 0);
	harness_dropped(h, MR_DROP_reassembly_timeout, 2);
	routed_end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(echo_of_all_sizes_to_each_address),
		cmocka_unit_test(echo_with_any_ttl_tos_and_padding),
		cmocka_unit_test(echo_beyond_the_mtu),
		cmocka_unit_test(checksums_of_answers),
		cmocka_unit_test(malformed_echo_is_not_answered),
		cmocka_unit_test(errors_are_exact),
		cmocka_unit_test(protocols_that_the_router_does_not_speak),
		cmocka_unit_test(errors_that_are_never_sent),
		cmocka_unit_test(errors_about_icmp),
		cmocka_unit_test(errors_are_limited),
		cmocka_unit_test(fragments_that_harm),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
