/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a forwarder under valgrind: ports take turns, a burst each. Valgrind runs one
 * thread at a time, for tens of thousands of packets before it changes; meanwhile a forwarding
 * lcore would overflow the rings of one that stands still, and drops would be counted instead of
 * forwarding. A system call ends a thread's time. Who waits too long goes on: when forwarding
 * starts or stops the other one is not there.
 */
#include <dlfcn.h>
#include <sched.h>

#include <rte_ethdev.h>

enum { PATIENCE = 100000 };

/* The port whose turn it is, modulo ports. Valgrind runs one thread at a time, so it needs no
 * atomics. */
static volatile unsigned turn;
static unsigned ports;

static uint16_t await_turn(uint16_t port, uint16_t queue, struct rte_mbuf *packets[],
			   uint16_t count, uint16_t max, void *data)
{
	(void)queue, (void)packets, (void)max, (void)data;

	for (unsigned i = 0; i < PATIENCE && turn % ports != port; i++)
		sched_yield();
	turn = port + 1;
	return count;
}

int rte_eth_dev_start(uint16_t port)
{
	int (*start)(uint16_t) = dlsym(RTLD_NEXT, "rte_eth_dev_start");
	struct rte_eth_dev_info info;
	int ret = start(port);

	if (ret < 0 || rte_eth_dev_info_get(port, &info) < 0)
		return ret;
	for (uint16_t queue = 0; queue < info.nb_rx_queues; queue++)
		if (rte_eth_add_rx_callback(port, queue, await_turn, NULL) == NULL)
			return -ENOMEM;
	ports = RTE_MAX(ports, port + 1U);
	return 0;
}
