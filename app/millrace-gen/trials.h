/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_TRIALS_H
#define GEN_TRIALS_H

#include "report.h"
#include "session.h"

/* Does what the options want, a timed run or a trial, and adds its rows to report. Trials log what
 * they find on the way. When interrupted, report has what is complete (of a timed run, all). */
int trials_run(struct session *session, struct report *report, struct mr_error *error);

#endif
