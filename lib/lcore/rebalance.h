/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_REBALANCE_H
#define MR_LCORE_REBALANCE_H

#include <stdbool.h>
#include <stdint.h>

/* What an rx queue costs the lcore that polls it: a share of the time, in percent. */
struct mr_queue_load {
	uint16_t port, queue;
	unsigned lcore; /* index */
	double percent;
};

/* One greedy step: finds the queue of the busiest lcore that, moved to the idlest one, makes the
 * busier of the two least busy. busy: percent of the time, by lcore. Returns the queue's index, or
 * -1 when no move makes the maximum lower by at least one percent point; idlest: where to. Control
 * thread. */
int mr_rebalance_step(const struct mr_queue_load *queues, unsigned queue_count, const double *busy,
		      unsigned lcore_count, unsigned *idlest);

#endif
