/* SPDX-License-Identifier: BSD-3-Clause */
#include "sequence.h"

#include <stdbool.h>
#include <string.h>

/* Numbers are at the place of their value modulo the window, so that it slides without a shift. */
static uint64_t *word_of(struct sequence *stream, uint64_t number)
{
	return &stream->seen[number % SEQUENCE_WINDOW / 64];
}

static uint64_t bit_of(uint64_t number)
{
	return 1ull << (number % 64);
}

static void advance(struct sequence *stream, uint64_t number)
{
	if (number - stream->next >= SEQUENCE_WINDOW) {
		memset(stream->seen, 0, sizeof(stream->seen));
	} else {
		for (uint64_t skipped = stream->next; skipped < number; skipped++)
			*word_of(stream, skipped) &= ~bit_of(skipped);
	}
	*word_of(stream, number) |= bit_of(number);
	stream->next = number + 1;
	stream->received++;
}

static void from_behind(struct sequence *stream, uint64_t behind)
{
	uint64_t number = stream->next - behind;
	bool in_window = behind <= SEQUENCE_WINDOW;

	if (in_window && (*word_of(stream, number) & bit_of(number))) {
		stream->duplicates++;
		return;
	}
	if (in_window)
		*word_of(stream, number) |= bit_of(number);
	else
		stream->late++;
	stream->received++;
	stream->reordered++;
	if (behind > stream->distance)
		stream->distance = behind;
}

void sequence_receive(struct sequence *stream, uint32_t sequence)
{
	int32_t ahead = (int32_t)(sequence - (uint32_t)stream->next);

	if (ahead >= 0)
		advance(stream, stream->next + (uint32_t)ahead);
	else
		from_behind(stream, (uint64_t) - (int64_t)ahead);
}
