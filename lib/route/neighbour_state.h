/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_ROUTE_NEIGHBOUR_STATE_H
#define MR_ROUTE_NEIGHBOUR_STATE_H

#include <sys/queue.h>

#include <rte_ether.h>
#include <rte_hash.h>

#include "route/neighbour.h"
#include "route/router_state.h"

/*
 * Neighbours as the files of this room see them. States have RFC 4861 7.3.2's names, with two
 * differences: lcores do not tell which neighbours they use, so each one is verified when its
 * reachable time is over, used or not (PROBE follows REACHABLE without STALE); and gateways exist
 * before anything was sent to them (UNKNOWN).
 */
enum neighbour_state {
	NEIGHBOUR_UNKNOWN,    /* a gateway that was not asked for yet */
	NEIGHBOUR_INCOMPLETE, /* asked for by broadcast */
	NEIGHBOUR_REACHABLE,
	NEIGHBOUR_PROBE,  /* asked for by unicast; still used */
	NEIGHBOUR_FAILED, /* did not answer; packets to it are answered with ICMP */
	NEIGHBOUR_PERMANENT,
	NEIGHBOUR_STATES
};

#define NEIGHBOURS_MAX 4096
#define NEIGHBOURS_UNRESOLVED_MAX 512 /* INCOMPLETE or FAILED, gateways not counted */
#define NEIGHBOUR_HOLD_MAX 16         /* packets a neighbour */
#define NEIGHBOURS_HELD_MAX 1024      /* packets of all */

#define NEIGHBOUR_REQUESTS 3         /* without answer before it has failed */
#define NEIGHBOUR_REQUEST_MS 1000    /* between them; RFC 1122 2.3.2.1: at most 1 a second */
#define NEIGHBOUR_REACHABLE_MS 60000 /* on average; RFC 1122 2.3.2.1: about a minute */
#define NEIGHBOUR_FAILED_MS 5000     /* before a failed one is asked for again */

struct neighbour {
	LIST_ENTRY(neighbour) of_iface;
	TAILQ_ENTRY(neighbour) all;
	TAILQ_ENTRY(neighbour) unresolved;                /* valid when is_unresolved */
	LIST_HEAD(neighbour_paths, multipath_path) paths; /* multipath sets that it is in */
	uint64_t created_ms, deadline_ms;
	uint32_t ipv4;
	uint32_t next_hop; /* 0: has none; referenced by host_route and each use as a gateway */
	uint16_t iface;
	uint8_t state;
	uint8_t requests; /* sent in this state */
	bool host_route;  /* its own /32 is in the table */
	bool is_unresolved;
	struct rte_ether_addr mac;
	uint8_t held_count, held_first;
	struct rte_mbuf *held[NEIGHBOUR_HOLD_MAX]; /* a ring, oldest at held_first */
};

TAILQ_HEAD(neighbour_queue, neighbour);

struct neighbours {
	struct rte_hash *hash; /* by interface and address */
	struct neighbour_queue all;
	struct neighbour_queue unresolved; /* oldest first */
	unsigned count, unresolved_count, held;
	uint64_t next_deadline_ms;
	uint64_t conflicts; /* ARP that contradicted a static neighbour */
	mr_solicit_fn *solicit;
	mr_unreachable_fn *unreachable;
	mr_too_big_fn *too_big;
	unsigned undeliverable_count; /* packets of neighbours that failed, to be told of */
	struct rte_mbuf *undeliverable[NEIGHBOURS_HELD_MAX];
};

struct neighbours *neighbours_create(void);
void neighbours_destroy(struct mr *mr);

struct neighbour *neighbour_find(struct mr *mr, uint16_t iface, uint32_t ipv4);
/* Makes an entry in state UNKNOWN. NULL when there is no room. */
struct neighbour *neighbour_create(struct mr *mr, uint16_t iface, uint32_t ipv4);

/* Whether its MAC is known and may be used. */
bool neighbour_resolved(const struct neighbour *n);
/* Whether static routes use it. */
bool neighbour_is_gateway(struct mr *mr, const struct neighbour *n);
/* Whether a multipath next hop should use it: it is resolved, or may become so. */
bool neighbour_usable(struct mr *mr, const struct neighbour *n);
/* The adjacency for its state, link, MTU and MACs. */
struct mr_adjacency neighbour_adjacency(struct mr *mr, const struct neighbour *n);

/* Takes a reference on a neighbour's next hop for a static route, making both when needed. NULL
 * when there is no room. Releasing ends an entry that only existed for it. */
struct neighbour *neighbour_gateway_take(struct mr *mr, uint16_t iface, uint32_t ipv4);
void neighbour_gateway_release(struct mr *mr, struct neighbour *n);

/* Sends the first request. */
void neighbour_start(struct mr *mr, struct neighbour *n);

/* Renews what is published of each neighbour of an interface. */
void neighbours_follow_iface(struct mr *mr, struct router_iface *iface);
/* A static route inside a connected subnet came or went: neighbours that it covers must not, or
 * may again, have a /32 of their own. */
void neighbours_follow_prefix(struct mr *mr, uint32_t prefix, unsigned length);
/* Ends the /32 of a neighbour, so that a static route can take its place. */
void neighbour_host_route_end(struct mr *mr, struct neighbour *n);
/* Ends an entry; what it held is reported undeliverable. */
void neighbour_remove(struct mr *mr, struct neighbour *n);

int neighbour_add_static(struct mr *mr, uint16_t iface, uint32_t ipv4,
			 const struct rte_ether_addr *mac, struct mr_error *error);
int neighbour_del(struct mr *mr, uint16_t iface, uint32_t ipv4, struct mr_error *error);

const char *neighbour_state_name(enum neighbour_state state);

/* Held packets (neighbour_hold.c). */
void neighbour_release_held(struct mr *mr, struct neighbour *n);
void neighbour_drop_held(struct mr *mr, struct neighbour *n);
/* Moves what is held to the list of what is undeliverable; neighbours_report tells the host of
 * that list, when no neighbour is being worked on: the host may come back with packets. */
void neighbour_give_up_held(struct mr *mr, struct neighbour *n);
void neighbours_report(struct mr *mr);
/* An interface goes away: what is held and came in on it is from nowhere from now on. */
void neighbours_forget_arrival(struct mr *mr, uint16_t iface);

#endif
