/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device that was configured with rx interrupts is known to DPDK's interrupt thread. Its driver's
 * stop takes it back from that thread, which refuses while it is in the driver's handler; virtio
 * overlooks the refusal (22.11), and the thread ends the process when it meets the closed
 * descriptor. A vhost-user peer calls the handler by every reply, and replies come whenever DPDK's
 * memory grows or shrinks, so also moments before a stop. On the interrupt thread itself nothing
 * can be in a handler; so that is where such a device is stopped.
 */
#include <errno.h>
#include <semaphore.h>

#include <rte_alarm.h>
#include <rte_ethdev.h>

#include "port/ports.h"

struct stop {
	uint16_t port;
	int ret;
	sem_t done;
};

static void stop_here(void *arg)
{
	struct stop *stop = arg;

	stop->ret = rte_eth_dev_stop(stop->port);
	sem_post(&stop->done);
}

/* Alarms go off on the interrupt thread. */
static int stop_on_interrupt_thread(uint16_t port)
{
	struct stop stop = {.port = port};

	if (sem_init(&stop.done, 0, 0) != 0)
		return -errno;
	if (rte_eal_alarm_set(1, stop_here, &stop) != 0)
		stop_here(&stop);
	while (sem_wait(&stop.done) != 0)
		; /* EINTR */
	sem_destroy(&stop.done);
	return stop.ret;
}

int mr_port_stop_device(const struct mr_port *port)
{
	return port->interrupts ? stop_on_interrupt_thread(port->id) : rte_eth_dev_stop(port->id);
}
