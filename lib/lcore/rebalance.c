/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcore/rebalance.h"

/* Less than that is noise. */
#define WORTHWHILE 1.0

int mr_rebalance_step(const struct mr_queue_load *queues, unsigned queue_count, const double *busy,
		      unsigned lcore_count, unsigned *idlest)
{
	unsigned busiest = 0;
	double limit;
	int best = -1;

	*idlest = 0;
	for (unsigned i = 1; i < lcore_count; i++) {
		if (busy[i] > busy[busiest])
			busiest = i;
		if (busy[i] < busy[*idlest])
			*idlest = i;
	}
	limit = busy[busiest] - WORTHWHILE;
	for (unsigned i = 0; i < queue_count; i++) {
		double there = busy[*idlest] + queues[i].percent;
		double here = busy[busiest] - queues[i].percent;
		double highest = there > here ? there : here;

		if (queues[i].lcore != busiest || highest > limit)
			continue;
		if (best >= 0 && highest == limit)
			continue;
		limit = highest;
		best = (int)i;
	}
	return best;
}
