/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_TRANSMIT_H
#define GEN_TRANSMIT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "pace.h"
#include "stream.h"

/*
 * Sending on one port. One lcore polls it; while it does, the control thread only loads what is
 * marked.
 */
#define TRANSMIT_MAX_BURST 64

struct transmit {
	uint16_t port;
	unsigned burst;
	struct rte_mempool *pool;
	struct rte_ring *replies; /* frames that the receiving lcore wants sent (single producer and
				     consumer) */

	/* Of one run: set by the control thread before it starts. */
	bool active; /* sends more than replies */
	bool cease;  /* makes no more frames; the control thread may set it while the lcore polls */
	uint16_t mark;
	uint64_t count;    /* frames to send */
	uint64_t deadline; /* TSC: no frame is made after it; 0: none */
	uint64_t patience; /* cycles after which a device that takes nothing is given up */
	struct pace pace;
	struct stream_cursor cursor;

	/* Frames that the device did not take yet. */
	struct rte_mbuf *waiting[TRANSMIT_MAX_BURST];
	struct {
		uint16_t length;
		bool tagged;
	} about[TRANSMIT_MAX_BURST];
	unsigned waiting_at, waiting_count;
	uint64_t waiting_since;

	/* Written by the lcore, loaded by the control thread. */
	bool done;
	uint64_t made, sent, tagged;    /* frames; tagged: of sent */
	uint64_t octets;                /* of sent, with FCS */
	uint64_t first_time, last_time; /* TSC of the first and last frame sent */
} __rte_cache_aligned;

/* One turn of the sending lcore. */
void transmit_poll(struct transmit *transmit);
/* After the run: frees what still waits. The caller polls no more. */
void transmit_stop(struct transmit *transmit);

#endif
