/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plain packets have a short way to their flows, all others the long one: the same traffic, once
 * plain and once with options that change nothing, must meet the same end packet by packet. It is
 * random: connections that begin, talk, end and are attacked, datagrams, bursts, time, rules that
 * change meanwhile and flows that are flushed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_tcp.h>

#include "filter/filter.h"
#include "filter/flow_plain_fwd.h"
#include "filter_random.h"
#include "lcore/lcores.h"
#include "port/iface.h"
#include "stateful.h"
#include "test_eal.h"

enum {
	STEPS = 300,
	FLOWS = 6, /* the even ones are connections */
	MOST = 65, /* packets of a burst */
	DATA = 4,
	TCP = 6,
	UDP = 17,
	DSTOPTS = 60,
};

/* What carries the traffic. */
struct carrier {
	bool bridged, ipv6;
	unsigned tags;
};

struct packet {
	unsigned flow, side; /* side: it comes from behind that port */
	uint8_t flags;
	uint32_t seq, ack;
};

enum what { BURST, ADVANCE, FLUSH, CHANGE };

struct step {
	enum what what;
	unsigned ms, side, count;
	struct packet packet[MOST];
};

/* How a step ended: which packets passed (mask, the 65th beside it) and how many were dropped why.
 */
struct outcome {
	uint64_t passed;
	bool last_passed;
	uint64_t denied, bad_state;
};

/* What both ends of a connection would send next. */
struct connection {
	unsigned phase;
	uint32_t next[2];
};

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
	return filter_random(&seed, below);
}

/* ---- the traffic ---- */

/* What comes next in a connection, from a side whose turn it is: returns false if it is not. */
static bool next_segment(struct connection *c, struct packet *p)
{
	unsigned other = p->side ^ 1;

	if (c->phase < 2 && p->side != c->phase)
		return false;
	if (c->phase < 2) {
		c->next[p->side] = draw(UINT32_MAX);
		p->flags = c->phase == 0 ? SYN : SYN | ACK;
	} else {
		p->flags = ACK | (draw(60) == 0 ? FIN : 0);
	}
	p->seq = c->next[p->side];
	p->ack = c->phase == 0 ? 0 : c->next[other];
	c->next[p->side] += c->phase < 2 ? 1 : DATA + ((p->flags & FIN) != 0);
	c->phase = c->phase < 2 ? c->phase + 1 : (p->flags & FIN) != 0 && draw(2) != 0 ? 0 : 2;
	return true;
}

/* Somebody who guesses; sometimes he is right. */
static void attack(const struct connection *c, struct packet *p)
{
	static const uint8_t flags[] = {ACK, SYN, RST, RST | ACK, SYN | ACK, FIN, FIN | ACK, 0};

	p->flags = flags[draw(sizeof(flags))];
	p->seq = c->next[p->side] + (draw(3) == 0 ? 0 : draw(UINT32_MAX));
	p->ack = c->next[p->side ^ 1] + (draw(2) == 0 ? 0 : draw(UINT32_MAX));
}

static void make_steps(struct step *steps)
{
	struct connection connection[FLOWS] = {0};

	for (unsigned s = 0; s < STEPS; s++) {
		struct step *step = &steps[s];
		unsigned kind = draw(40);

		*step = (struct step){.what = kind == 0   ? FLUSH
					      : kind == 1 ? CHANGE
					      : kind < 6  ? ADVANCE
							  : BURST,
				      .ms = 1000 * (draw(3) == 0 ? draw(40) : draw(2)),
				      .side = draw(2),
				      .count = draw(3) == 0 ? 1 + draw(MOST) : 1 + draw(4)};
		for (unsigned i = 0; i < step->count; i++) {
			struct packet *p = &step->packet[i];

			*p = (struct packet){.flow = draw(FLOWS), .side = step->side};
			if (draw(12) == 0 || !next_segment(&connection[p->flow], p))
				attack(&connection[p->flow], p);
		}
	}
}

/* ---- frames ---- */

static void put_transport(uint8_t *at, const struct packet *p)
{
	uint16_t ports[2] = {rte_cpu_to_be_16((uint16_t)(1000 + p->flow)),
			     rte_cpu_to_be_16((uint16_t)(2000 + p->flow))};
	struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)at;

	memset(at, 0, 20 + DATA);
	memcpy(at, &ports[p->side], 2);
	memcpy(at + 2, &ports[p->side ^ 1], 2);
	if (p->flow % 2 != 0) {
		at[5] = 20 + DATA; /* UDP's length */
		return;
	}
	tcp->sent_seq = rte_cpu_to_be_32(p->seq);
	tcp->recv_ack = rte_cpu_to_be_32(p->ack);
	tcp->data_off = 5 << 4;
	tcp->tcp_flags = p->flags;
	tcp->rx_win = rte_cpu_to_be_16(1000);
}

static struct frame ipv4_frame(const struct carrier *carrier, const struct packet *p, unsigned id,
			       bool plain)
{
	static const uint8_t nothing[4] = {1, 1, 1, 1};
	static const char *const host[] = {HOST(0), HOST(1)}, *const router[] = {ROUTER(0),
										 ROUTER(1)};
	unsigned side = p->side, options = plain ? 0 : sizeof(nothing);
	struct frame frame =
		IPV4(.from = host[side], .to = carrier->bridged ? host[side ^ 1] : router[side],
		     .src = side == 0 ? "10.0.0.9" : "10.0.1.9",
		     .dst = side == 0 ? "10.0.1.9" : "10.0.0.9", .id = id,
		     .protocol = p->flow % 2 != 0 ? UDP : TCP, .payload = 20 + DATA,
		     .options = nothing, .options_length = options);

	put_transport(frame.bytes + 34 + options, p);
	return frame;
}

static struct frame ipv6_frame(const struct packet *p, unsigned id, bool plain)
{
	unsigned options = plain ? 0 : 8, side = p->side;
	uint8_t protocol = p->flow % 2 != 0 ? UDP : TCP;
	struct frame frame = frame_raw(side == 0 ? HOST(1) : HOST(0), side == 0 ? HOST(0) : HOST(1),
				       0x86dd, 14 + 40 + options + 20 + DATA);
	uint8_t *ip = frame.bytes + 14;

	memset(ip, 0, 40 + options);
	ip[0] = 0x60;
	ip[2] = (uint8_t)(id >> 8); /* the flow label tells packets apart, as IPv4's id does */
	ip[3] = (uint8_t)id;
	ip[5] = (uint8_t)(options + 20 + DATA);
	ip[6] = plain ? protocol : DSTOPTS;
	ip[7] = 64;
	ip[8] = ip[24] = 0x20;
	ip[23] = (uint8_t)(1 + side);
	ip[39] = (uint8_t)(2 - side);
	if (!plain) {
		ip[40] = protocol;
		ip[42] = 1; /* four bytes of padding */
		ip[43] = 4;
	}
	put_transport(ip + 40 + options, p);
	return frame;
}

static struct frame frame_of(const struct carrier *carrier, const struct packet *p, unsigned id,
			     bool plain)
{
	struct frame frame =
		carrier->ipv6 ? ipv6_frame(p, id, plain) : ipv4_frame(carrier, p, id, plain);

	for (unsigned tag = 0; tag < carrier->tags; tag++)
		frame = frame_tagged(&frame, tag == 0 ? 0x8100 : 0x88a8, (uint16_t)(5 + tag));
	return frame;
}

static unsigned id_of(const struct carrier *carrier, const struct frame *frame)
{
	const uint8_t *ip = frame->bytes + 14 + 4 * carrier->tags;
	const uint8_t *id = ip + (carrier->ipv6 ? 2 : 4);

	return (unsigned)(id[0] << 8 | id[1]);
}

/* ---- the runs ---- */

static struct outcome send_burst(struct harness *h, const struct carrier *carrier,
				 const struct step *step, bool plain)
{
	static struct frame frames[MOST];
	struct outcome outcome = {0};
	struct frame frame;

	for (unsigned i = 0; i < step->count; i++)
		frames[i] = frame_of(carrier, &step->packet[i], i, plain);
	for (unsigned sent = 0; sent < step->count; sent += 64)
		harness_burst(h, step->side, frames + sent,
			      step->count - sent < 64 ? step->count - sent : 64);
	harness_run(h);
	while (harness_take(h, step->side ^ 1, &frame)) {
		unsigned id = id_of(carrier, &frame);

		assert_in_range(id, 0, step->count - 1);
		if (id < 64)
			outcome.passed |= UINT64_C(1) << id;
		else
			outcome.last_passed = true;
	}
	outcome.denied = harness_take_drops(h, MR_DROP_filter_denied);
	outcome.bad_state = harness_take_drops(h, MR_DROP_filter_bad_state);
	return outcome;
}

static void run(struct harness *h, const struct carrier *carrier, const struct step *steps,
		bool plain, struct outcome *outcomes)
{
	bool changed = false;

	for (unsigned s = 0; s < STEPS; s++) {
		outcomes[s] = (struct outcome){0};
		switch (steps[s].what) {
		case BURST:
			outcomes[s] = send_burst(h, carrier, &steps[s], plain);
			break;
		case ADVANCE:
			harness_advance(h, steps[s].ms);
			break;
		case FLUSH:
			harness_command(h, "filter state flush");
			break;
		case CHANGE:
			harness_command(h, changed ? "filter delete 900"
						   : "filter add 900 count udp from any to any");
			changed = !changed;
		}
	}
	if (changed)
		harness_command(h, "filter delete 900");
	harness_command(h, "filter state flush");
	harness_advance(h, 2000);
}

static const char *const sets[][5] = {
	/* Flows are met before any rule. */
	{"100 check-state", "200 allow tcp from any to any setup keep-state",
	 "300 allow udp from any to any recv port 0 keep-state"},
	/* Rules that match nothing come first. */
	{"10 deny tcp from 192.0.2.0/24 to any 80", "20 deny udp from any to 192.0.2.0/24",
	 "100 check-state", "200 allow tcp from any to any keep-state",
	 "300 allow udp from any to any recv port 0 keep-state"},
	/* One that matches does. */
	{"10 count tcp from any to any", "20 deny udp from any to any 2005",
	 "100 allow tcp from any to any setup keep-state",
	 "300 allow udp from any to any recv port 0 keep-state"},
	/* State on one hook only. */
	{"100 allow tcp from any to any setup in keep-state", "150 allow ip from any to any out",
	 "300 allow udp from any to any in recv port 0 keep-state"},
};

static void compare(const struct step *steps, const struct outcome *plain,
		    const struct outcome *other, unsigned set, unsigned *passed, unsigned *refused)
{
	for (unsigned s = 0; s < STEPS; s++) {
		if (memcmp(&plain[s], &other[s], sizeof(plain[s])) != 0)
			fail_msg("set %u, step %u, %u packets: passed %lx and %lx, denied %lu and "
				 "%lu, of bad state %lu and %lu",
				 set, s, steps[s].count, plain[s].passed, other[s].passed,
				 plain[s].denied, other[s].denied, plain[s].bad_state,
				 other[s].bad_state);
		*passed += (unsigned)__builtin_popcountll(plain[s].passed);
		*refused += (unsigned)plain[s].bad_state;
	}
}

static void both_ways_are_the_same(const struct carrier *carrier)
{
	static struct step steps[STEPS];
	static struct outcome outcomes[2][STEPS];
	struct harness *h = carrier->bridged ? stateful_bridges(1) : routed();
	unsigned passed = 0, refused = 0;

	harness_command(h, "filter default deny");
	for (unsigned set = 0; set < sizeof(sets) / sizeof(sets[0]); set++) {
		for (unsigned i = 0; i < 5 && sets[set][i] != NULL; i++)
			harness_command(h, "filter add %s", sets[set][i]);
		seed = 4711 + set;
		make_steps(steps);
		for (unsigned way = 0; way < 2; way++)
			run(h, carrier, steps, way == 0, outcomes[way]);
		compare(steps, outcomes[0], outcomes[1], set, &passed, &refused);
		harness_command(h, "filter flush");
	}
	assert_in_range(passed, 500, UINT32_MAX);
	assert_in_range(refused, 100, UINT32_MAX);
	if (carrier->bridged)
		stateful_bridges_end(h, 1);
	else
		stateful_end(h);
}

static void routed_ipv4(void **state)
{
	(void)state;
	both_ways_are_the_same(&(struct carrier){0});
}

static void bridged_ipv4(void **state)
{
	(void)state;
	for (unsigned tags = 0; tags <= 2; tags++)
		both_ways_are_the_same(&(struct carrier){.bridged = true, .tags = tags});
}

static void bridged_ipv6(void **state)
{
	(void)state;
	for (unsigned tags = 0; tags <= 2; tags++)
		both_ways_are_the_same(
			&(struct carrier){.bridged = true, .ipv6 = true, .tags = tags});
}

/* Whether a frame of a known flow would take the short way, and pass. */
static bool takes_the_short_way(struct harness *h, unsigned port, const struct frame *frame)
{
	struct mr *mr = h->rig.mr;
	const struct mr_filter_program *program = mr->filter->program;
	struct rte_mbuf *m = ring_rig_buffer(&h->rig, frame->bytes, frame->length);
	struct walk walk = {
		.program = program,
		.lcore = mr->lcores->lcore[0],
		.hits = program->fwd->hits[0],
		.packet = &m,
		.iface = mr_iface(mr, (uint16_t)port),
	};
	bool passed;

	m->port = (uint16_t)port;
	passed = filter_pass_flows(&walk, 1) == 1;
	rte_pktmbuf_free(m);
	return passed;
}

/* Without this the others could agree on the long way. */
static void plain_packets_take_the_short_way(void **state)
{
	(void)state;
	static const struct packet packets[] = {
		{.flow = 1, .side = 0},
		{.flow = 1, .side = 1},
		{.flow = 0, .side = 0, .flags = SYN, .seq = 100},
		{.flow = 0, .side = 1, .flags = SYN | ACK, .seq = 700, .ack = 101},
		{.flow = 0, .side = 0, .flags = ACK, .seq = 101, .ack = 701},
		{.flow = 0, .side = 1, .flags = ACK, .seq = 701, .ack = 105},
	};

	for (unsigned kind = 0; kind < 6; kind++) {
		struct carrier carrier = {.bridged = true, .ipv6 = kind % 2 != 0, .tags = kind / 2};
		const unsigned last = sizeof(packets) / sizeof(packets[0]);
		struct harness *h = stateful_bridges(1);
		struct frame frame;

		harness_command(h, "filter add 100 allow ip from any to any keep-state");
		for (unsigned i = 0; i < last; i++) {
			frame = frame_of(&carrier, &packets[i], i, true);
			if (i < 4)
				assert_false(takes_the_short_way(h, packets[i].side, &frame));
			harness_send(h, packets[i].side, &frame);
			harness_run(h);
			harness_expect(h, packets[i].side ^ 1, &frame);
		}
		/* Backwards, since a segment that goes the long way takes others with it. */
		for (unsigned i = last; i-- > 0;) {
			bool first = (packets[i].flags & SYN) != 0;

			frame = frame_of(&carrier, &packets[i], i, true);
			assert_int_equal(takes_the_short_way(h, packets[i].side, &frame), !first);
			frame = frame_of(&carrier, &packets[i], i, false);
			assert_false(takes_the_short_way(h, packets[i].side, &frame));
		}
		stateful_bridges_end(h, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(routed_ipv4),
		cmocka_unit_test(bridged_ipv4),
		cmocka_unit_test(bridged_ipv6),
		cmocka_unit_test(plain_packets_take_the_short_way),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
