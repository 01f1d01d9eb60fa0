/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rte_malloc searches lists and keeps 128 bytes beside each piece, so it is asked for chunks of
 * 256 KB only. A chunk hands out its nodes in order at first, then those on its free list, which
 * runs through the free nodes themselves. Chunks are found by address (binary search in a sorted
 * array), since a node has no room for a way back to its chunk.
 */
#include "route/node_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <rte_malloc.h>

#define CHUNK_SIZE ((size_t)MR_NODES_PER_CHUNK * MR_NODE_SIZE)

struct free_node {
	struct free_node *next;
};

struct chunk {
	LIST_ENTRY(chunk) available; /* on the pool's list while it has a free node */
	char *nodes;
	struct free_node *free;
	unsigned fresh; /* nodes from this one on were never taken */
	unsigned used;
};

struct mr_node_pool {
	int socket;
	const char *base;
	size_t reach;
	struct chunk **chunks; /* in the order of their addresses */
	unsigned chunk_count;
	uint32_t used;
	LIST_HEAD(chunk_list, chunk) available;
	struct chunk *spare; /* the one chunk that may be empty */
};

static struct chunk *chunk_create(const struct mr_node_pool *pool)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk));

	if (chunk == NULL)
		return NULL;
	chunk->nodes = rte_malloc_socket("route_nodes", CHUNK_SIZE, MR_NODE_SIZE, pool->socket);
	if (chunk->nodes == NULL ||
	    (chunk->nodes < pool->base
		     ? (size_t)(pool->base - chunk->nodes)
		     : (size_t)(chunk->nodes - pool->base) + CHUNK_SIZE) >= pool->reach) {
		rte_free(chunk->nodes);
		free(chunk);
		return NULL;
	}
	return chunk;
}

/* The place in the sorted array of the first chunk that starts after address. */
static unsigned chunk_place(const struct mr_node_pool *pool, const char *address)
{
	unsigned low = 0, high = pool->chunk_count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (pool->chunks[middle]->nodes <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int add_chunk(struct mr_node_pool *pool)
{
	struct chunk **chunks, *chunk;
	unsigned place;

	chunks = realloc(pool->chunks, (pool->chunk_count + 1) * sizeof(*chunks));
	if (chunks == NULL)
		return -ENOMEM;
	pool->chunks = chunks;
	chunk = chunk_create(pool);
	if (chunk == NULL)
		return -ENOMEM;
	place = chunk_place(pool, chunk->nodes);
	memmove(&chunks[place + 1], &chunks[place], (pool->chunk_count - place) * sizeof(*chunks));
	chunks[place] = chunk;
	pool->chunk_count++;
	LIST_INSERT_HEAD(&pool->available, chunk, available);
	return 0;
}

static void remove_chunk(struct mr_node_pool *pool, unsigned place)
{
	struct chunk *chunk = pool->chunks[place];

	LIST_REMOVE(chunk, available);
	pool->chunk_count--;
	memmove(&pool->chunks[place], &pool->chunks[place + 1],
		(pool->chunk_count - place) * sizeof(pool->chunks[0]));
	rte_free(chunk->nodes);
	free(chunk);
}

struct mr_node_pool *mr_node_pool_create(int socket, const void *base, size_t reach)
{
	struct mr_node_pool *pool = calloc(1, sizeof(*pool));

	if (pool == NULL)
		return NULL;
	pool->socket = socket;
	pool->base = base;
	pool->reach = reach;
	LIST_INIT(&pool->available);
	if (add_chunk(pool) != 0) {
		mr_node_pool_destroy(pool);
		return NULL;
	}
	pool->spare = pool->chunks[0];
	return pool;
}

void mr_node_pool_destroy(struct mr_node_pool *pool)
{
	if (pool == NULL)
		return;
	for (unsigned i = 0; i < pool->chunk_count; i++) {
		rte_free(pool->chunks[i]->nodes);
		free(pool->chunks[i]);
	}
	free(pool->chunks);
	free(pool);
}

int mr_node_pool_reserve(struct mr_node_pool *pool, unsigned count)
{
	while ((size_t)pool->chunk_count * MR_NODES_PER_CHUNK - pool->used < count) {
		int rc = add_chunk(pool);

		if (rc != 0)
			return rc;
	}
	return 0;
}

void *mr_node_pool_take(struct mr_node_pool *pool)
{
	struct chunk *chunk = LIST_FIRST(&pool->available);
	void *node = chunk->free;

	if (node != NULL)
		chunk->free = chunk->free->next;
	else
		node = chunk->nodes + (size_t)chunk->fresh++ * MR_NODE_SIZE;
	if (chunk == pool->spare)
		pool->spare = NULL;
	if (++chunk->used == MR_NODES_PER_CHUNK)
		LIST_REMOVE(chunk, available);
	pool->used++;
	return node;
}

void mr_node_pool_give(struct mr_node_pool *pool, void *node)
{
	unsigned place = chunk_place(pool, node) - 1;
	struct chunk *chunk = pool->chunks[place];
	struct free_node *free_node = node;

	free_node->next = chunk->free;
	chunk->free = free_node;
	if (chunk->used-- == MR_NODES_PER_CHUNK)
		LIST_INSERT_HEAD(&pool->available, chunk, available);
	pool->used--;
	if (chunk->used > 0)
		return;
	if (pool->spare != NULL)
		remove_chunk(pool, place);
	else
		pool->spare = chunk;
}

uint32_t mr_node_pool_used(const struct mr_node_pool *pool)
{
	return pool->used;
}

size_t mr_node_pool_bytes(const struct mr_node_pool *pool)
{
	return pool->chunk_count * CHUNK_SIZE;
}
