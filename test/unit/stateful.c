/* SPDX-License-Identifier: BSD-3-Clause */
#include "stateful.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

enum { IP = 14, TCP_HEADER = 20, ICMP_HEADER = 8 };

static const char *const router[] = {ROUTER(0), ROUTER(1), ROUTER(2), ROUTER(3)};
static const char *const host[] = {HOST(0), HOST(1), HOST(2), HOST(3)};
static const char *const address[] = {"10.0.0.9", "10.0.1.9", "10.0.2.9", "10.0.3.9"};

static void put16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

static unsigned port_of(unsigned side, unsigned port)
{
	return port != 0 ? port : side == 0 ? 1000 : 80;
}

static struct ipv4 between(unsigned from, unsigned to)
{
	return (struct ipv4){
		.to = router[from], .from = host[from], .src = address[from], .dst = address[to]};
}

struct frame stateful_tcp(const struct segment *s)
{
	struct ipv4 ip = between(s->from, s->to);
	struct frame frame;
	uint8_t *tcp;

	ip.protocol = 6;
	ip.sport = port_of(s->from, s->sport);
	ip.dport = port_of(s->to, s->dport);
	ip.fragment = s->fragment;
	ip.id = s->id;
	ip.payload = TCP_HEADER + s->data;
	frame = frame_ipv4(&ip);
	if ((s->fragment & 0x1fff) != 0)
		return frame;
	tcp = frame.bytes + STATEFUL_TRANSPORT;
	put32(tcp + 4, s->seq);
	put32(tcp + 8, s->ack);
	tcp[12] = (uint8_t)((s->offset == HEADER_ZERO ? 0 : s->offset != 0 ? s->offset : 5) << 4);
	tcp[13] = (uint8_t)s->flags;
	put16(tcp + 14, s->window != 0 ? s->window : 1000);
	put32(tcp + 16, 0);
	return frame;
}

struct frame stateful_udp(unsigned from, unsigned to, unsigned sport, unsigned dport)
{
	struct ipv4 ip = between(from, to);

	ip.sport = sport;
	ip.dport = dport;
	return frame_ipv4(&ip);
}

struct frame stateful_echo(unsigned from, unsigned to, uint8_t type, unsigned id)
{
	struct ipv4 ip = between(from, to);
	struct frame frame = frame_echo(&ip, id, 1, 32);

	frame.bytes[STATEFUL_TRANSPORT] = type;
	frame_fix_icmp(&frame);
	return frame;
}

struct frame stateful_error(unsigned from, uint8_t type, const struct frame *about, unsigned quoted)
{
	struct ipv4 ip = between(from, from);
	struct frame frame;

	ip.protocol = 1;
	ip.payload = ICMP_HEADER + quoted;
	frame = frame_ipv4(&ip);
	memcpy(frame.bytes + IP + 16, about->bytes + IP + 12, 4);
	memset(frame.bytes + STATEFUL_TRANSPORT, 0, ICMP_HEADER);
	frame.bytes[STATEFUL_TRANSPORT] = type;
	memcpy(frame.bytes + STATEFUL_TRANSPORT + ICMP_HEADER, about->bytes + IP, quoted);
	frame_fix_ipv4(&frame);
	frame_fix_icmp(&frame);
	return frame;
}

void stateful_passes(struct harness *h, unsigned from, unsigned to, struct frame frame)
{
	struct frame out = frame_routed(&frame, host[to], router[to]);

	routed_send(h, from, &frame);
	harness_expect(h, to, &out);
	harness_expect_nothing(h);
}

void stateful_dropped(struct harness *h, unsigned from, struct frame frame,
		      enum mr_drop_reason reason)
{
	routed_send(h, from, &frame);
	harness_expect_nothing(h);
	harness_dropped(h, reason, 1);
}

struct harness *stateful_bridges(unsigned bridges)
{
	struct harness *h = harness();

	harness_begin(h);
	for (unsigned b = 0; b < bridges; b++) {
		harness_command(h, "bridge add br%u", b);
		for (unsigned port = 2 * b; port < 2 * b + 2; port++)
			harness_command(h, "bridge member add br%u port %u", b, port);
	}
	harness_command(h, "filter default deny");
	return h;
}

void stateful_bridges_end(struct harness *h, unsigned bridges)
{
	harness_command(h, "filter flush");
	harness_command(h, "filter state flush");
	harness_command(h, "filter default allow");
	for (unsigned b = 0; b < bridges; b++)
		harness_command(h, "bridge del br%u", b);
	harness_advance(h, 2000); /* the sweep has its turn */
	harness_end(h);
}

void stateful_bridged(struct harness *h, unsigned from, unsigned to, struct frame frame)
{
	harness_send(h, from, &frame);
	harness_run(h);
	harness_expect(h, to, &frame);
	harness_expect_nothing(h);
}

void stateful_denied(struct harness *h, unsigned from, struct frame frame)
{
	harness_send(h, from, &frame);
	harness_run(h);
	harness_expect_nothing(h);
	harness_dropped(h, MR_DROP_filter_denied, 1);
}

unsigned stateful_flows(struct harness *h)
{
	char *text = harness_show(h, "filter state show");
	json_t *reply = json_loads(text, 0, NULL);
	unsigned count = (unsigned)json_array_size(json_object_get(reply, "flows"));

	json_decref(reply);
	free(text);
	return count;
}

void stateful_end(struct harness *h)
{
	harness_command(h, "filter flush");
	harness_command(h, "filter default allow");
	harness_command(h, "filter state flush");
	harness_advance(h, 2000);
	routed_end(h);
}
