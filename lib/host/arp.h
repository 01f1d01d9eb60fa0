/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_HOST_ARP_H
#define MR_HOST_ARP_H

#include <rte_mbuf.h>

#include "base/addr.h"
#include "base/mr.h"
#include "port/iface.h"

/* ARP for IPv4 on Ethernet (RFC 826) with the checks of RFC 5227. Control thread. */

/* Understands one ARP frame that arrived on an interface. Returns how it ends. */
int mr_arp_input(struct mr *mr, const struct mr_iface *iface, const struct rte_mbuf *packet);

/* Sends a request: broadcast, or to mac to verify it. Nothing when iface has no IPv4 address. */
void mr_arp_solicit(struct mr *mr, uint16_t iface, const struct mr_addr *addr,
		    const struct rte_ether_addr *mac);

/* Sends the second announcement when it is due. */
void mr_arp_poll(struct mr *mr);

#endif
