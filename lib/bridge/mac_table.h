/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_BRIDGE_MAC_TABLE_H
#define MR_BRIDGE_MAC_TABLE_H

/*
 * The MAC table (IEEE 802.1Q 8.8, the filtering database): which stations are behind which
 * interface, of all bridges. Only the control thread calls these functions; forwarding lcores look
 * stations up and refresh them with mac_table_fwd.h, without locks and without waiting.
 *
 * Stations are named by keys, see mac_key in mac_table_fwd.h. Ports are interface indices. Seconds
 * are those of the clock that lcores pass to station_refresh; they may wrap.
 */
#include <rte_ether.h>

#include "base/error.h"
#include "base/rcu.h"
#include "bridge/mac_table_fwd.h"

#define MAC_TABLE_CAPACITY_DEFAULT 65536
#define MAC_TABLE_CAPACITY_MAX 4194304

#define MAC_TABLE_ANY (-1) /* any bridge, any port */

struct mac_table_stats {
	uint32_t capacity;
	uint32_t stations;
	uint32_t in_extra;      /* stations that cost a lookup more than one cache line */
	uint32_t buckets;       /* what mac_table_age walks, extra buckets included */
	uint32_t extra_buckets; /* of them, extra ones in use */
	size_t memory;          /* bytes, all reserved at creation */
};

/*
 * Makes a table for capacity stations (1..MAC_TABLE_CAPACITY_MAX) in memory of socket. rcu must
 * outlive the table. Returns 0, -ERANGE for a wrong capacity, -ENOMEM, or what getrandom reports.
 */
int mac_table_create(struct mac_table **table, struct mr_rcu *rcu, uint32_t capacity, int socket,
		     struct mr_error *error);

/* Frees table after a grace period; lcores must no longer be given it. NULL is allowed. */
void mac_table_destroy(struct mac_table *table);

/*
 * Adds a station or changes the one that is there. A dynamic station (learned, seen now) takes the
 * new port; a static station takes the place of a dynamic one. Learning never changes a static
 * station. Returns 0, -EINVAL for a group or zero address or bridge, -EEXIST when a dynamic station
 * would replace a static one, -ENOSPC when the table is full, or the key's chain is: deleted slots
 * that wait for a grace period can use it up for a moment.
 */
int mac_table_add(struct mac_table *table, uint64_t key, uint16_t port, uint32_t now,
		  bool is_static);

/* Deletes a station, static or not. Returns 0 or -ENOENT. */
int mac_table_del(struct mac_table *table, uint64_t key);

/* Reads a station's word (see station_port and its like). Returns 0 or -ENOENT. */
int mac_table_find(const struct mac_table *table, uint64_t key, uint64_t *word);

/* Number of stations of bridge, or of all with MAC_TABLE_ANY. */
uint32_t mac_table_count(const struct mac_table *table, int bridge);

/*
 * Deletes the dynamic stations of bridge (or any) behind port (or any); with_static also the static
 * ones, for a bridge or a port that goes away. Returns how many.
 */
uint32_t mac_table_flush(struct mac_table *table, int bridge, int port, bool with_static);

/*
 * Ages: walks the next max_buckets buckets from where the last call ended and deletes dynamic
 * stations that were seen more than their bridge's ageing time ago. ageing(arg, bridge) gives that
 * time in seconds; 0: never. Returns how many were deleted.
 *
 * An lcore may refresh a station between its check and its deletion: the station is then deleted
 * although it was just seen, the next frame to it floods, and its next own frame is learned.
 */
uint32_t mac_table_age(struct mac_table *table, uint32_t (*ageing)(void *arg, uint16_t bridge),
		       void *arg, uint32_t now, uint32_t max_buckets);

/*
 * Shows the stations of bridge (or any) behind port (or any) to visit, in no order, until it
 * returns false. *position is where to begin, 0 at first; it is left at the station that visit
 * refused, so that a list can be given page by page, or at UINT32_MAX at the end. visit may delete
 * the station it is shown, and must not add any.
 */
void mac_table_iterate(const struct mac_table *table, int bridge, int port, uint32_t *position,
		       bool (*visit)(void *arg, uint64_t key, uint64_t word), void *arg);

/* Bytes that the table holds, from its creation on. */
size_t mac_table_memory(const struct mac_table *table);

void mac_table_stats(const struct mac_table *table, struct mac_table_stats *stats);

/* mac_key for an address that nothing follows, and back. */
uint64_t mac_key_of(uint16_t bridge, const struct rte_ether_addr *mac);
struct rte_ether_addr mac_key_addr(uint64_t key);

#endif
