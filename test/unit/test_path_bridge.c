/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of bridging, frame by frame, through the whole packet path. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "test_eal.h"

#define A "02:aa:00:00:00:01" /* a station behind port 0 */
#define B "02:aa:00:00:00:02" /* one behind port 1 */
#define C "02:aa:00:00:00:03"
#define NOBODY "02:aa:00:00:00:99"
#define BROADCAST "ff:ff:ff:ff:ff:ff"
#define LOCAL_TYPE 0x88b5 /* 802's ethertype for experiments */

/* A bridge of ports 0, 1 and 2; port 3 has no role. */
static struct harness *setup(void)
{
	struct harness *h = harness();

	harness_begin(h);
	harness_command(h, "bridge add br0");
	for (unsigned port = 0; port < 3; port++)
		harness_command(h, "bridge member add br0 port %u", port);
	return h;
}

static void finish(struct harness *h)
{
	harness_command(h, "bridge del br0");
	harness_end(h);
}

/* Sends a frame and expects it, unchanged, on the ports whose bits are set. */
static void crosses(struct harness *h, unsigned port, const struct frame *frame, unsigned ports)
{
	harness_send(h, port, frame);
	harness_run(h);
	for (unsigned out = 0; out < HARNESS_PORTS; out++)
		if ((ports >> out & 1) != 0)
			harness_expect(h, out, frame);
	harness_expect_nothing(h);
}

static struct frame between(const char *to, const char *from)
{
	return frame_raw(to, from, LOCAL_TYPE, 60);
}

static void unknown_destinations_are_flooded_and_learned_ones_are_not(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame there = between(B, A), back = between(A, B);

	crosses(h, 0, &there, 0x6);
	/* A is known from its first frame, although nothing was ever sent to it. */
	for (unsigned i = 0; i < 10; i++)
		crosses(h, 1, &back, 0x1);
	crosses(h, 0, &there, 0x2);
	finish(h);
}

static void group_addresses_are_flooded_and_never_learned(void **state)
{
	(void)state;
	struct harness *h = setup();
	static const char *const groups[] = {
		BROADCAST,           "01:00:5e:00:00:05", "33:33:00:00:00:01", "01:80:c2:00:00:20",
		"01:80:c2:00:00:21", "01:80:c2:00:00:10", "01:80:c2:00:01:00"};

	for (unsigned i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct frame frame = between(groups[i], A);

		crosses(h, 0, &frame, 0x6);
	}
	finish(h);
}

static void reserved_group_addresses_are_never_forwarded(void **state)
{
	(void)state;
	struct harness *h = setup();

	for (unsigned last = 0; last < 16; last++) {
		char to[18];

		snprintf(to, sizeof(to), "01:80:c2:00:00:%02x", last);
		struct frame frame = between(to, A), tagged = frame_tagged(&frame, 0x8100, 10);

		crosses(h, 0, &frame, 0);
		crosses(h, 0, &tagged, 0);
	}
	harness_dropped(h, MR_DROP_bridge_reserved, 32);
	/* Their sender is a station all the same. */
	struct frame to_sender = between(A, B);
	crosses(h, 1, &to_sender, 0x1);
	finish(h);
}

static void frames_with_a_source_that_is_no_station_are_dropped(void **state)
{
	(void)state;
	struct harness *h = setup();
	static const char *const sources[] = {BROADCAST, "01:00:5e:00:00:05", "03:00:00:00:00:01",
					      "00:00:00:00:00:00"};

	for (unsigned i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct frame frame = between(B, sources[i]);

		crosses(h, 0, &frame, 0);
	}
	harness_dropped(h, MR_DROP_bridge_bad_source, 4);
	char *stations = harness_show(h, "show station");
	assert_string_equal(stations, "[]");
	free(stations);
	finish(h);
}

static void nothing_leaves_through_the_port_that_it_came_from(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame hello = between(BROADCAST, A), same = between(A, C);

	crosses(h, 0, &hello, 0x6);
	crosses(h, 0, &same, 0);
	harness_dropped(h, MR_DROP_bridge_same_port, 1);
	finish(h);
}

static void a_move_is_followed_by_the_frame_that_shows_it(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame hello = between(BROADCAST, A), to_a = between(A, B);

	crosses(h, 0, &hello, 0x6);
	crosses(h, 1, &to_a, 0x1);
	crosses(h, 2, &hello, 0x3);
	crosses(h, 1, &to_a, 0x4);
	finish(h);
}

static void a_move_and_a_frame_to_it_in_one_burst(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame hello = between(BROADCAST, A), to_a = between(A, B);

	crosses(h, 0, &hello, 0x6);
	/* Port 2 is polled after port 1, so the next round must follow. */
	harness_send(h, 2, &hello);
	harness_run(h);
	harness_expect(h, 0, &hello);
	harness_expect(h, 1, &hello);
	crosses(h, 1, &to_a, 0x4);
	finish(h);
}

static void stations_age(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame hello = between(BROADCAST, A), to_a = between(A, B);

	harness_command(h, "bridge set br0 ageing 10");
	crosses(h, 0, &hello, 0x6);
	harness_advance(h, 9000);
	crosses(h, 1, &to_a, 0x1);
	harness_advance(h, 9000); /* the frame to A is no sign of life of A */
	crosses(h, 1, &to_a, 0x5);
	finish(h);
}

static void a_station_that_is_heard_does_not_age(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame hello = between(BROADCAST, A), to_a = between(A, B);

	harness_command(h, "bridge set br0 ageing 10");
	for (unsigned i = 0; i < 5; i++) {
		crosses(h, 0, &hello, 0x6);
		harness_advance(h, 8000);
	}
	crosses(h, 1, &to_a, 0x1);
	finish(h);
}

static void ageing_0_means_never(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame hello = between(BROADCAST, A), to_a = between(A, B);

	harness_command(h, "bridge set br0 ageing 0");
	crosses(h, 0, &hello, 0x6);
	harness_advance(h, 1000000);
	crosses(h, 1, &to_a, 0x1);
	finish(h);
}

static void static_stations_neither_move_nor_age_nor_flush(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame hello = between(BROADCAST, A), to_a = between(A, B), to_b = between(B, C);

	harness_command(h, "bridge set br0 ageing 10");
	harness_command(h, "station add br0 " A " port 1");
	crosses(h, 2, &hello, 0x3); /* seen elsewhere: stays */
	harness_advance(h, 60000);
	struct frame from_2 = between(A, C);
	crosses(h, 2, &from_2, 0x2);
	crosses(h, 0, &to_a, 0x2); /* B is learned behind port 0 */
	crosses(h, 2, &to_b, 0x1);
	harness_command(h, "station flush br0");
	crosses(h, 2, &to_b, 0x3);
	crosses(h, 2, &from_2, 0x2);
	harness_command(h, "station del br0 " A " port 1");
	crosses(h, 2, &from_2, 0x3);
	finish(h);
}

static void a_lost_link_flushes_what_was_behind_it(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame hello = between(BROADCAST, A), to_a = between(A, B);

	crosses(h, 1, &hello, 0x5);
	crosses(h, 0, &to_a, 0x2);
	harness_command(h, "station add br0 " C " port 1");
	harness_link(h, 1, false);
	char *stations = harness_show(h, "show station port 1");
	assert_null(strstr(stations, A));
	assert_non_null(strstr(stations, C));
	free(stations);
	crosses(h, 0, &to_a, 0x4); /* flooded to those that have link */
	struct frame to_static = between(C, B);
	crosses(h, 0, &to_static, 0);
	harness_dropped(h, MR_DROP_link_down, 1);
	harness_link(h, 1, true);
	crosses(h, 0, &to_static, 0x2);
	crosses(h, 0, &to_a, 0x6);
	finish(h);
}

static void a_flood_without_other_members_is_counted(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame hello = between(BROADCAST, A);

	harness_link(h, 1, false);
	harness_link(h, 2, false);
	crosses(h, 0, &hello, 0);
	harness_dropped(h, MR_DROP_bridge_no_member, 1);
	harness_link(h, 1, true);
	harness_link(h, 2, true);
	finish(h);
}

static void bridges_are_apart(void **state)
{
	(void)state;
	struct harness *h = harness();

	harness_begin(h);
	harness_command(h, "bridge add br0");
	harness_command(h, "bridge add br1");
	harness_command(h, "bridge member add br0 port 0");
	harness_command(h, "bridge member add br0 port 1");
	harness_command(h, "bridge member add br1 port 2");
	harness_command(h, "bridge member add br1 port 3");
	struct frame hello = between(BROADCAST, A), to_a = between(A, B);
	crosses(h, 0, &hello, 0x2);
	crosses(h, 2, &to_a, 0x8);  /* A is a stranger in br1 */
	crosses(h, 2, &hello, 0x8); /* and may be a station of both */
	crosses(h, 1, &to_a, 0x1);
	crosses(h, 3, &to_a, 0x4);
	harness_command(h, "bridge del br1");
	crosses(h, 1, &to_a, 0x1);
	crosses(h, 2, &hello, 0);
	harness_dropped(h, MR_DROP_unconfigured, 1);
	harness_command(h, "bridge del br0");
	harness_end(h);
}

static void a_port_that_leaves_takes_its_stations_along(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame hello = between(BROADCAST, A), to_a = between(A, B);

	crosses(h, 0, &hello, 0x6);
	harness_command(h, "bridge member del br0 port 0");
	crosses(h, 1, &to_a, 0x4);
	crosses(h, 0, &hello, 0);
	harness_dropped(h, MR_DROP_unconfigured, 1);
	finish(h);
}

static void tags_and_unknown_protocols_cross_unchanged(void **state)
{
	(void)state;
	struct harness *h = setup();
	static const struct {
		uint16_t outer, outer_tci, inner, inner_tci;
	} tags[] = {{0x88a8, 7, 0x8100, 7},
		    {0x88a8, 7, 0x8100, 8},
		    {0x8100, 7, 0x8100, 7},
		    {0x88a8, 0, 0x8100, 7},
		    {0x8100, 0xffff, 0x9100, 1}};
	static const uint16_t types[] = {0x0800, 0x86dd, 0x0806, 0x8847,
					 0x0027, 0x05ff, 0xffff, 0x0000};

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct frame frame = frame_raw(B, A, types[i], 64);

		crosses(h, 0, &frame, 0x6);
	}
	for (unsigned i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		struct frame inner = frame_raw(B, A, 0x86dd, 60);

		inner = frame_tagged(&inner, tags[i].inner, tags[i].inner_tci);
		struct frame outer = frame_tagged(&inner, tags[i].outer, tags[i].outer_tci);
		crosses(h, 0, &inner, 0x6);
		crosses(h, 0, &outer, 0x6);
	}
	finish(h);
}

static void all_lengths_cross_up_to_the_mtu(void **state)
{
	(void)state;
	struct harness *h = setup();

	for (unsigned length = 14; length <= 1514;
	     length += length < 100 || length > 1500 ? 1 : 97) {
		struct frame frame = frame_raw(B, A, LOCAL_TYPE, length);

		crosses(h, 0, &frame, 0x6);
	}
	static const struct {
		unsigned tags, length, passes;
	} edges[] = {{0, 1514, 1}, {0, 1515, 0}, {1, 1518, 1}, {1, 1519, 0},
		     {2, 1522, 1}, {2, 1523, 0}, {0, 1518, 0}, {1, 1522, 0}};
	for (unsigned i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		struct frame frame =
			frame_raw(B, A, LOCAL_TYPE, edges[i].length - 4 * edges[i].tags);

		for (unsigned tag = 0; tag < edges[i].tags; tag++)
			frame = frame_tagged(&frame, tag == 0 ? 0x8100 : 0x88a8, 5);
		crosses(h, 0, &frame, edges[i].passes ? 0x6 : 0);
		harness_dropped(h, MR_DROP_mtu_exceeded, edges[i].passes ? 0 : 2);
	}
	finish(h);
}

static void the_mtu_of_each_output_port_counts(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame frame = frame_raw(B, A, LOCAL_TYPE, 1015);

	harness_command(h, "port config mtu 1 1000");
	crosses(h, 0, &frame, 0x4);
	harness_dropped(h, MR_DROP_mtu_exceeded, 1);
	crosses(h, 1, &frame, 0x5); /* what arrives on the port may be longer */
	harness_command(h, "port config mtu 1 1500");
	finish(h);
}

static void what_is_no_whole_frame_is_dropped_by_name(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame good = between(BROADCAST, A);

	for (unsigned length = 1; length < 14; length++) {
		struct frame runt = good;

		runt.length = length;
		crosses(h, 0, &runt, 0);
	}
	harness_dropped(h, MR_DROP_runt, 13);
	struct frame big = frame_raw(BROADCAST, A, LOCAL_TYPE, 1000);
	harness_send_chained(h, 0, &big);
	harness_run(h);
	harness_dropped(h, MR_DROP_segmented, 1);

	/* Between others in one burst. */
	struct frame runt = good;
	runt.length = 5;
	harness_send(h, 0, &good);
	harness_send_chained(h, 0, &big);
	harness_send(h, 0, &runt);
	harness_send(h, 0, &big);
	harness_run(h);
	for (unsigned port = 1; port < 3; port++) {
		harness_expect(h, port, &good);
		harness_expect(h, port, &big);
	}
	harness_dropped(h, MR_DROP_runt, 1);
	harness_dropped(h, MR_DROP_segmented, 1);
	finish(h);
}

/* One receive call returns up to 64 frames; of each, what is known leaves before what is flooded.
 * Frames to one address stay in their order. */
static void expect_parted(struct harness *h, const struct frame *burst, unsigned size)
{
	for (unsigned start = 0; start < size; start += 64) {
		unsigned end = start + 64 < size ? start + 64 : size;

		for (unsigned i = start; i < end; i++) {
			unsigned kind = burst[i].bytes[14];

			if (kind == 0 || kind == 7)
				harness_expect(h, 1, &burst[i]);
			if (kind == 1)
				harness_expect(h, 2, &burst[i]);
		}
		for (unsigned i = start; i < end; i++) {
			if (burst[i].bytes[14] != 2 && burst[i].bytes[14] != 3)
				continue;
			harness_expect(h, 1, &burst[i]);
			harness_expect(h, 2, &burst[i]);
		}
	}
}

/* Bursts of all sizes, of frames that part ways: known, unknown, group, reserved, bad, same port.
 */
static void bursts_of_mixed_frames_part_as_single_frames_do(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame hello_b = between(BROADCAST, B), hello_c = between(BROADCAST, C);
	static struct frame burst[65];
	unsigned random = 12345;

	crosses(h, 1, &hello_b, 0x5);
	crosses(h, 2, &hello_c, 0x3);
	for (unsigned size = 1; size <= 65; size++) {
		uint64_t reserved = 0, bad = 0, same = 0;

		for (unsigned i = 0; i < size; i++) {
			static const char *const to[] = {
				B, C, NOBODY, BROADCAST, "01:80:c2:00:00:02", B, A, B};
			unsigned kind = (random = random * 1103515245 + 12345) >> 16 & 7;

			burst[i] =
				frame_raw(to[kind], kind == 5 ? BROADCAST : A, LOCAL_TYPE, 60 + i);
			burst[i].bytes[14] = (uint8_t)kind;
			reserved += kind == 4;
			bad += kind == 5;
			same += kind == 6;
		}
		/* A itself must be known before frames to it can be "same port". */
		struct frame hello_a = between(BROADCAST, A);
		crosses(h, 0, &hello_a, 0x6);
		harness_burst(h, 0, burst, size);
		harness_run(h);
		expect_parted(h, burst, size);
		harness_expect_nothing(h);
		harness_dropped(h, MR_DROP_bridge_reserved, reserved);
		harness_dropped(h, MR_DROP_bridge_bad_source, bad);
		harness_dropped(h, MR_DROP_bridge_same_port, same);
	}
	finish(h);
}

static void a_full_table_floods_and_counts(void **state)
{
	(void)state;
	struct harness *h = setup();
	unsigned capacity = 1024;

	for (unsigned i = 0; i < capacity + 50; i++) {
		char mac[18];

		snprintf(mac, sizeof(mac), "02:bb:00:00:%02x:%02x", i >> 8, i & 255);
		struct frame frame = between(BROADCAST, mac);
		crosses(h, 0, &frame, 0x6);
	}
	struct frame to_last = between("02:bb:00:00:04:31", B),
		     to_first = between("02:bb:00:00:00:00", B);
	crosses(h, 1, &to_first, 0x1);
	crosses(h, 1, &to_last, 0x5);
	finish(h);
}

static void wrong_commands_change_nothing(void **state)
{
	(void)state;
	struct harness *h = setup();

	harness_refused(h, -EEXIST, "bridge add br0");
	harness_refused(h, -ENOENT, "bridge del br9");
	harness_refused(h, -ENOENT, "bridge member add br9 port 3");
	harness_refused(h, -ENODEV, "bridge member add br0 port 4");
	harness_refused(h, -EINVAL, "bridge member add br0 port 4294967296");
	harness_refused(h, -EEXIST, "bridge member add br0 port 0");
	harness_refused(h, -ENOENT, "bridge member del br0 port 3");
	harness_refused(h, -EINVAL, "station add br0 01:00:5e:00:00:01 port 0");
	harness_refused(h, -EINVAL, "station add br0 00:00:00:00:00:00 port 0");
	harness_refused(h, -ENOENT, "station add br0 " A " port 3");
	harness_refused(h, -ENOENT, "station del br0 " A);
	harness_refused(h, -ERANGE, "bridge set br0 ageing 1000001");
	harness_refused(h, -EINVAL, "bridge add br1 ageing 99999999999");
	harness_command(h, "bridge add br1");
	harness_refused(h, -EBUSY, "bridge member add br1 port 0");
	harness_refused(h, -EBUSY, "address add 10.0.0.1/24 port 0");
	harness_command(h, "bridge del br1");
	finish(h);
}

static void an_unconfigured_port_drops_by_name(void **state)
{
	(void)state;
	struct harness *h = setup();
	struct frame hello = between(BROADCAST, A);

	crosses(h, 3, &hello, 0);
	harness_dropped(h, MR_DROP_unconfigured, 1);
	finish(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_destinations_are_flooded_and_learned_ones_are_not),
		cmocka_unit_test(group_addresses_are_flooded_and_never_learned),
		cmocka_unit_test(reserved_group_addresses_are_never_forwarded),
		cmocka_unit_test(frames_with_a_source_that_is_no_station_are_dropped),
		cmocka_unit_test(nothing_leaves_through_the_port_that_it_came_from),
		cmocka_unit_test(a_move_is_followed_by_the_frame_that_shows_it),
		cmocka_unit_test(a_move_and_a_frame_to_it_in_one_burst),
		cmocka_unit_test(stations_age),
		cmocka_unit_test(a_station_that_is_heard_does_not_age),
		cmocka_unit_test(ageing_0_means_never),
		cmocka_unit_test(static_stations_neither_move_nor_age_nor_flush),
		cmocka_unit_test(a_lost_link_flushes_what_was_behind_it),
		cmocka_unit_test(a_flood_without_other_members_is_counted),
		cmocka_unit_test(bridges_are_apart),
		cmocka_unit_test(a_port_that_leaves_takes_its_stations_along),
		cmocka_unit_test(tags_and_unknown_protocols_cross_unchanged),
		cmocka_unit_test(all_lengths_cross_up_to_the_mtu),
		cmocka_unit_test(the_mtu_of_each_output_port_counts),
		cmocka_unit_test(what_is_no_whole_frame_is_dropped_by_name),
		cmocka_unit_test(bursts_of_mixed_frames_part_as_single_frames_do),
		cmocka_unit_test(a_full_table_floods_and_counts),
		cmocka_unit_test(wrong_commands_change_nothing),
		cmocka_unit_test(an_unconfigured_port_drops_by_name),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
