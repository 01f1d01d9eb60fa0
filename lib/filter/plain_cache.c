/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/plain_cache.h"

#include <rte_malloc.h>

struct plain_cache *plain_cache_create(uint32_t flows, int socket)
{
	struct plain_cache *cache =
		rte_zmalloc_socket("plain_cache", sizeof(*cache), RTE_CACHE_LINE_SIZE, socket);

	if (cache == NULL)
		return NULL;
	cache->mask = flows - 1;
	cache->flow = rte_zmalloc_socket("plain_cache", flows * sizeof(struct plain_flow),
					 RTE_CACHE_LINE_SIZE, socket);
	if (cache->flow == NULL) {
		plain_cache_free(cache);
		return NULL;
	}
	return cache;
}

void plain_cache_free(struct plain_cache *cache)
{
	if (cache == NULL)
		return;
	rte_free(cache->flow);
	rte_free(cache);
}
