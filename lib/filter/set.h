/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_SET_H
#define MR_FILTER_SET_H

#include "filter/rule.h"

/*
 * Making sets of rules. A set that is in force is never changed: it is copied, which costs two
 * pointers a rule, and the copy is changed and published. All functions are the control thread's.
 */

#define MR_FILTER_ME 0 /* index of the address set `me` */

/* A set without rules that allows, with an empty `me`. NULL without memory. */
struct mr_filter_set *mr_filter_set_new(void);

/* A copy that shares rules and address sets, with room for `more` rules. NULL without memory. */
struct mr_filter_set *mr_filter_set_copy(const struct mr_filter_set *set, uint32_t more);

/* Frees a set (NULL: nothing), and the rules that no other set shares. */
void mr_filter_set_free(struct mr_filter_set *set);

/* Adds a rule behind those whose number is not above its own, and takes over the caller's
 * reference. Returns 0, -ENOMEM, or -ENOSPC at MR_FILTER_MAX_RULES. */
int mr_filter_set_insert(struct mr_filter_set *set, struct mr_filter_rule *rule);

/* Adds a rule at the end, wherever its number belongs; mr_filter_set_sort puts all right. Else the
 * same as mr_filter_set_insert. */
int mr_filter_set_append(struct mr_filter_set *set, struct mr_filter_rule *rule);

/* Brings rules into the order of their numbers, those of one number in the order in which they
 * are. Returns 0 or -ENOMEM. */
int mr_filter_set_sort(struct mr_filter_set *set);

/* Takes out all rules of a number; returns how many there were. */
uint32_t mr_filter_set_delete(struct mr_filter_set *set, uint32_t number);

/* Takes out all rules. */
void mr_filter_set_clear(struct mr_filter_set *set);

/* The index of the first rule whose number is not below `number`, which may be set->count. */
uint32_t mr_filter_set_at(const struct mr_filter_set *set, uint32_t number);

/* The index of the address set of that name, or -ENOENT. */
int mr_filter_set_find(const struct mr_filter_set *set, const char *name);

/* Makes an address set, or gives the one of that name another content. prefixes are copied and
 * need be neither canonical nor sorted. Returns 0, -ENOMEM, or -ENOSPC at MR_FILTER_MAX_SETS. */
int mr_filter_set_put_addresses(struct mr_filter_set *set, const char *name,
				const struct mr_prefix *prefixes, uint32_t count);

/* Takes an address set out; no rule may name it. */
void mr_filter_set_drop_addresses(struct mr_filter_set *set, uint16_t index);

/* The first rule that names an address set, NULL if there is none. */
const struct mr_filter_rule *mr_filter_set_user(const struct mr_filter_set *set, uint16_t index);

#endif
