/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many rules take seconds to compile, and the control thread has neighbours and links to look
 * after. So a change is three steps. The control thread makes the set that the change starts from;
 * any thread reads the file, if there is one, and compiles, which touches nothing that others
 * change: sets are never changed, and rules and address sets count their references atomically. At
 * last the control thread gives rules their counters and publishes. Between the first and the last
 * step no other change starts, so that none is lost.
 */
#include "filter/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "filter/load.h"
#include "filter/program.h"
#include "filter/publish.h"

#define BRIEF_RULES 64 /* compile in a millisecond */

struct mr_filter_change {
	struct mr_job job; /* first */
	const struct mr_filter *filter;
	struct mr_filter_set *next;
	struct mr_filter_program *program; /* compiled; NULL if there is nothing to do for lcores */
	char *path;                        /* of the file to be read, or NULL */
	struct mr_filter_bridges bridges;  /* that the file names */
	bool publish;
	int socket;
	json_t *warnings;
	int rc;
	struct mr_error error;
};

int mr_filter_refuse_change(struct mr *mr, struct mr_reply *reply)
{
	if (!mr->filter->is_changing)
		return 0;
	return mr_refuse(reply, -EBUSY,
			 "rules of another command are being compiled: try again when they are in "
			 "force");
}

static void work(struct mr_job *job)
{
	struct mr_filter_change *change = (struct mr_filter_change *)job;

	if (change->path != NULL)
		change->rc =
			mr_filter_read_file(change->next, change->path, change->filter->set,
					    &change->bridges, change->warnings, &change->error);
	if (change->rc == 0)
		change->rc = mr_filter_compile(change->filter, change->next, change->socket,
					       &change->program, &change->error);
}

static int finish(struct mr *mr, struct mr_job *job, struct mr_reply *reply)
{
	struct mr_filter_change *change = (struct mr_filter_change *)job;
	int rc = change->rc;

	mr->filter->is_changing = false;
	reply->error = change->error;
	if (rc == 0)
		rc = mr_filter_check_bridges(mr, change->path, &change->bridges, &reply->error);
	if (rc == 0 && change->publish) {
		rc = mr_filter_commit(mr, change->next, change->program, &reply->error);
	} else {
		mr_filter_program_free(change->program);
		mr_filter_set_free(change->next);
	}
	if (rc == 0 && change->publish)
		mr_filter_set_bridges(mr, &change->bridges);
	if (rc == 0 && json_array_size(change->warnings) != 0)
		rc = mr_reply(reply, json_pack("{s:O}", "warnings", change->warnings));
	json_decref(change->warnings);
	free(change->path);
	free(change);
	return rc;
}

static int finish_quietly(struct mr *mr, struct mr_job *job, struct mr_reply *reply)
{
	int rc = finish(mr, job, reply);

	if (rc != 0)
		mr_log_error("filter: 'me' stays what it was: %s", reply->error.text);
	return rc;
}

static int begin(struct mr *mr, const struct mr_filter_change *wanted, struct mr_reply *reply)
{
	struct mr_filter_change *change = malloc(sizeof(*change));

	if (change == NULL) {
		mr_filter_set_free(wanted->next);
		json_decref(wanted->warnings);
		free(wanted->path);
		return mr_refuse(reply, -ENOMEM, "no memory for a change of rules");
	}
	*change = *wanted;
	change->job.work = work;
	if (change->job.finish == NULL)
		change->job.finish = finish;
	change->filter = mr->filter;
	change->socket = mr_filter_socket(mr);
	mr->filter->is_changing = true;
	reply->job = &change->job;
	return 0;
}

int mr_filter_change(struct mr *mr, struct mr_filter_set *next, json_t *warnings,
		     struct mr_reply *reply)
{
	struct mr_filter_change change = {.next = next,
					  .publish = true,
					  .warnings = warnings,
					  .job.brief = next->count <= BRIEF_RULES};

	return begin(mr, &change, reply);
}

struct mr_job *mr_filter_change_quietly(struct mr *mr, struct mr_filter_set *next)
{
	struct mr_filter_change change = {
		.next = next,
		.publish = true,
		.job = {.brief = next->count <= BRIEF_RULES, .finish = finish_quietly},
	};
	struct mr_reply reply = {0};

	return begin(mr, &change, &reply) == 0 ? reply.job : NULL;
}

int mr_filter_change_by_file(struct mr *mr, const char *path, bool publish, struct mr_reply *reply)
{
	struct mr_filter_change change = {.publish = publish};

	if (mr_filter_refuse_change(mr, reply) != 0)
		return -EBUSY;
	change.next = mr_filter_set_copy(mr->filter->set, 0);
	change.path = strdup(path);
	change.warnings = json_array();
	if (change.next == NULL || change.path == NULL) {
		mr_filter_set_free(change.next);
		json_decref(change.warnings);
		free(change.path);
		return mr_refuse(reply, -ENOMEM, "no memory for the rules");
	}
	return begin(mr, &change, reply);
}
