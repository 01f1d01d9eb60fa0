/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_CMD_PLACEHOLDER_H
#define MR_CONTROL_CMD_PLACEHOLDER_H

#include "base/cmd.h"

/* What a word in upper case stands for in a syntax: its type and what it takes, in words that
 * complete the sentence "NAME takes ...". */
struct mr_placeholder {
	const char *name;
	const char *takes;
	enum mr_arg_type type;
	uint8_t family; /* of an address: AF_INET, or AF_UNSPEC for either */
	uint64_t max;   /* of a number */
	bool rest;      /* takes the rest of the line */
};

/* NULL when there is none of that name. */
const struct mr_placeholder *mr_placeholder_find(const char *name);

/* Reads a word as a placeholder's value into arg (all but arg->placeholder). */
bool mr_placeholder_parse(const struct mr_placeholder *placeholder, const char *word,
			  struct mr_arg *arg);

#endif
