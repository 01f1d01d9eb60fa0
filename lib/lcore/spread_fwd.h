/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_SPREAD_FWD_H
#define MR_LCORE_SPREAD_FWD_H

#include "lcore/lcore.h"

/* In the place of mr_input for a port that is spread: counts a received vector in rx, drops what is
 * no whole frame, and shares the rest out by flow, as the current plan says. */
void mr_spread(struct mr_lcore *lcore, struct mr_vector *vector, struct mr_traffic *rx);

/* Carries on what another lcore received; returns how many packets. */
unsigned mr_spread_take(struct mr_lcore *lcore, const struct mr_source *source);

#endif
