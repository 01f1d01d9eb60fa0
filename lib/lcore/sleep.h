/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_SLEEP_H
#define MR_LCORE_SLEEP_H

#include "lcore/lcore.h"
#include "lcore/sleep_fwd.h"

/*
 * What sleeping needs of the system, made and changed by the control thread. Private to this room.
 */

/* Makes it in memory of a NUMA node, mode busy. Returns NULL with errno set. */
struct mr_sleep *mr_sleep_create(int socket);
void mr_sleep_destroy(struct mr_sleep *sleep); /* nobody sleeps on it; NULL is allowed */

/* Prepares the process for threads that sleep. Returns 0, or a negative errno where the kernel
 * cannot (membarrier, Linux 4.14; epoll_pwait2, Linux 5.11). Any number of times. */
int mr_sleep_prepare(void);

/* Makes the rx interrupts of the queues of a plan that is to be published wake its lcore, in the
 * place of those of the plan before; clears plan->rx_interrupts where they cannot. To be called
 * when nobody polls the queues that moved. */
void mr_sleep_watch(struct mr_lcore *lcore, struct mr_plan *plan);

#endif
