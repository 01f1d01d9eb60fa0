/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/flow_fwd.h"

#include <netinet/in.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "lcore/counters.h"

/* An entry of the own table, and what is known of the opposite direction. */
struct flow_pair {
	uint32_t slot;
	struct flow_key key;
	struct flow_view view, peer; /* view.tcp is the entry's */
	bool has_peer;
};

static uint32_t link_of(const struct flow_view *view)
{
	return (view->lcore + 1) << FLOW_LCORE_SHIFT | view->slot;
}

static const struct tcp_half *half_of(const struct flow_view *view)
{
	return view == NULL || (view->tcp.flags & TCP_HALF_SEEN) == 0 ? NULL : &view->tcp;
}

/* ---- time ---- */

static enum flow_timeout timeout_of(const struct flow_key *key, const struct flow_view *view,
				    const struct flow_view *peer)
{
	switch (key->protocol) {
	case IPPROTO_TCP:
		/* The other direction was there, and its entry has ended before this one. */
		if (peer == NULL && (view->link & FLOW_SETTLED) != 0)
			return FLOW_TCP_CLOSED;
		return FLOW_TCP_OPENING + tcp_phase(&view->tcp, half_of(peer));
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

/* Finds the entry of a key that was used last, in any table but one (FLOW_NOWHERE: in any). */
static bool find_latest(const struct filter_flows *flows, const struct flow_key *key, uint32_t but,
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
	       (find_latest(flows, &reverse, FLOW_NOWHERE, peer) && peer->id == view->id);
}

static void set_id(struct flow_entry *entry, uint32_t id)
{
	__atomic_store_n(&entry->id, id, __ATOMIC_RELEASE);
}

/* Makes a direction the answer to what is there of the opposite one: it is of that flow now. */
static void become_answer(struct flow_view *view, const struct flow_view *peer, uint32_t now)
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

static void remove_entry(struct flow_table *table, uint32_t slot)
{
	uncount(table, slot);
	flow_remove(table, slot);
}

/* Looks for the opposite anew. It may be of another flow: of one that is over (then there is none),
 * of one that has taken the place of this one, or made at the same instant. Then a packet of this
 * direction that is being met joins the two. */
static void find_peer(const struct flow_context *context, struct flow_pair *pair, bool met)
{
	struct flow_entry *entry = &context->own->entry[pair->slot];
	struct flow_key reverse = flow_reverse(&pair->key);

	entry->turn = context->now;
	pair->has_peer = find_latest(context->flows, &reverse, FLOW_NOWHERE, &pair->peer);
	if (!pair->has_peer)
		return;
	if (pair->peer.id != pair->view.id) {
		int32_t newer = (int32_t)(pair->peer.created - pair->view.created);

		if (!met || newer < 0 || is_over(&reverse, &pair->peer)) {
			pair->has_peer = false;
			return;
		}
		if (newer > 0 || is_over(&pair->key, &pair->view)) {
			uint64_t hash = flow_hash(context->own, &pair->key);

			become_answer(&pair->view, &pair->peer, context->now);
			remove_entry(context->own, pair->slot);
			flow_put(context->own, pair->slot, &pair->key, hash, &pair->view);
			return;
		}
		pair->view.id = RTE_MIN(pair->view.id, pair->peer.id);
		set_id(entry, pair->view.id);
	}
	pair->view.link = link_of(&pair->peer) | (entry->link & FLOW_SETTLED);
	flow_set_link(context->own, pair->slot, pair->view.link);
}

/* Reads an entry of the own table and, where it is linked, what is opposite. */
static void load_linked(const struct flow_context *context, uint32_t slot, struct flow_pair *pair)
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

/* The same, and looks for what is opposite: of TCP each time, of others once a second. */
static void load_pair(const struct flow_context *context, uint32_t slot, struct flow_pair *pair)
{
	load_linked(context, slot, pair);
	if (!pair->has_peer &&
	    (pair->key.protocol == IPPROTO_TCP || context->own->entry[slot].turn != context->now))
		find_peer(context, pair, true);
}

static const struct flow_view *peer_of(const struct flow_pair *pair)
{
	return pair->has_peer ? &pair->peer : NULL;
}

/* Whether an entry is over, which is looked into only as far as need be. */
static bool is_dead(const struct flow_context *context, struct flow_pair *pair, bool *opening)
{
	if (filter_flow_left(context->flows, &pair->key, &pair->view, peer_of(pair), context->now,
			     opening) != 0)
		return false;
	if (pair->has_peer)
		return true;
	find_peer(context, pair, false);
	return filter_flow_left(context->flows, &pair->key, &pair->view, peer_of(pair),
				context->now, opening) == 0;
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

/* The index of the rule that made an entry's flow; false: it is no more. */
static bool rule_of(const struct flow_context *context, struct flow_entry *entry, uint32_t *index)
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

/* ---- places ---- */

/* Whether an entry may make room, and since when nothing came. */
static bool may_go(const struct flow_context *context, uint32_t slot, uint32_t *idle, bool *dead)
{
	const struct flow_entry *entry = &context->own->entry[slot];
	bool settled = (entry->link & FLOW_SETTLED) != 0, opening;
	struct flow_pair pair;

	*dead = false;
	if (settled && entry->seen == context->now)
		return false;
	load_linked(context, slot, &pair);
	*idle = context->now - pair.view.seen;
	*dead = is_dead(context, &pair, &opening);
	return *dead || (opening && !settled);
}

/* A slot for a new entry: a free one, that of a flow which is over, or of the oldest that is
 * opening. */
static uint32_t make_room(const struct flow_context *context, uint64_t hash)
{
	struct flow_table *own = context->own;
	uint32_t slot = flow_free_slot(own, hash), oldest = 0;
	bool dead = false;

	if (slot != FLOW_NOWHERE)
		return slot;
	for (unsigned n = 0; n < FLOW_CHOICES && !dead; n++) {
		uint32_t candidate = flow_slot_choice(own, hash, n), idle;

		if (!may_go(context, candidate, &idle, &dead) ||
		    (slot != FLOW_NOWHERE && !dead && idle <= oldest))
			continue;
		slot = candidate;
		oldest = idle;
	}
	if (slot == FLOW_NOWHERE)
		return slot;
	mr_count(dead ? &own->counters.expired : &own->counters.evicted, 1);
	remove_entry(own, slot);
	return slot;
}

/* ---- packets ---- */

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
	bool has_peer = find_latest(context->flows, &reverse, FLOW_NOWHERE, &peer);
	struct tcp_half half;

	if (find_latest(context->flows, &packet->key, context->own->owner, view)) {
		if (!is_alive(context, &packet->key, view))
			return FLOW_UNKNOWN;
	} else {
		if (!has_peer || !is_alive(context, &reverse, &peer))
			return FLOW_UNKNOWN;
		become_answer(view, &peer, context->now);
		if (packet->is_tcp)
			view->link &= FLOW_LINK_MASK; /* until the handshake is complete */
	}
	if (!packet->is_tcp)
		return FLOW_KNOWN;
	half = view->tcp;
	switch (tcp_meet(&half, has_peer ? half_of(&peer) : NULL, &packet->segment)) {
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
	slot = make_room(context, hash);
	if (slot == FLOW_NOWHERE) {
		*why = FLOW_NO_PLACE;
		return slot;
	}
	flow_put(context->own, slot, &packet->key, hash, &view);
	mr_count(&context->own->counters.replies, 1);
	return slot;
}

/* Meets a segment, at its connection's newest state. */
static enum tcp_verdict meet_segment(const struct flow_context *context, struct flow_pair *pair,
				     const struct tcp_segment *segment)
{
	struct flow_entry *entry = &context->own->entry[pair->slot];
	struct tcp_half half = pair->view.tcp;
	enum tcp_verdict verdict = tcp_meet(&half, half_of(peer_of(pair)), segment);

	if (unlikely(verdict == TCP_REFUSED)) {
		find_peer(context, pair, true); /* it may have moved to another lcore */
		half = pair->view.tcp;
		verdict = tcp_meet(&half, half_of(peer_of(pair)), segment);
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
	    tcp_phase(&pair->view.tcp, half_of(&pair->peer)) < TCP_ESTABLISHED)
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

	if (!find_latest(context->flows, &packet->key, FLOW_NOWHERE, &view))
		return FLOW_UNKNOWN;
	has_peer = filter_flow_peer(context->flows, &packet->key, &view, &peer);
	found = filter_flow_rule(context->rules, view.serial);
	if (found == NULL || filter_flow_left(context->flows, &packet->key, &view,
					      has_peer ? &peer : NULL, context->now, &opening) == 0)
		return FLOW_UNKNOWN;
	if (packet->is_tcp &&
	    !tcp_has_sent(&view.tcp, has_peer ? half_of(&peer) : NULL, packet->segment.seq))
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
	if (unlikely(filter_flow_left(context->flows, &pair.key, &pair.view, peer_of(&pair),
				      context->now, &opening) == 0 ||
		     !rule_of(context, entry, rule))) {
		remove_entry(context->own, slot);
		mr_count(&context->own->counters.expired, 1);
		return FLOW_UNKNOWN;
	}
	if (packet->is_tcp) {
		enum tcp_verdict verdict = meet_segment(context, &pair, &packet->segment);

		if (verdict == TCP_ANEW)
			remove_entry(context->own, slot);
		if (verdict != TCP_PASSES)
			return verdict == TCP_ANEW ? FLOW_UNKNOWN : FLOW_BAD_STATE;
	}
	if (entry->seen != context->now)
		__atomic_store_n(&entry->seen, context->now, __ATOMIC_RELEASE);
	settle(context, &pair);
	return FLOW_KNOWN;
}

enum flow_answer filter_flow_meet(const struct flow_context *context,
				  const struct flow_packet *packet, uint64_t hash, uint32_t *rule)
{
	struct flow_counters *counters = &context->own->counters;
	enum flow_answer answer;

	if (packet->kind == FLOW_ERROR_OF)
		return meet_error(context, packet, rule);
	if (packet->kind != FLOW_OF_KEY)
		return FLOW_UNKNOWN;
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
	uint32_t slot, place = 0, index;

	if (packet->kind != FLOW_OF_KEY ||
	    (packet->is_tcp && (!tcp_may_begin(&packet->segment) ||
				tcp_meet(&view.tcp, NULL, &packet->segment) != TCP_PASSES)))
		return FLOW_MADE;
	if (flow_find(own, &packet->key, hash) != FLOW_NOWHERE)
		return filter_flow_meet(context, packet, hash, &index); /* by one just before */
	if (rule->limit.by != 0) {
		enum flow_limit_answer answer =
			flow_limit_take(context->flows->table, context->flows->count, own->owner,
					&rule->limit, &packet->key, &place);

		if (answer == FLOW_LIMIT_REACHED) {
			mr_count(&own->counters.refused_limit, 1);
			return FLOW_OVER_LIMIT;
		}
		if (answer == FLOW_LIMIT_FULL) {
			mr_count(&own->counters.refused_full, 1);
			return FLOW_NO_PLACE;
		}
	}
	slot = make_room(context, hash);
	if (slot == FLOW_NOWHERE) {
		if (rule->limit.by != 0)
			flow_limit_give(own->limits, place);
		mr_count(&own->counters.refused_full, 1);
		return FLOW_NO_PLACE;
	}
	view.id = own->next_id++;
	flow_put(own, slot, &packet->key, hash, &view);
	own->entry[slot].limit = rule->limit.by != 0 ? place + 1 : 0;
	mr_count(&own->counters.created, 1);
	return FLOW_MADE;
}

/* ---- the end ---- */

enum { BUCKETS_A_TURN = 8 };

static void sweep_bucket(const struct flow_context *context, uint32_t bucket)
{
	struct flow_table *own = context->own;

	for (uint32_t i = 0; i < FLOW_BUCKET; i++) {
		uint32_t slot = bucket * FLOW_BUCKET + i, index;
		struct flow_pair pair;
		bool opening;

		if (own->tags[bucket].tag[i] == 0)
			continue;
		load_linked(context, slot, &pair);
		if (!is_dead(context, &pair, &opening) &&
		    rule_of(context, &own->entry[slot], &index))
			continue;
		remove_entry(own, slot);
		mr_count(&own->counters.expired, 1);
	}
}

void filter_flow_sweep(const struct flow_context *context)
{
	struct flow_table *own = context->own;

	if (own->round == context->now)
		return;
	for (unsigned i = 0; i < BUCKETS_A_TURN && own->swept <= own->mask; i++)
		sweep_bucket(context, own->swept++);
	if (own->swept <= own->mask)
		return;
	own->swept = 0;
	own->round = context->now;
}
