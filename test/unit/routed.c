/* SPDX-License-Identifier: BSD-3-Clause */
#include "routed.h"

#include <string.h>

#define ETHERNET 14
#define IP 20
#define ICMP 8
#define MIN_FRAME 60
#define ANNOUNCE_MS 2100 /* the second announcement is two seconds behind the first */

static void put16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

unsigned routed_announcements(struct harness *h, unsigned port)
{
	struct frame frame;
	unsigned count = 0;

	while (harness_take(h, port, &frame)) {
		assert_int_equal(frame.length, MIN_FRAME);
		assert_int_equal(frame.bytes[12] << 8 | frame.bytes[13], 0x0806);
		assert_int_equal(frame.bytes[21], 1);
		assert_memory_equal(frame.bytes + 28, frame.bytes + 38, 4);
		count++;
	}
	return count;
}

static void add_address(struct harness *h, unsigned port)
{
	harness_command(h, "address add 10.0.%u.1/24 port %u", port, port);
}

static void add_neighbours(struct harness *h, unsigned port)
{
	harness_command(h, "neighbour add 10.0.%u.9 mac 02:bb:00:00:0%u:09 port %u", port, port,
			port);
	harness_command(h, "neighbour add 10.0.%u.2 mac 02:bb:00:00:0%u:02 port %u", port, port,
			port);
}

void routed_port_again(struct harness *h, unsigned port)
{
	add_address(h, port);
	add_neighbours(h, port);
}

struct harness *routed_addresses(void)
{
	struct harness *h = harness();

	harness_begin(h);
	for (unsigned port = 0; port < HARNESS_PORTS; port++)
		add_address(h, port);
	harness_advance(h, ANNOUNCE_MS);
	for (unsigned port = 0; port < HARNESS_PORTS; port++)
		routed_announcements(h, port);
	return h;
}

struct harness *routed(void)
{
	struct harness *h = routed_addresses();

	for (unsigned port = 0; port < HARNESS_PORTS; port++)
		add_neighbours(h, port);
	return h;
}

void routed_addresses_end(struct harness *h)
{
	for (unsigned port = 0; port < HARNESS_PORTS; port++)
		harness_command(h, "address del 10.0.%u.1/24 port %u", port, port);
	harness_end(h);
}

void routed_end(struct harness *h)
{
	for (unsigned port = 0; port < HARNESS_PORTS; port++) {
		harness_command(h, "neighbour del 10.0.%u.9 port %u", port, port);
		harness_command(h, "neighbour del 10.0.%u.2 port %u", port, port);
	}
	routed_addresses_end(h);
}

void routed_send(struct harness *h, unsigned port, const struct frame *frame)
{
	harness_send(h, port, frame);
	harness_run(h);
}

void routed_drops(struct harness *h, const struct frame *frame, enum mr_drop_reason reason)
{
	routed_send(h, 0, frame);
	harness_expect_nothing(h);
	harness_dropped(h, reason, 1);
}

/* A packet of the router's own, of so many bytes of IP, to whoever sent a frame. */
static struct frame answer_to(const struct frame *frame, unsigned total)
{
	struct frame answer = {.length =
				       ETHERNET + total < MIN_FRAME ? MIN_FRAME : ETHERNET + total};
	uint8_t *ip = answer.bytes + ETHERNET;

	memset(answer.bytes, 0, answer.length);
	memcpy(answer.bytes, frame->bytes + 6, 6);
	memcpy(answer.bytes + 6, frame->bytes, 6);
	put16(answer.bytes + 12, 0x0800);
	ip[0] = 0x45;
	put16(ip + 2, total);
	ip[8] = 64;
	ip[9] = 1;
	memcpy(ip + 16, frame->bytes + ETHERNET + 12, 4);
	return answer;
}

void routed_told(struct harness *h, const struct frame *about, unsigned type, unsigned code,
		 unsigned mtu)
{
	static const uint8_t own[4] = {10, 0, 0, 1};
	const uint8_t *original = about->bytes + ETHERNET;
	unsigned total = (unsigned)(original[2] << 8 | original[3]);
	unsigned quoted = total < 576 - IP - ICMP ? total : 576 - IP - ICMP;
	struct frame error = answer_to(about, IP + ICMP + quoted);
	uint8_t *ip = error.bytes + ETHERNET, *icmp = ip + IP;

	ip[1] = 0xc0 | (original[1] & 0x1c);
	memcpy(ip + 12, own, 4);
	icmp[0] = (uint8_t)type;
	icmp[1] = (uint8_t)code;
	put16(icmp + 6, mtu);
	memcpy(icmp + ICMP, original, quoted);
	frame_fix_icmp(&error);
	routed_expect_own(h, 0, &error);
}

void routed_expect_own(struct harness *h, unsigned port, const struct frame *frame)
{
	struct frame got, expected = *frame;

	if (!harness_take(h, port, &got))
		fail_msg("no frame on port %u", port);
	memcpy(expected.bytes + 18, got.bytes + 18, 2);
	frame_fix_ipv4(&expected);
	assert_int_equal(got.length, expected.length);
	assert_memory_equal(got.bytes, expected.bytes, got.length);
}

struct frame routed_echo_reply(const struct frame *request)
{
	const uint8_t *original = request->bytes + ETHERNET;
	unsigned header = 4u * (original[0] & 15);
	unsigned payload = (unsigned)(original[2] << 8 | original[3]) - header;
	struct frame reply = answer_to(request, IP + payload);
	uint8_t *ip = reply.bytes + ETHERNET;

	ip[1] = original[1] & 0xfc;
	memcpy(ip + 12, original + 16, 4);
	memcpy(ip + IP, original + header, payload);
	ip[IP] = 0;
	frame_fix_icmp(&reply);
	frame_fix_ipv4(&reply);
	return reply;
}

unsigned routed_fragments(const struct frame *frame, unsigned mtu, struct frame *fragments,
			  unsigned max)
{
	const uint8_t *ip = frame->bytes + ETHERNET;
	unsigned left = (unsigned)(ip[2] << 8 | ip[3]) - IP, done = 0, count = 0;
	unsigned field = (unsigned)(ip[6] << 8 | ip[7]);

	while (left > 0) {
		unsigned size = left <= mtu - IP ? left : (mtu - IP) / 8 * 8;
		struct frame *f = &fragments[count];

		assert_true(count++ < max);
		memset(f->bytes, 0, MIN_FRAME);
		memcpy(f->bytes, frame->bytes, ETHERNET + IP);
		memcpy(f->bytes + ETHERNET + IP, ip + IP + done, size);
		put16(f->bytes + 16, IP + size);
		put16(f->bytes + 20, (field + done / 8) | (left > size ? 0x2000 : 0));
		f->length = ETHERNET + IP + size < MIN_FRAME ? MIN_FRAME : ETHERNET + IP + size;
		frame_fix_ipv4(f);
		done += size;
		left -= size;
	}
	return count;
}
