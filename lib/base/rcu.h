/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_BASE_RCU_H
#define MR_BASE_RCU_H

#include <stdbool.h>

#include <rte_rcu_qsbr.h>

/*
 * Grace periods. The control thread is the only writer: it unpublishes an object, hands it to
 * mr_rcu_defer, and the object is freed by a later mr_rcu_poll, when every forwarding lcore has
 * passed a quiescent state. The control thread never waits for readers except in
 * mr_rcu_synchronize, which only stopping uses.
 */
struct mr_rcu {
	struct rte_rcu_qsbr *qsbr;
	struct mr_rcu_deferred *first, *last; /* in the order of their tokens */
	unsigned pending;
	uint64_t freed;
	bool readers_inline; /* readers run on the control thread itself, between its own steps
				(tests): while it is here there is none to wait for */
};

/* Makes a context for thread ids 0..max_threads-1. Returns NULL without memory. */
struct mr_rcu *mr_rcu_create(unsigned max_threads);

/* Runs all that is deferred, whatever readers do (there must be none), and frees rcu. */
void mr_rcu_destroy(struct mr_rcu *rcu);

/* Runs fn(arg) on the control thread after a grace period that starts now. Control thread only.
 * Callbacks run in the order of their deferral. */
void mr_rcu_defer(struct mr_rcu *rcu, void (*fn)(void *), void *arg);

/* Runs the callbacks whose grace period is over; returns how many are still pending. Everything
 * deferred between two calls shares one token. Control thread only, once an iteration. */
unsigned mr_rcu_poll(struct mr_rcu *rcu);

/* Waits until every online reader has passed a quiescent state, then runs all that is deferred.
 * Control thread only; for stopping. */
void mr_rcu_synchronize(struct mr_rcu *rcu);

#endif
