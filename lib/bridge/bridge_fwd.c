/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a vector through a bridge: look all sources up and learn, look all destinations up,
 * then part the vector into what one station gets, what is flooded and what ends here. Frames to
 * one address take one of these ways all together, so they stay in their order (802.1Q 6.5.3).
 *
 * A known station is refreshed in place, and a move is followed by the very frame that shows it; an
 * unknown one is told to the control thread, the table's only writer. A flooded frame is shared,
 * not copied: the lcore is its sole owner until it is handed out, so its reference count is a plain
 * store, and nobody writes to a bridged frame.
 */
#include "bridge/bridge_fwd.h"

#include <rte_branch_prediction.h>
#include <rte_ether.h>
#include <rte_ring_elem.h>

#include "bridge/mac_table_fwd.h"
#include "lcore/output_fwd.h"
#include "packet/mask_fwd.h"

/* 802.1Q Table 8-1: 01:80:c2:00:00:00 to 0f, in the place that a key has for the address. */
#define RESERVED_MASK (UINT64_C(0xf0ffffffffff) << 16)
#define RESERVED (UINT64_C(0x000000c28001) << 16)

static void learn(struct mr_lcore *lcore, const struct mr_vector *vector, uint64_t bad,
		  const uint64_t *sources)
{
	const struct mr_bridge_fwd *bridges = lcore->forwarding->bridge;
	uint32_t now = __atomic_load_n(&lcore->forwarding->seconds, __ATOMIC_RELAXED);
	struct station *stations[MR_VECTOR_SIZE];
	uint64_t told = 0; /* the last one: a burst of one new station tells it once */

	mac_table_lookup_bulk(bridges->stations, sources, vector->count, stations);
	for (unsigned i = 0; i < vector->count; i++) {
		if (likely(stations[i] != NULL)) {
			if (unlikely(station_refresh(stations[i], vector->iface, now)))
				mr_count(&lcore->counters.stations_moved, 1);
		} else if (sources[i] != told && (bad >> i & 1) == 0) {
			struct mr_learned learned = {.key = sources[i], .iface = vector->iface};

			told = sources[i];
			if (rte_ring_sp_enqueue_elem(lcore->learn, &learned, sizeof(learned)) != 0)
				mr_count(&lcore->counters.learn_full, 1);
		}
	}
}

static void flood(struct mr_lcore *lcore, struct rte_mbuf *m, const struct mr_iface *iface,
		  const struct mr_bridge_members *members)
{
	uint16_t out[RTE_MAX_ETHPORTS];
	uint16_t count = 0;

	for (unsigned i = 0; members != NULL && i < members->count; i++) {
		const struct mr_iface *member =
			mr_iface_fwd(lcore->forwarding->ifaces, members->iface[i]);

		if (member != NULL && member != iface && member->link_up)
			out[count++] = member->index;
	}
	if (count == 0) {
		mr_drop(lcore, iface->port, MR_DROP_bridge_no_member, &m, 1);
		return;
	}
	mr_count(&lcore->counters.flooded[iface->port], 1);
	if (count > 1) {
		rte_mbuf_refcnt_set(m, count);
		mr_count(&lcore->counters.copied, count - 1u);
	}
	for (unsigned i = 0; i < count; i++)
		mr_output(lcore, out[i], &m, 1);
}

void mr_bridge_input(struct mr_lcore *lcore, struct mr_vector *vector, const struct mr_iface *iface)
{
	const struct mr_bridge_fwd *bridges = lcore->forwarding->bridge;
	const struct mr_bridge_members *members =
		__atomic_load_n(&bridges->members[iface->bridge], __ATOMIC_ACQUIRE);
	uint64_t sources[MR_VECTOR_SIZE], destinations[MR_VECTOR_SIZE];
	struct station *stations[MR_VECTOR_SIZE];
	uint16_t out[MR_VECTOR_SIZE];
	uint64_t bad = 0, reserved = 0, unknown = 0;
	unsigned count = vector->count;

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(vector->packet[i], const uint8_t *);

		destinations[i] = mac_key(iface->bridge, frame);
		sources[i] = mac_key(iface->bridge, frame + RTE_ETHER_ADDR_LEN);
		if (unlikely(mac_key_is_group(sources[i]) || sources[i] >> 16 == 0))
			bad |= 1ull << i;
		else if (unlikely((destinations[i] & RESERVED_MASK) == RESERVED))
			reserved |= 1ull << i;
	}
	learn(lcore, vector, bad, sources);

	mac_table_lookup_bulk(bridges->stations, destinations, count, stations);
	for (unsigned i = 0; i < count; i++) {
		if (likely(stations[i] != NULL)) {
			out[i] = station_port(station_load(stations[i]));
		} else {
			out[i] = MR_IFACE_NONE;
			unknown |= 1ull << i;
		}
	}

	uint64_t same = mr_mask_equal(out, iface->index, count);
	uint64_t left = mr_vector_all(vector) & ~(bad | reserved);
	same &= left;
	unknown &= left;
	mr_output_scatter(lcore, vector, left & ~(same | unknown), out);
	for (; unlikely(unknown != 0); unknown &= unknown - 1)
		flood(lcore, vector->packet[__builtin_ctzll(unknown)], iface, members);
	if (unlikely(bad != 0))
		mr_drop_mask(lcore, vector, bad, iface->port, MR_DROP_bridge_bad_source);
	if (unlikely(reserved != 0))
		mr_drop_mask(lcore, vector, reserved, iface->port, MR_DROP_bridge_reserved);
	if (unlikely(same != 0))
		mr_drop_mask(lcore, vector, same, iface->port, MR_DROP_bridge_same_port);
}
