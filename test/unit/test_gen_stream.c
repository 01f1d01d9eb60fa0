/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that the generator makes: valid, of the sizes and addresses wanted, and what it tells of
 * its addresses by ARP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <pcap/pcap.h>
#include <rte_arp.h>
#include <rte_common.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "arp.h"
#include "headers.h"
#include "stream.h"

static struct stream_config config_of(const char *src, const char *dst, uint16_t vlan)
{
	struct stream_config config = {.sizes = {1, {{128, 1}}}, .vlan = vlan};

	assert_int_equal(mac_range_parse("02:00:00:00:00:fe-02:00:00:00:01:01", &config.src_mac),
			 0);
	assert_int_equal(mac_range_parse("02:00:00:00:00:02", &config.dst_mac), 0);
	assert_int_equal(addr_range_parse(src, &config.src), 0);
	assert_int_equal(addr_range_parse(dst, &config.dst), 0);
	assert_int_equal(port_range_parse("1000-1006", &config.src_port), 0);
	assert_int_equal(port_range_parse("9", &config.dst_port), 0);
	return config;
}

static struct stream_set *make(const struct stream_config *config)
{
	struct mr_error error = {0};
	struct stream_set *set;

	if (stream_set_create(config, &set, &error) != 0)
		fail_msg("%s", error.text);
	return set;
}

/* Writes frames of every size; each must be valid, and carry what was asked for. */
static void check_sizes(const char *src, const char *dst, uint16_t vlan, bool ipv6)
{
	struct stream_config config = config_of(src, dst, vlan);

	for (uint16_t size = (uint16_t)stream_min_size(ipv6, vlan != 0); size <= STREAM_MAX_SIZE;
	     size += 37) {
		uint8_t frame[STREAM_MAX_LENGTH];
		struct frame_headers headers;
		struct stream_cursor cursor;
		struct tag tag;
		bool tagged;

		config.sizes.part[0].size = size;
		struct stream_set *set = make(&config);
		assert_int_equal(stream_cursor_create(set, &cursor), 0);
		for (unsigned i = 0; i < 20; i++) {
			uint16_t length = stream_write(&cursor, 7, 99 + i, frame, &tagged);
			assert_int_equal(length, size - 4);
			assert_true(tagged);
			assert_int_equal(headers_find(frame, length, &headers), 0);
			assert_int_equal(headers.ipv6, ipv6);
			assert_int_equal(headers.tag_at, length - TAG_SIZE);
			assert_true(headers_checksums_ok(frame, &headers));
			tag_read(frame + headers.tag_at, &tag);
			assert_int_equal(tag.mark, 7);
			assert_int_equal(tag.time, 99 + i);
			assert_int_equal(tag.stream, i % set->streams);
			assert_int_equal(tag.sequence, i / set->streams);
		}
		stream_cursor_destroy(&cursor);
		stream_set_destroy(set);
	}
}

static void frames_of_every_size_are_valid(void **state)
{
	(void)state;
	check_sizes("198.18.0.254-198.18.1.2", "198.19.0.1-198.19.0.3", 0, false);
	check_sizes("198.18.0.254-198.18.1.2", "198.19.0.1-198.19.0.3", 100, false);
	check_sizes("2001:2::fffe-2001:2::1:2", "2001:2:1::1", 0, true);
	check_sizes("2001:2::fffe-2001:2::1:2", "2001:2:1::1", 100, true);
}

static void the_smallest_frame_holds_a_tag_with_vlan(void **state)
{
	(void)state;
	assert_int_equal(stream_min_size(false, false), 64);
	assert_int_equal(stream_min_size(false, true), 64);
	assert_int_equal(stream_min_size(true, false), 80);
}

static void ranges_are_taken_in_turn(void **state)
{
	struct stream_config config =
		config_of("198.18.0.254-198.18.1.2", "198.19.0.1-198.19.0.3", 0);
	struct stream_set *set = make(&config);
	struct stream_cursor cursor;
	uint8_t frame[STREAM_MAX_LENGTH];
	bool tagged;

	(void)state;
	assert_int_equal(set->streams, 7); /* the UDP ports are the largest range */
	assert_int_equal(stream_cursor_create(set, &cursor), 0);
	for (uint32_t k = 0; k < 500; k++) {
		stream_write(&cursor, 0, 0, frame, &tagged);
		const struct rte_ether_hdr *ether = (const struct rte_ether_hdr *)frame;
		const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(ether + 1);
		const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)(ip + 1);
		assert_int_equal(mac_to_number(&ether->src_addr), 0x0200000000feull + k % 4);
		assert_int_equal(mac_to_number(&ether->dst_addr), 0x020000000002ull);
		assert_int_equal(rte_be_to_cpu_32(ip->src_addr), 0xc61200fe + k % 5);
		assert_int_equal(rte_be_to_cpu_32(ip->dst_addr), 0xc6130001 + k % 3);
		assert_int_equal(rte_be_to_cpu_16(udp->src_port), 1000 + k % 7);
		assert_int_equal(rte_be_to_cpu_16(udp->dst_port), 9);
	}
	stream_cursor_destroy(&cursor);
	stream_set_destroy(set);
}

static void sizes_of_a_mix_come_by_their_weights(void **state)
{
	struct stream_config config = config_of("198.18.0.2", "198.19.0.2", 0);
	unsigned count[STREAM_MAX_LENGTH + 1] = {0}, longest_run = 0, run = 0;
	uint8_t frame[STREAM_MAX_LENGTH];
	struct stream_cursor cursor;
	bool tagged;

	(void)state;
	config.sizes = (struct size_mix){3, {{64, 7}, {570, 4}, {1518, 1}}};
	struct stream_set *set = make(&config);
	assert_int_equal(set->milli_octets, (7 * 64 + 4 * 570 + 1518) * 1000 / 12);
	assert_int_equal(stream_cursor_create(set, &cursor), 0);
	for (unsigned k = 0; k < 1200; k++) {
		uint16_t length = stream_write(&cursor, 0, 0, frame, &tagged);
		count[length]++;
		run = length == 60 ? run + 1 : 0;
		longest_run = RTE_MAX(longest_run, run);
	}
	assert_int_equal(count[60], 700);
	assert_int_equal(count[566], 400);
	assert_int_equal(count[1514], 100);
	assert_in_range(longest_run, 1, 3); /* spread, not one size after the other */
	stream_cursor_destroy(&cursor);
	stream_set_destroy(set);
}

static void a_frame_without_room_for_a_tag_is_refused(void **state)
{
	struct stream_config config = config_of("2001:2::1", "2001:2:1::1", 0);
	struct mr_error error = {0};
	struct stream_set *set;

	(void)state;
	config.sizes.part[0].size = 79;
	assert_int_equal(stream_set_create(&config, &set, &error), -EINVAL);
	assert_non_null(strstr(error.text, "80 to 1522"));
	assert_null(set);
}

static void wrong_lengths_are_no_headers(void **state)
{
	struct stream_config config = config_of("198.18.0.2", "198.19.0.2", 100);
	struct stream_set *set = make(&config);
	struct frame_headers headers;
	const uint8_t *bytes = set->template[0].bytes;

	(void)state;
	/* Each length in a block of its own, so that a sanitizer sees what is read beyond it. */
	for (uint16_t length = 0; length < set->template[0].length; length++) {
		uint8_t *part = malloc(length + 1u);
		memcpy(part, bytes, length);
		uint8_t *end = realloc(part, length != 0 ? length : 1);
		assert_int_equal(headers_find(end, length, &headers), -EINVAL);
		free(end);
	}
	assert_int_equal(headers_find(bytes, set->template[0].length, &headers), 0);
	stream_set_destroy(set);
}

static void write_pcap(const char *path, const struct stream_config *config, unsigned count,
		       const uint8_t *other, unsigned other_length)
{
	struct stream_set *set = make(config);
	pcap_t *dead = pcap_open_dead(DLT_EN10MB, 65535);
	pcap_dumper_t *file = pcap_dump_open(dead, path);
	struct pcap_pkthdr header = {0};
	struct stream_cursor cursor;
	uint8_t frame[STREAM_MAX_LENGTH];
	bool tagged;

	assert_int_equal(stream_cursor_create(set, &cursor), 0);
	for (unsigned i = 0; i < count; i++) {
		header.len = header.caplen = stream_write(&cursor, 0, 0, frame, &tagged);
		pcap_dump((u_char *)file, &header, frame);
	}
	header.len = header.caplen = other_length;
	pcap_dump((u_char *)file, &header, other);
	pcap_dump_close(file);
	pcap_close(dead);
	stream_cursor_destroy(&cursor);
	stream_set_destroy(set);
}

static void a_capture_file_is_a_template(void **state)
{
	/* 5 sources and 7 ports: 35 flows; 40 frames, so that five flows come twice. */
	struct stream_config config = config_of("198.18.0.254-198.18.1.2", "198.19.0.1", 0);
	struct stream_config from_file = {.reverse = true};
	char path[] = "/tmp/millrace_unit_XXXXXX";
	uint8_t other[30] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, frame[STREAM_MAX_LENGTH];
	unsigned per_stream[35] = {0};
	struct frame_headers headers;
	struct stream_cursor cursor;
	struct tag tag;
	bool tagged;

	(void)state;
	close(mkstemp(path));
	write_pcap(path, &config, 40, other, sizeof(other));
	from_file.pcap = path;
	struct stream_set *set = make(&from_file);
	unlink(path);
	assert_int_equal(set->template_count, 41);
	assert_int_equal(set->streams, 35);
	assert_int_equal(stream_cursor_create(set, &cursor), 0);
	for (unsigned k = 0; k < 41; k++) {
		uint16_t length = stream_write(&cursor, 5, 6, frame, &tagged);
		assert_int_equal(tagged, k != 40);
		if (!tagged) {
			assert_int_equal(length, 60); /* padded, otherwise as it was */
			assert_memory_equal(frame, other, sizeof(other));
			continue;
		}
		assert_int_equal(headers_find(frame, length, &headers), 0);
		assert_true(headers_checksums_ok(frame, &headers));
		tag_read(frame + headers.tag_at, &tag);
		assert_int_equal(tag.mark, 5);
		assert_int_equal(tag.stream, (k % 35) | TAG_REVERSE);
		assert_int_equal(tag.sequence, per_stream[k % 35]++);
	}
	stream_cursor_destroy(&cursor);
	stream_set_destroy(set);
}

static void a_capture_file_that_cannot_be_sent_is_refused(void **state)
{
	struct stream_config from_file = {.pcap = "/nonexistent.pcap"};
	struct mr_error error = {0};
	struct stream_set *set;

	(void)state;
	assert_int_equal(stream_set_create(&from_file, &set, &error), -EINVAL);
	assert_non_null(strstr(error.text, "/nonexistent.pcap"));
}

static void ranges_are_parsed_strictly(void **state)
{
	static const char *const wrong[] = {"",
					    "-",
					    "1.2.3.4-",
					    "-1.2.3.4",
					    "1.2.3.4-1.2.3.3",
					    "1.2.3.4-::1",
					    "1.2.3.4-1.2.3.5-1.2.3.6",
					    "0.0.0.0-1.0.0.0",
					    "1::1-2::1",
					    "1.2.3.4 "};
	struct addr_range addr;
	struct port_range port;
	struct mac_range mac;

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(wrong); i++)
		if (addr_range_parse(wrong[i], &addr) == 0)
			fail_msg("'%s' was taken", wrong[i]);
	assert_int_equal(addr_range_parse("1.0.0.0-1.255.255.255", &addr), 0);
	assert_int_equal(addr.count, RANGE_MAX);
	assert_int_equal(port_range_parse("0-65535", &port), 0);
	assert_int_equal(port.count, 65536);
	assert_int_equal(port_range_parse("9-8", &port), -EINVAL);
	assert_int_equal(port_range_parse("1-65536", &port), -EINVAL);
	assert_int_equal(mac_range_parse("00:00:00:00:00:00", &mac), -EINVAL);
	assert_int_equal(mac_range_parse("02:00:00:00:00:01", &mac), 0);
	assert_int_equal(mac.count, 1);
}

static struct arp_station station_of(uint16_t vlan)
{
	struct arp_station station = {.mac = {0x020000000010, 4}, .vlan = vlan};

	assert_int_equal(addr_range_parse("10.0.0.2-10.0.0.9", &station.addr), 0);
	assert_int_equal(mr_addr_parse("10.0.0.1", &station.gateway), 0);
	return station;
}

static void arp_is_answered_for_every_address(void **state)
{
	(void)state;
	for (uint16_t vlan = 0; vlan <= 100; vlan += 100) {
		struct arp_station station = station_of(vlan), asker = station;
		uint8_t frame[ARP_FRAME_LENGTH];
		struct mr_addr target;

		addr_range_parse("10.0.0.1", &asker.addr);
		asker.mac = (struct mac_range){0x060000000001, 1};
		assert_int_equal(mr_addr_parse("10.0.0.7", &target), 0);
		arp_request(&asker, 0, &target, frame);
		assert_int_equal(arp_input(&station, frame, sizeof(frame)), ARP_REPLY);
		/* The asker's side takes the answer for its gateway 10.0.0.7. */
		asker.gateway = target;
		assert_int_equal(arp_input(&asker, frame, sizeof(frame)), ARP_TAKEN);
		assert_true(asker.resolved);
		assert_int_equal(asker.gateway_mac, 0x020000000011); /* sixth address, four MACs */
		assert_int_equal(mac_to_number((const struct rte_ether_addr *)frame),
				 0x060000000001);
		/* Not for addresses beyond, nor in another VLAN. */
		mr_addr_parse("10.0.0.10", &target);
		arp_request(&asker, 0, &target, frame);
		assert_int_equal(arp_input(&station, frame, sizeof(frame)), ARP_TAKEN);
		mr_addr_parse("10.0.0.7", &target);
		asker.vlan = 5;
		arp_request(&asker, 0, &target, frame);
		assert_int_equal(arp_input(&station, frame, sizeof(frame)), ARP_TAKEN);
	}
}

static void an_announcement_is_not_answered(void **state)
{
	struct arp_station station = station_of(0);
	uint8_t frame[ARP_FRAME_LENGTH];
	struct mr_addr own;

	(void)state;
	mr_addr_parse("10.0.0.2", &own);
	arp_request(&station, 0, &own, frame);
	assert_int_equal(arp_input(&station, frame, sizeof(frame)), ARP_TAKEN);
	frame[12] = 0x86;
	assert_int_equal(arp_input(&station, frame, sizeof(frame)), ARP_NONE);
	assert_int_equal(arp_input(&station, frame, 20), ARP_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_every_size_are_valid),
		cmocka_unit_test(the_smallest_frame_holds_a_tag_with_vlan),
		cmocka_unit_test(ranges_are_taken_in_turn),
		cmocka_unit_test(sizes_of_a_mix_come_by_their_weights),
		cmocka_unit_test(a_frame_without_room_for_a_tag_is_refused),
		cmocka_unit_test(wrong_lengths_are_no_headers),
		cmocka_unit_test(a_capture_file_is_a_template),
		cmocka_unit_test(a_capture_file_that_cannot_be_sent_is_refused),
		cmocka_unit_test(ranges_are_parsed_strictly),
		cmocka_unit_test(arp_is_answered_for_every_address),
		cmocka_unit_test(an_announcement_is_not_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
