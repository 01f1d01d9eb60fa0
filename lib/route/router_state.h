/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_ROUTE_ROUTER_STATE_H
#define MR_ROUTE_ROUTER_STATE_H

#include <sys/queue.h>

#include "base/lines.h"
#include "port/iface.h"
#include "route/ipv4_table.h"
#include "route/next_hop.h"
#include "route/router.h"

/*
 * What the files of this room share. All of it is the control thread's. IPv4 addresses are in host
 * byte order.
 */
struct neighbour;
struct neighbours;
struct multipaths;
LIST_HEAD(neighbour_list, neighbour);

#define MAX_ADDRESSES 4096 /* of all interfaces */

struct router_address {
	uint32_t ipv4;
	uint8_t length; /* of its subnet */
	uint16_t iface;
};

/* An interface that has addresses. */
struct router_iface {
	uint16_t index;
	bool link_up; /* as last followed */
	unsigned address_count;
	uint32_t connected_hop, local_hop;
	struct neighbour_list neighbours;
};

/* How far a walk over all routes after a change of links has come. */
struct link_walk {
	bool walking, begun, failed;
	struct mr_ipv4_route last; /* visited, once begun */
	uint64_t retry_ms;         /* when some could not be restored */
};

struct mr_router {
	struct mr_route_fwd *fwd;
	struct mr_ipv4_table *table;
	struct next_hops *hops;
	struct neighbours *neighbours;
	struct multipaths *multipaths;
	struct router_iface *iface[MR_MAX_IFACES]; /* NULL: has no addresses */
	struct router_address address[MAX_ADDRESSES];
	unsigned address_count;
	uint32_t max_static_routes, static_routes;
	struct link_walk link_walk;
	uint64_t now_ms;          /* of the last poll */
	mr_announce_fn *announce; /* NULL: nobody announces */
};

enum route_type {
	ROUTE_CONNECTED,
	ROUTE_LOCAL,
	ROUTE_BROADCAST,
	ROUTE_STATIC,
	ROUTE_NEIGHBOUR,
	ROUTE_INTERNAL, /* destinations that are never routed */
	ROUTE_TYPES
};

static inline uint32_t ipv4_mask(unsigned length)
{
	return length == 0 ? 0 : UINT32_MAX << (32 - length);
}

static inline bool ipv4_covers(uint32_t prefix, unsigned length, uint32_t ipv4)
{
	return ((prefix ^ ipv4) & ipv4_mask(length)) == 0;
}

/* What kind of route one of the table is. */
enum route_type route_type(struct mr *mr, const struct mr_ipv4_route *route);

/* Whether iface exists and has link. */
bool iface_is_up(struct mr *mr, uint16_t iface);

/* The address, of any interface or of one, whose subnet covers a prefix; the longest. NULL without
 * one. */
const struct router_address *address_covering(struct mr *mr, uint32_t prefix, unsigned length);
const struct router_address *address_of_iface_covering(struct mr *mr, uint16_t iface,
						       uint32_t ipv4);
/* Whether ipv4 is the network or broadcast address of one of iface's subnets (/31 and /32 have
 * none, RFC 3021). */
bool address_is_broadcast(struct mr *mr, uint16_t iface, uint32_t ipv4);
/* Whether a host other than the appliance can have this address on iface. */
bool address_may_be_neighbour(struct mr *mr, uint16_t iface, uint32_t ipv4);

/* Puts the text of an IPv4 address or prefix into text (MR_ADDR_TEXT_SIZE bytes), returns it. */
const char *ipv4_text(uint32_t ipv4, char *text);
const char *ipv4_prefix_text(uint32_t prefix, unsigned length, char *text);

/* Finds a static route that uses a gateway. */
bool static_route_over(struct mr *mr, const struct neighbour *gateway, struct mr_ipv4_route *route);

/* Deletes the static routes all of whose gateways are on an interface, and takes that interface's
 * out of the others. Notes in lines how to bring them back. */
void static_routes_withdraw(struct mr *mr, uint16_t iface, struct mr_lines *lines);

/* The gateways of a static route; returns their number, 0 of a black hole. */
unsigned static_route_gateways(struct mr *mr, uint32_t next_hop,
			       const struct neighbour *gateways[MR_MAX_PATHS]);

/* Routes whose interfaces have no link are withdrawn (link_down.c). The first is for a route that
 * was added or changed, the second for the subnets of an interface whose link changed, the third
 * for all routes then, in steps. */
void route_follow_link(struct mr *mr, uint32_t prefix, uint8_t length);
void addresses_follow_link(struct mr *mr, uint16_t iface);
void routes_follow_link(struct mr *mr);

/* Multipath next hops: one for each set of gateways, however many routes share it. */
struct multipaths *multipaths_create(void);
void multipaths_destroy(struct multipaths *multipaths);
/* Takes a reference on the next hop of a set of at least two different gateways, and one on each
 * gateway if the set is new. Returns 0 or a negative errno. */
int multipath_take(struct mr *mr, struct neighbour **gateways, unsigned count, uint32_t *next_hop);
void multipath_release(struct mr *mr, uint32_t next_hop);
/* A gateway became usable or ceased to be: its sets are published anew. */
void multipath_follow(struct mr *mr, struct neighbour *gateway);
/* The gateways of a multipath next hop; returns their number. */
unsigned multipath_gateways(struct mr *mr, uint32_t next_hop,
			    const struct neighbour *gateways[MR_MAX_PATHS]);

/* A route as commands and telemetry show it. */
json_t *route_json(struct mr *mr, const struct mr_ipv4_route *route);
/* Routes inside a prefix, from the first one at or after start on (NULL: the first), at most limit;
 * *next gets the route that would follow, with length 255 if there is none. */
json_t *routes_json(struct mr *mr, const struct mr_ipv4_route *inside,
		    const struct mr_ipv4_route *start, unsigned limit, struct mr_ipv4_route *next);
/* What a destination's lookup finds. */
json_t *route_lookup_json(struct mr *mr, uint32_t destination);
json_t *route_summary_json(struct mr *mr);
/* Addresses of an interface, or of all (MR_IFACE_NONE). */
json_t *addresses_json(struct mr *mr, uint16_t iface);

#endif
