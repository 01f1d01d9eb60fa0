/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a packet's way. Packets wait in one buffer a port until the iteration ends, so that
 * what several rx queues send to one port leaves in one call; a group that is large already skips
 * the buffer. A vector whose ways part is sent group by group, so that what is decided by interface
 * is decided once a group. A tx queue is written by the lcore that owns it only; for other queues
 * the packets go to their owner through a ring.
 *
 * The MTU is checked here, in software, so that every device and every way to a port obeys it.
 * Nothing is retried: a full queue or ring drops at once and costs only its own packets.
 */
#include "lcore/output_fwd.h"

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#include "lcore/handover_fwd.h"
#include "lcore/sleep_fwd.h"
#include "packet/mask_fwd.h"
#include "packet/punt.h"

/* From this many packets on, copying them to the buffer costs more than a call of their own. */
#define DIRECT_MIN 16

/* Packets from one sender in one iteration. */
#define HANDED_OVER_MAX 1024

void mr_drop(struct mr_lcore *lcore, uint16_t port, enum mr_drop_reason reason,
	     struct rte_mbuf **packets, unsigned count)
{
	mr_count(&lcore->counters.drop[port][reason], count);
	rte_pktmbuf_free_bulk(packets, count);
}

void mr_drop_mask(struct mr_lcore *lcore, const struct mr_vector *vector, uint64_t mask,
		  uint16_t port, enum mr_drop_reason reason)
{
	struct rte_mbuf *packets[MR_VECTOR_SIZE];
	unsigned count = 0;

	for (; mask != 0; mask &= mask - 1)
		packets[count++] = vector->packet[__builtin_ctzll(mask)];
	mr_drop(lcore, port, reason, packets, count);
}

void mr_punt(struct mr_lcore *lcore, struct rte_mbuf *packet, uint16_t iface, uint16_t kind,
	     uint32_t next_hop, enum mr_drop_reason reason)
{
	bool wanted = kind == MR_PUNT_ARP || kind == MR_PUNT_LOCAL;
	struct rte_ring *ring = wanted ? lcore->punt : lcore->punt_error;

	*mr_punt_of(packet) = (struct mr_punt){.iface = iface, .kind = kind, .next_hop = next_hop};
	if (likely(rte_ring_sp_enqueue(ring, packet) == 0))
		mr_count(&lcore->counters.punted, 1);
	else
		mr_drop(lcore, packet->port, reason, &packet, 1);
}

/* Sends packets of together `bytes` bytes on a port; MTU and link are checked already. */
static void send_burst(struct mr_lcore *lcore, uint16_t port, struct rte_mbuf **packets,
		       unsigned count, uint64_t bytes)
{
	const struct mr_tx_path *path = &lcore->current_plan->tx[port];
	enum mr_drop_reason reason = MR_DROP_no_tx_path;
	unsigned sent = 0;

	if (likely(path->handover == NULL && path->usable)) {
		struct mr_traffic *tx = &lcore->counters.tx[port][path->queue];

		sent = rte_eth_tx_burst(port, path->queue, packets, (uint16_t)count);
		for (unsigned i = sent; i < count; i++)
			bytes -= packets[i]->pkt_len;
		mr_count(&tx->packets, sent);
		mr_count(&tx->bytes, bytes);
		reason = MR_DROP_tx_full;
	} else if (path->usable) {
		sent = mr_handover_put(path->handover, lcore->id, packets, count);
		mr_count(&lcore->counters.handed_over, sent);
		mr_wake(path->owner);
		reason = MR_DROP_tx_handover_full;
	}
	if (unlikely(sent < count))
		mr_drop(lcore, port, reason, packets + sent, count - sent);
}

static void flush_port(struct mr_lcore *lcore, uint16_t port)
{
	struct mr_tx_buffer *buffer = &lcore->tx[port];

	send_burst(lcore, port, buffer->packet, buffer->count, buffer->bytes);
	buffer->count = 0;
	buffer->bytes = 0;
}

void mr_output_flush(struct mr_lcore *lcore)
{
	for (uint32_t mask = lcore->tx_pending; mask != 0; mask &= mask - 1)
		flush_port(lcore, (uint16_t)__builtin_ctz(mask));
	lcore->tx_pending = 0;
}

/* Packets of together `bytes` bytes join those that wait for a port. */
static inline void append(struct mr_lcore *lcore, uint16_t port, struct rte_mbuf **packets,
			  unsigned count, uint64_t bytes)
{
	struct mr_tx_buffer *buffer = &lcore->tx[port];

	if (unlikely(buffer->count + count > MR_VECTOR_SIZE))
		flush_port(lcore, port);
	for (unsigned i = 0; i < count; i++)
		buffer->packet[buffer->count + i] = packets[i];
	buffer->count = (uint16_t)(buffer->count + count);
	buffer->bytes += bytes;
	lcore->tx_pending |= 1u << port;
}

static inline void send_or_wait(struct mr_lcore *lcore, uint16_t port, struct rte_mbuf **packets,
				unsigned count, uint64_t bytes)
{
	if (count >= DIRECT_MIN && lcore->tx[port].count == 0)
		send_burst(lcore, port, packets, count, bytes);
	else
		append(lcore, port, packets, count, bytes);
}

/* A tag adds 4 bytes to what an Ethernet frame may measure (802.3 clause 3.2.7; up to two tags). */
static bool too_long(const struct rte_mbuf *packet, unsigned max_frame)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	unsigned length = packet->pkt_len;

	for (unsigned tags = 0; tags < 2 && length > max_frame; tags++) {
		uint16_t type = (uint16_t)(frame[12 + 4 * tags] << 8 | frame[13 + 4 * tags]);

		if (type != RTE_ETHER_TYPE_VLAN && type != RTE_ETHER_TYPE_QINQ)
			break;
		length -= RTE_VLAN_HLEN;
	}
	return length > max_frame;
}

/* Drops those that are too long; returns how many stay, at the front, and their bytes. */
static unsigned drop_long(struct mr_lcore *lcore, const struct mr_iface *iface,
			  struct rte_mbuf **packets, unsigned count, uint64_t *bytes)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++) {
		struct rte_mbuf *packet = packets[i];

		if (packet->pkt_len > iface->max_frame && too_long(packet, iface->max_frame)) {
			*bytes -= packet->pkt_len;
			mr_drop(lcore, iface->port, MR_DROP_mtu_exceeded, &packet, 1);
		} else {
			packets[kept++] = packet;
		}
	}
	return kept;
}

void mr_output(struct mr_lcore *lcore, uint16_t index, struct rte_mbuf **packets, unsigned count)
{
	const struct mr_iface *iface = mr_iface_fwd(lcore->forwarding->ifaces, index);
	uint64_t bytes = 0;
	uint32_t longest = 0;

	if (unlikely(iface == NULL || !iface->link_up)) {
		mr_drop(lcore, iface ? iface->port : MR_PORT_NONE,
			iface ? MR_DROP_link_down : MR_DROP_no_tx_path, packets, count);
		return;
	}
#pragma GCC unroll 4
	for (unsigned i = 0; i < count; i++) {
		uint32_t length = packets[i]->pkt_len;

		bytes += length;
		longest = RTE_MAX(longest, length);
	}
	if (unlikely(longest > iface->max_frame))
		count = drop_long(lcore, iface, packets, count, &bytes);
	if (unlikely(lcore->hooks != NULL) && iface->mode != MR_MODE_IO) {
		count = lcore->hooks->output(lcore->hooks, lcore, iface, packets, count, &bytes);
		if (count == 0)
			return;
	}
	send_or_wait(lcore, iface->port, packets, count, bytes);
}

void mr_output_scatter(struct mr_lcore *lcore, struct mr_vector *vector, uint64_t mask,
		       const uint16_t *ifaces)
{
	struct rte_mbuf *packets[MR_VECTOR_SIZE];

	while (mask != 0) {
		uint16_t iface = ifaces[__builtin_ctzll(mask)];
		uint64_t group = mr_mask_equal(ifaces, iface, vector->count) & mask;
		unsigned count = 0;

		if (group == mr_vector_all(vector)) {
			mr_output(lcore, iface, vector->packet, vector->count);
			return;
		}
		for (uint64_t left = group; left != 0; left &= left - 1)
			packets[count++] = vector->packet[__builtin_ctzll(left)];
		mr_output(lcore, iface, packets, count);
		mask &= ~group;
	}
}

static unsigned take_handed_over(struct mr_lcore *lcore, const struct mr_source *source)
{
	struct rte_mbuf *packets[MR_VECTOR_SIZE];
	unsigned lost;
	unsigned count = mr_handover_take(source->ring, lcore->id, source->pool, packets, &lost);
	uint64_t bytes = 0;

	for (unsigned i = 0; i < count; i++)
		bytes += packets[i]->pkt_len;
	if (unlikely(lost != 0))
		mr_count(&lcore->counters.drop[source->port][MR_DROP_no_mbuf], lost);
	if (count != 0)
		send_or_wait(lcore, source->port, packets, count, bytes);
	return count + lost;
}

/* All that waits, up to HANDED_OVER_MAX: an owner that fell behind catches up before it receives
 * more, rather than have what others worked on dropped. */
unsigned mr_output_handed_over(struct mr_lcore *lcore, const struct mr_source *source)
{
	unsigned count, sum = 0;

	do {
		count = take_handed_over(lcore, source);
		sum += count;
	} while (count == MR_VECTOR_SIZE && sum < HANDED_OVER_MAX);
	return sum;
}
