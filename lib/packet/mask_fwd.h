/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PACKET_MASK_FWD_H
#define MR_PACKET_MASK_FWD_H

#include <stdint.h>

#include <emmintrin.h>

#include "packet/vector.h"

/* All packets of a vector, which is not empty. */
static inline uint64_t mr_vector_all(const struct mr_vector *vector)
{
	return UINT64_MAX >> (MR_VECTOR_SIZE - vector->count);
}

/* The positions among the first count (rounded up to 16) of MR_VECTOR_SIZE values that hold value.
 * values need not be aligned. */
static inline uint64_t mr_mask_equal(const uint16_t *values, uint16_t value, unsigned count)
{
	__m128i wanted = _mm_set1_epi16((short)value);
	uint64_t mask = 0;

	for (unsigned i = 0; i < count; i += 16) {
		const __m128i *at = (const __m128i *)(values + i);
		__m128i low = _mm_cmpeq_epi16(_mm_loadu_si128(at), wanted);
		__m128i high = _mm_cmpeq_epi16(_mm_loadu_si128(at + 1), wanted);

		mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_packs_epi16(low, high)) << i;
	}
	return mask;
}

#endif
