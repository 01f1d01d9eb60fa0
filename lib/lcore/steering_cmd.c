/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcore/steering_cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "lcore/lcores.h"
#include "lcore/rates.h"
#include "lcore/rebalance.h"
#include "lcore/report.h"

static struct mr_port *port_of(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port *port = mr_port(mr, (uint16_t)mr_arg_number(args, "N", UINT16_MAX));

	if (port == NULL)
		mr_refuse(reply, -ENODEV, "there is no port %s", mr_arg(args, "N", 0)->text);
	return port;
}

static int no_such_lcore(struct mr_reply *reply, uint64_t id)
{
	return mr_refuse(reply, -ENOENT,
			 "lcore %lu does not forward: `show lcore list` names those that do", id);
}

static int move_queue(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port *port = port_of(mr, args, reply);
	const struct mr_arg *id = mr_arg(args, "L", 0);
	uint64_t queue = mr_arg_number(args, "Q", UINT16_MAX);
	uint8_t index = MR_NO_LCORE;

	if (port == NULL)
		return -ENODEV;
	if (queue >= port->rxq)
		return mr_refuse(reply, -ENOENT, "%s: has rx queues 0 to %u, not %lu", port->label,
				 port->rxq - 1, queue);
	if (id != NULL) {
		const struct mr_lcore *lcore = mr_lcore_by_id(mr, id->number);

		if (lcore == NULL)
			return no_such_lcore(reply, id->number);
		index = (uint8_t)lcore->index;
	}
	return mr_lcores_pin(mr, port->id, (uint16_t)queue, index, &reply->error);
}

static int add_worker(struct mr *mr, const char *text, struct mr_workers *workers,
		      struct mr_reply *reply)
{
	const struct mr_lcore *lcore = NULL;
	uint64_t id;

	if (mr_number_parse(text, UINT32_MAX, &id) != 0)
		return mr_refuse(reply, -EINVAL, "'%s' is not an lcore number", text);
	lcore = mr_lcore_by_id(mr, id);
	if (lcore == NULL)
		return no_such_lcore(reply, id);
	for (unsigned i = 0; i < workers->count; i++)
		if (workers->lcore[i] == lcore->index)
			return mr_refuse(reply, -EINVAL, "lcore %lu is named twice", id);
	if (workers->count == MR_MAX_WORKERS)
		return mr_refuse(reply, -E2BIG, "a port can be spread over at most %d lcores",
				 MR_MAX_WORKERS);
	workers->lcore[workers->count++] = (uint8_t)lcore->index;
	return 0;
}

static int parse_workers(struct mr *mr, const char *list, struct mr_workers *workers,
			 struct mr_reply *reply)
{
	char words[MR_MAX_LINE], *rest = words, *word;
	int ret = 0;

	snprintf(words, sizeof(words), "%s", list);
	while (ret == 0 && (word = strsep(&rest, ",")) != NULL)
		ret = add_worker(mr, word, workers, reply);
	return ret;
}

static int spread_port(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_port *port = port_of(mr, args, reply);
	const struct mr_arg *list = mr_arg(args, "LCORES", 0);
	struct mr_workers workers = {0};

	if (port == NULL)
		return -ENODEV;
	if (list != NULL && port->rxq > 1)
		return mr_refuse(reply, -EINVAL,
				 "%s: has %u rx queues, over which the device spreads; only a port "
				 "with one (--rxq=1) is spread over lcores",
				 port->label, port->rxq);
	if (list != NULL) {
		int ret = parse_workers(mr, list->text, &workers, reply);

		if (ret != 0)
			return ret;
	}
	return mr_lcores_spread(mr, port->id, &workers, &reply->error);
}

/* A queue's part of its lcore's time is taken to be its part of the packets. */
static unsigned queue_loads(struct mr *mr, const double *busy, struct mr_queue_load *loads)
{
	const struct mr_placement *placement = &mr->lcores->placement;
	uint64_t pps[MR_MAX_LCORES] = {0};
	unsigned count = 0;

	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++)
		for (uint16_t queue = 0; queue < MR_MAX_QUEUES; queue++) {
			uint8_t lcore = placement->rx_lcore[port][queue];

			if (lcore == MR_NO_LCORE)
				continue;
			loads[count++] = (struct mr_queue_load){
				.port = port,
				.queue = queue,
				.lcore = lcore,
				.percent = (double)mr_rate_of_rx_queue(mr, port, queue)};
			pps[lcore] += mr_rate_of_rx_queue(mr, port, queue);
		}
	for (unsigned i = 0; i < count; i++)
		if (pps[loads[i].lcore] != 0)
			loads[i].percent *= busy[loads[i].lcore] / (double)pps[loads[i].lcore];
	return count;
}

static int rebalance(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_queue_load loads[RTE_MAX_ETHPORTS * MR_MAX_QUEUES];
	double busy[MR_MAX_LCORES];
	unsigned to, count;
	char text[160];
	int best;
	(void)args;

	for (unsigned i = 0; i < mr->lcores->count; i++)
		busy[i] = mr_rate_of_lcore(mr, i).busy_percent;
	count = queue_loads(mr, busy, loads);
	best = mr_rebalance_step(loads, count, busy, mr->lcores->count, &to);
	if (best < 0)
		return mr_reply(reply, json_string("no move of one queue makes the busiest lcore "
						   "less busy"));
	unsigned from = loads[best].lcore;
	int ret =
		mr_lcores_pin(mr, loads[best].port, loads[best].queue, (uint8_t)to, &reply->error);
	if (ret != 0)
		return ret;
	snprintf(text, sizeof(text),
		 "moved queue %u of port %u (%.0f%%) from lcore %u (%.0f%% busy) to lcore %u "
		 "(%.0f%% busy)",
		 loads[best].queue, loads[best].port, loads[best].percent,
		 mr->lcores->lcore[from]->id, busy[from], mr->lcores->lcore[to]->id, busy[to]);
	return mr_reply(reply, json_string(text));
}

static json_t *lcore_ids(const struct mr_lcores *lcores, const uint8_t *index, unsigned count)
{
	json_t *ids = json_array();

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(ids, json_integer(lcores->lcore[index[i]]->id));
	return ids;
}

static json_t *pinned_queues(const struct mr_lcores *lcores, const struct mr_port *port)
{
	json_t *queues = json_array();

	for (unsigned queue = 0; queue < port->rxq; queue++)
		if (lcores->pinned[port->id][queue] != MR_NO_LCORE)
			json_array_append_new(queues, json_integer(queue));
	return queues;
}

json_t *mr_report_served(struct mr *mr)
{
	const struct mr_lcores *lcores = mr->lcores;
	json_t *rows = json_array();
	struct mr_port *port;

	MR_PORT_FOREACH (mr, port) {
		const struct mr_workers *workers = &lcores->workers[port->id];
		const char *way = "direct";

		if (lcores->placement.home[port->id] == MR_NO_LCORE)
			continue; /* stopped */
		if (workers->count != 0)
			way = "spread";
		else if (port->rxq > 1)
			way = "rss";
		json_array_append_new(
			rows,
			json_pack(
				"{s:i, s:s, s:o, s:o, s:o}", "port", port->id, "served", way,
				"polled_by",
				lcore_ids(lcores, lcores->placement.rx_lcore[port->id], port->rxq),
				"spread_over", lcore_ids(lcores, workers->lcore, workers->count),
				"pinned_queues", pinned_queues(lcores, port)));
	}
	return rows;
}

const struct mr_cmd mr_steering_cmds[] = {
	{"port queue N Q lcore L",
	 "Moves a receive queue to an lcore, where it stays; no packet is lost or overtaken.",
	 move_queue},
	{"port queue N Q auto", "Lets a receive queue be placed evenly again.", move_queue},
	{"port spread N lcores LCORES",
	 "Spreads what arrives on a port with one receive queue over lcores, by flow.",
	 spread_port},
	{"port spread N off", "Lets the lcore that polls a port do all its work again.",
	 spread_port},
	{"rebalance",
	 "Moves one receive queue from the busiest lcore to the idlest, if that helps.", rebalance},
	{0},
};
