/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table is kept twice: as a set of prefixes (ipv4_rib.h), which knows what covers what, and as
 * the array and nodes that lcores read (ipv4_table_fwd.h), in which every address has its leaf. A
 * withdrawn route is in the set alone.
 *
 * A leaf carries the length of the prefix it comes from, so that a change need not ask which
 * addresses belong to longer prefixes: it paints the leaves in its range whose length is not
 * greater than its own. Adding overwrites what covered the range before, deleting writes back the
 * covering prefix. A change thus costs one store up to a few dozen where it splits or joins nodes,
 * and for shorter prefixes one visit to each entry in range: 256 entries of the root for a /16, and
 * 65536 for a /8, some 50 microseconds. The default route, which would visit them all, is one word.
 *
 * Nodes are made when a prefix is longer than its level, filled with the leaf that they replace,
 * and published before they are painted. A node whose entries have all become one leaf of a prefix
 * no longer than the level above is replaced by that leaf and freed after a grace period. The
 * nodes that an addition may need are reserved beforehand.
 */
#include "route/ipv4_table.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "base/rcu.h"
#include "route/ipv4_table_fwd.h"
#include "route/node_pool.h"

#define ROOT_ENTRIES (UINT32_C(1) << MR_IPV4_TABLE_ROOT_BITS)
#define NODE_ENTRIES (1u << MR_IPV4_TABLE_NODE_BITS)
#define MAX_NODES_ON_PATH ((32 - MR_IPV4_TABLE_ROOT_BITS) / MR_IPV4_TABLE_NODE_BITS)

/* An entry has 31 signed bits for a node's distance from the root. */
#define NODE_REACH ((size_t)MR_NODE_SIZE << 30)

static_assert(NODE_ENTRIES * sizeof(uint32_t) == MR_NODE_SIZE &&
		      MR_NODE_SIZE == RTE_CACHE_LINE_SIZE,
	      "a node is a cache line");
static_assert((32 - MR_IPV4_TABLE_ROOT_BITS) % MR_IPV4_TABLE_NODE_BITS == 0,
	      "levels end at the last bit");

struct mr_ipv4_table_control {
	struct mr_rcu *rcu;
	struct mr_ipv4_rib *rib;
	struct mr_node_pool *pool;
	uint32_t max_routes;
};

/* Nodes that were unlinked by one change and wait for the grace period. */
struct unlinked_nodes {
	struct mr_node_pool *pool;
	unsigned count;
	uint32_t *nodes[MAX_NODES_ON_PATH];
};

static uint32_t leaf_entry(unsigned length, uint32_t next_hop)
{
	return next_hop << 7 | length << 1;
}

static unsigned leaf_length(uint32_t entry)
{
	return (entry >> 1) & 63;
}

static uint32_t node_entry(const uint32_t *root, const uint32_t *node)
{
	int64_t distance = ((intptr_t)node - (intptr_t)root) / MR_NODE_SIZE;

	return (uint32_t)distance << 1 | 1;
}

static void publish(uint32_t *slot, uint32_t entry)
{
	__atomic_store_n(slot, entry, __ATOMIC_RELEASE);
}

/* The first of the entries for address at the level whose entries stand for its first bits bits. */
static unsigned entry_index(uint32_t address, unsigned bits)
{
	if (bits == MR_IPV4_TABLE_ROOT_BITS)
		return address >> (32 - bits);
	return (address >> (32 - bits)) & (NODE_ENTRIES - 1);
}

static void paint(struct mr_ipv4_table *table, uint32_t *entries, unsigned count, unsigned length,
		  uint32_t leaf)
{
	for (unsigned i = 0; i < count; i++) {
		uint32_t entry = entries[i];

		if (mr_ipv4_entry_is_node(entry))
			paint(table, mr_ipv4_entry_node(table->root, entry), NODE_ENTRIES, length,
			      leaf);
		else if (leaf_length(entry) <= length)
			publish(&entries[i], leaf);
	}
}

/* Replaces the leaf in a slot by a node full of it. */
static void split(struct mr_ipv4_table *table, uint32_t *slot)
{
	uint32_t *node = mr_node_pool_take(table->control->pool);

	for (unsigned i = 0; i < NODE_ENTRIES; i++)
		node[i] = *slot;
	publish(slot, node_entry(table->root, node));
}

static void free_unlinked(void *arg)
{
	struct unlinked_nodes *unlinked = arg;

	for (unsigned i = 0; i < unlinked->count; i++)
		mr_node_pool_give(unlinked->pool, unlinked->nodes[i]);
	free(unlinked);
}

static void free_nodes_later(struct mr_ipv4_table *table, uint32_t *const *nodes, unsigned count)
{
	struct unlinked_nodes *unlinked = malloc(sizeof(*unlinked));

	if (unlinked == NULL) {
		/* As in mr_rcu_defer: without memory, waiting is what is left. */
		mr_rcu_synchronize(table->control->rcu);
		for (unsigned i = 0; i < count; i++)
			mr_node_pool_give(table->control->pool, nodes[i]);
		return;
	}
	unlinked->pool = table->control->pool;
	unlinked->count = count;
	for (unsigned i = 0; i < count; i++)
		unlinked->nodes[i] = nodes[i];
	mr_rcu_defer(table->control->rcu, free_unlinked, unlinked);
}

/* Whether a node says nothing that a leaf above it could not say. */
static bool is_uniform(const uint32_t *node, unsigned bits_above)
{
	if (mr_ipv4_entry_is_node(node[0]) || leaf_length(node[0]) > bits_above)
		return false;
	for (unsigned i = 1; i < NODE_ENTRIES; i++)
		if (node[i] != node[0])
			return false;
	return true;
}

/* Joins uniform nodes into their slots, from the last of depth slots upwards. */
static void join(struct mr_ipv4_table *table, uint32_t *const *slots, unsigned depth)
{
	uint32_t *unlinked[MAX_NODES_ON_PATH];
	unsigned count = 0;

	while (depth > 0) {
		uint32_t *slot = slots[--depth];
		uint32_t *node = mr_ipv4_entry_node(table->root, *slot);

		if (!is_uniform(node, MR_IPV4_TABLE_ROOT_BITS + depth * MR_IPV4_TABLE_NODE_BITS))
			break;
		publish(slot, node[0]);
		unlinked[count++] = node;
	}
	if (count > 0)
		free_nodes_later(table, unlinked, count);
}

/* Makes a leaf of all addresses in the prefix that belong to no longer one. */
static void paint_prefix(struct mr_ipv4_table *table, uint32_t prefix, unsigned length,
			 uint32_t leaf)
{
	uint32_t *slots[MAX_NODES_ON_PATH], *entries = table->root;
	unsigned bits = MR_IPV4_TABLE_ROOT_BITS, depth = 0;

	while (length > bits) {
		uint32_t *slot = &entries[entry_index(prefix, bits)];

		if (!mr_ipv4_entry_is_node(*slot))
			split(table, slot);
		slots[depth++] = slot;
		entries = mr_ipv4_entry_node(table->root, *slot);
		bits += MR_IPV4_TABLE_NODE_BITS;
	}
	paint(table, &entries[entry_index(prefix, bits)], 1u << (bits - length), length, leaf);
	join(table, slots, depth);
}

static void set_default(struct mr_ipv4_table *table, uint32_t next_hop)
{
	uint64_t changes = (table->default_route >> 32) + 1;

	__atomic_store_n(&table->default_route, changes << 32 | next_hop, __ATOMIC_RELEASE);
}

static bool prefix_is_valid(uint32_t prefix, unsigned length)
{
	return length <= 32 && (length == 32 || (prefix & (UINT32_MAX >> length)) == 0);
}

static bool next_hop_is_valid(uint32_t next_hop)
{
	return next_hop != 0 && next_hop <= MR_IPV4_TABLE_MAX_NEXT_HOP;
}

static void paint_route(struct mr_ipv4_table *table, uint32_t prefix, unsigned length,
			uint32_t next_hop)
{
	if (length == 0)
		set_default(table, next_hop);
	else
		paint_prefix(table, prefix, length, leaf_entry(length, next_hop));
}

/* Gives the addresses of a prefix, which the set no longer matches, to what covers it. */
static void paint_covering(struct mr_ipv4_table *table, uint32_t prefix, unsigned length)
{
	struct mr_ipv4_route covering;
	uint32_t leaf = 0;

	if (length == 0) {
		set_default(table, 0);
		return;
	}
	/* The default route is no leaf. */
	if (mr_ipv4_rib_match(table->control->rib, prefix, length - 1u, &covering) &&
	    covering.length > 0)
		leaf = leaf_entry(covering.length, covering.next_hop);
	paint_prefix(table, prefix, length, leaf);
}

static int reserve_nodes(struct mr_ipv4_table *table, unsigned length)
{
	return length > MR_IPV4_TABLE_ROOT_BITS
		       ? mr_node_pool_reserve(table->control->pool, MAX_NODES_ON_PATH)
		       : 0;
}

int mr_ipv4_table_add(struct mr_ipv4_table *table, uint32_t prefix, uint8_t length,
		      uint32_t next_hop)
{
	struct mr_ipv4_table_control *control = table->control;

	if (!prefix_is_valid(prefix, length) || !next_hop_is_valid(next_hop))
		return -EINVAL;
	if (mr_ipv4_rib_find(control->rib, prefix, length) != 0)
		return -EEXIST;
	if (mr_ipv4_rib_count(control->rib) >= control->max_routes)
		return -ENOSPC;
	if (reserve_nodes(table, length) != 0)
		return -ENOMEM;
	mr_ipv4_rib_set(control->rib, prefix, length, next_hop);
	paint_route(table, prefix, length, next_hop);
	return 0;
}

int mr_ipv4_table_replace(struct mr_ipv4_table *table, uint32_t prefix, uint8_t length,
			  uint32_t next_hop)
{
	if (!prefix_is_valid(prefix, length) || !next_hop_is_valid(next_hop))
		return -EINVAL;
	if (mr_ipv4_rib_find(table->control->rib, prefix, length) == 0)
		return mr_ipv4_table_add(table, prefix, length, next_hop);
	mr_ipv4_rib_set(table->control->rib, prefix, length, next_hop);
	if (!mr_ipv4_rib_is_withdrawn(table->control->rib, prefix, length))
		paint_route(table, prefix, length, next_hop);
	return 0;
}

int mr_ipv4_table_del(struct mr_ipv4_table *table, uint32_t prefix, uint8_t length)
{
	struct mr_ipv4_rib *rib = table->control->rib;
	bool withdrawn;

	if (!prefix_is_valid(prefix, length))
		return -EINVAL;
	if (mr_ipv4_rib_find(rib, prefix, length) == 0)
		return -ENOENT;
	withdrawn = mr_ipv4_rib_is_withdrawn(rib, prefix, length);
	mr_ipv4_rib_remove(rib, prefix, length);
	if (!withdrawn)
		paint_covering(table, prefix, length);
	return 0;
}

int mr_ipv4_table_withdraw(struct mr_ipv4_table *table, uint32_t prefix, uint8_t length)
{
	struct mr_ipv4_rib *rib = table->control->rib;

	if (!prefix_is_valid(prefix, length))
		return -EINVAL;
	if (mr_ipv4_rib_find(rib, prefix, length) == 0)
		return -ENOENT;
	if (mr_ipv4_rib_is_withdrawn(rib, prefix, length))
		return 0;
	mr_ipv4_rib_set_withdrawn(rib, prefix, length, true);
	paint_covering(table, prefix, length);
	return 0;
}

int mr_ipv4_table_restore(struct mr_ipv4_table *table, uint32_t prefix, uint8_t length)
{
	struct mr_ipv4_rib *rib = table->control->rib;

	if (!prefix_is_valid(prefix, length))
		return -EINVAL;
	if (mr_ipv4_rib_find(rib, prefix, length) == 0)
		return -ENOENT;
	if (!mr_ipv4_rib_is_withdrawn(rib, prefix, length))
		return 0;
	/* The nodes it had went when it was withdrawn. */
	if (reserve_nodes(table, length) != 0)
		return -ENOMEM;
	mr_ipv4_rib_set_withdrawn(rib, prefix, length, false);
	paint_route(table, prefix, length, mr_ipv4_rib_find(rib, prefix, length));
	return 0;
}

uint32_t mr_ipv4_table_find(const struct mr_ipv4_table *table, uint32_t prefix, uint8_t length)
{
	return mr_ipv4_rib_find(table->control->rib, prefix, length);
}

bool mr_ipv4_table_get(const struct mr_ipv4_table *table, uint32_t prefix, uint8_t length,
		       struct mr_ipv4_route *route)
{
	const struct mr_ipv4_rib *rib = table->control->rib;

	*route = (struct mr_ipv4_route){.prefix = prefix,
					.length = length,
					.withdrawn = mr_ipv4_rib_is_withdrawn(rib, prefix, length),
					.next_hop = mr_ipv4_rib_find(rib, prefix, length)};
	return route->next_hop != 0;
}

uint32_t mr_ipv4_table_lookup(const struct mr_ipv4_table *table, uint32_t address,
			      struct mr_ipv4_route *match)
{
	struct mr_ipv4_route found;

	if (!mr_ipv4_rib_match(table->control->rib, address, 32, &found))
		return 0;
	if (match != NULL)
		*match = found;
	return found.next_hop;
}

uint32_t mr_ipv4_table_count(const struct mr_ipv4_table *table)
{
	return mr_ipv4_rib_count(table->control->rib);
}

void mr_ipv4_table_iterate(const struct mr_ipv4_table *table, const struct mr_ipv4_route *after,
			   bool (*fn)(const struct mr_ipv4_route *route, void *arg), void *arg)
{
	struct mr_ipv4_route route;
	bool more = mr_ipv4_rib_next(table->control->rib, after, &route);

	while (more && fn(&route, arg))
		more = mr_ipv4_rib_next(table->control->rib, &route, &route);
}

void mr_ipv4_table_memory(const struct mr_ipv4_table *table, struct mr_ipv4_table_memory *memory)
{
	const struct mr_ipv4_table_control *control = table->control;
	size_t root = ROOT_ENTRIES * sizeof(uint32_t);

	memory->shared_used = root + (size_t)mr_node_pool_used(control->pool) * MR_NODE_SIZE;
	memory->shared_reserved = root + mr_node_pool_bytes(control->pool);
	memory->control_used = mr_ipv4_rib_bytes(control->rib);
}

static void free_table(void *arg)
{
	struct mr_ipv4_table *table = arg;
	struct mr_ipv4_table_control *control = table->control;

	if (control != NULL) {
		mr_ipv4_rib_destroy(control->rib);
		mr_node_pool_destroy(control->pool);
	}
	free(control);
	rte_free(table->root);
	rte_free(table);
}

struct mr_ipv4_table *mr_ipv4_table_create(struct mr_rcu *rcu, int socket, uint32_t max_routes)
{
	struct mr_ipv4_table_control *control;
	struct mr_ipv4_table *table;

	if (max_routes == 0 || max_routes > MR_IPV4_TABLE_MAX_ROUTES)
		return NULL;
	table = rte_zmalloc_socket("ipv4_table", sizeof(*table), RTE_CACHE_LINE_SIZE, socket);
	if (table == NULL)
		return NULL;
	table->root = rte_zmalloc_socket("ipv4_table_root", ROOT_ENTRIES * sizeof(uint32_t),
					 RTE_CACHE_LINE_SIZE, socket);
	table->control = control = calloc(1, sizeof(*control));
	if (table->root == NULL || control == NULL)
		goto fail;
	control->rcu = rcu;
	control->max_routes = max_routes;
	control->rib = mr_ipv4_rib_create(max_routes);
	control->pool = mr_node_pool_create(socket, table->root, NODE_REACH);
	if (control->rib == NULL || control->pool == NULL)
		goto fail;
	return table;
fail:
	free_table(table);
	return NULL;
}

void mr_ipv4_table_destroy(struct mr_ipv4_table *table)
{
	/* Callbacks run in order: the nodes that still wait are freed before their pool. */
	if (table != NULL)
		mr_rcu_defer(table->control->rcu, free_table, table);
}
