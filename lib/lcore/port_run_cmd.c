/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting and stopping ports, and what was counted on them. A port is stopped in this order:
 * lcores get plans without it, a grace period passes and its rings are emptied
 * (mr_lcores_place_without), then the device stops. Nobody is inside a burst call of a device that
 * stops.
 */
#include "lcore/port_run_cmd.h"

#include <errno.h>

#include "lcore/lcores.h"
#include "lcore/port_totals.h"
#include "lcore/rates.h"

static struct mr_port *port_of(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port *port = mr_port(mr, (uint16_t)mr_arg_number(args, "N", UINT16_MAX));

	if (port == NULL)
		mr_refuse(reply, -ENODEV, "there is no port %s", mr_arg(args, "N", 0)->text);
	return port;
}

static int start_port(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port *port = port_of(mr, args, reply);

	if (port == NULL)
		return -ENODEV;
	int ret = mr_port_start(mr, port, &reply->error);
	if (ret < 0)
		return ret;
	ret = mr_lcores_place(mr, &reply->error);
	if (ret < 0)
		mr_port_stop(mr, port, NULL);
	return ret;
}

static int stop_port(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port *port = port_of(mr, args, reply);

	if (port == NULL)
		return -ENODEV;
	if (!port->started)
		return mr_refuse(reply, -EALREADY, "%s: is stopped already", port->label);
	int ret = mr_lcores_place_without(mr, port->id, &reply->error);
	if (ret < 0)
		return ret;
	ret = mr_port_stop(mr, port, &reply->error);
	if (ret < 0)
		mr_lcores_place(mr, NULL);
	return ret;
}

static json_t *describe(struct mr *mr, const struct mr_port *port,
			const struct mr_port_totals *totals)
{
	struct mr_traffic rx = mr_traffic_sum(totals->rx, MR_MAX_QUEUES);
	struct mr_traffic tx = mr_traffic_sum(totals->tx, MR_MAX_QUEUES);
	struct mr_rate rate = mr_rate_of_port(mr, port->id);

	return json_pack("{s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "port", port->id, "name", port->name, "rx_packets", (json_int_t)rx.packets,
			 "rx_bytes", (json_int_t)rx.bytes, "tx_packets", (json_int_t)tx.packets,
			 "tx_bytes", (json_int_t)tx.bytes, "rx_pps", (json_int_t)rate.rx_pps,
			 "tx_pps", (json_int_t)rate.tx_pps, "drops",
			 (json_int_t)mr_drop_sum(totals), "rx_missed",
			 (json_int_t)totals->rx_missed, "rx_errors", (json_int_t)totals->rx_errors,
			 "rx_no_buffer", (json_int_t)totals->rx_no_buffer, "tx_errors",
			 (json_int_t)totals->tx_errors);
}

static json_t *describe_queues(const struct mr_traffic *traffic, unsigned count)
{
	json_t *array = json_array();

	for (unsigned queue = 0; queue < count; queue++)
		json_array_append_new(array, json_pack("{s:i, s:I, s:I}", "queue", queue, "packets",
						       (json_int_t)traffic[queue].packets, "bytes",
						       (json_int_t)traffic[queue].bytes));
	return array;
}

static json_t *describe_drops(const struct mr_port_totals *totals)
{
	json_t *object = json_object();

	for (unsigned reason = 0; reason < MR_DROP_COUNT; reason++)
		if (totals->drop[reason] != 0)
			json_object_set_new(object, mr_drop_name(reason),
					    json_integer((json_int_t)totals->drop[reason]));
	return object;
}

static json_t *one_port(struct mr *mr, const struct mr_port *port)
{
	struct mr_port_totals totals;

	mr_port_totals_read(mr, port->id, &totals);
	json_t *object = describe(mr, port, &totals);
	json_object_set_new(object, "rx_queues", describe_queues(totals.rx, port->rxq));
	json_object_set_new(object, "tx_queues", describe_queues(totals.tx, port->txq));
	json_object_set_new(object, "dropped", describe_drops(&totals));
	return object;
}

static int show_stats(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port_totals totals;
	struct mr_port *port;

	if (!mr_arg_has(args, "all")) {
		port = port_of(mr, args, reply);
		return port == NULL ? -ENODEV : mr_reply(reply, one_port(mr, port));
	}
	json_t *array = json_array();
	MR_PORT_FOREACH (mr, port) {
		mr_port_totals_read(mr, port->id, &totals);
		json_array_append_new(array, describe(mr, port, &totals));
	}
	return mr_reply(reply, array);
}

static int clear_stats(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port *port;
	int ret = 0;

	if (mr_arg_has(args, "all")) {
		MR_PORT_FOREACH (mr, port) {
			if (ret == 0)
				ret = mr_port_totals_clear(mr, port->id);
		}
	} else {
		port = port_of(mr, args, reply);
		if (port == NULL)
			return -ENODEV;
		ret = mr_port_totals_clear(mr, port->id);
	}
	return ret < 0 ? mr_refuse(reply, ret, "not enough memory to count from now") : 0;
}

const struct mr_cmd mr_port_run_cmds[] = {
	{"port start N", "Starts a port.", start_port},
	{"port stop N", "Stops a port; what is sent to it is dropped.", stop_port},
	{"show port stats all|N", "Shows packets, bytes and drops since the last clear.",
	 show_stats},
	{"clear port stats all|N", "Counts packets, bytes and drops from now.", clear_stats},
	{0},
};

static int query_stats(struct mr *mr, const char *params, struct mr_reply *reply)
{
	struct mr_port *port = mr_port_by_text(mr, params);

	if (port == NULL)
		return mr_refuse(reply, -ENODEV, "there is no port '%s'", params);
	return mr_reply(reply, one_port(mr, port));
}

const struct mr_query mr_port_run_queries[] = {
	{"/millrace/port/stats",
	 "A port's packets, bytes and drops, by queue. Parameter: its number.", query_stats},
	{0},
};
