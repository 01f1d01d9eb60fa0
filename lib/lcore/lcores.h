/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_LCORES_H
#define MR_LCORE_LCORES_H

#include "base/cmd.h"
#include "base/error.h"
#include "base/mr.h"
#include "lcore/lcore.h"

/*
 * The forwarding lcores as the control thread sees them: making them, placing queues on them,
 * starting and stopping, counters. All functions are the control thread's.
 */
#define MR_MAX_LCORES 64 /* that forward */

struct mr_lcores {
	unsigned count;
	struct mr_lcore *lcore[MR_MAX_LCORES];
	struct mr_forwarding forwarding;
	struct mr_counters *control; /* the control thread's own counters */
	bool running;
	struct mr_rates *rates; /* packets a second, see rates.c */
	struct rte_ring *handover[MR_MAX_LCORES][RTE_MAX_ETHPORTS]; /* by sender and port */
};

/* Makes one forwarding lcore for each of the count EAL lcore ids (tests pass ids that run no
 * thread). Returns 0 or a negative errno with error set. */
int mr_lcores_create(struct mr *mr, const unsigned *ids, unsigned count, struct mr_error *error);
void mr_lcores_destroy(struct mr *mr);

/* Computes plans from the started ports and publishes them: rx queues spread evenly, lcores of the
 * port's NUMA node first; each tx queue owned by one lcore. To be called after any change of
 * started ports. Returns 0 or a negative errno, the old plans staying in force. */
int mr_lcores_place(struct mr *mr, struct mr_error *error);

/* Starts the lcores' threads, or stops them and waits until they are out of the packet path. */
int mr_lcores_start(struct mr *mr, struct mr_error *error);
void mr_lcores_stop(struct mr *mr);

/* Sends a complete frame out of an interface through the lcore that owns the tx queue; takes the
 * buffer in any case (a full ring drops it under `inject_full`, stopped forwarding under
 * `stopped`). Control thread. */
void mr_inject(struct mr *mr, uint16_t iface, struct rte_mbuf *frame);

/* Drops packets of the control thread, on a port or MR_PORT_NONE. */
void mr_control_drop(struct mr *mr, uint16_t port, enum mr_drop_reason reason, struct rte_mbuf *m);

/* Once a second: takes the counters' snapshots that rates are made of. now_ms: monotonic. */
void mr_lcores_poll(struct mr *mr, uint64_t now_ms);

/* The conservation law's terms, summed over all threads. held: in rings and hold queues. */
struct mr_balance {
	uint64_t received, originated, copied, transmitted, consumed, dropped, held;
};
struct mr_balance mr_lcores_balance(struct mr *mr);

extern const struct mr_cmd mr_lcore_cmds[];
extern const struct mr_query mr_lcore_queries[];

#endif
