/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which words of the key a sieve looks at: those by which the groups differ most. A word lets a
 * group pass with the probability that a random value is one that the group allows; greedily, the
 * word is taken that leaves the fewest groups, until hardly any is left or no word helps. Traffic
 * is not random, so no word counts for more than 1 in LEAST: then several words are taken where one
 * would do for random packets.
 */
#include "filter/sieve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter/projection.h"

static const double least = 1.0 / 256, enough = 1e-16, worth = 0.8;

struct sieve_work {
	struct filter_values values[FILTER_GROUPS]; /* of one word */
	float passes[FILTER_HALVES][FILTER_GROUPS]; /* the probabilities */
	bool has[FILTER_HALVES];                    /* words that the sieve looks at as they are */
};

/* Lets each value pass whose first byte one that passes has. */
static void widen(struct filter_values *values)
{
	for (unsigned first = 0; first < 256; first++) {
		uint64_t *bits = &values->bits[first * 256 / 64];

		if ((bits[0] | bits[1] | bits[2] | bits[3]) != 0)
			memset(bits, 0xff, 256 / 8);
	}
}

static void project_groups(const struct filter_matches *all, const struct filter_grouping *grouping,
			   const struct filter_sieve_choice *choice, struct sieve_work *work)
{
	for (unsigned g = 0; g < grouping->groups; g++) {
		struct filter_values *values = &work->values[g];

		memset(values, 0, sizeof(*values));
		for (uint32_t i = grouping->start[g]; i < grouping->start[g + 1]; i++)
			filter_project_word(all, &all->match[grouping->item[i].match],
					    grouping->item[i].item, choice->word, values);
		if (choice->first)
			widen(values);
	}
}

static double probability(const struct filter_values *values, unsigned word)
{
	/* Of flags only nine bits are in use. */
	double possible = word * 2 == offsetof(struct mr_filter_key, flags) ? 512 : 65536;
	unsigned count = 0;
	double passes;

	if (values->all)
		return 1;
	for (unsigned i = 0; i < 65536 / 64; i++)
		count += (unsigned)__builtin_popcountll(values->bits[i]);
	passes = count / possible;
	return least + (1 - least) * passes;
}

/* The choice that leaves the fewest groups of those that `left` lets pass, or `choices`. */
static unsigned best_choice(const struct sieve_work *work, const double *left, unsigned groups,
			    unsigned choices, double *sum)
{
	unsigned best = choices;
	double limit = *sum * worth;

	for (unsigned i = 0; i < choices; i++) {
		double with = 0;

		for (unsigned g = 0; g < groups; g++)
			with += left[g] * work->passes[i][g];
		if (with < limit) {
			limit = with;
			best = i;
		}
	}
	*sum = limit;
	return best;
}

/* The class of a mask. Once all classes but the last are taken, the last stands for all others: it
 * lets pass what any of them does. */
static unsigned class_of_mask(uint64_t *groups_of, unsigned *classes, uint64_t mask)
{
	for (unsigned i = 0; i < *classes && i < FILTER_CLASSES - 1; i++)
		if (groups_of[i] == mask)
			return i;
	if (*classes < FILTER_CLASSES)
		groups_of[(*classes)++] = 0;
	groups_of[*classes - 1] |= mask;
	return *classes - 1;
}

/* Returns whether each mask has a class of its own. */
static bool fill_word(const struct sieve_work *work, unsigned groups, uint8_t *class_of,
		      uint64_t *groups_of)
{
	unsigned classes = 0, class = 0;
	uint64_t before = 0;

	for (uint32_t number = 0; number < 65536; number++) {
		uint64_t mask = 0;

		for (unsigned g = 0; g < groups; g++) {
			const struct filter_values *values = &work->values[g];
			uint64_t in = values->all | (values->bits[number / 64] >> number % 64 & 1);

			mask |= in << g;
		}
		if (number == 0 || mask != before)
			class = class_of_mask(groups_of, &classes, mask);
		before = mask;
		class_of[rte_cpu_to_be_16((uint16_t)number)] = (uint8_t) class;
	}
	return classes < FILTER_CLASSES;
}

/* Adds a word to the sieve. */
static void add_word(const struct filter_matches *all, const struct filter_grouping *grouping,
		     const struct filter_sieve_choice *choice, struct sieve_work *work,
		     struct filter_sieve_tables *tables, struct filter_sieve *sieve)
{
	unsigned n = sieve->words++;

	project_groups(all, grouping, choice, work);
	work->has[choice->word] =
		fill_word(work, grouping->groups, tables->class_of[n], tables->groups_of[n]) &&
		!choice->first;
	sieve->word[n] = (struct filter_sieve_word){tables->class_of[n], tables->groups_of[n],
						    choice->offset};
}

/* Words by which the groups differ, the best first. */
static void add_best(const struct filter_matches *all, const struct filter_grouping *grouping,
		     const struct filter_sieve_choices *choices, struct sieve_work *work,
		     struct filter_sieve_tables *tables, struct filter_sieve *sieve)
{
	double left[FILTER_GROUPS], sum = grouping->groups;

	for (unsigned g = 0; g < grouping->groups; g++)
		left[g] = 1;
	while (sieve->words < FILTER_SIEVE_WORDS && sum > enough) {
		unsigned best = best_choice(work, left, grouping->groups, choices->count, &sum);

		if (best == choices->count)
			break;
		for (unsigned g = 0; g < grouping->groups; g++) {
			left[g] *= work->passes[best][g];
			work->passes[best][g] = 1; /* it has done what it can */
		}
		add_word(all, grouping, &choices->choice[best], work, tables, sieve);
	}
}

/* The words that a group of one rule needs to be decided by them; false: there are none. */
static bool words_of_group(const struct filter_matches *all, const struct filter_grouping *grouping,
			   unsigned group, bool needed[FILTER_HALVES])
{
	return grouping->start[group + 1] - grouping->start[group] == 1 &&
	       filter_is_by_words(all, &all->match[grouping->item[grouping->start[group]].match],
				  needed);
}

/* Adds the words that one rule lacks, if there is room for them. */
static void complete_group(const struct filter_matches *all, const struct filter_grouping *grouping,
			   const struct filter_sieve_choices *choices, const bool *needed,
			   struct sieve_work *work, struct filter_sieve_tables *tables,
			   struct filter_sieve *sieve)
{
	unsigned lacking = 0;

	for (unsigned i = 0; i < choices->count; i++)
		lacking += needed[choices->choice[i].word] && !work->has[choices->choice[i].word];
	if (sieve->words + lacking > FILTER_SIEVE_WORDS)
		return;
	for (unsigned i = 0; i < choices->count; i++) {
		const struct filter_sieve_choice *choice = &choices->choice[i];

		if (needed[choice->word] && !work->has[choice->word])
			add_word(all, grouping, choice, work, tables, sieve);
	}
}

/* Which groups the sieve decides about. The last rules are those that most packets get to. */
static void find_exact(const struct filter_matches *all, const struct filter_grouping *grouping,
		       const struct filter_sieve_choices *choices, struct sieve_work *work,
		       struct filter_sieve_tables *tables, struct filter_sieve *sieve)
{
	bool needed[FILTER_HALVES];

	for (unsigned g = grouping->groups; g-- > 0;)
		if (words_of_group(all, grouping, g, needed))
			complete_group(all, grouping, choices, needed, work, tables, sieve);
	for (unsigned g = 0; g < grouping->groups; g++) {
		bool exact = words_of_group(all, grouping, g, needed);

		for (unsigned word = 0; word < FILTER_HALVES && exact; word++)
			exact = !needed[word] || work->has[word];
		sieve->exact |= (uint64_t)exact << g;
	}
}

int filter_sieve_compile(const struct filter_matches *all, const struct filter_grouping *grouping,
			 const struct filter_sieve_choices *choices,
			 struct filter_sieve_tables *tables, struct filter_sieve *sieve)
{
	struct sieve_work *work = calloc(1, sizeof(*work));

	if (work == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < choices->count; i++) {
		project_groups(all, grouping, &choices->choice[i], work);
		for (unsigned g = 0; g < grouping->groups; g++)
			work->passes[i][g] =
				(float)probability(&work->values[g], choices->choice[i].word);
	}
	sieve->every = grouping->groups == 0 ? 0 : UINT64_MAX >> (FILTER_GROUPS - grouping->groups);
	sieve->exact = 0;
	sieve->words = 0;
	add_best(all, grouping, choices, work, tables, sieve);
	find_exact(all, grouping, choices, work, tables, sieve);
	/* The packet path takes them in pairs. */
	if (sieve->words & 1) {
		sieve->word[sieve->words] = sieve->word[sieve->words - 1];
		sieve->words++;
	}
	free(work);
	return 0;
}
