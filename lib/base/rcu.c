/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list over rte_rcu_qsbr_start/check, since rte_rcu_qsbr_dq is experimental in DPDK 22.11 and
 * takes one token an object. Objects deferred since the last poll wait without a token; the poll
 * takes one token for them all.
 */
#include "base/rcu.h"

#include <stdlib.h>

#include <rte_malloc.h>

struct mr_rcu_deferred {
	struct mr_rcu_deferred *next;
	void (*fn)(void *);
	void *arg;
	uint64_t token; /* 0: not taken yet */
};

struct mr_rcu *mr_rcu_create(unsigned max_threads)
{
	struct mr_rcu *rcu = calloc(1, sizeof(*rcu));

	if (rcu == NULL)
		return NULL;
	rcu->qsbr =
		rte_zmalloc("mr_rcu", rte_rcu_qsbr_get_memsize(max_threads), RTE_CACHE_LINE_SIZE);
	if (rcu->qsbr == NULL || rte_rcu_qsbr_init(rcu->qsbr, max_threads) != 0) {
		rte_free(rcu->qsbr);
		free(rcu);
		return NULL;
	}
	return rcu;
}

static void run_first(struct mr_rcu *rcu)
{
	struct mr_rcu_deferred *d = rcu->first;

	rcu->first = d->next;
	if (rcu->first == NULL)
		rcu->last = NULL;
	rcu->pending--;
	rcu->freed++;
	d->fn(d->arg);
	free(d);
}

void mr_rcu_destroy(struct mr_rcu *rcu)
{
	if (rcu == NULL)
		return;
	while (rcu->first != NULL)
		run_first(rcu);
	rte_free(rcu->qsbr);
	free(rcu);
}

void mr_rcu_defer(struct mr_rcu *rcu, void (*fn)(void *), void *arg)
{
	struct mr_rcu_deferred *d = malloc(sizeof(*d));

	if (d == NULL) {
		/* Without memory for the list the only safe way left is to wait. */
		mr_rcu_synchronize(rcu);
		fn(arg);
		return;
	}
	*d = (struct mr_rcu_deferred){.fn = fn, .arg = arg};
	if (rcu->last != NULL)
		rcu->last->next = d;
	else
		rcu->first = d;
	rcu->last = d;
	rcu->pending++;
}

unsigned mr_rcu_poll(struct mr_rcu *rcu)
{
	struct mr_rcu_deferred *d;

	while (rcu->first != NULL && rcu->first->token != 0 &&
	       rte_rcu_qsbr_check(rcu->qsbr, rcu->first->token, false) == 1)
		run_first(rcu);
	/* Only the tail can be without a token, and only when the last one's is 0. */
	if (rcu->last != NULL && rcu->last->token == 0) {
		uint64_t token = rte_rcu_qsbr_start(rcu->qsbr);
		for (d = rcu->first; d != NULL; d = d->next)
			if (d->token == 0)
				d->token = token;
	}
	return rcu->pending;
}

void mr_rcu_synchronize(struct mr_rcu *rcu)
{
	if (!rcu->readers_inline)
		rte_rcu_qsbr_synchronize(rcu->qsbr, RTE_QSBR_THRID_INVALID);
	while (rcu->first != NULL)
		run_first(rcu);
}
