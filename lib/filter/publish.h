/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_PUBLISH_H
#define MR_FILTER_PUBLISH_H

#include "base/error.h"
#include "base/mr.h"
#include "filter/set.h"

/*
 * How sets of rules reach forwarding lcores: compiled off to the side, then published at both hooks
 * with one store. Control thread.
 */

/* Puts a set in force: mr->filter->set is it from then on, and the one before is freed when no
 * lcore can read it any more. All rules have counters. Returns 0, or a negative errno with error
 * set; then nothing has changed, and the set is still the caller's. */
int mr_filter_publish(struct mr *mr, struct mr_filter_set *set, struct mr_error *error);

/* Compiles a set, which stays the caller's, and throws the result away. Returns 0 or a negative
 * errno with error set. */
int mr_filter_check(struct mr *mr, const struct mr_filter_set *set, struct mr_error *error);

/* Grants the rates of rules what has come in since the last time; once an iteration. */
void mr_filter_grant(struct mr *mr);

#endif
