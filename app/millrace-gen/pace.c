/* SPDX-License-Identifier: BSD-3-Clause */
#include "pace.h"

#define WIRE_OVERHEAD 20 /* preamble with start delimiter, and the gap between frames */

void pace_start(struct pace *pace, uint64_t start, uint64_t rate, uint64_t hz)
{
	unsigned __int128 one = (unsigned __int128)1 << 64;

	*pace = (struct pace){
		.start = start,
		.per_cycle = (uint64_t)(one * rate / ((unsigned __int128)hz * 1000)),
		.half_gap = (uint64_t)(((unsigned __int128)hz * 1000 << 15) / rate),
		.not_before = start,
	};
}

uint64_t pace_due(const struct pace *pace, uint64_t now)
{
	if ((int64_t)(now - pace->start) < 0)
		return 0;
	return 1 + (uint64_t)((unsigned __int128)(now - pace->start) * pace->per_cycle >> 64);
}

unsigned pace_allow(struct pace *pace, uint64_t now, uint64_t sent, unsigned burst)
{
	uint64_t due = pace_due(pace, now);

	if (due <= sent || (int64_t)(now - pace->not_before) < 0)
		return 0;
	unsigned allowed = due - sent < burst ? (unsigned)(due - sent) : burst;
	pace->not_before = now + (uint64_t)((unsigned __int128)pace->half_gap * allowed >> 16);
	return allowed;
}

uint64_t pace_rate_of_link(uint64_t link_mbps, uint64_t milli_percent, uint64_t milli_octets)
{
	/* link_mbps * 10^6 bit/s * milli_percent / 10^5 * 1000 (s) / (8 * milli_octets / 1000) */
	unsigned __int128 rate = (unsigned __int128)link_mbps * milli_percent * 10000000ull;

	return (uint64_t)(rate / (8 * (milli_octets + WIRE_OVERHEAD * 1000)));
}
