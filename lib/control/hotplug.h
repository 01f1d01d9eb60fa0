/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_HOTPLUG_H
#define MR_CONTROL_HOTPLUG_H

#include "base/cmd.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/mr.h"
#include "port/port.h"

/*
 * Ports that come and go while others forward. Control thread only.
 */

/* What a device's port had when the device was pulled out; given back when the device is added
 * again. */
struct mr_kept {
	struct mr_kept *next;
	char name[RTE_ETH_NAME_MAX_LEN];
	struct mr_lines lines;
};

struct mr_hotplug {
	uint64_t added, removed; /* by command */
	uint64_t unplugged;      /* ports whose device was gone */
	uint64_t retry_ms;       /* when to try again what memory was short for */
	uint32_t dropped;        /* mask of ports there at the start that a command removed */
	struct mr_kept *kept;
};

/* Makes mr->hotplug. Returns 0 or -ENOMEM with error set. */
int mr_hotplug_create(struct mr *mr, struct mr_error *error);
void mr_hotplug_destroy(struct mr *mr);

/* Adds a port: probed, set up, its queues placed. What the device's port had when it was pulled out
 * is configured again; a line of that which is refused is logged. On failure nothing is left. */
int mr_hotplug_add(struct mr *mr, const char *devargs, struct mr_port **port,
		   struct mr_error *error);

/* Removes a port with all configuration that names it. Returns 0 or a negative errno, nothing
 * changed. */
int mr_hotplug_remove(struct mr *mr, struct mr_port *port, struct mr_error *error);

/* Removes ports whose devices are gone, keeping their configuration. now_ms: monotonic. Returns
 * whether there were any. */
bool mr_hotplug_poll(struct mr *mr, uint64_t now_ms);

extern const struct mr_cmd mr_hotplug_cmds[];
extern const struct mr_query mr_hotplug_queries[];

#endif
