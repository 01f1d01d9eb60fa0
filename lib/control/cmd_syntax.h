/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_CMD_SYNTAX_H
#define MR_CONTROL_CMD_SYNTAX_H

#include "control/cmd_line.h"
#include "control/cmd_placeholder.h"

/* A syntax string (see base/cmd.h), compiled. */
struct mr_syntax;

/* One of the words that a place in a syntax takes: a literal, or a placeholder. */
struct mr_choice {
	const char *text;
	const struct mr_placeholder *placeholder; /* NULL for a literal */
};

#define MR_MAX_EXPECTED 96

/*
 * What could have stood at the first word that does not fit, where "first" is the furthest over
 * all the syntaxes that were tried: those that got further know better what was meant.
 */
struct mr_expected {
	unsigned position; /* of that word; the number of words when the line ended too early */
	unsigned literals; /* how many words before it, from the first, are literals of a syntax */
	bool end;          /* the line could have ended there */
	unsigned count;
	struct mr_choice choice[MR_MAX_EXPECTED];
};

/* Compiles text, which must live as long. Returns 0, -ENOMEM, or -EINVAL with the fault in error.
 * Free it with mr_syntax_free. */
int mr_syntax_compile(const char *text, struct mr_syntax **syntax, struct mr_error *error);
void mr_syntax_free(struct mr_syntax *syntax);

/* Whether words fit the syntax. args gets their values when they do (it is scratch space when they
 * do not); expected, which starts zeroed, gathers what was expected over several calls. */
bool mr_syntax_match(const struct mr_syntax *syntax, const struct mr_words *words,
		     struct mr_args *args, struct mr_expected *expected);

/* Gathers everything that may follow words (as expected, at position words->count). */
void mr_syntax_follow(const struct mr_syntax *syntax, const struct mr_words *words,
		      struct mr_args *args, struct mr_expected *expected);

#endif
