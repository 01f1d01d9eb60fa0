/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_ROUTE_NEIGHBOUR_H
#define MR_ROUTE_NEIGHBOUR_H

#include <rte_mbuf.h>

#include "base/addr.h"
#include "base/cmd.h"
#include "base/mr.h"

/*
 * Neighbours: the hosts and gateways on connected subnets, with their MACs, their states and the
 * packets that wait for them. Protocol independent: room host speaks ARP and tells what it saw;
 * what has to be asked on the wire goes through the solicit function that it registers.
 * Control thread only.
 */

/* Asks for addr on iface: broadcast when mac is NULL, to that MAC when it is only verified. */
typedef void mr_solicit_fn(struct mr *mr, uint16_t iface, const struct mr_addr *addr,
			   const struct rte_ether_addr *mac);
/* Tells the source of a packet that its destination does not answer, and drops the packet under
 * `neighbour_unreachable`. packet starts with its Ethernet header; iface is that of arrival. */
typedef void mr_unreachable_fn(struct mr *mr, uint16_t iface, struct rte_mbuf *packet);

/* Takes a packet that was held and is larger than the MTU of the next hop that became known:
 * mr_punt_of(packet) is as a lcore would have filled it (MR_PUNT_TOO_BIG, the interface of arrival,
 * the next hop's index), the TTL is not yet decremented. */
typedef void mr_too_big_fn(struct mr *mr, struct rte_mbuf *packet);

void mr_neighbour_set_handlers(struct mr *mr, mr_solicit_fn *solicit,
			       mr_unreachable_fn *unreachable, mr_too_big_fn *too_big);

/* A valid answer or request of a host on iface was seen. may_create: whether an entry is made when
 * there is none (a request to us), not only updated. */
void mr_neighbour_seen(struct mr *mr, uint16_t iface, const struct mr_addr *addr,
		       const struct rte_ether_addr *mac, bool may_create);

/* Takes a packet that waits for a MAC: one that a lcore punted (MR_PUNT_RESOLVE), or one of the
 * appliance's own (MR_PUNT_ORIGINATED). Where it goes is looked up anew. Starts resolution; holds a
 * bounded number a neighbour, drops the oldest when full. */
void mr_neighbour_hold(struct mr *mr, struct rte_mbuf *packet);

/* How many packets are held, and timers: states age, requests are repeated. */
uint64_t mr_neighbour_held(struct mr *mr);
void mr_neighbour_poll(struct mr *mr, uint64_t now_ms);

/* Forgets what was learned on an interface (link loss); static neighbours stay. */
void mr_neighbour_flush(struct mr *mr, uint16_t iface);

extern const struct mr_cmd mr_neighbour_cmds[];
extern const struct mr_query mr_neighbour_queries[];

#endif
