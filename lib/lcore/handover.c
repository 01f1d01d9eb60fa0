/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcore/handover.h"

#include <string.h>

#include <rte_malloc.h>

#include "lcore/lcores.h"
#include "lcore/rings.h"

struct mr_handover *mr_handover_create(unsigned size, int socket)
{
	struct mr_handover *handover;
	uint32_t slots = rte_align32pow2(size);

	handover = rte_zmalloc_socket("mr_handover", sizeof(*handover),
				      _Alignof(struct mr_handover), socket);
	if (handover == NULL)
		return NULL;
	handover->size = size;
	handover->mask = slots - 1;
	handover->slot = rte_zmalloc_socket("mr_handover", slots * sizeof(*handover->slot),
					    2 * RTE_CACHE_LINE_SIZE, socket);
	handover->rest = rte_zmalloc_socket("mr_handover", slots * sizeof(*handover->rest),
					    2 * RTE_CACHE_LINE_SIZE, socket);
	if (handover->slot == NULL || handover->rest == NULL) {
		mr_handover_free(handover);
		return NULL;
	}
	return handover;
}

void mr_handover_free(struct mr_handover *handover)
{
	if (handover == NULL)
		return;
	rte_free(handover->slot);
	rte_free(handover->rest);
	rte_free(handover);
}

unsigned mr_handover_count(const struct mr_handover *handover)
{
	if (handover == NULL)
		return 0;
	/* In this order the difference is never negative. */
	uint32_t taken = __atomic_load_n(&handover->taken, __ATOMIC_ACQUIRE);

	return __atomic_load_n(&handover->put, __ATOMIC_ACQUIRE) - taken;
}

void mr_handover_discard(struct mr *mr, struct mr_handover *handover, uint16_t port,
			 enum mr_drop_reason reason)
{
	unsigned count = mr_handover_count(handover);

	for (unsigned i = 0; i < count; i++) {
		const struct mr_handover_slot *slot =
			&handover->slot[(handover->taken + i) & handover->mask];
		struct rte_mbuf *packet = NULL; /* it crossed by value */

		if (slot->length == 0)
			memcpy(&packet, slot->frame, sizeof(packet));
		mr_control_drop(mr, port, reason, packet);
	}
	if (count != 0)
		__atomic_store_n(&handover->taken, handover->taken + count, __ATOMIC_RELEASE);
}

void mr_handover_await(struct mr *mr, const struct mr_handover *handover)
{
	if (handover == NULL)
		return;
	mr_await_position(mr, &handover->taken, __atomic_load_n(&handover->put, __ATOMIC_ACQUIRE));
}
