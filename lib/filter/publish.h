/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_PUBLISH_H
#define MR_FILTER_PUBLISH_H

#include "base/error.h"
#include "base/mr.h"
#include "filter/set.h"

struct mr_filter;
struct mr_filter_program;

/*
 * How sets of rules reach forwarding lcores: compiled off to the side, then published at both hooks
 * with one store. Control thread.
 */

/* Where what lcores read is best held. */
int mr_filter_socket(const struct mr *mr);

/* Compiles a set, which stays the caller's and must not change meanwhile. program: NULL if there is
 * nothing in it for lcores to do. Any thread. Returns 0 or a negative errno with error set. */
int mr_filter_compile(const struct mr_filter *filter, const struct mr_filter_set *set, int socket,
		      struct mr_filter_program **program, struct mr_error *error);

/* Puts a set and what was compiled of it in force: mr->filter->set is it from then on, and the one
 * before is freed when no lcore can read it any more. All rules have counters. Returns 0, or a
 * negative errno with error set; then nothing has changed, and both are still the caller's. */
int mr_filter_publish(struct mr *mr, struct mr_filter_set *set, struct mr_filter_program *program,
		      struct mr_error *error);

/* The same for a set whose rules are the same and name no address set that is another, so that
 * lcores have nothing else to do. */
void mr_filter_publish_names(struct mr *mr, struct mr_filter_set *set);

#endif
