/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rule is one piece of memory: a hundred thousand of them are made, shared and freed. What its
 * lists point to follows it.
 */
#include "filter/draft.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mr_filter_refuse(struct mr_filter_fault *fault, unsigned column, const char *format, ...)
{
	va_list args;

	fault->column = column;
	va_start(args, format);
	vsnprintf(fault->error.text, sizeof(fault->error.text), format, args);
	va_end(args);
	return -EINVAL;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct mr_filter_range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Sorts and joins what overlaps or is adjacent; returns how many are left. */
static unsigned sort_ranges(struct mr_filter_range *range, unsigned count)
{
	unsigned kept = 0;

	qsort(range, count, sizeof(*range), compare_ranges);
	for (unsigned i = 1; i < count; i++) {
		if (range[i].first <= range[kept].last || range[i].first == range[kept].last + 1) {
			if (range[i].last > range[kept].last)
				range[kept].last = range[i].last;
		} else {
			range[++kept] = range[i];
		}
	}
	return kept + 1;
}

static int compare_addresses(const void *a, const void *b)
{
	const struct mr_filter_address *x = a, *y = b;
	int order;

	if (x->is_set || y->is_set)
		return x->is_set && y->is_set ? x->set - y->set : y->is_set - x->is_set;
	order = x->prefix.addr.family == y->prefix.addr.family ? 0
		: x->prefix.addr.family == AF_INET             ? -1
							       : 1;
	if (order == 0)
		order = memcmp(x->prefix.addr.bytes, y->prefix.addr.bytes,
			       sizeof(x->prefix.addr.bytes));
	return order != 0 ? order : x->prefix.length - y->prefix.length;
}

static uint16_t sort_addresses(struct mr_filter_address *address, unsigned count)
{
	unsigned kept = 0;

	if (count == 0)
		return 0;
	qsort(address, count, sizeof(*address), compare_addresses);
	for (unsigned i = 1; i < count; i++)
		if (compare_addresses(&address[kept], &address[i]) != 0)
			address[++kept] = address[i];
	return (uint16_t)(kept + 1);
}

void mr_filter_draft_sort(struct mr_filter_draft *draft)
{
	struct mr_filter_rule *rule = &draft->rule;

	for (unsigned field = 0; field < MR_FILTER_FIELDS; field++) {
		struct mr_filter_test *test = &draft->test[field];

		if (test->count != 0)
			test->count = (uint16_t)sort_ranges(
				&draft->range[test->range - draft->range], test->count);
	}
	rule->src.count = sort_addresses(draft->src, rule->src.count);
	rule->dst.count = sort_addresses(draft->dst, rule->dst.count);
}

static void *append(char **end, const void *from, size_t size)
{
	void *copy = *end;

	memcpy(copy, from, size);
	*end += size;
	return copy;
}

struct mr_filter_rule *mr_filter_draft_finish(const struct mr_filter_draft *draft)
{
	unsigned tests = 0, ranges = 0;
	const struct mr_filter_rule *from = &draft->rule;

	for (unsigned field = 0; field < MR_FILTER_FIELDS; field++) {
		tests += draft->test[field].count != 0;
		ranges += draft->test[field].count;
	}
	size_t addresses = (size_t)from->src.count + from->dst.count;
	struct mr_filter_rule *rule = malloc(sizeof(*rule) + tests * sizeof(struct mr_filter_test) +
					     ranges * sizeof(struct mr_filter_range) +
					     addresses * sizeof(struct mr_filter_address));
	if (rule == NULL)
		return NULL;
	*rule = *from;
	rule->references = 1;
	rule->tests = 0;
	struct mr_filter_test *test = (struct mr_filter_test *)(rule + 1);
	char *end = (char *)(test + tests);
	rule->test = test;
	for (unsigned field = 0; field < MR_FILTER_FIELDS; field++) {
		const struct mr_filter_test *t = &draft->test[field];

		if (t->count == 0)
			continue;
		test[rule->tests] = *t;
		test[rule->tests++].range = append(&end, t->range, t->count * sizeof(*t->range));
	}
	rule->src.alternative = append(&end, draft->src, from->src.count * sizeof(*draft->src));
	rule->dst.alternative = append(&end, draft->dst, from->dst.count * sizeof(*draft->dst));
	return rule;
}
