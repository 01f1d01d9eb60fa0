/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_ACTION_FWD_H
#define MR_FILTER_ACTION_FWD_H

#include "filter/program_fwd.h"

/* Sends a copy of a packet out of an interface, past all rules. Without a buffer for it there is
 * none, which counts as a drop of `no_mbuf` on that interface's port. */
void mr_filter_mirror(struct mr_lcore *lcore, const struct rte_mbuf *packet, uint16_t iface);

/* Gives the IP packet in a frame another DSCP (RFC 2474 3), the checksum along with it. A frame
 * that other outputs share is replaced by a copy; false if there is no buffer for that. */
bool mr_filter_set_dscp(struct mr_lcore *lcore, struct rte_mbuf **packet, uint8_t dscp);

#endif
