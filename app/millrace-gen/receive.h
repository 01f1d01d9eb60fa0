/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_RECEIVE_H
#define GEN_RECEIVE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "arp.h"
#include "histogram.h"
#include "sequence.h"

/*
 * Receiving on one port, and what frames that come in say. One lcore polls it; while it does, the
 * control thread only loads what is marked.
 */
struct receive {
	uint16_t port;
	bool verify;              /* check checksums of every frame */
	struct rte_ring *replies; /* to the lcore that sends on this port */
	struct arp_station *station;

	/* Of one run: set by the control thread before it starts. */
	uint16_t mark;
	bool reverse;              /* the direction that is received here */
	uint32_t streams;          /* 0: none is sent in this direction */
	struct sequence *sequence; /* a stream */

	/* Written by the lcore, loaded by the control thread. */
	uint64_t tagged;    /* frames of this run and direction, with duplicates */
	uint64_t last_time; /* TSC of the last of them */

	uint64_t first_time;
	uint64_t octets;        /* of them, with FCS */
	uint64_t bad_checksums; /* of them, with verify: they count as nothing else */
	uint64_t strayed;       /* of this run, but came back to the port that sent them */
	uint64_t other;         /* frames without a tag of this run, but ARP */
	uint64_t arp;
	struct histogram latency; /* TSC cycles, of frames that are no duplicates */
} __rte_cache_aligned;

/* One turn of the receiving lcore. */
void receive_poll(struct receive *receive);
/* Takes in one frame; returns whether the mbuf now belongs to someone else. now: TSC. */
bool receive_frame(struct receive *receive, struct rte_mbuf *mbuf, uint64_t now);

#endif
