/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_RINGS_H
#define MR_LCORE_RINGS_H

#include <rte_ring.h>

#include "base/mr.h"
#include "packet/drop.h"
#include "port/port.h"

/*
 * Rings between two threads, one at each end. Private to this room. Room port sizes pools by what
 * those of packets hold.
 */
#define MR_LEARN_RING_SIZE 4096

/* Makes a ring of size packets, or one of struct mr_learned; what and the two numbers tell it from
 * the appliance's other rings. Returns NULL with rte_errno set. */
struct rte_ring *mr_ring_of_packets(const struct mr *mr, const char *what, unsigned a, unsigned b,
				    unsigned size, int socket);
struct rte_ring *mr_ring_of_learned(const struct mr *mr, unsigned lcore, int socket);

/* Drops what is in a ring (NULL is one without packets), on a port or MR_PORT_NONE. The caller is
 * the only consumer for now. */
void mr_ring_discard(struct mr *mr, struct rte_ring *ring, uint16_t port,
		     enum mr_drop_reason reason);

/* Waits until all that is in a ring (or NULL) now has been taken out by its consumer, a forwarding
 * lcore. Where forwarding was adopted, runs iterations of all lcores meanwhile. */
void mr_ring_await(struct mr *mr, const struct rte_ring *ring);

/* The same for any counter of what a consumer took, modulo 2^32: waits until it is at target. */
void mr_await_position(struct mr *mr, const uint32_t *taken, uint32_t target);

/* When lcores have stopped: drops what waits in all rings of packets, as `stopped`. */
void mr_rings_discard_all(struct mr *mr);

#endif
