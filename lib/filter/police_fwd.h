/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_POLICE_FWD_H
#define MR_FILTER_POLICE_FWD_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "lcore/counters.h"
#include "lcore/placement.h"

/*
 * A rate that several lcores share without a word that two of them write: the control thread grants
 * bytes to each lcore as time passes, never more than the burst to all together, and each lcore
 * counts what it spent.
 */
struct mr_filter_spender {
	uint64_t granted __rte_cache_aligned; /* bytes ever; written by the control thread */
	uint64_t spent __rte_cache_aligned;   /* bytes ever; written by the lcore */
};

struct mr_filter_police {
	struct mr_filter_police *next; /* of those in force; control thread */
	uint64_t rate;                 /* bytes a second */
	uint64_t burst;                /* bytes */
	uint64_t granted_at;           /* TSC up to which bytes were granted; control thread */
	uint64_t rest;                 /* bytes times TSC hertz that were not granted yet */
	unsigned spenders;
	struct mr_filter_spender spender[MR_MAX_LCORES]; /* by lcore index */
};

/* Whether the lcore may still send that many bytes; then they are spent. The lcore only. */
static inline bool mr_filter_police_spend(struct mr_filter_police *police, unsigned lcore,
					  uint32_t bytes)
{
	struct mr_filter_spender *spender = &police->spender[lcore];

	if (mr_counter_read(&spender->granted) - spender->spent < bytes)
		return false;
	mr_count(&spender->spent, bytes);
	return true;
}

#endif
