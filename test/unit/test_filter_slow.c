/* SPDX-License-Identifier: BSD-3-Clause */
/* What senders of rejected packets are told, and the log. The packets are given as lcores punt
 * them. */
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "filter/filter.h"
#include "filter/log_fwd.h"
#include "filter/slow.h"
#include "lcore/lcores.h"
#include "packet/punt.h"
#include "port/port.h"
#include "test_eal.h"

/* A frame of Ethernet, with a tag or not, IPv4 or IPv6, and what comes behind. */
struct built {
	unsigned length, link;
	uint8_t bytes[512];
};

static void put(struct built *b, const void *bytes, unsigned length)
{
	memcpy(b->bytes + b->length, bytes, length);
	b->length += length;
}

#define PUT(b, ...) put(b, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static struct built build(bool tagged, bool ipv6, uint8_t protocol, const void *payload,
			  unsigned size)
{
	struct built b = {0};

	PUT(&b, 2, 0, 0, 0, 1, 2, 2, 0, 0, 0, 1, 1);
	if (tagged)
		PUT(&b, 0x81, 0, 0x20, 10);
	if (ipv6) {
		PUT(&b, 0x86, 0xdd, 0x60, 0, 0, 0, 0, (uint8_t)size, protocol, 64);
		PUT(&b, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
		PUT(&b, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2);
		b.link = b.length - 40;
	} else {
		PUT(&b, 8, 0, 0x45, 0, 0, (uint8_t)(20 + size), 0, 7, 0x40, 0, 64, protocol, 0, 0);
		PUT(&b, 10, 0, 0, 9, 10, 0, 1, 9);
		b.link = b.length - 20;
		uint16_t sum = reference_checksum(b.bytes + b.link, 20);
		b.bytes[b.link + 10] = (uint8_t)(sum >> 8);
		b.bytes[b.link + 11] = (uint8_t)sum;
	}
	put(&b, payload, size);
	return b;
}

static const uint8_t syn[28] = {0x12, 0x34, 0, 22,          0,
				0,    0,    5, [12] = 0x50, [13] = RTE_TCP_SYN_FLAG};
static const uint8_t udp[12] = {0x12, 0x34, 0, 53, 0, 12, 0, 0, 1, 2, 3, 4};

static void punt(struct harness *h, const struct built *b, uint16_t port, uint16_t kind,
		 uint32_t word)
{
	struct mr *mr = h->rig.mr;
	struct rte_mbuf *packet = rte_pktmbuf_alloc(mr_ports_host_pool(mr));

	memcpy(rte_pktmbuf_append(packet, (uint16_t)b->length), b->bytes, b->length);
	packet->port = port;
	*mr_punt_of(packet) = (struct mr_punt){.iface = port, .kind = kind, .next_hop = word};
	mr_count(&mr->lcores->control->originated, 1); /* it came from nowhere */
	mr_filter_punted(mr, packet);
	harness_run(h);
}

/* Rejects a packet that came on a port; false if there was no answer. */
static bool answered(struct harness *h, const struct built *b, unsigned port, struct frame *answer)
{
	punt(h, b, (uint16_t)port, MR_PUNT_REJECT, 0);
	harness_dropped(h, MR_DROP_filter_rejected, 1);
	return harness_take(h, port, answer);
}

/* The sum over an IPv4 or IPv6 packet's pseudo header and payload, which is 0 if all is well. */
static uint16_t transport_sum(const uint8_t *ip)
{
	bool ipv6 = ip[0] >> 4 == 6;
	unsigned header = ipv6 ? 40 : 20, addresses = ipv6 ? 32 : 8;
	unsigned size = ipv6 ? ip[4] * 256u + ip[5] : ip[2] * 256u + ip[3] - 20;
	uint8_t all[1600] = {0};

	memcpy(all, ip + (ipv6 ? 8 : 12), addresses);
	all[addresses] = (uint8_t)(size >> 8);
	all[addresses + 1] = (uint8_t)size;
	all[addresses + 3] = ip[ipv6 ? 6 : 9];
	memcpy(all + addresses + 4, ip + header, size);
	return reference_checksum(all, addresses + 4 + size);
}

static void on_a_bridge(struct harness *h)
{
	harness_begin(h);
	harness_command(h, "bridge add br0");
	harness_command(h, "bridge member add br0 port 0");
	harness_command(h, "bridge member add br0 port 1");
}

static void bridge_end(struct harness *h)
{
	harness_command(h, "bridge del br0");
	harness_end(h);
}

static void tcp_on_a_bridge_is_reset(void **state)
{
	struct harness *h = harness();
	struct frame answer;

	(void)state;
	on_a_bridge(h);
	for (unsigned i = 0; i < 4; i++) {
		bool tagged = i & 1, ipv6 = i & 2;
		struct built b = build(tagged, ipv6, 6, syn, sizeof(syn));
		uint8_t *ip = answer.bytes + b.link;

		assert_true(answered(h, &b, 0, &answer));
		assert_memory_equal(answer.bytes, b.bytes + 6, 6);
		assert_memory_equal(answer.bytes + 6, b.bytes, 6);
		assert_memory_equal(answer.bytes + 12, b.bytes + 12, b.link - 12);
		struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)(ip + (ipv6 ? 40 : 20));
		assert_memory_equal(ip + (ipv6 ? 8 : 12), b.bytes + b.link + (ipv6 ? 24 : 16),
				    ipv6 ? 16 : 4);
		assert_memory_equal(ip + (ipv6 ? 24 : 16), b.bytes + b.link + (ipv6 ? 8 : 12),
				    ipv6 ? 16 : 4);
		assert_int_equal(tcp->src_port, RTE_BE16(22));
		assert_int_equal(tcp->dst_port, RTE_BE16(0x1234));
		assert_int_equal(tcp->tcp_flags, RTE_TCP_RST_FLAG | RTE_TCP_ACK_FLAG);
		assert_int_equal(tcp->sent_seq, 0);
		/* The segment: 8 bytes of data and the SYN. */
		assert_int_equal(tcp->recv_ack, RTE_BE32(5 + 8 + 1));
		assert_int_equal(transport_sum(ip), 0);
		if (!ipv6)
			assert_int_equal(reference_checksum(ip, 20), 0);
		harness_expect_nothing(h);
	}
	bridge_end(h);
}

static void a_segment_with_ack_is_reset_by_its_own_number(void **state)
{
	struct harness *h = harness();
	uint8_t tcp[20] = {0x12, 0x34, 0, 22, 0, 0,    0,
			   5,    1,    2, 3,  4, 0x50, RTE_TCP_ACK_FLAG | RTE_TCP_FIN_FLAG};
	struct built b = build(false, false, 6, tcp, sizeof(tcp));
	struct frame answer;

	(void)state;
	on_a_bridge(h);
	assert_true(answered(h, &b, 1, &answer));
	struct rte_tcp_hdr *reset = (struct rte_tcp_hdr *)(answer.bytes + 34);
	assert_int_equal(reset->tcp_flags, RTE_TCP_RST_FLAG);
	assert_int_equal(reset->sent_seq, RTE_BE32(0x01020304));
	assert_int_equal(reset->recv_ack, 0);
	assert_int_equal(answer.length, 60);
	bridge_end(h);
}

static void others_on_a_bridge_get_icmp(void **state)
{
	struct harness *h = harness();
	struct frame answer;

	(void)state;
	on_a_bridge(h);
	for (unsigned i = 0; i < 2; i++) {
		bool ipv6 = i & 1;
		struct built b = build(true, ipv6, 17, udp, sizeof(udp));
		unsigned header = ipv6 ? 40 : 20, size = header + sizeof(udp);

		assert_true(answered(h, &b, 0, &answer));
		const uint8_t *icmp = answer.bytes + b.link + header;
		assert_int_equal(icmp[0], ipv6 ? 1 : 3);
		assert_int_equal(icmp[1], ipv6 ? 1 : 13);
		assert_memory_equal(icmp + 8, b.bytes + b.link, size);
		if (ipv6)
			assert_int_equal(transport_sum(answer.bytes + b.link), 0);
		else
			assert_int_equal(reference_checksum(icmp, 8 + size), 0);
	}
	bridge_end(h);
}

static void nobody_is_told_where_that_does_harm(void **state)
{
	static const uint8_t error[8] = {3, 1}, error6[8] = {1, 0}, echo[8] = {8};
	uint8_t reset[20];
	struct harness *h = harness();
	struct frame answer;
	struct built b;

	(void)state;
	on_a_bridge(h);
	memcpy(reset, syn, sizeof(reset));
	reset[13] = RTE_TCP_RST_FLAG;
	b = build(false, false, 6, reset, sizeof(reset));
	assert_false(answered(h, &b, 0, &answer));
	b = build(false, false, 1, error, sizeof(error));
	assert_false(answered(h, &b, 0, &answer));
	b = build(false, true, 58, error6, sizeof(error6));
	assert_false(answered(h, &b, 0, &answer));
	b = build(false, false, 1, echo, sizeof(echo));
	assert_true(answered(h, &b, 0, &answer));
	/* A group address in the frame, as destination and as source; fragments. */
	b = build(false, false, 17, udp, sizeof(udp));
	b.bytes[0] = 1;
	assert_false(answered(h, &b, 0, &answer));
	b = build(false, false, 17, udp, sizeof(udp));
	b.bytes[30] = 224;
	assert_false(answered(h, &b, 0, &answer));
	b = build(false, true, 17, udp, sizeof(udp));
	memset(b.bytes + 22, 0, 16);
	assert_false(answered(h, &b, 0, &answer));
	b = build(false, false, 17, udp, sizeof(udp));
	b.bytes[20] = 0x20;
	assert_false(answered(h, &b, 0, &answer));
	b = build(false, false, 17, udp, sizeof(udp));
	b.bytes[21] = 1;
	assert_false(answered(h, &b, 0, &answer));
	/* No IP at all, and a header that cannot be. */
	b = build(false, false, 17, udp, sizeof(udp));
	b.bytes[13] = 6;
	assert_false(answered(h, &b, 0, &answer));
	b = build(false, false, 17, udp, sizeof(udp));
	b.bytes[14] = 0x4f;
	assert_false(answered(h, &b, 0, &answer));
	bridge_end(h);
}

static void answers_keep_a_rate(void **state)
{
	struct harness *h = harness();
	struct built b = build(false, false, 17, udp, sizeof(udp));
	struct frame answer;
	unsigned count = 0;

	(void)state;
	on_a_bridge(h);
	harness_advance(h, 5000);
	for (unsigned i = 0; i < 300; i++)
		count += answered(h, &b, 0, &answer);
	assert_int_equal(count, 100);
	/* Another port's senders are told all the same. */
	assert_true(answered(h, &b, 1, &answer));
	harness_advance(h, 1000);
	assert_true(answered(h, &b, 0, &answer));
	bridge_end(h);
}

static void a_router_answers_from_itself(void **state)
{
	struct harness *h = harness();
	struct built b = build(false, false, 17, udp, sizeof(udp));
	struct frame answer;

	(void)state;
	harness_begin(h);
	harness_command(h, "address add 10.0.0.1/24 port 0");
	harness_command(h, "neighbour add 10.0.0.9 mac 02:00:00:00:01:01 port 0");
	harness_run(h);
	while (harness_take(h, 0, &answer)) /* gratuitous ARP */
		;
	harness_advance(h, 5000);
	while (harness_take(h, 0, &answer))
		;
	assert_true(answered(h, &b, 0, &answer));
	assert_memory_equal(answer.bytes, b.bytes + 6, 6);
	assert_memory_equal(answer.bytes + 26, ((uint8_t[4]){10, 0, 0, 1}), 4);
	assert_int_equal(answer.bytes[34], 3);
	assert_int_equal(answer.bytes[35], 13);

	b = build(false, false, 6, syn, sizeof(syn));
	assert_true(answered(h, &b, 0, &answer));
	assert_memory_equal(answer.bytes, b.bytes + 6, 6);
	assert_memory_equal(answer.bytes + 26, ((uint8_t[4]){10, 0, 1, 9}), 4);
	assert_memory_equal(answer.bytes + 30, ((uint8_t[4]){10, 0, 0, 9}), 4);
	assert_int_equal(answer.bytes[23], 6);
	assert_int_equal(transport_sum(answer.bytes + 14), 0);
	assert_int_equal(reference_checksum(answer.bytes + 14, 20), 0);

	/* From an address of the appliance's own: to nobody. */
	b.bytes[29] = 1;
	assert_false(answered(h, &b, 0, &answer));
	harness_command(h, "neighbour del 10.0.0.9");
	harness_command(h, "address del 10.0.0.1/24 port 0");
	harness_end(h);
}

static void logged_packets_are_consumed_at_a_rate(void **state)
{
	struct harness *h = harness();
	const struct mr_filter_slow *slow = h->rig.mr->filter->slow;
	struct built b = build(true, true, 6, syn, sizeof(syn));

	(void)state;
	harness_begin(h);
	harness_advance(h, 10000);
	for (unsigned i = 0; i < 60; i++)
		punt(h, &b, 0, MR_PUNT_LOG,
		     mr_filter_log_word(99999999, MR_FILTER_CHECK_STATE, true));
	harness_consumed(h, 60);
	assert_int_equal(slow->logged, 50);
	assert_int_equal(slow->log_suppressed, 10);
	harness_end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tcp_on_a_bridge_is_reset),
		cmocka_unit_test(a_segment_with_ack_is_reset_by_its_own_number),
		cmocka_unit_test(others_on_a_bridge_get_icmp),
		cmocka_unit_test(nobody_is_told_where_that_does_harm),
		cmocka_unit_test(answers_keep_a_rate),
		cmocka_unit_test(a_router_answers_from_itself),
		cmocka_unit_test(logged_packets_are_consumed_at_a_rate),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
