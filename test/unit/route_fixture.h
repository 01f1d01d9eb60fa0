/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_TEST_ROUTE_FIXTURE_H
#define MR_TEST_ROUTE_FIXTURE_H

/*
 * A router without packet path: interfaces published by hand, one lcore that nobody runs (its
 * inject ring shows what is sent), commands as people type them, and a clock that the test moves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mr.h"
#include "base/rcu.h"
#include "control/control.h"
#include "lcore/lcores.h"
#include "packet/punt.h"
#include "port/iface.h"
#include "route/ipv4_table.h"
#include "route/neighbour.h"
#include "route/router.h"

#define TEST_PORTS 4

static inline uint32_t ip(const char *text)
{
	struct mr_addr addr;

	assert_int_equal(mr_addr_parse(text, &addr), 0);
	return mr_addr_ipv4(&addr);
}

static inline struct mr_addr addr_of(const char *text)
{
	return mr_addr_from_ipv4(ip(text));
}

static inline struct rte_ether_addr mac_of(const char *text)
{
	struct rte_ether_addr mac;

	assert_int_equal(mr_mac_parse(text, &mac), 0);
	return mac;
}

static inline void set_iface(struct mr *mr, uint16_t index, enum mr_iface_mode mode, bool link_up,
			     uint16_t mtu)
{
	struct rte_ether_addr mac = {{2, 0, 0, 0, (uint8_t)index, 1}};
	struct mr_iface iface = {.mac = mr_mac_to_u48(&mac),
				 .index = index,
				 .port = index,
				 .mtu = mtu,
				 .max_frame = (uint16_t)(mtu + 14),
				 .mode = (uint8_t)mode,
				 .link_up = link_up};

	assert_int_equal(mr_iface_publish(mr, &iface), 0);
}

/* Changes an interface's link and MTU as room port does, and tells the router. */
static inline void change_iface(struct mr *mr, uint16_t index, bool link_up, uint16_t mtu)
{
	struct mr_iface changed = *mr_iface(mr, index);

	changed.link_up = link_up;
	changed.mtu = mtu;
	assert_int_equal(mr_iface_publish(mr, &changed), 0);
	mr_router_iface_changed(mr, index);
}

static inline struct mr *router_start(void)
{
	struct mr *mr = calloc(1, sizeof(*mr));
	struct mr_router_options options = {.max_routes = 200000};
	struct mr_error error = {0};
	unsigned lcore = 1;

	mr->rcu = mr_rcu_create(1);
	mr->ifaces = mr_ifaces_create();
	assert_int_equal(mr_control_new(mr), 0);
	if (mr_lcores_create(mr, &lcore, 1, &error) != 0)
		fail_msg("%s", error.text);
	for (uint16_t i = 0; i < TEST_PORTS; i++) {
		set_iface(mr, i, MR_MODE_NONE, true, 1500);
		mr->lcores->placement.home[i] = 0;
	}
	mr->lcores->running = true;
	if (mr_router_create(mr, &options, &error) != 0)
		fail_msg("%s", error.text);
	assert_int_equal(mr_control_register(mr->control, mr_route_cmds), 0);
	assert_int_equal(mr_control_register(mr->control, mr_neighbour_cmds), 0);
	return mr;
}

static inline void router_stop(struct mr *mr)
{
	mr->lcores->running = false;
	mr_router_destroy(mr);
	mr_control_free(mr);
	mr_lcores_destroy(mr);
	mr_rcu_synchronize(mr->rcu);
	mr_ifaces_destroy(mr->ifaces);
	mr_rcu_destroy(mr->rcu);
	free(mr);
}

/* Runs a command; returns its data (a new reference, NULL for none) or the sentence of refusal. */
static inline json_t *run(struct mr *mr, const char *line, char *refusal, size_t size)
{
	struct mr_reply reply;
	int rc = mr_control_execute(mr, line, strlen(line), &reply);

	refusal[0] = '\0';
	if (rc != 0) {
		snprintf(refusal, size, "%s", reply.error.text);
		assert_true(strlen(refusal) > 0);
	}
	json_t *data = json_incref(reply.data);
	mr_reply_clear(&reply);
	return data;
}

static inline json_t *show(struct mr *mr, const char *line)
{
	char refusal[256];
	json_t *data = run(mr, line, refusal, sizeof(refusal));

	if (refusal[0] != '\0')
		fail_msg("%s: %s", line, refusal);
	return data;
}

static inline void done(struct mr *mr, const char *line)
{
	json_decref(show(mr, line));
}

/* All that is configured and published, as one text. */
static inline char *dump(struct mr *mr)
{
	static const char *const lines[] = {"show address", "show route", "show route summary",
					    "show neighbour"};
	json_t *all = json_array();
	char *text;

	for (unsigned i = 0; i < RTE_DIM(lines); i++)
		json_array_append_new(all, show(mr, lines[i]));
	for (uint16_t i = 0; i < TEST_PORTS; i++)
		json_array_append_new(all, json_integer(mr_iface(mr, i)->mode));
	text = json_dumps(all, JSON_INDENT(1));
	json_decref(all);
	return text;
}

/* A command is refused with a sentence that has part in it, and nothing has changed. */
static inline void refused(struct mr *mr, const char *line, const char *part)
{
	char refusal[256];
	char *before = dump(mr), *after;

	json_decref(run(mr, line, refusal, sizeof(refusal)));
	if (refusal[0] == '\0')
		fail_msg("%s: was not refused", line);
	if (strstr(refusal, part) == NULL)
		fail_msg("%s: \"%s\" does not say \"%s\"", line, refusal, part);
	after = dump(mr);
	assert_string_equal(before, after);
	free(before);
	free(after);
}

static inline const struct mr_adjacency *lookup(struct mr *mr, const char *destination)
{
	struct mr_addr addr = addr_of(destination);

	return mr_router_lookup(mr, &addr, 0);
}

static inline int kind(struct mr *mr, const char *destination)
{
	return lookup(mr, destination)->kind;
}

/* The text of one field of what "show route lookup" answers; valid until the next call. */
static inline const char *lookup_field(struct mr *mr, const char *destination, const char *field)
{
	static char text[256];
	char line[64];
	json_t *data;

	snprintf(line, sizeof(line), "show route lookup %s", destination);
	data = show(mr, line);
	snprintf(text, sizeof(text), "%s", json_string_value(json_object_get(data, field)));
	json_decref(data);
	return text;
}

static inline void seen(struct mr *mr, uint16_t iface, const char *address, const char *mac,
			bool may_create)
{
	struct mr_addr addr = addr_of(address);
	struct rte_ether_addr ether = mac_of(mac);

	mr_neighbour_seen(mr, iface, &addr, &ether, may_create);
}

#endif
