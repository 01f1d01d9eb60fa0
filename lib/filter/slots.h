/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_SLOTS_H
#define MR_FILTER_SLOTS_H

#include "filter/rule.h"

/*
 * Who has which counter. A rule keeps its own for life; it is free again when no set that lcores
 * might still read holds the rule. Indices from 1 to MR_FILTER_COUNTERS - 1: room for the rules of
 * two sets, one in force and one being made.
 */
struct mr_filter_slots {
	uint32_t fresh;  /* those from here on were never taken */
	uint32_t unused; /* how many are in free_slot */
	uint32_t free_slot[MR_FILTER_COUNTERS];
};

/* Returns NULL without memory. */
struct mr_filter_slots *mr_filter_slots_create(void);

/* Gives a rule that has none a counter. Returns 0 or -ENOSPC. */
int mr_filter_slots_take(struct mr_filter_slots *slots, struct mr_filter_rule *rule);

void mr_filter_slots_give(struct mr_filter_slots *slots, uint32_t counter);

#endif
