/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/cmd_table.h"
#include "control/late.h"

struct mr_control {
	struct mr_cmd_table table;
	void (*quit)(void *context);
	void *quit_context;
	bool quitting;
	void (*after)(struct mr *mr);
	/* The command that is under way on another thread, or late is NULL. */
	struct mr_late *late;
	const char *late_syntax;   /* NULL: it is no command, but what followed one */
	mr_control_answer *answer; /* NULL: nobody waits for it any more */
	void *answer_context;
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

/* What follows a command that was done or refused. */
static int conclude(struct mr *mr, const char *syntax, int rc, struct mr_reply *reply)
{
	if (rc >= 0) {
		if (mr->control->after != NULL)
			mr->control->after(mr);
		return 0;
	}
	json_decref(reply->data);
	reply->data = NULL;
	return mr_fail(&reply->error, rc, "%s: %s", syntax, strerror(-rc));
}

/* Runs a line as far as it goes at once: if it leaves a job in the reply, that is still to be
 * done. syntax: of the command, NULL if there is none. */
static int begin(struct mr *mr, const char *line, size_t length, struct mr_reply *reply,
		 const char **syntax)
{
	struct mr_words words;
	struct mr_args args;
	const struct mr_cmd *cmd = NULL;

	*reply = (struct mr_reply){0};
	*syntax = NULL;
	int rc = mr_words_split(&words, line, length, &reply->error);
	if (rc != 0 || words.count == 0)
		return rc;
	rc = mr_cmd_table_find(&mr->control->table, &words, &cmd, &args, &reply->error);
	*syntax = cmd != NULL ? cmd->syntax : "no command";
	if (rc == 0)
		rc = cmd->run(mr, &args, reply);
	return rc;
}

static int end(struct mr *mr, struct mr_job *job, const char *syntax, struct mr_reply *reply)
{
	*reply = (struct mr_reply){0};
	return conclude(mr, syntax, job->finish(mr, job, reply), reply);
}

int mr_control_execute(struct mr *mr, const char *line, size_t length, struct mr_reply *reply)
{
	const char *syntax;
	int rc = begin(mr, line, length, reply, &syntax);

	if (syntax == NULL)
		return rc;
	if (reply->job == NULL)
		return conclude(mr, syntax, rc, reply);
	reply->job->work(reply->job);
	return end(mr, reply->job, syntax, reply);
}

int mr_control_submit(struct mr *mr, const char *line, size_t length, struct mr_reply *reply,
		      mr_control_answer *answer, void *context)
{
	struct mr_control *control = mr->control;
	const char *syntax;
	int rc = begin(mr, line, length, reply, &syntax);

	if (syntax == NULL)
		return rc;
	if (reply->job == NULL)
		return conclude(mr, syntax, rc, reply);
	struct mr_late *late = NULL;
	if (!reply->job->brief && control->late == NULL)
		late = mr_late_start(reply->job);
	if (late == NULL) {
		reply->job->work(reply->job);
		return end(mr, reply->job, syntax, reply);
	}
	control->late = late;
	control->late_syntax = syntax;
	control->answer = answer;
	control->answer_context = context;
	*reply = (struct mr_reply){0};
	return -EINPROGRESS;
}

void mr_control_forget(struct mr_control *control, const void *context)
{
	if (control->answer_context == context)
		control->answer = NULL;
}

/* Ends a job that no command waits for, and which tells the log if it failed. What has changed
 * meanwhile may want another. */
static void end_own(struct mr *mr, struct mr_job *job)
{
	struct mr_reply reply = {0};

	if (job->finish(mr, job, &reply) >= 0 && mr->control->after != NULL)
		mr->control->after(mr);
	mr_reply_clear(&reply);
}

void mr_control_do(struct mr *mr, struct mr_job *job)
{
	struct mr_control *control = mr->control;

	if (!job->brief)
		control->late = mr_late_start(job);
	control->late_syntax = NULL;
	control->answer = NULL;
	if (control->late != NULL)
		return;
	job->work(job);
	end_own(mr, job);
}

void mr_control_settle(struct mr *mr)
{
	struct mr_control *control = mr->control;
	struct mr_reply reply;
	struct mr_job *job;
	int rc;

	if (control->late == NULL)
		return;
	job = mr_late_end(control->late);
	control->late = NULL;
	if (control->late_syntax == NULL) {
		end_own(mr, job);
		return;
	}
	rc = end(mr, job, control->late_syntax, &reply);
	if (control->answer != NULL)
		control->answer(rc, &reply, control->answer_context);
	mr_reply_clear(&reply);
}

void mr_control_poll(struct mr *mr)
{
	if (mr->control->late != NULL && mr_late_is_done(mr->control->late))
		mr_control_settle(mr);
}
