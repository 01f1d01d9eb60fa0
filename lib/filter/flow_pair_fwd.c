/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/flow_pair_fwd.h"

#include <netinet/in.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

static uint32_t link_of(const struct flow_view *view)
{
	return (view->lcore + 1) << FLOW_LCORE_SHIFT | view->slot;
}

/* ---- time ---- */

static enum flow_timeout timeout_of(const struct flow_key *key, const struct flow_view *view,
				    const struct flow_view *peer)
{
	switch (key->protocol) {
	case IPPROTO_TCP:
		/* The other direction was there, and its entry has ended before this one. */
		if (peer == NULL && view->link != 0)
			return FLOW_TCP_CLOSED;
		return FLOW_TCP_OPENING + tcp_phase(&view->tcp, flow_half(peer));
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		return peer != NULL ? FLOW_UDP_ESTABLISHED : FLOW_UDP_OPENING;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return FLOW_ICMP;
	default:
		return peer != NULL ? FLOW_OTHER_ESTABLISHED : FLOW_OTHER_OPENING;
	}
}

uint32_t filter_flow_left(const struct filter_flows *flows, const struct flow_key *key,
			  const struct flow_view *view, const struct flow_view *peer, uint32_t now,
			  bool *opening)
{
	enum flow_timeout kind = timeout_of(key, view, peer);
	uint32_t timeout = __atomic_load_n(&flows->timeout[kind], __ATOMIC_RELAXED), idle;

	*opening = peer == NULL || kind == FLOW_TCP_OPENING;
	if (key->epoch != __atomic_load_n(&flows->epoch, __ATOMIC_RELAXED))
		return 0;
	idle = now - view->seen;
	if (peer != NULL && now - peer->seen < idle)
		idle = now - peer->seen;
	if (idle > UINT32_MAX / 2)
		idle = 0; /* another lcore has seen the next second already */
	return idle < timeout ? timeout - idle : 0;
}

/* ---- the opposite direction ---- */

static bool is_over(const struct flow_key *key, const struct flow_view *view)
{
	return key->protocol == IPPROTO_TCP && tcp_phase(&view->tcp, NULL) >= TCP_CLOSING;
}

/* Reads the opposite by a link. */
static bool follow_link(const struct filter_flows *flows, const struct flow_key *reverse,
			const struct flow_view *view, struct flow_view *peer)
{
	uint32_t lcore = view->link >> FLOW_LCORE_SHIFT & FLOW_LCORE_MASK;

	return lcore != 0 &&
	       flow_view_at(flows->table[lcore - 1], view->link & FLOW_SLOT_MASK, reverse, peer) &&
	       peer->id == view->id;
}

bool flow_find_latest(const struct filter_flows *flows, const struct flow_key *key, uint32_t but,
		      struct flow_view *latest)
{
	struct flow_view view;
	bool found = false;

	for (unsigned i = 0; i < flows->count; i++) {
		if (i == but || !flow_view_find(flows->table[i], key, &view))
			continue;
		if (found && (int32_t)(view.seen - latest->seen) < 0)
			continue;
		if (found && view.seen == latest->seen && key->protocol == IPPROTO_TCP &&
		    (int32_t)(view.tcp.end - latest->tcp.end) < 0)
			continue;
		*latest = view;
		found = true;
	}
	return found;
}

bool filter_flow_peer(const struct filter_flows *flows, const struct flow_key *key,
		      const struct flow_view *view, struct flow_view *peer)
{
	struct flow_key reverse = flow_reverse(key);

	return follow_link(flows, &reverse, view, peer) ||
	       (flow_find_latest(flows, &reverse, FLOW_NOWHERE, peer) && peer->id == view->id);
}

static void set_id(struct flow_entry *entry, uint32_t id)
{
	__atomic_store_n(&entry->id, id, __ATOMIC_RELEASE);
}

void flow_become_answer(struct flow_view *view, const struct flow_view *peer, uint32_t now)
{
	*view = (struct flow_view){
		.seen = now,
		.link = link_of(peer) | FLOW_SETTLED,
		.id = peer->id,
		.created = peer->created,
		.serial = peer->serial,
	};
}

/* Takes back what counts a flow towards a limit. */
static void uncount(struct flow_table *table, uint32_t slot)
{
	struct flow_entry *entry = &table->entry[slot];

	if (entry->limit == 0)
		return;
	flow_limit_give(table->limits, entry->limit - 1);
	entry->limit = 0;
}

void flow_end(struct flow_table *table, uint32_t slot)
{
	uncount(table, slot);
	flow_remove(table, slot);
}

void flow_pair_find_peer(const struct flow_context *context, struct flow_pair *pair, bool met)
{
	struct flow_entry *entry = &context->own->entry[pair->slot];
	struct flow_key reverse = flow_reverse(&pair->key);

	entry->turn = context->now;
	pair->has_peer = flow_find_latest(context->flows, &reverse, FLOW_NOWHERE, &pair->peer);
	if (!pair->has_peer)
		return;
	if (pair->peer.id != pair->view.id) {
		int32_t newer = (int32_t)(pair->peer.created - pair->view.created);

		if (!met || newer < 0 || is_over(&reverse, &pair->peer) ||
		    (newer == 0 && tcp_is_before(&pair->peer.tcp, &pair->view.tcp))) {
			pair->has_peer = false;
			return;
		}
		if (newer > 0 || is_over(&pair->key, &pair->view) ||
		    tcp_is_before(&pair->view.tcp, &pair->peer.tcp)) {
			uint64_t hash = flow_hash(context->own, &pair->key);

			flow_become_answer(&pair->view, &pair->peer, context->now);
			flow_end(context->own, pair->slot);
			flow_put(context->own, pair->slot, &pair->key, hash, &pair->view);
			return;
		}
		pair->view.id = RTE_MIN(pair->view.id, pair->peer.id);
		set_id(entry, pair->view.id);
	}
	pair->view.link = link_of(&pair->peer) | (entry->link & FLOW_SETTLED);
	flow_set_link(context->own, pair->slot, pair->view.link);
}

void flow_pair_load(const struct flow_context *context, uint32_t slot, struct flow_pair *pair)
{
	const struct flow_entry *entry = &context->own->entry[slot];
	struct flow_key reverse;

	pair->slot = slot;
	pair->key = flow_key_at(context->own, slot);
	pair->view = (struct flow_view){.seen = entry->seen,
					.link = entry->link,
					.id = entry->id,
					.created = entry->created,
					.serial = entry->serial,
					.tcp = flow_tcp(entry)};
	reverse = flow_reverse(&pair->key);
	pair->has_peer = follow_link(context->flows, &reverse, &pair->view, &pair->peer);
}

static bool is_dead(const struct flow_context *context, const struct flow_pair *pair, bool *opening)
{
	return filter_flow_left(context->flows, &pair->key, &pair->view, flow_pair_peer(pair),
				context->now, opening) == 0;
}

/* Whether to look if the other end has answered meanwhile, by a reset maybe: often enough to find
 * its entry before that ends. */
static bool may_be_reset(const struct flow_context *context, const struct flow_pair *pair)
{
	const uint32_t *timeout = &context->flows->timeout[FLOW_TCP_CLOSED];
	uint32_t since = context->now - context->own->entry[pair->slot].turn;

	return pair->key.protocol == IPPROTO_TCP &&
	       since >= __atomic_load_n(timeout, __ATOMIC_RELAXED) / 2;
}

bool flow_pair_is_dead(const struct flow_context *context, struct flow_pair *pair, bool *opening)
{
	bool dead = is_dead(context, pair, opening);

	if (pair->has_peer || (!dead && !may_be_reset(context, pair)))
		return dead;
	flow_pair_find_peer(context, pair, false);
	return is_dead(context, pair, opening);
}

/* ---- the rule ---- */

const struct flow_rule *filter_flow_rule(const struct flow_rules *rules, uint64_t serial)
{
	uint32_t low = 0, high = rules->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (rules->rule[middle].limit.serial < serial)
			low = middle + 1;
		else
			high = middle;
	}
	return low < rules->count && rules->rule[low].limit.serial == serial ? &rules->rule[low]
									     : NULL;
}

bool flow_entry_rule(const struct flow_context *context, struct flow_entry *entry, uint32_t *index)
{
	const struct flow_rule *rule;

	if (likely(entry->program == context->rules->program)) {
		*index = entry->rule;
		return true;
	}
	rule = filter_flow_rule(context->rules, entry->serial);
	if (rule == NULL)
		return false;
	entry->program = context->rules->program;
	entry->rule = *index = rule->index;
	return true;
}
