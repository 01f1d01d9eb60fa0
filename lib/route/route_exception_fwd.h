/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_ROUTE_ROUTE_EXCEPTION_FWD_H
#define MR_ROUTE_ROUTE_EXCEPTION_FWD_H

#include "route/route_fwd.h"

/* Ends or forwards one packet, given away, that the vector loops left: whatever arrived on a
 * routed interface and is not a plain IPv4 packet with a complete adjacency. */
void mr_route_exception(struct mr_lcore *lcore, struct rte_mbuf *packet,
			const struct mr_iface *iface);

#endif
