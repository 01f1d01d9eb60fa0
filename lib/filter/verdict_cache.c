/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/classifier.h"

#include <rte_common.h>
#include <rte_malloc.h>

struct mr_verdict_cache *mr_verdict_cache_create(uint32_t entries, int socket)
{
	uint32_t size = rte_align32pow2(RTE_MAX(entries, (uint32_t)MR_VERDICT_CACHE_MIN));

	return rte_zmalloc_socket("verdict_cache", size, RTE_CACHE_LINE_SIZE, socket);
}

void mr_verdict_cache_free(struct mr_verdict_cache *cache)
{
	rte_free(cache);
}
