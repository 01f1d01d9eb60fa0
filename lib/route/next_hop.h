/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_ROUTE_NEXT_HOP_H
#define MR_ROUTE_NEXT_HOP_H

#include "base/rcu.h"
#include "route/adjacency.h"

/*
 * Next hop indices: who holds one, and what is published under it. Control thread only; lcores read
 * the slots. An index counts references; when the last one goes it is given out again only after a
 * grace period, since until then an lcore may hold it from an older lookup.
 */
enum next_hop_owner {
	NEXT_HOP_FIXED,     /* one of the fixed ones below */
	NEXT_HOP_IFACE,     /* connected or local, object: struct router_iface */
	NEXT_HOP_NEIGHBOUR, /* object: struct neighbour */
	NEXT_HOP_MULTIPATH  /* object: struct multipath */
};

/* Next hops that always exist. */
enum {
	NEXT_HOP_BLACKHOLE = MR_NEXT_HOP_NONE + 1,
	NEXT_HOP_BROADCAST,
	NEXT_HOP_MULTICAST,
	NEXT_HOP_MARTIAN,
	NEXT_HOP_FIRST /* the first index that is given out */
};

struct next_hops;

/* Fills all MR_MAX_NEXT_HOPS slots. Returns NULL without memory. */
struct next_hops *next_hops_create(struct mr_rcu *rcu, const struct mr_adjacency **slots);
/* No deferred call is left and no lcore reads. */
void next_hops_destroy(struct next_hops *hops);

/* Takes an index with one reference, under which adjacency (copied) is published. Returns 0 when
 * there is no memory or no index. */
uint32_t next_hop_create(struct next_hops *hops, enum next_hop_owner owner, void *object,
			 const struct mr_adjacency *adjacency);

/* Publishes a copy of adjacency. Without memory the slot becomes "no route", so that nothing is
 * sent by what is no longer true. */
void next_hop_publish(struct next_hops *hops, uint32_t index, const struct mr_adjacency *adjacency);

void next_hop_ref(struct next_hops *hops, uint32_t index);
/* Returns whether this was the last reference: then the index is no longer the caller's, and no
 * route may lead to it. */
bool next_hop_unref(struct next_hops *hops, uint32_t index);

enum next_hop_owner next_hop_owner(const struct next_hops *hops, uint32_t index);
void *next_hop_object(const struct next_hops *hops, uint32_t index);
uint32_t next_hop_refs(const struct next_hops *hops, uint32_t index);
unsigned next_hops_used(const struct next_hops *hops); /* with the fixed ones */

#endif
