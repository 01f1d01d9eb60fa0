/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_OUTPUT_FWD_H
#define MR_LCORE_OUTPUT_FWD_H

#include "lcore/lcore.h"

/* Sends packets, which are given away, out of an interface in their order. Checks link and MTU. */
void mr_output(struct mr_lcore *lcore, uint16_t iface, struct rte_mbuf **packets, unsigned count);

/* Sends the packets of a vector whose bits are set in mask, each out of its own interface; those of
 * one interface stay in their order. ifaces: MR_VECTOR_SIZE entries, count of them set. */
void mr_output_scatter(struct mr_lcore *lcore, struct mr_vector *vector, uint64_t mask,
		       const uint16_t *ifaces);

/* Sends what waits in tx buffers. */
void mr_output_flush(struct mr_lcore *lcore);

/* Takes what another lcore handed over for a queue that this one owns; returns how many. */
unsigned mr_output_handed_over(struct mr_lcore *lcore, const struct mr_source *source);

/* Ends packets under a reason, counted on a port (or MR_PORT_NONE). */
void mr_drop(struct mr_lcore *lcore, uint16_t port, enum mr_drop_reason reason,
	     struct rte_mbuf **packets, unsigned count);

/* Ends the packets of a vector whose bits are set in mask. */
void mr_drop_mask(struct mr_lcore *lcore, const struct mr_vector *vector, uint64_t mask,
		  uint16_t port, enum mr_drop_reason reason);

/* Hands a packet to the control thread; a full ring drops it under reason. */
void mr_punt(struct mr_lcore *lcore, struct rte_mbuf *packet, uint16_t iface, uint16_t kind,
	     uint32_t next_hop, enum mr_drop_reason reason);

#endif
