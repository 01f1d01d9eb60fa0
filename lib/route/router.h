/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_ROUTE_ROUTER_H
#define MR_ROUTE_ROUTER_H

#include "base/addr.h"
#include "base/cmd.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/mr.h"
#include "route/route_fwd.h"

/*
 * The IPv4 router's configuration: addresses on interfaces, connected and static routes, next hops.
 * Control thread only; what lcores read is in struct mr_route_fwd.
 */
struct mr_router_options {
	uint32_t max_routes; /* 0: default */
};

/* Makes mr->router and gives it to the lcores' forwarding state, which must exist. */
int mr_router_create(struct mr *mr, const struct mr_router_options *options,
		     struct mr_error *error);
/* No reader is left; runs what is deferred. */
void mr_router_destroy(struct mr *mr);

/* The adjacency that is published under a next hop index now, never NULL. */
const struct mr_adjacency *mr_router_adjacency(struct mr *mr, uint32_t next_hop);

/*
 * Changes. Each returns 0 or a negative errno with a sentence in error (which may be NULL), and
 * then nothing has changed.
 */

/* Gives an interface an address and the length of its subnet (host bits are the address's own). The
 * interface becomes routed; without its last address it is again what it was before. An address on
 * whose subnet a route's gateway or a static neighbour depends is not deleted. */
int mr_address_add(struct mr *mr, const struct mr_prefix *address, uint16_t iface,
		   struct mr_error *error);
int mr_address_del(struct mr *mr, const struct mr_prefix *address, uint16_t iface,
		   struct mr_error *error);

/* Has neighbours told of the addresses of an interface: called when one was added to an interface
 * that has link. */
typedef void mr_announce_fn(struct mr *mr, uint16_t iface);
void mr_address_set_announce(struct mr *mr, mr_announce_fn *announce);

/* Adds a static route over 1 to MR_MAX_PATHS gateways on connected subnets, or to nowhere when
 * count is 0 (a black hole). Host bits of the prefix are cleared. */
int mr_route_add(struct mr *mr, const struct mr_prefix *prefix, const struct mr_addr *gateways,
		 unsigned count, struct mr_error *error);
int mr_route_del(struct mr *mr, const struct mr_prefix *prefix, struct mr_error *error);

/* Follows an interface's link, MTU and MAC (already published): adjacencies over it are renewed.
 * Without link its subnets and the routes all of whose gateways are there are withdrawn: lookups
 * pass them over, until the link is back. Configuration is as it was, own addresses stay local. */
void mr_router_iface_changed(struct mr *mr, uint16_t iface);

/* Goes on with withdrawing and restoring where routes are many. Returns how many were visited. */
unsigned mr_router_poll(struct mr *mr);

/* Deletes the addresses and neighbours of an interface that was removed, and the static routes over
 * it. Those over other interfaces as well keep these. What a person had configured is noted in
 * lines (which may be NULL). */
void mr_router_withdraw(struct mr *mr, uint16_t iface, struct mr_lines *lines);

/* Whether addr is one of the appliance's own; *iface gets its interface (may be NULL). */
bool mr_router_is_local(struct mr *mr, const struct mr_addr *addr, uint16_t *iface);

/* The appliance's own addresses, at most `max` of them; returns how many there are. */
unsigned mr_router_addresses(const struct mr *mr, struct mr_addr *addresses, unsigned max);

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

/* Commands and queries about addresses and routes. */
extern const struct mr_cmd mr_route_cmds[];
extern const struct mr_query mr_route_queries[];

#endif
