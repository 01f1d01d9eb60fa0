/* SPDX-License-Identifier: BSD-3-Clause */
#include "search.h"

struct search_result search_run(const struct search *search)
{
	struct search_result result = {0};
	uint64_t above = search->max + 1; /* the lowest load that is known to fail, or max + 1 */
	uint64_t load = search->max;

	/* The device may well take all of it. If not, what is tried next halves what is not known.
	 */
	while (load > result.load) {
		enum search_verdict verdict = search->trial(load, search->context);

		result.trials++;
		if (verdict == SEARCH_ABORTED) {
			result.aborted = 1;
			break;
		}
		if (verdict == SEARCH_PASSED)
			result.load = load;
		else
			above = load;
		if (above - result.load <= search->resolution)
			break;
		load = result.load + (above - result.load) / 2;
	}
	return result;
}
