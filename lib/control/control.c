/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/cmd_table.h"

struct mr_control {
	struct mr_cmd_table table;
	void (*quit)(void *context);
	void *quit_context;
	bool quitting;
	void (*after)(struct mr *mr);
};

/* Whether the syntax's first words are (or, being alternatives, include) the given ones. */
static bool starts_with(const char *syntax, const char *const *words, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		size_t wanted = strlen(words[i]);
		size_t length = strcspn(syntax, " ");
		bool found = false;
		for (const char *choice = syntax; choice < syntax + length;
		     choice += strcspn(choice, "| ") + 1) {
			found = found || (strcspn(choice, "| ") == wanted &&
					  strncmp(choice, words[i], wanted) == 0);
		}
		if (!found)
			return false;
		syntax += length;
		syntax += strspn(syntax, " ");
	}
	return true;
}

json_t *mr_control_help(const struct mr_control *control, const char *const *words, unsigned count)
{
	json_t *list = json_array();

	for (unsigned i = 0; list != NULL && i < control->table.count; i++) {
		const struct mr_cmd *cmd = control->table.command[i].cmd;
		if (!starts_with(cmd->syntax, words, count))
			continue;
		if (json_array_append_new(list, json_pack("{s:s, s:s}", "command", cmd->syntax,
							  "help", cmd->help)) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static int run_help(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	const char *words[MR_MAX_ARGS];
	unsigned count = mr_arg_count(args, "TEXT");

	for (unsigned i = 0; i < count; i++)
		words[i] = mr_arg(args, "TEXT", i)->text;
	json_t *list = mr_control_help(mr->control, words, count);
	if (list != NULL && json_array_size(list) == 0) {
		json_decref(list);
		return mr_refuse(reply, -ENOENT,
				 "no command starts with '%.40s%s'; 'help' shows all", words[0],
				 count > 1 ? " ..." : "");
	}
	return mr_reply(reply, list);
}

static int run_quit(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_control *control = mr->control;

	(void)args;
	if (control->quit == NULL)
		return mr_refuse(reply, -EOPNOTSUPP, "nothing here can be quit");
	control->quitting = true;
	control->quit(control->quit_context);
	return 0;
}

static const struct mr_cmd own_commands[] = {
	{"help [TEXT ...]", "Shows the commands, or those that start with the given words.",
	 run_help},
	{"quit", "Ends millrace; all ports are stopped.", run_quit},
	{NULL},
};

int mr_control_new(struct mr *mr)
{
	mr->control = calloc(1, sizeof(*mr->control));
	if (mr->control == NULL)
		return -ENOMEM;
	int rc = mr_control_register(mr->control, own_commands);
	if (rc != 0)
		mr_control_free(mr);
	return rc;
}

void mr_control_free(struct mr *mr)
{
	if (mr->control == NULL)
		return;
	mr_cmd_table_clear(&mr->control->table);
	free(mr->control);
	mr->control = NULL;
}

int mr_control_register(struct mr_control *control, const struct mr_cmd *table)
{
	struct mr_error error = {0};
	int rc = mr_cmd_table_add(&control->table, table, &error);

	if (rc != 0)
		mr_log_error("%s", error.text);
	return rc;
}

void mr_control_on_quit(struct mr_control *control, void (*quit)(void *context), void *context)
{
	control->quit = quit;
	control->quit_context = context;
}

void mr_control_after(struct mr_control *control, void (*after)(struct mr *mr))
{
	control->after = after;
}

bool mr_control_is_quitting(const struct mr_control *control)
{
	return control->quitting;
}

const struct mr_cmd_table *mr_control_table(const struct mr_control *control)
{
	return &control->table;
}

int mr_control_execute(struct mr *mr, const char *line, size_t length, struct mr_reply *reply)
{
	struct mr_words words;
	struct mr_args args;
	const struct mr_cmd *cmd;

	*reply = (struct mr_reply){0};
	int rc = mr_words_split(&words, line, length, &reply->error);
	if (rc != 0 || words.count == 0)
		return rc;
	rc = mr_cmd_table_find(&mr->control->table, &words, &cmd, &args, &reply->error);
	if (rc == 0)
		rc = cmd->run(mr, &args, reply);
	if (rc >= 0) {
		if (mr->control->after != NULL)
			mr->control->after(mr);
		return 0;
	}
	json_decref(reply->data);
	reply->data = NULL;
	return mr_fail(&reply->error, rc, "%s: %s", cmd != NULL ? cmd->syntax : words.word[0],
		       strerror(-rc));
}
