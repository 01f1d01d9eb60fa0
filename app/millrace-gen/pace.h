/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_PACE_H
#define GEN_PACE_H

#include <stdint.h>

/*
 * When frames are due. Rates are frames in 1000 seconds, so that a rate below one a second and a
 * part of a per cent of a link have a value of their own. Times are TSC cycles.
 */
#define PACE_MAX_RATE (1000ull * 1000 * 1000 * 1000) /* 1 Gpps */

struct pace {
	uint64_t start;
	uint64_t per_cycle; /* frames a cycle, in units of 2^-64 */
	uint64_t half_gap;  /* cycles between frames when catching up, in units of 2^-16 */
	uint64_t not_before;
};

/* rate: 1..PACE_MAX_RATE, below hz * 1000. The first frame is due at start. */
void pace_start(struct pace *pace, uint64_t start, uint64_t rate, uint64_t hz);

/* Frames that are due at now, from the first on. Computed from the start each time, so that nothing
 * adds up: after any time it is off by less than one frame. */
uint64_t pace_due(const struct pace *pace, uint64_t now);

/* How many frames may go now, at most burst, when sent have gone. What is late (the lcore was
 * interrupted, the device was full) is caught up at no more than twice the rate. */
unsigned pace_allow(struct pace *pace, uint64_t now, uint64_t sent, unsigned burst);

/* The rate (frames in 1000 s) that fills so many thousandths of a per cent of a link: octets of a
 * frame with FCS on average, in thousandths, to which preamble and gap add 20 octets. */
uint64_t pace_rate_of_link(uint64_t link_mbps, uint64_t milli_percent, uint64_t milli_octets);

#endif
