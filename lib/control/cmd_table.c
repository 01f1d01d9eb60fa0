/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every syntax is tried on a line. That is a few comparisons each, since most fail on their first
 * word, and it yields for free what the best of the failed ones wanted.
 */
#include "control/cmd_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/cmd_refusal.h"

static bool has_syntax(const struct mr_cmd_table *table, const char *syntax)
{
	for (unsigned i = 0; i < table->count; i++) {
		if (strcmp(table->command[i].cmd->syntax, syntax) == 0)
			return true;
	}
	return false;
}

static int add(struct mr_cmd_table *table, const struct mr_cmd *cmd, struct mr_error *error)
{
	if (has_syntax(table, cmd->syntax))
		return mr_fail(error, -EEXIST, "syntax '%s' is there already", cmd->syntax);
	struct mr_command *more =
		realloc(table->command, (table->count + 1) * sizeof(*table->command));
	if (more == NULL)
		return mr_fail(error, -ENOMEM, "not enough memory for a command");
	table->command = more;
	more[table->count] = (struct mr_command){.cmd = cmd};
	int rc = mr_syntax_compile(cmd->syntax, &more[table->count].syntax, error);
	if (rc == 0)
		table->count++;
	return rc;
}

static void shrink(struct mr_cmd_table *table, unsigned count)
{
	while (table->count > count)
		mr_syntax_free(table->command[--table->count].syntax);
}

int mr_cmd_table_add(struct mr_cmd_table *table, const struct mr_cmd *cmds, struct mr_error *error)
{
	unsigned before = table->count;

	for (const struct mr_cmd *cmd = cmds; cmd->syntax != NULL; cmd++) {
		int rc = add(table, cmd, error);
		if (rc != 0) {
			shrink(table, before);
			return rc;
		}
	}
	return 0;
}

void mr_cmd_table_clear(struct mr_cmd_table *table)
{
	shrink(table, 0);
	free(table->command);
	*table = (struct mr_cmd_table){0};
}

static bool is_literal(const struct mr_arg *arg)
{
	return islower((unsigned char)arg->placeholder[0]);
}

static bool reads_more_literally(const struct mr_args *a, const struct mr_args *b)
{
	for (unsigned i = 0; i < a->count; i++) {
		if (is_literal(&a->arg[i]) != is_literal(&b->arg[i]))
			return is_literal(&a->arg[i]);
	}
	return false;
}

int mr_cmd_table_find(const struct mr_cmd_table *table, const struct mr_words *words,
		      const struct mr_cmd **cmd, struct mr_args *args, struct mr_error *error)
{
	struct mr_expected expected = {0};
	struct mr_args candidate;

	*cmd = NULL;
	for (unsigned i = 0; i < table->count; i++) {
		const struct mr_command *command = &table->command[i];
		if (!mr_syntax_match(command->syntax, words, &candidate, &expected))
			continue;
		if (*cmd == NULL || reads_more_literally(&candidate, args)) {
			*cmd = command->cmd;
			*args = candidate;
		}
	}
	return *cmd != NULL ? 0 : mr_cmd_refusal(words, &expected, error);
}

void mr_cmd_table_follow(const struct mr_cmd_table *table, const struct mr_words *words,
			 struct mr_expected *expected)
{
	struct mr_args args;

	*expected = (struct mr_expected){0};
	for (unsigned i = 0; i < table->count; i++)
		mr_syntax_follow(table->command[i].syntax, words, &args, expected);
}
