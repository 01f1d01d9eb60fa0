/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a vector through a bridge: read all addresses and ask for the lines of the table that
 * hold them, then look them up, learn, and part the vector into what one station gets, what is
 * flooded and what ends here. Frames to one address take one of these ways all together, so they
 * stay in their order (802.1Q 6.5.3).
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

/* What the first loop reads of each frame, and where the table would hold it. */
struct addresses {
	uint64_t source[MR_VECTOR_SIZE], destination[MR_VECTOR_SIZE]; /* keys */
	struct mac_bucket *source_bucket[MR_VECTOR_SIZE], *destination_bucket[MR_VECTOR_SIZE];
	uint64_t bad, reserved; /* masks */
};

static void read_addresses(const struct mac_table *table, const struct mr_vector *vector,
			   uint16_t bridge, struct addresses *addresses)
{
	const uint64_t zero = mac_key_of_zero(bridge);
	unsigned count = vector->count;

	addresses->bad = addresses->reserved = 0;
	for (unsigned i = 0; i < count; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(vector->packet[i], const uint8_t *);
		uint64_t destination = mac_key(bridge, frame);
		uint64_t source = mac_key(bridge, frame + RTE_ETHER_ADDR_LEN);

		addresses->destination[i] = destination;
		addresses->source[i] = source;
		addresses->destination_bucket[i] = mac_table_bucket(table, destination);
		addresses->source_bucket[i] = mac_table_bucket(table, source);
		rte_prefetch0(addresses->destination_bucket[i]);
		rte_prefetch0(addresses->source_bucket[i]);
		if (unlikely(mac_key_is_group(source) || source == zero))
			addresses->bad |= 1ull << i;
		else if (unlikely((destination & RESERVED_MASK) == RESERVED))
			addresses->reserved |= 1ull << i;
	}
}

/* Refreshes the stations that sent the vector, and fills out with where its frames go
 * (MR_IFACE_NONE: to no station). Returns the mask of frames whose sender is not known. */
static uint64_t find_stations(struct mr_lcore *lcore, const struct mac_table *table,
			      const struct mr_vector *vector, const struct addresses *addresses,
			      uint16_t *out)
{
	uint32_t now = __atomic_load_n(&lcore->forwarding->seconds, __ATOMIC_RELAXED);
	uint16_t arrival = vector->iface;
	unsigned count = vector->count;
	uint64_t strangers = 0;

	rte_compiler_barrier(); /* buckets are read anew for each vector */
	for (unsigned i = 0; i < count; i++) {
		struct station *sender = mac_table_lookup_in(table, addresses->source_bucket[i],
							     &addresses->source[i]);
		struct station *target = mac_table_lookup_in(
			table, addresses->destination_bucket[i], &addresses->destination[i]);

		rte_smp_rmb(); /* keys before words; no instruction on x86 */
		out[i] =
			likely(target != NULL) ? station_port(station_load(target)) : MR_IFACE_NONE;
		if (unlikely(sender == NULL))
			strangers |= 1ull << i;
		else if (unlikely(station_refresh(sender, arrival, now)))
			mr_count(&lcore->counters.stations_moved, 1);
	}
	return strangers;
}

/* Tells the control thread of senders that are not in the table. */
static void tell(struct mr_lcore *lcore, const struct mr_vector *vector, uint64_t strangers,
		 const uint64_t *sources)
{
	uint64_t told = 0; /* the last one: a burst of one new station tells it once */

	for (; strangers != 0; strangers &= strangers - 1) {
		uint64_t source = sources[__builtin_ctzll(strangers)];
		struct mr_learned learned = {.key = source, .iface = vector->iface};

		if (source == told)
			continue;
		told = source;
		if (rte_ring_sp_enqueue_elem(lcore->learn, &learned, sizeof(learned)) != 0)
			mr_count(&lcore->counters.learn_full, 1);
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
	struct addresses addresses;
	uint16_t out[MR_VECTOR_SIZE];

	read_addresses(bridges->stations, vector, iface->bridge, &addresses);
	uint64_t strangers = find_stations(lcore, bridges->stations, vector, &addresses, out);
	if (unlikely(strangers != 0))
		tell(lcore, vector, strangers & ~addresses.bad, addresses.source);

	uint64_t left = mr_vector_all(vector) & ~(addresses.bad | addresses.reserved);
	uint64_t same = mr_mask_equal(out, iface->index, vector->count) & left;
	uint64_t unknown = mr_mask_equal(out, MR_IFACE_NONE, vector->count) & left;

	mr_output_scatter(lcore, vector, left & ~(same | unknown), out);
	for (; unlikely(unknown != 0); unknown &= unknown - 1)
		flood(lcore, vector->packet[__builtin_ctzll(unknown)], iface, members);
	if (unlikely(addresses.bad != 0))
		mr_drop_mask(lcore, vector, addresses.bad, iface->port, MR_DROP_bridge_bad_source);
	if (unlikely(addresses.reserved != 0))
		mr_drop_mask(lcore, vector, addresses.reserved, iface->port,
			     MR_DROP_bridge_reserved);
	if (unlikely(same != 0))
		mr_drop_mask(lcore, vector, same, iface->port, MR_DROP_bridge_same_port);
}
