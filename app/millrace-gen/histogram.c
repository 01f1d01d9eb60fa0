/* SPDX-License-Identifier: BSD-3-Clause */
#include "histogram.h"

#include <string.h>

#define SUB (1u << HISTOGRAM_SUB_BITS)

void histogram_reset(struct histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
	histogram->min = UINT64_MAX;
}

static unsigned bucket_of(uint64_t value)
{
	if (value < SUB)
		return (unsigned)value;
	unsigned bits = 64 - (unsigned)__builtin_clzll(value);
	if (bits > HISTOGRAM_VALUE_BITS)
		return HISTOGRAM_BUCKETS - 1;
	/* What follows the leading one bit says which part of the power of two it is. */
	unsigned shift = bits - 1 - HISTOGRAM_SUB_BITS;
	return ((shift + 1) << HISTOGRAM_SUB_BITS) + (unsigned)((value >> shift) - SUB);
}

static uint64_t upper_end(unsigned bucket)
{
	if (bucket < SUB)
		return bucket;
	unsigned shift = (bucket >> HISTOGRAM_SUB_BITS) - 1;
	return ((uint64_t)(SUB + bucket % SUB + 1) << shift) - 1;
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
	histogram->count++;
	histogram->sum += value;
	if (value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->bucket[bucket_of(value)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	into->count += from->count;
	into->sum += from->sum;
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
}

uint64_t histogram_quantile(const struct histogram *histogram, unsigned thousandths)
{
	/* Rounded up: of 10 values, 99% are 10. */
	uint64_t wanted =
		(uint64_t)(((unsigned __int128)histogram->count * thousandths + 999) / 1000);
	uint64_t count = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS - 1 && wanted > 0; i++) {
		count += histogram->bucket[i];
		if (count >= wanted)
			return upper_end(i) < histogram->max ? upper_end(i) : histogram->max;
	}
	return histogram->max;
}

double histogram_mean(const struct histogram *histogram)
{
	return histogram->count != 0 ? (double)histogram->sum / (double)histogram->count : 0;
}
