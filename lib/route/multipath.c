/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multipath next hops. 100,000 routes over the same two gateways share one next hop: sets of
 * gateways are found by hash, and each gateway knows the sets that it is in. A gateway that cannot
 * be used is left out of what is published; the flows of the others are hashed anew (RFC 2992 calls
 * this modulo-N). Without any usable gateway the next hop is unreachable, so that senders are told.
 */
#include "route/router_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_hash.h>
#include <rte_jhash.h>

#include "route/neighbour_state.h"

#define MULTIPATHS_MAX 4096

struct multipath_key {
	uint32_t next_hop[MR_MAX_PATHS]; /* ascending, 0 behind the last */
};

struct multipath_path {
	LIST_ENTRY(multipath_path) of_gateway;
	struct multipath *set;
	struct neighbour *gateway;
};

struct multipath {
	struct multipath_key key;
	uint32_t next_hop;
	unsigned count;
	struct multipath_path path[MR_MAX_PATHS];
};

struct multipaths {
	struct rte_hash *hash;
};

struct multipaths *multipaths_create(void)
{
	struct multipaths *multipaths = calloc(1, sizeof(*multipaths));
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters parameters = {.name = name,
						 .entries = MULTIPATHS_MAX,
						 .key_len = sizeof(struct multipath_key),
						 .hash_func = rte_jhash,
						 .socket_id = SOCKET_ID_ANY};

	if (multipaths == NULL)
		return NULL;
	snprintf(name, sizeof(name), "mp_%p", (void *)multipaths);
	multipaths->hash = rte_hash_create(&parameters);
	if (multipaths->hash == NULL) {
		free(multipaths);
		return NULL;
	}
	return multipaths;
}

void multipaths_destroy(struct multipaths *multipaths)
{
	const void *key;
	void *set;
	uint32_t position = 0;

	if (multipaths == NULL)
		return;
	while (rte_hash_iterate(multipaths->hash, &key, &set, &position) >= 0)
		free(set);
	rte_hash_free(multipaths->hash);
	free(multipaths);
}

static struct mr_adjacency set_adjacency(struct mr *mr, const struct multipath *set)
{
	struct mr_adjacency adjacency = {.kind = MR_ADJ_MULTIPATH, .iface = MR_IFACE_NONE};

	for (unsigned i = 0; i < set->count; i++)
		if (neighbour_usable(mr, set->path[i].gateway))
			adjacency.path[adjacency.path_count++] = set->path[i].gateway->next_hop;
	if (adjacency.path_count == 0)
		adjacency.kind = MR_ADJ_UNREACHABLE;
	return adjacency;
}

static int by_next_hop(const void *a, const void *b)
{
	const struct neighbour *const *x = a, *const *y = b;

	return (*x)->next_hop < (*y)->next_hop ? -1 : (*x)->next_hop > (*y)->next_hop;
}

static int set_create(struct mr *mr, const struct multipath_key *key, struct neighbour **gateways,
		      unsigned count, uint32_t *next_hop)
{
	struct mr_router *router = mr->router;
	struct multipath *set = calloc(1, sizeof(*set));
	struct mr_adjacency adjacency;
	int rc;

	if (set == NULL)
		return -ENOMEM;
	set->key = *key;
	set->count = count;
	for (unsigned i = 0; i < count; i++)
		set->path[i] = (struct multipath_path){.set = set, .gateway = gateways[i]};
	adjacency = set_adjacency(mr, set);
	set->next_hop = next_hop_create(router->hops, NEXT_HOP_MULTIPATH, set, &adjacency);
	if (set->next_hop == MR_NEXT_HOP_NONE) {
		free(set);
		return -ENOMEM;
	}
	rc = rte_hash_add_key_data(router->multipaths->hash, key, set);
	if (rc < 0) {
		next_hop_unref(router->hops, set->next_hop);
		free(set);
		return rc;
	}
	for (unsigned i = 0; i < count; i++) {
		next_hop_ref(router->hops, gateways[i]->next_hop);
		LIST_INSERT_HEAD(&gateways[i]->paths, &set->path[i], of_gateway);
	}
	*next_hop = set->next_hop;
	return 0;
}

int multipath_take(struct mr *mr, struct neighbour **gateways, unsigned count, uint32_t *next_hop)
{
	struct multipath_key key = {0};
	void *found;

	qsort(gateways, count, sizeof(*gateways), by_next_hop);
	for (unsigned i = 0; i < count; i++)
		key.next_hop[i] = gateways[i]->next_hop;
	if (rte_hash_lookup_data(mr->router->multipaths->hash, &key, &found) < 0)
		return set_create(mr, &key, gateways, count, next_hop);
	*next_hop = ((struct multipath *)found)->next_hop;
	next_hop_ref(mr->router->hops, *next_hop);
	return 0;
}

void multipath_release(struct mr *mr, uint32_t next_hop)
{
	struct mr_router *router = mr->router;
	struct multipath *set = next_hop_object(router->hops, next_hop);

	if (!next_hop_unref(router->hops, next_hop))
		return;
	rte_hash_del_key(router->multipaths->hash, &set->key);
	for (unsigned i = 0; i < set->count; i++) {
		LIST_REMOVE(&set->path[i], of_gateway);
		neighbour_gateway_release(mr, set->path[i].gateway);
	}
	free(set);
}

void multipath_follow(struct mr *mr, struct neighbour *gateway)
{
	struct multipath_path *path;

	LIST_FOREACH (path, &gateway->paths, of_gateway) {
		struct mr_adjacency adjacency = set_adjacency(mr, path->set);

		next_hop_publish(mr->router->hops, path->set->next_hop, &adjacency);
	}
}

unsigned multipath_gateways(struct mr *mr, uint32_t next_hop,
			    const struct neighbour *gateways[MR_MAX_PATHS])
{
	const struct multipath *set = next_hop_object(mr->router->hops, next_hop);

	for (unsigned i = 0; i < set->count; i++)
		gateways[i] = set->path[i].gateway;
	return set->count;
}
