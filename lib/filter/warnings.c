/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rule before this one matches everything it does? Comparing all with all would take minutes
 * for 100,000 rules. Rules with the same tests have the same hash. A rule that matches more has
 * shorter prefixes: so rules are kept by the pair of their prefixes, and for each pair of prefix
 * lengths that occurs in the set a rule's own prefixes, cut to those lengths, are looked up. Real
 * sets have few such pairs. What a pair holds is chained; the chain is followed to a bound.
 */
#include "filter/warnings.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "filter/cover.h"

#define SHOWN 16          /* sentences */
#define CHAIN_MAX 64      /* rules of one pair of prefixes */
#define WORK_MAX 50000000 /* rules and pairs looked at */
#define ANY_LENGTH 255    /* in the place of a prefix length: no test of the address */
#define PAIRS_MAX 4096

struct report {
	json_t *warnings;
	unsigned found;
};

static void report(struct report *r, const struct mr_filter_rule *rule,
		   const struct mr_filter_rule *before)
{
	const char *what = "is shadowed by";

	if (r->found++ >= SHOWN)
		return;
	if (mr_filter_rule_same_tests(rule, before))
		what = mr_filter_rule_same_effect(rule, before) ? "is a duplicate of"
								: "contradicts";
	json_array_append_new(r->warnings, json_sprintf("rule %u %s rule %u: no packet meets it",
							rule->number, what, before->number));
}

static void finish(struct report *r)
{
	if (r->found > SHOWN)
		json_array_append_new(
			r->warnings,
			json_sprintf("%u more rules that no packet meets", r->found - SHOWN));
}

/* Whether some packet that reaches a rule's place may have been sent past it by a skipto. */
static uint32_t jump_end(const struct mr_filter_rule *rule, uint32_t end)
{
	if (rule->action == MR_FILTER_SKIPTO && rule->argument.number > end)
		return rule->argument.number;
	return end;
}

void mr_filter_warn_rule(const struct mr_filter_set *set, uint32_t index, json_t *warnings)
{
	const struct mr_filter_rule *rule = set->rule[index];
	struct report r = {.warnings = warnings};
	uint32_t jumped_to = 0;

	for (uint32_t i = 0; i < index && r.found == 0; i++) {
		const struct mr_filter_rule *before = set->rule[i];

		if (before->number >= jumped_to &&
		    mr_filter_action_is_final((enum mr_filter_action)before->action) &&
		    mr_filter_rule_covers(before, rule))
			report(&r, rule, before);
		jumped_to = jump_end(before, jumped_to);
	}
}

/* A rule's ends as prefixes. */
struct ends {
	uint8_t src_length, dst_length;
	struct mr_prefix src, dst;
};

struct table {
	uint32_t mask;
	uint32_t *head; /* index of a rule + 1, by hash of ends */
	uint32_t *next; /* likewise, by rule */
	unsigned pairs;
	struct {
		uint8_t src_length, dst_length, family;
	} pair[PAIRS_MAX];
	bool seen[256][256][2]; /* pairs that are in pair[] */
	uint64_t work;
};

/* A rule's end as one prefix, false if it is not one. */
static bool single_end(const struct mr_filter_addresses *addresses, uint8_t *length,
		       struct mr_prefix *prefix)
{
	*length = ANY_LENGTH;
	memset(prefix, 0, sizeof(*prefix));
	if (addresses->count == 0)
		return true;
	if (addresses->count != 1 || addresses->negated || addresses->alternative[0].is_set)
		return false;
	*prefix = addresses->alternative[0].prefix;
	*length = prefix->length;
	return true;
}

static uint32_t hash_prefix(uint64_t hash, uint8_t length, const struct mr_prefix *prefix)
{
	uint64_t half[2] = {0, 0};

	if (length != ANY_LENGTH)
		memcpy(half, prefix->addr.bytes, sizeof(half));
	hash = (hash ^ half[0]) * 0x9e3779b97f4a7c15;
	hash = (hash ^ hash >> 29 ^ half[1]) * 0x9e3779b97f4a7c15;
	hash = (hash ^ hash >> 29 ^ length) * 0x9e3779b97f4a7c15;
	return (uint32_t)(hash >> 32);
}

static uint32_t slot_of(const struct table *table, const struct ends *ends)
{
	uint32_t hash = hash_prefix(1, ends->src_length, &ends->src);

	return hash_prefix(hash, ends->dst_length, &ends->dst) & table->mask;
}

static uint8_t family_of(const struct ends *ends)
{
	return ends->src.addr.family != 0 ? ends->src.addr.family : ends->dst.addr.family;
}

static void add(struct table *table, const struct mr_filter_set *set, uint32_t index)
{
	const struct mr_filter_rule *rule = set->rule[index];
	struct ends ends;

	if (!single_end(&rule->src, &ends.src_length, &ends.src) ||
	    !single_end(&rule->dst, &ends.dst_length, &ends.dst))
		return;
	bool *seen = &table->seen[ends.src_length][ends.dst_length][family_of(&ends) == AF_INET6];
	if (!*seen && table->pairs < PAIRS_MAX) {
		*seen = true;
		table->pair[table->pairs].src_length = ends.src_length;
		table->pair[table->pairs].dst_length = ends.dst_length;
		table->pair[table->pairs++].family = family_of(&ends);
	}
	uint32_t slot = slot_of(table, &ends);
	table->next[index] = table->head[slot];
	table->head[slot] = index + 1;
}

/* Cuts the first alternative of an end to a length; false if that cannot be. */
static bool cut(const struct mr_filter_addresses *addresses, uint8_t length, uint8_t family,
		uint8_t *cut_length, struct mr_prefix *prefix)
{
	*cut_length = length;
	memset(prefix, 0, sizeof(*prefix));
	if (length == ANY_LENGTH)
		return true;
	if (addresses->count == 0 || addresses->negated || addresses->alternative[0].is_set)
		return false;
	*prefix = addresses->alternative[0].prefix;
	if (prefix->length < length || prefix->addr.family != family)
		return false;
	prefix->length = length;
	*prefix = mr_prefix_canonical(prefix);
	return true;
}

/* The rule with these ends that covers the index-th, NULL if there is none. */
static const struct mr_filter_rule *covering(struct table *table, const struct mr_filter_set *set,
					     uint32_t index, const struct ends *ends)
{
	uint32_t at = table->head[slot_of(table, ends)];

	for (unsigned i = 0; at != 0 && i < CHAIN_MAX; i++, at = table->next[at - 1]) {
		table->work++;
		if (mr_filter_rule_covers(set->rule[at - 1], set->rule[index]))
			return set->rule[at - 1];
	}
	return NULL;
}

static void seek(struct table *table, const struct mr_filter_set *set, uint32_t index,
		 struct report *r)
{
	const struct mr_filter_rule *rule = set->rule[index], *before = NULL;
	struct ends ends;

	for (unsigned i = 0; before == NULL && i < table->pairs; i++) {
		table->work++;
		if (cut(&rule->src, table->pair[i].src_length, table->pair[i].family,
			&ends.src_length, &ends.src) &&
		    cut(&rule->dst, table->pair[i].dst_length, table->pair[i].family,
			&ends.dst_length, &ends.dst))
			before = covering(table, set, index, &ends);
	}
	if (before != NULL)
		report(r, rule, before);
}

/* Rules with the same tests, whatever their ends are, by hash of the tests. */
struct same {
	uint32_t mask;
	uint32_t *entry; /* index of a rule + 1 */
};

static uint32_t find_same(const struct same *same, const struct mr_filter_set *set, uint32_t index)
{
	uint32_t at = (uint32_t)(mr_filter_rule_hash(set->rule[index]) >> 32) & same->mask;

	while (same->entry[at] != 0 &&
	       !mr_filter_rule_same_tests(set->rule[same->entry[at] - 1], set->rule[index]))
		at = (at + 1) & same->mask;
	return at;
}

static void warn_all(struct table *table, struct same *same, const struct mr_filter_set *set,
		     struct report *r)
{
	uint32_t jumped_to = 0;

	for (uint32_t i = 0; i < set->count; i++) {
		const struct mr_filter_rule *rule = set->rule[i];
		uint32_t at = find_same(same, set, i);

		if (same->entry[at] != 0)
			report(r, rule, set->rule[same->entry[at] - 1]);
		else if (table->work < WORK_MAX)
			seek(table, set, i, r);
		if (rule->number >= jumped_to &&
		    mr_filter_action_is_final((enum mr_filter_action)rule->action)) {
			if (same->entry[at] == 0)
				same->entry[at] = i + 1;
			add(table, set, i);
		}
		jumped_to = jump_end(rule, jumped_to);
	}
}

void mr_filter_warn_set(const struct mr_filter_set *set, json_t *warnings)
{
	uint32_t size = rte_align32pow2(2 * set->count + 2);
	struct table *table = calloc(1, sizeof(*table));
	struct same same = {.mask = size - 1, .entry = calloc(size, sizeof(uint32_t))};
	struct report r = {.warnings = warnings};

	if (table != NULL) {
		table->mask = size - 1;
		table->head = calloc(size, sizeof(uint32_t));
		table->next = calloc(set->count + 1, sizeof(uint32_t));
	}
	if (table != NULL && table->head != NULL && table->next != NULL && same.entry != NULL) {
		warn_all(table, &same, set, &r);
		finish(&r);
		if (table->work >= WORK_MAX)
			json_array_append_new(
				warnings, json_string("too many rules of too many kinds: not all "
						      "were compared"));
	}
	if (table != NULL) {
		free(table->head);
		free(table->next);
	}
	free(table);
	free(same.entry);
}
