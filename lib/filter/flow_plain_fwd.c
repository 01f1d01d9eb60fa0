/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/flow_plain_fwd.h"

#include <assert.h>

#include <rte_branch_prediction.h>
#include <rte_tcp.h>

#include "filter/flow_find_fwd.h"
#include "filter/flow_walk_fwd.h"
#include "filter/flow_word_fwd.h"
#include "filter/plain_fwd.h"
#include "packet/link_fwd.h"
#include "packet/load_fwd.h"

/* Packets of a burst on this way. */
struct plain_flows {
	struct flow_context context;
	uint32_t period;
	unsigned count;
	uint8_t at[MR_VECTOR_SIZE];           /* in the walk's packet[]; the rest is in its order */
	const uint8_t *frame[MR_VECTOR_SIZE]; /* as if there were no tags, which lie before it */
	uint64_t hash[MR_VECTOR_SIZE];
	uint32_t slot[MR_VECTOR_SIZE];
	struct flow_words key[MR_VECTOR_SIZE];
};

/* ---- keys ---- */

/* The last word of a key: who is alike in all of a burst, VID and protocol. */
static inline uint64_t last_word(uint64_t domain, uint64_t vlan, uint64_t protocol)
{
	static_assert(offsetof(struct flow_key, domain) == 40 &&
			      offsetof(struct flow_key, vlan) == 42 &&
			      offsetof(struct flow_key, protocol) == 44,
		      "as a number");
	return domain | vlan << 16 | protocol << 32;
}

/* Addresses and ports, and the epoch: the other words. */
static inline void read_ipv4(const uint8_t *frame, uint64_t epoch, struct flow_words *key)
{
	uint64_t addresses = mr_load64(frame + FILTER_PLAIN_TUPLE);

	key->word[0] = (uint32_t)addresses;
	key->word[1] = 0;
	key->word[2] = addresses >> 32;
	key->word[3] = 0;
	key->word[4] = mr_load32(frame + FILTER_PLAIN_TUPLE + 8) | epoch << 32;
}

static inline void read_ipv6(const uint8_t *frame, uint64_t epoch, struct flow_words *key)
{
	for (unsigned i = 0; i < 4; i++)
		key->word[i] = mr_load64(frame + FILTER_PLAIN_TUPLE6 + 8 * i);
	key->word[4] = mr_load32(frame + FILTER_PLAIN_TUPLE6 + 32) | epoch << 32;
}

/* Reads a packet's key; false: it is not plain. */
static inline bool read_key(const struct rte_mbuf *m, uint16_t domain, uint32_t epoch,
			    const uint8_t **at, struct flow_words *key)
{
	const uint8_t *start = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned tags = filter_plain_tags(start, m->data_len), length = m->data_len - tags;
	const uint8_t *frame = start + tags;
	uint64_t vlan = 0;

	if (unlikely(tags != 0 && domain != 0))
		vlan = rte_cpu_to_be_16(mr_link_vid(start));
	*at = frame;
	if (likely(filter_is_plain_ipv4(frame, length))) {
		read_ipv4(frame, epoch, key);
		key->word[5] = last_word(domain, vlan, frame[FILTER_PLAIN_PROTOCOL]);
		return true;
	}
	if (!filter_is_plain_ipv6(frame, length))
		return false;
	read_ipv6(frame, epoch, key);
	key->word[5] = last_word(domain, vlan, frame[FILTER_PLAIN_PROTOCOL6]) | FLOW_WORD_IPV6;
	return true;
}

static void read_keys(const struct walk *walk, uint64_t mask, struct plain_flows *flows)
{
	uint32_t epoch = __atomic_load_n(&flows->context.flows->epoch, __ATOMIC_RELAXED);
	const struct flow_table *own = flows->context.own;
	uint16_t domain = filter_flow_domain(walk->iface);
	unsigned n = 0;

	for (; mask != 0; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctzll(mask);
		struct flow_words key;

		if (unlikely(!read_key(walk->packet[i], domain, epoch, &flows->frame[n], &key)))
			continue;
		flows->at[n] = (uint8_t)i;
		flows->key[n] = key;
		flows->hash[n] = flow_hash_words(own, &key);
		flow_prefetch(own, flows->hash[n]);
		n++;
	}
	flows->count = n;
}

/* ---- entries ---- */

static inline bool is_tcp(const struct flow_words *key)
{
	return (uint8_t)(key->word[5] >> 32) == FILTER_PLAIN_TCP;
}

static inline const struct flow_entry *peer_entry(const struct plain_flows *flows,
						  const struct flow_entry *entry)
{
	uint32_t lcore = entry->link >> FLOW_LCORE_SHIFT & FLOW_LCORE_MASK;

	return lcore == 0 ? NULL
			  : &flows->context.flows->table[lcore - 1]
				     ->entry[entry->link & FLOW_SLOT_MASK];
}

/* Finds a packet's entry, which a packet of this period has used; NULL: there is none. */
static inline struct flow_entry *fresh_entry(struct plain_flows *flows, unsigned n)
{
	const struct flow_table *own = flows->context.own;
	struct flow_entry *entry;

	if (unlikely(flows->slot[n] == FLOW_NOWHERE ||
		     !flow_is_at(&own->entry[flows->slot[n]], &flows->key[n]))) {
		flows->slot[n] = flow_find_words(own, &flows->key[n], flows->hash[n]);
		if (flows->slot[n] == FLOW_NOWHERE)
			return NULL;
	}
	entry = &own->entry[flows->slot[n]];
	return likely(entry->fresh == flows->period) ? entry : NULL;
}

/* ---- segments ---- */

/* Reads a segment that neither begins nor resets a connection; false: it is none. */
static inline bool read_segment(const uint8_t *frame, bool ipv6, struct tcp_segment *segment)
{
	const uint8_t *ip = frame + RTE_ETHER_HDR_LEN;
	unsigned header = ipv6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	unsigned left = ipv6 ? mr_number16(ip + 4) : mr_number16(ip + 2) - header;

	return flow_segment_read(ip + header, left, segment) &&
	       (segment->flags & (RTE_TCP_SYN_FLAG | RTE_TCP_RST_FLAG)) == 0;
}

/* Reads the opposite half where the entry says that it is; false: it is not there. */
static inline bool read_peer(const struct plain_flows *flows, const struct flow_entry *entry,
			     const struct flow_words *key, struct tcp_half *half)
{
	const uint64_t *word = key->word;
	uint64_t ports = (uint32_t)word[4];
	const uint64_t reverse[FLOW_KEY_WORDS] = {
		word[2],
		word[3],
		word[0],
		word[1],
		(word[4] & ~(uint64_t)UINT32_MAX) | ports >> 16 | (ports & 0xffff) << 16,
		word[5],
	};
	const struct flow_entry *peer = peer_entry(flows, entry);
	uint64_t differs;
	uint32_t version;

	if (unlikely(peer == NULL))
		return false;
	version = __atomic_load_n(&peer->version, __ATOMIC_ACQUIRE);
	differs = __atomic_load_n(&peer->id, __ATOMIC_ACQUIRE) ^ entry->id;
	for (unsigned i = 0; i < FLOW_KEY_WORDS; i++)
		differs |= __atomic_load_n(&peer->key[i], __ATOMIC_ACQUIRE) ^ reverse[i];
	*half = flow_tcp(peer);
	return (differs == 0) & ((version & 1) == 0) &
	       (__atomic_load_n(&peer->version, __ATOMIC_RELAXED) == version) &
	       ((half->flags & TCP_HALF_SEEN) != 0);
}

/* Whether a packet's connection is established and lets the segment pass, which it then notes. */
static bool passes_segment(const struct plain_flows *flows, struct flow_entry *entry, unsigned n)
{
	const struct flow_words *key = &flows->key[n];
	struct tcp_half before, half, peer;
	struct tcp_segment segment;

	if (!read_segment(flows->frame[n], (key->word[5] & FLOW_WORD_IPV6) != 0, &segment) ||
	    !read_peer(flows, entry, key, &peer))
		return false;
	before = half = flow_tcp(entry);
	if (unlikely(tcp_meet(&half, &peer, &segment) != TCP_PASSES))
		return false;
	if (memcmp(&half, &before, sizeof(half)) != 0)
		flow_set_tcp(entry, &half);
	return true;
}

/* ---- all of it ---- */

/* A packet's flow lets it pass. */
static inline void pass(struct walk *walk, struct filter_run *run, unsigned i, uint32_t rule)
{
	walk->kept |= UINT64_C(1) << i;
	filter_run_add(walk, run, i, rule);
	flow_word_tell(walk, i, rule);
}

/* Lets datagrams pass, and asks for what segments will need; returns the mask of these, by their
 * place in the list. */
static uint64_t pass_datagrams(struct walk *walk, struct plain_flows *flows, struct filter_run *run)
{
	uint64_t segments = 0;

	for (unsigned n = 0; n < flows->count; n++) {
		const struct flow_entry *entry = fresh_entry(flows, n), *peer;

		if (unlikely(entry == NULL))
			continue;
		if (!is_tcp(&flows->key[n])) {
			pass(walk, run, flows->at[n], entry->rule);
			continue;
		}
		segments |= UINT64_C(1) << n;
		rte_prefetch0(&entry->tcp);
		peer = peer_entry(flows, entry);
		if (peer != NULL) {
			rte_prefetch0(peer);
			rte_prefetch0(&peer->tcp);
		}
	}
	return segments;
}

uint64_t filter_pass_flows(struct walk *walk, uint64_t mask)
{
	uint64_t before = walk->kept, segments;
	struct filter_run run = {0};
	struct plain_flows flows;

	if (walk->out)
		mask &= ~flow_word_recall(walk, mask, 0);
	if (mask == 0)
		return walk->kept & ~before;
	flows.context = filter_flow_context(walk->program, walk->lcore);
	flows.period = filter_flow_period(&flows.context);
	read_keys(walk, mask, &flows);
	for (unsigned n = 0; n < flows.count; n++)
		flows.slot[n] = flow_prefetch_entry(flows.context.own, flows.hash[n]);
	segments = pass_datagrams(walk, &flows, &run);
	for (; segments != 0; segments &= segments - 1) {
		unsigned n = (unsigned)__builtin_ctzll(segments);
		struct flow_entry *entry = &flows.context.own->entry[flows.slot[n]];

		if (unlikely(entry->fresh != flows.period))
			continue;
		if (likely(passes_segment(&flows, entry, n)))
			pass(walk, &run, flows.at[n], entry->rule);
		else
			entry->fresh = 0; /* those behind it do not overtake it */
	}
	filter_run_end(walk, &run);
	return walk->kept & ~before;
}
