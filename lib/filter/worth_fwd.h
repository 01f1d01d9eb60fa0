/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_WORTH_FWD_H
#define FILTER_WORTH_FWD_H

/*
 * Whether a short cut is worth its cost. What is asked before the real work and seldom knows the
 * answer only adds to it, as a cache does in a flood of new flows. So a short cut counts how often
 * it knew, and when that was seldom, stays out of the way for a while and then takes another
 * sample.
 */
#include <stdbool.h>
#include <stdint.h>

/* Of one lcore, which writes it. All zero: worth it, until it is known better. */
struct filter_worth {
	uint32_t asked, known; /* packets of this sample */
	uint32_t pause;        /* packets until the next one */
};

enum {
	FILTER_WORTH_SAMPLE = 1024,
	FILTER_WORTH_PAUSE = 16384,
};

/* Whether the short cut is to be asked about `count` packets. */
static inline bool filter_is_worth(struct filter_worth *worth, unsigned count)
{
	if (worth->pause > count) {
		worth->pause -= count;
		return false;
	}
	worth->pause = 0;
	if (worth->asked < FILTER_WORTH_SAMPLE)
		return true;
	if (worth->known < worth->asked / 2)
		worth->pause = FILTER_WORTH_PAUSE;
	worth->asked = 0;
	worth->known = 0;
	return worth->pause == 0;
}

static inline void filter_worth_note(struct filter_worth *worth, unsigned asked, unsigned known)
{
	worth->asked += asked;
	worth->known += known;
}

#endif
