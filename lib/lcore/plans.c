/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a placement to plans, and from the plans in force to new ones without losing a packet.
 *
 * A queue or a ring may have one user at a time, so what moves between lcores is first taken from
 * the old one. Plans therefore change in two steps:
 *
 *  1. The pause: what is the same in old and new goes on. Rx queues that move are polled by
 *     nobody. Packets for a tx queue that moves are parked in the sender's hand-over ring, which
 *     nobody reads. After a grace period no lcore uses what it has to give up.
 *  2. The new plan. Its readers find the parked packets in their rings. A sender that now owns its
 *     queue has no reader for its ring, so the control thread injects what is parked there.
 *
 * Rings towards ports that left end as dropped, `no_tx_path`.
 */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "base/rcu.h"
#include "lcore/lcores.h"
#include "lcore/rings.h"
#include "lcore/sleep.h"

struct plans {
	struct mr_placement placement;
	struct mr_plan *next[MR_MAX_LCORES], *pause[MR_MAX_LCORES];
};

static unsigned started_ports(struct mr *mr, uint16_t without, struct mr_placement_port *ports)
{
	unsigned count = 0;
	struct mr_port *port;

	MR_PORT_FOREACH (mr, port) {
		if (port->started && port->id != without)
			ports[count++] = (struct mr_placement_port){.port = port->id,
								    .socket = port->socket,
								    .rxq = port->rxq,
								    .txq = port->txq};
	}
	return count;
}

static bool is_owner(const struct mr_placement *placement, unsigned lcore, uint16_t port)
{
	uint8_t queue = placement->tx_queue[lcore][port];

	return queue != UINT8_MAX && placement->tx_owner[port][queue] == lcore;
}

/* The sender's ring towards a port, made when first needed. */
static struct rte_ring *handover_ring(struct mr *mr, unsigned sender, uint16_t port,
				      struct mr_error *error)
{
	struct rte_ring **ring = &mr->lcores->handover[sender][port];

	if (*ring == NULL)
		*ring = mr_ring_of_packets(mr, "tx", sender, port,
					   mr->lcores->lcore[sender]->socket);
	if (*ring == NULL)
		mr_fail(error, -rte_errno, "cannot make the ring from lcore %u to port %u: %s",
			mr->lcores->lcore[sender]->id, port, rte_strerror(rte_errno));
	return *ring;
}

static int plan_rx(struct mr *mr, const struct mr_placement *placement, struct mr_lcore *lcore,
		   struct mr_plan *plan, struct mr_error *error)
{
	plan->rx_interrupts = true;
	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++)
		for (uint16_t queue = 0; queue < MR_MAX_QUEUES; queue++) {
			if (placement->rx_lcore[port][queue] != lcore->index)
				continue;
			plan->rx_interrupts &= mr_port(mr, port)->rx_interrupts;
			if (plan->rx_count == MR_MAX_RX_QUEUES)
				return mr_fail(error, -E2BIG,
					       "lcore %u would poll more than %d rx queues: use "
					       "more lcores or fewer queues",
					       lcore->id, MR_MAX_RX_QUEUES);
			plan->rx[plan->rx_count++] = (struct mr_rx_queue){
				.port = port, .queue = queue, .burst = mr_port(mr, port)->burst};
		}
	return 0;
}

static int plan_tx(struct mr *mr, const struct mr_placement *placement, struct mr_lcore *lcore,
		   struct mr_plan *plan, struct mr_error *error)
{
	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++) {
		uint8_t queue = placement->tx_queue[lcore->index][port];

		if (queue == UINT8_MAX)
			continue;
		plan->tx[port] = (struct mr_tx_path){.queue = queue, .usable = true};
		plan->tx[port].owner = mr->lcores->lcore[placement->tx_owner[port][queue]]->sleep;
		if (is_owner(placement, lcore->index, port))
			continue;
		plan->tx[port].handover = handover_ring(mr, lcore->index, port, error);
		if (plan->tx[port].handover == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* Lists the rings of all others towards the queues that the lcore owns. */
static int plan_sources(struct mr *mr, const struct mr_placement *placement, struct mr_lcore *lcore,
			struct mr_plan *plan, struct mr_error *error)
{
	for (unsigned sender = 0; sender < mr->lcores->count; sender++)
		for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++) {
			if (sender == lcore->index || !is_owner(placement, lcore->index, port) ||
			    placement->tx_queue[sender][port] !=
				    placement->tx_queue[lcore->index][port])
				continue;
			if (plan->source_count == MR_MAX_TX_SOURCES)
				return mr_fail(
					error, -E2BIG,
					"lcore %u would send for more than %d pairs of lcore "
					"and port: give the ports more tx queues",
					lcore->id, MR_MAX_TX_SOURCES);
			plan->source[plan->source_count++] = (struct mr_tx_source){
				.ring = mr->lcores->handover[sender][port], .port = port};
		}
	return 0;
}

static bool has_rx(const struct mr_plan *plan, const struct mr_rx_queue *rx)
{
	for (unsigned i = 0; i < plan->rx_count; i++)
		if (memcmp(&plan->rx[i], rx, sizeof(*rx)) == 0)
			return true;
	return false;
}

static bool has_source(const struct mr_plan *plan, const struct rte_ring *ring)
{
	for (unsigned i = 0; i < plan->source_count; i++)
		if (plan->source[i].ring == ring)
			return true;
	return false;
}

static bool same_path(const struct mr_tx_path *a, const struct mr_tx_path *b)
{
	return a->usable == b->usable && a->handover == b->handover && a->queue == b->queue;
}

/* What old and next have in common, with the packets of other paths parked. */
static int plan_pause(struct mr *mr, const struct mr_lcore *lcore, const struct mr_plan *next,
		      struct mr_plan *pause, struct mr_error *error)
{
	static const struct mr_plan nothing;
	const struct mr_plan *old = lcore->plan != NULL ? lcore->plan : &nothing;

	for (unsigned i = 0; i < old->rx_count; i++)
		if (has_rx(next, &old->rx[i]))
			pause->rx[pause->rx_count++] = old->rx[i];

	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++) {
		pause->tx[port] = next->tx[port];
		if (!next->tx[port].usable || same_path(&old->tx[port], &next->tx[port]))
			continue;
		pause->tx[port].handover = handover_ring(mr, lcore->index, port, error);
		if (pause->tx[port].handover == NULL)
			return -ENOMEM;
	}

	for (unsigned i = 0; i < old->source_count; i++) {
		uint16_t port = old->source[i].port;

		if (has_source(next, old->source[i].ring) &&
		    same_path(&old->tx[port], &next->tx[port]))
			pause->source[pause->source_count++] = old->source[i];
	}
	return 0;
}

static void free_plans(struct plans *plans)
{
	for (unsigned i = 0; i < MR_MAX_LCORES; i++) {
		rte_free(plans->next[i]);
		rte_free(plans->pause[i]);
	}
}

static int make_plans(struct mr *mr, struct plans *plans, struct mr_error *error)
{
	for (unsigned i = 0; i < mr->lcores->count; i++) {
		struct mr_lcore *lcore = mr->lcores->lcore[i];

		plans->next[i] = rte_zmalloc_socket("mr_plan", sizeof(struct mr_plan),
						    RTE_CACHE_LINE_SIZE, lcore->socket);
		plans->pause[i] = rte_zmalloc_socket("mr_plan", sizeof(struct mr_plan),
						     RTE_CACHE_LINE_SIZE, lcore->socket);
		if (plans->next[i] == NULL || plans->pause[i] == NULL)
			return mr_fail(error, -ENOMEM, "no memory for the plan of lcore %u",
				       lcore->id);
		if (plan_rx(mr, &plans->placement, lcore, plans->next[i], error) != 0 ||
		    plan_tx(mr, &plans->placement, lcore, plans->next[i], error) != 0)
			return -ENOSPC;
	}
	/* Sources are rings that the loop above has made. */
	for (unsigned i = 0; i < mr->lcores->count; i++) {
		struct mr_lcore *lcore = mr->lcores->lcore[i];

		if (plan_sources(mr, &plans->placement, lcore, plans->next[i], error) != 0 ||
		    plan_pause(mr, lcore, plans->next[i], plans->pause[i], error) != 0)
			return -ENOSPC;
	}
	return 0;
}

static void publish(struct mr *mr, struct mr_plan **plans)
{
	for (unsigned i = 0; i < mr->lcores->count; i++) {
		struct mr_lcore *lcore = mr->lcores->lcore[i];
		const struct mr_plan *old = lcore->plan;

		__atomic_store_n(&lcore->plan, plans[i], __ATOMIC_RELEASE);
		plans[i] = NULL;
		mr_wake(lcore->sleep);
		if (old != NULL)
			mr_rcu_defer(mr->rcu, rte_free, (void *)(uintptr_t)old);
	}
}

/* Between the steps: empties the rings that will have no reader. */
static void empty_unread_rings(struct mr *mr, const struct mr_placement *next)
{
	for (unsigned sender = 0; sender < mr->lcores->count; sender++)
		for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++)
			if (next->tx_queue[sender][port] == UINT8_MAX)
				mr_ring_discard(mr, mr->lcores->handover[sender][port], port,
						MR_DROP_no_tx_path);
}

static void inject_parked(struct mr *mr)
{
	for (unsigned sender = 0; sender < mr->lcores->count; sender++)
		for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++) {
			struct rte_ring *ring = mr->lcores->handover[sender][port];
			void *packet;

			if (ring == NULL || !is_owner(&mr->lcores->placement, sender, port))
				continue;
			while (rte_ring_sc_dequeue(ring, &packet) == 0)
				mr_inject(mr, port, packet);
		}
}

int mr_lcores_place_without(struct mr *mr, uint16_t port, struct mr_error *error)
{
	struct mr_lcores *lcores = mr->lcores;
	struct mr_placement_port ports[RTE_MAX_ETHPORTS];
	int sockets[MR_MAX_LCORES];
	struct plans plans = {0};
	int ret;

	for (unsigned i = 0; i < lcores->count; i++)
		sockets[i] = lcores->lcore[i]->socket;
	mr_placement_compute(&plans.placement, ports, started_ports(mr, port, ports), sockets,
			     lcores->count);
	ret = make_plans(mr, &plans, error);
	if (ret != 0) {
		free_plans(&plans);
		return ret;
	}

	publish(mr, plans.pause);
	mr_rcu_synchronize(mr->rcu);
	empty_unread_rings(mr, &plans.placement);
	for (unsigned i = 0; i < lcores->count; i++)
		mr_sleep_watch(lcores->lcore[i], plans.next[i]);
	publish(mr, plans.next);
	lcores->placement = plans.placement;
	/* Until here a sender may still have parked. */
	mr_rcu_synchronize(mr->rcu);
	inject_parked(mr);
	return 0;
}

int mr_lcores_place(struct mr *mr, struct mr_error *error)
{
	return mr_lcores_place_without(mr, MR_PORT_NONE, error);
}
