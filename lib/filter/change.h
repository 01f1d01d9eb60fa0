/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_CHANGE_H
#define MR_FILTER_CHANGE_H

#include "base/cmd.h"
#include "filter/filter.h"

/*
 * Changes that commands make: the set that is to be in force is made at once or read from a file,
 * compiled as a job (struct mr_job), and put in force when that is done. Control thread.
 */

/* Refuses with -EBUSY while a change is under way; for handlers that are about to make another. */
int mr_filter_refuse_change(struct mr *mr, struct mr_reply *reply);

/* Leaves a job in the reply that puts `next` in force, which it takes over. warnings: an array of
 * sentences for the answer, taken over; NULL: none. For a handler to return. */
int mr_filter_change(struct mr *mr, struct mr_filter_set *next, json_t *warnings,
		     struct mr_reply *reply);

/* The same for a change that no command has asked for: returns the job, which tells the log if `me`
 * cannot be what `next` says; NULL without memory. */
struct mr_job *mr_filter_change_quietly(struct mr *mr, struct mr_filter_set *next);

/* The same for a set that replaces all rules by those of a file. publish false: it is only read and
 * compiled. */
int mr_filter_change_by_file(struct mr *mr, const char *path, bool publish, struct mr_reply *reply);

#endif
