/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One queue, several lcores. The lcore that polls a port with a single queue does no more than look
 * at each frame's flow and hand it to the lcore that the flow belongs to; it may be one of them.
 * All packets of a flow take the same ring, so their order stays.
 *
 * A hash becomes one of n workers by a multiplication: the upper half of hash * n.
 */
#include "lcore/spread_fwd.h"

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "lcore/handover_fwd.h"
#include "lcore/input_fwd.h"
#include "lcore/output_fwd.h"
#include "lcore/sleep_fwd.h"
#include "packet/flow_hash_fwd.h"
#include "packet/mask_fwd.h"

static void collect(const struct mr_vector *vector, uint64_t mask, struct mr_vector *part)
{
	part->iface = vector->iface;
	part->count = 0;
	for (; mask != 0; mask &= mask - 1)
		part->packet[part->count++] = vector->packet[__builtin_ctzll(mask)];
}

static void give(struct mr_lcore *lcore, const struct mr_spread *spread, unsigned to,
		 struct mr_vector *part)
{
	unsigned given = mr_handover_put(spread->worker[to], lcore->id, part->packet, part->count);

	mr_wake(spread->sleep[to]);
	mr_count(&lcore->counters.spread_given, given);
	if (unlikely(given < part->count))
		mr_drop(lcore, part->iface, MR_DROP_spread_full, part->packet + given,
			part->count - given);
}

void mr_spread(struct mr_lcore *lcore, struct mr_vector *vector, struct mr_traffic *rx)
{
	const struct mr_spread *spread = &lcore->current_plan->spread[vector->iface];
	uint16_t worker[MR_VECTOR_SIZE];
	struct mr_vector part;
	uint64_t own = 0;

	mr_input_check(lcore, vector, rx);
	if (unlikely(vector->count == 0))
		return;
	for (unsigned i = 0; i < vector->count; i++) {
		const struct rte_mbuf *packet = vector->packet[i];
		uint64_t hash =
			mr_flow_hash(rte_pktmbuf_mtod(packet, const uint8_t *), packet->data_len);

		worker[i] = (uint16_t)(hash * spread->count >> 32);
	}
	/* The others first, so that they work while this lcore does. */
	for (uint64_t left = mr_vector_all(vector); left != 0;) {
		uint16_t to = worker[__builtin_ctzll(left)];
		uint64_t group = mr_mask_equal(worker, to, vector->count) & left;

		left &= ~group;
		if (spread->worker[to] == NULL) {
			own = group;
			continue;
		}
		collect(vector, group, &part);
		give(lcore, spread, to, &part);
	}
	if (own != 0) {
		collect(vector, own, &part);
		mr_input_stage(lcore, &part);
	}
}

unsigned mr_spread_take(struct mr_lcore *lcore, const struct mr_source *source)
{
	struct mr_vector *vector = &lcore->vector;
	unsigned lost;
	unsigned count =
		mr_handover_take(source->ring, lcore->id, source->pool, vector->packet, &lost);

	if (unlikely(lost != 0))
		mr_count(&lcore->counters.drop[source->port][MR_DROP_no_mbuf], lost);
	if (count == 0)
		return lost;
	vector->iface = source->port;
	vector->count = (uint16_t)count;
	for (unsigned i = 0; i < count; i++) {
		vector->packet[i]->port = source->port;
		rte_prefetch0(rte_pktmbuf_mtod(vector->packet[i], void *));
	}
	mr_count(&lcore->counters.spread_taken, count + lost);
	mr_input_stage(lcore, vector);
	return count;
}
