/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_RULE_TEXT_H
#define MR_FILTER_RULE_TEXT_H

#include <stddef.h>

#include "filter/draft.h"
#include "filter/rule.h"

/* Rules as text, in the language of docs/filter.md. */

#define MR_FILTER_TEXT_SIZE 16384 /* holds any rule that came from a line */

/*
 * Reads a rule. set knows the address sets that it may name. A rule without a number gets the
 * number 0, to be set with mr_filter_rule_number. Returns 0 and the rule, with a reference that is
 * the caller's; -EINVAL with the fault; or -ENOMEM.
 */
int mr_filter_rule_parse(const char *text, const struct mr_filter_set *set,
			 struct mr_filter_rule **rule, struct mr_filter_fault *fault);

/* Gives a rule that is in no set its number. Returns 0, or -EINVAL with the fault when the number
 * is not allowed or the rule skips to one that is not above it. */
int mr_filter_rule_number(struct mr_filter_rule *rule, uint32_t number,
			  struct mr_filter_fault *fault);

/* Writes the one text that all spellings of a rule share, and that reads as the same rule. Returns
 * text, of `size` bytes, which should be MR_FILTER_TEXT_SIZE. */
const char *mr_filter_rule_print(const struct mr_filter_rule *rule, const struct mr_filter_set *set,
				 char *text, size_t size);

#endif
