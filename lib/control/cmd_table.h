/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_CMD_TABLE_H
#define MR_CONTROL_CMD_TABLE_H

#include "control/cmd_syntax.h"

struct mr_command {
	const struct mr_cmd *cmd;
	struct mr_syntax *syntax;
};

/* The rooms' tables, put together in the order in which they were added. */
struct mr_cmd_table {
	struct mr_command *command;
	unsigned count;
};

/* Adds a room's table, which must live as long. Returns 0, -EINVAL (a syntax that does not
 * compile), -EEXIST (one that is there already) or -ENOMEM; nothing is added then. */
int mr_cmd_table_add(struct mr_cmd_table *table, const struct mr_cmd *cmds, struct mr_error *error);
void mr_cmd_table_clear(struct mr_cmd_table *table);

/*
 * Finds the command that words (at least one) mean and fills args. Where several fit, the one
 * which reads more of the first words as literals is meant, then the one that was added first.
 * Returns 0, or -EINVAL with a sentence that names the word at fault and what is allowed there.
 */
int mr_cmd_table_find(const struct mr_cmd_table *table, const struct mr_words *words,
		      const struct mr_cmd **cmd, struct mr_args *args, struct mr_error *error);

/* What may come after words (of which there may be none), over all commands. */
void mr_cmd_table_follow(const struct mr_cmd_table *table, const struct mr_words *words,
			 struct mr_expected *expected);

#endif
