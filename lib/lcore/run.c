/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads around the packet path's one iteration. An lcore is a reader of published state only
 * between online and offline, so a stopped one holds up no grace period.
 */
#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_launch.h>

#include "base/rcu.h"
#include "lcore/lcores.h"
#include "lcore/rings.h"
#include "lcore/sleep_fwd.h"

static int forward_until_stopped(void *arg)
{
	struct mr_lcore *lcore = arg;
	unsigned empty = 0; /* iterations in a row */

	rte_rcu_qsbr_thread_online(lcore->qsbr, lcore->index);
	while (!__atomic_load_n(&lcore->stop, __ATOMIC_RELAXED)) {
		if (mr_lcore_iteration(lcore, rte_rdtsc()) != 0)
			empty = 0;
		else if (++empty >= MR_IDLE_SPIN)
			empty = mr_idle(lcore, empty);
	}
	rte_rcu_qsbr_thread_offline(lcore->qsbr, lcore->index);
	return 0;
}

static void stop_threads(struct mr_lcores *lcores, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		__atomic_store_n(&lcores->lcore[i]->stop, true, __ATOMIC_RELAXED);
		mr_wake(lcores->lcore[i]->sleep);
	}
	for (unsigned i = 0; i < count; i++)
		rte_eal_wait_lcore(lcores->lcore[i]->id);
}

int mr_lcores_start(struct mr *mr, struct mr_error *error)
{
	struct mr_lcores *lcores = mr->lcores;

	if (lcores->running)
		return mr_fail(error, -EALREADY, "forwarding is running already");
	for (unsigned i = 0; i < lcores->count; i++) {
		struct mr_lcore *lcore = lcores->lcore[i];
		int ret;

		__atomic_store_n(&lcore->stop, false, __ATOMIC_RELAXED);
		ret = rte_eal_remote_launch(forward_until_stopped, lcore, lcore->id);
		if (ret != 0) {
			stop_threads(lcores, i);
			return mr_fail(error, ret, "cannot start lcore %u: %s", lcore->id,
				       strerror(-ret));
		}
	}
	lcores->running = true;
	return 0;
}

void mr_lcores_adopt(struct mr *mr)
{
	mr->rcu->readers_inline = true;
	mr->lcores->adopted = true;
	mr->lcores->running = true;
}

void mr_lcores_stop(struct mr *mr)
{
	struct mr_lcores *lcores = mr->lcores;

	if (!lcores->running)
		return;
	if (lcores->adopted)
		for (unsigned i = 0; i < lcores->count; i++)
			rte_rcu_qsbr_thread_offline(mr->rcu->qsbr, i);
	else
		stop_threads(lcores, lcores->count);
	mr->rcu->readers_inline = false;
	lcores->adopted = false;
	lcores->running = false;
	mr_rings_discard_all(mr);
}
