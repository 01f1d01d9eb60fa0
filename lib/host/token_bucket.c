/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/token_bucket.h"

bool mr_token_take(struct mr_token_bucket *bucket, const struct mr_token_rate *rate,
		   uint64_t now_ms)
{
	uint64_t size = (uint64_t)rate->burst * 1000;
	uint64_t elapsed = now_ms - bucket->updated_ms;
	/* A bucket is full again long before the product could overflow. */
	uint64_t gained = elapsed < UINT32_MAX ? elapsed * rate->per_second : size;

	bucket->spent = gained < bucket->spent ? bucket->spent - gained : 0;
	bucket->updated_ms = now_ms;
	if (bucket->spent + 1000 > size)
		return false;
	bucket->spent += 1000;
	return true;
}
