/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_FLOW_PAIR_FWD_H
#define FILTER_FLOW_PAIR_FWD_H

/*
 * An entry of the lcore's own table together with the opposite direction, which may be in any
 * table: what both say decides whether the flow is alive.
 */
#include "filter/flow_fwd.h"

struct flow_pair {
	uint32_t slot;
	struct flow_key key;
	struct flow_view view, peer; /* view.tcp is the entry's */
	bool has_peer;
};

/* What an end has sent, NULL: nothing yet. */
static inline const struct tcp_half *flow_half(const struct flow_view *view)
{
	return view == NULL || (view->tcp.flags & TCP_HALF_SEEN) == 0 ? NULL : &view->tcp;
}

static inline const struct flow_view *flow_pair_peer(const struct flow_pair *pair)
{
	return pair->has_peer ? &pair->peer : NULL;
}

/* Reads an entry of the own table and, where it is linked, what is opposite. */
void flow_pair_load(const struct flow_context *context, uint32_t slot, struct flow_pair *pair);

/* Looks for the opposite anew. It may be of another flow: of one that is over (then there is none),
 * of one that has taken the place of this one, or made at the same instant. Then a packet of this
 * direction that is being met joins the two. */
void flow_pair_find_peer(const struct flow_context *context, struct flow_pair *pair, bool met);

/* Whether an entry is over, which is looked into only as far as need be. */
bool flow_pair_is_dead(const struct flow_context *context, struct flow_pair *pair, bool *opening);

/* Finds the entry of a key that was used last, in any table but one (FLOW_NOWHERE: in any). */
bool flow_find_latest(const struct filter_flows *flows, const struct flow_key *key, uint32_t but,
		      struct flow_view *latest);

/* Makes a direction the answer to what is there of the opposite one: it is of that flow now. */
void flow_become_answer(struct flow_view *view, const struct flow_view *peer, uint32_t now);

/* The index of the rule that made an entry's flow; false: it is no more. */
bool flow_entry_rule(const struct flow_context *context, struct flow_entry *entry, uint32_t *index);

/* Ends an entry, and what counts it towards a limit. */
void flow_end(struct flow_table *table, uint32_t slot);

#endif
