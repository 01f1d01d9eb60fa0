/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_ROUTE_IPV4_TABLE_H
#define MR_ROUTE_IPV4_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "route/ipv4_rib.h"

/*
 * An IPv4 table: the longest prefix that covers a destination decides its next hop (RFC 1812
 * 5.2.4.3). Next hops are numbers whose meaning is the caller's; 0 stands for "no route".
 * Addresses are in host byte order. The control thread is the only caller of all that is here;
 * forwarding lcores look up with ipv4_table_fwd.h, at any time and without waiting.
 *
 * A change takes effect address by address: a lookup that runs meanwhile finds what the table said
 * before or after it. So a next hop's number may get another meaning only a grace period after
 * the last route to it went.
 */
struct mr_rcu;
struct mr_ipv4_table;

#define MR_IPV4_TABLE_MAX_NEXT_HOP ((UINT32_C(1) << 25) - 1)
#define MR_IPV4_TABLE_MAX_ROUTES (UINT32_C(1) << 24)

struct mr_ipv4_table_memory {
	size_t shared_used;     /* bytes that routes take of what lcores read */
	size_t shared_reserved; /* bytes of DPDK memory for it, root included */
	size_t control_used;    /* bytes of the prefixes that the control thread keeps */
};

/* Makes an empty table in the memory of a NUMA socket (or SOCKET_ID_ANY); it takes 64.3 MB
 * of it and grows with routes of more than 24 bits. max_routes is 1..MR_IPV4_TABLE_MAX_ROUTES.
 * Returns NULL without memory or with a wrong max_routes. */
struct mr_ipv4_table *mr_ipv4_table_create(struct mr_rcu *rcu, int socket, uint32_t max_routes);

/* Frees the table after a grace period; lcores can no longer find it. NULL is allowed. */
void mr_ipv4_table_destroy(struct mr_ipv4_table *table);

/*
 * Changes. All return 0 or, having changed nothing, -EINVAL (length above 32, host bits set, next
 * hop 0 or above MR_IPV4_TABLE_MAX_NEXT_HOP) or what is listed. Their cost does not depend on the
 * number of routes, only on the part of the table that the prefix covers: see ipv4_table.c.
 */

/* Adds a route. -EEXIST if the prefix has one; -ENOSPC at max_routes; -ENOMEM. */
int mr_ipv4_table_add(struct mr_ipv4_table *table, uint32_t prefix, uint8_t length,
		      uint32_t next_hop);

/* Changes the next hop of a route, or adds the route. A withdrawn one stays so. -ENOSPC and -ENOMEM
 * only when adding. */
int mr_ipv4_table_replace(struct mr_ipv4_table *table, uint32_t prefix, uint8_t length,
			  uint32_t next_hop);

/* Deletes a route; the next shorter prefix that covers it takes its place. -ENOENT if the prefix
 * has none. Needs no memory. */
int mr_ipv4_table_del(struct mr_ipv4_table *table, uint32_t prefix, uint8_t length);

/* Has lookups pass a route over, which stays in the table: the next shorter prefix that covers it
 * takes its place. -ENOENT if the prefix has no route. Needs no memory. */
int mr_ipv4_table_withdraw(struct mr_ipv4_table *table, uint32_t prefix, uint8_t length);

/* Has lookups find a withdrawn route again. -ENOENT; -ENOMEM. */
int mr_ipv4_table_restore(struct mr_ipv4_table *table, uint32_t prefix, uint8_t length);

/* The next hop of exactly this prefix, withdrawn or not, 0 if there is none. */
uint32_t mr_ipv4_table_find(const struct mr_ipv4_table *table, uint32_t prefix, uint8_t length);

/* The route of exactly this prefix, withdrawn or not; false if there is none. */
bool mr_ipv4_table_get(const struct mr_ipv4_table *table, uint32_t prefix, uint8_t length,
		       struct mr_ipv4_route *route);

/* The next hop for an address by longest prefix match, 0 without a route. Unless match is NULL,
 * the route that was found is put there. */
uint32_t mr_ipv4_table_lookup(const struct mr_ipv4_table *table, uint32_t address,
			      struct mr_ipv4_route *match);

uint32_t mr_ipv4_table_count(const struct mr_ipv4_table *table); /* with those withdrawn */

/* Calls fn for each route in the order of prefixes, shorter before longer, from the first one
 * after the given one on (from the very first if after is NULL), until fn returns false. A page
 * of a listing starts after the last route of the page before, which may have been deleted
 * meanwhile; fn itself may change the table. */
void mr_ipv4_table_iterate(const struct mr_ipv4_table *table, const struct mr_ipv4_route *after,
			   bool (*fn)(const struct mr_ipv4_route *route, void *arg), void *arg);

void mr_ipv4_table_memory(const struct mr_ipv4_table *table, struct mr_ipv4_table_memory *memory);

#endif
