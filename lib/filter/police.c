/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes in goes to the lcores that have spent: in each round they are filled up evenly, so one
 * lcore that has all the traffic gets all of the rate. What an lcore has and does not spend stays
 * with it, at most its even part of the burst, and all parts together never exceed the burst.
 *
 * Bytes come in steps of the control thread's rounds, about 1 ms; a burst below the rate's bytes of
 * one round would not let the rate pass, so parts are at least that large.
 */
#include "filter/police.h"

#include <rte_malloc.h>

#define BITS 8
#define LARGEST_FRAME UINT64_C(1518)
#define ROUND_HZ 200 /* rounds a second that are sure to come */

static uint64_t part_of(const struct mr_filter_police *police)
{
	uint64_t part = RTE_MAX(police->burst / police->spenders, police->rate / ROUND_HZ);

	return RTE_MAX(part, LARGEST_FRAME);
}

struct mr_filter_police *mr_filter_police_create(const struct mr_filter_rule *rule, unsigned lcores,
						 uint64_t now)
{
	struct mr_filter_police *police =
		rte_zmalloc("mr_filter_police", sizeof(*police), RTE_CACHE_LINE_SIZE);

	if (police == NULL)
		return NULL;
	police->rate = rule->argument.police.rate / BITS;
	police->burst = rule->argument.police.burst;
	police->spenders = lcores;
	police->granted_at = now;
	for (unsigned i = 0; i < lcores; i++)
		police->spender[i].granted = part_of(police);
	return police;
}

void mr_filter_police_free(void *police)
{
	rte_free(police);
}

void mr_filter_police_grant(struct mr_filter_police *police, uint64_t now, uint64_t hz)
{
	/* A second at most: no more would fit, and the product stays in 64 bits. */
	uint64_t cycles = RTE_MIN(now - police->granted_at, hz);
	unsigned __int128 sum = (unsigned __int128)cycles * police->rate + police->rest;
	uint64_t bytes = (uint64_t)(sum / hz), part = part_of(police);
	bool gave = true;

	police->rest = (uint64_t)(sum % hz);
	police->granted_at = now;
	while (bytes > 0 && gave) {
		uint64_t even = bytes / police->spenders + 1;

		gave = false;
		for (unsigned i = 0; i < police->spenders && bytes > 0; i++) {
			struct mr_filter_spender *spender = &police->spender[i];
			uint64_t has = spender->granted - mr_counter_read(&spender->spent);
			uint64_t more = has < part ? part - has : 0;

			more = RTE_MIN(more, even);
			more = RTE_MIN(more, bytes);
			if (more == 0)
				continue;
			mr_count(&spender->granted, more);
			bytes -= more;
			gave = true;
		}
	}
}
