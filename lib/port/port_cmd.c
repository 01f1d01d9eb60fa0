/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that need nothing of a port but the port itself, with testpmd's words. What needs the
 * forwarding lcores (start, stop, stats) is in lcore/port_run_cmd.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "port/iface.h"
#include "port/ports.h"
#include "port/xstats.h"

/* The port that a command names, or NULL and the refusal. */
static struct mr_port *port_of(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port *port = mr_port(mr, (uint16_t)mr_arg_number(args, "N", UINT16_MAX));

	if (port == NULL)
		mr_refuse(reply, -ENODEV, "there is no port %s", mr_arg(args, "N", 0)->text);
	return port;
}

static json_t *offload_names(uint64_t offloads, const char *(*name_of)(uint64_t))
{
	char text[256] = "";

	for (unsigned i = 0; i < 64; i++) {
		if (!(offloads & RTE_BIT64(i)))
			continue;
		if (text[0] != '\0')
			strncat(text, " ", sizeof(text) - strlen(text) - 1);
		strncat(text, name_of(RTE_BIT64(i)), sizeof(text) - strlen(text) - 1);
	}
	for (char *c = text; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c += 'a' - 'A';
	return json_string(text[0] != '\0' ? text : "none");
}

static const char *link_text(const struct mr_port *port)
{
	return port->link.link_status == RTE_ETH_LINK_UP ? "up" : "down";
}

static json_int_t speed_mbps(const struct mr_port *port)
{
	uint32_t speed = port->link.link_speed;

	return speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : speed;
}

static json_t *summary(const struct mr_port *port)
{
	char mac[MR_MAC_TEXT_SIZE];

	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:I, s:s, s:i, s:i, s:i}", "port", port->id,
			 "name", port->name, "driver", port->driver, "state",
			 port->started ? "started" : "stopped", "link", link_text(port),
			 "speed_mbps", speed_mbps(port), "mac", mr_mac_format(&port->mac, mac),
			 "mtu", port->mtu, "rxq", port->rxq, "txq", port->txq);
}

static json_t *queues(const struct mr_port *port)
{
	return json_pack(
		"{s:i, s:i, s:i, s:i, s:i, s:b, s:o, s:o}", "rxq", port->rxq, "txq", port->txq,
		"rxd", port->rxd, "txd", port->txd, "burst", port->burst, "rss", port->rss,
		"rx_offloads", offload_names(port->rx_offloads, rte_eth_dev_rx_offload_name),
		"tx_offloads", offload_names(port->tx_offloads, rte_eth_dev_tx_offload_name));
}

static json_t *details(const struct mr_port *port)
{
	json_t *object = summary(port), *more;

	json_object_update_new(object, queues(port));
	more = json_pack(
		"{s:i, s:s, s:I, s:b, s:b, s:b, s:i, s:s, s:i, s:i, s:i}", "max_mtu", port->max_mtu,
		"duplex", port->link.link_duplex == RTE_ETH_LINK_FULL_DUPLEX ? "full" : "half",
		"link_changes", (json_int_t)port->link_changes, "promiscuous", port->promiscuous,
		"allmulticast", port->allmulticast, "partial_checksums", port->partial_checksums,
		"numa_node", port->socket, "pool", port->pool->name, "pool_buffers",
		port->pool->size, "pool_free", (int)rte_mempool_avail_count(port->pool),
		"buffer_size", rte_pktmbuf_data_room_size(port->pool));
	json_object_update_new(object, more);
	return object;
}

static json_t *all_ports(struct mr *mr, json_t *(*describe)(const struct mr_port *))
{
	json_t *array = json_array();
	struct mr_port *port;

	MR_PORT_FOREACH (mr, port) {
		json_array_append_new(array, describe(port));
	}
	return array;
}

static int show_info(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	if (mr_arg_has(args, "all"))
		return mr_reply(reply, all_ports(mr, summary));
	struct mr_port *port = port_of(mr, args, reply);
	return port == NULL ? -ENODEV : mr_reply(reply, details(port));
}

static json_t *port_and_queues(const struct mr_port *port)
{
	json_t *object = json_pack("{s:i, s:s}", "port", port->id, "name", port->name);

	json_object_update_new(object, queues(port));
	return object;
}

static int show_config(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	(void)args;
	return mr_reply(reply, all_ports(mr, port_and_queues));
}

static int show_xstats(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port *port;

	if (!mr_arg_has(args, "all")) {
		port = port_of(mr, args, reply);
		if (port == NULL)
			return -ENODEV;
		json_t *object = mr_port_xstats(port, false, &reply->error);
		return object == NULL ? -EIO : mr_reply(reply, object);
	}
	json_t *ports = json_object();
	MR_PORT_FOREACH (mr, port) {
		json_t *object = mr_port_xstats(port, true, NULL);
		if (object != NULL)
			json_object_set_new(ports, port->label, object);
	}
	return mr_reply(reply, ports);
}

static int clear_xstats(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port *port;
	int ret = 0;

	if (!mr_arg_has(args, "all")) {
		port = port_of(mr, args, reply);
		return port == NULL ? -ENODEV : mr_port_xstats_clear(port, &reply->error);
	}
	MR_PORT_FOREACH (mr, port) {
		if (ret == 0)
			ret = mr_port_xstats_clear(port, &reply->error);
	}
	return ret;
}

typedef int switch_fn(struct mr *mr, struct mr_port *port, bool on, struct mr_error *error);

/* Switches one or all ports; when one refuses, those before it get their old state back. */
static int switch_ports(struct mr *mr, const struct mr_args *args, struct mr_reply *reply,
			switch_fn *set, bool (*get)(const struct mr_port *))
{
	bool on = mr_arg_has(args, "on"), old[RTE_MAX_ETHPORTS];
	uint16_t done = 0;
	int ret = 0;

	if (!mr_arg_has(args, "all")) {
		struct mr_port *port = port_of(mr, args, reply);
		return port == NULL ? -ENODEV : set(mr, port, on, &reply->error);
	}
	for (; done < RTE_MAX_ETHPORTS && ret == 0; done++) {
		struct mr_port *port = mr_port(mr, done);
		if (port == NULL)
			continue;
		old[done] = get(port);
		ret = set(mr, port, on, &reply->error);
	}
	/* The last one done is the one that refused. */
	for (uint16_t id = 0; ret < 0 && id + 1 < done; id++)
		if (mr_port(mr, id) != NULL)
			set(mr, mr_port(mr, id), old[id], NULL);
	return ret;
}

static bool is_promiscuous(const struct mr_port *port)
{
	return port->promiscuous;
}

static bool is_allmulticast(const struct mr_port *port)
{
	return port->allmulticast;
}

static int set_promisc(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	return switch_ports(mr, args, reply, mr_port_set_promiscuous, is_promiscuous);
}

static int set_allmulti(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	return switch_ports(mr, args, reply, mr_port_set_allmulticast, is_allmulticast);
}

static int set_mtu(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port *port = port_of(mr, args, reply);
	uint64_t mtu = mr_arg_number(args, "BYTES", 0);

	if (port == NULL)
		return -ENODEV;
	return mr_port_set_mtu(mr, port, (uint32_t)mtu, &reply->error);
}

static int set_mac(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port *port = port_of(mr, args, reply);

	if (port == NULL)
		return -ENODEV;
	return mr_port_set_mac(mr, port, &mr_arg(args, "MAC", 0)->mac, &reply->error);
}

const struct mr_cmd mr_port_cmds[] = {
	{"show port info all|N", "Shows ports: link, MAC, MTU; of one port all that is known.",
	 show_info},
	{"show port xstats all|N", "Shows the device's own counters; of all ports those not 0.",
	 show_xstats},
	{"clear port xstats all|N", "Counts the device's own counters from now.", clear_xstats},
	{"show config rxtx", "Shows queues, descriptors, burst and offloads of all ports.",
	 show_config},
	{"set promisc all|N on|off", "Receives frames for any MAC, or for the port's own only.",
	 set_promisc},
	{"set allmulti all|N on|off", "Receives frames for all group MACs, or filtered.",
	 set_allmulti},
	{"port config mtu N BYTES", "Sets a port's MTU.", set_mtu},
	{"port config N mtu BYTES", "Sets a port's MTU.", set_mtu},
	{"mac_addr set N MAC", "Sets a port's MAC.", set_mac},
	{0},
};

static int query_list(struct mr *mr, const char *params, struct mr_reply *reply)
{
	json_t *array = json_array();
	struct mr_port *port;

	(void)params;
	MR_PORT_FOREACH (mr, port) {
		json_array_append_new(array, json_integer(port->id));
	}
	return mr_reply(reply, array);
}

static int query_info(struct mr *mr, const char *params, struct mr_reply *reply)
{
	struct mr_port *port = mr_port_by_text(mr, params);

	if (port == NULL)
		return mr_refuse(reply, -ENODEV, "there is no port '%s'", params);
	return mr_reply(reply, details(port));
}

const struct mr_query mr_port_queries[] = {
	{"/millrace/port/list", "Numbers of the ports.", query_list},
	{"/millrace/port/info", "What is known of a port. Parameter: its number.", query_info},
	{0},
};
