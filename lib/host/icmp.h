/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_HOST_ICMP_H
#define MR_HOST_ICMP_H

#include "base/mr.h"
#include "host/context.h"

/* ICMP (RFC 792, RFC 1812 4.3). Control thread. */

enum mr_icmp_type {
	MR_ICMP_ECHO_REPLY = 0,
	MR_ICMP_UNREACHABLE = 3,
	MR_ICMP_REDIRECT = 5,
	MR_ICMP_ECHO_REQUEST = 8,
	MR_ICMP_TIME_EXCEEDED = 11,
};

enum mr_icmp_code {
	MR_ICMP_NET = 0, /* of MR_ICMP_UNREACHABLE */
	MR_ICMP_HOST = 1,
	MR_ICMP_PROTOCOL = 2,
	MR_ICMP_PORT = 3,
	MR_ICMP_TOO_BIG = 4,
	MR_ICMP_PROHIBITED = 13, /* by a filter (RFC 1812 5.2.7.1) */
	MR_ICMP_TRANSIT = 0,     /* of MR_ICMP_TIME_EXCEEDED */
	MR_ICMP_REASSEMBLY = 1,
};

/* The fixed part of the messages that are spoken here. */
struct mr_icmp_header {
	uint8_t type, code;
	uint16_t checksum;
	uint16_t id_or_unused;
	uint16_t sequence_or_mtu;
};

/* Answers an echo request to one of the appliance's addresses. Returns how the packet ends. */
int mr_icmp_input(struct mr *mr, const struct mr_datagram *datagram);

/*
 * Tells the source of a datagram what became of it, unless RFC 1812 4.3.2.7 asks for silence, the
 * rate limits are reached or there is no way back. mtu: the next hop's, for MR_ICMP_TOO_BIG
 * (RFC 1191 4), else 0. The datagram remains the caller's.
 */
void mr_icmp_error(struct mr *mr, const struct mr_datagram *datagram, uint8_t type, uint8_t code,
		   uint16_t mtu);

/* Whether an address (host byte order) can be the source of a packet on a wire and is a single
 * host other than the appliance (RFC 1812 5.3.7, 4.3.2.7). */
bool mr_is_host_address(struct mr *mr, uint32_t address);

#endif
