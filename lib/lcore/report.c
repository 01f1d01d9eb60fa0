/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcore/report.h"

#include <stdio.h>

#include "base/rcu.h"
#include "lcore/rates.h"

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

const struct mr_lcore *mr_lcore_by_id(const struct mr *mr, uint64_t id)
{
	for (unsigned i = 0; i < mr->lcores->count; i++)
		if (mr->lcores->lcore[i]->id == id)
			return mr->lcores->lcore[i];
	return NULL;
}

json_t *mr_report_lcore_ids(const struct mr *mr)
{
	json_t *ids = json_array();

	for (unsigned i = 0; i < mr->lcores->count; i++)
		json_array_append_new(ids, number(mr->lcores->lcore[i]->id));
	return ids;
}

static json_t *queues_of(const uint8_t (*lcore_of)[MR_MAX_QUEUES], unsigned index)
{
	json_t *queues = json_array();
	char text[16];

	for (unsigned port = 0; port < RTE_MAX_ETHPORTS; port++)
		for (unsigned queue = 0; queue < MR_MAX_QUEUES; queue++) {
			if (lcore_of[port][queue] != index)
				continue;
			snprintf(text, sizeof(text), "%u/%u", port, queue);
			json_array_append_new(queues, json_string(text));
		}
	return queues;
}

json_t *mr_report_rx_queues(const struct mr *mr, const struct mr_lcore *lcore)
{
	return queues_of(mr->lcores->placement.rx_lcore, lcore->index);
}

json_t *mr_report_tx_queues(const struct mr *mr, const struct mr_lcore *lcore)
{
	return queues_of(mr->lcores->placement.tx_owner, lcore->index);
}

static struct mr_traffic sum_traffic(const struct mr_traffic (*counters)[MR_MAX_QUEUES])
{
	struct mr_traffic sum = {0};

	for (unsigned port = 0; port < RTE_MAX_ETHPORTS; port++)
		for (unsigned queue = 0; queue < MR_MAX_QUEUES; queue++) {
			sum.packets += mr_counter_read(&counters[port][queue].packets);
			sum.bytes += mr_counter_read(&counters[port][queue].bytes);
		}
	return sum;
}

static uint64_t drops_under(const struct mr_counters *counters, enum mr_drop_reason reason)
{
	uint64_t sum = 0;

	for (unsigned port = 0; port <= MR_PORT_NONE; port++)
		sum += mr_counter_read(&counters->drop[port][reason]);
	return sum;
}

static uint64_t all_drops(const struct mr_counters *counters)
{
	uint64_t sum = 0;

	for (unsigned reason = 0; reason < MR_DROP_COUNT; reason++)
		sum += drops_under(counters, reason);
	return sum;
}

json_t *mr_report_lcore_summary(const struct mr *mr, const struct mr_lcore *lcore)
{
	struct mr_traffic rx = sum_traffic(lcore->counters.rx);
	struct mr_traffic tx = sum_traffic(lcore->counters.tx);
	struct mr_rate rate = mr_rate_of_lcore(mr, lcore->index);
	json_t *data = json_object();

	json_object_set_new(data, "lcore", number(lcore->id));
	json_object_set_new(data, "rx_pps", number(rate.rx_pps));
	json_object_set_new(data, "tx_pps", number(rate.tx_pps));
	json_object_set_new(data, "rx_packets", number(rx.packets));
	json_object_set_new(data, "tx_packets", number(tx.packets));
	json_object_set_new(data, "dropped", number(all_drops(&lcore->counters)));
	json_object_set_new(data, "cycles_per_packet", number(rate.cycles_per_packet));
	json_object_set_new(data, "busy_percent", number(rate.busy_percent));
	json_object_set_new(data, "asleep_percent", number(rate.asleep_percent));
	return data;
}

static json_t *bursts(const struct mr_counters *counters)
{
	static const char *const bucket[MR_BURST_BUCKETS] = {"0",    "1",     "2_3",   "4_7",
							     "8_15", "16_31", "32_63", "64"};
	json_t *data = json_object();

	for (unsigned i = 0; i < MR_BURST_BUCKETS; i++)
		json_object_set_new(data, bucket[i], number(mr_counter_read(&counters->burst[i])));
	return data;
}

json_t *mr_report_lcore(const struct mr *mr, const struct mr_lcore *lcore)
{
	const struct mr_counters *c = &lcore->counters;
	const struct {
		const char *name;
		const uint64_t *counter;
	} plain[] = {
		{"busy_cycles", &c->busy_cycles},
		{"iterations", &c->iterations},
		{"polls", &c->polls},
		{"empty_polls", &c->empty_polls},
		{"originated", &c->originated},
		{"copied", &c->copied},
		{"consumed", &c->consumed},
		{"punted", &c->punted},
		{"injected", &c->injected},
		{"handed_over", &c->handed_over},
		{"spread_given", &c->spread_given},
		{"spread_taken", &c->spread_taken},
		{"learn_full", &c->learn_full},
		{"stations_moved", &c->stations_moved},
		{"sleeps", &c->sleeps},
		{"wakeups", &c->wakeups},
		{"sleep_cycles", &c->sleep_cycles},
	};
	struct mr_rate rate = mr_rate_of_lcore(mr, lcore->index);
	json_t *data = mr_report_lcore_summary(mr, lcore);

	json_object_set_new(data, "socket", json_integer(lcore->socket));
	json_object_set_new(data, "rx_bytes", number(sum_traffic(c->rx).bytes));
	json_object_set_new(data, "tx_bytes", number(sum_traffic(c->tx).bytes));
	json_object_set_new(data, "rx_bps", number(rate.rx_bps));
	json_object_set_new(data, "tx_bps", number(rate.tx_bps));
	for (unsigned i = 0; i < RTE_DIM(plain); i++)
		json_object_set_new(data, plain[i].name, number(mr_counter_read(plain[i].counter)));
	json_object_set_new(data, "bursts", bursts(c));
	json_object_set_new(data, "rx_queues", mr_report_rx_queues(mr, lcore));
	json_object_set_new(data, "tx_queues", mr_report_tx_queues(mr, lcore));
	return data;
}

uint64_t mr_report_drop_total(const struct mr *mr, enum mr_drop_reason reason)
{
	uint64_t total = drops_under(mr->lcores->control, reason);

	for (unsigned i = 0; i < mr->lcores->count; i++)
		total += drops_under(&mr->lcores->lcore[i]->counters, reason);
	return total;
}

json_t *mr_report_drops(const struct mr *mr)
{
	json_t *data = json_object();

	for (unsigned reason = 0; reason < MR_DROP_COUNT; reason++) {
		json_t *row = json_object(), *lcores = json_array();

		for (unsigned i = 0; i < mr->lcores->count; i++)
			json_array_append_new(
				lcores,
				number(drops_under(&mr->lcores->lcore[i]->counters, reason)));
		json_object_set_new(row, "help", json_string(mr_drop_help(reason)));
		json_object_set_new(row, "total", number(mr_report_drop_total(mr, reason)));
		json_object_set_new(row, "lcores", lcores);
		json_object_set_new(row, "control",
				    number(drops_under(mr->lcores->control, reason)));
		json_object_set_new(data, mr_drop_name(reason), row);
	}
	return data;
}

static json_t *drops_by_port(const struct mr_counters *counters, enum mr_drop_reason reason)
{
	json_t *ports = json_object();

	for (unsigned port = 0; port <= MR_PORT_NONE; port++) {
		uint64_t packets = mr_counter_read(&counters->drop[port][reason]);
		char name[8] = "none";

		if (port != MR_PORT_NONE)
			snprintf(name, sizeof(name), "%u", port);
		if (packets != 0)
			json_object_set_new(ports, name, number(packets));
	}
	return ports;
}

json_t *mr_report_drops_of(const struct mr_counters *counters)
{
	json_t *data = json_object();

	for (unsigned reason = 0; reason < MR_DROP_COUNT; reason++)
		json_object_set_new(data, mr_drop_name(reason),
				    json_pack("{s:o, s:o}", "total",
					      number(drops_under(counters, reason)), "ports",
					      drops_by_port(counters, reason)));
	return data;
}

json_t *mr_report_balance(struct mr *mr)
{
	const struct mr_balance b = mr_lcores_balance(mr);

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "received", number(b.received),
			 "originated", number(b.originated), "copied", number(b.copied),
			 "transmitted", number(b.transmitted), "consumed", number(b.consumed),
			 "dropped", number(b.dropped), "held", number(b.held));
}

json_t *mr_report_rcu(const struct mr *mr)
{
	struct rte_rcu_qsbr *qsbr = mr->rcu->qsbr;
	uint64_t token = __atomic_load_n(&qsbr->token, __ATOMIC_RELAXED);
	json_t *readers = json_object();

	for (unsigned i = 0; i < mr->lcores->count; i++) {
		uint64_t seen = __atomic_load_n(&qsbr->qsbr_cnt[i].cnt, __ATOMIC_RELAXED);
		bool online = seen != __RTE_QSBR_CNT_THR_OFFLINE;
		char id[16];

		snprintf(id, sizeof(id), "%u", mr->lcores->lcore[i]->id);
		json_object_set_new(readers, id,
				    json_pack("{s:i, s:o}", "online", (int)online, "lag",
					      number(online && seen < token ? token - seen : 0)));
	}
	return json_pack("{s:o, s:o, s:o, s:o}", "token", number(token), "pending",
			 number(mr->rcu->pending), "freed", number(mr->rcu->freed), "readers",
			 readers);
}
