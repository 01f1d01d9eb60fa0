/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a set of rules becomes a classifier: what it needs is counted and taken in one block, and
 * only then filled. A reload that memory does not suffice for is refused before anything happened.
 */
#include "filter/classifier.h"

#include <errno.h>
#include <stddef.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "filter/groups.h"
#include "filter/match.h"
#include "filter/sieve.h"

static_assert(MR_FILTER_MAX_RULES <= FILTER_ENTRY_MASK, "an entry names any rule");

/* A block of memory from which arrays are cut; without one, their sizes are only added up. */
struct block {
	uint8_t *base;
	size_t used;
};

static void *cut(struct block *block, uint64_t count, size_t size)
{
	void *array = block->base == NULL ? NULL : block->base + block->used;

	block->used += RTE_ALIGN_CEIL(count * size, RTE_CACHE_LINE_SIZE);
	return array;
}

static void cut_matches(struct block *block, const struct filter_match_sizes *sizes,
			struct filter_matches *all)
{
	all->match = cut(block, sizes->match, sizeof(*all->match));
	all->test = cut(block, sizes->test, sizeof(*all->test));
	all->span16 = cut(block, sizes->span16, sizeof(*all->span16));
	all->span32 = cut(block, sizes->span32, sizeof(*all->span32));
	all->span128 = cut(block, sizes->span128, sizeof(*all->span128));
	all->table = cut(block, sizes->table, sizeof(*all->table));
	all->table_list = cut(block, sizes->table_list, sizeof(*all->table_list));
}

static struct mr_classifier *cut_classifier(struct block *block,
					    const struct filter_match_sizes *sizes,
					    struct filter_sieve_tables **tables)
{
	struct mr_classifier *c = cut(block, 1, sizeof(*c));
	uint32_t rules = (uint32_t)sizes->match;
	struct filter_matches all;
	struct filter_groups groups = {0};

	cut_matches(block, sizes, &all);
	groups.group = cut(block, FILTER_GROUPS, sizeof(*groups.group));
	groups.filter = cut(block, filter_groups_filter_words(rules), sizeof(*groups.filter));
	groups.bucket = cut(block, filter_groups_buckets(rules), sizeof(*groups.bucket));
	groups.entry = cut(block, rules, sizeof(*groups.entry));
	*tables = cut(block, 1, sizeof(**tables));
	if (c != NULL) {
		c->all = all;
		c->groups = groups;
	}
	return c;
}

/* Fills the tables of a classifier that has room for them. Returns 0 or -ENOMEM. */
static int fill(struct mr_classifier *c, const struct mr_filter_set *set, bool out,
		struct filter_sieve_tables *tables)
{
	struct filter_grouping grouping;
	int count = filter_match_compile(set, out, &c->all), rc;

	if (count < 0)
		return count;
	rc = filter_grouping_make(&c->all, (uint32_t)count, &grouping);
	if (rc != 0)
		return rc;
	rc = filter_groups_fill(&c->all, &grouping, &c->groups);
	if (rc == 0)
		rc = filter_sieve_compile(&c->all, &grouping, tables, &c->sieve);
	filter_grouping_clear(&grouping);
	return rc;
}

static void find_trivial(struct mr_classifier *c, const struct mr_filter_set *set, bool out)
{
	if (c->groups.count == 0) {
		c->trivial = true;
		c->trivial_rule = c->count;
		return;
	}
	c->trivial_rule = c->all.match[0].rule;
	c->trivial = mr_filter_action_is_final(set->rule[c->trivial_rule]->action) &&
		     mr_filter_rule_wants(set->rule[c->trivial_rule], out) == 0;
}

struct mr_classifier *mr_classifier_compile(const struct mr_filter_set *set, bool out, int socket,
					    struct mr_error *error)
{
	struct filter_match_sizes sizes;
	struct block block = {0};
	struct filter_sieve_tables *tables;
	struct mr_classifier *c;
	int rc = filter_match_sizes(set, out, &sizes);

	if (rc == -EFBIG) {
		mr_fail(error, rc, "the rules list too many addresses or ports");
		return NULL;
	}
	if (rc != 0) {
		mr_fail(error, rc, "no memory to compile %u rules", set->count);
		return NULL;
	}
	cut_classifier(&block, &sizes, &tables);
	block.base = rte_zmalloc_socket("classifier", block.used, RTE_CACHE_LINE_SIZE, socket);
	if (block.base == NULL) {
		mr_fail(error, -ENOMEM, "no memory for %u rules compiled: they need %zu kB",
			set->count, block.used >> 10);
		return NULL;
	}
	block.used = 0;
	c = cut_classifier(&block, &sizes, &tables);
	c->count = set->count;
	c->wants = mr_filter_set_wants(set, out);
	rc = fill(c, set, out, tables);
	if (rc != 0) {
		mr_fail(error, rc, "no memory to compile %u rules", set->count);
		mr_classifier_free(c);
		return NULL;
	}
	find_trivial(c, set, out);
	c->generation = rte_rdtsc(); /* two are never compiled for one cache at the same time */
	return c;
}

void mr_classifier_free(struct mr_classifier *c)
{
	rte_free(c);
}
