/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_PORT_TOTALS_H
#define MR_LCORE_PORT_TOTALS_H

#include "lcore/lcores.h"

/* What all threads counted on a port, and what the device did. */
struct mr_port_totals {
	struct mr_traffic rx[MR_MAX_QUEUES], tx[MR_MAX_QUEUES];
	uint64_t drop[MR_DROP_COUNT];
	uint64_t rx_missed;    /* by the device: no free descriptor */
	uint64_t rx_errors;    /* by the device: bad FCS, wrong length */
	uint64_t rx_no_buffer; /* by the driver: the pool was empty */
	uint64_t tx_errors;
};

/* Since the last clear. Control thread. */
void mr_port_totals_read(struct mr *mr, uint16_t port, struct mr_port_totals *totals);

/* Counts from now: counters only grow, so what they are becomes what is subtracted. Returns 0 or
 * -ENOMEM. Control thread. */
int mr_port_totals_clear(struct mr *mr, uint16_t port);

struct mr_traffic mr_traffic_sum(const struct mr_traffic *traffic, unsigned count);
uint64_t mr_drop_sum(const struct mr_port_totals *totals);

#endif
