/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_PLAIN_CACHE_H
#define FILTER_PLAIN_CACHE_H

#include "filter/plain_cache_fwd.h"

#define PLAIN_CACHE_MIN 16
#define PLAIN_CACHE_MAX (PLAIN_INDEX_MASK + 1)

/* A cache for one lcore, empty. flows: how many it holds, a power of two from PLAIN_CACHE_MIN to
 * PLAIN_CACHE_MAX. One that outlives a set of rules serves the next one, and finds nothing of the
 * old one. Returns NULL without memory. Any thread. */
struct plain_cache *plain_cache_create(uint32_t flows, int socket);

void plain_cache_free(struct plain_cache *cache);

#endif
