/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start of a packet's way: the one pass over every received buffer. It touches the buffer's
 * header, which the driver has just written, and asks for the frame's first line, which the stage
 * will read. Frames that are not whole are told apart here, so that stages may rely on one segment
 * and a full Ethernet header.
 */
#include "lcore/input_fwd.h"

#include <rte_branch_prediction.h>
#include <rte_ether.h>
#include <rte_prefetch.h>

#include "lcore/output_fwd.h"
#include "packet/partial_fwd.h"

static bool is_whole(const struct rte_mbuf *packet)
{
	return packet->nb_segs == 1 && packet->data_len >= RTE_ETHER_HDR_LEN;
}

/* Drops the packets in mask and closes the gaps. */
static void remove_packets(struct mr_lcore *lcore, struct mr_vector *vector, uint64_t mask,
			   enum mr_drop_reason reason)
{
	unsigned kept = 0;

	mr_drop_mask(lcore, vector, mask, vector->packet[0]->port, reason);
	for (unsigned i = 0; i < vector->count; i++)
		if ((mask >> i & 1) == 0)
			vector->packet[kept++] = vector->packet[i];
	vector->count = (uint16_t)kept;
}

static void remove_incomplete(struct mr_lcore *lcore, struct mr_vector *vector)
{
	uint64_t segmented = 0, runt = 0;

	for (unsigned i = 0; i < vector->count; i++)
		if (vector->packet[i]->nb_segs != 1)
			segmented |= 1ull << i;
	if (segmented != 0)
		remove_packets(lcore, vector, segmented, MR_DROP_segmented);
	for (unsigned i = 0; i < vector->count; i++)
		if (!is_whole(vector->packet[i]))
			runt |= 1ull << i;
	if (runt != 0)
		remove_packets(lcore, vector, runt, MR_DROP_runt);
}

static inline void check(struct mr_lcore *lcore, struct mr_vector *vector, struct mr_traffic *rx)
{
	unsigned count = vector->count, segments = 0;
	uint16_t port = vector->iface;
	uint64_t bytes = 0;
	int shortest = 0; /* negative when a frame is a runt: signs survive an OR */

#pragma GCC unroll 4
	for (unsigned i = 0; i < count; i++) {
		struct rte_mbuf *packet = vector->packet[i];

		rte_prefetch0(rte_pktmbuf_mtod(packet, void *));
		bytes += packet->pkt_len;
		segments |= packet->nb_segs;
		shortest |= packet->data_len - RTE_ETHER_HDR_LEN;
		packet->port = port; /* not every driver writes it */
	}
	mr_count(&rx->packets, count);
	mr_count(&rx->bytes, bytes);

	if (unlikely(segments != 1 || shortest < 0))
		remove_incomplete(lcore, vector);
}

static inline void enter_stage(struct mr_lcore *lcore, struct mr_vector *vector)
{
	const struct mr_iface *iface = mr_iface_fwd(lcore->forwarding->ifaces, vector->iface);

	if (unlikely(iface == NULL)) {
		mr_drop(lcore, vector->iface, MR_DROP_unconfigured, vector->packet, vector->count);
		return;
	}
	if (iface->partial_checksums) {
		uint64_t truncated = mr_partial_finish(vector);

		if (unlikely(truncated != 0))
			remove_packets(lcore, vector, truncated, MR_DROP_truncated);
	}
	if (unlikely(lcore->hooks != NULL) && iface->mode != MR_MODE_IO)
		lcore->hooks->input(lcore->hooks, lcore, vector, iface);
	if (likely(vector->count != 0))
		lcore->forwarding->stage[iface->mode](lcore, vector, iface);
}

void mr_input(struct mr_lcore *lcore, struct mr_vector *vector, struct mr_traffic *rx)
{
	check(lcore, vector, rx);
	enter_stage(lcore, vector);
}

void mr_input_check(struct mr_lcore *lcore, struct mr_vector *vector, struct mr_traffic *rx)
{
	check(lcore, vector, rx);
}

void mr_input_stage(struct mr_lcore *lcore, struct mr_vector *vector)
{
	enter_stage(lcore, vector);
}

void mr_unconfigured_input(struct mr_lcore *lcore, struct mr_vector *vector,
			   const struct mr_iface *iface)
{
	mr_drop(lcore, iface->port, MR_DROP_unconfigured, vector->packet, vector->count);
}

void mr_io_input(struct mr_lcore *lcore, struct mr_vector *vector, const struct mr_iface *iface)
{
	mr_output(lcore, iface->io_peer, vector->packet, vector->count);
}
