/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PORT_PORTS_H
#define MR_PORT_PORTS_H

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "port/port.h"

/* The inside of room port, for its own files. Control thread. */
struct mr_ports {
	unsigned lcores;        /* that will forward */
	unsigned handover_size; /* as in struct mr_port_options; 0: MR_PACKET_RING_SIZE */
	struct mr_port *port[RTE_MAX_ETHPORTS];
	struct rte_mempool *pool[RTE_MAX_NUMA_NODES];
	struct rte_mempool *host_pool; /* one of pool[] */
	struct mr_carrier *carrier;    /* NULL: no port needs it */
	uint64_t next_poll_ms;
	uint32_t changed; /* mask of ports whose MTU or MAC was set since the last poll */
};

/* Publishes what lcores need of a port in its base interface, leaving its role as it is. Returns 0
 * or -ENOMEM. */
int mr_port_publish(struct mr *mr, const struct mr_port *port);

/* Stops the device of a port that is started; waits for DPDK's interrupt thread. Returns 0 or a
 * negative errno. */
int mr_port_stop_device(const struct mr_port *port);

#endif
