/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_PARSER_H
#define MR_FILTER_PARSER_H

#include "filter/draft.h"
#include "filter/lexer.h"
#include "filter/names.h"

/* What the parts of the rule parser share. All functions return 0, or -EINVAL with the fault at the
 * token that could not be. */
struct mr_filter_parser {
	struct mr_filter_lexer lexer;
	struct mr_filter_draft *draft;
	const struct mr_filter_set *set;
	struct mr_filter_fault *fault;
};

/* Refuses the current token: `wanted` says what is allowed in its place. */
int mr_filter_unexpected(struct mr_filter_parser *parser, const char *wanted);

/* Notes that an item is given, at this column; refuses it the second time. */
int mr_filter_once(struct mr_filter_parser *parser, unsigned item, unsigned column);

/* A decimal number without leading zeros from min to max. */
int mr_filter_parse_number(struct mr_filter_parser *parser, uint64_t min, uint64_t max,
			   const char *wanted, uint64_t *value);

/* Values and ranges with commas between them, which become the test of a field. column: where the
 * test starts, its keyword or first value. */
int mr_filter_parse_values(struct mr_filter_parser *parser, enum mr_filter_field field,
			   bool negated, unsigned column);

/* Addresses, prefixes, `me` and sets, with commas or in braces with `or` between them, or `any`. */
int mr_filter_parse_addresses(struct mr_filter_parser *parser, bool is_src);

/* What follows the addresses, to the end of the rule. */
int mr_filter_parse_options(struct mr_filter_parser *parser);

#endif
