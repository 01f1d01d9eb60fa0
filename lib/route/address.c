/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses. An address brings up to four routes: itself (/32), its subnet, and the subnet's
 * network and broadcast addresses (/32). Addresses of one interface may share them, so after each
 * change the routes that it concerns are computed from all addresses of the interface and made so.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route/neighbour_state.h"
#include "route/router_state.h"

struct route_key {
	uint32_t prefix;
	uint8_t length;
};

#define MAX_ROUTE_KEYS 4

static uint32_t network_of(const struct router_address *a)
{
	return a->ipv4 & ipv4_mask(a->length);
}

static uint32_t broadcast_of(const struct router_address *a)
{
	return a->ipv4 | ~ipv4_mask(a->length);
}

static bool has_broadcast(const struct router_address *a)
{
	return a->length <= 30;
}

/* The routes that an address brings. */
static unsigned route_keys(const struct router_address *a, struct route_key keys[MAX_ROUTE_KEYS])
{
	unsigned count = 0;

	keys[count++] = (struct route_key){a->ipv4, 32};
	if (a->length < 32)
		keys[count++] = (struct route_key){network_of(a), a->length};
	if (has_broadcast(a)) {
		keys[count++] = (struct route_key){network_of(a), 32};
		keys[count++] = (struct route_key){broadcast_of(a), 32};
	}
	return count;
}

const struct router_address *address_covering(struct mr *mr, uint32_t prefix, unsigned length)
{
	const struct mr_router *router = mr->router;
	const struct router_address *best = NULL;

	for (unsigned i = 0; i < router->address_count; i++) {
		const struct router_address *a = &router->address[i];

		if (a->length <= length && ipv4_covers(a->ipv4, a->length, prefix) &&
		    (best == NULL || a->length > best->length))
			best = a;
	}
	return best;
}

const struct router_address *address_of_iface_covering(struct mr *mr, uint16_t iface, uint32_t ipv4)
{
	const struct router_address *a = address_covering(mr, ipv4, 32);

	/* Subnets of different interfaces do not overlap. */
	return a != NULL && a->iface == iface ? a : NULL;
}

bool address_is_broadcast(struct mr *mr, uint16_t iface, uint32_t ipv4)
{
	const struct mr_router *router = mr->router;

	for (unsigned i = 0; i < router->address_count; i++) {
		const struct router_address *a = &router->address[i];

		if (a->iface == iface && has_broadcast(a) &&
		    (ipv4 == network_of(a) || ipv4 == broadcast_of(a)))
			return true;
	}
	return false;
}

static bool address_is_own(struct mr *mr, uint32_t ipv4)
{
	struct mr_addr addr = mr_addr_from_ipv4(ipv4);

	return mr_router_is_local(mr, &addr, NULL);
}

bool address_may_be_neighbour(struct mr *mr, uint16_t iface, uint32_t ipv4)
{
	return address_of_iface_covering(mr, iface, ipv4) != NULL &&
	       !address_is_broadcast(mr, iface, ipv4) && !address_is_own(mr, ipv4);
}

/* The next hop that the addresses of an interface want for a route, 0 for none. */
static uint32_t wanted_hop(struct mr *mr, const struct router_iface *iface, struct route_key key)
{
	const struct mr_router *router = mr->router;
	uint32_t wanted = MR_NEXT_HOP_NONE;

	for (unsigned i = 0; i < router->address_count; i++) {
		const struct router_address *a = &router->address[i];

		if (a->iface != iface->index)
			continue;
		if (key.length == 32 && key.prefix == a->ipv4)
			return iface->local_hop;
		if (key.length == a->length && key.prefix == network_of(a))
			wanted = iface->connected_hop;
	}
	if (key.length == 32 && address_is_broadcast(mr, iface->index, key.prefix))
		return NEXT_HOP_BROADCAST;
	return wanted;
}

/* Makes the routes of an address what they should be. Without it (deleted just now) this cannot
 * fail. */
static int sync_routes(struct mr *mr, const struct router_iface *iface,
		       const struct router_address *a)
{
	struct mr_ipv4_table *table = mr->router->table;
	struct route_key keys[MAX_ROUTE_KEYS];
	unsigned count = route_keys(a, keys);

	for (unsigned i = 0; i < count; i++) {
		uint32_t wanted = wanted_hop(mr, iface, keys[i]);
		uint32_t found = mr_ipv4_table_find(table, keys[i].prefix, keys[i].length);
		int rc = 0;

		if (wanted == found)
			continue;
		if (wanted == MR_NEXT_HOP_NONE)
			mr_ipv4_table_del(table, keys[i].prefix, keys[i].length);
		else
			rc = mr_ipv4_table_replace(table, keys[i].prefix, keys[i].length, wanted);
		if (rc != 0)
			return rc;
		route_follow_link(mr, keys[i].prefix, keys[i].length);
	}
	return 0;
}

void addresses_follow_link(struct mr *mr, uint16_t iface)
{
	const struct mr_router *router = mr->router;

	for (unsigned i = 0; i < router->address_count; i++) {
		const struct router_address *a = &router->address[i];

		if (a->iface == iface)
			route_follow_link(mr, network_of(a), a->length);
	}
}

static int check_value(const struct router_address *a, const char *text, struct mr_error *error)
{
	unsigned first = a->ipv4 >> 24;
	char example[MR_ADDR_TEXT_SIZE], last[MR_ADDR_TEXT_SIZE];

	if (a->length < 8)
		return mr_fail(error, -EINVAL,
			       "%s is not usable as an address: subnets have lengths of 8 to 32",
			       text);
	if (first >= 224 && first < 240)
		return mr_fail(error, -EINVAL,
			       "%s is a multicast address: an interface takes a unicast address",
			       text);
	if (first == 0 || first == 127 || first >= 240)
		return mr_fail(error, -EINVAL,
			       "%s is not usable as an address: 0.0.0.0/8, 127.0.0.0/8 and "
			       "240.0.0.0/4 are reserved",
			       text);
	if (has_broadcast(a) && (a->ipv4 == network_of(a) || a->ipv4 == broadcast_of(a)))
		return mr_fail(error, -EINVAL,
			       "%s is the %s address of its subnet: hosts have %s to %s", text,
			       a->ipv4 == network_of(a) ? "network" : "broadcast",
			       ipv4_text(network_of(a) + 1, example),
			       ipv4_text(broadcast_of(a) - 1, last));
	return 0;
}

static int check_iface(struct mr *mr, uint16_t index, const char *text, struct mr_error *error)
{
	const struct mr_iface *iface = mr_iface(mr, index);

	if (iface == NULL)
		return mr_fail(error, -ENODEV, "there is no port %u", index);
	if (iface->implicit || iface->mode == MR_MODE_NONE || iface->mode == MR_MODE_ROUTE)
		return 0;
	return mr_fail(error, -EBUSY, "port %u is %s: it cannot have the address %s", index,
		       iface->mode == MR_MODE_BRIDGE ? "a member of a bridge"
						     : "joined to another port",
		       text);
}

static int check_overlap(struct mr *mr, const struct router_address *new, const char *text,
			 struct mr_error *error)
{
	const struct mr_router *router = mr->router;
	char other[MR_ADDR_TEXT_SIZE];

	for (unsigned i = 0; i < router->address_count; i++) {
		const struct router_address *a = &router->address[i];
		unsigned shorter = a->length < new->length ? a->length : new->length;

		ipv4_prefix_text(a->ipv4, a->length, other);
		if (a->ipv4 == new->ipv4)
			return mr_fail(error, -EEXIST, "port %u has the address %s already",
				       a->iface, other);
		if (a->iface != new->iface && ipv4_covers(a->ipv4, shorter, new->ipv4))
			return mr_fail(error, -EEXIST,
				       "the subnet of %s overlaps that of port %u's address %s: "
				       "subnets of different ports are distinct",
				       text, a->iface, other);
	}
	return 0;
}

/* The routes of a new address must be free, and no neighbour that a person or a route named may
 * stand at an address that becomes special. */
static int check_routes(struct mr *mr, const struct router_address *new, const char *text,
			struct mr_error *error)
{
	struct route_key keys[MAX_ROUTE_KEYS];
	unsigned count = route_keys(new, keys);
	char other[MR_ADDR_TEXT_SIZE];

	for (unsigned i = 0; i < count; i++) {
		uint32_t hop =
			mr_ipv4_table_find(mr->router->table, keys[i].prefix, keys[i].length);
		struct mr_ipv4_route route = {keys[i].prefix, keys[i].length, hop};
		const struct neighbour *n = neighbour_find(mr, new->iface, keys[i].prefix);

		if (hop != MR_NEXT_HOP_NONE && route_type(mr, &route) == ROUTE_STATIC)
			return mr_fail(error, -EEXIST,
				       "%s needs the route %s, which exists as a static one: "
				       "delete that first",
				       text, ipv4_prefix_text(route.prefix, route.length, other));
		if (keys[i].length != 32 || n == NULL)
			continue;
		if (static_route_over(mr, n, &route))
			return mr_fail(error, -EBUSY,
				       "%s would take the address of a gateway: delete the route "
				       "%s first",
				       text, ipv4_prefix_text(route.prefix, route.length, other));
		if (n->state == NEIGHBOUR_PERMANENT)
			return mr_fail(error, -EBUSY,
				       "%s would take the address of the static neighbour %s: "
				       "delete that first",
				       text, ipv4_text(n->ipv4, other));
	}
	return 0;
}

static struct router_iface *iface_create(struct mr *mr, const struct mr_iface *state)
{
	struct mr_router *router = mr->router;
	struct router_iface *iface = calloc(1, sizeof(*iface));
	struct mr_adjacency adjacency = {
		.kind = MR_ADJ_CONNECTED, .iface = state->index, .mtu = state->mtu};

	if (iface == NULL)
		return NULL;
	LIST_INIT(&iface->neighbours);
	iface->index = state->index;
	iface->link_up = state->link_up;
	iface->connected_hop = next_hop_create(router->hops, NEXT_HOP_IFACE, iface, &adjacency);
	adjacency.kind = MR_ADJ_LOCAL;
	iface->local_hop = next_hop_create(router->hops, NEXT_HOP_IFACE, iface, &adjacency);
	if (iface->connected_hop != 0 && iface->local_hop != 0)
		return iface;
	if (iface->connected_hop != 0)
		next_hop_unref(router->hops, iface->connected_hop);
	if (iface->local_hop != 0)
		next_hop_unref(router->hops, iface->local_hop);
	free(iface);
	return NULL;
}

static void iface_destroy(struct mr *mr, struct router_iface *iface)
{
	next_hop_unref(mr->router->hops, iface->connected_hop);
	next_hop_unref(mr->router->hops, iface->local_hop);
	mr->router->iface[iface->index] = NULL;
	free(iface);
}

/* An interface without addresses has no role; --forward-mode may give it one again. */
static int publish_mode(struct mr *mr, uint16_t index, enum mr_iface_mode mode)
{
	const struct mr_iface *now = mr_iface(mr, index);
	struct mr_iface changed;

	if (now == NULL)
		return 0;
	changed = *now;
	changed.mode = mode;
	changed.implicit = false;
	return mr_iface_publish(mr, &changed);
}

static void forget_address(struct mr *mr, struct router_iface *iface, unsigned position)
{
	struct mr_router *router = mr->router;
	struct router_address old = router->address[position];

	router->address_count--;
	memmove(&router->address[position], &router->address[position + 1],
		(router->address_count - position) * sizeof(old));
	iface->address_count--;
	sync_routes(mr, iface, &old);
}

/* Learned neighbours at addresses that have become special, or that no subnet covers any more. */
static void remove_misplaced(struct mr *mr, struct router_iface *iface)
{
	struct neighbour *n, *next;

	for (n = LIST_FIRST(&iface->neighbours); n != NULL; n = next) {
		next = LIST_NEXT(n, of_iface);
		if (address_of_iface_covering(mr, iface->index, n->ipv4) == NULL ||
		    address_is_broadcast(mr, iface->index, n->ipv4))
			neighbour_remove(mr, n);
	}
}

int mr_address_add(struct mr *mr, const struct mr_prefix *address, uint16_t index,
		   struct mr_error *error)
{
	struct mr_router *router = mr->router;
	struct router_address new = {.length = address->length, .iface = index};
	struct router_iface *iface;
	struct neighbour *n;
	char text[MR_ADDR_TEXT_SIZE];
	int rc;

	mr_prefix_format(address, text);
	if (address->addr.family != AF_INET)
		return mr_fail(error, -EAFNOSUPPORT, "%s is not an IPv4 address", text);
	new.ipv4 = mr_addr_ipv4(&address->addr);
	rc = check_value(&new, text, error);
	if (rc == 0)
		rc = check_iface(mr, index, text, error);
	if (rc == 0)
		rc = check_overlap(mr, &new, text, error);
	if (rc == 0)
		rc = check_routes(mr, &new, text, error);
	if (rc != 0)
		return rc;
	if (router->address_count == MAX_ADDRESSES)
		return mr_fail(error, -ENOSPC, "%u addresses is the limit", MAX_ADDRESSES);

	iface = router->iface[index];
	if (iface == NULL)
		iface = iface_create(mr, mr_iface(mr, index));
	if (iface == NULL)
		return mr_fail(error, -ENOMEM, "no memory for the address %s", text);
	router->iface[index] = iface;
	/* Its route would be in the way. */
	n = neighbour_find(mr, index, new.ipv4);
	if (n != NULL)
		neighbour_remove(mr, n);
	router->address[router->address_count++] = new;
	iface->address_count++;
	remove_misplaced(mr, iface);
	rc = sync_routes(mr, iface, &new);
	if (rc == 0 && iface->address_count == 1)
		rc = publish_mode(mr, index, MR_MODE_ROUTE);
	if (rc != 0) {
		forget_address(mr, iface, router->address_count - 1);
		if (iface->address_count == 0)
			iface_destroy(mr, iface);
		return mr_fail(error, rc, "no memory for the address %s", text);
	}
	neighbours_follow_iface(mr, iface);
	neighbours_report(mr);
	if (router->announce != NULL && iface_is_up(mr, index))
		router->announce(mr, index);
	return 0;
}

void mr_address_set_announce(struct mr *mr, mr_announce_fn *announce)
{
	mr->router->announce = announce;
}

/* Whether a neighbour that a person or a route named needs the address at position. */
static int check_unused(struct mr *mr, const struct router_iface *iface, unsigned position,
			const char *text, struct mr_error *error)
{
	struct mr_router *router = mr->router;
	struct router_address old = router->address[position];
	struct neighbour *n;
	char other[MR_ADDR_TEXT_SIZE], via[MR_ADDR_TEXT_SIZE];

	LIST_FOREACH (n, &iface->neighbours, of_iface) {
		struct mr_ipv4_route route;
		bool covered = false;

		if (!ipv4_covers(old.ipv4, old.length, n->ipv4))
			continue;
		for (unsigned i = 0; i < router->address_count && !covered; i++)
			covered = i != position && router->address[i].iface == iface->index &&
				  ipv4_covers(router->address[i].ipv4, router->address[i].length,
					      n->ipv4);
		if (covered)
			continue;
		if (static_route_over(mr, n, &route))
			return mr_fail(error, -EBUSY,
				       "the route %s via %s needs the address %s: delete the route "
				       "first",
				       ipv4_prefix_text(route.prefix, route.length, other),
				       ipv4_text(n->ipv4, via), text);
		if (n->state == NEIGHBOUR_PERMANENT)
			return mr_fail(error, -EBUSY,
				       "the static neighbour %s needs the address %s: delete the "
				       "neighbour first",
				       ipv4_text(n->ipv4, via), text);
	}
	return 0;
}

int mr_address_del(struct mr *mr, const struct mr_prefix *address, uint16_t index,
		   struct mr_error *error)
{
	struct mr_router *router = mr->router;
	struct router_iface *iface;
	unsigned position = 0;
	char text[MR_ADDR_TEXT_SIZE], other[MR_ADDR_TEXT_SIZE];
	uint32_t ipv4;
	int rc;

	mr_prefix_format(address, text);
	if (address->addr.family != AF_INET)
		return mr_fail(error, -EAFNOSUPPORT, "%s is not an IPv4 address", text);
	ipv4 = mr_addr_ipv4(&address->addr);
	while (position < router->address_count &&
	       (router->address[position].ipv4 != ipv4 || router->address[position].iface != index))
		position++;
	if (position == router->address_count)
		return mr_fail(error, -ENOENT, "port %u has no address %s", index, text);
	if (router->address[position].length != address->length)
		return mr_fail(error, -ENOENT, "port %u has no address %s, but %s", index, text,
			       ipv4_prefix_text(ipv4, router->address[position].length, other));
	iface = router->iface[index];
	rc = check_unused(mr, iface, position, text, error);
	if (rc != 0)
		return rc;
	if (iface->address_count == 1 && publish_mode(mr, index, MR_MODE_NONE) != 0)
		return mr_fail(error, -ENOMEM, "no memory to delete the address %s", text);
	forget_address(mr, iface, position);
	remove_misplaced(mr, iface);
	neighbours_follow_iface(mr, iface);
	if (iface->address_count == 0)
		iface_destroy(mr, iface);
	neighbours_report(mr);
	return 0;
}

int mr_router_source(struct mr *mr, uint16_t iface, const struct mr_addr *peer,
		     struct mr_addr *source)
{
	const struct mr_router *router = mr->router;
	const struct router_address *a = NULL;

	if (peer->family == AF_INET)
		a = address_of_iface_covering(mr, iface, mr_addr_ipv4(peer));
	for (unsigned i = 0; i < router->address_count && a == NULL; i++)
		if (router->address[i].iface == iface)
			a = &router->address[i];
	if (a == NULL)
		return -ENOENT;
	*source = mr_addr_from_ipv4(a->ipv4);
	return 0;
}

unsigned mr_router_addresses(const struct mr *mr, struct mr_addr *addresses, unsigned max)
{
	const struct mr_router *router = mr->router;

	for (unsigned i = 0; i < router->address_count && i < max; i++)
		addresses[i] = mr_addr_from_ipv4(router->address[i].ipv4);
	return router->address_count;
}

int mr_router_address(struct mr *mr, uint16_t iface, unsigned number, struct mr_prefix *address)
{
	const struct mr_router *router = mr->router;

	for (unsigned i = 0; i < router->address_count; i++) {
		const struct router_address *a = &router->address[i];

		if (a->iface != iface || number-- != 0)
			continue;
		address->addr = mr_addr_from_ipv4(a->ipv4);
		address->length = a->length;
		return 0;
	}
	return -ENOENT;
}

int mr_router_connected(struct mr *mr, uint16_t iface, const struct mr_addr *addr,
			struct mr_prefix *prefix)
{
	const struct router_address *a = NULL;

	if (addr->family == AF_INET)
		a = address_of_iface_covering(mr, iface, mr_addr_ipv4(addr));
	if (a == NULL)
		return -ENOENT;
	prefix->addr = mr_addr_from_ipv4(network_of(a));
	prefix->length = a->length;
	return 0;
}
