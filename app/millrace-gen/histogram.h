/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_HISTOGRAM_H
#define GEN_HISTOGRAM_H

#include <stdint.h>

/*
 * A log-linear histogram: values below 128 have a bucket each, above that every power of two is
 * divided into 128 buckets, so that a quantile is right to 1 part in 128. Values of 2^40 and more
 * count in the last bucket; minimum, maximum and sum are exact. Any unit.
 */
#define HISTOGRAM_SUB_BITS 7
#define HISTOGRAM_VALUE_BITS 40
#define HISTOGRAM_BUCKETS ((HISTOGRAM_VALUE_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

struct histogram {
	uint64_t count, min, max;
	unsigned __int128 sum;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_reset(struct histogram *histogram);
void histogram_add(struct histogram *histogram, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);

/* The smallest value that so many thousandths of all values do not exceed, as the upper end of its
 * bucket (never above max); 0 when there are no values. */
uint64_t histogram_quantile(const struct histogram *histogram, unsigned thousandths);
double histogram_mean(const struct histogram *histogram);

#endif
