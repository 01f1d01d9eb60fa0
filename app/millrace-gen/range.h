/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_RANGE_H
#define GEN_RANGE_H

#include <stdint.h>

#include "base/addr.h"

/*
 * Ranges of addresses and ports, written FIRST or FIRST-LAST. A stream takes their values in turn.
 */
#define RANGE_MAX (1u << 24) /* values of any range */

struct mac_range {
	uint64_t first; /* the six octets as a number; 0: not given */
	uint32_t count;
};

struct addr_range {
	struct mr_addr first;
	uint32_t count;
};

struct port_range {
	uint16_t first; /* host byte order */
	uint32_t count; /* up to 65536 */
};

/* Parse exactly the text; 0 or -EINVAL (no such thing, LAST before FIRST, or too many values). */
int mac_range_parse(const char *text, struct mac_range *range);
int addr_range_parse(const char *text, struct addr_range *range);
int port_range_parse(const char *text, struct port_range *range);

/* Where addr is in range: 0..count - 1, or -1 when it is not. */
int32_t addr_range_find(const struct addr_range *range, const struct mr_addr *addr);

/* The last 8 octets of an address as a number, or 4 of IPv4: what ranges count in. */
uint64_t addr_low(const struct mr_addr *addr);

uint64_t mac_to_number(const struct rte_ether_addr *mac);
/* Writes six octets. */
void mac_from_number(uint64_t number, void *mac);

#endif
