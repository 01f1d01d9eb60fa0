/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "lcore/report.h"
#include "lcore/steering_cmd.h"

static int start(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	(void)args;
	return mr_lcores_start(mr, &reply->error);
}

static int stop(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	(void)args;
	if (!mr->lcores->running)
		return mr_refuse(reply, -EALREADY, "forwarding is stopped already");
	mr_lcores_stop(mr);
	return 0;
}

static int show_config_fwd(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	const struct mr_lcores *lcores = mr->lcores;
	int ports = 0, rx_queues = 0, tx_queues = 0;
	(void)args;

	for (unsigned port = 0; port < RTE_MAX_ETHPORTS; port++) {
		ports += lcores->placement.home[port] != MR_NO_LCORE;
		for (unsigned queue = 0; queue < MR_MAX_QUEUES; queue++) {
			rx_queues += lcores->placement.rx_lcore[port][queue] != MR_NO_LCORE;
			tx_queues += lcores->placement.tx_owner[port][queue] != MR_NO_LCORE;
		}
	}
	return mr_reply(reply, json_pack("{s:s, s:i, s:i, s:i, s:i}", "forwarding",
					 lcores->running ? "running" : "stopped", "lcores",
					 (int)lcores->count, "started_ports", ports, "rx_queues",
					 rx_queues, "tx_queues", tx_queues));
}

static int show_config_cores(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	json_t *rows = json_array();
	(void)args;

	for (unsigned i = 0; i < mr->lcores->count; i++) {
		const struct mr_lcore *lcore = mr->lcores->lcore[i];

		json_array_append_new(rows, json_pack("{s:i, s:i, s:o, s:o}", "lcore",
						      (int)lcore->id, "socket", lcore->socket,
						      "rx_queues", mr_report_rx_queues(mr, lcore),
						      "tx_queues", mr_report_tx_queues(mr, lcore)));
	}
	return mr_reply(reply,
			json_pack("{s:o, s:o}", "lcores", rows, "ports", mr_report_served(mr)));
}

static int show_lcore_list(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	(void)args;
	return mr_reply(reply, mr_report_lcore_ids(mr));
}

static int no_such_lcore(struct mr_reply *reply, const char *text)
{
	return mr_refuse(reply, -ENOENT,
			 "lcore %s does not forward: `show lcore list` names those "
			 "that do",
			 text);
}

static int show_lcore_stats(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	const struct mr_arg *id = mr_arg(args, "L", 0);
	json_t *rows;

	if (id != NULL) {
		const struct mr_lcore *lcore = mr_lcore_by_id(mr, id->number);

		if (lcore == NULL)
			return no_such_lcore(reply, id->text);
		return mr_reply(reply, mr_report_lcore(mr, lcore));
	}
	rows = json_array();
	for (unsigned i = 0; i < mr->lcores->count; i++)
		json_array_append_new(rows, mr_report_lcore_summary(mr, mr->lcores->lcore[i]));
	return mr_reply(reply, rows);
}

static int show_drops(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	json_t *rows = json_array();
	(void)args;

	for (unsigned reason = 0; reason < MR_DROP_COUNT; reason++) {
		uint64_t total = mr_report_drop_total(mr, reason);

		if (total != 0)
			json_array_append_new(rows, json_pack("{s:s, s:I, s:s}", "reason",
							      mr_drop_name(reason), "packets",
							      (json_int_t)total, "help",
							      mr_drop_help(reason)));
	}
	return mr_reply(reply, rows);
}

static int show_conservation(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	(void)args;
	return mr_reply(reply, mr_report_balance(mr));
}

const struct mr_cmd mr_lcore_cmds[] = {
	{"start", "Starts forwarding on all lcores.", start},
	{"stop", "Stops forwarding; what still waits to be sent is dropped.", stop},
	{"show config fwd", "Shows whether lcores forward, and over how many ports and queues.",
	 show_config_fwd},
	{"show config cores",
	 "Shows which lcore polls which rx queues and owns which tx queues, as "
	 "port/queue, and how each port is served.",
	 show_config_cores},
	{"show lcore list", "Lists the lcores that forward.", show_lcore_list},
	{"show lcore stats [L]", "Shows what lcores did, packets a second over the last second.",
	 show_lcore_stats},
	{"show drops", "Shows why packets were dropped, and how many.", show_drops},
	{"show conservation", "Shows how many packets came and went, and how.", show_conservation},
	{0},
};

static int query_list(struct mr *mr, const char *params, struct mr_reply *reply)
{
	(void)params;
	return mr_reply(reply, mr_report_lcore_ids(mr));
}

static const struct mr_lcore *lcore_named(struct mr *mr, const char *params)
{
	uint64_t id;

	return mr_number_parse(params, UINT32_MAX, &id) == 0 ? mr_lcore_by_id(mr, id) : NULL;
}

static int query_stats(struct mr *mr, const char *params, struct mr_reply *reply)
{
	const struct mr_lcore *lcore = lcore_named(mr, params);

	if (lcore == NULL)
		return no_such_lcore(reply, params);
	return mr_reply(reply, mr_report_lcore(mr, lcore));
}

static int query_drops(struct mr *mr, const char *params, struct mr_reply *reply)
{
	const struct mr_lcore *lcore = lcore_named(mr, params);

	if (params[0] == '\0')
		return mr_reply(reply, mr_report_drops(mr));
	if (strcmp(params, "control") == 0)
		return mr_reply(reply, mr_report_drops_of(mr->lcores->control));
	if (lcore == NULL)
		return no_such_lcore(reply, params);
	return mr_reply(reply, mr_report_drops_of(&lcore->counters));
}

static int query_conservation(struct mr *mr, const char *params, struct mr_reply *reply)
{
	(void)params;
	return mr_reply(reply, mr_report_balance(mr));
}

static int query_rcu(struct mr *mr, const char *params, struct mr_reply *reply)
{
	(void)params;
	return mr_reply(reply, mr_report_rcu(mr));
}

const struct mr_query mr_lcore_queries[] = {
	{"/millrace/lcore/list", "Ids of the lcores that forward.", query_list},
	{"/millrace/lcore/stats", "What an lcore did, in all and a second. Parameter: its id.",
	 query_stats},
	{"/millrace/drops",
	 "Dropped packets by reason. Parameter: none, an lcore's id, or control.", query_drops},
	{"/millrace/conservation", "Where all packets went; both sides of the law.",
	 query_conservation},
	{"/millrace/rcu", "Grace periods: readers and what waits to be freed.", query_rcu},
	{0},
};
