/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port leaves in this order: lcores get plans without it and its rings are emptied; what lcores
 * told of it is taken in; each room withdraws what names it; after a grace period nobody has its
 * number in hand any more, so the number may be given to another; then the device goes. Its
 * packets' buffers may be anywhere, and come home to their pool in their own time.
 *
 * A port's counters are not taken back, so that the conservation law still holds: a port that gets
 * its number counts from where they are.
 */
#include "control/hotplug.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/rcu.h"
#include "bridge/bridge.h"
#include "control/control.h"
#include "host/host.h"
#include "lcore/lcores.h"
#include "lcore/port_totals.h"
#include "port/iface.h"
#include "route/router.h"

#define RETRY_MS 1000

int mr_hotplug_create(struct mr *mr, struct mr_error *error)
{
	mr->hotplug = calloc(1, sizeof(*mr->hotplug));
	return mr->hotplug != NULL
		       ? 0
		       : mr_fail(error, -ENOMEM, "no memory for ports that come and go");
}

static void free_kept(struct mr_kept *kept)
{
	mr_lines_clear(&kept->lines);
	free(kept);
}

void mr_hotplug_destroy(struct mr *mr)
{
	if (mr->hotplug == NULL)
		return;
	while (mr->hotplug->kept != NULL) {
		struct mr_kept *kept = mr->hotplug->kept;

		mr->hotplug->kept = kept->next;
		free_kept(kept);
	}
	free(mr->hotplug);
	mr->hotplug = NULL;
}

/* What lcores had told before they got a plan without the port. The rings' sizes bound it. */
static void take_in(struct mr *mr)
{
	mr_lcores_drain_learned(mr, mr_bridge_learn);
	mr_lcores_drain(mr, mr->lcores->count * MR_PACKET_RING_SIZE, mr_host_input);
}

/* end: what is done with the port itself, at last. */
static int leave(struct mr *mr, struct mr_port *port, struct mr_lines *lines,
		 void (*end)(struct mr *mr, struct mr_port *port), struct mr_error *error)
{
	uint16_t id = port->id;
	int ret = port->started ? mr_lcores_place_without(mr, id, error) : 0;

	if (ret < 0)
		return ret;
	take_in(mr);
	mr_port_note_settings(port, lines);
	mr_bridge_withdraw(mr, id, lines);
	mr_host_withdraw(mr, id);
	mr_iface_remove(mr, id);
	mr_router_withdraw(mr, id, lines);
	mr_lcores_withdraw(mr, id, lines);
	mr_rcu_synchronize(mr->rcu);
	end(mr, port);
	return 0;
}

int mr_hotplug_remove(struct mr *mr, struct mr_port *port, struct mr_error *error)
{
	struct mr_hotplug *hotplug = mr->hotplug;
	uint32_t launched = port->devargs == NULL ? RTE_BIT32(port->id) : 0;
	char label[sizeof(port->label)];
	int ret = mr_port_removable(port, error);

	strcpy(label, port->label);
	if (ret == 0)
		ret = leave(mr, port, NULL, mr_port_remove, error);
	if (ret < 0)
		return ret;
	mr_log_notice("%s: removed", label);
	hotplug->removed++;
	hotplug->dropped |= launched;
	return 0;
}

static struct mr_kept *take_kept(struct mr *mr, const char *name)
{
	for (struct mr_kept **at = &mr->hotplug->kept; *at != NULL; at = &(*at)->next) {
		struct mr_kept *kept = *at;

		if (strcmp(kept->name, name) != 0)
			continue;
		*at = kept->next;
		return kept;
	}
	return NULL;
}

/* A line with the port's number in the place of each '@', which no name has in it. */
static size_t with_number(const char *line, uint16_t id, char *text, size_t size)
{
	size_t length = 0;

	for (; *line != '\0' && length + 6 < size; line++) {
		if (*line == '@')
			length += (size_t)snprintf(text + length, size - length, "%u", id);
		else
			text[length++] = *line;
	}
	return length;
}

static void restore(struct mr *mr, const struct mr_port *port)
{
	struct mr_kept *kept = take_kept(mr, port->name);
	char text[MR_MAX_LINE];

	if (kept == NULL)
		return;
	for (unsigned i = 0; i < kept->lines.count; i++) {
		size_t length = with_number(kept->lines.line[i], port->id, text, sizeof(text));
		struct mr_reply reply;

		if (mr_control_execute(mr, text, length, &reply) != 0)
			mr_log_warning("%s: is back, but '%.*s' is refused: %s", port->label,
				       (int)length, text, reply.error.text);
		mr_reply_clear(&reply);
	}
	free_kept(kept);
}

int mr_hotplug_add(struct mr *mr, const char *devargs, struct mr_port **port,
		   struct mr_error *error)
{
	int ret = mr_port_add(mr, devargs, port, error);

	if (ret < 0)
		return ret;
	ret = mr_port_totals_clear(mr, (*port)->id);
	if (ret < 0)
		mr_fail(error, ret, "%s: no memory for its counters", (*port)->label);
	else
		ret = mr_lcores_place(mr, error);
	if (ret < 0) {
		mr_port_remove(mr, *port);
		return ret;
	}
	mr->hotplug->added++;
	mr_log_notice("%s: added", (*port)->label);
	restore(mr, *port);
	return 0;
}

static int keep_and_leave(struct mr *mr, struct mr_port *port, struct mr_error *error)
{
	struct mr_kept *kept = calloc(1, sizeof(*kept));
	char label[sizeof(port->label)];
	int ret;

	if (kept == NULL)
		return mr_fail(error, -ENOMEM, "no memory");
	strcpy(label, port->label);
	strcpy(kept->name, port->name);
	ret = leave(mr, port, &kept->lines, mr_port_abandon, error);
	if (ret < 0) {
		free_kept(kept);
		return ret;
	}
	mr->hotplug->unplugged++;
	mr_log_warning("%s: its device is gone: the port is removed; commands kept for its return: "
		       "%u",
		       label, kept->lines.count);
	if (kept->lines.count == 0) {
		free_kept(kept);
		return 0;
	}
	kept->next = mr->hotplug->kept;
	mr->hotplug->kept = kept;
	return 0;
}

bool mr_hotplug_poll(struct mr *mr, uint64_t now_ms)
{
	uint32_t gone = mr_ports_unplugged(mr);
	bool changed = false;

	if (gone == 0 || now_ms < mr->hotplug->retry_ms)
		return false;
	for (; gone != 0; gone &= gone - 1) {
		struct mr_port *port = mr_port(mr, (uint16_t)__builtin_ctz(gone));
		struct mr_error error = {0};

		if (keep_and_leave(mr, port, &error) == 0) {
			changed = true;
			continue;
		}
		mr_log_error("%s: its device is gone, but the port stays for now: %s", port->label,
			     error.text);
		mr->hotplug->retry_ms = now_ms + RETRY_MS;
	}
	return changed;
}
