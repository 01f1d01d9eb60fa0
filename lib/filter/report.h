/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_REPORT_H
#define MR_FILTER_REPORT_H

#include <stdint.h>

#include <jansson.h>

#include "base/mr.h"

/* What commands and telemetry show. NULL without memory. */

/* Rules from the index `from` on, at most `limit`, with their counters. */
json_t *mr_filter_report_rules(const struct mr *mr, uint32_t from, uint32_t limit);

/* The default action and what it decided, how many rules and address sets there are, and which
 * bridges are exempt. */
json_t *mr_filter_report_summary(const struct mr *mr);

/* An address set's prefixes. */
json_t *mr_filter_report_addresses(const struct mr *mr, unsigned index);

/* The address sets: their names, sizes and users. */
json_t *mr_filter_report_address_sets(const struct mr *mr);

#endif
