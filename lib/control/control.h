/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_CONTROL_H
#define MR_CONTROL_CONTROL_H

#include "base/cmd.h"

/*
 * Commands as people and programs give them: the tables of all rooms in one place, run from the
 * console, a configuration file or the client's socket. All of it belongs to the control thread.
 */
struct mr_control;
struct mr_cmd_table;

/* Makes mr->control, with the commands of its own: help and quit. Returns 0 or -ENOMEM. */
int mr_control_new(struct mr *mr);
void mr_control_free(struct mr *mr);

/* Adds a room's commands. The table must live as long as the control. Returns 0, or -EINVAL,
 * -EEXIST or -ENOMEM after logging which syntax is at fault (and then adds nothing). */
int mr_control_register(struct mr_control *control, const struct mr_cmd *table);

/* What the command quit does. */
void mr_control_on_quit(struct mr_control *control, void (*quit)(void *context), void *context);

/* What follows each command that was done: bringing in line what several rooms have a part in. */
void mr_control_after(struct mr_control *control, void (*after)(struct mr *mr));

/* Whether quit was run. */
bool mr_control_is_quitting(const struct mr_control *control);

/*
 * Runs one line (without its newline; it need not end in NUL). reply is overwritten; the caller
 * frees it with mr_reply_clear. Returns 0, also for a line of nothing, or a negative errno with a
 * sentence in reply->error and no data.
 */
int mr_control_execute(struct mr *mr, const char *line, size_t length, struct mr_reply *reply);

/* Tells how a command ended that took long: rc and reply as of mr_control_execute; the reply is
 * gone afterwards. */
typedef void mr_control_answer(int rc, const struct mr_reply *reply, void *context);

/*
 * The same for callers that need not have the answer at once: what takes long is done while the
 * control thread does other things. Then it returns -EINPROGRESS with an empty reply, and a later
 * mr_control_poll gives the answer.
 */
int mr_control_submit(struct mr *mr, const char *line, size_t length, struct mr_reply *reply,
		      mr_control_answer *answer, void *context);

/* There is nobody to be told any more by answer(context); what is under way goes on. */
void mr_control_forget(struct mr_control *control, const void *context);

/* Does a job that no command waits for, while the control thread does other things unless it is
 * brief. No other is under way. */
void mr_control_do(struct mr *mr, struct mr_job *job);

/* Ends commands whose work is done; once an iteration. */
void mr_control_poll(struct mr *mr);

/* Waits for the work that is under way, if there is any, and ends the command. */
void mr_control_settle(struct mr *mr);

/*
 * Runs a file of commands, one a line, up to the first that is refused: what the lines before it
 * did stays done. Answers are not shown. Returns 0 or a negative errno with "FILE:LINE: sentence"
 * in error.
 */
int mr_control_config_file(struct mr *mr, const char *path, struct mr_error *error);

/* All commands as an array of {"command": syntax, "help": sentence} in the order of registering,
 * or only those that start with the words given (count of them). NULL without memory. */
json_t *mr_control_help(const struct mr_control *control, const char *const *words, unsigned count);

/* All commands' syntaxes, for completion. */
const struct mr_cmd_table *mr_control_table(const struct mr_control *control);

#endif
