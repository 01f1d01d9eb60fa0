/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rooms know only the rooms below them; this file is where they are joined. Whoever reads what
 * happens when a link goes down, or when a command has run, finds it here.
 */
#include "control/appliance.h"

#include <errno.h>
#include <stdlib.h>

#include "base/rcu.h"
#include "bridge/bridge.h"
#include "control/control.h"
#include "control/forward_mode.h"
#include "control/hotplug.h"
#include "filter/filter.h"
#include "filter/flow_state.h"
#include "host/host.h"
#include "lcore/input_fwd.h"
#include "lcore/lcores.h"
#include "lcore/port_run_cmd.h"
#include "lcore/steering_cmd.h"
#include "packet/punt.h"
#include "route/neighbour.h"

/* Packets that could not be forwarded, an iteration; ARP and local packets are not bounded. */
#define ERROR_BUDGET 256

static int create_rooms(struct mr *mr, const struct mr_appliance_options *options,
			struct mr_error *error)
{
	struct mr_port_options port = options->port;
	int rc;

	mr->rcu = mr_rcu_create(options->lcore_count);
	mr->ifaces = mr_ifaces_create();
	if (mr->rcu == NULL || mr->ifaces == NULL)
		return mr_fail(error, -ENOMEM, "no memory for interfaces");
	if ((rc = mr_control_new(mr)) != 0)
		return mr_fail(error, rc, "no memory for commands");
	if ((rc = mr_lcores_create(mr, options->lcores, options->lcore_count, error)) != 0)
		return rc;
	if (options->port.handover_size != 0)
		mr->lcores->handover_size = options->port.handover_size;
	mr->lcores->forwarding.stage[MR_MODE_NONE] = mr_unconfigured_input;
	mr->lcores->forwarding.stage[MR_MODE_IO] = mr_io_input;
	mr_lcores_set_idle(mr, options->idle);
	mr_ports_expect_lcores(mr, options->lcore_count);
	port.lcores_sleep = options->idle != MR_IDLE_BUSY;
	port.rx_interrupts = options->idle == MR_IDLE_INTERRUPT;
	if ((rc = mr_ports_create(mr, &port, error)) != 0)
		return rc;
	if ((rc = mr_bridges_create(mr, options->max_stations, error)) != 0)
		return rc;
	if ((rc = mr_router_create(mr, &options->router, error)) != 0)
		return rc;
	if ((rc = mr_host_create(mr, error)) != 0)
		return rc;
	if ((rc = mr_hotplug_create(mr, error)) != 0)
		return rc;
	mr_address_set_announce(mr, mr_host_announce);
	if ((rc = mr_filter_create(mr, error)) != 0)
		return rc;
	mr->filter->flows_size = options->filter_flows;
	if ((rc = mr_forward_mode_set(mr, options->forward_mode, error)) != 0)
		return rc;
	return mr_lcores_place(mr, error);
}

const struct mr_cmd *const mr_appliance_cmds[] = {
	mr_lcore_cmds,   mr_steering_cmds,     mr_port_cmds,  mr_port_run_cmds,
	mr_hotplug_cmds, mr_bridge_cmds,       mr_route_cmds, mr_neighbour_cmds,
	mr_filter_cmds,  mr_filter_state_cmds, NULL};

const struct mr_query *const mr_appliance_queries[] = {mr_lcore_queries,
						       mr_port_queries,
						       mr_port_run_queries,
						       mr_hotplug_queries,
						       mr_bridge_queries,
						       mr_route_queries,
						       mr_neighbour_queries,
						       mr_host_queries,
						       mr_filter_queries,
						       mr_filter_state_queries,
						       NULL};

static int register_commands(struct mr *mr, struct mr_error *error)
{
	for (unsigned i = 0; mr_appliance_cmds[i] != NULL; i++) {
		int rc = mr_control_register(mr->control, mr_appliance_cmds[i]);

		if (rc != 0)
			return mr_fail(error, rc, "the commands' tables are not consistent");
	}
	return 0;
}

/* What follows a command that was done, or ports that are gone. */
static void after_change(struct mr *mr)
{
	struct mr_job *job;

	mr_forward_mode_apply(mr);
	job = mr_filter_follow(mr);
	if (job != NULL)
		mr_control_do(mr, job);
}

struct mr *mr_appliance_create(const struct mr_appliance_options *options, struct mr_error *error)
{
	struct mr *mr = calloc(1, sizeof(*mr));

	if (mr == NULL) {
		mr_fail(error, -ENOMEM, "no memory");
		return NULL;
	}
	if (create_rooms(mr, options, error) != 0 || register_commands(mr, error) != 0) {
		mr_appliance_destroy(mr);
		return NULL;
	}
	mr_control_after(mr->control, after_change);
	return mr;
}

void mr_appliance_destroy(struct mr *mr)
{
	if (mr == NULL)
		return;
	if (mr->control != NULL)
		mr_control_settle(mr);
	if (mr->lcores != NULL)
		mr_lcores_stop(mr);
	if (mr->rcu != NULL)
		mr_rcu_synchronize(mr->rcu);
	mr_hotplug_destroy(mr);
	mr_filter_destroy(mr);
	mr_host_destroy(mr);
	mr_router_destroy(mr);
	mr_bridges_destroy(mr);
	mr_lcores_destroy(mr); /* before the pools that the packets in its rings are from */
	mr_ports_destroy(mr);
	mr_control_free(mr);
	mr_ifaces_destroy(mr->ifaces);
	mr_rcu_destroy(mr->rcu);
	free(mr);
}

static void link_changed(struct mr *mr, uint16_t iface)
{
	if (!mr_iface(mr, iface)->link_up) {
		mr_bridge_flush_iface(mr, iface);
		mr_neighbour_flush(mr, iface);
	}
	mr_router_iface_changed(mr, iface);
	if (mr_iface(mr, iface)->link_up)
		mr_host_announce(mr, iface);
}

static void punted(struct mr *mr, struct rte_mbuf *packet)
{
	uint16_t kind = mr_punt_of(packet)->kind;

	if (kind == MR_PUNT_REJECT || kind == MR_PUNT_LOG)
		mr_filter_punted(mr, packet);
	else
		mr_host_input(mr, packet);
}

unsigned mr_appliance_poll(struct mr *mr, uint64_t now_ms)
{
	mr_lcores_poll(mr, now_ms);
	mr_bridges_poll(mr, now_ms);

	unsigned count = mr_lcores_drain_learned(mr, mr_bridge_learn);
	count += mr_lcores_drain(mr, ERROR_BUDGET, punted);

	for (uint32_t changed = mr_ports_poll(mr, now_ms); changed != 0; changed &= changed - 1)
		link_changed(mr, (uint16_t)__builtin_ctz(changed));
	if (mr_hotplug_poll(mr, now_ms))
		after_change(mr);
	mr_neighbour_poll(mr, now_ms);
	count += mr_router_poll(mr);
	mr_host_poll(mr, now_ms);
	mr_filter_poll(mr, now_ms);
	mr_control_poll(mr);
	mr_rcu_poll(mr->rcu);
	return count;
}
