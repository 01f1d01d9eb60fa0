/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "filter/address_set.h"

struct mr_filter_set *mr_filter_set_new(void)
{
	struct mr_filter_set *set = calloc(1, sizeof(*set));

	if (set == NULL)
		return NULL;
	set->default_action = MR_FILTER_ALLOW;
	if (mr_filter_set_put_addresses(set, "me", NULL, 0) != 0) {
		mr_filter_set_free(set);
		return NULL;
	}
	return set;
}

static int make_room(struct mr_filter_set *set, uint32_t room)
{
	struct mr_filter_rule **rules;

	if (room <= set->room)
		return 0;
	rules = realloc(set->rule, room * sizeof(struct mr_filter_rule *));
	if (rules == NULL)
		return -ENOMEM;
	set->rule = rules;
	set->room = room;
	return 0;
}

struct mr_filter_set *mr_filter_set_copy(const struct mr_filter_set *set, uint32_t more)
{
	struct mr_filter_set *copy = calloc(1, sizeof(*copy));

	if (copy == NULL)
		return NULL;
	copy->default_action = set->default_action;
	copy->addresses = calloc(set->address_sets, sizeof(struct mr_filter_address_set *));
	if (copy->addresses == NULL || make_room(copy, set->count + more) != 0) {
		free(copy->addresses);
		free(copy);
		return NULL;
	}
	copy->address_sets = set->address_sets;
	for (unsigned i = 0; i < set->address_sets; i++)
		if (set->addresses[i] != NULL)
			copy->addresses[i] = mr_filter_address_set_ref(set->addresses[i]);
	copy->count = set->count;
	for (uint32_t i = 0; i < set->count; i++)
		copy->rule[i] = mr_filter_rule_ref(set->rule[i]);
	return copy;
}

void mr_filter_set_clear(struct mr_filter_set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		mr_filter_rule_unref(set->rule[i]);
	set->count = 0;
}

void mr_filter_set_free(struct mr_filter_set *set)
{
	if (set == NULL)
		return;
	mr_filter_set_clear(set);
	for (unsigned i = 0; i < set->address_sets; i++)
		if (set->addresses[i] != NULL)
			mr_filter_address_set_unref(set->addresses[i]);
	free(set->rule);
	free(set->addresses);
	free(set);
}

/* The index of the first rule whose number is above `number`. */
static uint32_t behind(const struct mr_filter_set *set, uint32_t number)
{
	uint32_t low = 0, high = set->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (set->rule[middle]->number <= number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t mr_filter_set_at(const struct mr_filter_set *set, uint32_t number)
{
	return number == 0 ? 0 : behind(set, number - 1);
}

static int insert_at(struct mr_filter_set *set, struct mr_filter_rule *rule, uint32_t at)
{
	if (set->count == MR_FILTER_MAX_RULES)
		return -ENOSPC;
	if (set->count == set->room && make_room(set, RTE_MAX(16u, set->room * 2)) != 0)
		return -ENOMEM;
	memmove(&set->rule[at + 1], &set->rule[at],
		(set->count - at) * sizeof(struct mr_filter_rule *));
	set->rule[at] = rule;
	set->count++;
	return 0;
}

int mr_filter_set_insert(struct mr_filter_set *set, struct mr_filter_rule *rule)
{
	return insert_at(set, rule, behind(set, rule->number));
}

int mr_filter_set_append(struct mr_filter_set *set, struct mr_filter_rule *rule)
{
	return insert_at(set, rule, set->count);
}

struct place {
	struct mr_filter_rule *rule;
	uint32_t position;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->rule->number != y->rule->number)
		return x->rule->number < y->rule->number ? -1 : 1;
	return x->position < y->position ? -1 : 1;
}

static bool is_sorted(const struct mr_filter_set *set)
{
	for (uint32_t i = 1; i < set->count; i++)
		if (set->rule[i]->number < set->rule[i - 1]->number)
			return false;
	return true;
}

int mr_filter_set_sort(struct mr_filter_set *set)
{
	struct place *places;

	if (is_sorted(set))
		return 0;
	places = malloc(set->count * sizeof(*places));
	if (places == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < set->count; i++)
		places[i] = (struct place){set->rule[i], i};
	qsort(places, set->count, sizeof(*places), compare_places);
	for (uint32_t i = 0; i < set->count; i++)
		set->rule[i] = places[i].rule;
	free(places);
	return 0;
}

uint32_t mr_filter_set_delete(struct mr_filter_set *set, uint32_t number)
{
	uint32_t first = mr_filter_set_at(set, number), end = behind(set, number);

	for (uint32_t i = first; i < end; i++)
		mr_filter_rule_unref(set->rule[i]);
	memmove(&set->rule[first], &set->rule[end],
		(set->count - end) * sizeof(struct mr_filter_rule *));
	set->count -= end - first;
	return end - first;
}

int mr_filter_set_find(const struct mr_filter_set *set, const char *name)
{
	for (unsigned i = 0; i < set->address_sets; i++)
		if (set->addresses[i] != NULL && strcmp(set->addresses[i]->name, name) == 0)
			return (int)i;
	return -ENOENT;
}

/* A free index for an address set. */
static int find_hole(struct mr_filter_set *set)
{
	struct mr_filter_address_set **more;
	uint16_t hole = 0;

	while (hole < set->address_sets && set->addresses[hole] != NULL)
		hole++;
	if (hole < set->address_sets)
		return hole;
	if (hole == MR_FILTER_MAX_SETS)
		return -ENOSPC;
	more = realloc(set->addresses, (hole + 1u) * sizeof(struct mr_filter_address_set *));
	if (more == NULL)
		return -ENOMEM;
	more[hole] = NULL;
	set->addresses = more;
	set->address_sets++;
	return hole;
}

int mr_filter_set_put_addresses(struct mr_filter_set *set, const char *name,
				const struct mr_prefix *prefixes, uint32_t count)
{
	struct mr_filter_address_set *addresses = mr_filter_address_set_new(name, prefixes, count);
	int index;

	if (addresses == NULL)
		return -ENOMEM;
	index = mr_filter_set_find(set, name);
	if (index < 0)
		index = find_hole(set);
	if (index < 0) {
		mr_filter_address_set_unref(addresses);
		return index;
	}
	if (set->addresses[index] != NULL)
		mr_filter_address_set_unref(set->addresses[index]);
	set->addresses[index] = addresses;
	return 0;
}

void mr_filter_set_drop_addresses(struct mr_filter_set *set, uint16_t index)
{
	mr_filter_address_set_unref(set->addresses[index]);
	set->addresses[index] = NULL;
}

static bool names(const struct mr_filter_addresses *addresses, uint16_t index)
{
	for (unsigned i = 0; i < addresses->count; i++)
		if (addresses->alternative[i].is_set && addresses->alternative[i].set == index)
			return true;
	return false;
}

const struct mr_filter_rule *mr_filter_set_user(const struct mr_filter_set *set, uint16_t index)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (names(&set->rule[i]->src, index) || names(&set->rule[i]->dst, index))
			return set->rule[i];
	return NULL;
}
