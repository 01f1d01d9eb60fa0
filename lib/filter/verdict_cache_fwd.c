/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/verdict_cache_fwd.h"

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

enum {
	WANT_REST = MR_FILTER_WANT_LENGTH | MR_FILTER_WANT_TTL | MR_FILTER_WANT_DSCP |
		    MR_FILTER_WANT_MACS | MR_FILTER_WANT_VRF
};

static const uint8_t *rest_of(const struct mr_filter_key *key)
{
	return (const uint8_t *)key + MR_FILTER_FLOW_SIZE;
}

/* Two chains, since a step of one waits for the step before it. */
static uint32_t hash_flow(const struct mr_filter_key *key, uint32_t start)
{
	const uint8_t *at = (const uint8_t *)key;
	uint32_t a = start, b = ~0u;

	for (unsigned i = 0; i < MR_FILTER_FLOW_SIZE; i += 16) {
		a = filter_hash_word(a, mr_load64(at + i));
		b = filter_hash_word(b, mr_load64(at + i + 8));
	}
	return filter_hash_word(a, b);
}

static uint32_t hash_rest(const struct mr_filter_key *key, uint32_t hash)
{
	for (unsigned i = 0; i < sizeof(struct verdict_rest); i += 8)
		hash = filter_hash_word(hash, mr_load64(rest_of(key) + i));
	return hash;
}

static bool same_bytes(const uint8_t *a, const uint8_t *b, unsigned size)
{
	uint64_t differs = 0;

	for (unsigned i = 0; i < size; i += 8)
		differs |= mr_load64(a + i) ^ mr_load64(b + i);
	return differs == 0;
}

static bool is_verdict_of(const struct mr_verdict_cache *cache, uint32_t place,
			  const struct mr_filter_key *key, uint32_t start, bool with_rest)
{
	const struct verdict *verdict = &cache->verdict[place];

	return same_bytes(verdict->flow, key->src, MR_FILTER_FLOW_SIZE) &&
	       verdict->epoch == cache->epoch && verdict->start == start &&
	       (!with_rest ||
		same_bytes(cache->rest[place].bytes, rest_of(key), sizeof(struct verdict_rest)));
}

static void find_places(const struct mr_verdict_cache *cache, const struct mr_filter_key *key,
			const uint32_t *start, const uint8_t *packet, unsigned count,
			bool with_rest, uint32_t *place)
{
	for (unsigned i = 0; i < count; i++) {
		const struct mr_filter_key *of = &key[packet[i]];
		uint32_t hash = hash_flow(of, start == NULL ? 0 : start[packet[i]]);

		if (with_rest)
			hash = hash_rest(of, hash);
		place[i] = hash & cache->mask & ~1u;
		rte_prefetch0(&cache->verdict[place[i]]);
		rte_prefetch0(&cache->verdict[place[i] + 1]);
	}
}

unsigned verdict_cache_get(struct mr_verdict_cache *cache, const struct mr_classifier *c,
			   const struct mr_filter_key *key, const uint32_t *start, uint8_t *packet,
			   unsigned count, uint32_t *rule, uint32_t *place, bool *ask)
{
	bool with_rest = (c->wants & WANT_REST) != 0;
	unsigned left = 0;

	*ask = filter_is_worth(&cache->worth, count);
	if (!*ask)
		return count;
	if (unlikely(cache->generation != c->generation)) {
		cache->generation = c->generation;
		cache->epoch++;
	}
	find_places(cache, key, start, packet, count, with_rest, place);
	for (unsigned i = 0; i < count; i++) {
		uint32_t at = place[i], from = start == NULL ? 0 : start[packet[i]];
		const struct mr_filter_key *of = &key[packet[i]];

		if (is_verdict_of(cache, at, of, from, with_rest) ||
		    is_verdict_of(cache, ++at, of, from, with_rest)) {
			rule[packet[i]] = cache->verdict[at].rule;
			continue;
		}
		packet[left] = packet[i];
		place[left++] = at - 1;
	}
	filter_worth_note(&cache->worth, count, count - left);
	return left;
}

void verdict_cache_put(struct mr_verdict_cache *cache, const struct mr_classifier *c,
		       const struct mr_filter_key *key, const uint32_t *start,
		       const uint8_t *packet, unsigned count, const uint32_t *rule,
		       const uint32_t *place)
{
	bool with_rest = (c->wants & WANT_REST) != 0;

	for (unsigned i = 0; i < count; i++) {
		const struct mr_filter_key *of = &key[packet[i]];
		uint32_t at = place[i];
		struct verdict *verdict;

		if (cache->verdict[at].epoch == cache->epoch &&
		    (cache->verdict[at + 1].epoch != cache->epoch || (cache->turn++ & 1)))
			at++;
		verdict = &cache->verdict[at];
		memcpy(verdict->flow, of, MR_FILTER_FLOW_SIZE);
		verdict->start = start == NULL ? 0 : start[packet[i]];
		verdict->rule = rule[packet[i]];
		verdict->epoch = cache->epoch;
		if (with_rest)
			memcpy(cache->rest[at].bytes, rest_of(of), sizeof(struct verdict_rest));
	}
}
