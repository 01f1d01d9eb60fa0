/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_CMD_LINE_H
#define MR_CONTROL_CMD_LINE_H

#include <stddef.h>

#include "base/cmd.h"

/* A line cut into words. text holds them; word points into it. line is what they were cut from, the
 * same characters in the same places. */
struct mr_words {
	unsigned count;
	char *word[MR_MAX_ARGS];
	char text[MR_MAX_LINE + 1];
	char line[MR_MAX_LINE + 1];
};

/* Cuts a line (without its newline) into words, less the comment. Returns 0, -EMSGSIZE (the line is
 * too long), -EILSEQ (a character that no line may have) or -E2BIG (too many words); error says
 * which. A line of nothing has no words. */
int mr_words_split(struct mr_words *words, const char *line, size_t length, struct mr_error *error);

#endif
