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
 */
#include "filter/walk_fwd.h"

/* Packets of a mask whose flow is known at once to let them pass: they are kept and counted.
 * Returns the mask of these. */
uint64_t filter_pass_flows(struct walk *walk, uint64_t mask);

#endif
