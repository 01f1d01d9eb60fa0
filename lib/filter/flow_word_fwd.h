/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_FLOW_WORD_FWD_H
#define FILTER_FLOW_WORD_FWD_H

/*
 * A flow that let a packet pass at input is not asked again at output, where packets that came
 * later may have changed it: the packet's word says so, and names the rule.
 *
 * That word has PLAIN_WORD_FLOW_PASSED in its lowest two bits, then whether the packet meets its
 * flow before any rule at output, too, the rule's index, and whose flow it is: the VID on a bridge,
 * else no VID. The output hook would look for the same flow if that is the same there; what arrives
 * on a bridge stays on it.
 */
#include <assert.h>

#include "filter/plain_fwd.h"
#include "filter/rule.h"
#include "filter/walk_fwd.h"
#include "packet/load_fwd.h"

enum {
	FLOW_WORD_FIRST = 1 << 2,
	FLOW_WORD_RULE_SHIFT = 3,
	FLOW_WORD_RULE_MASK = 0x1ffff,
	FLOW_WORD_VLAN_SHIFT = 20,
	FLOW_WORD_ROUTED = 0xfff, /* which is no VID */
};

static_assert(MR_FILTER_MAX_RULES <= FLOW_WORD_RULE_MASK, "a rule's index fits in its bits");

/* All of a packet's word but the rule, and FLOW_WORD_FIRST. */
static inline uint32_t flow_word_of(bool bridged, const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t vlan = 0;

	if (likely(!bridged))
		vlan = FLOW_WORD_ROUTED;
	else if (mr_link_is_tag(mr_load16(frame + 12)))
		vlan = mr_link_vid(frame);
	return PLAIN_WORD_FLOW_PASSED | vlan << FLOW_WORD_VLAN_SHIFT;
}

/* Tells that the flow of packet i let it pass, and by which rule; at output there is nobody to be
 * told. */
static inline void flow_word_tell(const struct walk *walk, unsigned i, uint32_t rule)
{
	bool bridged = walk->iface->mode == MR_MODE_BRIDGE;
	struct rte_mbuf *m = walk->packet[i];
	uint32_t first = (uint32_t)(walk->tell >> i & 1) * FLOW_WORD_FIRST;

	if (!walk->out)
		*mr_hook_word(m) = flow_word_of(bridged, m) | first | rule << FLOW_WORD_RULE_SHIFT;
}

/* At output: packets of a mask whose flow let them pass at input are kept and counted. bits: 0, or
 * FLOW_WORD_FIRST where rules might come before flows. Returns the mask of these. */
uint64_t flow_word_recall(struct walk *walk, uint64_t mask, uint32_t bits);

#endif
