/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_APPLIANCE_H
#define MR_CONTROL_APPLIANCE_H

#include "base/cmd.h"
#include "base/error.h"
#include "base/mr.h"
#include "lcore/sleep_fwd.h"
#include "port/iface.h"
#include "port/port.h"
#include "route/router.h"

/*
 * The appliance as a whole: its rooms made in order, and the one iteration of the control thread.
 * Program, in-process tests and fuzzers all use it. Control thread only.
 */
struct mr_appliance_options {
	struct mr_port_options port;
	struct mr_router_options router;
	uint32_t max_stations;           /* 0: default */
	uint32_t filter_flows;           /* of each lcore; 0: default */
	enum mr_iface_mode forward_mode; /* of ports that no configuration names */
	enum mr_idle idle;               /* what lcores do that have no work */
	const unsigned *lcores;          /* EAL ids of the forwarding lcores */
	unsigned lcore_count;
};

/* The rooms' tables of commands, in the order of help, and of telemetry queries; NULL ends each.
 * A room that is added adds its own here. */
extern const struct mr_cmd *const mr_appliance_cmds[];
extern const struct mr_query *const mr_appliance_queries[];

/* Makes all rooms over the ports that EAL found, starts the ports and places their queues; lcores
 * are not started yet. Returns NULL with a sentence in error and nothing left behind. */
struct mr *mr_appliance_create(const struct mr_appliance_options *options, struct mr_error *error);

/* Stops lcores and ports and frees everything. NULL is allowed. */
void mr_appliance_destroy(struct mr *mr);

/* One iteration of the control thread: takes what lcores tell, runs timers, polls links, ends grace
 * periods. now_ms: monotonic milliseconds. Returns how many packets and stations it took; 0 means
 * that it may sleep for about a millisecond. */
unsigned mr_appliance_poll(struct mr *mr, uint64_t now_ms);

#endif
