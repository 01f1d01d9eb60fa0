/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a set of rules becomes a classifier, in two steps: the rules' tests, then the groups of rules
 * and what finds them. What a step needs is counted and taken in one block before it is filled.
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

static struct mr_classifier *cut_classifier(struct block *block,
					    const struct filter_match_sizes *sizes)
{
	struct mr_classifier *c = cut(block, 1, sizeof(*c));
	struct filter_matches all;

	block->used += filter_match_place(
		sizes, block->base == NULL ? NULL : block->base + block->used, &all);
	if (c != NULL)
		c->all = all;
	return c;
}

static struct filter_sieve_tables *cut_groups(struct block *block, uint32_t items,
					      struct filter_groups *groups)
{
	groups->group = cut(block, FILTER_GROUPS, sizeof(*groups->group));
	groups->filter = cut(block, filter_groups_filter_words(items), sizeof(*groups->filter));
	groups->bucket = cut(block, filter_groups_buckets(items), sizeof(*groups->bucket));
	groups->entry = cut(block, items, sizeof(*groups->entry));
	return cut(block, 1, sizeof(struct filter_sieve_tables));
}

static int take(struct block *block, int socket)
{
	block->base = rte_zmalloc_socket("classifier", block->used, RTE_CACHE_LINE_SIZE, socket);
	block->used = 0;
	return block->base == NULL ? -ENOMEM : 0;
}

/* A classifier's sieve may look at the whole key. */
static struct filter_sieve_choices key_words(void)
{
	struct filter_sieve_choices words = {.count = FILTER_HALVES};

	for (uint8_t i = 0; i < FILTER_HALVES; i++)
		words.choice[i] = (struct filter_sieve_choice){.word = i, .offset = 2 * i};
	return words;
}

/* Makes the groups and the sieve. Returns 0 or -ENOMEM. */
static int fill_groups(struct mr_classifier *c, const struct filter_grouping *grouping, int socket)
{
	const struct filter_sieve_choices words = key_words();
	struct filter_sieve_tables *tables;
	struct block block = {0};
	int rc;

	cut_groups(&block, grouping->count, &c->groups);
	rc = take(&block, socket);
	if (rc != 0)
		return rc;
	tables = cut_groups(&block, grouping->count, &c->groups);
	rc = filter_groups_fill(&c->all, grouping, &c->groups);
	return rc != 0 ? rc : filter_sieve_compile(&c->all, grouping, &words, tables, &c->sieve);
}

static enum filter_hook hook_of(bool out)
{
	return out ? FILTER_AT_OUTPUT : FILTER_AT_INPUT;
}

static int fill(struct mr_classifier *c, const struct mr_filter_set *set, bool out, int socket)
{
	struct filter_grouping grouping;
	int rc = filter_match_compile(set, hook_of(out), &c->all);

	if (rc >= 0)
		rc = filter_grouping_make(&c->all, (uint32_t)rc, &grouping);
	if (rc != 0)
		return rc;
	rc = fill_groups(c, &grouping, socket);
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

static struct mr_classifier *compile(const struct mr_filter_set *set, bool out, int socket, int *rc)
{
	struct filter_match_sizes sizes;
	struct block block = {0};
	struct mr_classifier *c;

	*rc = filter_match_sizes(set, hook_of(out), &sizes);
	if (*rc != 0)
		return NULL;
	cut_classifier(&block, &sizes);
	*rc = take(&block, socket);
	if (*rc != 0)
		return NULL;
	c = cut_classifier(&block, &sizes);
	c->count = set->count;
	c->wants = mr_filter_set_wants(set, out);
	*rc = fill(c, set, out, socket);
	if (*rc != 0) {
		mr_classifier_free(c);
		return NULL;
	}
	find_trivial(c, set, out);
	c->generation = rte_rdtsc(); /* two are never compiled for one cache at the same time */
	return c;
}

struct mr_classifier *mr_classifier_compile(const struct mr_filter_set *set, bool out, int socket,
					    struct mr_error *error)
{
	int rc;
	struct mr_classifier *c = compile(set, out, socket, &rc);

	if (c != NULL)
		return c;
	if (rc == -EFBIG)
		mr_fail(error, rc, "the rules list too many addresses or ports");
	else
		mr_fail(error, rc, "no memory to compile %u rules", set->count);
	return NULL;
}

void mr_classifier_free(struct mr_classifier *c)
{
	if (c == NULL)
		return;
	rte_free(c->groups.group); /* the first array of its block */
	rte_free(c);
}
