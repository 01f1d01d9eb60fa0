/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device may go while its port is in use, and who says so depends on its kind:
 *
 *  - vfio: the kernel asks whoever has the device to release it, and waits. EAL hears that and
 * calls the callbacks of rte_dev_event_callback_register; nothing else of EAL's tells.
 *  - uio: the device is gone at once, and touching its registers raises SIGBUS. EAL puts memory in
 *    their place if it is told to (rte_dev_hotplug_handle_enable), and it hears of the removal from
 *    the kernel's uevents if it is told to listen (rte_dev_event_monitor_start).
 *  - Drivers that know by themselves: RTE_ETH_EVENT_INTR_RMV, or rte_eth_dev_is_removed when asked.
 *  - A kernel interface that was deleted: rtnetlink, see carrier.c.
 *
 * The functions about rte_dev events are marked experimental in DPDK 22.11, and still are in 24.11;
 * for vfio and uio there is no other way, so this file, and no other, uses them. What they report
 * comes on EAL's interrupt thread and becomes a bit for the control thread.
 */
#define ALLOW_EXPERIMENTAL_API
#include "port/unplug.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_pause.h>

#include "base/log.h"
#include "port/carrier.h"

static void note(struct mr_ports *ports, uint16_t id)
{
	if (id < RTE_MAX_ETHPORTS)
		__atomic_fetch_or(&ports->unplugged, RTE_BIT32(id), __ATOMIC_RELEASE);
}

static int on_port_event(uint16_t id, enum rte_eth_event_type event, void *ports, void *data)
{
	(void)event;
	(void)data;
	note(ports, id);
	return 0;
}

/* A PCI device's port has its name. */
static void on_device_event(const char *name, enum rte_dev_event_type event, void *ports)
{
	uint16_t id;

	if (event == RTE_DEV_EVENT_REMOVE && rte_eth_dev_get_port_by_name(name, &id) == 0)
		note(ports, id);
}

void mr_unplug_watch(struct mr_ports *ports)
{
	int ret = rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_RMV, on_port_event,
						ports);

	if (ret == 0)
		ret = rte_dev_event_callback_register(NULL, on_device_event, ports);
	if (ret != 0)
		mr_log_warning("devices that are pulled out will not be noticed: %s",
			       strerror(-ret));
}

void mr_unplug_unwatch(struct mr_ports *ports)
{
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_RMV, on_port_event, ports);
	/* Until it is not being called any more. */
	while (rte_dev_event_callback_unregister(NULL, on_device_event, ports) == -EAGAIN)
		rte_pause();
	if (ports->watches_uio) {
		rte_dev_hotplug_handle_disable();
		rte_dev_event_monitor_stop();
		ports->watches_uio = false;
	}
}

/* Whether a PCI device is bound to a kernel driver whose name has uio in it. */
static bool is_uio(const char *name)
{
	char path[PATH_MAX], driver[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", name);
	ssize_t length = readlink(path, driver, sizeof(driver) - 1);
	if (length < 0)
		return false;
	driver[length] = '\0';
	const char *last = strrchr(driver, '/');
	return strstr(last != NULL ? last : driver, "uio") != NULL;
}

void mr_unplug_watch_port(struct mr_ports *ports, const struct mr_port *port)
{
	if (ports->watches_uio || !is_uio(port->name))
		return;
	if (rte_dev_event_monitor_start() != 0 || rte_dev_hotplug_handle_enable() != 0)
		mr_log_warning("%s: pulling it out would end millrace: EAL does not listen to the "
			       "kernel's events",
			       port->label);
	else
		ports->watches_uio = true;
}

void mr_unplug_poll_port(struct mr_ports *ports, const struct mr_port *port)
{
	if (rte_eth_dev_is_removed(port->id) == 1)
		note(ports, port->id);
}

void mr_unplug_forget_port(struct mr_ports *ports, const struct mr_port *port)
{
	__atomic_fetch_and(&ports->unplugged, ~RTE_BIT32(port->id), __ATOMIC_RELAXED);
}

uint32_t mr_ports_unplugged(struct mr *mr)
{
	struct mr_ports *ports = mr->ports;
	uint32_t mask = __atomic_load_n(&ports->unplugged, __ATOMIC_ACQUIRE), ours = 0;
	struct mr_port *port;

	if (ports->carrier != NULL)
		mask |= mr_carrier_deleted(ports->carrier);
	if (mask == 0)
		return 0;
	MR_PORT_FOREACH (mr, port) {
		ours |= RTE_BIT32(port->id);
	}
	return mask & ours;
}
