/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_ROUTE_ROUTE_FWD_H
#define MR_ROUTE_ROUTE_FWD_H

#include "lcore/lcore.h"
#include "route/adjacency.h"

/* What forwarding lcores read of the router; written by the control thread. */
struct mr_route_fwd {
	struct mr_ipv4_table *ipv4;
	const struct mr_adjacency *adjacency[MR_MAX_NEXT_HOPS]; /* never NULL */
};

/* The stage of routed interfaces. */
mr_stage_fn mr_route_input;

#endif
