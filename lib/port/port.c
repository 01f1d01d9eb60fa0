/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting ports up, in two passes. The first decides and configures every port, so that the
 * buffers all of them need are known and one pool a NUMA node can be made; the second gives queues
 * their pool and starts. A device that refuses is named with what it refused. After a failure no
 * queue may keep pointing at a pool that is freed, so a port that has queues is closed.
 */
#include "port/port.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include "base/log.h"
#include "base/number.h"
#include "port/abandon.h"
#include "port/carrier.h"
#include "port/iface.h"
#include "port/limits.h"
#include "port/pool.h"
#include "port/ports.h"
#include "port/profile.h"
#include "port/ring_size.h"
#include "port/unplug.h"

static struct mr_ports *ports_of(struct mr *mr)
{
	if (mr->ports == NULL)
		mr->ports = calloc(1, sizeof(*mr->ports));
	return mr->ports;
}

void mr_ports_expect_lcores(struct mr *mr, unsigned lcores)
{
	if (ports_of(mr) != NULL)
		mr->ports->lcores = lcores;
}

struct mr_port *mr_port(struct mr *mr, uint16_t id)
{
	return mr->ports != NULL && id < RTE_MAX_ETHPORTS ? mr->ports->port[id] : NULL;
}

struct mr_port *mr_port_by_text(struct mr *mr, const char *text)
{
	uint64_t id;

	return mr_number_parse(text, UINT16_MAX, &id) == 0 ? mr_port(mr, (uint16_t)id) : NULL;
}

struct rte_mempool *mr_ports_host_pool(struct mr *mr)
{
	return mr->ports != NULL ? mr->ports->host_pool : NULL;
}

/* A stable address of our own for a device without one: locally administered, from its name. */
static struct rte_ether_addr made_up_mac(const char *name)
{
	struct rte_ether_addr mac;
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

	for (; *name != '\0'; name++)
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3;
	hash ^= hash >> 32;
	memcpy(mac.addr_bytes, &hash, RTE_ETHER_ADDR_LEN);
	mac.addr_bytes[0] = RTE_ETHER_LOCAL_ADMIN_ADDR;
	return mac;
}

static int read_mac(struct mr_port *port, struct mr_error *error)
{
	int ret = rte_eth_macaddr_get(port->id, &port->mac);

	if (ret < 0)
		return mr_fail(error, ret, "%s: has no MAC: %s", port->label, rte_strerror(-ret));
	if (rte_is_valid_assigned_ether_addr(&port->mac))
		return 0;
	port->mac = made_up_mac(port->name);
	ret = rte_eth_dev_default_mac_addr_set(port->id, &port->mac);
	if (ret < 0 && ret != -ENOTSUP)
		mr_log_warning("%s: takes no MAC (%s): promiscuous mode has to do", port->label,
			       rte_strerror(-ret));
	return 0;
}

static int configure(struct mr_port *port, struct mr_error *error)
{
	uint16_t mtu = port->device_mtu != 0 ? port->device_mtu : port->mtu;
	struct rte_eth_conf conf = {.rxmode.mtu = mtu,
				    .rxmode.offloads = port->rx_offloads,
				    .txmode.offloads = port->tx_offloads,
				    .intr_conf.rxq = port->rx_interrupts};
	struct rte_eth_dev_info info;

	if (port->rss) {
		rte_eth_dev_info_get(port->id, &info);
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP & info.flow_type_rss_offloads;
	}
	int ret = rte_eth_dev_configure(port->id, port->rxq, port->txq, &conf);
	if (ret < 0 && port->rx_interrupts) {
		conf.intr_conf.rxq = 0;
		ret = rte_eth_dev_configure(port->id, port->rxq, port->txq, &conf);
	}
	port->interrupts = conf.intr_conf.rxq != 0;
	if (ret < 0)
		return mr_fail(error, ret, "%s: refuses %u rx and %u tx queues with MTU %u: %s",
			       port->label, port->rxq, port->txq, mtu, rte_strerror(-ret));
	ret = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &port->rxd, &port->txd);
	if (ret < 0)
		return mr_fail(error, ret, "%s: refuses %u rx and %u tx descriptors: %s",
			       port->label, port->rxd, port->txd, rte_strerror(-ret));
	return 0;
}

static bool on_vfio(const struct mr_port *port)
{
	char path[96], driver[96];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", port->name);
	ssize_t length = readlink(path, driver, sizeof(driver) - 1);
	if (length < 0)
		return false;
	driver[length] = '\0';
	return strcmp(basename(driver), "vfio-pci") == 0;
}

/* Whether rx interrupts can come at all: vfio delivers MSI-X unless told otherwise, also of a
 * device or for a driver that has none, and then nothing comes. */
static bool rx_interrupts_come(const struct mr_port *port, const struct mr_profile *profile,
			       const struct mr_port_options *options)
{
	if (!profile->legacy_interrupts || options->legacy_interrupts || !on_vfio(port))
		return true;
	mr_log_warning("%s: has rx interrupts only with EAL's --vfio-intr=legacy: its lcores wake "
		       "by the clock, as with --idle=adaptive",
		       port->label);
	return false;
}

static int prepare(struct mr *mr, struct mr_port *port, struct mr_error *error)
{
	const struct mr_port_options *options = &mr->ports->options;
	struct rte_eth_dev_info info;
	struct mr_profile profile;
	int ret;

	if (rte_eth_dev_get_name_by_port(port->id, port->name) < 0)
		snprintf(port->name, sizeof(port->name), "%u", port->id);
	snprintf(port->label, sizeof(port->label), "port %u (%s)", port->id, port->name);
	ret = rte_eth_dev_info_get(port->id, &info);
	if (ret < 0)
		return mr_fail(error, ret, "%s: tells nothing of itself: %s", port->label,
			       rte_strerror(-ret));
	snprintf(port->driver, sizeof(port->driver), "%s", info.driver_name);
	port->socket = rte_eth_dev_socket_id(port->id);
	if (port->socket < 0)
		port->socket = rte_socket_id();

	ret = mr_profile_load(options->profiles_dir, port->driver, &profile, error);
	port->rx_interrupts =
		ret == 0 && options->rx_interrupts && rx_interrupts_come(port, &profile, options);
	if (ret == 0)
		ret = mr_port_limit(port, &info, &profile, options, mr->ports->lcores, error);
	if (ret == 0)
		mr_port_check_ring_size(port, &info, options);
	if (ret == 0)
		ret = configure(port, error);
	if (ret == 0)
		ret = read_mac(port, error);
	port->first_mac = port->mac;
	port->first_mtu = port->mtu;
	return ret;
}

/* First pass, one port. */
int mr_port_prepare(struct mr *mr, uint16_t id, const char *devargs, struct mr_error *error)
{
	struct mr_port *port = calloc(1, sizeof(*port));

	if (port == NULL)
		return mr_fail(error, -ENOMEM, "port %u: out of memory", id);
	port->id = id;
	mr->ports->port[id] = port;
	if (devargs != NULL && (port->devargs = strdup(devargs)) == NULL)
		return mr_fail(error, -ENOMEM, "port %u: out of memory", id);
	return prepare(mr, port, error);
}

static int setup_queues(struct mr_port *port, struct mr_error *error)
{
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(port->id, &info);

	for (uint16_t q = 0; q < port->rxq && ret == 0; q++) {
		struct rte_eth_rxconf conf = info.default_rxconf;
		conf.offloads = port->rx_offloads;
		ret = rte_eth_rx_queue_setup(port->id, q, port->rxd, port->socket, &conf,
					     port->pool);
		if (ret < 0)
			return mr_fail(error, ret,
				       "%s: refuses rx queue %u with %u descriptors: %s",
				       port->label, q, port->rxd, rte_strerror(-ret));
	}
	for (uint16_t q = 0; q < port->txq && ret == 0; q++) {
		struct rte_eth_txconf conf = info.default_txconf;
		conf.offloads = port->tx_offloads;
		ret = rte_eth_tx_queue_setup(port->id, q, port->txd, port->socket, &conf);
		if (ret < 0)
			return mr_fail(error, ret,
				       "%s: refuses tx queue %u with %u descriptors: %s",
				       port->label, q, port->txd, rte_strerror(-ret));
	}
	return ret;
}

/* Second pass, one port. Promiscuous, since stations behind other ports of a bridge are addressed
 * through it. */
int mr_port_set_up(struct mr *mr, struct mr_port *port, struct mr_error *error)
{
	port->configured = true;
	int ret = setup_queues(port, error);

	if (ret == 0)
		ret = mr_carrier_follow(mr->ports, port, error);
	if (ret == 0)
		ret = mr_port_start(mr, port, error);
	if (ret == 0)
		ret = mr_port_set_promiscuous(mr, port, true, error);
	if (ret == 0)
		ret = mr_port_publish(mr, port);
	if (ret < 0)
		return mr_fail(error, ret, "%s: %s", port->label, rte_strerror(-ret));
	mr_unplug_watch_port(mr->ports, port);
	mr->ports->next_poll_ms = 0; /* its link is of interest at once */
	return 0;
}

static int check_portmask(const struct mr_port_options *options, struct mr_error *error)
{
	for (uint16_t id = 0; id < 64; id++)
		if ((options->portmask & RTE_BIT64(id)) && !rte_eth_dev_is_valid_port(id))
			return mr_fail(error, -EINVAL,
				       "portmask 0x%" PRIx64 ": there is no port %u, but %u ports",
				       options->portmask, id, rte_eth_dev_count_avail());
	return 0;
}

static int prepare_all(struct mr *mr, struct mr_error *error)
{
	const struct mr_port_options *options = &mr->ports->options;
	uint16_t id;
	int ret = check_portmask(options, error);

	if (ret < 0)
		return ret;
	RTE_ETH_FOREACH_DEV (id) {
		if (options->portmask != 0 && !(options->portmask & RTE_BIT64(id)))
			continue;
		ret = mr_port_prepare(mr, id, NULL, error);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int keep_options(struct mr_ports *ports, const struct mr_port_options *options,
			struct mr_error *error)
{
	ports->options = *options;
	if (options->profiles_dir == NULL)
		return 0;
	ports->options.profiles_dir = strdup(options->profiles_dir);
	return ports->options.profiles_dir != NULL
		       ? 0
		       : mr_fail(error, -ENOMEM, "ports: out of memory");
}

static int create_all(struct mr *mr, const struct mr_port_options *options, struct mr_error *error)
{
	struct mr_port *port;
	int ret = mr_port_options_check(options, error);

	if (ret == 0)
		ret = keep_options(mr->ports, options, error);
	if (ret == 0)
		ret = prepare_all(mr, error);
	if (ret == 0)
		ret = mr_pools_create(mr->ports, error);
	if (ret < 0)
		return ret;
	mr_unplug_watch(mr->ports);
	MR_PORT_FOREACH (mr, port) {
		ret = mr_port_set_up(mr, port, error);
		if (ret < 0)
			return ret;
	}
	mr_ports_poll(mr, 0);
	return 0;
}

int mr_ports_create(struct mr *mr, const struct mr_port_options *options, struct mr_error *error)
{
	if (ports_of(mr) == NULL)
		return mr_fail(error, -ENOMEM, "ports: out of memory");
	int ret = create_all(mr, options, error);
	if (ret < 0)
		mr_ports_destroy(mr);
	return ret;
}

void mr_port_unlist(struct mr *mr, struct mr_port *port)
{
	mr_iface_remove(mr, port->id);
	mr_carrier_forget(mr->ports, port);
	mr->ports->port[port->id] = NULL;
	mr->ports->changed &= ~RTE_BIT32(port->id);
}

void mr_port_free(struct mr_ports *ports, struct mr_port *port)
{
	mr_unplug_forget_port(ports, port);
	free(port->xstats_baseline);
	free(port->devargs);
	free(port);
}

void mr_port_close(struct mr *mr, struct mr_port *port)
{
	mr_port_unlist(mr, port);
	if (port->started)
		mr_port_stop_device(port);
	if (port->configured)
		rte_eth_dev_close(port->id);
	mr_port_free(mr->ports, port);
}

void mr_ports_destroy(struct mr *mr)
{
	struct mr_ports *ports = mr->ports;

	if (ports == NULL)
		return;
	mr_unplug_unwatch(ports);
	mr_abandoned_finish(ports);
	for (unsigned id = 0; id < RTE_MAX_ETHPORTS; id++) {
		struct mr_port *port = ports->port[id];

		if (port == NULL)
			continue;
		if (port->devargs != NULL)
			mr_port_remove(mr, port);
		else
			mr_port_close(mr, port);
	}
	mr_carrier_destroy(ports);
	mr_pools_destroy(ports);
	free((void *)(uintptr_t)ports->options.profiles_dir);
	free(ports);
	mr->ports = NULL;
}

/* A driver tells that it has no rx interrupts by refusing to switch one on, once started. */
static void check_rx_interrupts(struct mr_port *port)
{
	bool usable = port->rx_interrupts;

	for (uint16_t q = 0; usable && q < port->rxq; q++)
		usable = rte_eth_dev_rx_intr_enable(port->id, q) == 0 &&
			 rte_eth_dev_rx_intr_disable(port->id, q) == 0 &&
			 rte_eth_dev_rx_intr_ctl_q_get_fd(port->id, q) >= 0;
	if (port->rx_interrupts && !usable)
		mr_log_warning("%s: has no rx interrupts: its lcores wake by the clock, as with "
			       "--idle=adaptive",
			       port->label);
	port->rx_interrupts = usable;
}

int mr_port_start(struct mr *mr, struct mr_port *port, struct mr_error *error)
{
	(void)mr;
	if (port->started)
		return mr_fail(error, -EALREADY, "%s: is started already", port->label);
	int ret = rte_eth_dev_start(port->id);
	if (ret < 0)
		return mr_fail(error, ret, "%s: does not start: %s", port->label,
			       rte_strerror(-ret));
	port->started = true;
	check_rx_interrupts(port);
	return 0;
}

int mr_port_stop(struct mr *mr, struct mr_port *port, struct mr_error *error)
{
	(void)mr;
	if (!port->started)
		return mr_fail(error, -EALREADY, "%s: is stopped already", port->label);
	int ret = mr_port_stop_device(port);
	if (ret < 0)
		return mr_fail(error, ret, "%s: does not stop: %s", port->label,
			       rte_strerror(-ret));
	port->started = false;
	return 0;
}

int mr_port_publish(struct mr *mr, const struct mr_port *port)
{
	const struct mr_iface *old = mr_iface(mr, port->id);
	struct mr_iface iface = {.index = port->id, .port = port->id, .mode = MR_MODE_NONE};

	if (old != NULL)
		iface = *old;
	iface.mac = mr_mac_to_u48(&port->mac);
	iface.mtu = port->mtu;
	iface.max_frame = port->mtu + RTE_ETHER_HDR_LEN;
	iface.link_up = port->started && port->link.link_status == RTE_ETH_LINK_UP;
	iface.partial_checksums = port->partial_checksums;
	return mr_iface_publish(mr, &iface);
}
