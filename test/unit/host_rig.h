/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_TEST_HOST_RIG_H
#define MR_TEST_HOST_RIG_H

#include <rte_ip.h>
#include <rte_mbuf.h>

#include "base/mr.h"
#include "host/context.h"
#include "host/host.h"
#include "lcore/lcores.h"
#include "packet/punt.h"

/*
 * Room host between rooms that a test looks into: a router whose table is fixed, neighbours that
 * only note what they are told, and a wire that keeps the frames.
 *
 *   iface 0: 02:00:00:00:00:00, 10.0.0.1/24     iface 1: 02:00:00:00:00:01, 10.0.1.1/24
 *   iface 2: 02:00:00:00:00:02, no address
 *   10.0.0.2, 10.0.0.3 and 10.0.1.9 have MACs 02:aa:... (last bytes of the address), as has the
 *   gateway 10.0.1.2 of 203.0.113.0/24; the other hosts of both subnets are not resolved.
 *   198.51.100.0/24 is behind a gateway without MAC, 192.0.2.0/24 behind one that does not answer,
 *   100.64.0.0/24 leaves by iface 2. No default route.
 */
#define RIG_MAX 8192

struct rig_seen {
	uint16_t iface;
	uint32_t addr;
	struct rte_ether_addr mac;
	bool may_create;
};

struct rig {
	struct mr mr;
	struct rte_mempool *pool;
	uint64_t now_ms;
	uint16_t mtu[3];
	uint64_t received;
	unsigned sent_count, held_count, seen_count;
	struct rte_mbuf *sent[RIG_MAX]; /* mr_punt_of(): iface */
	struct rte_mbuf *held[RIG_MAX]; /* waiting for a neighbour */
	struct rig_seen seen[16];
	void (*solicit)(struct mr *mr, uint16_t iface, const struct mr_addr *addr,
			const struct rte_ether_addr *mac);
	void (*unreachable)(struct mr *mr, uint16_t iface, struct rte_mbuf *packet);
};

extern struct rig rig;

/* Around each test. The second checks that all buffers came back and that the conservation law
 * holds, with all that the wire and the neighbours kept. */
int rig_setup(void **state);
int rig_teardown(void **state);

/* Asserts buffers and balance now, after what was sent and held has been forgotten. */
void rig_check(void);
void rig_forget(void);

/* Gives a frame to mr_host_input as if an lcore had punted it. */
void rig_input(const void *frame, unsigned size, uint16_t iface, uint16_t kind, uint32_t next_hop);
void rig_advance(uint64_t ms);
void rig_set_mtu(uint16_t iface, uint16_t mtu);

uint64_t rig_drops(enum mr_drop_reason reason);
uint64_t rig_consumed(void);

/* The IPv4 packet of a sent frame, after checks of its length and header checksum. */
const struct rte_ipv4_hdr *rig_sent_ip(unsigned number);
const uint8_t *rig_sent_frame(unsigned number);
uint16_t rig_sent_iface(unsigned number);

#define RIG_IP(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))
#define RIG_NEXT_HOP_9 9 /* adjacency of 203.0.113.0/24 */

struct rig_packet {
	uint32_t from, to; /* host order */
	uint8_t protocol, ttl, tos;
	uint16_t id, offset; /* field with flags, host order */
	const void *payload;
	uint16_t size;
	uint8_t options[40], options_size;
	const uint8_t *frame_to; /* NULL: iface 0's MAC */
};

/* Writes an Ethernet frame with a valid IPv4 header, returns its size. */
unsigned rig_make(uint8_t *frame, const struct rig_packet *packet);

/* Writes an ICMP message with its checksum: 8 bytes of header and size bytes that count up. */
unsigned rig_make_icmp(uint8_t *message, uint8_t type, uint8_t code, unsigned size);

#endif
