/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_SLEEP_FWD_H
#define MR_LCORE_SLEEP_FWD_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "lcore/lcore.h"

/*
 * Going to sleep and waking. A thread that sleeps announces it, looks once more for work, and
 * blocks; whoever gives it work calls mr_wake afterwards:
 *
 *	sleeper				sender
 *	asleep = true			put into the ring
 *	membarrier			(compiler barrier)
 *	look for work			if (asleep)
 *	block					write the eventfd
 *
 * The barrier that the sender would need between its store and its load is executed for it, by
 * the sleeper's membarrier, on every CPU that runs a thread of this process. So a sender pays one
 * load, and either it sees the flag or the sleeper sees the work. A sleep so short that work may as
 * well wait for its end goes without the membarrier.
 */
enum mr_idle {
	MR_IDLE_ADAPTIVE,  /* sleep, longer and longer, up to what an rx ring absorbs */
	MR_IDLE_BUSY,      /* never sleep */
	MR_IDLE_INTERRUPT, /* as adaptive, then block until an rx interrupt, where devices have it
			    */
};

struct mr_sleep {
	/* Set by the sleeper; cleared by it, and by the one that wakes it. Read by senders. */
	bool asleep __rte_cache_aligned;
	/* Written by the control thread before the sleeper starts. */
	enum mr_idle mode __rte_cache_aligned;
	int event; /* eventfd, edge-triggered and so never read */
	int epoll; /* of event and of the rx interrupts of the lcore's queues */
	/* The control thread's alone: the rx interrupts in epoll. */
	unsigned watched;
	struct mr_watch {
		struct mr_rx_queue rx;
		int fd;
	} watch[MR_MAX_RX_QUEUES];
};

static_assert(offsetof(struct mr_sleep, mode) == RTE_CACHE_LINE_SIZE,
	      "what senders read shares no line with anything else");

/* The slow half of mr_wake. Any thread. */
void mr_wake_asleep(struct mr_sleep *sleep);

/* To be called after work for the sleeper was published. Any thread. One load while it is awake. */
static inline void mr_wake(struct mr_sleep *sleep)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (unlikely(__atomic_load_n(&sleep->asleep, __ATOMIC_RELAXED)))
		mr_wake_asleep(sleep);
}

/* The sleeper's three steps: announce, look for work, then either cancel or block. block returns
 * true when it was woken (now and then without a reason), false after that time. Unless it is
 * announced surely, a wakeup of that very moment may be lost. */
void mr_sleep_announce(struct mr_sleep *sleep, bool surely);
void mr_sleep_cancel(struct mr_sleep *sleep);
bool mr_sleep_block(struct mr_sleep *sleep, uint32_t microseconds);

/* Empty iterations in a row before mr_idle is of use. */
#define MR_IDLE_SPIN 64

/* What an lcore does after so many empty iterations in a row, at least MR_IDLE_SPIN: it pauses or
 * sleeps. Returns the number to go on counting from. The lcore's thread, online; it is offline
 * while it sleeps. */
unsigned mr_idle(struct mr_lcore *lcore, unsigned iterations);

#endif
