/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_TEST_ROUTED_H
#define MR_TEST_ROUTED_H

#include "harness.h"

/*
 * The harness as a router: port N has 10.0.N.1/24. Behind each port are a host 10.0.N.9 and a
 * gateway 10.0.N.2, both with static MACs, so that no case waits for ARP that is not about it.
 */
#define ROUTER(n) "02:00:00:00:00:0" #n
#define HOST(n) "02:bb:00:00:0" #n ":09"
#define GATEWAY(n) "02:bb:00:00:0" #n ":02"
#define BROADCAST "ff:ff:ff:ff:ff:ff"
#define NO_MAC "00:00:00:00:00:00"

/* Begins a case with those ports; routed_addresses only has the addresses, no neighbours. */
struct harness *routed(void);
struct harness *routed_addresses(void);
/* Gives a port back what a case took from it to bridge it; it will announce its address. */
void routed_port_again(struct harness *h, unsigned port);

/* Takes the configuration away again and ends the case. */
void routed_end(struct harness *h);
void routed_addresses_end(struct harness *h);

/* From 10.0.0.9 to dst, as it arrives on port 0. */
#define FROM_0(...) IPV4(.to = ROUTER(0), .from = HOST(0), .src = "10.0.0.9", __VA_ARGS__)

/* What the router makes of a frame for the host or the gateway behind port n. */
#define TO_HOST(n, frame) frame_routed(frame, HOST(n), ROUTER(n))
#define TO_GATEWAY(n, frame) frame_routed(frame, GATEWAY(n), ROUTER(n))

/* Sends a frame and lets everything run. */
void routed_send(struct harness *h, unsigned port, const struct frame *frame);
/* Sends a frame on port 0, which must be dropped for that reason and leave nothing at all. */
void routed_drops(struct harness *h, const struct frame *frame, enum mr_drop_reason reason);

/* The next frame of port 0 must be this ICMP error to 10.0.0.9 about the frame that it sent, byte
 * for byte except for the identification. mtu: of 3/4, else 0. */
void routed_told(struct harness *h, const struct frame *about, unsigned type, unsigned code,
		 unsigned mtu);
/* The next frame of a port must be this one but for its identification, which is the router's. */
void routed_expect_own(struct harness *h, unsigned port, const struct frame *frame);
/* What answers an echo request: to the frame's sender. */
struct frame routed_echo_reply(const struct frame *request);

/* The fragments of an IPv4 frame without options for an MTU. Returns their number. */
unsigned routed_fragments(const struct frame *frame, unsigned mtu, struct frame *fragments,
			  unsigned max);

/* Takes announcements of own addresses, which must be all that is on the port. Their number. */
unsigned routed_announcements(struct harness *h, unsigned port);

#endif
