/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_PROGRAM_H
#define MR_FILTER_PROGRAM_H

#include "filter/filter.h"
#include "filter/program_fwd.h"

/* What lcores execute of a set of rules; compiling disturbs no lcore. */

/* Compiles a set, which must not change meanwhile. Any thread. Returns NULL with error set. */
struct mr_filter_program *mr_filter_program_make(const struct mr_filter_fwd *fwd,
						 const struct mr_filter_set *set, int socket,
						 struct mr_error *error);

/* Says what rules do and count, before lcores see it: their counters are given. police: by counter,
 * what rules share with the programs before and after. Control thread. */
void mr_filter_program_complete(struct mr_filter_program *program, const struct mr_filter_set *set,
				struct mr_filter_police *const *police);

void mr_filter_program_free(struct mr_filter_program *program);

/* Whether a set does nothing at all: lcores need not know of it. */
bool mr_filter_set_is_empty(const struct mr_filter_set *set);

#endif
