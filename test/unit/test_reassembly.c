/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments to the appliance: any order, impossible ones, limits, and time. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host_rig.h"
#include "packet/checksum.h"
#include "test_eal.h"

#define HOST2 RIG_IP(10, 0, 0, 2)
#define OWN RIG_IP(10, 0, 0, 1)
#define MF RTE_IPV4_HDR_MF_FLAG

static uint8_t frame[2048], message[65536];

/* Gives bytes from..to of message as a fragment. */
static void give(uint16_t id, unsigned from, unsigned to, bool more)
{
	struct rig_packet packet = {
		.from = HOST2,
		.to = OWN,
		.protocol = IPPROTO_ICMP,
		.ttl = 9,
		.id = id,
		.offset = (uint16_t)(from / 8 | (more ? MF : 0)),
		.payload = message + from,
		.size = (uint16_t)(to - from),
	};

	rig_input(frame, rig_make(frame, &packet), 0, MR_PUNT_LOCAL, 0);
}

static unsigned held(void)
{
	return (unsigned)mr_host_held(&rig.mr);
}

/* Joins what was sent, which is one datagram, and compares it with the answer to message. */
static void expect_answer(unsigned size)
{
	static uint8_t joined[65536];
	unsigned at = 0;

	for (unsigned i = 0; i < rig.sent_count; i++) {
		const struct rte_ipv4_hdr *ip = rig_sent_ip(i);
		unsigned part = rte_be_to_cpu_16(ip->total_length) - 20u;

		assert_int_equal((rte_be_to_cpu_16(ip->fragment_offset) & 0x1fff) * 8, at);
		memcpy(joined + at, ip + 1, part);
		at += part;
	}
	assert_int_equal(at, size);
	assert_true(mr_checksum_ok(joined, size));
	assert_int_equal(joined[0], 0);
	assert_memory_equal(joined + 4, message + 4, size - 4);
}

static void two_fragments_in_both_orders(void **state)
{
	unsigned size = rig_make_icmp(message, 8, 0, 1000);

	(void)state;
	give(1, 0, 800, true);
	assert_int_equal(held(), 1);
	give(1, 800, size, false);
	expect_answer(size);
	assert_int_equal(held(), 0);
	assert_int_equal(rig_consumed(), 2);
	rig_forget();
	give(2, 800, size, false);
	give(2, 0, 800, true);
	expect_answer(size);
	assert_int_equal(rig_consumed(), 4);
}

static void the_largest_datagram(void **state)
{
	unsigned size = rig_make_icmp(message, 8, 0, 65507), at;

	(void)state;
	for (at = 0; at + 1480 < size; at += 1480)
		give(1, at, at + 1480, true);
	assert_int_equal(held(), 44);
	give(1, at, size, false);
	assert_int_equal(rig.sent_count, 45);
	expect_answer(size);
}

static void random_cuts_in_random_order(void **state)
{
	(void)state;
	srand(7);
	for (unsigned round = 0; round < 300; round++) {
		unsigned size = rig_make_icmp(message, 8, 0, 16 + (unsigned)rand() % 8000);
		unsigned cut[130], order[130], count = 0;

		for (unsigned at = 0; at < size && count < 120;) {
			unsigned left = size - at;
			unsigned part = 8 * (8 + (unsigned)rand() % 170);

			cut[count++] = at;
			at += RTE_MIN(part, left);
		}
		cut[count] = size;
		for (unsigned i = 0; i < count; i++) {
			unsigned j = (unsigned)rand() % (i + 1);

			order[i] = order[j];
			order[j] = i;
		}
		for (unsigned i = 0; i < count && count > 1; i++)
			give((uint16_t)round, cut[order[i]], cut[order[i] + 1],
			     order[i] + 1 < count);
		if (count > 1)
			expect_answer(size);
		assert_int_equal(held(), 0);
		rig_forget();
	}
	rig_check();
}

static void datagrams_are_told_apart(void **state)
{
	unsigned size = rig_make_icmp(message, 8, 0, 1000);
	struct rig_packet packet = {.from = HOST2,
				    .to = OWN,
				    .protocol = IPPROTO_ICMP,
				    .ttl = 9,
				    .id = 1,
				    .offset = 100,
				    .payload = message + 800,
				    .size = (uint16_t)(size - 800)};
	struct rig_packet other = packet;

	(void)state;
	give(1, 0, 800, true);
	other.id = 2;
	rig_input(frame, rig_make(frame, &other), 0, MR_PUNT_LOCAL, 0);
	other = packet;
	other.from = RIG_IP(10, 0, 0, 3);
	rig_input(frame, rig_make(frame, &other), 0, MR_PUNT_LOCAL, 0);
	other = packet;
	other.to = RIG_IP(10, 0, 1, 1);
	rig_input(frame, rig_make(frame, &other), 0, MR_PUNT_LOCAL, 0);
	other = packet;
	other.protocol = IPPROTO_UDP;
	rig_input(frame, rig_make(frame, &other), 0, MR_PUNT_LOCAL, 0);
	assert_int_equal(rig.sent_count, 0);
	assert_int_equal(held(), 5);
	rig_input(frame, rig_make(frame, &packet), 0, MR_PUNT_LOCAL, 0);
	expect_answer(size);
	assert_int_equal(held(), 4);
}

static void impossible_fragments(void **state)
{
	static const struct {
		unsigned from, to;
		bool more;
	} row[] = {
		{0, 0, true},          {8, 8, true},          {800, 800, false},
		{0, 9, true},          {8, 23, true},         {65528, 65536, false},
		{65528, 65536, true},  {64800, 65536, false}, {65520, 65528, true},
		{65512, 65516, false}, /* one byte too long with its header */
	};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(row); i++) {
		give((uint16_t)i, row[i].from, row[i].to, row[i].more);
		assert_int_equal(rig_drops(MR_DROP_fragment_invalid), i + 1);
		assert_int_equal(held(), 0);
	}
	give(50, 65512, 65515, false);
	assert_int_equal(held(), 1);
	assert_int_equal(rig.sent_count, 0);
}

static void ends_that_contradict(void **state)
{
	(void)state;
	give(1, 800, 1600, true);
	give(1, 8, 80, false); /* the last one ends before another */
	assert_int_equal(rig_drops(MR_DROP_fragment_invalid), 1);
	give(2, 80, 90, false);
	give(2, 160, 168, true); /* beyond the end */
	assert_int_equal(rig_drops(MR_DROP_fragment_invalid), 2);
	give(2, 160, 168, false);
	assert_int_equal(rig_drops(MR_DROP_fragment_invalid), 3);
	assert_int_equal(held(), 2);
}

static void the_first_header_may_make_it_too_long(void **state)
{
	struct rig_packet packet = {.from = HOST2,
				    .to = OWN,
				    .protocol = IPPROTO_ICMP,
				    .ttl = 9,
				    .id = 1,
				    .offset = MF,
				    .payload = message,
				    .size = 1480,
				    .options_size = 40};
	unsigned at;

	(void)state;
	rig_make_icmp(message, 8, 0, 65507);
	for (at = 1480; at + 1480 < 65515; at += 1480)
		give(1, at, at + 1480, true);
	give(1, at, 65515, false);
	assert_int_equal(held(), 44);
	rig_input(frame, rig_make(frame, &packet), 0, MR_PUNT_LOCAL, 0);
	assert_int_equal(rig.sent_count, 0);
	assert_int_equal(rig_drops(MR_DROP_fragment_invalid), 45);
}

static void duplicates_are_dropped_alone(void **state)
{
	unsigned size = rig_make_icmp(message, 8, 0, 1000);

	(void)state;
	give(1, 0, 800, true);
	give(1, 0, 800, true);
	assert_int_equal(rig_drops(MR_DROP_fragment_overlap), 1);
	assert_int_equal(held(), 1);
	give(1, 800, size, false);
	expect_answer(size);
	assert_int_equal(rig_consumed(), 2);
}

static void overlaps_end_the_datagram(void **state)
{
	static const struct {
		unsigned from, to;
	} row[] = {{0, 88}, {80, 160}, {88, 96}, {88, 200}, {152, 168}, {8, 400}, {80, 168}};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(row); i++) {
		uint64_t before = rig_drops(MR_DROP_fragment_overlap);

		give((uint16_t)i, 80, 160, true);
		give((uint16_t)i, 480, 560, true);
		message[100] ^= 1; /* {80, 160}: the same place, other bytes */
		give((uint16_t)i, row[i].from, row[i].to, true);
		message[100] ^= 1;
		assert_int_equal(rig_drops(MR_DROP_fragment_overlap), before + 3);
		assert_int_equal(held(), 0);
	}
	/* Touching is not overlapping. */
	give(99, 80, 160, true);
	give(99, 0, 80, true);
	give(99, 160, 168, true);
	assert_int_equal(held(), 3);
}

static void time_is_over_after_thirty_seconds(void **state)
{
	const uint8_t *icmp;

	(void)state;
	rig_advance(5000);
	give(1, 800, 1600, true); /* without the first: nothing to quote */
	rig_advance(10000);
	give(1, 1600, 2400, true); /* does not prolong */
	give(2, 0, 800, true);
	rig_advance(19999);
	assert_int_equal(held(), 3);
	rig_advance(1);
	assert_int_equal(held(), 1);
	assert_int_equal(rig_drops(MR_DROP_reassembly_timeout), 2);
	assert_int_equal(rig.sent_count, 0);
	rig_advance(10000);
	assert_int_equal(held(), 0);
	assert_int_equal(rig_drops(MR_DROP_reassembly_timeout), 3);
	assert_int_equal(rig.sent_count, 1);
	icmp = (const uint8_t *)(rig_sent_ip(0) + 1);
	assert_int_equal(icmp[0], 11);
	assert_int_equal(icmp[1], 1);
	assert_memory_equal(icmp + 8, frame + 14, 548);
	assert_int_equal(rte_mempool_in_use_count(rig.pool), 1);
}

static void the_oldest_datagram_makes_room(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MR_REASSEMBLY_DATAGRAMS; i++) {
		give((uint16_t)i, 0, 8, true);
		rig_advance(1);
	}
	assert_int_equal(held(), MR_REASSEMBLY_DATAGRAMS);
	give(1000, 0, 8, true);
	assert_int_equal(held(), MR_REASSEMBLY_DATAGRAMS);
	assert_int_equal(rig_drops(MR_DROP_reassembly_full), 1);
	give(1, 0, 8, true); /* still there: a duplicate */
	assert_int_equal(rig_drops(MR_DROP_fragment_overlap), 1);
	give(0, 0, 8, true); /* was the oldest: begins anew, and ends number 1 */
	assert_int_equal(rig_drops(MR_DROP_fragment_overlap), 1);
	assert_int_equal(rig_drops(MR_DROP_reassembly_full), 2);
}

static void fragments_are_bounded(void **state)
{
	unsigned n = MR_REASSEMBLY_DATAGRAM_FRAGMENTS;

	(void)state;
	for (unsigned id = 0; id < 4; id++) {
		for (unsigned i = 0; i < n; i++)
			give((uint16_t)id, i * 16, i * 16 + 8, true);
		rig_advance(1);
	}
	assert_int_equal(held(), MR_REASSEMBLY_FRAGMENTS);
	give(3, n * 16, n * 16 + 8, true); /* too many of one */
	assert_int_equal(rig_drops(MR_DROP_reassembly_full), 1);
	assert_int_equal(held(), MR_REASSEMBLY_FRAGMENTS);
	give(4, 0, 8, true); /* too many at all: the oldest goes */
	assert_int_equal(rig_drops(MR_DROP_reassembly_full), 1 + n);
	assert_int_equal(held(), MR_REASSEMBLY_FRAGMENTS - n + 1);
}

/* A datagram that frees itself for its own next fragment. */
static void the_oldest_may_be_the_one_that_grows(void **state)
{
	unsigned n = MR_REASSEMBLY_DATAGRAM_FRAGMENTS;

	(void)state;
	give(0, 0, 8, true);
	rig_advance(1);
	for (unsigned id = 1; id <= 4; id++)
		for (unsigned i = 0; i < n - (id == 4); i++)
			give((uint16_t)id, i * 16, i * 16 + 8, true);
	assert_int_equal(held(), MR_REASSEMBLY_FRAGMENTS);
	give(0, 16, 24, true);
	assert_int_equal(rig_drops(MR_DROP_reassembly_full), 1);
	assert_int_equal(held(), MR_REASSEMBLY_FRAGMENTS);
}

static void reassembled_but_unwanted(void **state)
{
	struct rig_packet packet = {.from = HOST2,
				    .to = OWN,
				    .protocol = IPPROTO_UDP,
				    .ttl = 9,
				    .offset = MF,
				    .payload = message,
				    .size = 800};
	const uint8_t *icmp;

	(void)state;
	rig_input(frame, rig_make(frame, &packet), 0, MR_PUNT_LOCAL, 0);
	packet.offset = 100;
	rig_input(frame, rig_make(frame, &packet), 0, MR_PUNT_LOCAL, 0);
	assert_int_equal(rig.sent_count, 1);
	icmp = (const uint8_t *)(rig_sent_ip(0) + 1);
	assert_int_equal(icmp[0] << 8 | icmp[1], 0x0303);
	assert_int_equal(rig_drops(MR_DROP_host_unwanted), 2);
}

static void held_fragments_end_when_stopped(void **state)
{
	(void)state;
	give(1, 0, 8, true);
	give(2, 0, 8, true);
	mr_host_destroy(&rig.mr);
	assert_int_equal(rig_drops(MR_DROP_stopped), 2);
	assert_int_equal(mr_host_held(&rig.mr), 0);
}

/* --- garbage --- */

static unsigned some(unsigned below)
{
	return (unsigned)rand() % below;
}

static uint32_t some_address(void)
{
	static const uint32_t addresses[] = {RIG_IP(10, 0, 0, 1),    RIG_IP(10, 0, 1, 1),
					     RIG_IP(10, 0, 0, 2),    RIG_IP(10, 0, 1, 9),
					     RIG_IP(10, 0, 0, 255),  RIG_IP(10, 0, 0, 77),
					     RIG_IP(203, 0, 113, 7), RIG_IP(198, 51, 100, 1),
					     RIG_IP(224, 0, 0, 9),   0};
	unsigned i = some(RTE_DIM(addresses) + 1);

	return i < RTE_DIM(addresses) ? addresses[i] : (uint32_t)rand();
}

static unsigned make_garbage(uint16_t kind)
{
	static const uint8_t arp[22] = {0, 1, 8, 0, 6, 4, 0, 1, 2, 0xaa, 10, 0, 0, 2};
	unsigned size;

	for (unsigned i = 0; i < 64; i++)
		frame[some(sizeof(frame))] = (uint8_t)rand();
	if (kind == MR_PUNT_ARP) {
		uint32_t from = rte_cpu_to_be_32(some_address());
		uint32_t to = rte_cpu_to_be_32(some_address());

		memcpy(frame, "\xff\xff\xff\xff\xff\xff\x02\xaa\x0a\0\0\2\x08\x06", 14);
		memcpy(frame + 14, arp, sizeof(arp));
		frame[21] = (uint8_t)(1 + some(2));
		memcpy(frame + 28, &from, 4);
		memcpy(frame + 38, &to, 4);
		size = 42 + some(20);
	} else {
		struct rig_packet packet = {
			.from = some_address(),
			.to = some(2) ? RIG_IP(10, 0, 0, 1) : some_address(),
			.protocol = some(3) ? IPPROTO_ICMP : (uint8_t)rand(),
			.ttl = (uint8_t)some(4),
			.id = (uint16_t)some(6),
			.offset = some(2) ? 0 : (uint16_t)(some(8) << 13 | some(40)),
			.payload = message,
			.size = (uint16_t)(some(4) ? some(8) * 8 : some(1400)),
			.options_size = some(4) ? 0 : (uint8_t)(4 * some(11)),
		};

		if (some(8) == 0)
			packet.offset = (uint16_t)rand();
		if (some(3) == 0) { /* a part of something that can become complete */
			unsigned part = some(3);

			packet.from = RIG_IP(10, 0, 0, 2);
			packet.to = RIG_IP(10, 0, 0, 1);
			packet.protocol = some(2) ? IPPROTO_ICMP : IPPROTO_UDP;
			packet.offset = (uint16_t)(part * 8 | (part < 2 ? MF : 0));
			packet.size = 64;
		}
		for (unsigned i = 0; i < sizeof(packet.options); i++)
			packet.options[i] = (uint8_t)rand();
		if (packet.size >= 8 && some(2))
			rig_make_icmp(message, 8, 0, packet.size - 8u);
		size = rig_make(frame, &packet);
	}
	if (some(4) == 0) {
		frame[some(size)] ^= (uint8_t)rand();
		if (kind != MR_PUNT_ARP && some(2)) {
			struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + 14);

			mr_ipv4_set_checksum(ip);
		}
	}
	if (some(8) == 0)
		size = some(size + 1);
	return size;
}

static void garbage_does_no_harm(void **state)
{
	(void)state;
	srand(11);
	for (unsigned i = 0; i < 100000; i++) {
		uint16_t kind = some(2) ? MR_PUNT_LOCAL : (uint16_t)some(MR_PUNT_TOO_BIG + 1);
		unsigned size = make_garbage(kind);

		if (some(1000) == 0)
			rig_set_mtu(1, (uint16_t)(68 + some(1433)));
		rig_input(frame, size, (uint16_t)some(4), kind, some(13));
		if (some(10) == 0)
			rig_advance(some(100));
		if (i % 64 == 0) {
			for (unsigned n = 0; n < rig.sent_count; n++)
				if (rig_sent_frame(n)[13] == 0)
					rig_sent_ip(n);
			rig_check();
			rig_forget();
		}
	}
	assert_true(rig.mr.host->stats.datagrams_reassembled > 100);
	assert_true(rig.mr.host->stats.echo_replies_sent > 500);
	assert_true(rig.mr.host->stats.time_exceeded_sent > 100);
	assert_true(rig.mr.host->stats.packets_fragmented > 100);
	assert_true(rig.mr.host->stats.arp_replies_sent > 10);
	rig_advance(MR_REASSEMBLY_TIMEOUT_MS);
	assert_int_equal(held(), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		CASE(two_fragments_in_both_orders),
		CASE(the_largest_datagram),
		CASE(random_cuts_in_random_order),
		CASE(datagrams_are_told_apart),
		CASE(impossible_fragments),
		CASE(ends_that_contradict),
		CASE(the_first_header_may_make_it_too_long),
		CASE(duplicates_are_dropped_alone),
		CASE(overlaps_end_the_datagram),
		CASE(time_is_over_after_thirty_seconds),
		CASE(the_oldest_datagram_makes_room),
		CASE(fragments_are_bounded),
		CASE(the_oldest_may_be_the_one_that_grows),
		CASE(reassembled_but_unwanted),
		CASE(held_fragments_end_when_stopped),
		CASE(garbage_does_no_harm),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
