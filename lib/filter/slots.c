/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/slots.h"

#include <errno.h>
#include <stdlib.h>

struct mr_filter_slots *mr_filter_slots_create(void)
{
	struct mr_filter_slots *slots = calloc(1, sizeof(*slots));

	if (slots != NULL)
		slots->fresh = MR_FILTER_DEFAULT_COUNTER + 1;
	return slots;
}

int mr_filter_slots_take(struct mr_filter_slots *slots, struct mr_filter_rule *rule)
{
	if (slots->unused != 0)
		rule->counter = slots->free_slot[--slots->unused];
	else if (slots->fresh < MR_FILTER_COUNTERS)
		rule->counter = slots->fresh++;
	else
		return -ENOSPC;
	rule->slots = slots;
	return 0;
}

void mr_filter_slots_give(struct mr_filter_slots *slots, uint32_t counter)
{
	slots->free_slot[slots->unused++] = counter;
}
