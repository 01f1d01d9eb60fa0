/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A family's sieve is made of the rules that may match a plain packet of that family at either
 * hook, and of the words of the key that lie in plain frames. Tests of anything else are left out,
 * so that the sieve lets pass more than the rules match, and never less.
 */
#include "filter/glance.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "filter/match.h"
#include "filter/rule.h"
#include "filter/sieve.h"

/* What no plain packet has. */
enum { NOT_PLAIN = MR_FILTER_ICMP | MR_FILTER_LATER | MR_FILTER_FIRST | MR_FILTER_OPTIONS };

/* Where frames have what the key has. */
struct layout {
	uint16_t family; /* of key flags */
	uint8_t src, dst, address_words, sport, dport, protocol;
};

static const struct layout layouts[2] = {
	{MR_FILTER_IPV4, 26, 30, 2, 34, 36, 23},
	{MR_FILTER_IPV6, 22, 38, 8, 54, 56, 20},
};

struct compiled {
	struct filter_glance glance;
	struct filter_sieve_tables tables[2];
};

static void add_word(struct filter_sieve_choices *words, size_t key_offset, unsigned frame_offset,
		     bool first)
{
	words->choice[words->count++] = (struct filter_sieve_choice){
		.word = (uint8_t)(key_offset / 2), .offset = (uint8_t)frame_offset, .first = first};
}

static struct filter_sieve_choices words_of(const struct layout *layout)
{
	struct filter_sieve_choices words = {0};

	for (unsigned i = 0; i < layout->address_words; i++) {
		add_word(&words, offsetof(struct mr_filter_key, src) + 2 * i, layout->src + 2 * i,
			 false);
		add_word(&words, offsetof(struct mr_filter_key, dst) + 2 * i, layout->dst + 2 * i,
			 false);
	}
	add_word(&words, offsetof(struct mr_filter_key, sport), layout->sport, false);
	add_word(&words, offsetof(struct mr_filter_key, dport), layout->dport, false);
	/* In the key TCP's flags are behind the protocol, in frames something else. */
	add_word(&words, offsetof(struct mr_filter_key, protocol), layout->protocol, true);
	return words;
}

/* Copies the records of rules that may match plain packets of a family; returns how many. */
static uint32_t select_rules(const struct filter_match *from, uint32_t count, uint16_t family,
			     struct filter_match *to)
{
	uint32_t selected = 0;

	for (uint32_t i = 0; i < count; i++)
		if ((from[i].families >> family & 1) != 0 && (from[i].flags_value & NOT_PLAIN) == 0)
			to[selected++] = from[i];
	return selected;
}

static int compile_family(const struct filter_matches *all, uint32_t count,
			  const struct layout *layout, struct filter_sieve_tables *tables,
			  struct filter_sieve *sieve)
{
	const struct filter_sieve_choices words = words_of(layout);
	struct filter_grouping grouping;
	struct filter_matches some = *all;
	int rc = -ENOMEM;

	some.match = aligned_alloc(RTE_CACHE_LINE_SIZE, (count + 1) * sizeof(*some.match));
	if (some.match != NULL) {
		count = select_rules(all->match, count, layout->family, some.match);
		rc = filter_grouping_make(&some, count, &grouping);
	}
	if (rc == 0) {
		rc = filter_sieve_compile(&some, &grouping, &words, tables, sieve);
		filter_grouping_clear(&grouping);
	}
	free(some.match);
	return rc;
}

/* Whether a sieve leaves out any packet at all. */
static bool is_useful(const struct filter_sieve *sieve)
{
	uint64_t always = sieve->every;

	for (unsigned i = 0; i < sieve->words; i++)
		for (unsigned value = 0; value <= UINT16_MAX; value++)
			always &= sieve->word[i].groups_of[sieve->word[i].class_of[value]];
	return always == 0;
}

static int compile(const struct mr_filter_set *set, struct compiled *compiled)
{
	struct filter_matches all;
	struct filter_match_sizes sizes;
	uint8_t *block;
	int rc = filter_match_sizes(set, FILTER_AT_EITHER, &sizes);

	if (rc != 0)
		return rc;
	block = aligned_alloc(RTE_CACHE_LINE_SIZE,
			      RTE_CACHE_LINE_SIZE + filter_match_place(&sizes, NULL, &all));
	if (block == NULL)
		return -ENOMEM;
	filter_match_place(&sizes, block, &all);
	rc = filter_match_compile(set, FILTER_AT_EITHER, &all);
	if (rc >= 0) {
		uint32_t count = (uint32_t)rc;

		rc = 0;
		for (unsigned i = 0; i < 2 && rc == 0; i++)
			rc = compile_family(&all, count, &layouts[i], &compiled->tables[i],
					    &compiled->glance.sieve[i]);
	}
	free(block);
	return rc;
}

int filter_glance_compile(const struct mr_filter_set *set, int socket,
			  struct filter_glance **glance)
{
	struct compiled *compiled =
		rte_zmalloc_socket("filter_glance", sizeof(*compiled), RTE_CACHE_LINE_SIZE, socket);
	int rc;

	*glance = NULL;
	if (compiled == NULL)
		return -ENOMEM;
	rc = compile(set, compiled);
	if (rc == 0 &&
	    (is_useful(&compiled->glance.sieve[0]) || is_useful(&compiled->glance.sieve[1])))
		*glance = &compiled->glance;
	else
		filter_glance_free(&compiled->glance);
	return rc;
}

/* It is the first of what was taken. */
void filter_glance_free(struct filter_glance *glance)
{
	rte_free(glance);
}
