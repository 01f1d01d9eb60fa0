/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole conversations between two ends over a network that loses, repeats and reorders, with the
 * state in the middle: whatever an end can still make use of passes, and both get to their end. In
 * between somebody who sees nothing of it guesses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_common.h>
#include <rte_tcp.h>

#include "filter/tcp_state_fwd.h"

enum { CONVERSATIONS = 400, STEPS = 60000, PIPE = 256, MSS = 1460, SYN = RTE_TCP_SYN_FLAG };

struct pipe {
	struct tcp_segment segment[PIPE];
	unsigned count;
};

/* One end. Numbers are offsets in its own or the other's stream. */
struct end {
	uint32_t isn, sent, acked, total; /* total: of data; its SYN is number 0 */
	uint32_t expected;                /* next of the other's stream, 0: nothing has come */
	uint32_t peer_isn, peer_edge;     /* how far it may send */
	uint32_t buffer;
	int8_t scale, peer_scale; /* -1: not offered */
	bool finished;            /* it has received the other's FIN */
	struct pipe to_middle, from_middle;
};

struct conversation {
	struct end end[2];
	struct tcp_half half[2];
	uint64_t seed;
	unsigned guesses, passed;
};

static uint32_t draw(struct conversation *c, uint32_t below)
{
	c->seed ^= c->seed << 13;
	c->seed ^= c->seed >> 7;
	c->seed ^= c->seed << 17;
	return (uint32_t)(c->seed * UINT64_C(0x2545f4914f6cdd1d) >> 33) % below;
}

static bool both_scale(const struct end *e)
{
	return e->scale >= 0 && e->peer_scale >= 0;
}

static void put(struct conversation *c, struct pipe *pipe, const struct tcp_segment *segment)
{
	for (unsigned copies = draw(c, 20) == 0 ? 2 : draw(c, 20) != 0; copies > 0; copies--)
		if (pipe->count < PIPE)
			pipe->segment[pipe->count++] = *segment;
}

/* Sends what begins at an offset of its stream: 0 is its SYN, total + 1 its FIN. */
static void send_from(struct conversation *c, struct end *e, uint32_t offset)
{
	struct tcp_segment s = {.seq = e->isn + offset, .scale = -1};
	uint32_t window = e->buffer;

	if (offset == 0) {
		s.flags = SYN;
		s.scale = e->scale;
		s.length = 1;
		if (e->expected != 0 && e->peer_scale < 0)
			s.scale = -1;
	} else if (offset <= e->total) {
		uint32_t most = RTE_MIN(e->total + 1 - offset, (uint32_t)MSS);

		s.length = e->peer_edge > offset ? RTE_MIN(most, e->peer_edge - offset) : 0;
		if (s.length > 1)
			s.length = 1 + draw(c, s.length);
		s.flags = RTE_TCP_PSH_FLAG;
	} else if (offset == e->total + 1) {
		s.flags = RTE_TCP_FIN_FLAG;
		s.length = 1;
	}
	if (e->expected != 0) {
		s.flags |= RTE_TCP_ACK_FLAG;
		s.ack = e->peer_isn + e->expected;
	}
	if (offset != 0 && both_scale(e))
		window >>= e->scale;
	s.window = (uint16_t)RTE_MIN(window, 65535u);
	e->sent = RTE_MAX(e->sent, offset + s.length);
	put(c, &e->to_middle, &s);
}

static void receive(struct conversation *c, struct end *e, const struct tcp_segment *s)
{
	uint32_t offset;

	if (s->flags & SYN) {
		if (e->expected == 0) {
			e->peer_isn = s->seq;
			e->expected = 1;
		}
		e->peer_scale = s->scale;
	}
	if (e->expected == 0)
		return;
	if (s->flags & RTE_TCP_ACK_FLAG) {
		uint32_t ack = s->ack - e->isn, shift = 0;

		if (both_scale(e) && (s->flags & SYN) == 0)
			shift = (uint32_t)e->peer_scale;
		e->acked = RTE_MAX(e->acked, ack);
		e->peer_edge = RTE_MAX(e->peer_edge, ack + ((uint32_t)s->window << shift));
	}
	offset = s->seq - e->peer_isn;
	if (s->length != 0 && offset <= e->expected && offset + s->length > e->expected) {
		e->expected = offset + s->length;
		e->finished = e->finished || (s->flags & RTE_TCP_FIN_FLAG);
	}
	if (s->length != 0 && e->sent != 0)
		send_from(c, e, e->sent); /* an acknowledgement, and what it has to say */
}

/* Whether the receiver could make use of a segment. */
static bool is_of_use(const struct end *to, const struct tcp_segment *s)
{
	uint32_t end = s->seq + s->length - to->peer_isn;

	if (to->expected == 0)
		return (s->flags & SYN) != 0;
	if (s->length == 0) /* all that it has to say is what it acknowledges */
		return (s->flags & RTE_TCP_ACK_FLAG) && s->ack - to->isn > to->acked;
	return (int32_t)(end - to->expected) > 0;
}

/* Takes a segment of an end, any of those under way, through the middle. */
static void pass_one(struct conversation *c, unsigned from)
{
	struct end *e = &c->end[from], *to = &c->end[1 - from];
	unsigned i = draw(c, e->to_middle.count);
	struct tcp_segment s = e->to_middle.segment[i];
	const struct tcp_half *peer = c->half[1 - from].flags != 0 ? &c->half[1 - from] : NULL;
	enum tcp_verdict verdict;

	e->to_middle.segment[i] = e->to_middle.segment[--e->to_middle.count];
	verdict = tcp_meet(&c->half[from], peer, &s);
	if (verdict == TCP_PASSES) {
		struct tcp_half again = c->half[from];

		assert_int_equal(tcp_meet(&again, peer, &s), TCP_PASSES);
		assert_memory_equal(&again, &c->half[from], sizeof(again));
		put(c, &to->from_middle, &s);
	} else {
		assert_int_equal(verdict, TCP_REFUSED);
		assert_false(is_of_use(to, &s));
	}
}

static void deliver_one(struct conversation *c, unsigned to)
{
	struct pipe *pipe = &c->end[to].from_middle;
	unsigned i = draw(c, pipe->count);
	struct tcp_segment s = pipe->segment[i];

	pipe->segment[i] = pipe->segment[--pipe->count];
	receive(c, &c->end[to], &s);
}

static void guess(struct conversation *c)
{
	static const uint8_t flags[] = {RTE_TCP_ACK_FLAG,
					RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG,
					RTE_TCP_RST_FLAG,
					RTE_TCP_RST_FLAG | RTE_TCP_ACK_FLAG,
					SYN,
					RTE_TCP_FIN_FLAG | RTE_TCP_ACK_FLAG,
					SYN | RTE_TCP_ACK_FLAG};
	unsigned from = draw(c, 2);
	struct tcp_segment s = {.seq = draw(c, UINT32_MAX),
				.ack = draw(c, UINT32_MAX),
				.window = 65535,
				.scale = -1};
	struct tcp_half half = c->half[from], before = half;

	if (tcp_phase(&c->half[0], &c->half[1]) != TCP_ESTABLISHED)
		return;
	s.flags = flags[draw(c, RTE_DIM(flags))];
	s.length = (s.flags & SYN) ? 1 : draw(c, MSS);
	c->guesses++;
	if (tcp_meet(&half, &c->half[1 - from], &s) == TCP_PASSES)
		c->passed++;
	else
		assert_memory_equal(&half, &before, sizeof(half));
}

static bool is_done(const struct end *e)
{
	return e->finished && e->acked == e->total + 2;
}

static void step(struct conversation *c)
{
	unsigned which = draw(c, 2);
	struct end *e = &c->end[which];

	switch (draw(c, 8)) {
	case 0: /* again what is not acknowledged; the side that answers waits for a SYN */
		if (which == 0 || e->expected != 0)
			send_from(c, e, e->acked);
		break;
	case 1:
	case 2: /* what is new */
		if (e->acked > 0 && e->sent <= e->total + 1 && e->sent <= e->peer_edge)
			send_from(c, e, e->sent);
		break;
	case 3:
		guess(c);
		break;
	case 4:
	case 5:
		if (e->to_middle.count != 0)
			pass_one(c, which);
		break;
	default:
		if (e->from_middle.count != 0)
			deliver_one(c, which);
		break;
	}
}

static void converse(struct conversation *c)
{
	unsigned steps = 0;

	memset(c->end, 0, sizeof(c->end));
	memset(c->half, 0, sizeof(c->half));
	for (unsigned i = 0; i < 2; i++) {
		struct end *e = &c->end[i];

		e->isn = draw(c, 4) == 0 ? UINT32_MAX - draw(c, 3000) : draw(c, UINT32_MAX);
		e->total = draw(c, 60000);
		e->scale = (int8_t)((int)draw(c, 6) - 1);
		e->peer_scale = -1;
		e->buffer = 3000 + draw(c, 200000);
	}
	send_from(c, &c->end[0], 0);
	while (!is_done(&c->end[0]) || !is_done(&c->end[1])) {
		assert_true(steps++ < STEPS);
		step(c);
	}
}

static void ends_understand_each_other(void **state)
{
	struct conversation c = {.seed = 88172645463325252};

	(void)state;
	for (unsigned i = 0; i < CONVERSATIONS; i++)
		converse(&c);
	/* A window is a small part of all numbers. */
	assert_true(c.guesses > 10000);
	assert_true(c.passed < c.guesses / 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(ends_understand_each_other)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
