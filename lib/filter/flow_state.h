/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_FLOW_STATE_H
#define FILTER_FLOW_STATE_H

#include <jansson.h>

#include "base/cmd.h"
#include "base/error.h"
#include "base/mr.h"
#include "filter/flow_fwd.h"

#define FLOW_TIMEOUT_MAX 604800 /* seconds */

/* Flows as the control thread has them: memory, times and reports. It writes into no table. */

/* The flows that lcores will share, which have no tables yet, with the usual times. NULL without
 * memory. */
struct filter_flows *filter_flows_create(void);
void filter_flows_free(struct filter_flows *flows);

/* Makes the tables, if there are none, for so many flows of each lcore (0: as usual). Returns 0 or
 * -ENOMEM with error set, nothing changed. */
int filter_flows_provide(struct filter_flows *flows, const struct mr *mr, uint32_t size,
			 struct mr_error *error);

/* The time of that name, or -ENOENT; its name; and how many seconds it is unless told. */
int filter_flows_timeout(const char *name);
const char *filter_flows_timeout_name(enum flow_timeout timeout);
uint32_t filter_flows_timeout_default(enum flow_timeout timeout);

/* Directions of flows, at most limit of them, in no order. */
json_t *filter_flows_report(const struct mr *mr, uint32_t limit);

/* How many directions there are now. */
uint64_t filter_flows_entries(const struct filter_flows *flows);

/* The times, and each lcore's counters. */
json_t *filter_flows_report_timeouts(const struct filter_flows *flows);
json_t *filter_flows_report_lcores(const struct mr *mr);

extern const struct mr_cmd mr_filter_state_cmds[];
extern const struct mr_query mr_filter_state_queries[];

#endif
