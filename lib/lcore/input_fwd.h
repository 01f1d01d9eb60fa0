/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_INPUT_FWD_H
#define MR_LCORE_INPUT_FWD_H

#include "lcore/lcore.h"

/* Counts a received vector in rx, drops what is no whole frame, and hands the rest to the stage of
 * the arrival interface's mode. */
void mr_input(struct mr_lcore *lcore, struct mr_vector *vector, struct mr_traffic *rx);

/* The two halves of mr_input, for packets that one lcore receives and another carries on: counting
 * and dropping, which may leave no packet; then the stage, for a vector that is not empty. */
void mr_input_check(struct mr_lcore *lcore, struct mr_vector *vector, struct mr_traffic *rx);
void mr_input_stage(struct mr_lcore *lcore, struct mr_vector *vector);

/* The stage of interfaces without a role, and of those whose frames cross unseen. */
mr_stage_fn mr_unconfigured_input;
mr_stage_fn mr_io_input;

#endif
