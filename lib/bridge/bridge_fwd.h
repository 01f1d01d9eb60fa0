/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_BRIDGE_BRIDGE_FWD_H
#define MR_BRIDGE_BRIDGE_FWD_H

#include "lcore/lcore.h"

#define MR_MAX_BRIDGES 256

/* A bridge's members; never changes once published. */
struct mr_bridge_members {
	uint16_t count;
	uint16_t iface[RTE_MAX_ETHPORTS];
};

/* What forwarding lcores read of the bridges; written by the control thread. */
struct mr_bridge_fwd {
	struct mac_table *stations;
	const struct mr_bridge_members *members[MR_MAX_BRIDGES]; /* NULL: no such bridge */
};

/* The stage of bridge members. */
mr_stage_fn mr_bridge_input;

#endif
