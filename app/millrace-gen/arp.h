/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_ARP_H
#define GEN_ARP_H

#include <stdbool.h>
#include <stdint.h>

#include "range.h"

/*
 * ARP (RFC 826) of a port's addresses: enough to be a neighbour of a router.
 */
#define ARP_FRAME_LENGTH 60 /* without FCS, padded */

struct arp_station {
	struct mac_range mac;
	struct addr_range addr; /* the n-th address has the n-th MAC, from the start again */
	uint16_t vlan;          /* 0: untagged */
	struct mr_addr gateway; /* family 0: none */
	bool resolved;          /* a reply told gateway_mac */
	uint64_t gateway_mac;
};

enum arp_result {
	ARP_NONE,  /* not ARP */
	ARP_TAKEN, /* ARP, nothing to send */
	ARP_REPLY, /* frame is now the answer, to be sent from the same port */
};

/* Takes in a received frame of length octets, in one piece. A frame of another VLAN is taken and
 * not answered. */
enum arp_result arp_input(struct arp_station *station, uint8_t *frame, uint16_t length);

/* Writes a request of ARP_FRAME_LENGTH octets for target from the station's index-th address; its
 * own address as the target announces it. All addresses are IPv4. */
void arp_request(const struct arp_station *station, uint32_t index, const struct mr_addr *target,
		 uint8_t *frame);

#endif
