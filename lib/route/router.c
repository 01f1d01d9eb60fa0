/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The router as a whole: making it, asking it, and following interfaces. The IPv4 table is the only
 * list of routes there is: what kind a route is follows from who owns its next hop, so that nothing
 * has to be kept beside it. Destinations that are never routed (RFC 1812 5.3.7, RFC 1122 3.2.1.3)
 * are routes too, so that lcores check a destination by the lookup that they do anyway.
 */
#include "route/router_state.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "base/rcu.h"
#include "lcore/lcores.h"
#include "route/neighbour_state.h"
#include "route/route_rewrite_fwd.h"

#define DEFAULT_MAX_ROUTES (1u << 20)
/* Room for routes that nobody configured: neighbours and what addresses bring. */
#define ROUTES_BESIDE_STATIC (NEIGHBOURS_MAX + 4 * MAX_ADDRESSES + 4)

static const struct mr_ipv4_route internal_routes[] = {
	{.prefix = 0, .length = 8, .next_hop = NEXT_HOP_MARTIAN},
	{.prefix = UINT32_C(127) << 24, .length = 8, .next_hop = NEXT_HOP_MARTIAN},
	{.prefix = UINT32_C(224) << 24, .length = 4, .next_hop = NEXT_HOP_MULTICAST},
	{.prefix = UINT32_C(240) << 24, .length = 4, .next_hop = NEXT_HOP_MARTIAN},
};

static void router_free(struct mr *mr)
{
	struct mr_router *router = mr->router;

	if (router->neighbours != NULL)
		neighbours_destroy(mr);
	multipaths_destroy(router->multipaths);
	mr_ipv4_table_destroy(router->table);
	/* Indices come back after a grace period. */
	mr_rcu_synchronize(mr->rcu);
	next_hops_destroy(router->hops);
	for (unsigned i = 0; i < MR_MAX_IFACES; i++)
		free(router->iface[i]);
	rte_free(router->fwd);
	free(router);
	mr->router = NULL;
}

int mr_router_create(struct mr *mr, const struct mr_router_options *options, struct mr_error *error)
{
	struct mr_router *router = calloc(1, sizeof(*router));
	uint32_t max = options->max_routes != 0 ? options->max_routes : DEFAULT_MAX_ROUTES;

	if (max > MR_IPV4_TABLE_MAX_ROUTES - ROUTES_BESIDE_STATIC) {
		free(router);
		return mr_fail(error, -EINVAL, "%u routes are too many: at most %u are possible",
			       max, MR_IPV4_TABLE_MAX_ROUTES - ROUTES_BESIDE_STATIC);
	}
	if (router == NULL)
		return mr_fail(error, -ENOMEM, "no memory for the router");
	mr->router = router;
	router->max_static_routes = max;
	router->fwd = rte_zmalloc("mr_route_fwd", sizeof(*router->fwd), RTE_CACHE_LINE_SIZE);
	router->table = mr_ipv4_table_create(mr->rcu, SOCKET_ID_ANY, max + ROUTES_BESIDE_STATIC);
	if (router->fwd != NULL)
		router->hops = next_hops_create(mr->rcu, router->fwd->adjacency);
	router->neighbours = neighbours_create();
	router->multipaths = multipaths_create();
	if (router->fwd == NULL || router->table == NULL || router->hops == NULL ||
	    router->neighbours == NULL || router->multipaths == NULL)
		goto no_memory;
	router->fwd->ipv4 = router->table;
	mr->lcores->forwarding.route = router->fwd;
	mr->lcores->forwarding.stage[MR_MODE_ROUTE] = mr_route_input;
	mr_lcores_add_held(mr, mr_neighbour_held);
	for (unsigned i = 0; i < RTE_DIM(internal_routes); i++)
		if (mr_ipv4_table_add(router->table, internal_routes[i].prefix,
				      internal_routes[i].length, internal_routes[i].next_hop) != 0)
			goto no_memory;
	return 0;

no_memory:
	router_free(mr);
	return mr_fail(error, -ENOMEM, "no memory for the IPv4 table and its neighbours");
}

void mr_router_destroy(struct mr *mr)
{
	if (mr->router != NULL)
		router_free(mr);
}

const struct mr_adjacency *mr_router_adjacency(struct mr *mr, uint32_t next_hop)
{
	return mr->router->fwd->adjacency[next_hop < MR_MAX_NEXT_HOPS ? next_hop : 0];
}

bool iface_is_up(struct mr *mr, uint16_t iface)
{
	const struct mr_iface *state = mr_iface(mr, iface);

	return state != NULL && state->link_up;
}

void mr_router_iface_changed(struct mr *mr, uint16_t index)
{
	struct mr_router *router = mr->router;
	struct router_iface *iface = index < MR_MAX_IFACES ? router->iface[index] : NULL;
	const struct mr_iface *state = mr_iface(mr, index);
	bool up = iface_is_up(mr, index), changed;

	if (iface == NULL)
		return;
	changed = iface->link_up != up;
	if (iface->link_up && !up)
		mr_neighbour_flush(mr, index);
	iface->link_up = up;
	if (state != NULL) {
		struct mr_adjacency adjacency = {
			.kind = MR_ADJ_CONNECTED, .iface = index, .mtu = state->mtu};

		next_hop_publish(router->hops, iface->connected_hop, &adjacency);
		adjacency.kind = MR_ADJ_LOCAL;
		next_hop_publish(router->hops, iface->local_hop, &adjacency);
	}
	/* Subnets first: a neighbour gets a /32 of its own where a subnet covers it. */
	addresses_follow_link(mr, index);
	neighbours_follow_iface(mr, iface);
	if (changed)
		routes_follow_link(mr);
}

bool mr_router_is_local(struct mr *mr, const struct mr_addr *addr, uint16_t *iface)
{
	const struct mr_adjacency *adjacency;

	if (addr->family != AF_INET)
		return false;
	adjacency = mr_router_adjacency(
		mr, mr_ipv4_table_find(mr->router->table, mr_addr_ipv4(addr), 32));
	if (adjacency->kind != MR_ADJ_LOCAL)
		return false;
	if (iface != NULL)
		*iface = adjacency->iface;
	return true;
}

const struct mr_adjacency *mr_router_lookup(struct mr *mr, const struct mr_addr *destination,
					    uint32_t flow_hash)
{
	uint32_t next_hop = MR_NEXT_HOP_NONE;
	const struct mr_adjacency *adjacency;

	if (destination->family == AF_INET)
		next_hop = mr_ipv4_table_lookup(mr->router->table, mr_addr_ipv4(destination), NULL);
	adjacency = mr_router_adjacency(mr, next_hop);
	if (adjacency->kind == MR_ADJ_MULTIPATH)
		adjacency = mr_adjacency_choose(mr->router->fwd, adjacency, flow_hash);
	return adjacency;
}

enum route_type route_type(struct mr *mr, const struct mr_ipv4_route *route)
{
	struct next_hops *hops = mr->router->hops;
	const struct neighbour *n;

	switch (next_hop_owner(hops, route->next_hop)) {
	case NEXT_HOP_FIXED:
		if (route->next_hop == NEXT_HOP_BLACKHOLE)
			return ROUTE_STATIC;
		return route->next_hop == NEXT_HOP_BROADCAST ? ROUTE_BROADCAST : ROUTE_INTERNAL;
	case NEXT_HOP_IFACE:
		return mr_router_adjacency(mr, route->next_hop)->kind == MR_ADJ_LOCAL
			       ? ROUTE_LOCAL
			       : ROUTE_CONNECTED;
	case NEXT_HOP_NEIGHBOUR:
		n = next_hop_object(hops, route->next_hop);
		return n->host_route && route->length == 32 && route->prefix == n->ipv4
			       ? ROUTE_NEIGHBOUR
			       : ROUTE_STATIC;
	case NEXT_HOP_MULTIPATH:
		return ROUTE_STATIC;
	}
	return ROUTE_INTERNAL;
}

const char *ipv4_text(uint32_t ipv4, char *text)
{
	struct mr_addr addr = mr_addr_from_ipv4(ipv4);

	return mr_addr_format(&addr, text);
}

const char *ipv4_prefix_text(uint32_t prefix, unsigned length, char *text)
{
	struct mr_prefix p = {.addr = mr_addr_from_ipv4(prefix), .length = (uint8_t)length};

	return mr_prefix_format(&p, text);
}
