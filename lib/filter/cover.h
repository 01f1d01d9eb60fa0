/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_COVER_H
#define MR_FILTER_COVER_H

#include "filter/rule.h"

/* Whether `wide` certainly matches every packet that `narrow` matches: each of its tests is implied
 * by one of narrow's. False where that cannot be told test by test; address sets imply only
 * themselves. */
bool mr_filter_rule_covers(const struct mr_filter_rule *wide, const struct mr_filter_rule *narrow);

#endif
