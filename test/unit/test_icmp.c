/* SPDX-License-Identifier: BSD-3-Clause */
/* Echo, ICMP errors with their rules of silence, and fragments that are forwarded. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host_rig.h"
#include "packet/checksum.h"
#include "test_eal.h"

#define HOST2 RIG_IP(10, 0, 0, 2)
#define OWN RIG_IP(10, 0, 0, 1)
#define OTHER_OWN RIG_IP(10, 0, 1, 1)
#define FAR RIG_IP(203, 0, 113, 5)

static uint8_t frame[2048], message[2048];

static void input(const struct rig_packet *packet, uint16_t kind)
{
	rig_input(frame, rig_make(frame, packet), 0, kind, RIG_NEXT_HOP_9);
}

static struct rig_packet echo(unsigned size)
{
	return (struct rig_packet){
		.from = HOST2,
		.to = OWN,
		.protocol = IPPROTO_ICMP,
		.ttl = 1,
		.id = 77,
		.payload = message,
		.size = (uint16_t)rig_make_icmp(message, 8, 0, size),
	};
}

static struct rig_packet udp(uint32_t from, uint32_t to, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		message[i] = (uint8_t)(i * 13 + i / 256);
	return (struct rig_packet){
		.from = from,
		.to = to,
		.protocol = IPPROTO_UDP,
		.ttl = 1,
		.id = 78,
		.payload = message,
		.size = (uint16_t)size,
	};
}

static const uint8_t *icmp_of(const struct rte_ipv4_hdr *ip, unsigned *size)
{
	const uint8_t *icmp = (const uint8_t *)(ip + 1);

	*size = rte_be_to_cpu_16(ip->total_length) - 20u;
	assert_int_equal(ip->version_ihl, 0x45);
	assert_int_equal(ip->next_proto_id, IPPROTO_ICMP);
	assert_int_equal(ip->time_to_live, 64);
	assert_int_equal(ip->fragment_offset, 0);
	assert_true(mr_checksum_ok(icmp, *size));
	return icmp;
}

/* --- echo --- */

static void echo_is_answered_at_any_size(void **state)
{
	static const unsigned sizes[] = {0, 1, 2, 17, 18, 19, 56, 255, 1471, 1472};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(sizes); i++) {
		struct rig_packet request = echo(sizes[i]);
		const struct rte_ipv4_hdr *ip;
		const uint8_t *icmp;
		unsigned size;

		input(&request, MR_PUNT_LOCAL);
		assert_int_equal(rig.sent_count, i + 1);
		assert_int_equal(rig_sent_iface(i), 0);
		assert_memory_equal(rig_sent_frame(i), "\2\xaa\x0a\0\0\2\2\0\0\0\0\0", 12);
		ip = rig_sent_ip(i);
		assert_int_equal(rte_be_to_cpu_32(ip->src_addr), OWN);
		assert_int_equal(rte_be_to_cpu_32(ip->dst_addr), HOST2);
		icmp = icmp_of(ip, &size);
		assert_int_equal(size, 8 + sizes[i]);
		assert_int_equal(icmp[0], 0);
		assert_int_equal(icmp[1], 0);
		assert_memory_equal(icmp + 4, message + 4, 4 + sizes[i]);
	}
	assert_int_equal(rig_consumed(), RTE_DIM(sizes));
}

static void trailing_padding_is_no_part_of_the_packet(void **state)
{
	struct rig_packet request = echo(0);
	unsigned size;

	(void)state;
	memset(frame, 0xaa, 60);
	rig_make(frame, &request);
	rig_input(frame, 60, 0, MR_PUNT_LOCAL, 0);
	icmp_of(rig_sent_ip(0), &size); /* which checks that the padding is zeros */
	assert_int_equal(size, 8);
}

static void echo_to_another_interfaces_address(void **state)
{
	struct rig_packet request = echo(9);

	(void)state;
	request.to = OTHER_OWN;
	input(&request, MR_PUNT_LOCAL);
	assert_int_equal(rte_be_to_cpu_32(rig_sent_ip(0)->src_addr), OTHER_OWN);
	assert_int_equal(rig_sent_iface(0), 0);
}

static void answer_goes_by_route_not_back_to_the_frame(void **state)
{
	struct rig_packet request = echo(9);

	(void)state;
	request.from = FAR; /* behind 10.0.1.2 on iface 1, but came by iface 0 */
	input(&request, MR_PUNT_LOCAL);
	assert_int_equal(rig_sent_iface(0), 1);
	assert_memory_equal(rig_sent_frame(0), "\2\xaa\x0a\0\1\2\2\0\0\0\0\1\x08\0", 14);
	request.from = RIG_IP(8, 8, 8, 8); /* no route */
	input(&request, MR_PUNT_LOCAL);
	request.from = RIG_IP(192, 0, 2, 1); /* unreachable */
	input(&request, MR_PUNT_LOCAL);
	assert_int_equal(rig.sent_count, 1);
	assert_int_equal(rig_consumed(), 3);
	assert_int_equal(rig.mr.host->stats.answers_unroutable, 2);
}

static void answer_waits_for_a_neighbour(void **state)
{
	struct rig_packet request = echo(9);
	const struct rte_ipv4_hdr *ip;

	(void)state;
	request.from = RIG_IP(10, 0, 0, 77);
	input(&request, MR_PUNT_LOCAL);
	request.from = RIG_IP(198, 51, 100, 1);
	input(&request, MR_PUNT_LOCAL);
	assert_int_equal(rig.sent_count, 0);
	assert_int_equal(rig.held_count, 2);
	assert_int_equal(mr_punt_of(rig.held[0])->kind, MR_PUNT_ORIGINATED);
	assert_int_equal(mr_punt_of(rig.held[0])->next_hop, 3);
	assert_int_equal(mr_punt_of(rig.held[0])->iface, 0);
	assert_int_equal(mr_punt_of(rig.held[1])->next_hop, 10);
	ip = rte_pktmbuf_mtod_offset(rig.held[0], const struct rte_ipv4_hdr *, 14);
	assert_int_equal(ip->time_to_live, 64);
	assert_true(mr_checksum_ok(ip, 20));
}

static void precedence_is_kept_and_ecn_is_not(void **state)
{
	struct rig_packet request = echo(9);

	(void)state;
	request.tos = 0xbb;
	input(&request, MR_PUNT_LOCAL);
	assert_int_equal(rig_sent_ip(0)->type_of_service, 0xb8);
}

static void options_are_not_echoed(void **state)
{
	struct rig_packet request = echo(9);
	unsigned size;

	(void)state;
	request.options_size = 8;
	memcpy(request.options, "\x07\x07\x04\0\0\0\0\0", 8); /* record route */
	input(&request, MR_PUNT_LOCAL);
	icmp_of(rig_sent_ip(0), &size);
	assert_int_equal(size, 17);
}

static void answers_larger_than_the_mtu_are_fragmented(void **state)
{
	struct rig_packet request = echo(1472);
	uint8_t joined[1480];
	unsigned at = 0;

	(void)state;
	request.from = FAR;
	rig_set_mtu(1, 576);
	input(&request, MR_PUNT_LOCAL);
	assert_int_equal(rig.sent_count, 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct rte_ipv4_hdr *ip = rig_sent_ip(i);
		unsigned size = rte_be_to_cpu_16(ip->total_length) - 20u;

		assert_true(size + 20 <= 576);
		assert_int_equal(ip->packet_id, rig_sent_ip(0)->packet_id);
		assert_int_equal(rte_be_to_cpu_16(ip->fragment_offset),
				 at / 8 | (i < 2 ? RTE_IPV4_HDR_MF_FLAG : 0));
		memcpy(joined + at, ip + 1, size);
		at += size;
	}
	assert_int_equal(at, sizeof(joined));
	assert_true(mr_checksum_ok(joined, sizeof(joined)));
	assert_memory_equal(joined + 4, message + 4, sizeof(joined) - 4);
	assert_int_equal(rig.mr.lcores->control->originated, 1);
	assert_int_equal(rig.mr.lcores->control->copied, 2);
}

static void malformed_icmp_is_dropped(void **state)
{
	struct rig_packet request = echo(9);

	(void)state;
	message[10] ^= 1; /* checksum */
	input(&request, MR_PUNT_LOCAL);
	for (uint16_t size = 0; size < 8; size++) {
		memset(message, 0, sizeof(message));
		memset(message, 0xff, 4); /* a sum that would be right */
		request.size = size;
		input(&request, MR_PUNT_LOCAL);
	}
	assert_int_equal(rig_drops(MR_DROP_icmp_invalid), 9);
	assert_int_equal(rig.sent_count, 0);
}

static void other_icmp_is_not_answered(void **state)
{
	unsigned count = 0;

	(void)state;
	for (unsigned type = 0; type < 256; type++) {
		struct rig_packet packet = echo(0);

		if (type == 8)
			continue;
		packet.size = (uint16_t)rig_make_icmp(message, (uint8_t)type, 0, 12);
		input(&packet, MR_PUNT_LOCAL);
		count++;
	}
	assert_int_equal(rig.sent_count, 0);
	assert_int_equal(rig_drops(MR_DROP_host_unwanted), count);
}

static void echo_that_is_not_answered(void **state)
{
	static const struct {
		uint32_t from, to;
		const char *frame_to;
		enum mr_drop_reason reason;
	} row[] = {
		{HOST2, OWN, "\xff\xff\xff\xff\xff\xff", MR_DROP_link_multicast},
		{HOST2, OWN, "\x01\0\x5e\0\0\1", MR_DROP_link_multicast},
		{HOST2, RIG_IP(10, 0, 0, 255), NULL, MR_DROP_host_unwanted},
		{HOST2, RIG_IP(255, 255, 255, 255), NULL, MR_DROP_host_unwanted},
		{HOST2, RIG_IP(224, 0, 0, 1), NULL, MR_DROP_host_unwanted},
		{0, OWN, NULL, MR_DROP_ip_source},
		{RIG_IP(127, 0, 0, 1), OWN, NULL, MR_DROP_ip_source},
		{RIG_IP(224, 0, 0, 1), OWN, NULL, MR_DROP_ip_source},
		{RIG_IP(255, 255, 255, 255), OWN, NULL, MR_DROP_ip_source},
		{RIG_IP(10, 0, 0, 255), OWN, NULL, MR_DROP_ip_source},
		{RIG_IP(10, 0, 1, 255), OWN, NULL, MR_DROP_ip_source},
		{OWN, OWN, NULL, MR_DROP_ip_source},
		{OTHER_OWN, OWN, NULL, MR_DROP_ip_source},
	};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(row); i++) {
		struct rig_packet request = echo(9);
		uint64_t before = rig_drops(row[i].reason);

		request.from = row[i].from;
		request.to = row[i].to;
		request.frame_to = (const uint8_t *)row[i].frame_to;
		input(&request, MR_PUNT_LOCAL);
		if (rig_drops(row[i].reason) != before + 1 || rig.sent_count + rig.held_count > 0)
			fail_msg("row %u", i);
	}
}

static void what_lcores_should_have_dropped(void **state)
{
	static const struct {
		unsigned at, value, size;
		enum mr_drop_reason reason;
	} row[] = {
		{14, 0x65, 100, MR_DROP_ip_version}, {14, 0x44, 100, MR_DROP_ip_header},
		{14, 0x40, 100, MR_DROP_ip_header},  {17, 19, 100, MR_DROP_ip_header},
		{16, 1, 100, MR_DROP_truncated},     {22, 9, 100, MR_DROP_ip_checksum},
		{14, 0x45, 33, MR_DROP_truncated},   {14, 0x45, 0, MR_DROP_truncated},
		{14, 0x45, 50, MR_DROP_truncated},
	};

	(void)state;
	for (unsigned kind = MR_PUNT_LOCAL; kind <= MR_PUNT_TOO_BIG; kind++)
		for (unsigned i = 0; i < RTE_DIM(row); i++) {
			struct rig_packet request = echo(9);
			uint64_t before = rig_drops(row[i].reason);

			rig_make(frame, &request);
			frame[row[i].at] = (uint8_t)row[i].value;
			rig_input(frame, row[i].size, 0, (uint16_t)kind, 0);
			if (rig_drops(row[i].reason) != before + 1)
				fail_msg("row %u kind %u", i, kind);
		}
	assert_int_equal(rig.sent_count + rig.held_count, 0);
}

/* --- errors --- */

/* Checks the error that is sent number, which quotes the packet that stands in frame. */
static const struct rte_ipv4_hdr *expect_error(unsigned number, uint8_t type, uint8_t code,
					       unsigned quoted)
{
	const struct rte_ipv4_hdr *ip = rig_sent_ip(number);
	unsigned size;
	const uint8_t *icmp = icmp_of(ip, &size);

	assert_int_equal(icmp[0], type);
	assert_int_equal(icmp[1], code);
	assert_int_equal(icmp[4] | icmp[5], 0);
	assert_int_equal(size, 8 + quoted);
	assert_memory_equal(icmp + 8, frame + 14, quoted);
	return ip;
}

static void each_cause_has_its_error(void **state)
{
	static const struct {
		uint16_t kind;
		uint8_t type, code, protocol;
		enum mr_drop_reason reason;
	} row[] = {
		{MR_PUNT_TTL, 11, 0, IPPROTO_UDP, MR_DROP_ttl_exceeded},
		{MR_PUNT_NO_ROUTE, 3, 0, IPPROTO_UDP, MR_DROP_no_route},
		{MR_PUNT_UNREACHABLE, 3, 1, IPPROTO_UDP, MR_DROP_neighbour_unreachable},
		{MR_PUNT_LOCAL, 3, 2, IPPROTO_TCP, MR_DROP_host_unwanted},
		{MR_PUNT_LOCAL, 3, 2, 47, MR_DROP_host_unwanted},
		{MR_PUNT_LOCAL, 3, 3, IPPROTO_UDP, MR_DROP_host_unwanted},
	};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(row); i++) {
		struct rig_packet packet = udp(HOST2, row[i].kind == MR_PUNT_LOCAL ? OWN : FAR, 30);
		uint64_t before = rig_drops(row[i].reason);
		const struct rte_ipv4_hdr *ip;

		packet.protocol = row[i].protocol;
		packet.tos = 0x1f;
		input(&packet, row[i].kind);
		assert_int_equal(rig.sent_count, i + 1);
		ip = expect_error(i, row[i].type, row[i].code, 50);
		assert_int_equal(ip->type_of_service, 0xdc); /* precedence 6, TOS kept, no ECN */
		assert_int_equal(rte_be_to_cpu_32(ip->src_addr), OWN);
		assert_int_equal(rte_be_to_cpu_32(ip->dst_addr), HOST2);
		assert_int_equal(rig_drops(row[i].reason), before + 1);
	}
	assert_int_equal(rig_consumed(), 0);
}

static void error_quotes_what_fits_in_576_bytes(void **state)
{
	struct rig_packet packet = udp(HOST2, FAR, 1480);

	(void)state;
	input(&packet, MR_PUNT_TTL);
	expect_error(0, 11, 0, 548);
	assert_int_equal(rte_be_to_cpu_16(rig_sent_ip(0)->total_length), 576);
	packet.size = 528;
	input(&packet, MR_PUNT_TTL);
	expect_error(1, 11, 0, 548);
	packet.size = 527;
	input(&packet, MR_PUNT_TTL);
	expect_error(2, 11, 0, 547);
	packet.size = 0;
	input(&packet, MR_PUNT_TTL);
	expect_error(3, 11, 0, 20);
	packet.options_size = 4;
	memcpy(packet.options, "\1\1\1\0", 4);
	input(&packet, MR_PUNT_TTL);
	expect_error(4, 11, 0, 24);
}

static void error_comes_from_the_interface_it_leaves_by(void **state)
{
	struct rig_packet packet = udp(FAR, RIG_IP(8, 8, 8, 8), 30);

	(void)state;
	input(&packet, MR_PUNT_NO_ROUTE); /* came by iface 0 */
	assert_int_equal(rte_be_to_cpu_32(rig_sent_ip(0)->src_addr), OTHER_OWN);
	assert_int_equal(rig_sent_iface(0), 1);
	packet.from = RIG_IP(100, 64, 0, 1); /* leaves by iface 2, which has no address */
	input(&packet, MR_PUNT_NO_ROUTE);
	assert_int_equal(rte_be_to_cpu_32(rig_sent_ip(1)->src_addr), OWN);
	assert_int_equal(rig_sent_iface(1), 2);
	rig_input(frame, rig_make(frame, &packet), 2, MR_PUNT_NO_ROUTE, 0);
	assert_int_equal(rig.sent_count, 2); /* no address at all */
	packet.from = RIG_IP(8, 8, 4, 4);
	input(&packet, MR_PUNT_NO_ROUTE);
	assert_int_equal(rig.sent_count, 2);
	assert_int_equal(rig.mr.host->stats.answers_unroutable, 2);
	packet.from = RIG_IP(10, 0, 0, 88);
	input(&packet, MR_PUNT_NO_ROUTE);
	assert_int_equal(rig.held_count, 1);
	assert_int_equal(mr_punt_of(rig.held[0])->kind, MR_PUNT_ORIGINATED);
}

/* RFC 1812 4.3.2.7, each rule, for each cause on the way. */
static void rules_of_silence(void **state)
{
	static const uint16_t kinds[] = {MR_PUNT_TTL, MR_PUNT_NO_ROUTE, MR_PUNT_UNREACHABLE,
					 MR_PUNT_TOO_BIG};
	static const struct {
		const char *what;
		uint32_t from, to;
		const char *frame_to;
		uint16_t offset;
		int icmp_type; /* -1: UDP, -2: ICMP without a byte of it */
		bool allowed;
	} row[] = {
		{"plain", HOST2, FAR, NULL, 0, -1, true},
		{"first fragment", HOST2, FAR, NULL, 0x2000, -1, true},
		{"second fragment", HOST2, FAR, NULL, 0x2001, -1, false},
		{"last fragment", HOST2, FAR, NULL, 0x0001, -1, false},
		{"furthest fragment", HOST2, FAR, NULL, 0x1fff, -1, false},
		{"broadcast frame", HOST2, FAR, "\xff\xff\xff\xff\xff\xff", 0, -1, false},
		{"multicast frame", HOST2, FAR, "\x01\0\x5e\0\0\5", 0, -1, false},
		{"source 0.0.0.0", 0, FAR, NULL, 0, -1, false},
		{"source 0.1.2.3", RIG_IP(0, 1, 2, 3), FAR, NULL, 0, -1, false},
		{"source 127.0.0.1", RIG_IP(127, 0, 0, 1), FAR, NULL, 0, -1, false},
		{"source 224.0.0.1", RIG_IP(224, 0, 0, 1), FAR, NULL, 0, -1, false},
		{"source 239.9.9.9", RIG_IP(239, 9, 9, 9), FAR, NULL, 0, -1, false},
		{"source 240.0.0.1", RIG_IP(240, 0, 0, 1), FAR, NULL, 0, -1, false},
		{"source all ones", RIG_IP(255, 255, 255, 255), FAR, NULL, 0, -1, false},
		{"source broadcast", RIG_IP(10, 0, 0, 255), FAR, NULL, 0, -1, false},
		{"source other broadcast", RIG_IP(10, 0, 1, 255), FAR, NULL, 0, -1, false},
		{"source network", RIG_IP(10, 0, 0, 0), FAR, NULL, 0, -1, false},
		{"source is ours", OWN, FAR, NULL, 0, -1, false},
		{"to 224.0.0.9", HOST2, RIG_IP(224, 0, 0, 9), NULL, 0, -1, false},
		{"to all ones", HOST2, RIG_IP(255, 255, 255, 255), NULL, 0, -1, false},
		{"to a broadcast", HOST2, RIG_IP(10, 0, 1, 255), NULL, 0, -1, false},
		{"about echo reply", HOST2, FAR, NULL, 0, 0, true},
		{"about unreachable", HOST2, FAR, NULL, 0, 3, false},
		{"about source quench", HOST2, FAR, NULL, 0, 4, false},
		{"about redirect", HOST2, FAR, NULL, 0, 5, false},
		{"about echo request", HOST2, FAR, NULL, 0, 8, true},
		{"about time exceeded", HOST2, FAR, NULL, 0, 11, false},
		{"about parameter problem", HOST2, FAR, NULL, 0, 12, false},
		{"about timestamp", HOST2, FAR, NULL, 0, 13, true},
		{"about an unknown type", HOST2, FAR, NULL, 0, 200, false},
		{"about unseen ICMP", HOST2, FAR, NULL, 0, -2, false},
	};

	(void)state;
	for (unsigned k = 0; k < RTE_DIM(kinds); k++)
		for (unsigned i = 0; i < RTE_DIM(row); i++) {
			struct rig_packet packet = udp(row[i].from, row[i].to, 1000);
			uint64_t forbidden = rig.mr.host->stats.errors_forbidden;

			if (row[i].icmp_type != -1) {
				packet.protocol = IPPROTO_ICMP;
				packet.size = row[i].icmp_type < 0
						      ? 0
						      : (uint16_t)rig_make_icmp(
								message, (uint8_t)row[i].icmp_type,
								0, 40);
			}
			packet.ttl = kinds[k] == MR_PUNT_TOO_BIG ? 9 : 1;
			packet.offset = row[i].offset;
			if (kinds[k] == MR_PUNT_TOO_BIG)
				packet.offset |= RTE_IPV4_HDR_DF_FLAG;
			packet.frame_to = (const uint8_t *)row[i].frame_to;
			input(&packet, kinds[k]);
			if (rig.sent_count != row[i].allowed)
				fail_msg("%s, kind %u: %u sent", row[i].what, kinds[k],
					 rig.sent_count);
			assert_int_equal(rig.mr.host->stats.errors_forbidden,
					 forbidden + !row[i].allowed);
			rig_forget();
			rig_advance(100);
		}
}

static unsigned send_burst(uint16_t iface, unsigned count)
{
	struct rig_packet packet = udp(HOST2, FAR, 30);
	unsigned before = rig.sent_count;

	for (unsigned i = 0; i < count; i++)
		rig_input(frame, rig_make(frame, &packet), iface, MR_PUNT_TTL, 0);
	return rig.sent_count - before;
}

static void errors_are_rate_limited(void **state)
{
	(void)state;
	assert_int_equal(send_burst(0, 300), 100);
	assert_int_equal(rig.mr.host->stats.errors_rate_limited, 200);
	assert_int_equal(rig.mr.host->stats.time_exceeded_sent, 100);
	assert_int_equal(send_burst(1, 300), 100); /* the others are not affected */
	rig_advance(4);
	assert_int_equal(send_burst(0, 300), 0);
	rig_advance(1);
	assert_int_equal(send_burst(0, 300), 1);
	rig_advance(100);
	assert_int_equal(send_burst(0, 300), 20);
	rig_advance(3600 * 1000);
	assert_int_equal(send_burst(0, 300), 100);
	assert_int_equal(rig_drops(MR_DROP_ttl_exceeded), 1800);
}

static void all_interfaces_together_are_limited(void **state)
{
	struct mr_token_bucket bucket = {0};
	const struct mr_token_rate rate = {.per_second = 1000, .burst = 2};
	uint64_t now = UINT64_C(1) << 60;

	(void)state;
	assert_true(mr_token_take(&bucket, &rate, now));
	assert_true(mr_token_take(&bucket, &rate, now));
	assert_false(mr_token_take(&bucket, &rate, now));
	assert_true(mr_token_take(&bucket, &rate, now + 1));
	assert_false(mr_token_take(&bucket, &rate, now + 1));

	for (unsigned i = 3; i < 10; i++) {
		struct mr_iface iface = *mr_iface(&rig.mr, 0);

		iface.index = (uint16_t)i;
		assert_int_equal(mr_iface_publish(&rig.mr, &iface), 0);
	}
	for (uint16_t i = 0; i < 10; i++)
		send_burst(i, 100);
	assert_int_equal(rig.sent_count, 500);
}

/* --- held packets --- */

static void unresolved_packets_go_to_the_neighbours(void **state)
{
	struct rig_packet packet = udp(HOST2, RIG_IP(10, 0, 1, 77), 30);

	(void)state;
	packet.ttl = 2;
	rig_input(frame, rig_make(frame, &packet), 0, MR_PUNT_RESOLVE, 4);
	assert_int_equal(rig.held_count, 1);
	assert_int_equal(mr_punt_of(rig.held[0])->kind, MR_PUNT_RESOLVE);
	assert_int_equal(mr_punt_of(rig.held[0])->next_hop, 4);
	assert_memory_equal(rte_pktmbuf_mtod(rig.held[0], void *), frame, 64);
}

static void neighbour_that_does_not_answer(void **state)
{
	struct rig_packet packet = udp(HOST2, RIG_IP(10, 0, 1, 77), 30);
	struct rig_packet request = echo(9);

	(void)state;
	rig_input(frame, rig_make(frame, &packet), 0, MR_PUNT_RESOLVE, 4);
	rig.held_count--;
	rig.unreachable(&rig.mr, 0, rig.held[0]);
	assert_int_equal(rig.sent_count, 1);
	expect_error(0, 3, 1, 50);

	request.from = RIG_IP(10, 0, 0, 77);
	input(&request, MR_PUNT_LOCAL);
	rig.held_count--;
	rig.unreachable(&rig.mr, MR_IFACE_NONE, rig.held[0]); /* our own: nobody is told */
	assert_int_equal(rig.sent_count, 1);
	assert_int_equal(rig_drops(MR_DROP_neighbour_unreachable), 2);
}

/* --- forwarding what is too big --- */

static void df_gets_the_mtu(void **state)
{
	struct rig_packet packet = udp(HOST2, FAR, 1400);
	const uint8_t *icmp;
	unsigned size;

	(void)state;
	rig_set_mtu(1, 1300);
	packet.ttl = 2;
	packet.offset = RTE_IPV4_HDR_DF_FLAG;
	input(&packet, MR_PUNT_TOO_BIG);
	assert_int_equal(rig.sent_count, 1);
	icmp = icmp_of(rig_sent_ip(0), &size);
	assert_int_equal(icmp[0], 3);
	assert_int_equal(icmp[1], 4);
	assert_int_equal(icmp[4] << 8 | icmp[5], 0);
	assert_int_equal(icmp[6] << 8 | icmp[7], 1300);
	assert_memory_equal(icmp + 8, frame + 14, 548); /* as it came, TTL 2 */
	assert_int_equal(rig_drops(MR_DROP_fragmentation_needed), 1);
	packet.ttl = 1;
	input(&packet, MR_PUNT_TOO_BIG);
	expect_error(1, 11, 0, 548);
	assert_int_equal(rig_drops(MR_DROP_ttl_exceeded), 1);
}

static void packets_are_fragmented_at_any_mtu(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 400; i++) {
		uint16_t mtu = (uint16_t)(i == 0 ? 68 : 68 + i * 7 % 1433);
		uint16_t size = (uint16_t)(mtu - 20 + 1 + i * 131 % 400);
		uint16_t offset = i % 3 == 0 ? 0x2000 | 100 : i % 3 == 1 ? 100 : 0;
		struct rig_packet packet = udp(HOST2, FAR, RTE_MIN(size, 1480));
		unsigned at = 0, count;

		packet.ttl = 2;
		packet.offset = offset;
		rig_set_mtu(1, mtu);
		input(&packet, MR_PUNT_TOO_BIG);
		count = rig.sent_count;
		assert_true(count >= 2);
		for (unsigned n = 0; n < count; n++) {
			const struct rte_ipv4_hdr *ip = rig_sent_ip(n);
			unsigned part = rte_be_to_cpu_16(ip->total_length) - 20u;
			bool more = n + 1 < count || offset & 0x2000;

			assert_true(part + 20 <= mtu);
			assert_true(n + 1 == count || part % 8 == 0);
			assert_true(n + 1 == count || part + 20 + 8 > mtu);
			assert_int_equal(ip->time_to_live, 1);
			assert_int_equal(rte_be_to_cpu_16(ip->packet_id), 78);
			assert_int_equal(rte_be_to_cpu_32(ip->src_addr), HOST2);
			assert_int_equal(rte_be_to_cpu_16(ip->fragment_offset),
					 ((offset & 0x1fff) + at / 8) | (more ? 0x2000 : 0));
			assert_memory_equal(ip + 1, message + at, part);
			assert_int_equal(rig_sent_iface(n), 1);
			at += part;
		}
		assert_int_equal(at, packet.size);
		rig_forget();
	}
	rig_check();
	assert_int_equal(rig.mr.lcores->control->originated, 0);
}

static void options_with_the_copied_flag_go_into_all(void **state)
{
	/* no operation, timestamp (not copied), router alert (copied), end */
	static const uint8_t options[16] = {1, 0x44, 8, 5, 0, 0, 0, 0, 0, 0x94, 4, 0, 0, 0, 0, 0};
	struct rig_packet packet = udp(HOST2, FAR, 200);

	(void)state;
	packet.ttl = 2;
	packet.options_size = sizeof(options);
	memcpy(packet.options, options, sizeof(options));
	rig_set_mtu(1, 100);
	input(&packet, MR_PUNT_TOO_BIG);
	assert_int_equal(rig.sent_count, 3); /* 64, 72, 64 bytes */
	assert_int_equal(rig_sent_ip(0)->version_ihl, 0x49);
	assert_memory_equal(rig_sent_ip(0) + 1, options, sizeof(options));
	for (unsigned i = 1; i < rig.sent_count; i++) {
		assert_int_equal(rig_sent_ip(i)->version_ihl, 0x46);
		assert_memory_equal(rig_sent_ip(i) + 1, options + 9, 4);
	}
}

static void malformed_options_do_no_harm(void **state)
{
	(void)state;
	rig_set_mtu(1, 100);
	for (unsigned length = 0; length < 256; length++)
		for (unsigned at = 0; at < 8; at++) {
			struct rig_packet packet = udp(HOST2, FAR, 200);

			packet.ttl = 2;
			packet.options_size = 8;
			memset(packet.options, 1, 8);
			packet.options[at] = 0x94;
			packet.options[(at + 1) % 8] = (uint8_t)length;
			input(&packet, MR_PUNT_TOO_BIG);
			for (unsigned n = 0; n < rig.sent_count; n++)
				rig_sent_ip(n);
			rig_forget();
		}
}

static void fragments_wait_for_a_neighbour(void **state)
{
	struct rig_packet packet = udp(HOST2, RIG_IP(198, 51, 100, 1), 1000);

	(void)state;
	packet.ttl = 9;
	rig_set_mtu(1, 600);
	rig_input(frame, rig_make(frame, &packet), 0, MR_PUNT_TOO_BIG, 10);
	assert_int_equal(rig.held_count, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(mr_punt_of(rig.held[i])->kind, MR_PUNT_ORIGINATED);
		assert_int_equal(rte_pktmbuf_mtod(rig.held[i], uint8_t *)[14 + 8], 8);
	}
}

static void no_way_for_what_is_too_big(void **state)
{
	struct rig_packet packet = udp(HOST2, FAR, 1000);

	(void)state;
	packet.ttl = 9;
	rig_input(frame, rig_make(frame, &packet), 0, MR_PUNT_TOO_BIG, 0);
	assert_int_equal(rig_drops(MR_DROP_no_route), 1);
	assert_int_equal(rig.sent_count, 0);
}

static void no_buffers_for_all_fragments(void **state)
{
	static struct rte_mbuf *all[8192];
	struct rig_packet packet = udp(HOST2, FAR, 1400), request;
	unsigned n = 0;

	(void)state;
	rig_set_mtu(1, 576);
	packet.ttl = 9;
	while (n < RTE_DIM(all) && (all[n] = rte_pktmbuf_alloc(rig.pool)) != NULL)
		n++;
	rte_pktmbuf_free_bulk(all, 3); /* one for the packet, two for its three fragments */
	input(&packet, MR_PUNT_TOO_BIG);
	assert_int_equal(rig_drops(MR_DROP_fragmentation_failed), 1);
	assert_int_equal(rig.mr.lcores->control->drop[1][MR_DROP_fragmentation_failed], 1);
	request = echo(1400);
	request.from = FAR;
	input(&request, MR_PUNT_LOCAL);
	assert_int_equal(rig_drops(MR_DROP_no_mbuf), 1);
	assert_int_equal(rig.sent_count, 0);
	rte_pktmbuf_free_bulk(all + 3, n - 3);
}

static void stats_are_told(void **state)
{
	struct rig_packet request = echo(9);
	struct mr_reply reply = {0};
	const char *key;
	json_t *value;

	(void)state;
	input(&request, MR_PUNT_LOCAL);
	assert_string_equal(mr_host_queries[0].path, "/millrace/host/stats");
	assert_int_equal(mr_host_queries[0].run(&rig.mr, "", &reply), 0);
	assert_int_equal(json_integer_value(json_object_get(reply.data, "echo_replies_sent")), 1);
	assert_int_equal(json_integer_value(json_object_get(reply.data, "fragments_held")), 0);
	json_object_foreach (reply.data, key, value)
		assert_null(strpbrk(key, "-.:"));
	json_decref(reply.data);
	assert_null(mr_host_queries[1].path);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		CASE(echo_is_answered_at_any_size),
		CASE(trailing_padding_is_no_part_of_the_packet),
		CASE(echo_to_another_interfaces_address),
		CASE(answer_goes_by_route_not_back_to_the_frame),
		CASE(answer_waits_for_a_neighbour),
		CASE(precedence_is_kept_and_ecn_is_not),
		CASE(options_are_not_echoed),
		CASE(answers_larger_than_the_mtu_are_fragmented),
		CASE(malformed_icmp_is_dropped),
		CASE(other_icmp_is_not_answered),
		CASE(echo_that_is_not_answered),
		CASE(what_lcores_should_have_dropped),
		CASE(each_cause_has_its_error),
		CASE(error_quotes_what_fits_in_576_bytes),
		CASE(error_comes_from_the_interface_it_leaves_by),
		CASE(rules_of_silence),
		CASE(errors_are_rate_limited),
		CASE(all_interfaces_together_are_limited),
		CASE(unresolved_packets_go_to_the_neighbours),
		CASE(neighbour_that_does_not_answer),
		CASE(df_gets_the_mtu),
		CASE(packets_are_fragmented_at_any_mtu),
		CASE(options_with_the_copied_flag_go_into_all),
		CASE(malformed_options_do_no_harm),
		CASE(fragments_wait_for_a_neighbour),
		CASE(no_way_for_what_is_too_big),
		CASE(no_buffers_for_all_fragments),
		CASE(stats_are_told),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
