/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Link states are polled: rx interrupts take em's only vector away from its link interrupt, and
 * ten register reads a second cost nothing. Lcores see a change with the next interface they load.
 */
#include <inttypes.h>

#include "base/log.h"
#include "port/abandon.h"
#include "port/carrier.h"
#include "port/iface.h"
#include "port/pool.h"
#include "port/ports.h"
#include "port/unplug.h"

#define POLL_MS 100

static bool read_link(const struct mr_ports *ports, const struct mr_port *port,
		      struct rte_eth_link *link)
{
	if (rte_eth_link_get_nowait(port->id, link) < 0)
		return false;
	if (port->kernel_link && !mr_carrier_up(ports->carrier, port->kernel_index))
		link->link_status = RTE_ETH_LINK_DOWN;
	return true;
}

static void log_link(const struct mr_port *port)
{
	const char *duplex =
		port->link.link_duplex == RTE_ETH_LINK_FULL_DUPLEX ? "full duplex" : "half duplex";
	uint32_t speed = port->link.link_speed;

	if (port->link.link_status == RTE_ETH_LINK_DOWN)
		mr_log_notice("%s: link down", port->label);
	else if (speed == RTE_ETH_SPEED_NUM_NONE || speed == RTE_ETH_SPEED_NUM_UNKNOWN)
		mr_log_notice("%s: link up", port->label);
	else if (speed % 1000 == 0)
		mr_log_notice("%s: link up %" PRIu32 " Gb/s %s", port->label, speed / 1000, duplex);
	else
		mr_log_notice("%s: link up %" PRIu32 " Mb/s %s", port->label, speed, duplex);
}

static bool poll_port(struct mr *mr, struct mr_port *port)
{
	const struct mr_iface *iface = mr_iface(mr, port->id);
	struct rte_eth_link link = {.link_status = RTE_ETH_LINK_DOWN};

	if (port->started && !read_link(mr->ports, port, &link))
		return false;
	bool changed = link.link_status != port->link.link_status;
	port->link = link;
	if (changed) {
		port->link_changes++;
		log_link(port);
	}
	/* Also when memory was short the last time. */
	if (iface != NULL && iface->link_up != (link.link_status == RTE_ETH_LINK_UP))
		mr_port_publish(mr, port);
	return changed;
}

uint32_t mr_ports_poll(struct mr *mr, uint64_t now_ms)
{
	struct mr_port *port;

	if (mr->ports == NULL)
		return 0;
	uint32_t changed = mr->ports->changed;
	mr->ports->changed = 0;
	mr_abandoned_poll(mr->ports);
	mr_pools_poll(mr);
	if (now_ms < mr->ports->next_poll_ms)
		return changed;
	mr->ports->next_poll_ms = now_ms + POLL_MS;
	if (mr->ports->carrier != NULL)
		mr_carrier_poll(mr->ports->carrier);
	MR_PORT_FOREACH (mr, port) {
		mr_unplug_poll_port(mr->ports, port);
		if (poll_port(mr, port))
			changed |= RTE_BIT32(port->id);
	}
	return changed;
}
