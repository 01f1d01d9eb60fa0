/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_TCP_STATE_FWD_H
#define FILTER_TCP_STATE_FWD_H

/*
 * What is known of a TCP connection, by direction, and which segments may belong to it.
 *
 * A half says what one end has sent: it is written when that end's segments are met and at no other
 * time. From both halves follow the windows in which segments must lie (van Rooij, "Real Stateful
 * TCP Packet Filtering in IP Filter", 2000), so that one who sees none of a connection's packets
 * cannot put data into it, acknowledge in it, reset it or begin it anew (RFC 5961). Meeting a
 * segment twice is the same as meeting it once.
 *
 * Pure functions over plain values: no time, no memory. Sequence numbers are in host byte order.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	TCP_HALF_SEEN = 1 << 0,      /* it has sent something; else all is 0 */
	TCP_HALF_SYN = 1 << 1,       /* and that began with a SYN, whose number is start */
	TCP_HALF_SCALED = 1 << 2,    /* which offered window scaling */
	TCP_HALF_ACKED = 1 << 3,     /* ack, edge and window are of segments that acknowledged */
	TCP_HALF_FIN = 1 << 4,       /* it has sent a FIN, which is the last before end */
	TCP_HALF_FIN_ACKED = 1 << 5, /* it has acknowledged the other end's FIN */
	TCP_HALF_RST = 1 << 6,       /* it has reset the connection */
	TCP_HALF_CUT = 1 << 7,       /* it sends fragments, which end behind what is known */
};

struct tcp_half {
	uint32_t start;  /* of its SYN; the first number seen without one */
	uint32_t end;    /* one above the highest number that it sent; with TCP_HALF_CUT at least */
	uint32_t ack;    /* the highest that it acknowledged */
	uint32_t edge;   /* one above the highest that it lets the other end send */
	uint32_t window; /* the largest that it offered, scaled; at least 1 */
	uint8_t flags;   /* TCP_HALF_* */
	uint8_t scale;   /* with TCP_HALF_SCALED */
	uint16_t zero;
};

static_assert(sizeof(struct tcp_half) == 24, "three words of an entry");

/* A segment, as its headers say. */
struct tcp_segment {
	uint32_t seq, ack;
	uint32_t length; /* in sequence numbers: of the data, and one each for SYN and FIN */
	uint16_t window; /* as it stands in the header */
	uint8_t flags;
	int8_t scale; /* the window scale option; -1 without */
	bool cut;     /* a first fragment: there is more of it than length says */
};

/* Where a connection is. */
enum tcp_phase {
	TCP_OPENING,     /* the handshake is not complete */
	TCP_ESTABLISHED, /* both ends have acknowledged what the other sent */
	TCP_CLOSING,     /* one has sent a FIN */
	TCP_CLOSED,      /* both have, and acknowledged the other's; or one has reset it */
};

enum tcp_verdict {
	TCP_PASSES,  /* the segment belongs to the connection */
	TCP_REFUSED, /* it does not */
	TCP_ANEW,    /* it begins another one in the place of this one, which is over */
};

/* peer: NULL while nothing is known of the other end. */
enum tcp_phase tcp_phase(const struct tcp_half *half, const struct tcp_half *peer);

/* Whether a connection may be known from this segment on: not from a reset, nor from what no end
 * would send. */
bool tcp_may_begin(const struct tcp_segment *segment);

/* Whether it is a reset, which an end also sends for what it does not know. */
bool tcp_is_reset(const struct tcp_segment *segment);

/* Whether a half is of a connection before the one that the other end begins: what it acknowledged
 * is not the SYN, which is all that the other end has sent. */
bool tcp_is_before(const struct tcp_half *half, const struct tcp_half *other);

/* Meets a segment of the end whose half is given (all 0: its first). Unless it passes, nothing is
 * changed. */
enum tcp_verdict tcp_meet(struct tcp_half *half, const struct tcp_half *peer,
			  const struct tcp_segment *segment);

/* Whether a number may be one of a segment that the end has sent lately, as an ICMP error must
 * quote it (RFC 5927 4.1). */
bool tcp_has_sent(const struct tcp_half *half, const struct tcp_half *peer, uint32_t seq);

#endif
