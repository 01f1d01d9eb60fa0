/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a placement to plans, and from the plans in force to new ones without losing a packet and
 * without changing the order of a flow's.
 *
 * A queue or a ring may have one user at a time, and what was received before a change must be sent
 * before what is received after it. Plans therefore change in two steps:
 *
 *  1. The pause: what arrives on rx queues that move, or on those of an lcore whose way to some
 *     port changes, stays in the device. All else goes on, and so do the readers of all rings:
 *     after a grace period, once the rings are empty of what was in them, and one more, all that
 *     was received on those queues has been sent.
 *  2. The new plan.
 *
 * To a port that leaves nobody hands packets over in the pause any more (they end as `no_tx_path`);
 * what waits for it in rings is still sent.
 */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "base/rcu.h"
#include "lcore/handover.h"
#include "lcore/lcores.h"
#include "lcore/rings.h"
#include "lcore/sleep.h"

struct plans {
	struct mr_placement placement;
	uint64_t moved; /* lcores whose packets go other ways */
	struct mr_plan *next[MR_MAX_LCORES], *pause[MR_MAX_LCORES];
};

static bool is_placed(const struct mr_port *port, uint16_t without)
{
	return port->started && port->id != without;
}

/* The ports on which packets that arrive on a port may leave, by the roles of their interfaces; 0
 * when that is not known. */
static uint32_t feeds_of(struct mr *mr, uint16_t port, uint16_t without)
{
	const struct mr_iface *in = mr_iface(mr, port), *out;
	struct mr_port *other;
	uint32_t mask = 0;

	if (in == NULL)
		return 0;
	if (in->mode == MR_MODE_IO) {
		out = mr_iface(mr, in->io_peer);
		return out != NULL ? UINT32_C(1) << out->port : 0;
	}
	MR_PORT_FOREACH (mr, other) {
		out = mr_iface(mr, other->id);
		if (other->id != port && is_placed(other, without) && out != NULL &&
		    out->mode == in->mode && out->bridge == in->bridge)
			mask |= UINT32_C(1) << other->id;
	}
	return mask;
}

static uint64_t worker_mask(const struct mr_workers *workers)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < workers->count; i++)
		mask |= UINT64_C(1) << workers->lcore[i];
	return mask;
}

static unsigned started_ports(struct mr *mr, uint16_t without, struct mr_placement_port *ports)
{
	const struct mr_lcores *lcores = mr->lcores;
	unsigned count = 0;
	struct mr_port *port;

	MR_PORT_FOREACH (mr, port) {
		if (is_placed(port, without))
			ports[count++] = (struct mr_placement_port){
				.port = port->id,
				.socket = port->socket,
				.rxq = port->rxq,
				.txq = port->txq,
				.pinned = lcores->pinned[port->id],
				.workers = worker_mask(&lcores->workers[port->id]),
				.feeds = feeds_of(mr, port->id, without)};
	}
	return count;
}

static bool is_owner(const struct mr_placement *placement, unsigned lcore, uint16_t port)
{
	uint8_t queue = placement->tx_queue[lcore][port];

	return queue != UINT8_MAX && placement->tx_owner[port][queue] == lcore;
}

/* Makes a ring between an lcore and a port when it is first needed; NULL with error set. maker:
 * whose memory it is in. */
static struct mr_handover *ring_of(const struct mr *mr, struct mr_handover **ring, unsigned size,
				   unsigned maker, uint16_t port, struct mr_error *error)
{
	const struct mr_lcore *lcore = mr->lcores->lcore[maker];

	if (*ring == NULL)
		*ring = mr_handover_create(size, lcore->socket);
	if (*ring == NULL)
		mr_fail(error, -ENOMEM, "no memory for the ring between lcore %u and port %u",
			lcore->id, port);
	return *ring;
}

static int plan_spread(struct mr *mr, struct mr_lcore *lcore, uint16_t port, struct mr_plan *plan,
		       struct mr_error *error)
{
	const struct mr_workers *workers = &mr->lcores->workers[port];

	plan->spread[port].count = (uint16_t)workers->count;
	for (unsigned i = 0; i < workers->count; i++) {
		struct mr_handover **ring = &plan->spread[port].worker[i];

		plan->spread[port].sleep[i] = mr->lcores->lcore[workers->lcore[i]]->sleep;
		if (workers->lcore[i] == lcore->index)
			continue;
		*ring = ring_of(mr, &mr->lcores->spread[workers->lcore[i]][port],
				MR_SPREAD_RING_SIZE, workers->lcore[i], port, error);
		if (*ring == NULL)
			return -ENOMEM;
	}
	return 0;
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
			plan->rx[plan->rx_count++] =
				(struct mr_rx_queue){.port = port,
						     .queue = queue,
						     .burst = mr_port(mr, port)->burst,
						     .spread = mr->lcores->workers[port].count > 0};
			if (plan_spread(mr, lcore, port, plan, error) != 0)
				return -ENOMEM;
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
		plan->tx[port].handover =
			ring_of(mr, &mr->lcores->handover[lcore->index][port],
				mr->lcores->handover_size, lcore->index, port, error);
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
			plan->source[plan->source_count++] =
				(struct mr_source){.ring = mr->lcores->handover[sender][port],
						   .pool = mr_port(mr, port)->pool,
						   .port = port};
		}
	return 0;
}

/* Lists the rings of spread ports that the lcore works for without polling them. */
static void plan_spread_sources(struct mr *mr, const struct mr_placement *placement,
				struct mr_lcore *lcore, struct mr_plan *plan)
{
	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++) {
		uint8_t poller = placement->rx_lcore[port][0];

		if (poller == MR_NO_LCORE || poller == lcore->index ||
		    (worker_mask(&mr->lcores->workers[port]) >> lcore->index & 1) == 0)
			continue;
		plan->spread_source[plan->spread_count++] =
			(struct mr_source){.ring = mr->lcores->spread[lcore->index][port],
					   .pool = mr_port(mr, port)->pool,
					   .port = port};
	}
}

static bool has_rx(const struct mr_plan *plan, const struct mr_rx_queue *rx)
{
	for (unsigned i = 0; i < plan->rx_count; i++)
		if (plan->rx[i].port == rx->port && plan->rx[i].queue == rx->queue)
			return true;
	return false;
}

/* Whether the lcore's packets go another way to a port that is there before and after. */
static bool path_moves(const struct mr_placement *old, const struct mr_placement *next,
		       unsigned lcore)
{
	for (unsigned port = 0; port < RTE_MAX_ETHPORTS; port++) {
		uint8_t from = old->tx_queue[lcore][port], to = next->tx_queue[lcore][port];

		if (from != UINT8_MAX && to != UINT8_MAX &&
		    (from != to || old->tx_owner[port][from] != next->tx_owner[port][to]))
			return true;
	}
	return false;
}

/* Whether a spread port has other workers than before, or one whose packets go another way. */
static bool spread_moves(const struct mr_plan *old, const struct mr_plan *next, uint16_t port,
			 const struct plans *plans, const struct mr_workers *workers)
{
	const struct mr_spread *a = &old->spread[port], *b = &next->spread[port];

	if (a->count != b->count || memcmp(a->worker, b->worker, sizeof(a->worker)) != 0)
		return true;
	for (unsigned i = 0; i < workers->count; i++)
		if ((plans->moved >> workers->lcore[i] & 1) != 0)
			return true;
	return false;
}

/* Old without the queues that stand still, and with nobody filling rings to ports that leave. */
static void plan_pause(struct mr *mr, const struct mr_lcore *lcore, const struct plans *plans,
		       struct mr_plan *pause)
{
	static const struct mr_plan nothing;
	const struct mr_plan *old = lcore->plan != NULL ? lcore->plan : &nothing;
	const struct mr_plan *next = plans->next[lcore->index];

	*pause = *old;
	pause->rx_count = 0;
	for (unsigned i = 0; i < old->rx_count; i++) {
		const struct mr_rx_queue *rx = &old->rx[i];

		if ((plans->moved >> lcore->index & 1) == 0 && has_rx(next, rx) &&
		    !spread_moves(old, next, rx->port, plans, &mr->lcores->workers[rx->port]))
			pause->rx[pause->rx_count++] = *rx;
	}
	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++)
		if (!next->tx[port].usable && old->tx[port].handover != NULL)
			pause->tx[port] = next->tx[port];
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

		if (plan_sources(mr, &plans->placement, lcore, plans->next[i], error) != 0)
			return -ENOSPC;
		plan_spread_sources(mr, &plans->placement, lcore, plans->next[i]);
		if (path_moves(&mr->lcores->placement, &plans->placement, i))
			plans->moved |= UINT64_C(1) << i;
	}
	for (unsigned i = 0; i < mr->lcores->count; i++)
		plan_pause(mr, mr->lcores->lcore[i], plans, plans->pause[i]);
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

/* In the pause: waits until all that had been received on queues that stand still is sent. Workers
 * of spread ports come first, since they hand over, too. */
static void await_sent(struct mr *mr)
{
	struct mr_lcores *lcores = mr->lcores;

	for (unsigned i = 0; i < lcores->count; i++)
		for (unsigned port = 0; port < RTE_MAX_ETHPORTS; port++)
			mr_handover_await(mr, lcores->spread[i][port]);
	mr_rcu_synchronize(mr->rcu);
	for (unsigned i = 0; i < lcores->count; i++) {
		mr_ring_await(mr, lcores->lcore[i]->inject);
		for (unsigned port = 0; port < RTE_MAX_ETHPORTS; port++)
			mr_handover_await(mr, lcores->handover[i][port]);
	}
	mr_rcu_synchronize(mr->rcu);
}

int mr_lcores_place_without(struct mr *mr, uint16_t port, struct mr_error *error)
{
	struct mr_lcores *lcores = mr->lcores;
	struct mr_placement_port ports[RTE_MAX_ETHPORTS];
	int sockets[MR_MAX_LCORES];
	struct plans plans = {0};
	unsigned count = started_ports(mr, port, ports);
	int ret;

	for (unsigned i = 0; i < lcores->count; i++)
		sockets[i] = lcores->lcore[i]->socket;
	mr_placement_compute(&plans.placement, ports, count, sockets, lcores->count);
	ret = make_plans(mr, &plans, error);
	if (ret != 0) {
		free_plans(&plans);
		return ret;
	}

	publish(mr, plans.pause);
	mr_rcu_synchronize(mr->rcu);
	await_sent(mr);
	for (unsigned i = 0; i < lcores->count; i++)
		mr_sleep_watch(lcores->lcore[i], plans.next[i]);
	publish(mr, plans.next);
	lcores->placement = plans.placement;
	for (unsigned i = 0; i < count; i++)
		lcores->feeds[ports[i].port] = ports[i].feeds;
	/* Until here an lcore may still have read the rings and queues of the pause. */
	mr_rcu_synchronize(mr->rcu);
	return 0;
}

int mr_lcores_place(struct mr *mr, struct mr_error *error)
{
	return mr_lcores_place_without(mr, MR_PORT_NONE, error);
}

void mr_lcores_follow_roles(struct mr *mr)
{
	struct mr_port *port;
	bool changed = false;

	if (mr->lcores->count == 1)
		return;
	MR_PORT_FOREACH (mr, port) {
		if (port->started && mr->lcores->placement.home[port->id] != MR_NO_LCORE)
			changed |=
				mr->lcores->feeds[port->id] != feeds_of(mr, port->id, MR_PORT_NONE);
	}
	if (changed)
		mr_lcores_place(mr, NULL);
}
