/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MTU, MAC and receive filters. The forwarding path checks the MTU at egress itself and knows its
 * MACs from interfaces, so a device that cannot be told (-ENOTSUP: rings, files) is no reason to
 * refuse; what a device refuses for a reason of its own is refused with that reason.
 */
#include <errno.h>

#include <rte_errno.h>

#include "base/log.h"
#include "port/ports.h"

int mr_port_set_mtu(struct mr *mr, struct mr_port *port, uint32_t mtu, struct mr_error *error)
{
	uint16_t old = port->mtu;

	if (mtu > port->max_mtu)
		return mr_fail(error, -EINVAL, "%s: MTU %u wanted, at most %u allowed: %s",
			       port->label, mtu, port->max_mtu, port->max_mtu_reason);
	if (mtu < port->min_mtu)
		return mr_fail(error, -EINVAL, "%s: MTU %u wanted, at least %u allowed",
			       port->label, mtu, port->min_mtu);
	int ret = port->device_mtu != 0 ? 0 : rte_eth_dev_set_mtu(port->id, mtu);
	if (ret < 0 && ret != -ENOTSUP)
		return mr_fail(error, ret, "%s: the device refuses MTU %u: %s", port->label, mtu,
			       rte_strerror(-ret));
	port->mtu = mtu;
	ret = mr_port_publish(mr, port);
	if (ret < 0) {
		port->mtu = old;
		if (port->device_mtu == 0)
			rte_eth_dev_set_mtu(port->id, old);
		return mr_fail(error, ret, "%s: out of memory", port->label);
	}
	mr->ports->changed |= RTE_BIT32(port->id);
	return 0;
}

int mr_port_set_mac(struct mr *mr, struct mr_port *port, const struct rte_ether_addr *mac,
		    struct mr_error *error)
{
	struct rte_ether_addr old = port->mac, copy = *mac;

	if (!rte_is_valid_assigned_ether_addr(&copy))
		return mr_fail(error, -EINVAL, "%s: a group address or zero is no MAC of a port",
			       port->label);
	int ret = rte_eth_dev_default_mac_addr_set(port->id, &copy);
	if (ret == -ENOTSUP && !port->promiscuous)
		return mr_fail(
			error, ret,
			"%s: the device keeps its MAC, so another one needs promiscuous mode",
			port->label);
	if (ret < 0 && ret != -ENOTSUP)
		return mr_fail(error, ret, "%s: the device refuses that MAC: %s", port->label,
			       rte_strerror(-ret));
	port->mac = copy;
	ret = mr_port_publish(mr, port);
	if (ret < 0) {
		port->mac = old;
		rte_eth_dev_default_mac_addr_set(port->id, &old);
		return mr_fail(error, ret, "%s: out of memory", port->label);
	}
	mr->ports->changed |= RTE_BIT32(port->id);
	return 0;
}

int mr_port_set_promiscuous(struct mr *mr, struct mr_port *port, bool on, struct mr_error *error)
{
	(void)mr;
	int ret = on ? rte_eth_promiscuous_enable(port->id) : rte_eth_promiscuous_disable(port->id);

	/* A device without the switch has no filter: it hands over everything. */
	if (ret == -ENOTSUP && on)
		mr_log_debug("%s: has no promiscuous mode", port->label);
	else if (ret < 0)
		return mr_fail(error, ret, "%s: promiscuous mode cannot be switched %s: %s",
			       port->label, on ? "on" : "off", rte_strerror(-ret));
	port->promiscuous = on;
	return 0;
}

int mr_port_set_allmulticast(struct mr *mr, struct mr_port *port, bool on, struct mr_error *error)
{
	(void)mr;
	int ret =
		on ? rte_eth_allmulticast_enable(port->id) : rte_eth_allmulticast_disable(port->id);

	if (ret < 0)
		return mr_fail(error, ret, "%s: all-multicast mode cannot be switched %s: %s",
			       port->label, on ? "on" : "off", rte_strerror(-ret));
	port->allmulticast = on;
	return 0;
}
