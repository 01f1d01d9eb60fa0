/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver that stops a device which is not there any more waits for answers that do not come: em
 * and igb half a minute when their registers read as 0 (uio). The control thread has neighbours to
 * answer in that time, so a thread of its own closes such a port. The control thread has unlisted
 * the port before and touches it again only when that thread has ended.
 */
#include "port/abandon.h"

#include <pthread.h>
#include <stdlib.h>

#include <rte_ethdev.h>

#include "port/pool.h"

struct mr_abandoned {
	struct mr_abandoned *next;
	struct mr_port *port;
	struct rte_device *device;
	pthread_t thread;
	bool closed; /* set by the thread, at its end */
};

static void *close_port(void *arg)
{
	struct mr_abandoned *abandoned = arg;

	mr_port_drain(abandoned->port);
	if (abandoned->port->started)
		mr_port_stop_device(abandoned->port);
	rte_eth_dev_close(abandoned->port->id);
	__atomic_store_n(&abandoned->closed, true, __ATOMIC_RELEASE);
	return NULL;
}

void mr_port_abandon(struct mr *mr, struct mr_port *port)
{
	struct mr_abandoned *abandoned = calloc(1, sizeof(*abandoned));

	if (abandoned == NULL) {
		mr_port_remove(mr, port);
		return;
	}
	*abandoned = (struct mr_abandoned){
		.next = mr->ports->abandoned, .port = port, .device = mr_device_of(port->id)};
	if (pthread_create(&abandoned->thread, NULL, close_port, abandoned) != 0) {
		free(abandoned);
		mr_port_remove(mr, port);
		return;
	}
	mr_port_unlist(mr, port);
	mr->ports->abandoned = abandoned;
}

static void end(struct mr_ports *ports, struct mr_abandoned *abandoned)
{
	struct mr_port *port = abandoned->port;

	pthread_join(abandoned->thread, NULL);
	mr_device_remove(abandoned->device, port->label);
	if (port->devargs != NULL)
		mr_pool_retire(ports, port->pool);
	mr_port_free(ports, port);
	free(abandoned);
}

void mr_abandoned_poll(struct mr_ports *ports)
{
	struct mr_abandoned **at = &ports->abandoned;

	while (*at != NULL) {
		struct mr_abandoned *abandoned = *at;

		if (!__atomic_load_n(&abandoned->closed, __ATOMIC_ACQUIRE)) {
			at = &abandoned->next;
			continue;
		}
		*at = abandoned->next;
		end(ports, abandoned);
	}
}

void mr_abandoned_finish(struct mr_ports *ports)
{
	while (ports->abandoned != NULL) {
		struct mr_abandoned *abandoned = ports->abandoned;

		ports->abandoned = abandoned->next;
		end(ports, abandoned);
	}
}

bool mr_port_is_abandoned(const struct mr_ports *ports, uint16_t id)
{
	for (const struct mr_abandoned *a = ports->abandoned; a != NULL; a = a->next)
		if (a->port->id == id)
			return true;
	return false;
}

unsigned mr_ports_closing(const struct mr *mr)
{
	unsigned count = 0;

	for (const struct mr_abandoned *a = mr->ports->abandoned; a != NULL; a = a->next)
		count++;
	return count;
}
