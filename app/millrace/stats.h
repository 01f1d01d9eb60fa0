/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_APP_STATS_H
#define MR_APP_STATS_H

#include <stdio.h>

#include "base/mr.h"

/* Prints what --stats-period asks for: what lcores and ports did in the last second. */
void stats_print(struct mr *mr, FILE *out);

#endif
