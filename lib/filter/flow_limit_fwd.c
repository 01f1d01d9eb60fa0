/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/flow_limit_fwd.h"

#include <string.h>

#include "filter/rule.h"

enum { NEIGHBOURS = 16 }; /* places that a key may have */

struct alike {
	uint64_t serial;
	uint8_t src[16], dst[16];
	uint16_t sport, dport;
	uint32_t epoch; /* flows that were flushed are counted no more */
};

static_assert(sizeof(struct alike) == FLOW_LIMIT_WORDS * sizeof(uint64_t), "read as words");

static void make_key(const struct flow_limit_rule *rule, const struct flow_key *flow,
		     uint64_t key[FLOW_LIMIT_WORDS])
{
	struct alike alike = {.serial = rule->serial, .epoch = flow->epoch};

	if (rule->by & MR_FILTER_BY_SRC)
		memcpy(alike.src, flow->src, sizeof(alike.src));
	if (rule->by & MR_FILTER_BY_DST)
		memcpy(alike.dst, flow->dst, sizeof(alike.dst));
	if (rule->by & MR_FILTER_BY_SPORT)
		alike.sport = flow->sport;
	if (rule->by & MR_FILTER_BY_DPORT)
		alike.dport = flow->dport;
	memcpy(key, &alike, sizeof(alike));
}

static uint32_t home_of(const struct flow_limits *limits, const uint64_t key[FLOW_LIMIT_WORDS])
{
	uint64_t hash = limits->salt;

	for (unsigned i = 0; i < FLOW_LIMIT_WORDS; i++) {
		hash = (hash ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return (uint32_t)hash;
}

/* The count of a key in a table, and where it stands; 0 where it stands nowhere. */
static uint32_t count_of(const struct flow_limits *limits, const uint64_t key[FLOW_LIMIT_WORDS],
			 uint32_t *place)
{
	uint32_t home = home_of(limits, key);

	for (uint32_t i = 0; i < NEIGHBOURS; i++) {
		uint32_t at = (home + i) & limits->mask;
		const struct flow_limit *limit = &limits->limit[at];
		uint32_t version = __atomic_load_n(&limit->version, __ATOMIC_ACQUIRE);
		uint32_t count = __atomic_load_n(&limit->count, __ATOMIC_ACQUIRE);
		uint64_t differs = version & 1;

		for (unsigned word = 0; word < FLOW_LIMIT_WORDS; word++)
			differs |= __atomic_load_n(&limit->key[word], __ATOMIC_ACQUIRE) ^ key[word];
		if (count == 0 || differs != 0 ||
		    __atomic_load_n(&limit->version, __ATOMIC_RELAXED) != version)
			continue;
		*place = at;
		return count;
	}
	return 0;
}

/* Begins to count a key at a free place; false if there is none. */
static bool begin(struct flow_limits *limits, const uint64_t key[FLOW_LIMIT_WORDS], uint32_t *place)
{
	uint32_t home = home_of(limits, key);

	for (uint32_t i = 0; i < NEIGHBOURS; i++) {
		struct flow_limit *limit = &limits->limit[(home + i) & limits->mask];
		uint32_t version = limit->version;

		if (limit->count != 0)
			continue;
		__atomic_store_n(&limit->version, version + 1, __ATOMIC_RELAXED);
		for (unsigned word = 0; word < FLOW_LIMIT_WORDS; word++)
			__atomic_store_n(&limit->key[word], key[word], __ATOMIC_RELEASE);
		__atomic_store_n(&limit->version, version + 2, __ATOMIC_RELEASE);
		*place = (home + i) & limits->mask;
		return true;
	}
	return false;
}

enum flow_limit_answer flow_limit_take(struct flow_table *const *tables, unsigned all, unsigned own,
				       const struct flow_limit_rule *rule,
				       const struct flow_key *flow, uint32_t *place)
{
	struct flow_limits *limits = tables[own]->limits;
	uint64_t key[FLOW_LIMIT_WORDS], sum;
	uint32_t count, elsewhere;

	make_key(rule, flow, key);
	count = count_of(limits, key, place);
	if (count == 0 && !begin(limits, key, place))
		return FLOW_LIMIT_FULL;
	__atomic_store_n(&limits->limit[*place].count, count + 1, __ATOMIC_RELEASE);
	sum = count + 1;
	for (unsigned i = 0; i < all; i++)
		if (i != own)
			sum += count_of(tables[i]->limits, key, &elsewhere);
	if (sum <= rule->limit)
		return FLOW_LIMIT_COUNTED;
	flow_limit_give(limits, *place);
	return FLOW_LIMIT_REACHED;
}

void flow_limit_give(struct flow_limits *limits, uint32_t place)
{
	struct flow_limit *limit = &limits->limit[place];

	__atomic_store_n(&limit->count, limit->count - 1, __ATOMIC_RELEASE);
}
