/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control thread's hold on the forwarding lcores. What each lcore writes lives in memory of its
 * own NUMA node; what passes between threads goes through rings with one end each.
 */
#include "lcore/lcores.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "base/rcu.h"
#include "lcore/handover.h"
#include "lcore/input_fwd.h"
#include "lcore/rates.h"
#include "lcore/rings.h"
#include "lcore/sleep.h"
#include "packet/punt.h"

static void free_lcore(struct mr_lcore *lcore)
{
	rte_ring_free(lcore->punt);
	rte_ring_free(lcore->punt_error);
	rte_ring_free(lcore->inject);
	rte_ring_free(lcore->learn);
	rte_free((void *)(uintptr_t)lcore->plan);
	mr_sleep_destroy(lcore->sleep);
	rte_free(lcore);
}

static struct mr_lcore *make_lcore(struct mr *mr, unsigned id, unsigned index,
				   struct mr_error *error)
{
	int socket = (int)rte_lcore_to_socket_id(id);
	struct mr_lcore *lcore =
		rte_zmalloc_socket("mr_lcore", sizeof(*lcore), RTE_CACHE_LINE_SIZE, socket);

	if (lcore == NULL) {
		mr_fail(error, -ENOMEM, "no memory on NUMA node %d for lcore %u", socket, id);
		return NULL;
	}
	lcore->id = id;
	lcore->index = index;
	lcore->socket = socket;
	lcore->forwarding = &mr->lcores->forwarding;
	lcore->qsbr = mr->rcu->qsbr;
	lcore->punt = mr_ring_of_packets(mr, "punt", index, 0, MR_PACKET_RING_SIZE, socket);
	lcore->punt_error = mr_ring_of_packets(mr, "punt", index, 1, MR_PACKET_RING_SIZE, socket);
	lcore->inject = mr_ring_of_packets(mr, "inject", index, 0, MR_PACKET_RING_SIZE, socket);
	lcore->learn = mr_ring_of_learned(mr, index, socket);
	if (lcore->punt == NULL || lcore->punt_error == NULL || lcore->inject == NULL ||
	    lcore->learn == NULL) {
		mr_fail(error, -rte_errno, "cannot make the rings of lcore %u: %s", id,
			rte_strerror(rte_errno));
		free_lcore(lcore);
		return NULL;
	}
	lcore->sleep = mr_sleep_create(socket);
	if (lcore->sleep == NULL) {
		mr_fail(error, -errno, "cannot make what lcore %u sleeps on: %s", id,
			strerror(errno));
		free_lcore(lcore);
		return NULL;
	}
	return lcore;
}

static int check_ids(const struct mr *mr, const unsigned *ids, unsigned count,
		     struct mr_error *error)
{
	if (count == 0)
		return mr_fail(
			error, -EINVAL,
			"no lcore is left to forward: give EAL at least two, one for control "
			"(-l 0,1)");
	if (count > RTE_MIN(mr->rcu->qsbr->max_threads, (unsigned)MR_MAX_LCORES))
		return mr_fail(error, -E2BIG, "%u lcores to forward, at most %u are allowed", count,
			       RTE_MIN(mr->rcu->qsbr->max_threads, (unsigned)MR_MAX_LCORES));
	for (unsigned i = 0; i < count; i++)
		if (ids[i] >= RTE_MAX_LCORE)
			return mr_fail(error, -EINVAL, "lcore %u: EAL's ids end at %d", ids[i],
				       RTE_MAX_LCORE - 1);
	return 0;
}

int mr_lcores_create(struct mr *mr, const unsigned *ids, unsigned count, struct mr_error *error)
{
	struct mr_lcores *lcores;
	int ret = check_ids(mr, ids, count, error);

	if (ret != 0)
		return ret;
	lcores = rte_zmalloc("mr_lcores", sizeof(*lcores), RTE_CACHE_LINE_SIZE);
	if (lcores == NULL)
		return mr_fail(error, -ENOMEM, "no memory for the lcores");
	mr->lcores = lcores;
	mr_placement_compute(&lcores->placement, NULL, 0, (const int[]){SOCKET_ID_ANY}, 1);
	lcores->handover_size = MR_PACKET_RING_SIZE;
	memset(lcores->pinned, MR_NO_LCORE, sizeof(lcores->pinned));
	lcores->forwarding.ifaces = mr->ifaces;
	for (unsigned mode = 0; mode < MR_MODES; mode++)
		lcores->forwarding.stage[mode] = mr_unconfigured_input;
	lcores->forwarding.stage[MR_MODE_IO] = mr_io_input;
	lcores->control = rte_zmalloc("mr_counters", sizeof(*lcores->control), RTE_CACHE_LINE_SIZE);
	lcores->rates = mr_rates_create();
	if (lcores->control == NULL || lcores->rates == NULL) {
		ret = mr_fail(error, -ENOMEM, "no memory for the control thread's counters");
		goto fail;
	}
	for (unsigned i = 0; i < count; i++) {
		struct mr_lcore *lcore = make_lcore(mr, ids[i], i, error);

		if (lcore == NULL) {
			ret = -ENOMEM;
			goto fail;
		}
		lcores->lcore[lcores->count++] = lcore;
		rte_rcu_qsbr_thread_register(mr->rcu->qsbr, i);
	}
	return 0;
fail:
	mr_lcores_destroy(mr);
	return ret;
}

void mr_lcores_set_idle(struct mr *mr, enum mr_idle mode)
{
	int ret = mode != MR_IDLE_BUSY ? mr_sleep_prepare() : 0;

	if (ret != 0) {
		mr_log_warning("the kernel cannot let lcores sleep (%s): --idle=busy",
			       strerror(-ret));
		mode = MR_IDLE_BUSY;
	}
	for (unsigned i = 0; i < mr->lcores->count; i++)
		mr->lcores->lcore[i]->sleep->mode = mode;
}

void mr_lcores_destroy(struct mr *mr)
{
	struct mr_lcores *lcores = mr->lcores;

	if (lcores == NULL)
		return;
	if (lcores->control != NULL)
		mr_rings_discard_all(mr);
	for (unsigned i = 0; i < lcores->count; i++) {
		rte_rcu_qsbr_thread_offline(mr->rcu->qsbr, i);
		rte_rcu_qsbr_thread_unregister(mr->rcu->qsbr, i);
		for (unsigned port = 0; port < RTE_MAX_ETHPORTS; port++) {
			mr_handover_free(lcores->handover[i][port]);
			mr_handover_free(lcores->spread[i][port]);
		}
		free_lcore(lcores->lcore[i]);
	}
	mr->rcu->readers_inline = false;
	mr_rates_destroy(lcores->rates);
	for (unsigned port = 0; port < RTE_MAX_ETHPORTS; port++)
		free(lcores->port_baseline[port]);
	rte_free(lcores->control);
	rte_free(lcores);
	mr->lcores = NULL;
}

void mr_control_drop(struct mr *mr, uint16_t port, enum mr_drop_reason reason, struct rte_mbuf *m)
{
	mr_count(&mr->lcores->control->drop[port < RTE_MAX_ETHPORTS ? port : MR_PORT_NONE][reason],
		 1);
	rte_pktmbuf_free(m);
}

void mr_inject(struct mr *mr, uint16_t iface, struct rte_mbuf *frame)
{
	const struct mr_iface *out = mr_iface(mr, iface);
	struct mr_lcores *lcores = mr->lcores;
	uint8_t home;

	if (out == NULL) {
		mr_control_drop(mr, MR_PORT_NONE, MR_DROP_no_tx_path, frame);
		return;
	}
	if (!lcores->running) {
		mr_control_drop(mr, out->port, MR_DROP_stopped, frame);
		return;
	}
	home = lcores->placement.home[out->port];
	if (home == MR_NO_LCORE) {
		mr_control_drop(mr, out->port, MR_DROP_no_tx_path, frame);
		return;
	}
	*mr_punt_of(frame) = (struct mr_punt){.iface = iface};
	if (rte_ring_sp_enqueue(lcores->lcore[home]->inject, frame) != 0)
		mr_control_drop(mr, out->port, MR_DROP_inject_full, frame);
	mr_wake(lcores->lcore[home]->sleep);
}

static unsigned drain_ring(struct mr *mr, struct rte_ring *ring, unsigned budget,
			   void (*input)(struct mr *, struct rte_mbuf *))
{
	struct rte_mbuf *packets[32];
	unsigned given = 0;

	while (given < budget) {
		unsigned n = rte_ring_sc_dequeue_burst(
			ring, (void **)packets, RTE_MIN(budget - given, RTE_DIM(packets)), NULL);

		if (n == 0)
			break;
		for (unsigned i = 0; i < n; i++)
			input(mr, packets[i]);
		given += n;
	}
	return given;
}

unsigned mr_lcores_drain(struct mr *mr, unsigned budget,
			 void (*input)(struct mr *mr, struct rte_mbuf *packet))
{
	struct mr_lcores *lcores = mr->lcores;
	unsigned given = 0, errors = 0;

	/* A ring's size bounds "all": a sender faster than input must not keep us here. */
	for (unsigned i = 0; i < lcores->count; i++)
		given += drain_ring(mr, lcores->lcore[i]->punt, MR_PACKET_RING_SIZE, input);

	for (unsigned i = 0; i < lcores->count; i++) {
		/* Equal shares of what is left, so that no lcore's flood takes it all. */
		unsigned share = (budget - errors) / (lcores->count - i);

		errors += drain_ring(mr, lcores->lcore[i]->punt_error, share, input);
	}
	return given + errors;
}

unsigned mr_lcores_drain_learned(struct mr *mr,
				 void (*learn)(struct mr *mr, const struct mr_learned *learned,
					       unsigned count))
{
	struct mr_learned learned[64];
	unsigned total = 0;

	for (unsigned i = 0; i < mr->lcores->count; i++) {
		struct rte_ring *ring = mr->lcores->lcore[i]->learn;

		for (unsigned given = 0; given < MR_LEARN_RING_SIZE;) {
			unsigned n = rte_ring_sc_dequeue_burst_elem(
				ring, learned, sizeof(learned[0]), RTE_DIM(learned), NULL);

			if (n == 0)
				break;
			learn(mr, learned, n);
			given += n;
			total += n;
		}
	}
	return total;
}

void mr_lcores_poll(struct mr *mr, uint64_t now_ms)
{
	uint32_t *seconds = &mr->lcores->forwarding.seconds;
	uint32_t now = (uint32_t)(now_ms / 1000);

	if (*seconds != now) {
		__atomic_store_n(seconds, now, __ATOMIC_RELAXED);
		mr_lcores_follow_roles(mr);
	}
	mr_rates_poll(mr, now_ms);
}

void mr_lcores_add_held(struct mr *mr, uint64_t (*held)(struct mr *mr))
{
	RTE_VERIFY(mr->lcores->held_terms < MR_MAX_HELD_TERMS);
	mr->lcores->held_term[mr->lcores->held_terms++] = held;
}

static void add_counters(struct mr_balance *balance, const struct mr_counters *counters)
{
	for (unsigned port = 0; port < RTE_MAX_ETHPORTS; port++)
		for (unsigned queue = 0; queue < MR_MAX_QUEUES; queue++) {
			balance->received += mr_counter_read(&counters->rx[port][queue].packets);
			balance->transmitted += mr_counter_read(&counters->tx[port][queue].packets);
		}
	for (unsigned port = 0; port <= MR_PORT_NONE; port++)
		for (unsigned reason = 0; reason < MR_DROP_COUNT; reason++)
			balance->dropped += mr_counter_read(&counters->drop[port][reason]);
	balance->originated += mr_counter_read(&counters->originated);
	balance->copied += mr_counter_read(&counters->copied);
	balance->consumed += mr_counter_read(&counters->consumed);
}

static uint64_t held_by_lcore(const struct mr_lcores *lcores, const struct mr_lcore *lcore)
{
	uint64_t held = rte_ring_count(lcore->punt) + rte_ring_count(lcore->punt_error) +
			rte_ring_count(lcore->inject);

	for (unsigned port = 0; port < RTE_MAX_ETHPORTS; port++) {
		held += mr_handover_count(lcores->handover[lcore->index][port]);
		held += mr_handover_count(lcores->spread[lcore->index][port]);
		held += __atomic_load_n(&lcore->tx[port].count, __ATOMIC_RELAXED);
	}
	return held;
}

struct mr_balance mr_lcores_balance(struct mr *mr)
{
	const struct mr_lcores *lcores = mr->lcores;
	struct mr_balance balance = {0};

	add_counters(&balance, lcores->control);
	for (unsigned i = 0; i < lcores->count; i++) {
		add_counters(&balance, &lcores->lcore[i]->counters);
		balance.held += held_by_lcore(lcores, lcores->lcore[i]);
	}
	for (unsigned i = 0; i < lcores->held_terms; i++)
		balance.held += lcores->held_term[i](mr);
	return balance;
}
