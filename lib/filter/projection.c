/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The views are taken from compiled tests, not from rules, so that there is one place that says
 * what a rule means. A test that a view has no use for is left out, which only widens it.
 */
#include "filter/projection.h"

#include <stddef.h>

#include <rte_common.h>

#define OFFSET(field) offsetof(struct mr_filter_key, field)

/* ---- bits ---- */

/* Fixes what the numbers of a range have in common from their top bit on. size: 1 or 2 bytes. */
static void fix_range(struct filter_ternary *t, size_t offset, unsigned size, uint16_t first,
		      uint16_t last)
{
	unsigned bits = size * 8;
	uint16_t mask = (uint16_t)(0xffffu >> (16 - bits));

	while (mask != 0 && ((first ^ last) & mask) != 0)
		mask = (uint16_t)(mask << 1 & 0xffffu >> (16 - bits));
	for (unsigned i = 0; i < size; i++) {
		uint8_t part = (uint8_t)(mask >> (bits - 8 - 8 * i));

		t->mask[offset + i] |= part;
		t->value[offset + i] |= (uint8_t)(first >> (bits - 8 - 8 * i)) & part;
	}
}

static void fix_word(struct filter_ternary *t, size_t offset, uint64_t mask, uint64_t value)
{
	uint64_t masks = mr_load64(t->mask + offset) | mask;
	uint64_t values = mr_load64(t->value + offset) | (value & mask);

	memcpy(t->mask + offset, &masks, sizeof(masks));
	memcpy(t->value + offset, &values, sizeof(values));
}

static void fix_flags(struct filter_ternary *t, const struct filter_match *match)
{
	uint16_t mask = match->flags_mask, value = match->flags_value;

	if (__builtin_popcount(match->families) == 1) {
		mask |= MR_FILTER_IPV4 | MR_FILTER_IPV6;
		value |= (uint16_t)__builtin_ctz(match->families);
	}
	memcpy(t->mask + OFFSET(flags), &mask, sizeof(mask));
	memcpy(t->value + OFFSET(flags), &value, sizeof(value));
}

static uint16_t span_end(uint16_t first, uint16_t span)
{
	return (uint16_t)(first + span);
}

static void project_rule(const struct filter_matches *all, const struct filter_match *match,
			 struct filter_ternary *t)
{
	fix_word(t, OFFSET(src), match->src_mask, match->src_value);
	fix_word(t, OFFSET(dst), match->dst_mask, match->dst_value);
	fix_flags(t, match);
	fix_range(t, OFFSET(sport), 2, match->sport_first,
		  span_end(match->sport_first, match->sport_span));
	fix_range(t, OFFSET(dport), 2, match->dport_first,
		  span_end(match->dport_first, match->dport_span));
	fix_range(t, OFFSET(protocol), 1, match->protocol_first,
		  match->protocol_first + match->protocol_span);
	for (unsigned i = 0; i < match->further; i++) {
		const struct filter_test *test = &all->test[match->test + i];
		const struct filter_span16 *span = &all->span16[test->at];

		if (test->negated)
			continue;
		if (test->kind == FILTER_BITS)
			fix_word(t, test->offset, test->bits.mask, test->bits.value);
		else if (test->kind != FILTER_IN)
			fix_range(t, test->offset, test->kind == FILTER_RANGES8 ? 1 : 2,
				  span[0].first, span[test->count - 1].last);
	}
}

/* ---- items ---- */

/* The lists of a rule that are split, and how many alternatives each has. */
struct split {
	unsigned lists, items;
	const struct filter_test *list[4];
	unsigned options[4];
};

static unsigned count_options(const struct filter_matches *all, const struct filter_test *test)
{
	unsigned options = 0;

	if (test->negated || test->kind == FILTER_BITS)
		return 0;
	if (test->kind != FILTER_IN)
		return test->count;
	for (uint32_t i = 0; i < test->count && options <= FILTER_ITEMS; i++) {
		const struct filter_table *table = &all->table[all->table_list[test->at + i]];

		options += table->v4_count + table->v6_count;
	}
	return options;
}

/* Addresses come first, since they tell most. */
static void split_rule(const struct filter_matches *all, const struct filter_match *match,
		       struct split *split)
{
	*split = (struct split){.items = 1};
	for (unsigned ports = 0; ports < 2; ports++) {
		for (unsigned i = 0; i < match->further && split->lists < 4; i++) {
			const struct filter_test *test = &all->test[match->test + i];
			unsigned options = count_options(all, test);

			if ((test->kind != FILTER_IN) != ports || options < (ports ? 2u : 1u) ||
			    options * split->items > FILTER_ITEMS)
				continue;
			split->items *= options;
			split->list[split->lists] = test;
			split->options[split->lists++] = options;
		}
	}
}

unsigned filter_item_count(const struct filter_matches *all, const struct filter_match *match)
{
	struct split split;

	split_rule(all, match, &split);
	return split.items;
}

/* Fixes what two addresses have in common from their top bit on, and their family. */
static void fix_addresses(struct filter_ternary *t, size_t offset, const struct filter_ipv6 *first,
			  const struct filter_ipv6 *last, uint16_t family)
{
	uint64_t high = first->high ^ last->high, low = first->low ^ last->low;
	uint64_t masks[2] = {high == 0 ? UINT64_MAX : ~(UINT64_MAX >> __builtin_clzll(high)), 0};
	uint16_t flags;

	if (high == 0)
		masks[1] = low == 0 ? UINT64_MAX : ~(UINT64_MAX >> __builtin_clzll(low));
	if (family == MR_FILTER_IPV4) {
		masks[0] &= UINT64_MAX << 32;
		masks[1] = 0;
	}
	fix_word(t, offset, rte_cpu_to_be_64(masks[0]), rte_cpu_to_be_64(first->high));
	fix_word(t, offset + 8, rte_cpu_to_be_64(masks[1]), rte_cpu_to_be_64(first->low));
	memcpy(&flags, t->mask + OFFSET(flags), sizeof(flags));
	flags |= MR_FILTER_IPV4 | MR_FILTER_IPV6;
	memcpy(t->mask + OFFSET(flags), &flags, sizeof(flags));
	memcpy(&flags, t->value + OFFSET(flags), sizeof(flags));
	flags = (uint16_t)((flags & ~(MR_FILTER_IPV4 | MR_FILTER_IPV6)) | family);
	memcpy(t->value + OFFSET(flags), &flags, sizeof(flags));
}

static void fix_option(const struct filter_matches *all, const struct filter_test *test,
		       unsigned option, struct filter_ternary *t)
{
	const uint32_t *table = &all->table_list[test->at];

	if (test->kind != FILTER_IN) {
		const struct filter_span16 *span = &all->span16[test->at + option];

		fix_range(t, test->offset, test->kind == FILTER_RANGES8 ? 1 : 2, span->first,
			  span->last);
		return;
	}
	while (option >= all->table[*table].v4_count + all->table[*table].v6_count) {
		option -= all->table[*table].v4_count + all->table[*table].v6_count;
		table++;
	}
	if (option < all->table[*table].v4_count) {
		const struct filter_span32 *span = &all->span32[all->table[*table].v4 + option];
		struct filter_ipv6 first = {(uint64_t)span->first << 32, 0};
		struct filter_ipv6 last = {(uint64_t)span->last << 32, 0};

		fix_addresses(t, test->offset, &first, &last, MR_FILTER_IPV4);
	} else {
		const struct filter_span128 *span =
			&all->span128[all->table[*table].v6 + option - all->table[*table].v4_count];

		fix_addresses(t, test->offset, &span->first, &span->last, MR_FILTER_IPV6);
	}
}

void filter_project_bits(const struct filter_matches *all, const struct filter_match *match,
			 uint8_t item, struct filter_ternary *t)
{
	struct split split;
	unsigned left = item;

	memset(t, 0, sizeof(*t));
	project_rule(all, match, t);
	if (item == FILTER_WHOLE)
		return;
	split_rule(all, match, &split);
	for (unsigned i = 0; i < split.lists; i++) {
		fix_option(all, split.list[i], left % split.options[i], t);
		left /= split.options[i];
	}
}

/* ---- words ---- */

/* Numbers are in host byte order, as a rule has them. */
static void add_numbers(struct filter_values *values, uint32_t first, uint32_t last)
{
	if (first == 0 && last == UINT16_MAX)
		values->all = true;
	if (values->all)
		return;
	for (uint32_t at = first / 64; at <= last / 64; at++) {
		uint64_t bits = UINT64_MAX;

		if (at == first / 64)
			bits &= UINT64_MAX << first % 64;
		if (at == last / 64)
			bits &= UINT64_MAX >> (63 - last % 64);
		values->bits[at] |= bits;
	}
}

/* A word of an address of which all the words before it are the same in first and last. */
static void add_address_word(struct filter_values *values, const uint16_t *first,
			     const uint16_t *last, unsigned word)
{
	for (unsigned i = 0; i < word; i++)
		if (first[i] != last[i]) {
			values->all = true;
			return;
		}
	add_numbers(values, first[word], last[word]);
}

static void words_of_ipv6(const struct filter_ipv6 *address, uint16_t word[8])
{
	for (unsigned i = 0; i < 4; i++) {
		word[i] = (uint16_t)(address->high >> (48 - 16 * i));
		word[4 + i] = (uint16_t)(address->low >> (48 - 16 * i));
	}
}

/* IPv4 addresses leave the words behind the second zero. */
static void add_table(struct filter_values *values, const struct filter_matches *all,
		      const struct filter_table *table, unsigned word)
{
	for (uint32_t i = 0; i < table->v4_count && !values->all; i++) {
		const struct filter_span32 *span = &all->span32[table->v4 + i];
		uint16_t first[8] = {(uint16_t)(span->first >> 16), (uint16_t)span->first};
		uint16_t last[8] = {(uint16_t)(span->last >> 16), (uint16_t)span->last};

		if (word > 1)
			add_numbers(values, 0, 0);
		else
			add_address_word(values, first, last, word);
	}
	for (uint32_t i = 0; i < table->v6_count && !values->all; i++) {
		const struct filter_span128 *span = &all->span128[table->v6 + i];
		uint16_t first[8], last[8];

		words_of_ipv6(&span->first, first);
		words_of_ipv6(&span->last, last);
		add_address_word(values, first, last, word);
	}
}

static void add_flags(struct filter_values *values, const struct filter_match *match)
{
	if (match->flags_mask == 0 && (match->families & 7) == 7) {
		values->all = true;
		return;
	}
	for (uint32_t flags = 0; flags < 2 * MR_FILTER_OUT; flags++)
		if ((flags & match->flags_mask) == match->flags_value &&
		    (match->families >> (flags & 3) & 1)) {
			uint16_t number = rte_be_to_cpu_16((uint16_t)flags);

			add_numbers(values, number, number);
		}
}

/* Ranges of bytes that are a word's upper half have shift 8 and all lower halves. */
static void add_ranges(struct filter_values *values, const struct filter_span16 *span,
		       uint32_t count, bool negated, unsigned shift)
{
	uint32_t max = UINT16_MAX >> shift, tail = (1u << shift) - 1, next = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!negated)
			add_numbers(values, (uint32_t)span[i].first << shift,
				    (uint32_t)span[i].last << shift | tail);
		else if (span[i].first > next)
			add_numbers(values, next << shift,
				    (uint32_t)(span[i].first - 1) << shift | tail);
		next = span[i].last + 1u;
	}
	if (negated && next <= max)
		add_numbers(values, next << shift, max << shift | tail);
}

/* Whether a list is about a word of the key. */
static bool is_about(const struct filter_test *test, unsigned word)
{
	unsigned at = word * 2;

	if (test->kind == FILTER_IN)
		return !test->negated && at >= test->offset && at < test->offset + 16u;
	return test->kind != FILTER_BITS && at == test->offset;
}

/* Whether the item has chosen one alternative of what its rule lists about a word. */
static bool has_chosen(const struct filter_matches *all, const struct filter_match *match,
		       uint8_t item, unsigned word)
{
	struct split split;

	if (item == FILTER_WHOLE || match->further == 0)
		return false;
	split_rule(all, match, &split);
	for (unsigned i = 0; i < split.lists; i++)
		if (is_about(split.list[i], word))
			return true;
	return false;
}

/* Adds the values that a list or a part of the record which says more than bits allows of a word;
 * returns whether there is one. */
static bool add_listed(struct filter_values *values, const struct filter_matches *all,
		       const struct filter_match *match, unsigned word)
{
	for (unsigned i = 0; i < match->further; i++) {
		const struct filter_test *test = &all->test[match->test + i];

		if (!is_about(test, word))
			continue;
		if (test->kind != FILTER_IN)
			add_ranges(values, &all->span16[test->at], test->count, test->negated,
				   test->kind == FILTER_RANGES8 ? 8 : 0);
		for (uint32_t j = 0; j < test->count && test->kind == FILTER_IN; j++)
			add_table(values, all, &all->table[all->table_list[test->at + j]],
				  word - test->offset / 2u);
		return true;
	}
	switch (word * 2) {
	case OFFSET(flags):
		add_flags(values, match);
		return true;
	case OFFSET(sport):
		add_numbers(values, match->sport_first,
			    span_end(match->sport_first, match->sport_span));
		return true;
	case OFFSET(dport):
		add_numbers(values, match->dport_first,
			    span_end(match->dport_first, match->dport_span));
		return true;
	case OFFSET(protocol):
		add_numbers(values, (uint32_t)match->protocol_first << 8,
			    (uint32_t)(match->protocol_first + match->protocol_span) << 8 | 0xff);
		return true;
	default:
		return false;
	}
}

void filter_project_word(const struct filter_matches *all, const struct filter_match *match,
			 uint8_t item, unsigned word, struct filter_values *values)
{
	struct filter_ternary bits;
	uint16_t mask, value;

	if (values->all)
		return;
	if (!has_chosen(all, match, item, word) && add_listed(values, all, match, word))
		return;
	filter_project_bits(all, match, item, &bits);
	mask = (uint16_t)(bits.mask[word * 2] << 8 | bits.mask[word * 2 + 1]);
	value = (uint16_t)(bits.value[word * 2] << 8 | bits.value[word * 2 + 1]);
	/* Bits that are not a prefix of the word: what is behind the first gap is left open. */
	while ((uint16_t)~mask & ((uint16_t)~mask + 1))
		mask &= (uint16_t)(mask << 1);
	add_numbers(values, value & mask, (value & mask) | (uint16_t)~mask);
}

/* Marks the words that a prefix of eight bytes reaches into; false when it is no prefix in one. */
static bool need_prefix(uint64_t mask, unsigned first, bool needed[FILTER_HALVES])
{
	mask = rte_be_to_cpu_64(mask);
	for (unsigned i = 0; i < 4; i++) {
		uint16_t open = (uint16_t) ~(mask >> (48 - 16 * i));

		if ((open & (open + 1u)) != 0)
			return false;
		needed[first + i] |= open != UINT16_MAX;
	}
	return true;
}

bool filter_is_by_words(const struct filter_matches *all, const struct filter_match *match,
			bool needed[FILTER_HALVES])
{
	bool listed[FILTER_HALVES] = {false};

	memset(needed, 0, FILTER_HALVES * sizeof(*needed));
	for (unsigned i = 0; i < match->further; i++) {
		const struct filter_test *test = &all->test[match->test + i];
		unsigned word = test->offset / 2u;

		if (test->kind == FILTER_IN || !is_about(test, word) || listed[word])
			return false;
		listed[word] = needed[word] = true;
	}
	needed[OFFSET(sport) / 2] |= match->sport_span != UINT16_MAX;
	needed[OFFSET(dport) / 2] |= match->dport_span != UINT16_MAX;
	needed[OFFSET(protocol) / 2] |= match->protocol_span != UINT8_MAX;
	needed[OFFSET(flags) / 2] |= match->flags_mask != 0 || (match->families & 7) != 7;
	return need_prefix(match->src_mask, OFFSET(src) / 2, needed) &&
	       need_prefix(match->dst_mask, OFFSET(dst) / 2, needed);
}
