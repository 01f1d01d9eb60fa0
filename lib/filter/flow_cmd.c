/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about flows, and what telemetry tells of them. */
#include <errno.h>

#include "filter/filter.h"
#include "filter/flow_state.h"

#define SHOW_FLOWS_MAX 1000 /* directions, unless a limit is given */

static int show(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	const struct filter_flows *flows = mr->filter->fwd.flows;
	uint32_t limit = (uint32_t)mr_arg_number(args, "COUNT", SHOW_FLOWS_MAX);

	if (mr_arg_count(args, "COUNT") == 0 && filter_flows_entries(flows) > limit)
		return mr_refuse(reply, -E2BIG, "more than %u entries: give a limit", limit);
	return mr_reply(reply, json_pack("{s:o, s:o, s:o}", "flows", filter_flows_report(mr, limit),
					 "lcores", filter_flows_report_lcores(mr), "timeouts",
					 filter_flows_report_timeouts(flows)));
}

static int flush(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct filter_flows *flows = mr->filter->fwd.flows;

	(void)args;
	(void)reply;
	__atomic_store_n(&flows->epoch, flows->epoch + 1, __ATOMIC_RELAXED);
	return 0;
}

static int set_timeout(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	const char *name = mr_arg(args, "NAME", 0)->text;
	uint32_t seconds = (uint32_t)mr_arg_number(args, "SECONDS", 0);
	int timeout = filter_flows_timeout(name);

	if (timeout < 0)
		return mr_refuse(reply, timeout, "there is no timeout %s", name);
	if (seconds == 0 || seconds > FLOW_TIMEOUT_MAX)
		return mr_refuse(reply, -EINVAL, "a timeout is from 1 to %u seconds",
				 FLOW_TIMEOUT_MAX);
	__atomic_store_n(&mr->filter->fwd.flows->timeout[timeout], seconds, __ATOMIC_RELAXED);
	return 0;
}

const struct mr_cmd mr_filter_state_cmds[] = {
	{"filter state show [limit COUNT]",
	 "Shows the flows that are known, by direction, and how long they last.", show},
	{"filter state flush", "Forgets all flows.", flush},
	{"filter state timeout NAME SECONDS", "Sets after which time flows are forgotten.",
	 set_timeout},
	{0},
};

static int query_state(struct mr *mr, const char *params, struct mr_reply *reply)
{
	(void)params;
	return mr_reply(reply, json_pack("{s:o}", "lcores", filter_flows_report_lcores(mr)));
}

const struct mr_query mr_filter_state_queries[] = {
	{"/millrace/filter/state", "How many flows each lcore knows, made and refused.",
	 query_state},
	{0},
};
