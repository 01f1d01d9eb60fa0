/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_POLICE_H
#define MR_FILTER_POLICE_H

#include "filter/police_fwd.h"
#include "filter/rule.h"

/* The control thread's side of police_fwd.h. */

/* Makes what a rule's rate is shared by; each of the lcores may spend its part of the burst at
 * once. Returns NULL without memory. */
struct mr_filter_police *mr_filter_police_create(const struct mr_filter_rule *rule, unsigned lcores,
						 uint64_t now);
void mr_filter_police_free(void *police);

/* Grants what has come in since the last time. now: TSC cycles, hz: of it. */
void mr_filter_police_grant(struct mr_filter_police *police, uint64_t now, uint64_t hz);

#endif
