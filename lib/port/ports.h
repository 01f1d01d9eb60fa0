/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PORT_PORTS_H
#define MR_PORT_PORTS_H

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "port/port.h"

struct mr_retired_pool;
struct mr_abandoned;

/* The inside of room port, for its own files. Control thread. */
struct mr_ports {
	struct mr_port_options options; /* as given at the start; profiles_dir is a copy */
	unsigned lcores;                /* that will forward */
	struct mr_port *port[RTE_MAX_ETHPORTS];
	struct rte_mempool
		*pool[RTE_MAX_NUMA_NODES]; /* of the ports that were there at the start */
	struct rte_mempool *host_pool;     /* one of pool[] */
	struct mr_retired_pool *retired; /* of ports that were removed; not all buffers are back */
	struct mr_abandoned *abandoned;  /* ports being closed, see abandon.c */
	unsigned pools_made;             /* for added ports; makes their names unique */
	struct mr_carrier *carrier;      /* NULL: no port is bound to a kernel interface */
	uint64_t next_poll_ms;
	uint32_t changed;   /* mask of ports whose MTU or MAC was set since the last poll */
	uint32_t unplugged; /* mask of ports whose device is gone; EAL's interrupt thread sets */
	bool watches_uio;   /* see unplug.c */
};

/* Decides about and configures a port that EAL probed, and lists it; devargs as in struct mr_port.
 * On failure it is listed, too: mr_port_close undoes it. */
int mr_port_prepare(struct mr *mr, uint16_t id, const char *devargs, struct mr_error *error);

/* Gives a prepared port its queues and its base interface, and starts it. Its pool is made. */
int mr_port_set_up(struct mr *mr, struct mr_port *port, struct mr_error *error);

/* Takes back all that these two did, and frees port. The device stays probed. */
void mr_port_close(struct mr *mr, struct mr_port *port);

/* Its parts but for the device: the port is no more for anybody else; and its memory. */
void mr_port_unlist(struct mr *mr, struct mr_port *port);
void mr_port_free(struct mr_ports *ports, struct mr_port *port);

/* Frees what a device of rings still has in them, which its driver does not; the port is polled by
 * nobody else any more. */
void mr_port_drain(const struct mr_port *port);

/* Has EAL forget a device (or NULL) whose port is closed; what it refuses is logged. */
void mr_device_remove(struct rte_device *device, const char *name);

/* The device that a port is on. */
struct rte_device *mr_device_of(uint16_t id);

/* Publishes what lcores need of a port in its base interface, leaving its role as it is. Returns 0
 * or -ENOMEM. */
int mr_port_publish(struct mr *mr, const struct mr_port *port);

/* Stops the device of a port that is started; waits for DPDK's interrupt thread. Returns 0 or a
 * negative errno. */
int mr_port_stop_device(const struct mr_port *port);

#endif
