/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_LCORES_H
#define MR_LCORE_LCORES_H

#include "base/cmd.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/mr.h"
#include "lcore/lcore.h"
#include "lcore/placement.h"
#include "lcore/sleep_fwd.h"

/*
 * The forwarding lcores as the control thread sees them: making them, placing queues on them,
 * starting and stopping, counters. All functions are the control thread's.
 */
#define MR_MAX_HELD_TERMS 8

/* The lcores, by index, that a port is spread over, in the order of the flow hash. */
struct mr_workers {
	unsigned count; /* 0: not spread */
	uint8_t lcore[MR_MAX_WORKERS];
};

struct mr_lcores {
	struct mr_forwarding forwarding;
	unsigned count;
	struct mr_lcore *lcore[MR_MAX_LCORES];
	struct mr_counters *control;   /* the control thread's own counters */
	bool running;                  /* lcores forward */
	bool adopted;                  /* ... on the calling thread, see mr_lcores_adopt */
	struct mr_rates *rates;        /* packets a second, see rates.h */
	struct mr_placement placement; /* in force; only of started ports */
	struct mr_handover *handover[MR_MAX_LCORES][RTE_MAX_ETHPORTS]; /* by sender and port, made
								       when first needed */
	struct mr_handover
		*spread[MR_MAX_LCORES][RTE_MAX_ETHPORTS]; /* by worker and port, likewise */
	unsigned handover_size; /* packets that a ring of handover[] holds; set before the first
				   placement */

	/* What was asked for by command, of ports that exist or not; kept when ports stop. */
	uint8_t pinned[RTE_MAX_ETHPORTS][MR_MAX_QUEUES]; /* by rx queue, or MR_NO_LCORE */
	struct mr_workers workers[RTE_MAX_ETHPORTS];
	uint32_t feeds[RTE_MAX_ETHPORTS]; /* see struct mr_placement_port; as last placed */
	uint64_t (*held_term[MR_MAX_HELD_TERMS])(struct mr *mr);
	unsigned held_terms;
	struct mr_port_totals *port_baseline[RTE_MAX_ETHPORTS]; /* at the last clear, or NULL */
};

/* Makes one forwarding lcore for each of the count EAL lcore ids (tests pass ids that run no
 * thread), registers them as readers 0..count-1 of mr->rcu and sets mr->lcores. mr->rcu and
 * mr->ifaces exist. The stages of bridge and route are for their rooms to set; until then what
 * arrives is dropped as `unconfigured`. Returns 0 or a negative errno with error set. */
int mr_lcores_create(struct mr *mr, const unsigned *ids, unsigned count, struct mr_error *error);

/* What lcores do that have no work, MR_IDLE_BUSY unless told; before they start. Where the kernel
 * lacks what sleeping needs, they stay busy, with a warning. */
void mr_lcores_set_idle(struct mr *mr, enum mr_idle mode);

/* Frees the lcores. They have been stopped, so no packet is left in their rings. */
void mr_lcores_destroy(struct mr *mr);

/* Computes plans from the started ports and publishes them: rx queues spread evenly, lcores of the
 * port's NUMA node first, or where they are pinned; each tx queue owned by one lcore. To be called
 * after ports were started. Waits for grace periods, and for what is on its way through rings.
 * Nothing is lost and no flow's order changes. Where forwarding was adopted, it runs iterations
 * itself. Returns 0 or a negative errno, the old plans staying in force. */
int mr_lcores_place(struct mr *mr, struct mr_error *error);

/* Places again when interfaces' roles have changed so that packets go other ways between ports than
 * when they were placed. */
void mr_lcores_follow_roles(struct mr *mr);

/* The same, but without a started port that is about to be stopped (MR_PORT_NONE: with all). After
 * it no lcore touches the port any more and its rings are empty, so mr_port_stop may follow. */
int mr_lcores_place_without(struct mr *mr, uint16_t port, struct mr_error *error);

/* Starts the lcores' threads, or stops them and waits until they are out of the packet path; what
 * was in rings is dropped as `stopped`. Starting what runs gives -EALREADY. */
int mr_lcores_start(struct mr *mr, struct mr_error *error);
void mr_lcores_stop(struct mr *mr);

/* In the place of mr_lcores_start where there are no threads: the caller runs mr_lcore_iteration
 * for each lcore itself, between its calls as the control thread (tests, fuzzers). */
void mr_lcores_adopt(struct mr *mr);

/* Sends a complete frame out of an interface through an lcore that owns a tx queue of its port;
 * takes the buffer in any case (a full ring drops it under `inject_full`, an interface that does
 * not exist or whose port is stopped under `no_tx_path`, stopped forwarding under `stopped`).
 * Frames of one interface stay in their order. */
void mr_inject(struct mr *mr, uint16_t iface, struct rte_mbuf *frame);

/* Drops a packet of the control thread, on a port or MR_PORT_NONE. */
void mr_control_drop(struct mr *mr, uint16_t port, enum mr_drop_reason reason, struct rte_mbuf *m);

/* Gives what lcores punted to input, which takes the packets: first all of the punt rings, then up
 * to budget packets of the punt_error rings. mr_punt_of(packet) says why each comes. Returns how
 * many packets it gave. */
unsigned mr_lcores_drain(struct mr *mr, unsigned budget,
			 void (*input)(struct mr *mr, struct rte_mbuf *packet));

/* Gives stations that lcores saw to learn, in the order in which each lcore saw them. Returns how
 * many. */
unsigned mr_lcores_drain_learned(struct mr *mr,
				 void (*learn)(struct mr *mr, const struct mr_learned *learned,
					       unsigned count));

/* Advances the lcores' seconds and, once a second, takes the counters' snapshots that rates are
 * made of. now_ms: monotonic. Any number of times a second. */
void mr_lcores_poll(struct mr *mr, uint64_t now_ms);

/* The conservation law's terms, summed over all threads. held: in rings, in tx buffers, and what
 * rooms above hold. It is exact when no packet is on its way. */
struct mr_balance {
	uint64_t received, originated, copied, transmitted, consumed, dropped, held;
};
struct mr_balance mr_lcores_balance(struct mr *mr);

/* Adds a term to held: the packets that a room above keeps back (for a neighbour's MAC, for
 * reassembly). At most MR_MAX_HELD_TERMS; to be called once by each room, when it is made. */
void mr_lcores_add_held(struct mr *mr, uint64_t (*held)(struct mr *mr));

/* Moves an rx queue to the lcore with that index, where it stays until it is released
 * (MR_NO_LCORE: back to even placement), while packets flow. The port and its queue exist. Returns
 * 0 or a negative errno, nothing changed. */
int mr_lcores_pin(struct mr *mr, uint16_t port, uint16_t queue, uint8_t lcore,
		  struct mr_error *error);

/* Spreads what arrives on a port, which has one rx queue, over workers (none: no more), by flow.
 * Returns 0 or a negative errno, nothing changed. */
int mr_lcores_spread(struct mr *mr, uint16_t port, const struct mr_workers *workers,
		     struct mr_error *error);

/* Forgets what was decided about a port, which is placed no more, and notes it in lines (which may
 * be NULL). */
void mr_lcores_withdraw(struct mr *mr, uint16_t port, struct mr_lines *lines);

extern const struct mr_cmd mr_lcore_cmds[];
extern const struct mr_query mr_lcore_queries[];

#endif
