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
int mr_pools_create(struct mr_ports *ports, const struct mr_port_options *options,
		    struct mr_error *error);
void mr_pools_destroy(struct mr_ports *ports);

#endif
