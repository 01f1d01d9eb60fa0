/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_PROGRAM_H
#define MR_FILTER_PROGRAM_H

#include "filter/filter.h"
#include "filter/program_fwd.h"

/* What lcores execute of a set of rules. Control thread; compiling disturbs no lcore. */

/* Compiles a set, whose rules have counters or (police NULL) need none, since nothing will be
 * executed. police: by counter, what rules share with the programs before and after. Returns NULL
 * with error set. */
struct mr_filter_program *mr_filter_program_make(const struct mr_filter_fwd *fwd,
						 const struct mr_filter_set *set,
						 struct mr_filter_police *const *police, int socket,
						 struct mr_error *error);
void mr_filter_program_free(struct mr_filter_program *program);

/* Whether a set does nothing at all: lcores need not know of it. */
bool mr_filter_set_is_empty(const struct mr_filter_set *set);

#endif
