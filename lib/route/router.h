/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_ROUTE_ROUTER_H
#define MR_ROUTE_ROUTER_H

#include "base/addr.h"
#include "base/cmd.h"
#include "base/error.h"
#include "base/mr.h"
#include "route/route_fwd.h"

/*
 * The IPv4 router's configuration: addresses on interfaces, connected and static routes, next hops.
 * Control thread only; what lcores read is in struct mr_route_fwd.
 */
struct mr_router_options {
	uint32_t max_routes; /* 0: default */
};

int mr_router_create(struct mr *mr, const struct mr_router_options *options,
		     struct mr_error *error);
void mr_router_destroy(struct mr *mr);

/* Follows an interface's link, MTU and MAC (already published): adjacencies over it are renewed. */
void mr_router_iface_changed(struct mr *mr, uint16_t iface);

/* Whether addr is one of the appliance's own; *iface gets its interface (may be NULL). */
bool mr_router_is_local(struct mr *mr, const struct mr_addr *addr, uint16_t *iface);

/* The interface's address to be used as a source towards peer (the one whose subnet contains it,
 * else the first). Returns 0 or -ENOENT when the interface has none. */
int mr_router_source(struct mr *mr, uint16_t iface, const struct mr_addr *peer,
		     struct mr_addr *source);

/* The interface's addresses by number from 0, host bits kept: 0, or -ENOENT after the last. */
int mr_router_address(struct mr *mr, uint16_t iface, unsigned number, struct mr_prefix *address);

/* The interface's own prefix that contains addr: 0 or -ENOENT. */
int mr_router_connected(struct mr *mr, uint16_t iface, const struct mr_addr *addr,
			struct mr_prefix *prefix);

/* Longest prefix match as the lcores do it: the adjacency (multipath already resolved by
 * flow_hash). */
const struct mr_adjacency *mr_router_lookup(struct mr *mr, const struct mr_addr *destination,
					    uint32_t flow_hash);

extern const struct mr_cmd mr_route_cmds[];
extern const struct mr_query mr_route_queries[];

#endif
