/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_SEQUENCE_H
#define GEN_SEQUENCE_H

#include <stdint.h>

/*
 * What happened to the frames of one stream. A frame is reordered as RFC 4737 section 3.4 says:
 * its number is below that which follows the highest one seen. Which of the last 1024 numbers were
 * seen is remembered, so a second copy of one of them is a duplicate. A frame further behind
 * cannot be told from a copy: it counts as received and reordered, and as `late`.
 */
#define SEQUENCE_WINDOW 1024

struct sequence {
	uint64_t next;      /* RFC 4737's NextExp: one above the highest number seen */
	uint64_t received;  /* without duplicates */
	uint64_t reordered; /* of received */
	uint64_t late;      /* of reordered */
	uint64_t duplicates;
	uint64_t distance; /* largest number of places that a reordered frame was behind */
	uint64_t seen[SEQUENCE_WINDOW / 64];
};

/* Takes in a frame; sequence is the low 32 bits of its number, which is within 2^31 of the highest
 * one seen. The structure starts as zeros. */
void sequence_receive(struct sequence *stream, uint32_t sequence);

#endif
