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

#include "filter/match.h"

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
					    const struct filter_match_sizes *sizes)
{
	struct mr_classifier *c = cut(block, 1, sizeof(*c));
	struct filter_matches all;

	cut_matches(block, sizes, &all);
	if (c != NULL)
		c->all = all;
	return c;
}

static void find_trivial(struct mr_classifier *c, const struct mr_filter_set *set, bool out)
{
	if (c->matches == 0) {
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
	cut_classifier(&block, &sizes);
	block.base = rte_zmalloc_socket("classifier", block.used, RTE_CACHE_LINE_SIZE, socket);
	if (block.base == NULL) {
		mr_fail(error, -ENOMEM, "no memory for %u rules compiled: they need %zu kB",
			set->count, block.used >> 10);
		return NULL;
	}
	block.used = 0;
	c = cut_classifier(&block, &sizes);
	c->count = set->count;
	c->wants = mr_filter_set_wants(set, out);
	rc = filter_match_compile(set, out, &c->all);
	if (rc < 0) {
		mr_fail(error, rc, "no memory to compile %u rules", set->count);
		mr_classifier_free(c);
		return NULL;
	}
	c->matches = (uint32_t)rc;
	find_trivial(c, set, out);
	c->generation = rte_rdtsc(); /* two are never compiled for one cache at the same time */
	return c;
}

void mr_classifier_free(struct mr_classifier *c)
{
	rte_free(c);
}
