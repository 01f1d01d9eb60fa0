/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A burst is classified in passes, so that what one packet waits for in memory is hidden behind the
 * others: the sieve for all packets; then, for those that it lets pass, the cache of verdicts; and
 * for what is not there the groups that may match, hashed, their buckets and entries fetched ahead,
 * and compared.
 *
 * The cache is asked only about packets that are worth it: to look at one or two rules costs less
 * than to find a verdict.
 */
#include "filter/classifier_fwd.h"

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "filter/verdict_cache_fwd.h"

enum {
	PROBES = 256, /* that are under way at a time */
	DEAR = 3,     /* lists that cost more than a verdict */
};

/* A group to be searched for a packet. */
struct probe {
	uint8_t packet;
	uint8_t group;
	uint32_t hash;
	uint32_t at; /* the first entry of its bucket that has the hash's tag */
};

/* A burst on its way. */
struct burst {
	const struct mr_classifier *c;
	const struct mr_filter_key *key;
	const uint32_t *start; /* NULL: 0 */
	uint32_t *rule;
	uint64_t groups[MR_CLASSIFY_MAX]; /* that may match */
};

static uint32_t start_of(const struct burst *burst, unsigned packet)
{
	return burst->start == NULL ? 0 : burst->start[packet];
}

/* ---- the sieve ---- */

/* Looks at two words of each packet; returns the groups that are left to any. */
static uint64_t sieve_two(struct burst *burst, const struct filter_sieve_word *word, unsigned count)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *key = (const uint8_t *)&burst->key[i];

		burst->groups[i] &= filter_sieve_word_groups(&word[0], key) &
				    filter_sieve_word_groups(&word[1], key);
		any |= burst->groups[i];
	}
	return any;
}

/* Whether the groups say which rule it is: none, or one that the sieve has compared in full. The
 * groups are in the order of their first rules. */
static inline bool is_decided(const struct burst *burst, unsigned packet)
{
	uint64_t groups = burst->groups[packet], first = groups & -groups;
	uint32_t rule;

	if (groups == 0)
		return true;
	if ((burst->c->sieve.exact & first) == 0)
		return false;
	rule = burst->c->groups.group[__builtin_ctzll(first)].first;
	if (rule < start_of(burst, packet))
		return false;
	burst->rule[packet] = rule;
	return true;
}

/* Finds the groups of each packet, and lists the packets whose groups have to be searched. Words
 * that all packets can do without are not looked at. */
static unsigned sieve(struct burst *burst, unsigned count, uint8_t *packet)
{
	const struct filter_sieve *all = &burst->c->sieve;
	uint64_t any = all->every;
	unsigned left = 0;

	for (unsigned i = 0; i < count; i++) {
		burst->groups[i] = all->every;
		burst->rule[i] = burst->c->count;
	}
	for (unsigned word = 0; word < all->words && any != 0; word += 2)
		any = sieve_two(burst, &all->word[word], count);
	if (any == 0)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		packet[left] = (uint8_t)i;
		left += !is_decided(burst, i);
	}
	return left;
}

/* ---- groups ---- */

static void compare_entries(const struct burst *burst, unsigned packet, uint32_t at, uint32_t end,
			    uint32_t tag_mask, uint32_t hash)
{
	const struct filter_matches *all = &burst->c->all;
	uint32_t start = start_of(burst, packet);

	for (; at < end; at++) {
		uint32_t entry = burst->c->groups.entry[at];
		const struct filter_match *match = &all->match[entry & FILTER_ENTRY_MASK];

		if ((entry ^ hash) & tag_mask)
			continue;
		if (match->rule >= burst->rule[packet])
			return;
		if (match->rule >= start && filter_match(all, match, &burst->key[packet])) {
			burst->rule[packet] = match->rule;
			return;
		}
	}
}

static void search_list(const struct burst *burst, unsigned packet, const struct filter_group *list)
{
	if (list->first < burst->rule[packet] && list->last >= start_of(burst, packet))
		compare_entries(burst, packet, list->entry, list->entry + list->count, 0, 0);
}

static const uint32_t *bucket_of(const struct filter_groups *groups, const struct probe *probe)
{
	const struct filter_group *table = &groups->group[probe->group];

	return &groups->bucket[table->bucket + (probe->hash & table->bucket_mask)];
}

/* Mostly the entry that was found is the one. */
static void search_table(const struct burst *burst, const struct probe *probe)
{
	const struct filter_matches *all = &burst->c->all;
	unsigned packet = probe->packet;
	uint32_t entry = burst->c->groups.entry[probe->at];
	const struct filter_match *match = &all->match[entry & FILTER_ENTRY_MASK];

	if (match->rule >= burst->rule[packet])
		return;
	if (match->rule >= start_of(burst, packet) &&
	    filter_match(all, match, &burst->key[packet])) {
		burst->rule[packet] = match->rule;
		return;
	}
	compare_entries(burst, packet, probe->at + 1, bucket_of(&burst->c->groups, probe)[1],
			~FILTER_ENTRY_MASK, probe->hash);
}

/* Keeps the probes that the tables' filters let pass, and fetches their buckets. */
static unsigned ask_filters(const struct filter_groups *groups, struct probe *probe,
			    unsigned probes)
{
	unsigned left = 0;

	for (unsigned i = 0; i < probes; i++) {
		probe[left] = probe[i];
		rte_prefetch0(bucket_of(groups, &probe[i]));
		left += filter_group_may_have(groups, &groups->group[probe[i].group],
					      probe[i].hash);
	}
	return left;
}

/* Keeps the probes that have an entry, and fetches its rule. */
static unsigned find_entries(const struct burst *burst, struct probe *probe, unsigned probes)
{
	const struct filter_groups *groups = &burst->c->groups;
	unsigned left = 0;

	for (unsigned i = 0; i < probes; i++)
		rte_prefetch0(&groups->entry[*bucket_of(groups, &probe[i])]);
	for (unsigned i = 0; i < probes; i++) {
		const uint32_t *bucket = bucket_of(groups, &probe[i]);
		uint32_t at = bucket[0];

		while (at < bucket[1] && (groups->entry[at] ^ probe[i].hash) & ~FILTER_ENTRY_MASK)
			at++;
		if (at == bucket[1])
			continue;
		rte_prefetch0(&burst->c->all.match[groups->entry[at] & FILTER_ENTRY_MASK]);
		probe[left] = probe[i];
		probe[left++].at = at;
	}
	return left;
}

static void search_tables(const struct burst *burst, struct probe *probe, unsigned probes)
{
	unsigned left = ask_filters(&burst->c->groups, probe, probes);

	left = find_entries(burst, probe, left);
	for (unsigned i = 0; i < left; i++)
		search_table(burst, &probe[i]);
}

/* Finds the rules of the packets listed. */
static void search_groups(const struct burst *burst, const uint8_t *packet, unsigned count)
{
	const struct filter_groups *groups = &burst->c->groups;
	struct probe probe[PROBES];
	unsigned probes = 0;

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *key = burst->key[packet[i]].src;

		if (probes > PROBES - FILTER_GROUPS) {
			search_tables(burst, probe, probes);
			probes = 0;
		}
		for (uint64_t left = burst->groups[packet[i]]; left != 0; left &= left - 1) {
			uint8_t index = (uint8_t)__builtin_ctzll(left);
			const struct filter_group *group = &groups->group[index];
			uint32_t hash;

			if (group->words == 0) {
				search_list(burst, packet[i], group);
				continue;
			}
			hash = filter_group_hash(group, key);
			rte_prefetch0(filter_group_word(groups, group, hash));
			probe[probes++] = (struct probe){packet[i], index, hash, 0};
		}
	}
	search_tables(burst, probe, probes);
}

/* ---- verdicts ---- */

/* Puts the packets behind the others that it takes longer to search for than to find a verdict:
 * those with a table to look into, or several lists. Returns how many the others are. */
static unsigned split_dear(const struct burst *burst, uint8_t *packet, unsigned count)
{
	uint8_t dear[MR_CLASSIFY_MAX];
	unsigned dears = 0, cheap = 0;

	for (unsigned i = 0; i < count; i++) {
		uint64_t groups = burst->groups[packet[i]];
		unsigned is_dear = (groups & burst->c->groups.tables) != 0 ||
				   __builtin_popcountll(groups) >= DEAR;

		dear[dears] = packet[i];
		packet[cheap] = packet[i];
		dears += is_dear;
		cheap += 1 - is_dear;
	}
	for (unsigned i = 0; i < dears; i++)
		packet[cheap + i] = dear[i];
	return cheap;
}

static void search_cached(const struct burst *burst, struct mr_verdict_cache *cache,
			  uint8_t *packet, unsigned count)
{
	uint32_t place[MR_CLASSIFY_MAX];
	bool ask;
	unsigned left = verdict_cache_get(cache, burst->c, burst->key, burst->start, packet, count,
					  burst->rule, place, &ask);

	if (left == 0)
		return;
	search_groups(burst, packet, left);
	if (ask)
		verdict_cache_put(cache, burst->c, burst->key, burst->start, packet, left,
				  burst->rule, place);
}

void mr_classify(const struct mr_classifier *c, struct mr_verdict_cache *cache,
		 const struct mr_filter_key *key, const uint32_t *start, unsigned count,
		 uint32_t *rule)
{
	struct burst burst = {.c = c, .key = key, .start = start, .rule = rule};
	uint8_t packet[MR_CLASSIFY_MAX];
	unsigned left = sieve(&burst, count, packet), cheap;

	if (left == 0)
		return;
	if (cache == NULL) {
		search_groups(&burst, packet, left);
		return;
	}
	cheap = split_dear(&burst, packet, left);
	if (cheap > 0)
		search_groups(&burst, packet, cheap);
	if (cheap < left)
		search_cached(&burst, cache, packet + cheap, left - cheap);
}
