/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one file of the packet path that makes system calls and locked instructions: an lcore is here
 * only when it met no packet for a while, or meets one for an lcore that sleeps.
 *
 * Looking for work once more after the announcement is a whole iteration of the loop, so whatever
 * an iteration polls, rings and devices, can be slept on, and nothing has to be listed here. It
 * also closes the gap between arming an rx interrupt and blocking.
 *
 * The times:
 *  - An empty iteration takes 50 to 200 ns and a pause about as long, so MR_IDLE_SPIN iterations
 *    without and PAUSES with a pause are 20 to 100 us. Traffic with shorter gaps never meets a
 *    sleeping lcore.
 *  - Falling asleep and waking cost 5 to 20 us of CPU time, so a sleep below 50 us saves nothing.
 *  - 1024 descriptors hold 690 us of the shortest frames at 1 Gb/s. 400 us, with the 50 us by which
 *    the kernel delays timers, leave a third of that for a late wakeup. A longer sleep would not
 *    save much: an lcore that wakes every 400 us is awake for 2 to 5% of the time.
 *  - With rx interrupts armed nothing depends on the time. It is bounded so that an interrupt that
 *    a device loses costs a delay and not the port.
 *
 * The membarrier is for the long sleeps only. It takes up to a third of what a short one costs, and
 * it interrupts every CPU that forwards. Without it a wakeup is lost when the sender looks at the
 * flag within the nanoseconds in which its packet is still in its CPU's store buffer; that packet
 * then waits for the end of the sleep, as one that arrives on an rx queue does, or for the next
 * packet, whose sender sees the flag.
 */
#include "lcore/sleep_fwd.h"

#include <linux/membarrier.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_atomic.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_pause.h>
#include <rte_spinlock.h>

#include "lcore/lcore.h"

#define PAUSES 448
#define SHORTEST_US 50
#define LONGEST_US 400
#define INTERRUPT_US 20000

void mr_wake_asleep(struct mr_sleep *sleep)
{
	const uint64_t one = 1;

	/* Of several senders one makes the call. */
	if (__atomic_exchange_n(&sleep->asleep, false, __ATOMIC_SEQ_CST))
		(void)!write(sleep->event, &one, sizeof(one));
}

void mr_sleep_announce(struct mr_sleep *sleep, bool surely)
{
	__atomic_store_n(&sleep->asleep, true, __ATOMIC_SEQ_CST);
	rte_smp_mb();
	if (surely)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

void mr_sleep_cancel(struct mr_sleep *sleep)
{
	__atomic_store_n(&sleep->asleep, false, __ATOMIC_RELAXED);
}

bool mr_sleep_block(struct mr_sleep *sleep, uint32_t microseconds)
{
	const struct timespec timeout = {.tv_nsec = (long)microseconds * 1000};
	struct epoll_event events[16];
	int count = epoll_pwait2(sleep->epoll, events, RTE_DIM(events), &timeout, NULL);

	mr_sleep_cancel(sleep);
	return count != 0;
}

/* Of one port's queues one lcore at a time: drivers change registers that the queues share. */
static void switch_interrupts(const struct mr_lcore *lcore, bool on)
{
	const struct mr_plan *plan = __atomic_load_n(&lcore->plan, __ATOMIC_ACQUIRE);
	rte_spinlock_t *locks = lcore->forwarding->rx_interrupt_lock;

	for (unsigned i = 0; plan->rx_interrupts && i < plan->rx_count; i++) {
		const struct mr_rx_queue *rx = &plan->rx[i];

		rte_spinlock_lock(&locks[rx->port]);
		if (on)
			rte_eth_dev_rx_intr_enable(rx->port, rx->queue);
		else
			rte_eth_dev_rx_intr_disable(rx->port, rx->queue);
		rte_spinlock_unlock(&locks[rx->port]);
	}
}

static void block(struct mr_lcore *lcore, uint32_t microseconds)
{
	uint64_t start = rte_rdtsc();

	mr_lcore_reclaim(lcore);
	rte_rcu_qsbr_thread_offline(lcore->qsbr, lcore->index);
	bool woken = mr_sleep_block(lcore->sleep, microseconds);
	rte_rcu_qsbr_thread_online(lcore->qsbr, lcore->index);
	mr_count(&lcore->counters.sleeps, 1);
	mr_count(&lcore->counters.wakeups, woken);
	mr_count(&lcore->counters.sleep_cycles, rte_rdtsc() - start);
}

/* Returns false when there was something to do. */
static bool sleep_once(struct mr_lcore *lcore, uint32_t microseconds, bool interrupts)
{
	bool idle;

	if (interrupts)
		switch_interrupts(lcore, true);
	mr_sleep_announce(lcore->sleep, microseconds > LONGEST_US);
	idle = !__atomic_load_n(&lcore->stop, __ATOMIC_RELAXED) &&
	       mr_lcore_iteration(lcore, rte_rdtsc()) == 0;
	if (idle)
		block(lcore, microseconds);
	else
		mr_sleep_cancel(lcore->sleep);
	/* Of the plan that is in force by now: what left it, the control thread switches off. */
	if (interrupts)
		switch_interrupts(lcore, false);
	return idle;
}

unsigned mr_idle(struct mr_lcore *lcore, unsigned iterations)
{
	const struct mr_plan *plan = __atomic_load_n(&lcore->plan, __ATOMIC_ACQUIRE);
	enum mr_idle mode = lcore->sleep->mode;
	bool interrupts = mode == MR_IDLE_INTERRUPT && plan != NULL && plan->rx_interrupts;
	unsigned sleeps = iterations - MR_IDLE_SPIN - PAUSES;

	if (mode == MR_IDLE_BUSY)
		return 0;
	if (iterations < MR_IDLE_SPIN + PAUSES) {
		rte_pause();
		return iterations;
	}
	if (SHORTEST_US << RTE_MIN(sleeps, 16u) < LONGEST_US)
		return sleep_once(lcore, SHORTEST_US << sleeps, false) ? iterations : 0;
	/* Counting stops here. */
	return sleep_once(lcore, interrupts ? INTERRUPT_US : LONGEST_US, interrupts)
		       ? iterations - 1
		       : 0;
}
