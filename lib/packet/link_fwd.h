/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PACKET_LINK_FWD_H
#define MR_PACKET_LINK_FWD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>

#include "packet/load_fwd.h"

#define MR_LINK_MAX_TAGS 2 /* that are looked through: 802.1ad's and 802.1Q's */

/* type: in network byte order, as is what the next one returns. */
static inline bool mr_link_is_tag(uint16_t type)
{
	return type == RTE_BE16(RTE_ETHER_TYPE_VLAN) || type == RTE_BE16(RTE_ETHER_TYPE_QINQ);
}

/* The VID of a frame's outermost tag, which it has. */
static inline uint16_t mr_link_vid(const uint8_t *frame)
{
	return mr_number16(frame + RTE_ETHER_HDR_LEN) & 0x0fff;
}

/* The Ethernet type of what a frame carries behind its VLAN tags, and where that starts. A tag that
 * is cut off, and one too many, is what is carried. length: bytes of the frame, at least an
 * Ethernet header's. Any thread. */
static inline uint16_t mr_link_payload(const uint8_t *frame, unsigned length, unsigned *offset)
{
	unsigned at = RTE_ETHER_HDR_LEN;
	uint16_t type;

	memcpy(&type, frame + at - sizeof(type), sizeof(type));
	for (unsigned tags = 0;
	     tags < MR_LINK_MAX_TAGS && mr_link_is_tag(type) && length >= at + RTE_VLAN_HLEN;
	     tags++) {
		at += RTE_VLAN_HLEN;
		memcpy(&type, frame + at - sizeof(type), sizeof(type));
	}
	*offset = at;
	return type;
}

#endif
