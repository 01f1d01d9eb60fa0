/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Static routes. They live in the IPv4 table alone; each holds one reference on its next hop, that
 * is on its gateway, or on the set of its gateways. All checks come before the first change.
 */
#include <errno.h>
#include <string.h>

#include "route/neighbour_state.h"
#include "route/router_state.h"

static int check_prefix(struct mr *mr, uint32_t prefix, unsigned length, const char *text,
			struct mr_error *error)
{
	static const struct {
		uint32_t prefix;
		unsigned length;
		const char *name;
	} reserved[] = {{0, 8, "0.0.0.0/8"},
			{UINT32_C(127) << 24, 8, "127.0.0.0/8"},
			{UINT32_C(224) << 24, 4, "224.0.0.0/4 (multicast)"},
			{UINT32_C(240) << 24, 4, "240.0.0.0/4"}};
	struct mr_ipv4_route route = {prefix, (uint8_t)length, 0};
	const struct router_address *a;
	char other[MR_ADDR_TEXT_SIZE];

	for (unsigned i = 0; i < RTE_DIM(reserved); i++)
		if (length >= reserved[i].length &&
		    ipv4_covers(reserved[i].prefix, reserved[i].length, prefix))
			return mr_fail(error, -EINVAL,
				       "%s is inside %s, to which nothing is ever routed", text,
				       reserved[i].name);
	route.next_hop = mr_ipv4_table_find(mr->router->table, prefix, (uint8_t)length);
	if (route.next_hop == MR_NEXT_HOP_NONE)
		return 0;
	switch (route_type(mr, &route)) {
	case ROUTE_NEIGHBOUR:
		return 0;
	case ROUTE_STATIC:
		return mr_fail(error, -EEXIST, "the route %s exists already: delete it first",
			       text);
	default:
		a = address_covering(mr, prefix, 32);
		return mr_fail(error, -EEXIST,
			       "the route %s comes from the address %s of port %u and cannot be "
			       "replaced",
			       text, ipv4_prefix_text(a->ipv4, a->length, other), a->iface);
	}
}

/* Finds the interface of a gateway. */
static int check_gateway(struct mr *mr, const struct mr_addr *gateway, uint16_t *iface,
			 struct mr_error *error)
{
	char text[MR_ADDR_TEXT_SIZE], other[MR_ADDR_TEXT_SIZE];
	const struct router_address *a;
	uint32_t ipv4;

	mr_addr_format(gateway, text);
	if (gateway->family != AF_INET)
		return mr_fail(error, -EAFNOSUPPORT,
			       "the gateway %s is not an IPv4 address, as the route's prefix is",
			       text);
	ipv4 = mr_addr_ipv4(gateway);
	if (mr_router_is_local(mr, gateway, NULL))
		return mr_fail(error, -EINVAL,
			       "the gateway %s is an address of this appliance itself", text);
	a = address_covering(mr, ipv4, 32);
	if (a == NULL)
		return mr_fail(error, -ENETUNREACH,
			       "the gateway %s is on no port's subnet: gateways are directly "
			       "connected",
			       text);
	if (address_is_broadcast(mr, a->iface, ipv4))
		return mr_fail(error, -EINVAL,
			       "the gateway %s is the network or broadcast address of port %u's "
			       "subnet (its address is %s)",
			       text, a->iface, ipv4_prefix_text(a->ipv4, a->length, other));
	*iface = a->iface;
	return 0;
}

static int check_gateways(struct mr *mr, const struct mr_addr *gateways, unsigned count,
			  uint16_t ifaces[MR_MAX_PATHS], struct mr_error *error)
{
	char text[MR_ADDR_TEXT_SIZE];

	if (count > MR_MAX_PATHS)
		return mr_fail(error, -E2BIG, "%u gateways are too many: a route takes 1 to %u",
			       count, MR_MAX_PATHS);
	for (unsigned i = 0; i < count; i++) {
		int rc = check_gateway(mr, &gateways[i], &ifaces[i], error);

		if (rc != 0)
			return rc;
		for (unsigned j = 0; j < i; j++)
			if (mr_addr_equal(&gateways[i], &gateways[j]))
				return mr_fail(error, -EINVAL, "the gateway %s is given twice",
					       mr_addr_format(&gateways[i], text));
	}
	return 0;
}

static void release(struct mr *mr, uint32_t next_hop)
{
	switch (next_hop_owner(mr->router->hops, next_hop)) {
	case NEXT_HOP_NEIGHBOUR:
		neighbour_gateway_release(mr, next_hop_object(mr->router->hops, next_hop));
		break;
	case NEXT_HOP_MULTIPATH:
		multipath_release(mr, next_hop);
		break;
	default: /* the black hole, which is not counted */
		break;
	}
}

/* Takes a reference on the next hop of a set of gateways. */
static int take(struct mr *mr, const struct mr_addr *gateways, const uint16_t *ifaces,
		unsigned count, uint32_t *next_hop)
{
	struct neighbour *taken[MR_MAX_PATHS];
	unsigned n;
	int rc = 0;

	if (count == 0) {
		*next_hop = NEXT_HOP_BLACKHOLE;
		return 0;
	}
	for (n = 0; n < count; n++) {
		taken[n] = neighbour_gateway_take(mr, ifaces[n], mr_addr_ipv4(&gateways[n]));
		if (taken[n] == NULL) {
			rc = -ENOSPC;
			break;
		}
	}
	if (rc == 0 && count == 1) {
		*next_hop = taken[0]->next_hop;
		return 0;
	}
	if (rc == 0)
		rc = multipath_take(mr, taken, count, next_hop);
	/* A set has references of its own. */
	while (n > 0)
		neighbour_gateway_release(mr, taken[--n]);
	return rc;
}

int mr_route_add(struct mr *mr, const struct mr_prefix *prefix, const struct mr_addr *gateways,
		 unsigned count, struct mr_error *error)
{
	struct mr_router *router = mr->router;
	struct mr_prefix canonical = mr_prefix_canonical(prefix);
	uint8_t length = canonical.length;
	uint16_t ifaces[MR_MAX_PATHS];
	uint32_t ipv4, next_hop, covered;
	char text[MR_ADDR_TEXT_SIZE];
	int rc;

	mr_prefix_format(&canonical, text);
	if (canonical.addr.family != AF_INET)
		return mr_fail(error, -EAFNOSUPPORT, "%s is not an IPv4 prefix", text);
	ipv4 = mr_addr_ipv4(&canonical.addr);
	rc = check_prefix(mr, ipv4, length, text, error);
	if (rc == 0)
		rc = check_gateways(mr, gateways, count, ifaces, error);
	if (rc != 0)
		return rc;
	if (router->static_routes == router->max_static_routes)
		return mr_fail(error, -ENOSPC, "%u static routes is the limit",
			       router->max_static_routes);
	rc = take(mr, gateways, ifaces, count, &next_hop);
	neighbours_report(mr);
	if (rc != 0)
		return mr_fail(error, rc, "no room for the gateways of %s", text);

	/* A neighbour's own /32 gives way. */
	covered = mr_ipv4_table_find(router->table, ipv4, length);
	if (covered != MR_NEXT_HOP_NONE)
		neighbour_host_route_end(mr, next_hop_object(router->hops, covered));
	rc = mr_ipv4_table_add(router->table, ipv4, length, next_hop);
	if (rc != 0) {
		release(mr, next_hop);
		neighbours_follow_prefix(mr, ipv4, length);
		neighbours_report(mr);
		return mr_fail(error, rc, "no memory for the route %s", text);
	}
	router->static_routes++;
	route_follow_link(mr, ipv4, length);
	neighbours_follow_prefix(mr, ipv4, length);
	return 0;
}

int mr_route_del(struct mr *mr, const struct mr_prefix *prefix, struct mr_error *error)
{
	struct mr_router *router = mr->router;
	struct mr_prefix canonical = mr_prefix_canonical(prefix);
	struct mr_ipv4_route route = {.length = canonical.length};
	const struct router_address *a;
	char text[MR_ADDR_TEXT_SIZE], other[MR_ADDR_TEXT_SIZE];

	mr_prefix_format(&canonical, text);
	if (canonical.addr.family != AF_INET)
		return mr_fail(error, -EAFNOSUPPORT, "%s is not an IPv4 prefix", text);
	route.prefix = mr_addr_ipv4(&canonical.addr);
	route.next_hop = mr_ipv4_table_find(router->table, route.prefix, route.length);
	if (route.next_hop == MR_NEXT_HOP_NONE)
		return mr_fail(error, -ENOENT, "there is no route %s", text);
	switch (route_type(mr, &route)) {
	case ROUTE_STATIC:
		break;
	case ROUTE_INTERNAL:
		return mr_fail(error, -EPERM,
			       "%s is a destination to which nothing is ever routed, not a static "
			       "route",
			       text);
	case ROUTE_NEIGHBOUR:
		return mr_fail(error, -EPERM,
			       "%s is a neighbour, not a static route: use neighbour del", text);
	default:
		a = address_covering(mr, route.prefix, 32);
		return mr_fail(error, -EPERM,
			       "the route %s comes from the address %s of port %u: delete that "
			       "address",
			       text, ipv4_prefix_text(a->ipv4, a->length, other), a->iface);
	}
	mr_ipv4_table_del(router->table, route.prefix, route.length);
	router->static_routes--;
	release(mr, route.next_hop);
	neighbours_follow_prefix(mr, route.prefix, route.length);
	neighbours_report(mr); /* of packets that waited for a gateway that is gone with it */
	return 0;
}

struct search {
	struct mr *mr;
	const struct neighbour *gateway;
	struct mr_ipv4_route *route;
	bool found;
};

static bool uses_gateway(const struct mr_ipv4_route *route, void *arg)
{
	struct search *search = arg;
	const struct neighbour *gateways[MR_MAX_PATHS];
	unsigned count = 0;

	if (route_type(search->mr, route) != ROUTE_STATIC)
		return true;
	if (next_hop_owner(search->mr->router->hops, route->next_hop) == NEXT_HOP_MULTIPATH)
		count = multipath_gateways(search->mr, route->next_hop, gateways);
	search->found = route->next_hop == search->gateway->next_hop;
	for (unsigned i = 0; i < count; i++)
		search->found |= gateways[i] == search->gateway;
	if (search->found)
		*search->route = *route;
	return !search->found;
}

bool static_route_over(struct mr *mr, const struct neighbour *gateway, struct mr_ipv4_route *route)
{
	struct search search = {.mr = mr, .gateway = gateway, .route = route};

	/* Only to name a route in a sentence: whether there is one is counted. */
	if (neighbour_is_gateway(mr, gateway))
		mr_ipv4_table_iterate(mr->router->table, NULL, uses_gateway, &search);
	return search.found;
}

struct withdrawal {
	struct mr *mr;
	uint16_t iface;
	struct mr_lines *lines;
};

unsigned static_route_gateways(struct mr *mr, uint32_t next_hop,
			       const struct neighbour *gateways[MR_MAX_PATHS])
{
	switch (next_hop_owner(mr->router->hops, next_hop)) {
	case NEXT_HOP_NEIGHBOUR:
		gateways[0] = next_hop_object(mr->router->hops, next_hop);
		return 1;
	case NEXT_HOP_MULTIPATH:
		return multipath_gateways(mr, next_hop, gateways);
	default:
		return 0;
	}
}

static void note(struct mr_lines *lines, const char *prefix,
		 const struct neighbour *const *gateways, unsigned count, bool stays)
{
	char via[MR_MAX_PATHS * MR_ADDR_TEXT_SIZE] = "", text[MR_ADDR_TEXT_SIZE];

	for (unsigned i = 0; i < count; i++) {
		strcat(via, " ");
		strcat(via, ipv4_text(gateways[i]->ipv4, text));
	}
	if (stays)
		mr_lines_add(lines, "route del %s", prefix);
	mr_lines_add(lines, "route add %s via%s", prefix, via);
}

/* A route keeps the gateways that are elsewhere, without a moment in which it has none. */
static void withdraw(struct mr *mr, const struct mr_ipv4_route *route, uint16_t iface,
		     struct mr_lines *lines)
{
	const struct neighbour *gateways[MR_MAX_PATHS];
	unsigned count = static_route_gateways(mr, route->next_hop, gateways), kept = 0;
	struct mr_prefix prefix = {mr_addr_from_ipv4(route->prefix), route->length};
	struct mr_addr address[MR_MAX_PATHS];
	uint16_t ifaces[MR_MAX_PATHS];
	char text[MR_ADDR_TEXT_SIZE];
	uint32_t next_hop;

	for (unsigned i = 0; i < count; i++) {
		if (gateways[i]->iface == iface)
			continue;
		address[kept] = mr_addr_from_ipv4(gateways[i]->ipv4);
		ifaces[kept++] = gateways[i]->iface;
	}
	note(lines, mr_prefix_format(&prefix, text), gateways, count, kept > 0);
	if (kept == 0 || take(mr, address, ifaces, kept, &next_hop) != 0) {
		mr_route_del(mr, &prefix, NULL);
		return;
	}
	if (mr_ipv4_table_replace(mr->router->table, route->prefix, route->length, next_hop) != 0) {
		release(mr, next_hop);
		mr_route_del(mr, &prefix, NULL);
		return;
	}
	release(mr, route->next_hop);
	route_follow_link(mr, route->prefix, route->length);
}

static bool withdraw_if_over(const struct mr_ipv4_route *route, void *arg)
{
	struct withdrawal *w = arg;
	const struct neighbour *gateways[MR_MAX_PATHS];
	unsigned count = 0;

	if (route_type(w->mr, route) == ROUTE_STATIC)
		count = static_route_gateways(w->mr, route->next_hop, gateways);
	for (unsigned i = 0; i < count; i++)
		if (gateways[i]->iface == w->iface) {
			withdraw(w->mr, route, w->iface, w->lines);
			break;
		}
	return true;
}

void static_routes_withdraw(struct mr *mr, uint16_t iface, struct mr_lines *lines)
{
	struct withdrawal w = {.mr = mr, .iface = iface, .lines = lines};

	mr_ipv4_table_iterate(mr->router->table, NULL, withdraw_if_over, &w);
	neighbours_report(mr);
}
