/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_HOST_CONTEXT_H
#define MR_HOST_CONTEXT_H

#include <rte_ip.h>
#include <rte_mbuf.h>

#include "base/mr.h"
#include "host/reassembly.h"
#include "host/token_bucket.h"
#include "packet/drop.h"
#include "port/iface.h"

/*
 * What the files of this room share. All of it belongs to the control thread.
 */
#define MR_HOST_STATS(S)                                                                           \
	S(arp_requests_received)                                                                   \
	S(arp_replies_received)                                                                    \
	S(arp_requests_sent)                                                                       \
	S(arp_replies_sent)                                                                        \
	S(arp_announcements_sent)                                                                  \
	S(arp_conflicts)                                                                           \
	S(echo_requests_received)                                                                  \
	S(echo_replies_sent)                                                                       \
	S(time_exceeded_sent)                                                                      \
	S(net_unreachable_sent)                                                                    \
	S(host_unreachable_sent)                                                                   \
	S(protocol_unreachable_sent)                                                               \
	S(port_unreachable_sent)                                                                   \
	S(prohibited_sent)                                                                         \
	S(fragmentation_needed_sent)                                                               \
	S(reassembly_time_exceeded_sent)                                                           \
	S(errors_forbidden)    /* RFC 1812 4.3.2.7 asks for silence */                             \
	S(errors_rate_limited) /* RFC 1812 4.3.2.8 */                                              \
	S(answers_unroutable)  /* no way back to the source */                                     \
	S(packets_fragmented)                                                                      \
	S(fragments_received)                                                                      \
	S(datagrams_reassembled)

#define MR_HOST_STAT_FIELD(name) uint64_t name;
struct mr_host_stats {
	MR_HOST_STATS(MR_HOST_STAT_FIELD)
};
#undef MR_HOST_STAT_FIELD

#define MR_IPV4_MAX_SIZE 65535
/* Fragments of the largest datagram at the smallest MTU that IPv4 allows (RFC 791: 68 bytes), the
 * first of which may have 60 bytes of header. */
#define MR_MAX_FRAGMENTS (MR_IPV4_MAX_SIZE / 8 + 1)

struct mr_host {
	uint64_t now_ms; /* of the last poll */
	struct mr_host_stats stats;
	struct mr_reassembly *reassembly;
	uint16_t next_id; /* IPv4 identification of the next datagram */
	unsigned announcing;
	uint64_t announce_ms[MR_MAX_IFACES]; /* when to announce again; 0: no more */
	uint64_t defend_ms[MR_MAX_IFACES];   /* no defence of an address before */
	struct mr_token_bucket error_bucket; /* ICMP errors, all together */
	struct mr_token_bucket iface_error_bucket[MR_MAX_IFACES]; /* by arrival */
	uint8_t datagram[MR_IPV4_MAX_SIZE] __rte_aligned(4);      /* being made */
	uint8_t reassembled[MR_IPV4_MAX_SIZE] __rte_aligned(4);
	struct rte_mbuf *fragment[MR_MAX_FRAGMENTS];
};

/* How a handler wants a packet to end: a drop reason, or one of these. */
enum mr_host_verdict {
	MR_HOST_CONSUMED = -1, /* answered or understood */
	MR_HOST_TAKEN = -2     /* the handler has kept it, passed it on or ended it */
};

/* An IPv4 packet that arrived: whole, checked and in one piece of memory. */
struct mr_datagram {
	const struct rte_ipv4_hdr *ip;
	const uint8_t *payload;
	uint16_t header_size, payload_size; /* bytes */
	uint16_t iface;                     /* of arrival */
	bool link_group;                    /* came in a link-layer broadcast or multicast frame */
};

/* Describes a packet, which starts with its Ethernet header. Returns MR_HOST_CONSUMED if all is
 * well, else the reason to drop it for. */
int mr_datagram_of(const struct rte_mbuf *packet, uint16_t iface, struct mr_datagram *datagram);

/* Ends a packet that arrived on iface. verdict: a drop reason or MR_HOST_CONSUMED. */
void mr_host_end(struct mr *mr, uint16_t iface, int verdict, struct rte_mbuf *packet);

/* Handles a datagram for the appliance, which is no fragment. */
int mr_host_local(struct mr *mr, const struct mr_datagram *datagram);

/* The port to count drops of an interface on. */
uint16_t mr_host_port(struct mr *mr, uint16_t iface);

#endif
