/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lcores only count; the control thread makes rates of it by comparing with what it saw a second
 * ago, divided by the time that really passed.
 */
#include "lcore/rates.h"

#include <stdbool.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "lcore/lcores.h"

struct snapshot {
	struct mr_traffic rx, tx;
	uint64_t busy_cycles, sleep_cycles, taken;
};

struct mr_rates {
	bool taken; /* there is a snapshot */
	uint64_t taken_ms;
	struct snapshot lcore[MR_MAX_LCORES], port[RTE_MAX_ETHPORTS];
	struct mr_rate lcore_rate[MR_MAX_LCORES], port_rate[RTE_MAX_ETHPORTS];
	uint64_t queue[RTE_MAX_ETHPORTS][MR_MAX_QUEUES]; /* packets received */
	uint64_t queue_pps[RTE_MAX_ETHPORTS][MR_MAX_QUEUES];
};

struct mr_rates *mr_rates_create(void)
{
	return rte_zmalloc("mr_rates", sizeof(struct mr_rates), 0);
}

void mr_rates_destroy(struct mr_rates *rates)
{
	rte_free(rates);
}

static struct mr_traffic read_traffic(const struct mr_traffic *counter)
{
	return (struct mr_traffic){.packets = mr_counter_read(&counter->packets),
				   .bytes = mr_counter_read(&counter->bytes)};
}

static void add_traffic(struct mr_traffic *sum, const struct mr_traffic *traffic)
{
	sum->packets += traffic->packets;
	sum->bytes += traffic->bytes;
}

static void add_lcore(const struct mr_counters *counters, struct snapshot *lcore,
		      struct snapshot *ports)
{
	for (unsigned port = 0; port < RTE_MAX_ETHPORTS; port++)
		for (unsigned queue = 0; queue < MR_MAX_QUEUES; queue++) {
			struct mr_traffic rx = read_traffic(&counters->rx[port][queue]);
			struct mr_traffic tx = read_traffic(&counters->tx[port][queue]);

			add_traffic(&lcore->rx, &rx);
			add_traffic(&lcore->tx, &tx);
			add_traffic(&ports[port].rx, &rx);
			add_traffic(&ports[port].tx, &tx);
		}
	lcore->busy_cycles = mr_counter_read(&counters->busy_cycles);
	lcore->sleep_cycles = mr_counter_read(&counters->sleep_cycles);
	lcore->taken = mr_counter_read(&counters->spread_taken);
}

static uint64_t per_second(uint64_t now, uint64_t then, uint64_t ms)
{
	return (now - then) * 1000 / ms;
}

/* The two clocks that a share is made of are not read at the same instant. */
static unsigned percent(double share)
{
	return (unsigned)(RTE_MIN(share, 1.0) * 100 + 0.5);
}

static struct mr_rate rate_between(const struct snapshot *then, const struct snapshot *now,
				   uint64_t ms)
{
	uint64_t packets = now->rx.packets - then->rx.packets + now->taken - then->taken;
	uint64_t busy = now->busy_cycles - then->busy_cycles;
	double cycles = (double)rte_get_tsc_hz() * (double)ms / 1000;

	return (struct mr_rate){
		.rx_pps = per_second(now->rx.packets, then->rx.packets, ms),
		.tx_pps = per_second(now->tx.packets, then->tx.packets, ms),
		.rx_bps = per_second(now->rx.bytes * 8, then->rx.bytes * 8, ms),
		.tx_bps = per_second(now->tx.bytes * 8, then->tx.bytes * 8, ms),
		.cycles_per_packet = packets != 0 ? busy / packets : 0,
		.busy_percent = percent((double)busy / cycles),
		.asleep_percent =
			percent((double)(now->sleep_cycles - then->sleep_cycles) / cycles),
	};
}

static uint64_t queue_packets(const struct mr_lcores *lcores, unsigned port, unsigned queue)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < lcores->count; i++)
		sum += mr_counter_read(&lcores->lcore[i]->counters.rx[port][queue].packets);
	return sum;
}

static void poll_queues(const struct mr_lcores *lcores, struct mr_rates *rates, uint64_t ms)
{
	for (unsigned port = 0; port < RTE_MAX_ETHPORTS; port++)
		for (unsigned queue = 0; queue < MR_MAX_QUEUES; queue++) {
			uint64_t now = queue_packets(lcores, port, queue);

			if (rates->taken)
				rates->queue_pps[port][queue] =
					per_second(now, rates->queue[port][queue], ms);
			rates->queue[port][queue] = now;
		}
}

void mr_rates_poll(struct mr *mr, uint64_t now_ms)
{
	struct mr_rates *rates = mr->lcores->rates;
	struct snapshot lcore[MR_MAX_LCORES] = {0}, port[RTE_MAX_ETHPORTS] = {0};
	uint64_t ms = now_ms - rates->taken_ms;

	if (rates->taken && ms < 1000)
		return;
	for (unsigned i = 0; i < mr->lcores->count; i++)
		add_lcore(&mr->lcores->lcore[i]->counters, &lcore[i], port);
	if (rates->taken) {
		for (unsigned i = 0; i < mr->lcores->count; i++)
			rates->lcore_rate[i] = rate_between(&rates->lcore[i], &lcore[i], ms);
		for (unsigned i = 0; i < RTE_MAX_ETHPORTS; i++)
			rates->port_rate[i] = rate_between(&rates->port[i], &port[i], ms);
	}
	poll_queues(mr->lcores, rates, ms);
	memcpy(rates->lcore, lcore, sizeof(lcore));
	memcpy(rates->port, port, sizeof(port));
	rates->taken = true;
	rates->taken_ms = now_ms;
}

struct mr_rate mr_rate_of_lcore(const struct mr *mr, unsigned index)
{
	return mr->lcores->rates->lcore_rate[index];
}

struct mr_rate mr_rate_of_port(const struct mr *mr, uint16_t port)
{
	return mr->lcores->rates->port_rate[port];
}

uint64_t mr_rate_of_rx_queue(const struct mr *mr, uint16_t port, uint16_t queue)
{
	return mr->lcores->rates->queue_pps[port][queue];
}
