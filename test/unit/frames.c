/* SPDX-License-Identifier: BSD-3-Clause */
#include "frames.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>

static void put_mac(uint8_t *at, const char *text)
{
	unsigned b[6];

	assert(sscanf(text, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) == 6);
	for (unsigned i = 0; i < 6; i++)
		at[i] = (uint8_t)b[i];
}

static void put16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put_addr(uint8_t *at, const char *text)
{
	int rc = inet_pton(AF_INET, text, at);

	assert(rc == 1);
	(void)rc;
}

uint16_t reference_checksum(const uint8_t *data, unsigned length)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < length; i++)
		sum += i % 2 == 0 ? (uint32_t)data[i] << 8 : data[i];
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

void frame_fix_ipv4(struct frame *frame)
{
	uint8_t *ip = frame->bytes + 14;

	put16(ip + 10, 0);
	put16(ip + 10, reference_checksum(ip, 4u * (ip[0] & 15)));
}

void frame_fix_icmp(struct frame *frame)
{
	uint8_t *ip = frame->bytes + 14, *icmp = ip + 4 * (ip[0] & 15);
	unsigned length = (unsigned)(ip[2] << 8 | ip[3]) - 4u * (ip[0] & 15);

	put16(icmp + 2, 0);
	put16(icmp + 2, reference_checksum(icmp, length));
}

struct frame frame_raw(const char *to, const char *from, uint16_t type, unsigned length)
{
	struct frame frame = {.length = length};

	put_mac(frame.bytes, to);
	put_mac(frame.bytes + 6, from);
	put16(frame.bytes + 12, type);
	for (unsigned i = 14; i < length; i++)
		frame.bytes[i] = (uint8_t)i;
	return frame;
}

struct frame frame_ipv4(const struct ipv4 *p)
{
	unsigned header = 20 + p->options_length;
	unsigned payload = p->payload ? p->payload : 26;
	unsigned total = header + payload;
	struct frame frame = frame_raw(p->to, p->from, 0x0800, 14 + total + p->pad);
	uint8_t *ip = frame.bytes + 14, *data = ip + header;
	int protocol = p->protocol ? p->protocol : 17;

	ip[0] = (uint8_t)(0x40 | header / 4);
	ip[1] = (uint8_t)p->tos;
	put16(ip + 2, total);
	put16(ip + 4, p->id);
	put16(ip + 6, p->fragment);
	ip[8] = (uint8_t)(p->ttl == TTL_ZERO ? 0 : p->ttl ? p->ttl : 64);
	ip[9] = (uint8_t)protocol;
	put_addr(ip + 12, p->src);
	put_addr(ip + 16, p->dst);
	if (p->options_length != 0)
		memcpy(ip + 20, p->options, p->options_length);
	for (unsigned i = 0; i < payload; i++)
		data[i] = (uint8_t)(i + p->seed);
	if ((protocol == 17 || protocol == 6) && payload >= 8 && (p->fragment & 0x1fff) == 0) {
		put16(data, p->sport ? p->sport : 1000);
		put16(data + 2, p->dport ? p->dport : 2000);
		put16(data + 4, payload);
		put16(data + 6, 0);
	}
	memset(ip + total, 0xaa, p->pad);
	frame_fix_ipv4(&frame);
	return frame;
}

struct frame frame_tagged(const struct frame *frame, uint16_t tpid, uint16_t tci)
{
	struct frame tagged = {.length = frame->length + 4};

	memcpy(tagged.bytes, frame->bytes, 12);
	put16(tagged.bytes + 12, tpid);
	put16(tagged.bytes + 14, tci);
	memcpy(tagged.bytes + 16, frame->bytes + 12, frame->length - 12);
	return tagged;
}

struct frame frame_arp(const char *to, const char *from, unsigned operation, const char *sender_mac,
		       const char *sender, const char *target_mac, const char *target)
{
	struct frame frame = frame_raw(to, from, 0x0806, 60);
	uint8_t *arp = frame.bytes + 14;

	memset(arp, 0, 46);
	put16(arp, 1);
	put16(arp + 2, 0x0800);
	arp[4] = 6;
	arp[5] = 4;
	put16(arp + 6, operation);
	put_mac(arp + 8, sender_mac);
	put_addr(arp + 14, sender);
	put_mac(arp + 18, target_mac);
	put_addr(arp + 24, target);
	return frame;
}

struct frame frame_routed(const struct frame *frame, const char *to, const char *from)
{
	struct frame routed = *frame;
	unsigned end = 14 + (unsigned)(frame->bytes[16] << 8 | frame->bytes[17]);

	put_mac(routed.bytes, to);
	put_mac(routed.bytes + 6, from);
	routed.bytes[22]--;
	frame_fix_ipv4(&routed);
	memset(routed.bytes + end, 0, sizeof(routed.bytes) - end);
	if (routed.length > end)
		routed.length = end >= 60 ? end : routed.length < 60 ? routed.length : 60;
	return routed;
}

struct frame frame_echo(const struct ipv4 *p, unsigned id, unsigned sequence, unsigned payload)
{
	struct ipv4 echo = *p;

	echo.protocol = 1;
	echo.payload = 8 + payload;
	struct frame frame = frame_ipv4(&echo);
	uint8_t *icmp = frame.bytes + 14 + 20 + p->options_length;

	put16(icmp, 0x0800);
	put16(icmp + 4, id);
	put16(icmp + 6, sequence);
	frame_fix_icmp(&frame);
	return frame;
}
