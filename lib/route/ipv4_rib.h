/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_ROUTE_IPV4_RIB_H
#define MR_ROUTE_IPV4_RIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The set of IPv4 prefixes that the control thread keeps, each with a next hop. Addresses are in
 * host byte order, prefixes have no host bits. All costs are bound by the 32 bits of an address,
 * not by the number of prefixes. Control thread only.
 */
struct mr_ipv4_route {
	uint32_t prefix;
	uint8_t length;    /* bits */
	uint32_t next_hop; /* never 0 */
	bool withdrawn;    /* kept, but matches nothing */
};

struct mr_ipv4_rib;

/* Makes an empty set that can hold max_prefixes (up to 2^30). Pages are backed as they are used.
 * Returns NULL without memory. */
struct mr_ipv4_rib *mr_ipv4_rib_create(uint32_t max_prefixes);
void mr_ipv4_rib_destroy(struct mr_ipv4_rib *rib);

/* The next hop of exactly this prefix, 0 if it is not in the set. */
uint32_t mr_ipv4_rib_find(const struct mr_ipv4_rib *rib, uint32_t prefix, unsigned length);

/* Adds a prefix, or changes its next hop; a withdrawn one stays so. The caller keeps the set within
 * max_prefixes. */
void mr_ipv4_rib_set(struct mr_ipv4_rib *rib, uint32_t prefix, unsigned length, uint32_t next_hop);

/* Removes a prefix that is in the set. */
void mr_ipv4_rib_remove(struct mr_ipv4_rib *rib, uint32_t prefix, unsigned length);

/* Says of a prefix that is in the set whether it is withdrawn, and asks it (false for others). */
void mr_ipv4_rib_set_withdrawn(struct mr_ipv4_rib *rib, uint32_t prefix, unsigned length,
			       bool withdrawn);
bool mr_ipv4_rib_is_withdrawn(const struct mr_ipv4_rib *rib, uint32_t prefix, unsigned length);

/* Finds the longest prefix of at most max_length bits that covers address and is not withdrawn. */
bool mr_ipv4_rib_match(const struct mr_ipv4_rib *rib, uint32_t address, unsigned max_length,
		       struct mr_ipv4_route *match);

/* Finds the first prefix after the given one (which need not be in the set) in the order of
 * addresses, shorter ones first; the very first one if after is NULL. */
bool mr_ipv4_rib_next(const struct mr_ipv4_rib *rib, const struct mr_ipv4_route *after,
		      struct mr_ipv4_route *next);

uint32_t mr_ipv4_rib_count(const struct mr_ipv4_rib *rib);
size_t mr_ipv4_rib_bytes(const struct mr_ipv4_rib *rib); /* in use */

#endif
