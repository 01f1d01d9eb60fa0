/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every ring has one producer and one consumer, so that neither end needs a locked instruction.
 * Names are the appliance's own (by its address), since a process may make several appliances.
 */
#include "lcore/rings.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>

#include "lcore/handover.h"
#include "lcore/lcores.h"

static void ring_name(char *name, const struct mr *mr, const char *what, unsigned a, unsigned b)
{
	snprintf(name, RTE_RING_NAMESIZE, "%s%u_%u_%" PRIxPTR, what, a, b, (uintptr_t)mr);
}

struct rte_ring *mr_ring_of_packets(const struct mr *mr, const char *what, unsigned a, unsigned b,
				    unsigned size, int socket)
{
	char name[RTE_RING_NAMESIZE];

	ring_name(name, mr, what, a, b);
	return rte_ring_create(name, size, socket, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
}

struct rte_ring *mr_ring_of_learned(const struct mr *mr, unsigned lcore, int socket)
{
	char name[RTE_RING_NAMESIZE];

	ring_name(name, mr, "learn", lcore, 0);
	return rte_ring_create_elem(name, sizeof(struct mr_learned), MR_LEARN_RING_SIZE, socket,
				    RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
}

void mr_ring_discard(struct mr *mr, struct rte_ring *ring, uint16_t port,
		     enum mr_drop_reason reason)
{
	void *packet;

	if (ring == NULL)
		return;
	while (rte_ring_sc_dequeue(ring, &packet) == 0)
		mr_control_drop(mr, port, reason, packet);
}

static void run_adopted(struct mr_lcores *lcores)
{
	for (unsigned i = 0; i < lcores->count; i++)
		mr_lcore_iteration(lcores->lcore[i], lcores->lcore[i]->now);
}

void mr_ring_await(struct mr *mr, const struct rte_ring *ring)
{
	/* The positions count all packets that ever passed, modulo 2^32. */
	if (ring != NULL)
		mr_await_position(mr, (const uint32_t *)&ring->cons.tail,
				  __atomic_load_n(&ring->prod.tail, __ATOMIC_ACQUIRE));
}

void mr_await_position(struct mr *mr, const uint32_t *taken, uint32_t target)
{
	while (mr->lcores->running &&
	       (int32_t)(__atomic_load_n(taken, __ATOMIC_ACQUIRE) - target) < 0) {
		if (mr->lcores->adopted)
			run_adopted(mr->lcores);
		else
			sched_yield();
	}
}

void mr_rings_discard_all(struct mr *mr)
{
	struct mr_lcores *lcores = mr->lcores;

	for (unsigned i = 0; i < lcores->count; i++) {
		mr_ring_discard(mr, lcores->lcore[i]->punt, MR_PORT_NONE, MR_DROP_stopped);
		mr_ring_discard(mr, lcores->lcore[i]->punt_error, MR_PORT_NONE, MR_DROP_stopped);
		mr_ring_discard(mr, lcores->lcore[i]->inject, MR_PORT_NONE, MR_DROP_stopped);
		for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++) {
			mr_handover_discard(mr, lcores->handover[i][port], port, MR_DROP_stopped);
			mr_handover_discard(mr, lcores->spread[i][port], port, MR_DROP_stopped);
		}
	}
}
