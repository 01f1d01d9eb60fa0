/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/flow_fwd.h"

#include <netinet/in.h>
#include <string.h>

#include <rte_branch_prediction.h>

#include "filter/flow_pair_fwd.h"
#include "filter/flow_room_fwd.h"
#include "lcore/counters.h"

/* Whether the direction of view is alive. */
static bool is_alive(const struct flow_context *context, const struct flow_key *key,
		     const struct flow_view *view)
{
	struct flow_view peer;
	bool opening, has_peer = filter_flow_peer(context->flows, key, view, &peer);

	return filter_flow_left(context->flows, key, view, has_peer ? &peer : NULL, context->now,
				&opening) != 0 &&
	       filter_flow_rule(context->rules, view->serial) != NULL;
}

/* Finds out what a packet is whose direction this lcore does not know: of a flow that was moved
 * here, or the answer in one. */
static enum flow_answer recognize(const struct flow_context *context,
				  const struct flow_packet *packet, struct flow_view *view)
{
	struct flow_key reverse = flow_reverse(&packet->key);
	struct flow_view peer;
	bool has_peer = flow_find_latest(context->flows, &reverse, FLOW_NOWHERE, &peer);
	struct tcp_half half;

	if (flow_find_latest(context->flows, &packet->key, context->own->owner, view)) {
		if (!is_alive(context, &packet->key, view))
			return FLOW_UNKNOWN;
	} else {
		if (!has_peer || !is_alive(context, &reverse, &peer))
			return FLOW_UNKNOWN;
		flow_become_answer(view, &peer, context->now);
		if (packet->is_tcp)
			view->link &= FLOW_LINK_MASK; /* until the handshake is complete */
	}
	if (!packet->is_tcp)
		return FLOW_KNOWN;
	half = view->tcp;
	switch (tcp_meet(&half, has_peer ? flow_half(&peer) : NULL, &packet->segment)) {
	case TCP_PASSES:
		return FLOW_KNOWN;
	case TCP_ANEW:
		return FLOW_UNKNOWN;
	default:
		return FLOW_BAD_STATE;
	}
}

/* The slot of a packet's direction, which may be new. Or FLOW_NOWHERE, and why. */
static uint32_t find_or_adopt(const struct flow_context *context, const struct flow_packet *packet,
			      uint64_t hash, enum flow_answer *why)
{
	uint32_t slot = flow_find(context->own, &packet->key, hash);
	struct flow_view view;

	if (likely(slot != FLOW_NOWHERE))
		return slot;
	*why = recognize(context, packet, &view);
	if (*why != FLOW_KNOWN)
		return FLOW_NOWHERE;
	slot = flow_make_room(context, hash);
	if (slot == FLOW_NOWHERE) {
		*why = FLOW_NO_PLACE;
		return slot;
	}
	flow_put(context->own, slot, &packet->key, hash, &view);
	mr_count(&context->own->counters.replies, 1);
	return slot;
}

/* Reads an entry of the own table and what is opposite, and looks for it where it is not linked: of
 * TCP each time, of others once a second. */
static void load_pair(const struct flow_context *context, uint32_t slot, struct flow_pair *pair)
{
	flow_pair_load(context, slot, pair);
	if (!pair->has_peer &&
	    (pair->key.protocol == IPPROTO_TCP || context->own->entry[slot].turn != context->now))
		flow_pair_find_peer(context, pair, true);
}

/* Meets a segment, at its connection's newest state. */
static enum tcp_verdict meet_segment(const struct flow_context *context, struct flow_pair *pair,
				     const struct tcp_segment *segment)
{
	struct flow_entry *entry = &context->own->entry[pair->slot];
	struct tcp_half half = pair->view.tcp;
	enum tcp_verdict verdict = tcp_meet(&half, flow_half(flow_pair_peer(pair)), segment);

	if (unlikely(verdict == TCP_REFUSED)) {
		flow_pair_find_peer(context, pair, true); /* it may have moved to another lcore */
		half = pair->view.tcp;
		verdict = tcp_meet(&half, flow_half(flow_pair_peer(pair)), segment);
	}
	if (verdict != TCP_PASSES)
		return verdict;
	if (memcmp(&half, &pair->view.tcp, sizeof(half)) != 0) {
		pair->view.tcp = half;
		flow_set_tcp(entry, &half);
	}
	return verdict;
}

static void settle(const struct flow_context *context, const struct flow_pair *pair)
{
	const struct flow_entry *entry = &context->own->entry[pair->slot];

	if ((entry->link & FLOW_SETTLED) != 0 || !pair->has_peer)
		return;
	if (pair->key.protocol == IPPROTO_TCP &&
	    tcp_phase(&pair->view.tcp, flow_half(&pair->peer)) < TCP_ESTABLISHED)
		return;
	flow_set_link(context->own, pair->slot, entry->link | FLOW_SETTLED);
}

/* An error passes if a flow that is alive has sent what it quotes. */
static enum flow_answer meet_error(const struct flow_context *context,
				   const struct flow_packet *packet, uint32_t *rule)
{
	const struct flow_rule *found;
	struct flow_view view, peer;
	bool has_peer, opening;

	if (!flow_find_latest(context->flows, &packet->key, FLOW_NOWHERE, &view))
		return FLOW_UNKNOWN;
	has_peer = filter_flow_peer(context->flows, &packet->key, &view, &peer);
	found = filter_flow_rule(context->rules, view.serial);
	if (found == NULL || filter_flow_left(context->flows, &packet->key, &view,
					      has_peer ? &peer : NULL, context->now, &opening) == 0)
		return FLOW_UNKNOWN;
	if (packet->is_tcp &&
	    !tcp_has_sent(&view.tcp, has_peer ? flow_half(&peer) : NULL, packet->segment.seq))
		return FLOW_UNKNOWN;
	mr_count(&context->own->counters.errors, 1);
	*rule = found->index;
	return FLOW_KNOWN;
}

static enum flow_answer meet(const struct flow_context *context, const struct flow_packet *packet,
			     uint64_t hash, uint32_t *rule)
{
	enum flow_answer why = FLOW_UNKNOWN;
	uint32_t slot = find_or_adopt(context, packet, hash, &why);
	struct flow_entry *entry;
	struct flow_pair pair;
	bool opening;

	if (slot == FLOW_NOWHERE)
		return why;
	load_pair(context, slot, &pair);
	entry = &context->own->entry[slot];
	if (unlikely(filter_flow_left(context->flows, &pair.key, &pair.view, flow_pair_peer(&pair),
				      context->now, &opening) == 0 ||
		     !flow_entry_rule(context, entry, rule))) {
		flow_end(context->own, slot);
		mr_count(&context->own->counters.expired, 1);
		return FLOW_UNKNOWN;
	}
	if (packet->is_tcp) {
		enum tcp_verdict verdict = meet_segment(context, &pair, &packet->segment);

		if (verdict == TCP_ANEW)
			flow_end(context->own, slot);
		if (verdict != TCP_PASSES)
			return verdict == TCP_ANEW ? FLOW_UNKNOWN : FLOW_BAD_STATE;
	}
	if (entry->seen != context->now)
		__atomic_store_n(&entry->seen, context->now, __ATOMIC_RELEASE);
	settle(context, &pair);
	if (!packet->is_tcp || (entry->link & FLOW_SETTLED) != 0)
		entry->fresh = filter_flow_period(context);
	return FLOW_KNOWN;
}

/* What becomes of a packet without a flow's key. */
static enum flow_answer of_no_flow(const struct flow_packet *packet)
{
	return packet->kind == FLOW_BROKEN ? FLOW_BAD_HEADER : FLOW_UNKNOWN;
}

enum flow_answer filter_flow_meet(const struct flow_context *context,
				  const struct flow_packet *packet, uint64_t hash, uint32_t *rule)
{
	struct flow_counters *counters = &context->own->counters;
	enum flow_answer answer;

	if (packet->kind == FLOW_ERROR_OF)
		return meet_error(context, packet, rule);
	if (packet->kind != FLOW_OF_KEY)
		return of_no_flow(packet);
	answer = meet(context, packet, hash, rule);
	if (unlikely(answer == FLOW_BAD_STATE))
		mr_count(&counters->refused_state, 1);
	if (unlikely(answer == FLOW_NO_PLACE))
		mr_count(&counters->refused_full, 1);
	return answer;
}

enum flow_answer filter_flow_make(const struct flow_context *context,
				  const struct flow_packet *packet, uint64_t hash,
				  const struct flow_rule *rule)
{
	struct flow_table *own = context->own;
	struct flow_view view = {
		.seen = context->now, .created = context->now, .serial = rule->limit.serial};
	enum flow_answer answer;
	struct flow_entry *entry;
	uint32_t slot, place = 0, index;

	if (packet->kind != FLOW_OF_KEY)
		return of_no_flow(packet);
	if (flow_find(own, &packet->key, hash) != FLOW_NOWHERE) { /* by one just before */
		answer = filter_flow_meet(context, packet, hash, &index);
		if (answer != FLOW_UNKNOWN)
			return answer;
	}
	if (packet->is_tcp && (!tcp_may_begin(&packet->segment) ||
			       tcp_meet(&view.tcp, NULL, &packet->segment) != TCP_PASSES)) {
		if (tcp_is_reset(&packet->segment))
			return FLOW_UNKNOWN;
		mr_count(&own->counters.refused_state, 1);
		return FLOW_BAD_STATE;
	}
	if (rule->limit.by != 0) {
		enum flow_limit_answer counted =
			flow_limit_take(context->flows->table, context->flows->count, own->owner,
					&rule->limit, &packet->key, &place);

		if (counted == FLOW_LIMIT_REACHED) {
			mr_count(&own->counters.refused_limit, 1);
			return FLOW_OVER_LIMIT;
		}
		if (counted == FLOW_LIMIT_FULL) {
			mr_count(&own->counters.refused_full, 1);
			return FLOW_NO_PLACE;
		}
	}
	slot = flow_make_room(context, hash);
	if (slot == FLOW_NOWHERE) {
		if (rule->limit.by != 0)
			flow_limit_give(own->limits, place);
		mr_count(&own->counters.refused_full, 1);
		return FLOW_NO_PLACE;
	}
	view.id = own->next_id++;
	flow_put(own, slot, &packet->key, hash, &view);
	entry = &own->entry[slot];
	entry->limit = rule->limit.by != 0 ? place + 1 : 0;
	entry->program = context->rules->program;
	entry->rule = rule->index;
	if (!packet->is_tcp)
		entry->fresh = filter_flow_period(context);
	mr_count(&own->counters.created, 1);
	return FLOW_MADE;
}
