/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lcores read a slot without asking whether it is in use, so every slot always points to an
 * adjacency: those without one of their own share "no route". A slot whose last reference went
 * keeps its adjacency for a grace period, then falls back to the shared one and is free again.
 */
#include "route/next_hop.h"

#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_malloc.h>

struct next_hop {
	struct next_hops *home;
	void *object;
	uint32_t refs; /* of a free index: the next free one */
	uint8_t owner;
};

struct next_hops {
	struct mr_rcu *rcu;
	const struct mr_adjacency **slots;
	struct mr_adjacency *no_route;
	uint32_t fresh; /* indices from this one on were never used */
	uint32_t free;  /* first free index, 0: none */
	unsigned used;
	struct next_hop hop[MR_MAX_NEXT_HOPS];
};

/* With what follows from the index and the rest. */
static struct mr_adjacency completed(const struct mr_adjacency *adjacency, uint32_t index)
{
	struct mr_adjacency complete = *adjacency;

	complete.next_hop = index;
	complete.max_frame = adjacency->kind == MR_ADJ_FORWARD
				     ? (uint16_t)(adjacency->mtu + RTE_ETHER_HDR_LEN)
				     : 0;
	return complete;
}

static struct mr_adjacency *adjacency_copy(const struct mr_adjacency *adjacency, uint32_t index)
{
	struct mr_adjacency *copy = rte_malloc("mr_adjacency", sizeof(*copy), RTE_CACHE_LINE_SIZE);

	if (copy != NULL)
		*copy = completed(adjacency, index);
	return copy;
}

static void set_slot(struct next_hops *hops, uint32_t index, const struct mr_adjacency *adjacency)
{
	__atomic_store_n(&hops->slots[index], adjacency, __ATOMIC_RELEASE);
}

static void adjacency_free(struct next_hops *hops, const struct mr_adjacency *adjacency)
{
	if (adjacency != hops->no_route)
		rte_free((void *)(uintptr_t)adjacency);
}

static int fixed_create(struct next_hops *hops)
{
	static const uint8_t kinds[] = {[NEXT_HOP_BLACKHOLE] = MR_ADJ_BLACKHOLE,
					[NEXT_HOP_BROADCAST] = MR_ADJ_BROADCAST,
					[NEXT_HOP_MULTICAST] = MR_ADJ_MULTICAST,
					[NEXT_HOP_MARTIAN] = MR_ADJ_MARTIAN};

	for (uint32_t index = NEXT_HOP_BLACKHOLE; index < NEXT_HOP_FIRST; index++) {
		struct mr_adjacency adjacency = {.kind = kinds[index], .iface = UINT16_MAX};

		if (next_hop_create(hops, NEXT_HOP_FIXED, NULL, &adjacency) != index)
			return -1;
	}
	return 0;
}

struct next_hops *next_hops_create(struct mr_rcu *rcu, const struct mr_adjacency **slots)
{
	struct next_hops *hops = calloc(1, sizeof(*hops));
	struct mr_adjacency none = {.kind = MR_ADJ_NO_ROUTE, .iface = UINT16_MAX};

	if (hops == NULL)
		return NULL;
	hops->rcu = rcu;
	hops->slots = slots;
	hops->fresh = MR_NEXT_HOP_NONE + 1;
	hops->no_route = adjacency_copy(&none, MR_NEXT_HOP_NONE);
	if (hops->no_route == NULL) {
		free(hops);
		return NULL;
	}
	for (uint32_t index = 0; index < MR_MAX_NEXT_HOPS; index++)
		slots[index] = hops->no_route;
	if (fixed_create(hops) != 0) {
		next_hops_destroy(hops);
		return NULL;
	}
	return hops;
}

void next_hops_destroy(struct next_hops *hops)
{
	if (hops == NULL)
		return;
	for (uint32_t index = 0; index < hops->fresh; index++)
		adjacency_free(hops, hops->slots[index]);
	rte_free(hops->no_route);
	free(hops);
}

uint32_t next_hop_create(struct next_hops *hops, enum next_hop_owner owner, void *object,
			 const struct mr_adjacency *adjacency)
{
	uint32_t index = hops->free != 0 ? hops->free : hops->fresh;
	struct mr_adjacency *copy;

	if (index == MR_MAX_NEXT_HOPS)
		return MR_NEXT_HOP_NONE;
	copy = adjacency_copy(adjacency, index);
	if (copy == NULL)
		return MR_NEXT_HOP_NONE;
	if (hops->free != 0)
		hops->free = hops->hop[index].refs;
	else
		hops->fresh++;
	hops->used++;
	hops->hop[index] =
		(struct next_hop){.home = hops, .object = object, .refs = 1, .owner = owner};
	set_slot(hops, index, copy);
	return index;
}

void next_hop_publish(struct next_hops *hops, uint32_t index, const struct mr_adjacency *adjacency)
{
	const struct mr_adjacency *old = hops->slots[index];
	struct mr_adjacency wanted = completed(adjacency, index), *copy;

	if (memcmp(old, &wanted, sizeof(wanted)) == 0)
		return;
	copy = adjacency_copy(adjacency, index);
	set_slot(hops, index, copy != NULL ? copy : hops->no_route);
	if (old != hops->no_route)
		mr_rcu_defer(hops->rcu, rte_free, (void *)(uintptr_t)old);
}

void next_hop_ref(struct next_hops *hops, uint32_t index)
{
	hops->hop[index].refs++;
}

/* No lcore can hold the index any more. */
static void next_hop_retire(void *arg)
{
	struct next_hop *hop = arg;
	struct next_hops *hops = hop->home;
	uint32_t index = (uint32_t)(hop - hops->hop);
	const struct mr_adjacency *old = hops->slots[index];

	set_slot(hops, index, hops->no_route);
	adjacency_free(hops, old);
	hop->refs = hops->free;
	hops->free = index;
	hops->used--;
}

bool next_hop_unref(struct next_hops *hops, uint32_t index)
{
	struct next_hop *hop = &hops->hop[index];

	if (--hop->refs != 0)
		return false;
	hop->object = NULL;
	hop->owner = NEXT_HOP_FIXED;
	mr_rcu_defer(hops->rcu, next_hop_retire, hop);
	return true;
}

enum next_hop_owner next_hop_owner(const struct next_hops *hops, uint32_t index)
{
	return hops->hop[index].owner;
}

void *next_hop_object(const struct next_hops *hops, uint32_t index)
{
	return hops->hop[index].object;
}

uint32_t next_hop_refs(const struct next_hops *hops, uint32_t index)
{
	return hops->hop[index].refs;
}

unsigned next_hops_used(const struct next_hops *hops)
{
	return hops->used;
}
