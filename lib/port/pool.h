/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PORT_POOL_H
#define MR_PORT_POOL_H

#include "port/ports.h"

/* Buffers that the pool of a NUMA node needs so that no ring, however full, leaves a port without.
 * Ports' queues and descriptors are decided. */
uint32_t mr_pool_size(const struct mr_ports *ports, int socket);

/* Packets that each thread's cache of a pool of that size keeps. */
unsigned mr_pool_cache_size(uint32_t buffers, unsigned lcores);

/* Makes a pool for each NUMA node that a port is on (one at least, for the host's packets) and
 * gives it to its ports. On failure frees what it made, and error says how much memory is needed
 * and how to get it. Control thread. */
int mr_pools_create(struct mr_ports *ports, struct mr_error *error);
void mr_pools_destroy(struct mr_ports *ports);

/* Makes a pool for one port that is added later, and gives it to the port. Likewise. */
int mr_pool_create_own(struct mr_ports *ports, struct mr_port *port, struct mr_error *error);

/* Has a port's own pool freed by a later mr_pools_poll, when all its buffers are back: packets that
 * arrived on the port may be anywhere, and other ports' drivers may keep them until they send
 * again. The port is closed; pool is all that is left of it. Control thread. */
void mr_pool_retire(struct mr_ports *ports, struct rte_mempool *pool);
void mr_pools_poll(struct mr *mr);

#endif
