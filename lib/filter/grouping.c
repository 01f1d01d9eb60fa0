/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rules stand together. Up to FILTER_GROUPS rules have a group each: then the sieve says
 * which of them may match. More are put together by the bits that they fix, since rules that fix
 * the same bits can share a hash table: prefixes of one length, one port, one protocol. (Tuple
 * space search, Srinivasan, Suri, Varghese 1999.) Sets of rules have more kinds than there may be
 * tables, so a rule may be hashed by fewer bits than it fixes: lengths are rounded down, at first a
 * little, and then the two kinds are merged that lose the fewest bits, until TUPLES are left.
 *
 * A rule with lists of addresses or ports stands in its table once for each of their alternatives,
 * as long as there are few, since a list as a whole fixes hardly any bits.
 *
 * A table holds any number of rules, so the groups that are left over are spent on cutting the
 * largest tables into pieces of neighbouring rules. That is for the sieve: a piece allows fewer
 * values than the whole.
 */
#include "filter/groups.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "filter/interval.h"
#include "filter/rule.h"

enum { TUPLES = 32, MAX_TUPLES = 256, LEVELS = 5, MAX_ITEMS = 4 * MR_FILTER_MAX_RULES };

struct tuple {
	uint64_t mask[FILTER_KEY_WORDS];
	uint32_t count;  /* of its rules */
	uint32_t pieces; /* groups that it is cut into; 0: merged into another */
	uint32_t into;   /* which */
};

struct work {
	struct filter_ternary *bits; /* by item */
	uint16_t *tuple_of;          /* by item */
	struct tuple tuple[MAX_TUPLES];
	unsigned tuples;
};

/* ---- kinds ---- */

/* Rounds the length of a prefix mask of `size` bytes down to a multiple of step. */
static void round_prefix(uint8_t *mask, unsigned size, unsigned step)
{
	unsigned length = 0;

	for (unsigned i = 0; i < size; i++)
		length += (unsigned)__builtin_popcount(mask[i]);
	filter_bits_mask(mask, size, length / step * step);
}

/* The bits to hash a rule by; the higher the level, the fewer kinds there are. At the last one they
 * are at most MAX_TUPLES: four lengths of source and of destination, and four things that a rule
 * fixes or does not: family, protocol and ports. */
static void mask_at_level(const struct filter_ternary *bits, unsigned level,
			  uint64_t words[FILTER_KEY_WORDS])
{
	static const uint8_t v4_step[LEVELS] = {4, 8, 16, 16, 32};
	static const uint8_t v6_step[LEVELS] = {16, 16, 32, 64, 64};
	static const uint8_t port_step[LEVELS] = {4, 8, 16, 16, 16};
	const size_t flags = offsetof(struct mr_filter_key, flags);
	const size_t tcp_flags = offsetof(struct mr_filter_key, tcp_flags);
	const size_t protocol = offsetof(struct mr_filter_key, protocol);
	uint8_t family = bits->mask[flags] & (MR_FILTER_IPV4 | MR_FILTER_IPV6);
	bool v6 = family != 0 && (bits->value[flags] & MR_FILTER_IPV6);
	uint8_t mask[FILTER_KEY_SIZE];
	unsigned step = v6 ? v6_step[level] : v4_step[level];

	memcpy(mask, bits->mask, sizeof(mask));
	round_prefix(mask + offsetof(struct mr_filter_key, src), 16, step);
	round_prefix(mask + offsetof(struct mr_filter_key, dst), 16, step);
	round_prefix(mask + offsetof(struct mr_filter_key, sport), 2, port_step[level]);
	round_prefix(mask + offsetof(struct mr_filter_key, dport), 2, port_step[level]);
	if (level == LEVELS - 1) {
		memset(mask + tcp_flags, 0, sizeof(mask) - tcp_flags);
		mask[flags] = family;
		mask[protocol] = mask[protocol] == 0xff ? 0xff : 0;
	}
	memcpy(words, mask, sizeof(mask));
}

static unsigned find_tuple(struct work *work, const uint64_t mask[FILTER_KEY_WORDS])
{
	for (unsigned i = 0; i < work->tuples; i++)
		if (memcmp(work->tuple[i].mask, mask, sizeof(work->tuple[i].mask)) == 0)
			return i;
	if (work->tuples < MAX_TUPLES) {
		work->tuple[work->tuples] = (struct tuple){.pieces = 1};
		memcpy(work->tuple[work->tuples].mask, mask, sizeof(work->tuple[0].mask));
		work->tuples++;
	}
	return work->tuples - 1;
}

/* Whether the kinds of all rules at a level have room. */
static bool find_tuples(struct work *work, uint32_t count, unsigned level)
{
	work->tuples = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t mask[FILTER_KEY_WORDS];
		unsigned tuple;

		mask_at_level(&work->bits[i], level, mask);
		tuple = find_tuple(work, mask);
		if (memcmp(work->tuple[tuple].mask, mask, sizeof(mask)) != 0)
			return false;
		work->tuple[tuple].count++;
		work->tuple_of[i] = (uint16_t)tuple;
	}
	return true;
}

/* How many bits the rules of two kinds lose, all together, when they are hashed by what both fix.
 */
static uint64_t merge_cost(const struct tuple *a, const struct tuple *b)
{
	uint64_t lost_a = 0, lost_b = 0;

	for (unsigned i = 0; i < FILTER_KEY_WORDS; i++) {
		lost_a += (unsigned)__builtin_popcountll(a->mask[i] & ~b->mask[i]);
		lost_b += (unsigned)__builtin_popcountll(b->mask[i] & ~a->mask[i]);
	}
	return lost_a * a->count + lost_b * b->count;
}

static void merge_cheapest(struct work *work)
{
	struct tuple *into = work->tuple, *from = work->tuple; /* there are two to be merged */
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < work->tuples; i++) {
		for (unsigned j = 0; j < i; j++) {
			uint64_t cost;

			if (work->tuple[i].pieces == 0 || work->tuple[j].pieces == 0)
				continue;
			cost = merge_cost(&work->tuple[i], &work->tuple[j]);
			if (cost >= best)
				continue;
			best = cost;
			into = &work->tuple[j];
			from = &work->tuple[i];
		}
	}
	for (unsigned i = 0; i < FILTER_KEY_WORDS; i++)
		into->mask[i] &= from->mask[i];
	into->count += from->count;
	from->pieces = 0;
	from->into = (uint32_t)(into - work->tuple);
}

static unsigned merge_tuples(struct work *work, uint32_t count)
{
	unsigned left = work->tuples;

	for (; left > TUPLES; left--)
		merge_cheapest(work);
	for (uint32_t i = 0; i < count; i++)
		while (work->tuple[work->tuple_of[i]].pieces == 0)
			work->tuple_of[i] = (uint16_t)work->tuple[work->tuple_of[i]].into;
	return left;
}

/* ---- groups ---- */

static void spend_groups(struct work *work, unsigned left)
{
	for (; left < FILTER_GROUPS; left++) {
		struct tuple *largest = NULL;

		for (unsigned i = 0; i < work->tuples; i++) {
			struct tuple *tuple = &work->tuple[i];

			if (tuple->pieces != 0 &&
			    (largest == NULL || (uint64_t)tuple->count * largest->pieces >
							(uint64_t)largest->count * tuple->pieces))
				largest = tuple;
		}
		if (largest == NULL)
			return; /* no tuples */
		largest->pieces++;
	}
}

struct piece {
	uint32_t first; /* item; they are numbered in the order of matches */
	uint32_t start, count;
	unsigned tuple;
};

/* By kind, and within a kind so that neighbours have values in common. */
static int compare_items(const void *left, const void *right, void *from)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct work *work = from;
	int order = work->tuple_of[a] - work->tuple_of[b];

	if (order == 0)
		order = memcmp(work->bits[a].value, work->bits[b].value, FILTER_KEY_SIZE);
	return order != 0 ? order : (a > b) - (a < b);
}

static int compare_index(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	return (a->first > b->first) - (a->first < b->first);
}

/* Cuts the sorted items into pieces. Returns how many there are. */
static unsigned cut_pieces(const struct work *work, uint32_t *item, uint32_t count,
			   struct piece *piece)
{
	unsigned pieces = 0;

	for (uint32_t at = 0; at < count;) {
		const struct tuple *tuple = &work->tuple[work->tuple_of[item[at]]];

		for (uint32_t i = 0; i < tuple->pieces; i++) {
			uint32_t start = (uint32_t)((uint64_t)tuple->count * i / tuple->pieces);
			uint32_t end = (uint32_t)((uint64_t)tuple->count * (i + 1) / tuple->pieces);

			if (start == end)
				continue;
			qsort(item + at + start, end - start, sizeof(*item), compare_index);
			piece[pieces++] = (struct piece){item[at + start], at + start, end - start,
							 (unsigned)(tuple - work->tuple)};
		}
		at += tuple->count;
	}
	return pieces;
}

static void make_groups(const struct work *work, const struct filter_item *item,
			const uint32_t *order, struct piece *piece, unsigned pieces,
			struct filter_grouping *grouping)
{
	uint32_t at = 0;

	qsort(piece, pieces, sizeof(*piece), compare_pieces);
	grouping->groups = pieces;
	for (unsigned g = 0; g < pieces; g++) {
		for (uint32_t i = 0; i < piece[g].count; i++)
			grouping->item[at++] = item[order[piece[g].start + i]];
		grouping->start[g + 1] = at;
		memcpy(grouping->mask[g], work->tuple[piece[g].tuple].mask, FILTER_KEY_SIZE);
	}
}

static void group_by_kind(const struct filter_matches *all, struct work *work,
			  const struct filter_item *item, uint32_t *order,
			  struct filter_grouping *grouping)
{
	uint32_t count = grouping->count;
	struct piece piece[FILTER_GROUPS];
	unsigned level = 0, pieces;

	for (uint32_t i = 0; i < count; i++) {
		filter_project_bits(all, &all->match[item[i].match], item[i].item, &work->bits[i]);
		order[i] = i;
	}
	while (!find_tuples(work, count, level))
		level++;
	spend_groups(work, merge_tuples(work, count));
	qsort_r(order, count, sizeof(*order), compare_items, work);
	pieces = cut_pieces(work, order, count, piece);
	make_groups(work, item, order, piece, pieces, grouping);
}

static int group_many(const struct filter_matches *all, const struct filter_item *item,
		      struct filter_grouping *grouping)
{
	struct work *work = calloc(1, sizeof(*work));
	uint32_t *order = calloc(grouping->count, sizeof(*order));
	int rc = -ENOMEM;

	if (work != NULL && order != NULL) {
		work->bits = malloc(grouping->count * sizeof(*work->bits));
		work->tuple_of = malloc(grouping->count * sizeof(*work->tuple_of));
		if (work->bits != NULL && work->tuple_of != NULL) {
			group_by_kind(all, work, item, order, grouping);
			rc = 0;
		}
		free(work->bits);
		free(work->tuple_of);
	}
	free(work);
	free(order);
	return rc;
}

/* ---- items ---- */

/* How many items rules make, or as many as rules when that were more than there is use for. */
static uint32_t count_items(const struct filter_matches *all, uint32_t count)
{
	uint32_t items = 0;

	for (uint32_t i = 0; i < count && items <= MAX_ITEMS; i++)
		items += filter_item_count(all, &all->match[i]);
	return items <= MAX_ITEMS ? items : count;
}

static struct filter_item *make_items(const struct filter_matches *all, uint32_t count,
				      uint32_t items)
{
	struct filter_item *item = calloc(items, sizeof(*item));
	uint32_t at = 0;

	for (uint32_t i = 0; i < count && item != NULL; i++) {
		unsigned of = items == count ? 1 : filter_item_count(all, &all->match[i]);

		for (unsigned j = 0; j < of; j++)
			item[at++] =
				(struct filter_item){i, items == count ? FILTER_WHOLE : (uint8_t)j};
	}
	return item;
}

int filter_grouping_make(const struct filter_matches *all, uint32_t count,
			 struct filter_grouping *grouping)
{
	struct filter_item *item;
	int rc;

	memset(grouping, 0, sizeof(*grouping));
	if (count == 0)
		return 0;
	grouping->count = count <= FILTER_GROUPS ? count : count_items(all, count);
	item = make_items(all, count, grouping->count);
	if (item == NULL)
		return -ENOMEM;
	if (count <= FILTER_GROUPS) {
		grouping->item = item;
		grouping->groups = count;
		for (uint32_t i = 0; i < count; i++)
			grouping->start[i + 1] = i + 1;
		return 0;
	}
	grouping->item = calloc(grouping->count, sizeof(*grouping->item));
	rc = grouping->item == NULL ? -ENOMEM : group_many(all, item, grouping);
	if (rc != 0)
		filter_grouping_clear(grouping);
	free(item);
	return rc;
}

void filter_grouping_clear(struct filter_grouping *grouping)
{
	free(grouping->item);
	grouping->item = NULL;
}
