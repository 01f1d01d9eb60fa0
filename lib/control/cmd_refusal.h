/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_CMD_REFUSAL_H
#define MR_CONTROL_CMD_REFUSAL_H

#include "control/cmd_syntax.h"

/* Puts into words why no command fits, from what was expected at the first word that did not.
 * Returns -EINVAL. */
int mr_cmd_refusal(const struct mr_words *words, const struct mr_expected *expected,
		   struct mr_error *error);

#endif
