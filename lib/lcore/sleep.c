/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * File descriptors are edge-triggered: each interrupt and each wakeup ends one wait, and nobody has
 * to read them. An rx interrupt is in the epoll set of one lcore, the one that polls the queue; a
 * queue that leaves an lcore is switched off here, since its new lcore may never sleep.
 */
#include "lcore/sleep.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_spinlock.h>

int mr_sleep_prepare(void)
{
	const struct timespec at_once = {0};
	struct epoll_event event;

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
		return -errno;
	/* There is no such descriptor, which a kernel that has the call says. */
	if (epoll_pwait2(-1, &event, 1, &at_once, NULL) != 0 && errno == ENOSYS)
		return -ENOSYS;
	return 0;
}

static int watch(int epoll, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

struct mr_sleep *mr_sleep_create(int socket)
{
	struct mr_sleep *sleep =
		rte_zmalloc_socket("mr_sleep", sizeof(*sleep), RTE_CACHE_LINE_SIZE, socket);

	if (sleep == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	sleep->mode = MR_IDLE_BUSY;
	sleep->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	sleep->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (sleep->event < 0 || sleep->epoll < 0 || watch(sleep->epoll, sleep->event) != 0) {
		int reason = errno;

		mr_sleep_destroy(sleep);
		errno = reason;
		return NULL;
	}
	return sleep;
}

void mr_sleep_destroy(struct mr_sleep *sleep)
{
	if (sleep == NULL)
		return;
	if (sleep->epoll >= 0)
		close(sleep->epoll);
	if (sleep->event >= 0)
		close(sleep->event);
	rte_free(sleep);
}

static bool polls(const struct mr_plan *plan, const struct mr_rx_queue *rx)
{
	for (unsigned i = 0; i < plan->rx_count; i++)
		if (plan->rx[i].port == rx->port && plan->rx[i].queue == rx->queue)
			return true;
	return false;
}

static void switch_off(struct mr_lcore *lcore, const struct mr_rx_queue *rx)
{
	rte_spinlock_t *lock = &lcore->forwarding->rx_interrupt_lock[rx->port];

	rte_spinlock_lock(lock);
	rte_eth_dev_rx_intr_disable(rx->port, rx->queue);
	rte_spinlock_unlock(lock);
}

void mr_sleep_watch(struct mr_lcore *lcore, struct mr_plan *plan)
{
	struct mr_sleep *sleep = lcore->sleep;

	if (sleep->mode != MR_IDLE_INTERRUPT)
		return;
	for (unsigned i = 0; i < sleep->watched; i++) {
		const struct mr_rx_queue *rx = &sleep->watch[i].rx;

		epoll_ctl(sleep->epoll, EPOLL_CTL_DEL, sleep->watch[i].fd, NULL);
		if (!polls(plan, rx))
			switch_off(lcore, rx);
	}
	sleep->watched = 0;
	for (unsigned i = 0; plan->rx_interrupts && i < plan->rx_count; i++) {
		const struct mr_rx_queue *rx = &plan->rx[i];
		int fd = rte_eth_dev_rx_intr_ctl_q_get_fd(rx->port, rx->queue);

		sleep->watch[sleep->watched++] = (struct mr_watch){.rx = *rx, .fd = fd};
		/* Queues may share an interrupt. */
		if (watch(sleep->epoll, fd) != 0 && errno != EEXIST)
			plan->rx_interrupts = false;
	}
}
