/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices that come and go after the start. EAL does the probing and the removing; which port a
 * probe brought is found by comparing the ports before and after, since only EAL knows how a
 * device's name becomes a port's. A device whose ports are more than one is refused: they could not
 * be removed one by one. One that EAL probed at the start and --portmask left out is taken as it
 * is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "base/lines.h"
#include "base/log.h"
#include "port/abandon.h"
#include "port/pool.h"
#include "port/ports.h"

static uint32_t probed_ports(void)
{
	uint32_t mask = 0;
	uint16_t id;

	for (id = rte_eth_find_next(0); id < RTE_MAX_ETHPORTS; id = rte_eth_find_next(id + 1))
		mask |= RTE_BIT32(id);
	return mask;
}

struct rte_device *mr_device_of(uint16_t id)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(id, &info) == 0 ? info.device : NULL;
}

/* Finds the name of a device in its devargs. */
static int name_of(const char *devargs, char *name, struct mr_error *error)
{
	struct rte_devargs parsed = {0};

	if (rte_devargs_parse(&parsed, devargs) != 0)
		return mr_fail(error, -EINVAL,
			       "'%.64s' is no device: a PCI address (0000:03:00.0) or a vdev with "
			       "its arguments (net_tap0,iface=tap0) is one",
			       devargs);
	free(parsed.data);
	strcpy(name, parsed.name);
	return 0;
}

static int probe(const char *devargs, const char *name, struct mr_error *error)
{
	int ret = rte_dev_probe(devargs);

	switch (ret) {
	case 0:
		return 0;
	case -ENODEV:
		return mr_fail(error, ret,
			       "there is no device %s (PCI addresses are written 0000:03:00.0)",
			       name);
	case -ENOTSUP:
		return mr_fail(error, ret,
			       "%s: no driver takes it: a PCI device has to be bound to vfio-pci",
			       name);
	case -EEXIST:
		return mr_fail(error, ret, "%s is in use already, without a port", name);
	default:
		return mr_fail(error, ret < 0 ? ret : -EIO,
			       "%s does not start (%s); the driver's lines in the log say why",
			       name, rte_strerror(ret < 0 ? -ret : EIO));
	}
}

void mr_device_remove(struct rte_device *device, const char *name)
{
	int ret = device != NULL ? rte_dev_remove(device) : 0;

	if (ret < 0)
		mr_log_warning("%s: its device cannot be removed: %s", name, rte_strerror(-ret));
}

/* Takes back a probe whose ports are of no use. */
static void remove_probed(uint32_t ids, const char *name)
{
	struct rte_device *device = mr_device_of((uint16_t)__builtin_ctz(ids));

	for (; ids != 0; ids &= ids - 1)
		rte_eth_dev_close((uint16_t)__builtin_ctz(ids));
	mr_device_remove(device, name);
}

static int set_up(struct mr *mr, uint16_t id, const char *devargs, struct mr_error *error)
{
	int ret = mr_port_prepare(mr, id, devargs, error);
	struct mr_port *port = mr->ports->port[id];

	if (ret == 0)
		ret = mr_pool_create_own(mr->ports, port, error);
	if (ret == 0)
		ret = mr_port_set_up(mr, port, error);
	if (ret < 0 && port != NULL)
		mr_port_remove(mr, port);
	else if (ret < 0)
		remove_probed(RTE_BIT32(id), devargs);
	return ret;
}

/* Probes a device and finds its port. */
static int probe_port(const char *devargs, const char *name, uint16_t *id, struct mr_error *error)
{
	uint32_t before = probed_ports(), added;
	int ret;

	if (rte_eth_dev_count_total() >= RTE_MAX_ETHPORTS)
		return mr_fail(error, -ENOSPC, "there are %u ports already, the most allowed",
			       RTE_MAX_ETHPORTS);
	ret = probe(devargs, name, error);
	if (ret < 0)
		return ret;
	added = probed_ports() & ~before;
	if (added == 0)
		return mr_fail(error, -ENODEV, "%s has no port", name);
	if ((added & (added - 1)) != 0) {
		remove_probed(added, name);
		return mr_fail(error, -ENOTSUP, "%s has %d ports: devices with one can be added",
			       name, __builtin_popcount(added));
	}
	*id = (uint16_t)__builtin_ctz(added);
	return 0;
}

int mr_port_add(struct mr *mr, const char *devargs, struct mr_port **port, struct mr_error *error)
{
	char name[RTE_DEV_NAME_MAX_LEN];
	uint16_t id;
	int ret = name_of(devargs, name, error);

	if (ret < 0)
		return ret;
	mr_abandoned_poll(mr->ports);
	if (rte_eth_dev_get_port_by_name(name, &id) != 0)
		ret = probe_port(devargs, name, &id, error);
	else if (mr_port_is_abandoned(mr->ports, id))
		ret = mr_fail(error, -EBUSY,
			      "%s is being closed, since its device was gone: try again", name);
	else if (mr_port(mr, id) != NULL)
		ret = mr_fail(error, -EEXIST, "%s is port %u already", name, id);
	if (ret == 0)
		ret = set_up(mr, id, devargs, error);
	if (ret == 0)
		*port = mr->ports->port[id];
	return ret;
}

int mr_port_removable(const struct mr_port *port, struct mr_error *error)
{
	uint16_t other;

	RTE_ETH_FOREACH_DEV_SIBLING(other, port->id)
	{
		if (other != port->id)
			return mr_fail(error, -EBUSY,
				       "%s: port %u is on the same device, which can only be "
				       "removed as a whole",
				       port->label, other);
	}
	return 0;
}

/* net_ring frees the rings of its own with what is in them. */
void mr_port_drain(const struct mr_port *port)
{
	struct rte_mbuf *packets[64];
	uint16_t count;

	if (strcmp(port->driver, "net_ring") != 0 || !port->started)
		return;
	for (uint16_t queue = 0; queue < port->rxq; queue++)
		while ((count = rte_eth_rx_burst(port->id, queue, packets, RTE_DIM(packets))) != 0)
			rte_pktmbuf_free_bulk(packets, count);
}

void mr_port_remove(struct mr *mr, struct mr_port *port)
{
	struct rte_device *device = mr_device_of(port->id);
	struct rte_mempool *pool = port->devargs != NULL ? port->pool : NULL;
	char label[sizeof(port->label)];
	uint16_t id = port->id;

	strcpy(label, port->label);
	mr_port_drain(port);
	mr_port_close(mr, port);
	if (rte_eth_dev_is_valid_port(id)) /* it never had queues */
		rte_eth_dev_close(id);
	mr_device_remove(device, label);
	if (pool != NULL)
		mr_pool_retire(mr->ports, pool);
}

void mr_port_note_settings(const struct mr_port *port, struct mr_lines *lines)
{
	char mac[MR_MAC_TEXT_SIZE];

	if (port->mtu != port->first_mtu)
		mr_lines_add(lines, "port config mtu @ %u", port->mtu);
	if (!rte_is_same_ether_addr(&port->mac, &port->first_mac))
		mr_lines_add(lines, "mac_addr set @ %s", mr_mac_format(&port->mac, mac));
	if (!port->promiscuous)
		mr_lines_add(lines, "set promisc @ off");
	if (port->allmulticast)
		mr_lines_add(lines, "set allmulti @ on");
	if (!port->started)
		mr_lines_add(lines, "port stop @");
}
