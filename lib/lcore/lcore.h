/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_LCORE_H
#define MR_LCORE_LCORE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_rcu_qsbr.h>
#include <rte_ring.h>
#include <rte_spinlock.h>

#include "base/mr.h"
#include "lcore/counters.h"
#include "packet/vector.h"
#include "port/iface.h"

/*
 * What a forwarding lcore owns and reads. The parts differ in who writes them: the plan and the
 * forwarding state are read-only to lcores and published by the control thread; the rings have one
 * end each; everything else is the lcore's own, on cache lines of its own.
 */
struct mr_handover;
struct mr_lcore;
struct mr_sleep;

/* A stage takes a vector and ends, holds or passes on each of its packets. */
typedef void mr_stage_fn(struct mr_lcore *lcore, struct mr_vector *vector,
			 const struct mr_iface *iface);

/* What packets of bridges and of the router meet between arrival and stage, and between a decision
 * and the tx queue. Immutable, published as a whole by room filter. */
struct mr_hooks {
	/* Ends, or takes out of the vector, what shall not go on. */
	void (*input)(const struct mr_hooks *hooks, struct mr_lcore *lcore,
		      struct mr_vector *vector, const struct mr_iface *iface);
	/* The same for packets of together *bytes bytes; those that go on are moved to the front.
	 * Returns how many they are. */
	unsigned (*output)(const struct mr_hooks *hooks, struct mr_lcore *lcore,
			   const struct mr_iface *iface, struct rte_mbuf **packets, unsigned count,
			   uint64_t *bytes);
	/* A turn of what is to be done from time to time, once an iteration; NULL: nothing is. */
	void (*tick)(const struct mr_hooks *hooks, struct mr_lcore *lcore);
};

/* A word that the input hook leaves in a packet for the output hook. Packets of the control thread,
 * which met no input hook, have 0. */
static inline uint32_t *mr_hook_word(struct rte_mbuf *packet)
{
	return &packet->hash.usr;
}

/* Shared by all lcores; written by the control thread. */
struct mr_forwarding {
	struct mr_ifaces *ifaces;
	mr_stage_fn *stage[MR_MODES];         /* by interface mode; set once, before lcores start */
	struct mr_bridge_fwd *bridge;         /* room bridge's published state; set once */
	struct mr_route_fwd *route;           /* room route's published state; set once */
	const struct mr_hooks *hooks;         /* NULL: none; published by room filter */
	uint32_t seconds __rte_cache_aligned; /* monotonic clock, stored once a second */
	/* Around switching rx interrupts, by port: lcores that fall asleep or woke. */
	rte_spinlock_t rx_interrupt_lock[RTE_MAX_ETHPORTS] __rte_cache_aligned;
};

struct mr_rx_queue {
	uint16_t port, queue, burst;
	bool spread; /* what arrives is shared out, as spread[port] says */
};

#define MR_MAX_WORKERS 16 /* of a port */

/* The lcores that share what arrives on a port; a flow's hash picks one. */
struct mr_spread {
	uint16_t count;
	struct mr_handover *worker[MR_MAX_WORKERS]; /* NULL: the lcore that polls the port itself */
	struct mr_sleep *sleep[MR_MAX_WORKERS];     /* theirs, to wake them */
};

/* How an lcore sends to a port. */
struct mr_tx_path {
	struct mr_handover *handover; /* to the queue's owner; NULL when the lcore owns the queue */
	struct mr_sleep *owner;       /* of the queue's owner, to wake it */
	uint16_t queue;
	bool usable; /* false: the port is stopped or absent */
};

/* A ring of another lcore's packets: that this one sends on a port's queue which it owns, or that
 * arrived on the port and that this one carries on. */
struct mr_source {
	struct mr_handover *ring;
	struct rte_mempool *pool; /* the port's: of frames that cross by value */
	uint16_t port;
};

#define MR_MAX_RX_QUEUES 128  /* an lcore */
#define MR_MAX_TX_SOURCES 256 /* an lcore */

/* What an lcore polls and where it sends; immutable, replaced as a whole. */
struct mr_plan {
	uint16_t rx_count, source_count, spread_count;
	bool rx_interrupts; /* all rx queues have interrupts, so that the lcore may block on them */
	struct mr_tx_path tx[RTE_MAX_ETHPORTS];
	struct mr_rx_queue rx[MR_MAX_RX_QUEUES];
	struct mr_source source[MR_MAX_TX_SOURCES];
	struct mr_spread spread[RTE_MAX_ETHPORTS];
	struct mr_source spread_source[RTE_MAX_ETHPORTS];
} __rte_cache_aligned;

/* Packets that wait for the end of the iteration to be sent on one port. */
struct mr_tx_buffer {
	uint16_t count;
	uint64_t bytes; /* of the packets */
	struct rte_mbuf *packet[MR_VECTOR_SIZE];
} __rte_cache_aligned;

/* A station that an lcore saw and did not find. */
struct mr_learned {
	uint64_t key;   /* bridge and MAC, as room bridge makes it */
	uint64_t iface; /* where it was seen */
};

struct mr_lcore {
	/* Written by the control thread, read by the lcore. */
	const struct mr_plan *plan; /* NULL: nothing to do */
	struct mr_forwarding *forwarding;
	struct rte_rcu_qsbr *qsbr;
	struct mr_sleep *sleep;      /* see sleep_fwd.h */
	struct rte_ring *punt;       /* lcore to control: ARP and packets for the appliance */
	struct rte_ring *punt_error; /* lcore to control: what could not be forwarded; a ring of
				       its own so that a flood of it cannot starve ARP */
	struct rte_ring *inject;     /* control to lcore: frames ready to be sent */
	struct rte_ring *learn;      /* lcore to control: struct mr_learned */
	unsigned id;                 /* EAL lcore id */
	unsigned index;              /* 0.. among forwarding lcores; also the RCU thread id */
	int socket;
	bool stop;

	/* Written by the lcore alone. */
	uint64_t now __rte_cache_aligned;   /* TSC, read once an iteration */
	const struct mr_plan *current_plan; /* plan, as loaded for this iteration */
	const struct mr_hooks *hooks;       /* forwarding->hooks, likewise */
	bool was_busy;                      /* the last iteration met a packet */
	uint32_t tx_pending;                /* mask of ports with packets in tx[] */
	struct mr_vector vector;
	struct mr_tx_buffer tx[RTE_MAX_ETHPORTS];
	struct mr_counters counters;
} __rte_cache_aligned;

static_assert(RTE_MAX_ETHPORTS <= 32, "tx_pending is a uint32_t");
static_assert(offsetof(struct mr_lcore, now) % RTE_CACHE_LINE_SIZE == 0,
	      "what the lcore writes shares no line with what control writes");

/* One iteration: polls every rx queue once, carries what arrived to its end, sends what other
 * lcores and the control thread handed over, and passes a quiescent state. now: TSC. Returns how
 * many packets it met. The lcore's thread only (or a test's, in its place). */
unsigned mr_lcore_iteration(struct mr_lcore *lcore, uint64_t now);

/* Gives buffers that the device has sent back to their pool, on queues that the lcore owns, where
 * the driver can do so without sending more. Not cheap and not free of locks: for an idle moment.
 * The lcore's thread only. */
void mr_lcore_reclaim(struct mr_lcore *lcore);

#endif
