/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about ports that come and go, with testpmd's words as well. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/hotplug.h"

static int add_port(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port *port;
	int ret = mr_hotplug_add(mr, mr_arg(args, "DEVARGS", 0)->text, &port, &reply->error);

	if (ret < 0)
		return ret;
	return mr_reply(reply, json_pack("{s:i, s:s}", "port", port->id, "name", port->name));
}

static int remove_port(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port *port = mr_port(mr, (uint16_t)mr_arg_number(args, "N", UINT16_MAX));

	if (port == NULL)
		return mr_refuse(reply, -ENODEV, "there is no port %s", mr_arg(args, "N", 0)->text);
	return mr_hotplug_remove(mr, port, &reply->error);
}

/* By number, as EAL gives the lowest that is free: so the lines give the same numbers again. */
static int show_devices(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	json_t *text;
	char *all = NULL;
	size_t size;
	FILE *out = open_memstream(&all, &size);
	struct mr_port *port;

	(void)args;
	if (out == NULL)
		return mr_refuse(reply, -ENOMEM, "no memory");
	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++)
		if ((mr->hotplug->dropped & RTE_BIT32(id)) != 0)
			fprintf(out, "port remove %u\n", id);
	MR_PORT_FOREACH (mr, port) {
		if (port->devargs != NULL)
			fprintf(out, "port add %s\n", port->devargs);
	}
	fclose(out);
	if (size > 0)
		all[size - 1] = '\0';
	text = json_string(all);
	free(all);
	return mr_reply(reply, text);
}

static json_t *describe(struct mr *mr)
{
	const struct mr_hotplug *hotplug = mr->hotplug;
	json_t *kept = json_array();
	unsigned buffers, pools = mr_ports_retired_pools(mr, &buffers);

	for (const struct mr_kept *k = hotplug->kept; k != NULL; k = k->next)
		json_array_append_new(kept, json_string(k->name));
	return json_pack("{s:I, s:I, s:I, s:i, s:i, s:i, s:o}", "added", (json_int_t)hotplug->added,
			 "removed", (json_int_t)hotplug->removed, "unplugged",
			 (json_int_t)hotplug->unplugged, "closing", (int)mr_ports_closing(mr),
			 "pools_waiting", (int)pools, "buffers_awaited", (int)buffers, "kept",
			 kept);
}

static int show_hotplug(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	(void)args;
	return mr_reply(reply, describe(mr));
}

const struct mr_cmd mr_hotplug_cmds[] = {
	{"port add|attach DEVARGS", "Adds a device and starts its port, while others forward.",
	 add_port},
	{"port remove|detach N", "Removes a port, all configuration that names it, and its device.",
	 remove_port},
	{"show config devices",
	 "Shows the commands that make the ports what they are from those at the start.",
	 show_devices},
	{"show port hotplug", "Shows how many ports came and went, and what is left of them.",
	 show_hotplug},
	{0},
};

static int query_hotplug(struct mr *mr, const char *params, struct mr_reply *reply)
{
	(void)params;
	return mr_reply(reply, describe(mr));
}

const struct mr_query mr_hotplug_queries[] = {
	{"/millrace/port/hotplug", "Ports that came and went, and what is left of them.",
	 query_hotplug},
	{0},
};
