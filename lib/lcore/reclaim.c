/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver frees sent buffers when it needs their descriptors, so a queue on which nothing is sent
 * any more keeps as many buffers as it has descriptors. Some drivers (igb) free them on request;
 * for the others (em, virtio) pools are large enough that it does not matter.
 */
#include <rte_ethdev.h>

#include "lcore/lcore.h"

void mr_lcore_reclaim(struct mr_lcore *lcore)
{
	const struct mr_plan *plan = __atomic_load_n(&lcore->plan, __ATOMIC_ACQUIRE);

	if (plan == NULL)
		return;
	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++) {
		const struct mr_tx_path *path = &plan->tx[port];

		/* -ENOTSUP from those that cannot is no news. */
		if (path->usable && path->handover == NULL)
			rte_eth_tx_done_cleanup(port, path->queue, 0);
	}
}
