/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets and bytes of a port are counted by lcores, since devices disagree on what a byte is (FCS,
 * padding) and some count none. From the device come only the losses that lcores cannot see.
 */
#include "lcore/port_totals.h"

#include <errno.h>
#include <stdlib.h>

static void add_traffic(struct mr_traffic *sum, const struct mr_traffic *traffic)
{
	sum->packets += mr_counter_read(&traffic->packets);
	sum->bytes += mr_counter_read(&traffic->bytes);
}

static void add_thread(struct mr_port_totals *totals, const struct mr_counters *counters,
		       uint16_t port)
{
	for (unsigned queue = 0; queue < MR_MAX_QUEUES; queue++) {
		add_traffic(&totals->rx[queue], &counters->rx[port][queue]);
		add_traffic(&totals->tx[queue], &counters->tx[port][queue]);
	}
	for (unsigned reason = 0; reason < MR_DROP_COUNT; reason++)
		totals->drop[reason] += mr_counter_read(&counters->drop[port][reason]);
}

static void read_all(struct mr *mr, uint16_t port, struct mr_port_totals *totals)
{
	struct rte_eth_stats device = {0};

	*totals = (struct mr_port_totals){0};
	add_thread(totals, mr->lcores->control, port);
	for (unsigned i = 0; i < mr->lcores->count; i++)
		add_thread(totals, &mr->lcores->lcore[i]->counters, port);
	if (rte_eth_stats_get(port, &device) < 0)
		return;
	totals->rx_missed = device.imissed;
	totals->rx_errors = device.ierrors;
	totals->rx_no_buffer = device.rx_nombuf;
	totals->tx_errors = device.oerrors;
}

/* A device that was started again may have started its counters again. */
static uint64_t since(uint64_t now, uint64_t base)
{
	return now >= base ? now - base : now;
}

static void subtract(struct mr_port_totals *totals, const struct mr_port_totals *base)
{
	for (unsigned queue = 0; queue < MR_MAX_QUEUES; queue++) {
		totals->rx[queue].packets -= base->rx[queue].packets;
		totals->rx[queue].bytes -= base->rx[queue].bytes;
		totals->tx[queue].packets -= base->tx[queue].packets;
		totals->tx[queue].bytes -= base->tx[queue].bytes;
	}
	for (unsigned reason = 0; reason < MR_DROP_COUNT; reason++)
		totals->drop[reason] -= base->drop[reason];
	totals->rx_missed = since(totals->rx_missed, base->rx_missed);
	totals->rx_errors = since(totals->rx_errors, base->rx_errors);
	totals->rx_no_buffer = since(totals->rx_no_buffer, base->rx_no_buffer);
	totals->tx_errors = since(totals->tx_errors, base->tx_errors);
}

void mr_port_totals_read(struct mr *mr, uint16_t port, struct mr_port_totals *totals)
{
	read_all(mr, port, totals);
	if (mr->lcores->port_baseline[port] != NULL)
		subtract(totals, mr->lcores->port_baseline[port]);
}

int mr_port_totals_clear(struct mr *mr, uint16_t port)
{
	struct mr_port_totals **baseline = &mr->lcores->port_baseline[port];

	if (*baseline == NULL)
		*baseline = calloc(1, sizeof(**baseline));
	if (*baseline == NULL)
		return -ENOMEM;
	read_all(mr, port, *baseline);
	return 0;
}

struct mr_traffic mr_traffic_sum(const struct mr_traffic *traffic, unsigned count)
{
	struct mr_traffic sum = {0};

	for (unsigned i = 0; i < count; i++) {
		sum.packets += traffic[i].packets;
		sum.bytes += traffic[i].bytes;
	}
	return sum;
}

uint64_t mr_drop_sum(const struct mr_port_totals *totals)
{
	uint64_t sum = 0;

	for (unsigned reason = 0; reason < MR_DROP_COUNT; reason++)
		sum += totals->drop[reason];
	return sum;
}
