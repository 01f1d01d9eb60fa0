/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_HOST_HOST_H
#define MR_HOST_HOST_H

#include <rte_mbuf.h>

#include "base/cmd.h"
#include "base/error.h"
#include "base/mr.h"

/*
 * The appliance as a host: what it answers (ARP, ICMP echo), what it originates (ARP requests, ICMP
 * errors, fragments) and what it reassembles. Control thread only.
 */
int mr_host_create(struct mr *mr, struct mr_error *error);
void mr_host_destroy(struct mr *mr);

/* Takes one packet that a forwarding lcore punted (mr_punt_of(packet) says why). */
void mr_host_input(struct mr *mr, struct rte_mbuf *packet);

/* Tells the neighbours of an interface that its addresses are there, with gratuitous ARP (RFC 5227
 * 2.3): to be called when an address was added and when the link came up. */
void mr_host_announce(struct mr *mr, uint16_t iface);

/* Ends what waits for, or came from, an interface that goes away. */
void mr_host_withdraw(struct mr *mr, uint16_t iface);

/* Timers: reassembly, rate limits. now_ms: monotonic milliseconds. */
void mr_host_poll(struct mr *mr, uint64_t now_ms);

/* Fragments held for reassembly. */
uint64_t mr_host_held(struct mr *mr);

extern const struct mr_query mr_host_queries[];

#endif
