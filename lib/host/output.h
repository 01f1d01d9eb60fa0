/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_HOST_OUTPUT_H
#define MR_HOST_OUTPUT_H

#include <rte_ip.h>
#include <rte_mbuf.h>

#include "base/mr.h"
#include "route/adjacency.h"

/* How IPv4 packets leave the control thread. */

/* The adjacency towards a destination (host byte order), if packets can be sent over it, now or
 * once it has a MAC; NULL if there is no such way. Valid until the control thread's next turn. */
const struct mr_adjacency *mr_host_route(struct mr *mr, uint32_t destination);

/* Whether packets can be sent over an adjacency, now or once it has a MAC. */
bool mr_adjacency_leads_out(const struct mr_adjacency *adjacency);

/* Sends a datagram of the appliance's own: header (without options, all set but identification,
 * fragment offset and checksum) and payload in one piece of memory. It is fragmented if need be.
 * arrival: interface of the packet that caused it. */
void mr_host_send(struct mr *mr, const struct mr_adjacency *adjacency, uint16_t arrival,
		  struct rte_ipv4_hdr *ip);

/* Sends a packet that has been forwarded (TTL and checksum done), in as many fragments as the MTU
 * asks for. Returns 0, or -ENOBUFS if there were no buffers and nothing was sent. */
int mr_host_send_fragments(struct mr *mr, const struct mr_adjacency *adjacency, uint16_t arrival,
			   const struct rte_ipv4_hdr *ip);

#endif
