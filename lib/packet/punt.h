/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PACKET_PUNT_H
#define MR_PACKET_PUNT_H

#include <assert.h>
#include <stdint.h>

#include <rte_mbuf.h>

/*
 * What crosses a ring with a packet, in the 8 bytes of the mbuf's hash field: from a forwarding
 * lcore to the control thread why it comes, on the way back where it goes.
 */
enum mr_punt_kind {
	/* These want an answer of the appliance's own; the packet itself is consumed. */
	MR_PUNT_ARP,   /* any ARP frame on a routed interface */
	MR_PUNT_LOCAL, /* IPv4 to one of the appliance's addresses */
	/* These could not be forwarded; most make an ICMP error and are dropped for the reason of
	 * the same name. */
	MR_PUNT_RESOLVE,     /* next hop or connected destination without a MAC yet */
	MR_PUNT_TTL,         /* TTL 0 or 1 */
	MR_PUNT_NO_ROUTE,    /* no route */
	MR_PUNT_UNREACHABLE, /* neighbour does not answer */
	MR_PUNT_TOO_BIG,     /* larger than the next hop's MTU: fragment, or ICMP 3/4 with DF */
	MR_PUNT_REJECT,      /* rejected by the filter; iface: of the hook where that was */
	MR_PUNT_LOG,         /* a copy of a packet's start for the filter's log, which consumes it;
				next_hop: as mr_filter_log_word makes it */
	/* Never punted: what room host gives to mr_neighbour_hold when a packet that is ready to be
	 * sent has to wait for a MAC. Its IP header is not touched (no TTL decrement), only the
	 * Ethernet header; if it cannot be delivered, nobody is told. iface is of arrival of the
	 * packet that caused it, or MR_IFACE_NONE. */
	MR_PUNT_ORIGINATED,
	MR_PUNT_KINDS
};

struct mr_punt {
	uint16_t iface; /* punted: of arrival; injected: of output */
	uint16_t kind;  /* enum mr_punt_kind; unused when injected */
	uint32_t next_hop;
};

static_assert(sizeof(struct mr_punt) <= sizeof(((struct rte_mbuf *)0)->hash),
	      "fits the hash field");

static inline struct mr_punt *mr_punt_of(struct rte_mbuf *m)
{
	return (struct mr_punt *)&m->hash;
}

#endif
