/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_LATE_H
#define MR_CONTROL_LATE_H

#include <stdbool.h>

#include "base/cmd.h"

/*
 * A thread for what commands have to compute that takes long (struct mr_job), so that the control
 * thread goes on meanwhile. One job at a time. All functions are the control thread's.
 */
struct mr_late;

/* Starts a job's work. The thread runs where the caller may run, and gives way to it. Returns NULL
 * if there is no thread to be had. */
struct mr_late *mr_late_start(struct mr_job *job);

/* Whether the work is done. */
bool mr_late_is_done(const struct mr_late *late);

/* Waits until it is; ends the thread and returns the job. */
struct mr_job *mr_late_end(struct mr_late *late);

#endif
