/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_RATES_H
#define MR_LCORE_RATES_H

#include <stdint.h>

#include "base/mr.h"

/*
 * Rates over the last full second or a little more, from snapshots of counters. Control thread.
 */
struct mr_rate {
	uint64_t rx_pps, tx_pps;    /* packets a second */
	uint64_t rx_bps, tx_bps;    /* bits a second, without FCS, preamble and gap */
	uint64_t cycles_per_packet; /* TSC cycles of busy iterations by packets received, or taken
				       from an lcore that received them; 0 without packets. lcores
				       only */
	unsigned busy_percent;      /* of the time was in busy iterations. lcores only */
	unsigned asleep_percent;    /* of the time was asleep. lcores only */
};

struct mr_rates *mr_rates_create(void);
void mr_rates_destroy(struct mr_rates *rates);

/* Takes snapshots when at least a second has passed since the last ones. */
void mr_rates_poll(struct mr *mr, uint64_t now_ms);

/* The rates of the lcore with that index, or of a port; zero until two snapshots were taken. */
struct mr_rate mr_rate_of_lcore(const struct mr *mr, unsigned index);
struct mr_rate mr_rate_of_port(const struct mr *mr, uint16_t port);

/* Packets a second that an rx queue received. */
uint64_t mr_rate_of_rx_queue(const struct mr *mr, uint16_t port, uint16_t queue);

#endif
