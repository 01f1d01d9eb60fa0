/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_ADDRESS_CHANGE_H
#define MR_FILTER_ADDRESS_CHANGE_H

#include "filter/set.h"

#define MR_FILTER_MAX_PREFIXES 16384 /* of an address set */

enum mr_filter_change { MR_FILTER_ADD, MR_FILTER_DELETE, MR_FILTER_REPLACE };

/* Changes an address set of a set that is not in force; adding and replacing make it if need be.
 * What is deleted must be in it, just so. Returns 0 or a negative errno with error set. */
int mr_filter_change_addresses(struct mr_filter_set *set, const char *name,
			       enum mr_filter_change change, const struct mr_prefix *prefixes,
			       uint32_t count, struct mr_error *error);

/* An address, or a prefix, as a prefix. Returns 0 or -EINVAL. */
int mr_filter_parse_prefix(const char *text, struct mr_prefix *prefix);

#endif
