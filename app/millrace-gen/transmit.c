/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that a device does not take wait and are offered again, and no others are made meanwhile:
 * a frame that is made is sent, so that sequence numbers have no holes of the generator's own. It
 * keeps the time at which it was due to go; the wait is part of its latency.
 */
#include "transmit.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>

#define REPLY_BURST 8

static void send_replies(struct transmit *transmit)
{
	struct rte_mbuf *frames[REPLY_BURST];
	unsigned count =
		rte_ring_sc_dequeue_burst(transmit->replies, (void **)frames, REPLY_BURST, NULL);

	if (count == 0)
		return;
	unsigned sent = rte_eth_tx_burst(transmit->port, 0, frames, (uint16_t)count);
	rte_pktmbuf_free_bulk(frames + sent, count - sent);
}

static void send_waiting(struct transmit *transmit)
{
	unsigned at = transmit->waiting_at;
	uint64_t tagged = 0, octets = 0;
	unsigned sent = rte_eth_tx_burst(transmit->port, 0, &transmit->waiting[at],
					 (uint16_t)(transmit->waiting_count - at));

	if (sent == 0)
		return;
	for (unsigned i = at; i < at + sent; i++) {
		tagged += transmit->about[i].tagged;
		octets += transmit->about[i].length + STREAM_FCS;
	}
	transmit->waiting_at += sent;
	transmit->waiting_since = transmit->last_time = rte_rdtsc();
	if (transmit->sent == 0)
		transmit->first_time = transmit->last_time;
	__atomic_store_n(&transmit->octets, transmit->octets + octets, __ATOMIC_RELAXED);
	__atomic_store_n(&transmit->tagged, transmit->tagged + tagged, __ATOMIC_RELAXED);
	__atomic_store_n(&transmit->sent, transmit->sent + sent, __ATOMIC_RELAXED);
}

static void make_frames(struct transmit *transmit, unsigned count, uint64_t now)
{
	if (rte_pktmbuf_alloc_bulk(transmit->pool, transmit->waiting, count) != 0)
		return; /* the device has not given back what it sent */
	for (unsigned i = 0; i < count; i++) {
		struct rte_mbuf *mbuf = transmit->waiting[i];
		uint16_t length =
			stream_write(&transmit->cursor, transmit->mark, now,
				     rte_pktmbuf_mtod(mbuf, uint8_t *), &transmit->about[i].tagged);
		mbuf->data_len = length;
		mbuf->pkt_len = length;
		transmit->about[i].length = length;
	}
	transmit->made += count;
	transmit->waiting_at = 0;
	transmit->waiting_count = count;
	transmit->waiting_since = now;
}

static void finish(struct transmit *transmit)
{
	__atomic_store_n(&transmit->done, true, __ATOMIC_RELEASE);
}

void transmit_poll(struct transmit *transmit)
{
	send_replies(transmit);
	if (!transmit->active || transmit->done)
		return;

	uint64_t now = rte_rdtsc();
	if (transmit->waiting_at < transmit->waiting_count) {
		send_waiting(transmit);
		if (now - transmit->waiting_since > transmit->patience &&
		    (int64_t)(now - transmit->waiting_since) > 0)
			finish(transmit);
		return;
	}
	uint64_t left = transmit->count - transmit->made;
	bool too_late = transmit->deadline != 0 && (int64_t)(now - transmit->deadline) >= 0;
	if (left == 0 || too_late || __atomic_load_n(&transmit->cease, __ATOMIC_RELAXED)) {
		finish(transmit);
		return;
	}
	unsigned allowed = pace_allow(&transmit->pace, now, transmit->made,
				      (unsigned)RTE_MIN(left, transmit->burst));
	if (allowed > 0) {
		make_frames(transmit, allowed, now);
		if (transmit->waiting_at < transmit->waiting_count)
			send_waiting(transmit);
	}
}

void transmit_stop(struct transmit *transmit)
{
	struct rte_mbuf *reply;

	rte_pktmbuf_free_bulk(transmit->waiting + transmit->waiting_at,
			      transmit->waiting_count - transmit->waiting_at);
	transmit->waiting_at = transmit->waiting_count = 0;
	while (rte_ring_sc_dequeue(transmit->replies, (void **)&reply) == 0)
		rte_pktmbuf_free(reply);
}
