/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_FILTER_FWD_H
#define MR_FILTER_FILTER_FWD_H

#include <stdint.h>

#include "bridge/bridge_fwd.h"
#include "lcore/placement.h"

struct filter_flows;
struct mr_filter_log;
struct mr_verdict_cache;
struct plain_cache;

/* What one lcore counted of one rule. Written by that lcore alone, with plain stores (mr_count);
 * anyone may read. */
struct mr_filter_hits {
	uint64_t packets, bytes; /* bytes of frames, without FCS */
	uint64_t seconds;        /* mr_forwarding's, at the last match */
};

/* What forwarding lcores read of the filter; written by the control thread. */
struct mr_filter_fwd {
	/* By lcore index: MR_FILTER_COUNTERS entries, by a rule's counter; set once. */
	struct mr_filter_hits *hits[MR_MAX_LCORES];
	/* By lcore index, at input and at output: the lcore's own; set once. */
	struct mr_verdict_cache *cache[MR_MAX_LCORES][2];
	struct plain_cache *plain[MR_MAX_LCORES]; /* by lcore index: the lcore's own; set once */
	struct mr_filter_log *log;                /* by lcore index: the lcore's own; set once */
	struct filter_flows *flows;               /* what lcores share of flows; set once */
	uint8_t exempt[MR_MAX_BRIDGES];           /* 1: what a bridge carries meets no rules */
};

#endif
