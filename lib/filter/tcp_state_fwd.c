/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four bounds hold for each segment from A to B, once both have sent something:
 *
 *   its end is not above B's edge           what B has room for
 *   nor below A's end - B's largest window   what B may not have got yet, in part
 *   it acknowledges nothing above B's end   what B has sent
 *   and nothing far below                   old, as a packet that was long on its way is
 *
 * A connection that is met in its middle has unknown scales: its windows are taken to be as large
 * as they can be, until it ends.
 */
#include "filter/tcp_state_fwd.h"

#include <rte_tcp.h>

enum {
	SCALE_MAX = 14, /* RFC 7323 2.3 */
	LARGEST_UNSCALED = 65535,
	LARGEST_PACKET = 65535,
	OLD_ACK = 65535 + 1500, /* at least so far below may an acknowledgement be */
};

static bool after(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

static uint32_t later(uint32_t a, uint32_t b)
{
	return after(a, b) ? a : b;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static bool has(const struct tcp_half *half, uint8_t flags)
{
	return half != NULL && (half->flags & flags) == flags;
}

static bool has_any(const struct tcp_half *half, uint8_t flags)
{
	return half != NULL && (half->flags & flags) != 0;
}

enum tcp_phase tcp_phase(const struct tcp_half *half, const struct tcp_half *peer)
{
	const uint8_t closed = TCP_HALF_FIN | TCP_HALF_FIN_ACKED;

	if (has(half, TCP_HALF_RST) || has(peer, TCP_HALF_RST) ||
	    (has(half, closed) && has(peer, closed)))
		return TCP_CLOSED;
	if (has(half, TCP_HALF_FIN) || has(peer, TCP_HALF_FIN))
		return TCP_CLOSING;
	return has(half, TCP_HALF_ACKED) && has(peer, TCP_HALF_ACKED) ? TCP_ESTABLISHED
								      : TCP_OPENING;
}

bool tcp_may_begin(const struct tcp_segment *segment)
{
	uint8_t flags = segment->flags &
			(RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG | RTE_TCP_RST_FLAG | RTE_TCP_FIN_FLAG);

	return flags == RTE_TCP_SYN_FLAG || flags == RTE_TCP_ACK_FLAG ||
	       flags == (RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG) ||
	       flags == (RTE_TCP_FIN_FLAG | RTE_TCP_ACK_FLAG);
}

bool tcp_is_reset(const struct tcp_segment *segment)
{
	return (segment->flags & RTE_TCP_RST_FLAG) != 0 && (segment->flags & RTE_TCP_SYN_FLAG) == 0;
}

/* By how much the windows in a half's segments are to be shifted, its SYN's excepted. */
static uint8_t shift_of(const struct tcp_half *half, const struct tcp_half *peer)
{
	if (!has(half, TCP_HALF_SYN) || (peer != NULL && !has(peer, TCP_HALF_SYN)))
		return SCALE_MAX;
	return has(half, TCP_HALF_SCALED) && has(peer, TCP_HALF_SCALED) ? half->scale : 0;
}

static void begin(struct tcp_half *half, const struct tcp_segment *segment)
{
	*half = (struct tcp_half){
		.start = segment->seq,
		.end = segment->seq + segment->length,
		.window = 1,
		.flags = TCP_HALF_SEEN,
	};
	if ((segment->flags & RTE_TCP_SYN_FLAG) == 0)
		return;
	half->flags |= TCP_HALF_SYN;
	if (segment->scale >= 0) {
		half->flags |= TCP_HALF_SCALED;
		half->scale = (uint8_t)(segment->scale < SCALE_MAX ? segment->scale : SCALE_MAX);
	}
}

/* What an end has sent ends here at most, when peer is the other one: of fragments it is not known,
 * but that they had room. */
static uint32_t highest(const struct tcp_half *half, const struct tcp_half *peer)
{
	uint32_t room = half->end + LARGEST_PACKET;

	if (!has(half, TCP_HALF_CUT))
		return half->end;
	if (has(peer, TCP_HALF_ACKED) && after(room, peer->edge))
		room = peer->edge;
	return later(half->end, room);
}

/* Notes what a segment says that was found to belong to the connection. */
static void note(struct tcp_half *half, const struct tcp_half *peer,
		 const struct tcp_segment *segment)
{
	bool syn = (segment->flags & RTE_TCP_SYN_FLAG) != 0;
	uint32_t window = (uint32_t)segment->window << (syn ? 0 : shift_of(half, peer));

	half->end = later(half->end, segment->seq + segment->length);
	half->window = larger(half->window, window);
	if ((segment->flags & RTE_TCP_FIN_FLAG) != 0)
		half->flags |= TCP_HALF_FIN;
	if (segment->cut)
		half->flags |= TCP_HALF_CUT;
	if ((segment->flags & RTE_TCP_ACK_FLAG) == 0)
		return;
	if (!has(half, TCP_HALF_ACKED)) {
		half->ack = segment->ack;
		half->edge = segment->ack + larger(window, 1);
	}
	half->ack = later(half->ack, segment->ack);
	half->edge = later(half->edge, segment->ack + larger(window, 1));
	half->flags |= TCP_HALF_ACKED;
	if (has(peer, TCP_HALF_FIN) && !after(peer->end, half->ack))
		half->flags |= TCP_HALF_FIN_ACKED;
}

/* ---- segments with SYN ---- */

static enum tcp_verdict meet_syn(struct tcp_half *half, const struct tcp_half *peer,
				 const struct tcp_segment *segment)
{
	if (!tcp_may_begin(segment))
		return TCP_REFUSED;
	if (has(half, TCP_HALF_SYN) && half->start == segment->seq &&
	    tcp_phase(half, peer) < TCP_CLOSED)
		return TCP_PASSES; /* sent again */
	if (tcp_phase(half, peer) >= TCP_CLOSING)
		return TCP_ANEW;
	if (has(half, TCP_HALF_SEEN) || has(peer, TCP_HALF_ACKED))
		return TCP_REFUSED;
	begin(half, segment); /* the first, or both ends begin at the same time */
	note(half, peer, segment);
	return TCP_PASSES;
}

/* Whether a number acknowledges a SYN, which may carry data. */
static bool acknowledges_syn(const struct tcp_half *peer, uint32_t ack)
{
	return has(peer, TCP_HALF_SYN) && after(ack, peer->start) && !after(ack, peer->end);
}

bool tcp_is_before(const struct tcp_half *half, const struct tcp_half *other)
{
	return has(half, TCP_HALF_ACKED) && has(other, TCP_HALF_SYN) &&
	       !has(other, TCP_HALF_ACKED) && !acknowledges_syn(other, half->ack);
}

static enum tcp_verdict meet_syn_ack(struct tcp_half *half, const struct tcp_half *peer,
				     const struct tcp_segment *segment)
{
	if (!tcp_may_begin(segment))
		return TCP_REFUSED;
	if (has(half, TCP_HALF_SEEN) && (!has(half, TCP_HALF_SYN) || half->start != segment->seq))
		return TCP_REFUSED;
	if (has_any(peer, TCP_HALF_SEEN) && !acknowledges_syn(peer, segment->ack))
		return TCP_REFUSED;
	if (!has(half, TCP_HALF_SEEN))
		begin(half, segment);
	note(half, peer, segment);
	return TCP_PASSES;
}

/* ---- all others ---- */

/* What an end sends ends here at least, as far as it is known what the other has got. What was sent
 * again may start lower, since other segments may have overtaken it. */
static uint32_t lowest(const struct tcp_half *half, const struct tcp_half *peer)
{
	uint32_t window = peer != NULL ? peer->window : (uint32_t)LARGEST_UNSCALED << SCALE_MAX;

	return half->end - larger(window, 1);
}

static bool may_send(const struct tcp_half *half, const struct tcp_half *peer, uint32_t seq,
		     uint32_t length)
{
	if (has(half, TCP_HALF_SEEN) && after(lowest(half, peer), seq + length))
		return false;
	return !has(peer, TCP_HALF_ACKED) || !after(seq + length, peer->edge);
}

static bool may_acknowledge(const struct tcp_half *half, const struct tcp_half *peer, uint32_t ack)
{
	return peer == NULL || (!after(ack, highest(peer, half)) &&
				!after(peer->end - larger(half->window, OLD_ACK), ack));
}

/* The answer to a SYN by an end that has sent nothing yet. */
static enum tcp_verdict meet_first_reset(struct tcp_half *half, const struct tcp_half *peer,
					 const struct tcp_segment *segment)
{
	if ((segment->flags & RTE_TCP_ACK_FLAG) != 0 && peer != NULL
		    ? !acknowledges_syn(peer, segment->ack) && segment->ack != peer->end
		    : !has(peer, TCP_HALF_ACKED) || segment->seq != peer->ack)
		return TCP_REFUSED;
	begin(half, segment);
	half->flags |= TCP_HALF_RST;
	return TCP_PASSES;
}

static enum tcp_verdict meet_reset(struct tcp_half *half, const struct tcp_half *peer,
				   const struct tcp_segment *segment)
{
	uint32_t seq = segment->seq;
	bool exact;

	if ((segment->flags & RTE_TCP_SYN_FLAG) != 0)
		return TCP_REFUSED;
	if (!has(half, TCP_HALF_SEEN))
		return meet_first_reset(half, peer, segment);
	exact = seq == half->end || (has(peer, TCP_HALF_ACKED) && seq == peer->ack);
	if (!exact && (!has(peer, TCP_HALF_ACKED) || !may_send(half, peer, seq, 0)))
		return TCP_REFUSED;
	if (exact)
		half->flags |= TCP_HALF_RST;
	return TCP_PASSES;
}

static enum tcp_verdict meet_other(struct tcp_half *half, const struct tcp_half *peer,
				   const struct tcp_segment *segment)
{
	if ((segment->flags & RTE_TCP_ACK_FLAG) == 0)
		return TCP_REFUSED;
	/* Nothing but a SYN with ACK goes on from a SYN. */
	if (has(half, TCP_HALF_SYN) && !has_any(peer, TCP_HALF_SEEN) && !has(half, TCP_HALF_ACKED))
		return TCP_REFUSED;
	if (!has(half, TCP_HALF_SEEN) && has(peer, TCP_HALF_SYN) && !has(peer, TCP_HALF_ACKED))
		return TCP_REFUSED;
	if (!may_send(half, peer, segment->seq, segment->length) ||
	    !may_acknowledge(half, peer, segment->ack))
		return TCP_REFUSED;
	if (!has(half, TCP_HALF_SEEN))
		begin(half, segment);
	note(half, peer, segment);
	return TCP_PASSES;
}

enum tcp_verdict tcp_meet(struct tcp_half *half, const struct tcp_half *peer,
			  const struct tcp_segment *segment)
{
	if ((segment->flags & RTE_TCP_RST_FLAG) != 0)
		return meet_reset(half, peer, segment);
	if ((segment->flags & RTE_TCP_SYN_FLAG) == 0)
		return meet_other(half, peer, segment);
	return (segment->flags & RTE_TCP_ACK_FLAG) == 0 ? meet_syn(half, peer, segment)
							: meet_syn_ack(half, peer, segment);
}

bool tcp_has_sent(const struct tcp_half *half, const struct tcp_half *peer, uint32_t seq)
{
	uint32_t window = peer != NULL ? larger(peer->window, LARGEST_UNSCALED) : LARGEST_UNSCALED;

	return has(half, TCP_HALF_SEEN) && !after(seq, half->end) &&
	       !after(half->end - window, seq);
}
