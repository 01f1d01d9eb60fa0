/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_SLOW_H
#define MR_FILTER_SLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "base/mr.h"
#include "host/token_bucket.h"
#include "port/iface.h"

/* What the control thread does for the filter, packet by packet: telling the senders of rejected
 * packets, and the log. */
struct mr_filter_slow {
	uint64_t now_ms;                                     /* of the last poll */
	struct mr_token_bucket answers;                      /* all together */
	struct mr_token_bucket iface_answers[MR_MAX_IFACES]; /* by arrival */
	struct mr_token_bucket lines;
	uint64_t resets_sent, unreachables_sent, answers_forbidden, answers_limited;
	uint64_t logged, log_suppressed;
	uint64_t suppressed_told; /* of log_suppressed, what a line has said */
};

/* An IP packet in a frame whose headers have been read. */
struct mr_filter_frame {
	const uint8_t *bytes;
	unsigned link_size; /* of the Ethernet header and its tags */
	const uint8_t *ip;
	unsigned ip_size; /* of the packet, without what follows it in the frame */
	bool ipv6;
	bool fragment; /* first or later */
	bool later;
	uint8_t protocol;
	const uint8_t *transport; /* NULL in later fragments */
	unsigned transport_size;  /* bytes from there on */
};

/* Finds the headers; false if the frame is no IP packet or cannot be read. */
bool mr_filter_frame_read(const struct rte_mbuf *packet, struct mr_filter_frame *frame);

/* Tells the sender of a rejected packet, if that may be; the packet remains the caller's. */
void mr_filter_answer(struct mr *mr, const struct rte_mbuf *packet);

/* Logs a packet, whose rule and hook are in `word` (see mr_filter_log_word). */
void mr_filter_log_packet(struct mr *mr, const struct rte_mbuf *packet, uint16_t iface,
			  uint32_t word);

#endif
