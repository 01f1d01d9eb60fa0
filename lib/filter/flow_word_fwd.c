/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/flow_word_fwd.h"

static inline uint64_t recall(struct walk *walk, uint64_t mask, uint32_t bits, bool bridged)
{
	const uint32_t rule_bits = (uint32_t)FLOW_WORD_RULE_MASK << FLOW_WORD_RULE_SHIFT;
	const uint32_t compared = ~rule_bits & (bits | ~(uint32_t)FLOW_WORD_FIRST);
	struct filter_run run = {0};
	uint64_t passed = 0;

	for (; mask != 0; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctzll(mask);
		struct rte_mbuf *m = walk->packet[i];
		uint32_t word = *mr_hook_word(m);

		if (unlikely((word & compared) != (flow_word_of(bridged, m) | bits)))
			continue;
		passed |= UINT64_C(1) << i;
		filter_run_add(walk, &run, i, (word & rule_bits) >> FLOW_WORD_RULE_SHIFT);
	}
	filter_run_end(walk, &run);
	walk->kept |= passed;
	return passed;
}

uint64_t flow_word_recall(struct walk *walk, uint64_t mask, uint32_t bits)
{
	/* One loop for each, without the other's questions. */
	return walk->iface->mode == MR_MODE_BRIDGE ? recall(walk, mask, bits, true)
						   : recall(walk, mask, bits, false);
}
