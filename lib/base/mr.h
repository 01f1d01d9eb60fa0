/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_BASE_MR_H
#define MR_BASE_MR_H

/*
 * The appliance: one pointer to each room's context. Rooms see each other only through it, so that
 * there is no global state and a test can make as many appliances as it likes.
 * All of it belongs to the control thread; what forwarding lcores read is published by the rooms.
 */
struct mr_rcu;
struct mr_ports;
struct mr_ifaces;
struct mr_lcores;
struct mr_bridges;
struct mr_router;
struct mr_host;
struct mr_hotplug;
struct mr_filter;
struct mr_control;
struct mr_telemetry;

struct mr {
	struct mr_rcu *rcu;
	struct mr_ports *ports;
	struct mr_ifaces *ifaces;
	struct mr_lcores *lcores;
	struct mr_bridges *bridges;
	struct mr_router *router;
	struct mr_host *host;
	struct mr_hotplug *hotplug;
	struct mr_filter *filter;
	struct mr_control *control;
	struct mr_telemetry *telemetry;
	unsigned forward_mode; /* enum mr_iface_mode of ports that no configuration names */
};

#endif
