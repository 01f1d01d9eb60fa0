/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_BUFFER_FWD_H
#define MR_FILTER_BUFFER_FWD_H

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "lcore/lcore.h"

/* A fresh buffer out of the lcore's cache of a pool, NULL without one. rte_pktmbuf_alloc would ask
 * thread-local storage which lcore this is. */
static inline struct rte_mbuf *mr_filter_buffer(const struct mr_lcore *lcore,
						struct rte_mempool *pool)
{
	struct rte_mempool_cache *cache = rte_mempool_default_cache(pool, lcore->id);
	void *buffer;

	if (rte_mempool_generic_get(pool, &buffer, 1, cache) != 0)
		return NULL;
	rte_pktmbuf_reset(buffer);
	return buffer;
}

#endif
