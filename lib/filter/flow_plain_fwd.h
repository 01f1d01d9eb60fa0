/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_FLOW_PLAIN_FWD_H
#define FILTER_FLOW_PLAIN_FWD_H

/*
 * The short way of plain packets (plain_fwd.h, tagged or not) to their flows.
 *
 * What decides whether a flow is alive changes once a second at most, and with the rules: so the
 * first packet of each such period takes the long way (flow_fwd.h), and those that follow need no
 * more than to find the entry; a TCP segment has to lie in its connection's windows besides.
 * Nothing but "passes" is decided here. Whatever else there may be to say is left to the long way.
 *
 * A flow that let a packet pass at input is not asked again at output, where packets that came
 * later may have changed it: the packet's word says so, and names the rule.
 */
#include "filter/walk_fwd.h"

/* Packets of a mask whose flow is known at once to let them pass: they are kept and counted.
 * Returns the mask of these. */
uint64_t filter_pass_flows(struct walk *walk, uint64_t mask);

/* The same, at output, for packets of all that meet their flow before any rule and that it let pass
 * at input. */
void filter_recall_flows(struct walk *walk, unsigned count);

/* Tells the output hook that the flow of packet i let it pass, and by which rule. Does nothing at
 * output. */
void filter_tell_flow(const struct walk *walk, unsigned i, uint32_t rule);

#endif
