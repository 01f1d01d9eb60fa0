/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_HOST_TOKEN_BUCKET_H
#define MR_HOST_TOKEN_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A token bucket (RFC 1812 4.3.2.8) that remembers what was spent instead of what is left: all
 * zeros is a full one.
 */
struct mr_token_bucket {
	uint64_t updated_ms;
	uint64_t spent; /* thousandths of a token */
};

struct mr_token_rate {
	uint32_t per_second;
	uint32_t burst; /* tokens in a full bucket */
};

/* Takes a token if there is one. now_ms must not run backwards. */
bool mr_token_take(struct mr_token_bucket *bucket, const struct mr_token_rate *rate,
		   uint64_t now_ms);

#endif
