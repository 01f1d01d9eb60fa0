/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_CMD_COMPLETE_H
#define MR_CONTROL_CMD_COMPLETE_H

#include <stdio.h>

#include "control/cmd_table.h"

/* What can follow a line that is being typed. */
struct mr_completion {
	size_t typed; /* bytes of the word at the end of the line, 0 after a blank */
	/* The literals that go on from there, and the placeholders, which are only hints. */
	unsigned literals, hints;
	const char *literal[MR_MAX_EXPECTED];
	const struct mr_placeholder *hint[MR_MAX_EXPECTED];
	size_t common; /* bytes that all literals have in common */
	bool end;      /* the line may end before that word */
};

/* Completes the part of a line before the cursor. Nothing follows a line with a fault in it. */
void mr_cmd_complete(const struct mr_cmd_table *table, const char *line, size_t length,
		     struct mr_completion *completion);

/* Prints what can stand at the end of the line, one a line: a literal, or a placeholder's name, a
 * tab and what it takes. */
void mr_completion_print(const struct mr_completion *completion, FILE *out);

#endif
