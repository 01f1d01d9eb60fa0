/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_TEST_STATEFUL_H
#define MR_TEST_STATEFUL_H

#include "routed.h"

/*
 * Packets of flows between the hosts of the router of routed.h, one behind each port, and of two
 * bridged ones; and what becomes of them under rules that keep state.
 */
enum { FIN = 0x01, SYN = 0x02, RST = 0x04, PSH = 0x08, ACK = 0x10, URG = 0x20 };

enum { STATEFUL_TRANSPORT = 34 }; /* where it begins in an untagged IPv4 frame */

/* A segment, from the host behind one port to that behind another; zero means: the usual. */
struct segment {
	unsigned from, to;
	unsigned sport, dport; /* 1000 at host 0, 80 at others */
	unsigned flags;
	uint32_t seq, ack;
	unsigned data;   /* bytes; 0 */
	unsigned window; /* 1000 */
	int offset;      /* of the data, in words; 5. HEADER_ZERO for 0 */
	unsigned fragment, id;
};
#define HEADER_ZERO (-1)

struct frame stateful_tcp(const struct segment *segment);
#define TCP(...) stateful_tcp(&(struct segment){__VA_ARGS__})

struct frame stateful_udp(unsigned from, unsigned to, unsigned sport, unsigned dport);
struct frame stateful_echo(unsigned from, unsigned to, uint8_t type, unsigned id);

/* An ICMP error from the host behind a port, quoting so many bytes of a frame's packet, to that
 * packet's sender. */
struct frame stateful_error(unsigned from, uint8_t type, const struct frame *about,
			    unsigned quoted);

/* Of the router of routed.h. */
void stateful_passes(struct harness *h, unsigned from, unsigned to, struct frame frame);
void stateful_dropped(struct harness *h, unsigned from, struct frame frame,
		      enum mr_drop_reason reason);

/* So many bridges, br0 with ports 0 and 1, br1 with 2 and 3, and deny by default; and the end of
 * them. */
struct harness *stateful_bridges(unsigned bridges);
void stateful_bridges_end(struct harness *h, unsigned bridges);

/* A frame is bridged as it is, to one port; or denied. */
void stateful_bridged(struct harness *h, unsigned from, unsigned to, struct frame frame);
void stateful_denied(struct harness *h, unsigned from, struct frame frame);

/* How many directions of flows are known and alive. */
unsigned stateful_flows(struct harness *h);

/* Takes the rules away, and routed_end. */
void stateful_end(struct harness *h);

#endif
