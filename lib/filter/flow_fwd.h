/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_FLOW_FWD_H
#define FILTER_FLOW_FWD_H

/*
 * Flows of all lcores: which packets belong to one, and how they begin and end.
 *
 * Each direction of a flow has an entry in the table of the lcore that handles it (see
 * flow_table_fwd.h). A packet whose direction its lcore does not know is looked up in all tables:
 * if the opposite direction is known, it is the answer, and gets an entry; if its own is known,
 * then its port was moved from another lcore to this one, and the entry is copied. Entries of the
 * two directions of a flow have the same id. Two lcores may meet the first packets of both
 * directions at the same instant and make two flows; they see it at the next packet, and agree on
 * the lower id.
 *
 * A flow lives as long as either direction is used. It is opening until the other end has answered
 * (TCP: until the handshake is complete); where there is no place for a new flow, the oldest
 * opening one makes room, and never another. So a flood of first packets ends no established flow.
 */
#include <rte_branch_prediction.h>

#include "filter/flow_limit_fwd.h"
#include "filter/flow_packet_fwd.h"
#include "filter/flow_table_fwd.h"
#include "lcore/placement.h"

enum flow_timeout {
	FLOW_TCP_OPENING,
	FLOW_TCP_ESTABLISHED,
	FLOW_TCP_CLOSING,
	FLOW_TCP_CLOSED,
	FLOW_UDP_OPENING,
	FLOW_UDP_ESTABLISHED,
	FLOW_ICMP,
	FLOW_OTHER_OPENING,
	FLOW_OTHER_ESTABLISHED,
	FLOW_TIMEOUTS
};

/* Written by the control thread, read by lcores. */
struct filter_flows {
	unsigned count; /* of lcores, and tables; set once */
	struct flow_table *table[MR_MAX_LCORES];
	uint32_t timeout[FLOW_TIMEOUTS]; /* seconds */
	uint32_t epoch;                  /* another one makes all flows void */
};

/* Which timeout a flow has, TCP's in the order of enum tcp_phase. */
static_assert((int)FLOW_TCP_CLOSED == (int)TCP_CLOSED, "a phase is a timeout");

/* A rule that keeps state, in a program, which lists them by serial number. */
struct flow_rule {
	struct flow_limit_rule limit; /* by 0: none */
	uint32_t index;               /* of the rule */
};

struct flow_rules {
	uint32_t program; /* the program's number, not 0 */
	uint32_t count;
	const struct flow_rule *rule;
};

/* An lcore's view, for the time of a burst. */
struct flow_context {
	struct filter_flows *flows;
	struct flow_table *own;
	const struct flow_rules *rules;
	uint32_t now; /* seconds */
};

/* The lcore's period (see struct flow_table); at least 1. */
static inline uint32_t filter_flow_period(const struct flow_context *context)
{
	struct flow_table *own = context->own;

	if (unlikely(own->now != context->now || own->program != context->rules->program)) {
		own->recent =
			own->program == context->rules->program && own->now + 1 == context->now
				? own->period
				: own->period + 1;
		own->period++;
		own->now = context->now;
		own->program = context->rules->program;
	}
	return own->period;
}

enum flow_answer {
	FLOW_UNKNOWN,    /* the packet belongs to no flow that is alive */
	FLOW_KNOWN,      /* it does: *rule is the index of the rule that made it */
	FLOW_BAD_STATE,  /* it says so, but lies outside of its connection's windows */
	FLOW_MADE,       /* a flow was made for it */
	FLOW_NO_PLACE,   /* there is no place for its flow */
	FLOW_OVER_LIMIT, /* there are as many flows as its rule allows */
	FLOW_BAD_HEADER, /* the packet is a segment whose header is not whole */
};

/* Looks a packet up that came to the first rule with state. hash: of its key, with FLOW_OF_KEY. */
enum flow_answer filter_flow_meet(const struct flow_context *context,
				  const struct flow_packet *packet, uint64_t hash, uint32_t *rule);

/* Makes a flow for a packet that belongs to none, and matches a rule that keeps state:
 * FLOW_UNKNOWN, if it can have none. Another packet of its burst may have made it: then the packet
 * is met. */
enum flow_answer filter_flow_make(const struct flow_context *context,
				  const struct flow_packet *packet, uint64_t hash,
				  const struct flow_rule *rule);

/* The rule of a serial number, NULL: it is no more. */
const struct flow_rule *filter_flow_rule(const struct flow_rules *rules, uint64_t serial);

/* Ends what is over among a few entries of the lcore's table. All of them have had their turn once
 * a second, unless there are more than iterations have time for. Once an iteration. idle: the one
 * before met no packet. */
void filter_flow_sweep(const struct flow_context *context, bool idle);

/* How many seconds a direction has left, when view is it and peer the other one (NULL: not known);
 * 0: it is over. *opening: the flow is. Any thread. */
uint32_t filter_flow_left(const struct filter_flows *flows, const struct flow_key *key,
			  const struct flow_view *view, const struct flow_view *peer, uint32_t now,
			  bool *opening);

/* The opposite direction of view, wherever it is. Any thread. */
bool filter_flow_peer(const struct filter_flows *flows, const struct flow_key *key,
		      const struct flow_view *view, struct flow_view *peer);

#endif
