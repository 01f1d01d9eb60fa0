/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A log is written by the control thread, which needs the packet's headers and no more. What it
 * would not write for being too much is not sent to it: a flood that a rule logs costs the lcore a
 * comparison a packet.
 */
#include "filter/log_fwd.h"

#include <rte_memcpy.h>

#include "filter/buffer_fwd.h"
#include "lcore/output_fwd.h"
#include "packet/punt.h"
#include "port/port.h"

#define COPIES_A_SECOND 100
#define COPIED 256 /* bytes of a frame: headers, the longest chains apart */

void mr_filter_log(struct mr_lcore *lcore, struct mr_filter_log *log, const struct rte_mbuf *packet,
		   uint16_t iface, uint32_t word)
{
	uint32_t second = __atomic_load_n(&lcore->forwarding->seconds, __ATOMIC_RELAXED);
	uint16_t size = RTE_MIN(packet->data_len, (uint16_t)COPIED);
	struct rte_mbuf *copy;

	if (log->second != second) {
		log->second = second;
		log->copies = 0;
	}
	if (log->copies == COPIES_A_SECOND)
		return;
	log->copies++;
	copy = mr_filter_buffer(lcore, packet->pool);
	if (copy == NULL)
		return;
	rte_memcpy(rte_pktmbuf_mtod(copy, void *), rte_pktmbuf_mtod(packet, const void *), size);
	copy->data_len = size;
	copy->pkt_len = packet->pkt_len; /* how long it was, for the log line */
	copy->port = packet->port;
	mr_count(&lcore->counters.copied, 1);
	mr_punt(lcore, copy, iface, MR_PUNT_LOG, word, MR_DROP_punt_full);
}
