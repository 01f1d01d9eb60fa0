/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/flow_table.h"

#include <rte_common.h>
#include <rte_malloc.h>
#include <rte_random.h>

#include "filter/flow_limit_fwd.h"
#include "lcore/placement.h"

enum { DIRECTIONS = 2, ID_BITS_OF_LCORE = 6 };

static_assert(MR_MAX_LCORES <= 1 << ID_BITS_OF_LCORE, "ids of lcores differ");
static_assert(MR_MAX_LCORES < FLOW_LCORE_MASK, "a link names any lcore");
static_assert(DIRECTIONS * FLOW_TABLE_MAX <= FLOW_SLOT_MASK + 1, "and any slot");

static void *take(uint64_t count, size_t size, int socket)
{
	return rte_zmalloc_socket("flow_table", count * size, 2 * RTE_CACHE_LINE_SIZE, socket);
}

struct flow_table *flow_table_create(uint32_t flows, unsigned owner, int socket)
{
	uint32_t size = rte_align32pow2(RTE_MAX(flows, (uint32_t)FLOW_TABLE_MIN));
	struct flow_table *table = take(1, sizeof(*table), socket);

	if (table == NULL)
		return NULL;
	table->mask = DIRECTIONS * size / FLOW_BUCKET - 1;
	table->owner = owner;
	table->salt = rte_rand();
	table->next_id = owner << (32 - ID_BITS_OF_LCORE);
	table->tags = take(table->mask + 1, sizeof(*table->tags), socket);
	table->entry = take(DIRECTIONS * size, sizeof(*table->entry), socket);
	table->limits = take(1, sizeof(*table->limits), socket);
	if (table->limits != NULL) {
		table->limits->mask = size - 1;
		table->limits->salt = rte_rand();
		table->limits->limit = take(size, sizeof(*table->limits->limit), socket);
	}
	if (table->tags == NULL || table->entry == NULL || table->limits == NULL ||
	    table->limits->limit == NULL) {
		flow_table_free(table);
		return NULL;
	}
	return table;
}

void flow_table_free(struct flow_table *table)
{
	if (table == NULL)
		return;
	if (table->limits != NULL)
		rte_free(table->limits->limit);
	rte_free(table->limits);
	rte_free(table->entry);
	rte_free(table->tags);
	rte_free(table);
}
