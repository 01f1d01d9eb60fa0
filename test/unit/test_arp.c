/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP: what is believed, what is answered, and what is asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host_rig.h"
#include "test_eal.h"

#define HOST2_MAC 0x02aa0a000002
#define OWN_MAC 0x020000000000
#define BROADCAST_MAC 0xffffffffffff
#define HOST2 RIG_IP(10, 0, 0, 2)
#define OWN RIG_IP(10, 0, 0, 1)

struct arp {
	uint64_t frame_to, frame_from;
	uint16_t hardware, protocol;
	uint8_t hardware_length, protocol_length;
	uint16_t operation;
	uint64_t sender_mac;
	uint32_t sender;
	uint64_t target_mac;
	uint32_t target;
};

static const struct arp request = {
	.frame_to = BROADCAST_MAC,
	.frame_from = HOST2_MAC,
	.hardware = 1,
	.protocol = 0x0800,
	.hardware_length = 6,
	.protocol_length = 4,
	.operation = 1,
	.sender_mac = HOST2_MAC,
	.sender = HOST2,
	.target = OWN,
};

static uint8_t *put(uint8_t *at, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> 8 * (size - 1 - i));
	return at + size;
}

/* The frame of 60 bytes. */
static void make(uint8_t *frame, const struct arp *arp)
{
	uint8_t *at = frame;

	memset(frame, 0, 60);
	at = put(at, arp->frame_to, 6);
	at = put(at, arp->frame_from, 6);
	at = put(at, 0x0806, 2);
	at = put(at, arp->hardware, 2);
	at = put(at, arp->protocol, 2);
	at = put(at, arp->hardware_length, 1);
	at = put(at, arp->protocol_length, 1);
	at = put(at, arp->operation, 2);
	at = put(at, arp->sender_mac, 6);
	at = put(at, arp->sender, 4);
	at = put(at, arp->target_mac, 6);
	put(at, arp->target, 4);
}

static void input(const struct arp *arp, uint16_t iface)
{
	uint8_t frame[60];

	make(frame, arp);
	rig_input(frame, sizeof(frame), iface, MR_PUNT_ARP, 0);
}

static void expect_sent(unsigned number, uint16_t iface, const struct arp *arp)
{
	uint8_t frame[60];

	make(frame, arp);
	assert_memory_equal(rig_sent_frame(number), frame, sizeof(frame));
	assert_int_equal(rte_pktmbuf_data_len(rig.sent[number]), sizeof(frame));
	assert_int_equal(rig_sent_iface(number), iface);
}

static const struct arp answer = {
	.frame_to = HOST2_MAC,
	.frame_from = OWN_MAC,
	.hardware = 1,
	.protocol = 0x0800,
	.hardware_length = 6,
	.protocol_length = 4,
	.operation = 2,
	.sender_mac = OWN_MAC,
	.sender = OWN,
	.target_mac = HOST2_MAC,
	.target = HOST2,
};

static const struct arp announcement = {
	.frame_to = BROADCAST_MAC,
	.frame_from = OWN_MAC,
	.hardware = 1,
	.protocol = 0x0800,
	.hardware_length = 6,
	.protocol_length = 4,
	.operation = 1,
	.sender_mac = OWN_MAC,
	.sender = OWN,
	.target = OWN,
};

static void request_for_us_is_answered_and_learned(void **state)
{
	(void)state;
	input(&request, 0);
	assert_int_equal(rig.sent_count, 1);
	expect_sent(0, 0, &answer);
	assert_int_equal(rig.seen_count, 1);
	assert_int_equal(rig.seen[0].addr, HOST2);
	assert_int_equal(rig.seen[0].iface, 0);
	assert_memory_equal(&rig.seen[0].mac, "\x02\xaa\x0a\x00\x00\x02", 6);
	assert_true(rig.seen[0].may_create);
	assert_int_equal(rig_consumed(), 1);
}

static void unicast_request_is_answered(void **state)
{
	struct arp unicast = request;

	(void)state;
	unicast.frame_to = OWN_MAC;
	input(&unicast, 0);
	expect_sent(0, 0, &answer);
}

static void short_frames_are_fine_without_padding(void **state)
{
	uint8_t frame[60];

	(void)state;
	make(frame, &request);
	rig_input(frame, 42, 0, MR_PUNT_ARP, 0);
	assert_int_equal(rig.sent_count, 1);
	for (unsigned size = 0; size < 42; size++)
		rig_input(frame, size, 0, MR_PUNT_ARP, 0);
	assert_int_equal(rig.sent_count, 1);
	assert_int_equal(rig_drops(MR_DROP_arp_invalid), 42);
}

static void probe_is_answered_but_not_learned(void **state)
{
	struct arp probe = request, to = answer;

	(void)state;
	probe.sender = 0;
	input(&probe, 0);
	to.target = 0;
	expect_sent(0, 0, &to);
	assert_int_equal(rig.seen_count, 0);
}

static void replies_update_only(void **state)
{
	struct arp reply = request;

	(void)state;
	reply.operation = 2;
	reply.frame_to = reply.target_mac = OWN_MAC;
	input(&reply, 0);
	assert_int_equal(rig.sent_count, 0);
	assert_int_equal(rig.seen_count, 1);
	assert_false(rig.seen[0].may_create);
	assert_int_equal(rig_consumed(), 1);
}

static void gratuitous_updates_only(void **state)
{
	struct arp gratuitous = request;

	(void)state;
	gratuitous.target = HOST2;
	input(&gratuitous, 0);
	gratuitous.operation = 2;
	input(&gratuitous, 0);
	assert_int_equal(rig.sent_count, 0);
	assert_int_equal(rig.seen_count, 2);
	assert_false(rig.seen[0].may_create);
	assert_false(rig.seen[1].may_create);
}

/* One row a case: a good request, changed. */
static void what_is_not_believed(void **state)
{
	struct {
		struct arp arp;
		enum mr_drop_reason reason;
	} row[] = {
#define BAD(why) {.reason = MR_DROP_##why}
		BAD(arp_invalid),  /* 0 hardware */
		BAD(arp_invalid),  /* 1 protocol */
		BAD(arp_invalid),  /* 2 hardware length */
		BAD(arp_invalid),  /* 3 protocol length */
		BAD(arp_invalid),  /* 4 operation 0 */
		BAD(arp_invalid),  /* 5 operation 3 */
		BAD(other_host),   /* 6 frame for another */
		BAD(arp_spoofed),  /* 7 sender MAC is not the frame's */
		BAD(arp_spoofed),  /* 8 multicast sender MAC */
		BAD(arp_spoofed),  /* 9 zero sender MAC */
		BAD(arp_spoofed),  /* 10 sender on the other subnet */
		BAD(arp_spoofed),  /* 11 sender outside */
		BAD(arp_spoofed),  /* 12 sender is broadcast */
		BAD(arp_spoofed),  /* 13 sender is network */
		BAD(arp_spoofed),  /* 14 a reply from 0.0.0.0 */
		BAD(arp_ignored),  /* 15 target is someone else */
		BAD(arp_ignored),  /* 16 target is another interface's address */
		BAD(arp_ignored),  /* 17 reply to someone else */
		BAD(arp_ignored),  /* 18 our own frame */
		BAD(arp_ignored),  /* 19 probe for someone else */
		BAD(arp_conflict), /* 20 our other interface's address */
#undef BAD
	};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(row); i++)
		row[i].arp = request;
	row[0].arp.hardware = 6;
	row[1].arp.protocol = 0x86dd;
	row[2].arp.hardware_length = 8;
	row[3].arp.protocol_length = 16;
	row[4].arp.operation = 0;
	row[5].arp.operation = 3;
	row[6].arp.frame_to = 0x020000000077;
	row[7].arp.sender_mac = 0x02aa0a000003;
	row[8].arp.sender_mac = row[8].arp.frame_from = 0x01005e000001;
	row[9].arp.sender_mac = row[9].arp.frame_from = 0;
	row[10].arp.sender = RIG_IP(10, 0, 1, 9);
	row[11].arp.sender = RIG_IP(8, 8, 8, 8);
	row[12].arp.sender = RIG_IP(10, 0, 0, 255);
	row[13].arp.sender = RIG_IP(10, 0, 0, 0);
	row[14].arp.operation = 2;
	row[14].arp.sender = 0;
	row[15].arp.target = RIG_IP(10, 0, 0, 3);
	row[16].arp.target = RIG_IP(10, 0, 1, 1);
	row[17].arp.operation = 2;
	row[17].arp.target = RIG_IP(10, 0, 0, 3);
	row[18].arp.sender_mac = row[18].arp.frame_from = OWN_MAC;
	row[19].arp.sender = 0;
	row[19].arp.target = RIG_IP(10, 0, 0, 3);
	row[20].arp.sender = RIG_IP(10, 0, 1, 1);

	for (unsigned i = 0; i < RTE_DIM(row); i++) {
		uint64_t before = rig_drops(row[i].reason);

		input(&row[i].arp, 0);
		if (rig_drops(row[i].reason) != before + 1)
			fail_msg("row %u is not dropped as %s", i, mr_drop_name(row[i].reason));
		assert_int_equal(rig.sent_count, 0);
		assert_int_equal(rig.seen_count, 0);
	}
	assert_int_equal(rig_consumed(), 0);
}

static void conflict_is_defended_once_in_ten_seconds(void **state)
{
	struct arp thief = request;

	(void)state;
	thief.sender = thief.target = OWN;
	input(&thief, 0);
	input(&thief, 0);
	assert_int_equal(rig_drops(MR_DROP_arp_conflict), 2);
	assert_int_equal(rig.seen_count, 0);
	assert_int_equal(rig.sent_count, 1);
	expect_sent(0, 0, &announcement);
	rig_advance(9999);
	input(&thief, 0);
	assert_int_equal(rig.sent_count, 1);
	rig_advance(1);
	input(&thief, 0);
	assert_int_equal(rig.sent_count, 2);
}

static void solicit_broadcasts_or_verifies(void **state)
{
	struct mr_addr addr = mr_addr_from_ipv4(HOST2);
	struct rte_ether_addr mac = {{0x02, 0xaa, 0x0a, 0, 0, 2}};
	struct arp ask = announcement;

	(void)state;
	ask.target = HOST2;
	rig.solicit(&rig.mr, 0, &addr, NULL);
	expect_sent(0, 0, &ask);
	rig.solicit(&rig.mr, 0, &addr, &mac);
	ask.frame_to = HOST2_MAC;
	expect_sent(1, 0, &ask);
	rig.solicit(&rig.mr, 2, &addr, NULL); /* has no address to ask from */
	rig.solicit(&rig.mr, 99, &addr, NULL);
	assert_int_equal(rig.sent_count, 2);
}

static void addresses_are_announced_twice(void **state)
{
	(void)state;
	mr_host_announce(&rig.mr, 0);
	mr_host_announce(&rig.mr, 2); /* no address */
	mr_host_announce(&rig.mr, 99);
	assert_int_equal(rig.sent_count, 1);
	expect_sent(0, 0, &announcement);
	rig_advance(1999);
	assert_int_equal(rig.sent_count, 1);
	rig_advance(1);
	assert_int_equal(rig.sent_count, 2);
	expect_sent(1, 0, &announcement);
	rig_advance(100000);
	assert_int_equal(rig.sent_count, 2);
}

static void no_buffer_is_counted(void **state)
{
	static struct rte_mbuf *all[8192];
	unsigned n = 0;

	(void)state;
	while (n < RTE_DIM(all) && (all[n] = rte_pktmbuf_alloc(rig.pool)) != NULL)
		n++;
	mr_host_announce(&rig.mr, 0);
	rte_pktmbuf_free_bulk(all, n);
	assert_int_equal(rig.sent_count, 0);
	assert_int_equal(rig_drops(MR_DROP_no_mbuf), 1);
}

static void frame_of_a_removed_interface(void **state)
{
	(void)state;
	input(&request, 7);
	assert_int_equal(rig_drops(MR_DROP_unconfigured), 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		CASE(request_for_us_is_answered_and_learned),
		CASE(unicast_request_is_answered),
		CASE(short_frames_are_fine_without_padding),
		CASE(probe_is_answered_but_not_learned),
		CASE(replies_update_only),
		CASE(gratuitous_updates_only),
		CASE(what_is_not_believed),
		CASE(conflict_is_defended_once_in_ten_seconds),
		CASE(solicit_broadcasts_or_verifies),
		CASE(addresses_are_announced_twice),
		CASE(no_buffer_is_counted),
		CASE(frame_of_a_removed_interface),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
