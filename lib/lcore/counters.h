/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_COUNTERS_H
#define MR_LCORE_COUNTERS_H

#include <stdint.h>

#include <rte_build_config.h>
#include <rte_common.h>

#include "packet/drop.h"
#include "port/port.h"

/*
 * What one thread counted. Each forwarding lcore has one of these, the control thread another;
 * only that thread writes it, with plain aligned 64-bit stores, and anyone may read. Counters only
 * grow: `clear` is the reader's baseline.
 */
#define MR_BURST_BUCKETS 8 /* bursts of 0, 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 packets */

struct mr_traffic {
	uint64_t packets, bytes; /* bytes without FCS */
};

struct mr_counters {
	struct mr_traffic rx[RTE_MAX_ETHPORTS][MR_MAX_QUEUES];
	struct mr_traffic tx[RTE_MAX_ETHPORTS][MR_MAX_QUEUES];
	uint64_t drop[RTE_MAX_ETHPORTS + 1][MR_DROP_COUNT]; /* the last row: on no port */
	uint64_t originated;                                /* packets of the appliance's own */
	uint64_t copied;                  /* additional frames made by flooding or fragmentation */
	uint64_t consumed;                /* answered or understood by the appliance itself */
	uint64_t punted;                  /* handed to the control thread */
	uint64_t injected;                /* taken from the control thread */
	uint64_t handed_over;             /* handed to the lcore that owns the transmit queue */
	uint64_t spread_given;            /* handed to another lcore to be carried on */
	uint64_t spread_taken;            /* carried on for the lcore that received them */
	uint64_t polls, empty_polls;      /* of rx queues */
	uint64_t iterations, busy_cycles; /* TSC cycles of iterations that met a packet */
	uint64_t burst[MR_BURST_BUCKETS]; /* receive calls by packets returned */
	uint64_t flooded[RTE_MAX_ETHPORTS]; /* frames flooded, by port of arrival */
	uint64_t stations_moved;            /* stations seen behind another port than before */
	uint64_t learn_full;                /* new stations not told because the ring was full */
	uint64_t sleeps, wakeups;           /* times asleep; those that a wakeup ended, not time */
	uint64_t sleep_cycles;              /* TSC cycles asleep */
} __rte_cache_aligned;

#define MR_PORT_NONE RTE_MAX_ETHPORTS

/* Adds to a counter of this thread. Readers of other threads see the old or the new value. */
static inline void mr_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline uint64_t mr_counter_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

#endif
