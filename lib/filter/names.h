/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_NAMES_H
#define MR_FILTER_NAMES_H

#include <stdint.h>

/* Names that rules use for numbers. The first name of a number is the one that is printed. */
struct mr_filter_name {
	const char *name; /* NULL ends a table */
	uint32_t value;
};

extern const struct mr_filter_name mr_filter_actions[];   /* enum mr_filter_action */
extern const struct mr_filter_name mr_filter_families[];  /* MR_FILTER_FAMILY_* */
extern const struct mr_filter_name mr_filter_protocols[]; /* IANA's numbers */
extern const struct mr_filter_name mr_filter_tcp_flags[]; /* bits of TCP's flags byte */
extern const struct mr_filter_name mr_filter_dscps[];     /* RFC 2474, 2597, 3246, 5865 */
extern const struct mr_filter_name mr_filter_ethertypes[];
extern const struct mr_filter_name mr_filter_limits[]; /* MR_FILTER_BY_* */

/* The entry of that name, or the first of that value; NULL if there is none. */
const struct mr_filter_name *mr_filter_name_find(const struct mr_filter_name *table,
						 const char *name);
const struct mr_filter_name *mr_filter_name_of(const struct mr_filter_name *table, uint32_t value);

#endif
