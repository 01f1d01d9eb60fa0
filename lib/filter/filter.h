/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_FILTER_H
#define MR_FILTER_FILTER_H

#include <rte_mbuf.h>

#include "base/cmd.h"
#include "base/error.h"
#include "base/mr.h"
#include "filter/filter_fwd.h"
#include "filter/set.h"
#include "filter/slots.h"

/*
 * The packet filter as the control thread sees it: the set of rules in force, their counters, and
 * how a set takes the place of another. All functions are the control thread's.
 */
struct mr_filter {
	struct mr_filter_fwd fwd;
	struct mr_filter_set *set; /* in force; never changed, but replaced */
	struct mr_filter_slots *slots;
	struct mr_filter_program *program; /* what lcores execute of it; NULL: nothing to do */
	struct mr_filter_police **police;  /* by counter: of rules that have a rate */
	struct mr_filter_police *rates;    /* those of the set, a list */
	struct mr_filter_hits *baseline;   /* by counter: what does not count any more */
	struct mr_filter_slow *slow;       /* answers to rejected packets, and the log */
	bool is_changing;                  /* a change is under way that rests upon `set` */
	uint64_t last_serial;              /* of rules that keep state */
	uint32_t last_program;             /* number of a program */
	uint32_t flows_size; /* of each lcore, as asked for when millrace starts; 0: as usual */
};

/* Makes mr->filter, whose set has no rules and allows. The lcores exist. */
int mr_filter_create(struct mr *mr, struct mr_error *error);

/* No reader is left, and what was deferred has run. */
void mr_filter_destroy(struct mr *mr);

/* Puts a set, and what mr_filter_compile made of it, in force in the place of the one that is:
 * rules that have no counter get one, then the set is published. Takes both over in any case.
 * Returns 0 or a negative errno with error set, and then nothing has changed. */
int mr_filter_commit(struct mr *mr, struct mr_filter_set *next, struct mr_filter_program *program,
		     struct mr_error *error);

/* Puts the rules of `old` in the place of equal ones (number, tests, action) of `next`, so that
 * they keep their counters. Any thread. Returns 0 or -ENOMEM. */
int mr_filter_keep_rules(struct mr_filter_set *next, const struct mr_filter_set *old);

/* What all lcores counted of a rule since it was made or zeroed. seconds: of the last match, 0 if
 * there was none. */
struct mr_filter_hits mr_filter_hits(const struct mr *mr, uint32_t counter);
void mr_filter_zero(struct mr *mr, uint32_t counter);

/* Takes a packet that was punted as MR_PUNT_REJECT or MR_PUNT_LOG. */
void mr_filter_punted(struct mr *mr, struct rte_mbuf *packet);

/* Timers: limits of answers and the log; and rates of rules are granted what has come in since the
 * last time. Once an iteration. now_ms: monotonic milliseconds. */
void mr_filter_poll(struct mr *mr, uint64_t now_ms);

/* Follows what rules name and other rooms own: the appliance's addresses (`me`), and bridges that
 * are gone, whose exemption goes with them. To be called after each command. Returns a job where
 * rules have to be compiled anew, which tells the log if it fails; else NULL. */
struct mr_job *mr_filter_follow(struct mr *mr);

/* Writes what mr_filter_read_file reads. Returns 0 or a negative errno. */
int mr_filter_save(struct mr *mr, const char *path, struct mr_error *error);

extern const struct mr_cmd mr_filter_cmds[];
extern const struct mr_query mr_filter_queries[];

#endif
