/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/classifier.h"

#include <rte_common.h>
#include <rte_malloc.h>

#include "filter/verdict_cache_fwd.h"

struct mr_verdict_cache *mr_verdict_cache_create(uint32_t entries, int socket)
{
	uint32_t size = rte_align32pow2(RTE_MAX(entries, (uint32_t)MR_VERDICT_CACHE_MIN));
	struct mr_verdict_cache *cache =
		rte_zmalloc_socket("verdict_cache", sizeof(*cache), RTE_CACHE_LINE_SIZE, socket);

	if (cache == NULL)
		return NULL;
	cache->mask = size - 1;
	cache->verdict = rte_zmalloc_socket("verdict_cache", size * sizeof(struct verdict),
					    2 * RTE_CACHE_LINE_SIZE, socket);
	cache->rest = rte_zmalloc_socket("verdict_cache", size * sizeof(struct verdict_rest),
					 RTE_CACHE_LINE_SIZE, socket);
	if (cache->verdict == NULL || cache->rest == NULL) {
		mr_verdict_cache_free(cache);
		return NULL;
	}
	return cache;
}

void mr_verdict_cache_free(struct mr_verdict_cache *cache)
{
	if (cache == NULL)
		return;
	rte_free(cache->verdict);
	rte_free(cache->rest);
	rte_free(cache);
}
