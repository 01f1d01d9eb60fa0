/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One iteration of a forwarding lcore. The lcore's thread calls it for ever; a test calls it as
 * often as it likes, with the time that it likes.
 *
 * What is loaded once here, the plan, stays valid until the quiescent state at the end: the control
 * thread frees what it replaced only after every lcore has been there.
 */
#include <rte_branch_prediction.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_prefetch.h>

#include "lcore/input_fwd.h"
#include "lcore/lcore.h"
#include "lcore/output_fwd.h"
#include "lcore/spread_fwd.h"
#include "packet/punt.h"

static unsigned burst_bucket(unsigned count)
{
	return count == 0 ? 0 : 32 - (unsigned)__builtin_clz(count);
}

static unsigned poll_queue(struct mr_lcore *lcore, const struct mr_rx_queue *queue)
{
	struct mr_vector *vector = &lcore->vector;
	struct mr_counters *counters = &lcore->counters;

	vector->iface = queue->port; /* a port's base interface has its number */
	vector->count = rte_eth_rx_burst(queue->port, queue->queue, vector->packet, queue->burst);
	mr_count(&counters->polls, 1);
	mr_count(&counters->burst[burst_bucket(vector->count)], 1);
	if (vector->count == 0) {
		mr_count(&counters->empty_polls, 1);
		return 0;
	}
	unsigned count = vector->count;
	if (unlikely(queue->spread))
		mr_spread(lcore, vector, &counters->rx[queue->port][queue->queue]);
	else
		mr_input(lcore, vector, &counters->rx[queue->port][queue->queue]);
	return count;
}

static unsigned send_injected(struct mr_lcore *lcore)
{
	struct rte_mbuf *packets[MR_VECTOR_SIZE];
	unsigned count =
		rte_ring_sc_dequeue_burst(lcore->inject, (void **)packets, MR_VECTOR_SIZE, NULL);

	for (unsigned i = 0; i < count; i++) {
		uint16_t iface = mr_punt_of(packets[i])->iface;

		*mr_hook_word(packets[i]) = 0;
		mr_output(lcore, iface, &packets[i], 1);
	}
	mr_count(&lcore->counters.injected, count);
	return count;
}

unsigned mr_lcore_iteration(struct mr_lcore *lcore, uint64_t now)
{
	const struct mr_plan *plan = __atomic_load_n(&lcore->plan, __ATOMIC_ACQUIRE);
	unsigned count = 0;

	if (lcore->was_busy)
		mr_count(&lcore->counters.busy_cycles, now - lcore->now);
	lcore->now = now;
	mr_count(&lcore->counters.iterations, 1);

	if (likely(plan != NULL)) {
		lcore->current_plan = plan;
		lcore->hooks = __atomic_load_n(&lcore->forwarding->hooks, __ATOMIC_ACQUIRE);
		for (unsigned i = 0; i < plan->source_count; i++)
			count += mr_output_handed_over(lcore, &plan->source[i]);
		for (unsigned i = 0; i < plan->rx_count; i++)
			count += poll_queue(lcore, &plan->rx[i]);
		for (unsigned i = 0; i < plan->spread_count; i++)
			count += mr_spread_take(lcore, &plan->spread_source[i]);
		count += send_injected(lcore);
		mr_output_flush(lcore);
		if (lcore->hooks != NULL && unlikely(lcore->hooks->tick != NULL))
			lcore->hooks->tick(lcore->hooks, lcore);
	}
	lcore->was_busy = count != 0;
	rte_rcu_qsbr_quiescent(lcore->qsbr, lcore->index);
	return count;
}
