/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_FLOW_LIMIT_FWD_H
#define FILTER_FLOW_LIMIT_FWD_H

/*
 * How many flows there are that are alike in what a rule's limit names. Each lcore counts those
 * that it made, in a table of its own; the others read it and add up. A new flow is counted first
 * and then all are summed, so that two lcores that make the last two flows at once rather refuse
 * both than let both pass. What they write reaches each other after a moment, in which each may see
 * one too few: no more flows than lcores get past a limit so, and only within that moment.
 */
#include <stdalign.h>
#include <stdint.h>

#include "filter/flow_table_fwd.h"

#define FLOW_LIMIT_WORDS 6

/* Written by the lcore that the table belongs to; read by all, by version as flow entries are. */
struct flow_limit {
	alignas(64)
		uint64_t key[FLOW_LIMIT_WORDS]; /* the rule's serial number, and what is alike */
	uint32_t version;
	uint32_t count; /* 0: free */
};

struct flow_limits {
	uint32_t mask; /* places less one */
	uint64_t salt;
	struct flow_limit *limit;
};

/* What a rule says. */
struct flow_limit_rule {
	uint64_t serial;
	uint32_t limit; /* flows */
	uint8_t by;     /* MR_FILTER_BY_* */
};

enum flow_limit_answer { FLOW_LIMIT_COUNTED, FLOW_LIMIT_REACHED, FLOW_LIMIT_FULL };

/* Counts a new flow in the table of tables[own]; all: how many tables there are. *place: where, to
 * be given back when the flow ends. */
enum flow_limit_answer flow_limit_take(struct flow_table *const *tables, unsigned all, unsigned own,
				       const struct flow_limit_rule *rule,
				       const struct flow_key *key, uint32_t *place);

void flow_limit_give(struct flow_limits *limits, uint32_t place);

#endif
