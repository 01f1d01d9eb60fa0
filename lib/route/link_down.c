/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes follow links. Where a link is down, the subnets of its addresses and the static routes all
 * of whose gateways are there are withdrawn: the table keeps them, lookups pass them over, so that
 * a shorter prefix that covers them takes their place. What is configured does not change.
 *
 * From the moment a link is down nothing is sent there, since the next hops say so. Which routes
 * are to be withdrawn is asked of each, for none knows its interface otherwise than by its next
 * hop; a full table is walked in steps, so that the control thread has time for all else. A link
 * that changes meanwhile starts the walk anew: it makes each route what it should be, whatever it
 * was.
 */
#include "route/neighbour_state.h"
#include "route/router_state.h"

#define ROUTES_A_STEP 1024
#define RETRY_MS 1000

/* Whether all gateways of a static route are without link. A black hole needs none. */
static bool gateways_have_no_link(struct mr *mr, uint32_t next_hop)
{
	const struct neighbour *gateways[MR_MAX_PATHS];
	unsigned count = static_route_gateways(mr, next_hop, gateways);

	for (unsigned i = 0; i < count; i++)
		if (iface_is_up(mr, gateways[i]->iface))
			return false;
	return count > 0;
}

/* Own addresses stay, and the ends of a subnet, which nobody else may have; the /32 of a neighbour
 * ends by itself. */
static bool has_no_link(struct mr *mr, const struct mr_ipv4_route *route, enum route_type type)
{
	if (type == ROUTE_CONNECTED)
		return !iface_is_up(mr, mr_router_adjacency(mr, route->next_hop)->iface);
	return type == ROUTE_STATIC && gateways_have_no_link(mr, route->next_hop);
}

/* Makes a route what it should be. Only what is restored needs memory: without it 0 is not
 * returned. */
static int follow(struct mr *mr, const struct mr_ipv4_route *route)
{
	struct mr_ipv4_table *table = mr->router->table;
	enum route_type type = route_type(mr, route);
	bool withdrawn = has_no_link(mr, route, type);
	int rc;

	if (withdrawn == route->withdrawn)
		return 0;
	rc = withdrawn ? mr_ipv4_table_withdraw(table, route->prefix, route->length)
		       : mr_ipv4_table_restore(table, route->prefix, route->length);
	if (rc == 0 && type == ROUTE_STATIC)
		neighbours_follow_prefix(mr, route->prefix, route->length);
	return rc;
}

/* Those that could not be restored are tried again. */
static void retry_later(struct mr_router *router)
{
	router->link_walk.failed = true;
	router->link_walk.retry_ms = router->now_ms + RETRY_MS;
}

void route_follow_link(struct mr *mr, uint32_t prefix, uint8_t length)
{
	struct mr_ipv4_route route;

	if (mr_ipv4_table_get(mr->router->table, prefix, length, &route) && follow(mr, &route) != 0)
		retry_later(mr->router);
}

struct step {
	struct mr *mr;
	unsigned visited;
};

static bool visit(const struct mr_ipv4_route *route, void *arg)
{
	struct step *step = arg;
	struct mr_router *router = step->mr->router;

	if (follow(step->mr, route) != 0)
		retry_later(router);
	router->link_walk.last = *route;
	return ++step->visited < ROUTES_A_STEP;
}

unsigned mr_router_poll(struct mr *mr)
{
	struct mr_router *router = mr->router;
	struct link_walk *walk = &router->link_walk;
	struct step step = {.mr = mr};

	if (!walk->walking && walk->failed && router->now_ms >= walk->retry_ms)
		*walk = (struct link_walk){.walking = true};
	if (!walk->walking)
		return 0;
	mr_ipv4_table_iterate(router->table, walk->begun ? &walk->last : NULL, visit, &step);
	walk->begun = true;
	walk->walking = step.visited == ROUTES_A_STEP;
	return step.visited;
}

void routes_follow_link(struct mr *mr)
{
	mr->router->link_walk = (struct link_walk){.walking = true};
	mr_router_poll(mr);
}
