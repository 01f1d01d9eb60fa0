/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_TEST_RING_RIG_H
#define MR_TEST_RING_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "base/error.h"
#include "base/mr.h"

/*
 * An appliance over ring ports, whose one forwarding lcore and control thread both run when the
 * caller says so, under a clock that the caller turns. No threads, no sleeps, no opinion on what
 * is right: that is for the harness and the fuzzers to have. Ports are numbered from 0, their
 * MACs 02:00:00:00:00:0N.
 */
#define RING_RIG_MAX_PORTS 8
#define RING_RIG_RING_SIZE 1024 /* packets, less one */

struct ring_rig {
	struct mr *mr;
	unsigned ports;
	struct rte_ring *rx[RING_RIG_MAX_PORTS], *tx[RING_RIG_MAX_PORTS];
	uint64_t now_ms, tsc;
};

/* Makes that many ports and the appliance; EAL has no port yet. Once per program. Returns 0 or a
 * negative errno with a sentence in error. */
int ring_rig_create(struct ring_rig *rig, unsigned ports, struct mr_error *error);

/* A buffer with those bytes; what else is in it is not what a frame could hope for. NULL when the
 * pool is empty or the frame too long for a buffer. */
struct rte_mbuf *ring_rig_buffer(struct ring_rig *rig, const void *bytes, unsigned length);

/* Puts a packet where its port receives it; false (and still the caller's) if there is no room. */
bool ring_rig_put(struct ring_rig *rig, unsigned port, struct rte_mbuf *packet);

/* The next packet that left a port, now the caller's; NULL if there is none. */
struct rte_mbuf *ring_rig_take(struct ring_rig *rig, unsigned port);

/* Runs lcore and control thread in turn until both have nothing left to do. */
void ring_rig_run(struct ring_rig *rig);
/* Turns the clock and runs, in steps of at most step_ms, so that every timer gets its turn. */
void ring_rig_advance(struct ring_rig *rig, uint64_t ms, uint64_t step_ms);

/* Brings a port's link down or up, as a cable would; the appliance has noticed on return. */
void ring_rig_link(struct ring_rig *rig, unsigned port, bool up);

/* Free buffers, also those that wait in this thread's cache. */
unsigned ring_rig_free_buffers(struct ring_rig *rig);

/* What the show commands say, each as "command: JSON" on a line; to be freed. NULL with error set
 * when one of them is refused. */
char *ring_rig_show(struct ring_rig *rig, const char *const *commands, unsigned count,
		    struct mr_error *error);

/* Everything that a person configures of bridges and routes, in the form of ring_rig_show. */
char *ring_rig_configuration(struct ring_rig *rig, struct mr_error *error);

#endif
