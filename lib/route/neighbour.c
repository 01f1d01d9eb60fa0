/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of neighbours and what is published of them. A neighbour has a next hop when something
 * leads to it: static routes (it is a gateway then), or its own /32, which it gets when its MAC is
 * known and takes away again with the MAC, so that the connected subnet covers it and the next
 * packet starts a resolution. The /32 must not beat a static route inside the subnet: it exists
 * only while the address would otherwise be looked up as connected.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_jhash.h>
#include <rte_random.h>
#include <rte_tailq.h>

#include "route/neighbour_state.h"

struct neighbour_key {
	uint32_t ipv4;
	uint32_t iface;
};

struct neighbours *neighbours_create(void)
{
	struct neighbours *neighbours = calloc(1, sizeof(*neighbours));
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters parameters = {.name = name,
						 .entries = NEIGHBOURS_MAX,
						 .key_len = sizeof(struct neighbour_key),
						 .hash_func = rte_jhash,
						 .socket_id = SOCKET_ID_ANY};

	if (neighbours == NULL)
		return NULL;
	snprintf(name, sizeof(name), "nb_%p", (void *)neighbours);
	neighbours->hash = rte_hash_create(&parameters);
	if (neighbours->hash == NULL) {
		free(neighbours);
		return NULL;
	}
	TAILQ_INIT(&neighbours->all);
	TAILQ_INIT(&neighbours->unresolved);
	neighbours->next_deadline_ms = UINT64_MAX;
	return neighbours;
}

void neighbours_destroy(struct mr *mr)
{
	struct neighbours *neighbours = mr->router->neighbours;
	struct neighbour *n;

	while ((n = TAILQ_FIRST(&neighbours->all)) != NULL) {
		neighbour_drop_held(mr, n);
		TAILQ_REMOVE(&neighbours->all, n, all);
		free(n);
	}
	rte_hash_free(neighbours->hash);
	free(neighbours);
}

void mr_neighbour_set_handlers(struct mr *mr, mr_solicit_fn *solicit,
			       mr_unreachable_fn *unreachable, mr_too_big_fn *too_big)
{
	struct neighbours *neighbours = mr->router->neighbours;

	neighbours->solicit = solicit;
	neighbours->unreachable = unreachable;
	neighbours->too_big = too_big;
}

struct neighbour *neighbour_find(struct mr *mr, uint16_t iface, uint32_t ipv4)
{
	struct neighbour_key key = {.ipv4 = ipv4, .iface = iface};
	void *found;

	if (rte_hash_lookup_data(mr->router->neighbours->hash, &key, &found) < 0)
		return NULL;
	return found;
}

bool neighbour_resolved(const struct neighbour *n)
{
	return n->state == NEIGHBOUR_REACHABLE || n->state == NEIGHBOUR_PROBE ||
	       n->state == NEIGHBOUR_PERMANENT;
}

bool neighbour_is_gateway(struct mr *mr, const struct neighbour *n)
{
	return n->next_hop != MR_NEXT_HOP_NONE &&
	       next_hop_refs(mr->router->hops, n->next_hop) > n->host_route;
}

bool neighbour_usable(struct mr *mr, const struct neighbour *n)
{
	return n->state != NEIGHBOUR_FAILED && iface_is_up(mr, n->iface);
}

struct mr_adjacency neighbour_adjacency(struct mr *mr, const struct neighbour *n)
{
	const struct mr_iface *iface = mr_iface(mr, n->iface);
	struct mr_adjacency adjacency = {.iface = n->iface, .next_hop = n->next_hop};
	struct rte_ether_hdr header = {.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4)};

	if (!neighbour_usable(mr, n)) {
		adjacency.kind = MR_ADJ_UNREACHABLE;
		return adjacency;
	}
	adjacency.kind = neighbour_resolved(n) ? MR_ADJ_FORWARD : MR_ADJ_RESOLVE;
	adjacency.mtu = iface->mtu;
	header.dst_addr = n->mac;
	header.src_addr = mr_iface_mac(iface);
	memcpy(adjacency.header, &header, sizeof(adjacency.header));
	return adjacency;
}

/* Takes a reference on the next hop, making it with the first one. */
static int hop_take(struct mr *mr, struct neighbour *n)
{
	if (n->next_hop != MR_NEXT_HOP_NONE) {
		next_hop_ref(mr->router->hops, n->next_hop);
		return 0;
	}
	struct mr_adjacency adjacency = neighbour_adjacency(mr, n);

	n->next_hop = next_hop_create(mr->router->hops, NEXT_HOP_NEIGHBOUR, n, &adjacency);
	return n->next_hop != MR_NEXT_HOP_NONE ? 0 : -ENOMEM;
}

static void hop_release(struct mr *mr, struct neighbour *n)
{
	if (next_hop_unref(mr->router->hops, n->next_hop))
		n->next_hop = MR_NEXT_HOP_NONE;
}

void neighbour_host_route_end(struct mr *mr, struct neighbour *n)
{
	if (!n->host_route)
		return;
	mr_ipv4_table_del(mr->router->table, n->ipv4, 32);
	n->host_route = false;
	hop_release(mr, n);
}

/* Whether without a /32 of its own its address is looked up as connected by its interface. */
static bool covered_by_subnet(struct mr *mr, const struct neighbour *n)
{
	const struct router_iface *iface = mr->router->iface[n->iface];

	return iface != NULL &&
	       mr_ipv4_table_lookup(mr->router->table, n->ipv4, NULL) == iface->connected_hop;
}

/* Without memory for it the neighbour does without its /32: packets come as for any connected
 * destination, and are sent on by the control thread. */
static void host_route_try(struct mr *mr, struct neighbour *n)
{
	if (hop_take(mr, n) != 0)
		return;
	if (mr_ipv4_table_add(mr->router->table, n->ipv4, 32, n->next_hop) != 0) {
		hop_release(mr, n);
		return;
	}
	n->host_route = true;
}

/* Publishes what follows from the neighbour's state. */
static void publish(struct mr *mr, struct neighbour *n)
{
	struct mr_adjacency adjacency = neighbour_adjacency(mr, n);

	if (n->next_hop != MR_NEXT_HOP_NONE) {
		next_hop_publish(mr->router->hops, n->next_hop, &adjacency);
		multipath_follow(mr, n);
	}
	if (adjacency.kind != MR_ADJ_FORWARD)
		neighbour_host_route_end(mr, n);
	else if (!n->host_route && covered_by_subnet(mr, n))
		host_route_try(mr, n);
}

static void set_unresolved(struct mr *mr, struct neighbour *n, bool unresolved)
{
	struct neighbours *neighbours = mr->router->neighbours;

	if (n->is_unresolved == unresolved)
		return;
	n->is_unresolved = unresolved;
	if (unresolved) {
		TAILQ_INSERT_TAIL(&neighbours->unresolved, n, unresolved);
		neighbours->unresolved_count++;
	} else {
		TAILQ_REMOVE(&neighbours->unresolved, n, unresolved);
		neighbours->unresolved_count--;
	}
}

static void set_state(struct mr *mr, struct neighbour *n, enum neighbour_state state,
		      uint64_t timeout_ms)
{
	struct neighbours *neighbours = mr->router->neighbours;

	n->state = state;
	n->requests = 0;
	n->deadline_ms = UINT64_MAX;
	if (timeout_ms != UINT64_MAX)
		n->deadline_ms = mr->router->now_ms + timeout_ms;
	if (n->deadline_ms < neighbours->next_deadline_ms)
		neighbours->next_deadline_ms = n->deadline_ms;
	set_unresolved(mr, n,
		       !neighbour_is_gateway(mr, n) &&
			       (state == NEIGHBOUR_INCOMPLETE || state == NEIGHBOUR_FAILED));
	publish(mr, n);
}

/*
 * Makes room for one more entry. What never answered makes place for what may: so a scan of a
 * subnet takes no more than its share, and each address still gets the time of one request to
 * answer, also during a scan.
 */
static bool make_room(struct mr *mr)
{
	struct neighbours *neighbours = mr->router->neighbours;
	struct neighbour *oldest = TAILQ_FIRST(&neighbours->unresolved);

	if (neighbours->count < NEIGHBOURS_MAX &&
	    neighbours->unresolved_count < NEIGHBOURS_UNRESOLVED_MAX)
		return true;
	if (oldest == NULL || mr->router->now_ms < oldest->created_ms + NEIGHBOUR_REQUEST_MS)
		return false;
	/* Dropped, not reported: the host would come back with packets while this one is held. */
	neighbour_drop_held(mr, oldest);
	neighbour_remove(mr, oldest);
	return true;
}

struct neighbour *neighbour_create(struct mr *mr, uint16_t iface, uint32_t ipv4)
{
	struct neighbours *neighbours = mr->router->neighbours;
	struct neighbour_key key = {.ipv4 = ipv4, .iface = iface};
	struct neighbour *n;

	if (mr->router->iface[iface] == NULL || !make_room(mr))
		return NULL;
	n = calloc(1, sizeof(*n));
	if (n == NULL)
		return NULL;
	n->ipv4 = ipv4;
	n->iface = iface;
	n->state = NEIGHBOUR_UNKNOWN;
	n->created_ms = mr->router->now_ms;
	n->deadline_ms = UINT64_MAX;
	LIST_INIT(&n->paths);
	if (rte_hash_add_key_data(neighbours->hash, &key, n) < 0) {
		free(n);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&neighbours->all, n, all);
	LIST_INSERT_HEAD(&mr->router->iface[iface]->neighbours, n, of_iface);
	neighbours->count++;
	return n;
}

void neighbour_remove(struct mr *mr, struct neighbour *n)
{
	struct neighbours *neighbours = mr->router->neighbours;
	struct neighbour_key key = {.ipv4 = n->ipv4, .iface = n->iface};

	neighbour_give_up_held(mr, n);
	neighbour_host_route_end(mr, n);
	set_unresolved(mr, n, false);
	rte_hash_del_key(neighbours->hash, &key);
	TAILQ_REMOVE(&neighbours->all, n, all);
	LIST_REMOVE(n, of_iface);
	neighbours->count--;
	free(n);
}

/* Forgets what was learned: an entry stays only as a gateway that was not asked for yet. */
static void neighbour_forget(struct mr *mr, struct neighbour *n)
{
	if (!neighbour_is_gateway(mr, n)) {
		neighbour_remove(mr, n);
		return;
	}
	neighbour_give_up_held(mr, n);
	n->mac = (struct rte_ether_addr){0};
	set_state(mr, n, NEIGHBOUR_UNKNOWN, UINT64_MAX);
}

struct neighbour *neighbour_gateway_take(struct mr *mr, uint16_t iface, uint32_t ipv4)
{
	struct neighbour *n = neighbour_find(mr, iface, ipv4);
	bool created = n == NULL;

	if (created)
		n = neighbour_create(mr, iface, ipv4);
	if (n == NULL)
		return NULL;
	if (hop_take(mr, n) != 0) {
		if (created)
			neighbour_remove(mr, n);
		return NULL;
	}
	set_unresolved(mr, n, false);
	return n;
}

void neighbour_gateway_release(struct mr *mr, struct neighbour *n)
{
	hop_release(mr, n);
	if (!neighbour_is_gateway(mr, n) && !neighbour_resolved(n))
		neighbour_remove(mr, n);
}

void neighbours_follow_iface(struct mr *mr, struct router_iface *iface)
{
	struct neighbour *n;

	LIST_FOREACH (n, &iface->neighbours, of_iface)
		publish(mr, n);
}

void neighbours_follow_prefix(struct mr *mr, uint32_t prefix, unsigned length)
{
	struct neighbour *n;
	const struct router_address *a = address_covering(mr, prefix, length);

	if (a == NULL)
		return;
	LIST_FOREACH (n, &mr->router->iface[a->iface]->neighbours, of_iface) {
		if (!ipv4_covers(prefix, length, n->ipv4))
			continue;
		neighbour_host_route_end(mr, n);
		publish(mr, n);
	}
}

static void solicit(struct mr *mr, struct neighbour *n, const struct rte_ether_addr *mac)
{
	struct mr_addr addr = mr_addr_from_ipv4(n->ipv4);

	n->requests++;
	if (mr->router->neighbours->solicit != NULL && iface_is_up(mr, n->iface))
		mr->router->neighbours->solicit(mr, n->iface, &addr, mac);
}

void neighbour_start(struct mr *mr, struct neighbour *n)
{
	set_state(mr, n, NEIGHBOUR_INCOMPLETE, NEIGHBOUR_REQUEST_MS);
	solicit(mr, n, NULL);
}

static void repeat(struct mr *mr, struct neighbour *n, const struct rte_ether_addr *mac)
{
	n->deadline_ms = mr->router->now_ms + NEIGHBOUR_REQUEST_MS;
	solicit(mr, n, mac);
}

/* RFC 4861 6.3.2: between half and one and a half of it, so that verifications spread. */
static uint64_t reachable_ms(void)
{
	return NEIGHBOUR_REACHABLE_MS / 2 + rte_rand_max(NEIGHBOUR_REACHABLE_MS);
}

/* Does what a neighbour's deadline asks for; may remove it. */
static void expire(struct mr *mr, struct neighbour *n)
{
	switch (n->state) {
	case NEIGHBOUR_INCOMPLETE:
		if (n->requests < NEIGHBOUR_REQUESTS) {
			repeat(mr, n, NULL);
			return;
		}
		neighbour_give_up_held(mr, n);
		set_state(mr, n, NEIGHBOUR_FAILED, NEIGHBOUR_FAILED_MS);
		return;
	case NEIGHBOUR_REACHABLE:
		set_state(mr, n, NEIGHBOUR_PROBE, NEIGHBOUR_REQUEST_MS);
		solicit(mr, n, &n->mac);
		return;
	case NEIGHBOUR_PROBE:
		if (n->requests < NEIGHBOUR_REQUESTS) {
			repeat(mr, n, &n->mac);
			return;
		}
		if (!neighbour_is_gateway(mr, n)) {
			neighbour_remove(mr, n);
			return;
		}
		n->mac = (struct rte_ether_addr){0};
		set_state(mr, n, NEIGHBOUR_FAILED, NEIGHBOUR_FAILED_MS);
		return;
	case NEIGHBOUR_FAILED:
		if (!neighbour_is_gateway(mr, n)) {
			neighbour_remove(mr, n);
			return;
		}
		/* Nothing is sent to a gateway that has failed, so nothing would find it alive
		 * again: it is asked for as long as routes want it. */
		n->deadline_ms = mr->router->now_ms + NEIGHBOUR_FAILED_MS;
		solicit(mr, n, NULL);
		return;
	default:
		n->deadline_ms = UINT64_MAX;
	}
}

void mr_neighbour_poll(struct mr *mr, uint64_t now_ms)
{
	struct neighbours *neighbours = mr->router->neighbours;
	struct neighbour *n, *next;

	mr->router->now_ms = now_ms;
	if (now_ms < neighbours->next_deadline_ms)
		return;
	neighbours->next_deadline_ms = UINT64_MAX;
	RTE_TAILQ_FOREACH_SAFE(n, &neighbours->all, all, next)
	{
		if (n->deadline_ms <= now_ms)
			expire(mr, n);
	}
	TAILQ_FOREACH (n, &neighbours->all, all)
		if (n->deadline_ms < neighbours->next_deadline_ms)
			neighbours->next_deadline_ms = n->deadline_ms;
	neighbours_report(mr);
}

void mr_neighbour_flush(struct mr *mr, uint16_t index)
{
	struct router_iface *iface = index < MR_MAX_IFACES ? mr->router->iface[index] : NULL;
	struct neighbour *n, *next;

	if (iface == NULL)
		return;
	RTE_TAILQ_FOREACH_SAFE(n, &mr->router->neighbours->all, all, next)
	{
		if (n->iface == index && n->state != NEIGHBOUR_PERMANENT)
			neighbour_forget(mr, n);
	}
	neighbours_report(mr);
}

static bool mac_is_usable(const struct rte_ether_addr *mac)
{
	return rte_is_valid_assigned_ether_addr(mac);
}

void mr_neighbour_seen(struct mr *mr, uint16_t iface, const struct mr_addr *addr,
		       const struct rte_ether_addr *mac, bool may_create)
{
	struct neighbour *n;
	uint32_t ipv4;

	if (addr->family != AF_INET || iface >= MR_MAX_IFACES || !mac_is_usable(mac))
		return;
	ipv4 = mr_addr_ipv4(addr);
	n = neighbour_find(mr, iface, ipv4);
	if (n == NULL && may_create && address_may_be_neighbour(mr, iface, ipv4))
		n = neighbour_create(mr, iface, ipv4);
	if (n == NULL)
		return;
	if (n->state == NEIGHBOUR_PERMANENT) {
		if (!rte_is_same_ether_addr(&n->mac, mac))
			mr->router->neighbours->conflicts++;
		return;
	}
	n->mac = *mac;
	set_state(mr, n, NEIGHBOUR_REACHABLE, reachable_ms());
	neighbour_release_held(mr, n);
}

int neighbour_add_static(struct mr *mr, uint16_t iface, uint32_t ipv4,
			 const struct rte_ether_addr *mac, struct mr_error *error)
{
	struct neighbour *n = neighbour_find(mr, iface, ipv4);
	char text[MR_ADDR_TEXT_SIZE], mac_text[MR_MAC_TEXT_SIZE];

	ipv4_text(ipv4, text);
	mr_mac_format(mac, mac_text);
	if (mr_iface(mr, iface) == NULL)
		return mr_fail(error, -ENODEV, "there is no port %u", iface);
	if (!mac_is_usable(mac))
		return mr_fail(
			error, -EINVAL,
			"%s is no station's MAC: it must be neither zero nor a group address",
			mac_text);
	if (address_of_iface_covering(mr, iface, ipv4) == NULL)
		return mr_fail(error, -ENETUNREACH, "%s is on no subnet of port %u", text, iface);
	if (!address_may_be_neighbour(mr, iface, ipv4))
		return mr_fail(error, -EINVAL,
			       "%s is %s: a neighbour is another host on the subnet", text,
			       address_is_broadcast(mr, iface, ipv4)
				       ? "the network or broadcast address of the subnet"
				       : "an address of this appliance itself");
	if (n != NULL && n->state == NEIGHBOUR_PERMANENT)
		return mr_fail(error, -EEXIST,
			       "the static neighbour %s exists already on port %u, with MAC %s",
			       text, iface, mr_mac_format(&n->mac, mac_text));
	if (n == NULL)
		n = neighbour_create(mr, iface, ipv4);
	if (n == NULL)
		return mr_fail(error, -ENOSPC, "no room for the neighbour %s: %u is the limit",
			       text, NEIGHBOURS_MAX);
	n->mac = *mac;
	set_state(mr, n, NEIGHBOUR_PERMANENT, UINT64_MAX);
	neighbour_release_held(mr, n);
	return 0;
}

int neighbour_del(struct mr *mr, uint16_t iface, uint32_t ipv4, struct mr_error *error)
{
	struct neighbour *n = neighbour_find(mr, iface, ipv4);
	char text[MR_ADDR_TEXT_SIZE];

	if (n == NULL)
		return mr_fail(error, -ENOENT, "there is no neighbour %s on port %u",
			       ipv4_text(ipv4, text), iface);
	neighbour_forget(mr, n);
	neighbours_report(mr);
	return 0;
}

const char *neighbour_state_name(enum neighbour_state state)
{
	static const char *const names[NEIGHBOUR_STATES] = {
		[NEIGHBOUR_UNKNOWN] = "unknown",     [NEIGHBOUR_INCOMPLETE] = "incomplete",
		[NEIGHBOUR_REACHABLE] = "reachable", [NEIGHBOUR_PROBE] = "probe",
		[NEIGHBOUR_FAILED] = "failed",       [NEIGHBOUR_PERMANENT] = "permanent",
	};

	return names[state];
}
