/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_ROUTE_NODE_POOL_H
#define MR_ROUTE_NODE_POOL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Nodes of one cache line each for route tables, cut from large chunks of DPDK memory. All of it
 * is the control thread's; whoever gives a node back has made sure that no reader can reach it.
 */
#define MR_NODE_SIZE 64
#define MR_NODES_PER_CHUNK 4096

struct mr_node_pool;

/* Makes a pool on a NUMA socket (or SOCKET_ID_ANY) that holds one chunk. Every node's address will
 * be less than reach bytes away from base, so that readers can keep short references. Returns NULL
 * without memory. */
struct mr_node_pool *mr_node_pool_create(int socket, const void *base, size_t reach);

/* Frees all chunks, and with them all nodes. */
void mr_node_pool_destroy(struct mr_node_pool *pool);

/* Makes sure that the next count calls of mr_node_pool_take succeed. Returns 0 or -ENOMEM. */
int mr_node_pool_reserve(struct mr_node_pool *pool, unsigned count);

/* Takes a node that was reserved; its contents are undefined. */
void *mr_node_pool_take(struct mr_node_pool *pool);

/* Gives a node back. Chunks that become empty are freed, all but one. */
void mr_node_pool_give(struct mr_node_pool *pool, void *node);

uint32_t mr_node_pool_used(const struct mr_node_pool *pool); /* nodes */
size_t mr_node_pool_bytes(const struct mr_node_pool *pool);  /* of all chunks */

#endif
