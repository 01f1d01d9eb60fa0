/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_FLOW_WALK_FWD_H
#define FILTER_FLOW_WALK_FWD_H

#include "filter/walk_fwd.h"

/*
 * Where packets on their way through the rules meet flows: at the first rule with state that each
 * comes to, be that check-state or one that keeps state, and whether its tests match or not. A
 * burst is as good as its packets one by one: where one makes a flow, those behind it that no flow
 * knew ask again. (But one that a rule which is not final holds up, before it comes to the first
 * with state, is overtaken by those of its flow which that rule does not match.)
 */

/* Before rules are known, where the first rule of the hook is one with state: looks all packets up
 * and lets those pass that belong to a flow. */
void filter_meet_flows(struct walk *walk);

/* When rules are known: the same for those that have passed a rule with state; and makes flows for
 * those whose rule keeps state. Some may be dropped. */
void filter_keep_flows(struct walk *walk);

/* What an lcore sees of flows, for the time of a burst. */
struct flow_context filter_flow_context(const struct mr_filter_program *program,
					const struct mr_lcore *lcore);

/* Whose flows packets at an interface belong to; see struct flow_key. */
static inline uint16_t filter_flow_domain(const struct mr_iface *iface)
{
	return iface->mode == MR_MODE_BRIDGE ? (uint16_t)(iface->bridge + 1) : 0;
}

/* A turn of what ends flows; the tick of a program's hooks. */
void mr_filter_tick(const struct mr_hooks *hooks, struct mr_lcore *lcore);

#endif
