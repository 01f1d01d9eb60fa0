/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A binary trie without the nodes that have one child and no route (a Patricia trie). What is left
 * is a node a prefix and at most as many that only fork, so an array made for twice the prefixes
 * never needs to grow, and no change can run out of memory half done. Nodes name each other by
 * index and take 16 bytes: four share a cache line. Node 0 is 0.0.0.0/0; it always exists and is
 * no node's child, so index 0 stands for "no child".
 */
#include "route/ipv4_rib.h"

#include <assert.h>
#include <stdlib.h>

struct rib_node {
	uint32_t prefix;
	uint32_t child[2];
	uint32_t next_hop : 25; /* 0: only a fork */
	uint32_t withdrawn : 1;
	uint32_t length : 6;
};

static_assert(sizeof(struct rib_node) == 16, "four nodes share a cache line");

struct mr_ipv4_rib {
	struct rib_node *nodes;
	uint32_t fresh; /* nodes from this one on were never used */
	uint32_t free;  /* the first free node, 0: none; chained by child[0] */
	uint32_t used;
	uint32_t count;
};

struct mr_ipv4_rib *mr_ipv4_rib_create(uint32_t max_prefixes)
{
	struct mr_ipv4_rib *rib = calloc(1, sizeof(*rib));

	if (rib == NULL)
		return NULL;
	rib->nodes = calloc((size_t)max_prefixes * 2 + 1, sizeof(*rib->nodes));
	if (rib->nodes == NULL) {
		free(rib);
		return NULL;
	}
	rib->fresh = 1;
	return rib;
}

void mr_ipv4_rib_destroy(struct mr_ipv4_rib *rib)
{
	if (rib == NULL)
		return;
	free(rib->nodes);
	free(rib);
}

static uint32_t node_create(struct mr_ipv4_rib *rib, uint32_t prefix, unsigned length,
			    uint32_t next_hop)
{
	uint32_t index = rib->free;

	if (index != 0)
		rib->free = rib->nodes[index].child[0];
	else
		index = rib->fresh++;
	rib->nodes[index] =
		(struct rib_node){.prefix = prefix, .length = length, .next_hop = next_hop};
	rib->used++;
	return index;
}

static void node_destroy(struct mr_ipv4_rib *rib, uint32_t index)
{
	rib->nodes[index].child[0] = rib->free;
	rib->free = index;
	rib->used--;
}

/* The bit of an address that follows its first length bits. */
static unsigned bit_after(uint32_t address, unsigned length)
{
	return (address >> (31 - length)) & 1;
}

/* How many leading bits two addresses share. */
static unsigned common_length(uint32_t a, uint32_t b)
{
	return a == b ? 32 : (unsigned)__builtin_clz(a ^ b);
}

static bool covers(const struct rib_node *node, uint32_t address)
{
	return common_length(node->prefix, address) >= node->length;
}

static void read_route(const struct rib_node *node, struct mr_ipv4_route *route)
{
	*route = (struct mr_ipv4_route){.prefix = node->prefix,
					.length = node->length,
					.withdrawn = node->withdrawn,
					.next_hop = node->next_hop};
}

/* The node of exactly this prefix, which may only fork; NULL without one. */
static struct rib_node *find_node(const struct mr_ipv4_rib *rib, uint32_t prefix, unsigned length)
{
	struct rib_node *node = &rib->nodes[0];

	while (node->length < length) {
		uint32_t child = node->child[bit_after(prefix, node->length)];

		if (child == 0)
			return NULL;
		node = &rib->nodes[child];
	}
	return node->length == length && node->prefix == prefix ? node : NULL;
}

uint32_t mr_ipv4_rib_find(const struct mr_ipv4_rib *rib, uint32_t prefix, unsigned length)
{
	const struct rib_node *node = find_node(rib, prefix, length);

	return node != NULL ? node->next_hop : 0;
}

bool mr_ipv4_rib_is_withdrawn(const struct mr_ipv4_rib *rib, uint32_t prefix, unsigned length)
{
	const struct rib_node *node = find_node(rib, prefix, length);

	return node != NULL && node->withdrawn;
}

void mr_ipv4_rib_set_withdrawn(struct mr_ipv4_rib *rib, uint32_t prefix, unsigned length,
			       bool withdrawn)
{
	find_node(rib, prefix, length)->withdrawn = withdrawn;
}

void mr_ipv4_rib_set(struct mr_ipv4_rib *rib, uint32_t prefix, unsigned length, uint32_t next_hop)
{
	struct rib_node *node = &rib->nodes[0];

	while (node->length < length) { /* node covers the prefix */
		uint32_t *link = &node->child[bit_after(prefix, node->length)];
		uint32_t below = *link, created;
		struct rib_node *child = &rib->nodes[below];
		unsigned common;

		if (below == 0) {
			*link = node_create(rib, prefix, length, next_hop);
			rib->count++;
			return;
		}
		common = common_length(prefix, child->prefix);
		if (common >= child->length && child->length <= length) {
			node = child;
			continue;
		}
		created = node_create(rib, prefix, length, next_hop);
		rib->count++;
		if (common >= length) { /* the new prefix covers the child */
			rib->nodes[created].child[bit_after(child->prefix, length)] = below;
			*link = created;
		} else {
			uint32_t fork =
				node_create(rib, prefix & ~(UINT32_MAX >> common), common, 0);

			rib->nodes[fork].child[bit_after(prefix, common)] = created;
			rib->nodes[fork].child[bit_after(child->prefix, common)] = below;
			*link = fork;
		}
		return;
	}
	if (node->next_hop == 0)
		rib->count++;
	node->next_hop = next_hop;
}

/* Takes out a node that has no route, is not the root and has at most one child. */
static void bypass(struct mr_ipv4_rib *rib, uint32_t *link)
{
	struct rib_node *node = &rib->nodes[*link];
	uint32_t index = *link;

	*link = node->child[0] != 0 ? node->child[0] : node->child[1];
	node_destroy(rib, index);
}

void mr_ipv4_rib_remove(struct mr_ipv4_rib *rib, uint32_t prefix, unsigned length)
{
	uint32_t *link = NULL, *parent_link = NULL;
	struct rib_node *node = &rib->nodes[0];

	while (node->length < length) {
		parent_link = link;
		link = &node->child[bit_after(prefix, node->length)];
		node = &rib->nodes[*link];
	}
	node->next_hop = 0;
	node->withdrawn = false;
	rib->count--;
	if (link == NULL || (node->child[0] != 0 && node->child[1] != 0))
		return;
	bypass(rib, link);
	/* A fork above that lost its second child has nothing left to fork. */
	if (*link == 0 && parent_link != NULL && rib->nodes[*parent_link].next_hop == 0)
		bypass(rib, parent_link);
}

bool mr_ipv4_rib_match(const struct mr_ipv4_rib *rib, uint32_t address, unsigned max_length,
		       struct mr_ipv4_route *match)
{
	const struct rib_node *node = &rib->nodes[0], *best = NULL;

	while (node->length <= max_length && covers(node, address)) {
		uint32_t child;

		if (node->next_hop != 0 && !node->withdrawn)
			best = node;
		if (node->length == 32)
			break;
		child = node->child[bit_after(address, node->length)];
		if (child == 0)
			break;
		node = &rib->nodes[child];
	}
	if (best == NULL)
		return false;
	read_route(best, match);
	return true;
}

static bool is_after(const struct rib_node *node, const struct mr_ipv4_route *route)
{
	if (node->prefix != route->prefix)
		return node->prefix > route->prefix;
	return node->length > route->length;
}

bool mr_ipv4_rib_next(const struct mr_ipv4_rib *rib, const struct mr_ipv4_route *after,
		      struct mr_ipv4_route *next)
{
	const struct rib_node *node = &rib->nodes[0];
	uint32_t later = 0; /* the nearest subtree passed by that lies wholly after */

	/* Down to the first subtree that lies wholly after the given prefix. */
	while (after != NULL && !is_after(node, after)) {
		uint32_t child = 0;

		if (node->length < 32) {
			uint32_t upper = node->prefix | (UINT32_C(1) << (31 - node->length));

			child = node->child[1];
			if (after->prefix < upper) {
				if (child != 0)
					later = child;
				child = node->child[0];
			}
		}
		if (child == 0) {
			if (later == 0)
				return false;
			node = &rib->nodes[later];
			break;
		}
		node = &rib->nodes[child];
	}
	/* Its first route; only the root can have neither a route nor a first child. */
	while (node->next_hop == 0) {
		uint32_t child = node->child[0] != 0 ? node->child[0] : node->child[1];

		if (child == 0)
			return false;
		node = &rib->nodes[child];
	}
	read_route(node, next);
	return true;
}

uint32_t mr_ipv4_rib_count(const struct mr_ipv4_rib *rib)
{
	return rib->count;
}

size_t mr_ipv4_rib_bytes(const struct mr_ipv4_rib *rib)
{
	return (size_t)rib->used * sizeof(struct rib_node);
}
