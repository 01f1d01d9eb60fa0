/* SPDX-License-Identifier: BSD-3-Clause */
#include "receive.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "headers.h"
#include "stream.h"
#include "tag.h"

#define BURST 64

static bool other_frame(struct receive *receive, struct rte_mbuf *mbuf)
{
	enum arp_result arp = arp_input(receive->station, rte_pktmbuf_mtod(mbuf, uint8_t *),
					rte_pktmbuf_data_len(mbuf));

	if (arp == ARP_NONE) {
		receive->other++;
		return false;
	}
	receive->arp++;
	return arp == ARP_REPLY && rte_ring_sp_enqueue(receive->replies, mbuf) == 0;
}

static void tagged_frame(struct receive *receive, const struct rte_mbuf *mbuf,
			 const struct tag *tag, uint64_t now)
{
	struct sequence *sequence = &receive->sequence[tag->stream & ~TAG_REVERSE];
	uint64_t before = sequence->received;

	sequence_receive(sequence, tag->sequence);
	if (sequence->received != before)
		histogram_add(&receive->latency, tag_age(tag, now));
	if (receive->tagged == 0)
		receive->first_time = now;
	receive->octets += rte_pktmbuf_pkt_len(mbuf) + STREAM_FCS;
	__atomic_store_n(&receive->last_time, now, __ATOMIC_RELAXED);
	__atomic_store_n(&receive->tagged, receive->tagged + 1, __ATOMIC_RELAXED);
}

bool receive_frame(struct receive *receive, struct rte_mbuf *mbuf, uint64_t now)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	struct frame_headers headers;
	struct tag tag;

	if (mbuf->nb_segs != 1) {
		receive->other++;
		return false;
	}
	if (headers_find(frame, rte_pktmbuf_data_len(mbuf), &headers) != 0 || headers.tag_at == 0)
		return other_frame(receive, mbuf);
	tag_read(frame + headers.tag_at, &tag);
	if (tag.mark != receive->mark) {
		receive->other++;
	} else if (!!(tag.stream & TAG_REVERSE) != receive->reverse) {
		receive->strayed++;
	} else if ((tag.stream & ~TAG_REVERSE) >= receive->streams) {
		receive->other++;
	} else if (receive->verify && !headers_checksums_ok(frame, &headers)) {
		receive->bad_checksums++;
	} else {
		tagged_frame(receive, mbuf, &tag, now);
	}
	return false;
}

void receive_poll(struct receive *receive)
{
	struct rte_mbuf *frames[BURST];
	unsigned count = rte_eth_rx_burst(receive->port, 0, frames, BURST), kept = 0;

	if (count == 0)
		return;
	uint64_t now = rte_rdtsc();
	for (unsigned i = 0; i < count; i++)
		if (!receive_frame(receive, frames[i], now))
			frames[kept++] = frames[i];
	rte_pktmbuf_free_bulk(frames, kept);
}
