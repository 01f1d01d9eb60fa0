/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_REPORT_H
#define MR_LCORE_REPORT_H

#include <jansson.h>

#include "base/mr.h"
#include "lcore/lcores.h"

/*
 * What people and programs are told of lcores, as data: docs/telemetry.md has the fields. Commands
 * and queries share it. Control thread; each returns a new reference, NULL without memory.
 */
json_t *mr_report_lcore_ids(const struct mr *mr);
json_t *mr_report_lcore(const struct mr *mr, const struct mr_lcore *lcore);
json_t *mr_report_lcore_summary(const struct mr *mr, const struct mr_lcore *lcore);

/* "port/queue" of what an lcore polls, and of the tx queues that it owns. */
json_t *mr_report_rx_queues(const struct mr *mr, const struct mr_lcore *lcore);
json_t *mr_report_tx_queues(const struct mr *mr, const struct mr_lcore *lcore);

json_t *mr_report_drops(const struct mr *mr);
json_t *mr_report_drops_of(const struct mr_counters *counters);
uint64_t mr_report_drop_total(const struct mr *mr, enum mr_drop_reason reason);
json_t *mr_report_balance(struct mr *mr);
json_t *mr_report_rcu(const struct mr *mr);

/* The lcore with that EAL id, NULL if none forwards under it. */
const struct mr_lcore *mr_lcore_by_id(const struct mr *mr, uint64_t id);

#endif
