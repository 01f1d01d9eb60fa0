/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_ADDRESS_SET_H
#define MR_FILTER_ADDRESS_SET_H

#include "filter/rule.h"

/* Makes a set of addresses with one reference out of prefixes, which are copied, made canonical and
 * sorted; those within others are left out. NULL without memory. */
struct mr_filter_address_set *
mr_filter_address_set_new(const char *name, const struct mr_prefix *prefixes, uint32_t count);
struct mr_filter_address_set *mr_filter_address_set_ref(struct mr_filter_address_set *set);
void mr_filter_address_set_unref(struct mr_filter_address_set *set);

/* Whether both have the same prefixes. */
bool mr_filter_address_set_equal(const struct mr_filter_address_set *a,
				 const struct mr_filter_address_set *b);

/* Whether one of the prefixes contains all of this one. Takes the logarithm of their number. */
bool mr_filter_address_set_contains(const struct mr_filter_address_set *set,
				    const struct mr_prefix *prefix);

#endif
