/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_INTERVAL_H
#define FILTER_INTERVAL_H

#include "base/addr.h"
#include "filter/match_fwd.h"

/* Prefixes as intervals of numbers in host byte order. */

/* A mask of the first `bits` bits of `size` bytes. */
void filter_bits_mask(uint8_t *mask, unsigned size, unsigned bits);

/* What a canonical prefix covers. */
struct filter_span32 filter_prefix_span32(const struct mr_prefix *prefix);
struct filter_span128 filter_prefix_span128(const struct mr_prefix *prefix);

/* Sorts intervals and joins those that overlap or touch; returns how many are left. */
uint32_t filter_span32_merge(struct filter_span32 *span, uint32_t count);
uint32_t filter_span128_merge(struct filter_span128 *span, uint32_t count);

#endif
