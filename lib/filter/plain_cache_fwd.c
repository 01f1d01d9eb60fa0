/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/plain_cache_fwd.h"

#include <smmintrin.h>

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "filter/group_fwd.h"
#include "filter/plain_fwd.h"
#include "lcore/lcore.h"
#include "port/iface.h"

/* What rules can see of a plain packet and its flow. */
static inline __m128i key_of(const struct rte_mbuf *m, const uint8_t *frame, uint8_t flags_mask)
{
	__m128i tuple = _mm_loadu_si128((const __m128i *)(frame + FILTER_PLAIN_TUPLE));
	uint32_t protocol = frame[FILTER_PLAIN_PROTOCOL];
	uint32_t flags = frame[FILTER_PLAIN_TCP_FLAGS] & flags_mask;

	flags = protocol == FILTER_PLAIN_TCP ? flags : 0;
	return _mm_insert_epi32(tuple, (int)(protocol | flags << 8 | (uint32_t)m->port << 16), 3);
}

static inline uint32_t hash_of(__m128i key)
{
	uint32_t low = filter_hash_word(0, (uint64_t)_mm_cvtsi128_si64(key));

	return filter_hash_word(low, (uint64_t)_mm_extract_epi64(key, 1));
}

static inline uint32_t word_of(const struct plain_cache *cache, const struct plain_flow *flow)
{
	uint32_t index = (uint32_t)(flow - cache->flow);

	return index << PLAIN_INDEX_SHIFT | (uint32_t)flow->serial << PLAIN_SERIAL_SHIFT |
	       PLAIN_WORD_FLOW;
}

/* NULL: the word names no flow, or one that is no more. */
static inline struct plain_flow *flow_of(const struct plain_cache *cache, uint32_t word)
{
	struct plain_flow *flow = &cache->flow[word >> PLAIN_INDEX_SHIFT & cache->mask];
	bool is_same = ((word & PLAIN_WORD_KIND) == PLAIN_WORD_FLOW) &
		       ((word >> PLAIN_SERIAL_SHIFT & PLAIN_SERIAL_MASK) == flow->serial) &
		       (flow->epoch == cache->epoch);

	return is_same ? flow : NULL;
}

/* Finds the plain packets of a mask, their keys and places. */
static uint64_t find_places(const struct plain_cache *cache, uint8_t flags_mask,
			    struct rte_mbuf *const *packets, uint64_t mask,
			    struct plain_lookup *lookup)
{
	uint64_t plain = 0;

	for (; mask != 0; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctzll(mask);
		const struct rte_mbuf *m = packets[i];
		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
		__m128i key = key_of(m, frame, flags_mask);

		lookup->key[i] = key;
		lookup->place[i] = hash_of(key) & cache->mask & ~1u;
		rte_prefetch0(&cache->flow[lookup->place[i]]);
		plain |= (uint64_t)filter_is_plain_ipv4(frame, m->data_len) << i;
	}
	return plain;
}

static inline bool is_flow(const struct plain_flow *flow, __m128i key, uint32_t epoch)
{
	__m128i differs = _mm_xor_si128(flow->key, key);

	return _mm_testz_si128(differs, differs) & (flow->epoch == epoch);
}

void plain_cache_get(struct plain_cache *cache, uint64_t generation, uint8_t flags_mask,
		     struct rte_mbuf *const *packets, uint64_t mask, struct plain_lookup *lookup)
{
	unsigned asked = (unsigned)__builtin_popcountll(mask);
	uint64_t plain, known = 0;

	lookup->known = 0;
	lookup->missed = 0;
	if (asked == 0 || !filter_is_worth(&cache->worth, asked))
		return;
	if (unlikely(cache->generation != generation)) {
		cache->generation = generation;
		cache->epoch++;
	}
	plain = find_places(cache, flags_mask, packets, mask, lookup);
	for (uint64_t left = plain; left != 0; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		const struct plain_flow *flow = &cache->flow[lookup->place[i]];

		flow += !is_flow(flow, lookup->key[i], cache->epoch);
		lookup->rule[i] = flow->rule[0];
		*mr_hook_word(packets[i]) = word_of(cache, flow);
		known |= (uint64_t)is_flow(flow, lookup->key[i], cache->epoch) << i;
	}
	for (uint64_t left = plain & ~known; unlikely(left != 0); left &= left - 1)
		*mr_hook_word(packets[__builtin_ctzll(left)]) = 0;
	lookup->known = known;
	lookup->missed = plain & ~known;
	filter_worth_note(&cache->worth, asked, (unsigned)__builtin_popcountll(known));
}

void plain_cache_put(struct plain_cache *cache, const struct plain_lookup *lookup,
		     struct rte_mbuf *packet, unsigned index, uint32_t rule)
{
	struct plain_flow *flow = &cache->flow[lookup->place[index]];
	__m128i key = lookup->key[index];

	/* An earlier packet of the burst may have been of the same flow. */
	flow += !is_flow(flow, key, cache->epoch);
	if (is_flow(flow, key, cache->epoch)) {
		*mr_hook_word(packet) = word_of(cache, flow);
		return;
	}
	flow = &cache->flow[lookup->place[index]];
	if (flow->epoch == cache->epoch)
		flow += flow[1].epoch != cache->epoch || (cache->turn++ & 1) != 0;
	*flow = (struct plain_flow){
		.key = key,
		.epoch = cache->epoch,
		.serial = (uint16_t)((flow->serial + 1) & PLAIN_SERIAL_MASK),
		.out = MR_IFACE_NONE,
		.rule = {rule, 0},
	};
	*mr_hook_word(packet) = word_of(cache, flow);
}

void plain_cache_recall(const struct plain_cache *cache, struct rte_mbuf *const *packets,
			uint64_t mask, uint16_t out, struct plain_lookup *lookup)
{
	lookup->known = 0;
	lookup->missed = 0;
	for (; mask != 0; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctzll(mask);
		const struct plain_flow *flow = flow_of(cache, *mr_hook_word(packets[i]));

		if (unlikely(flow == NULL))
			continue;
		lookup->rule[i] = flow->rule[1];
		lookup->known |= (uint64_t)(flow->out == out) << i;
		lookup->missed |= (uint64_t)(flow->out != out) << i;
	}
}

void plain_cache_put_output(struct plain_cache *cache, struct rte_mbuf *packet, uint16_t out,
			    uint32_t rule)
{
	struct plain_flow *flow = flow_of(cache, *mr_hook_word(packet));

	if (flow == NULL)
		return;
	flow->rule[1] = rule;
	flow->out = out;
}
