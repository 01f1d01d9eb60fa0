/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_TAG_H
#define GEN_TAG_H

#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

/*
 * What a frame carries of itself: the last 14 octets of its UDP payload, in network byte order, so
 * short that it fits into a frame of 64 octets with a VLAN tag. The mark tells frames of one
 * measurement from those of another, and of others.
 */
#define TAG_SIZE 14
#define TAG_TIME_MASK ((1ull << 48) - 1)
#define TAG_REVERSE 0x8000u /* in stream: from the second port to the first */
#define TAG_MAX_STREAMS 0x8000u

struct tag {
	uint16_t mark;
	uint16_t stream;   /* with TAG_REVERSE */
	uint32_t sequence; /* low 32 bits of the frame's number in its stream */
	uint64_t time;     /* TSC cycles, low 48 bits */
};

static inline void tag_write(const struct tag *tag, void *at)
{
	uint64_t time = rte_cpu_to_be_64(tag->time << 16);
	struct __attribute__((packed)) {
		uint16_t mark, stream;
		uint32_t sequence;
	} head = {rte_cpu_to_be_16(tag->mark), rte_cpu_to_be_16(tag->stream),
		  rte_cpu_to_be_32(tag->sequence)};

	memcpy(at, &head, sizeof(head));
	memcpy((uint8_t *)at + sizeof(head), &time, 6);
}

static inline void tag_read(const void *at, struct tag *tag)
{
	const uint8_t *octets = at;
	uint64_t time = 0;
	uint32_t sequence;
	uint16_t mark, stream;

	memcpy(&mark, octets, 2);
	memcpy(&stream, octets + 2, 2);
	memcpy(&sequence, octets + 4, 4);
	memcpy(&time, octets + 8, 6);
	*tag = (struct tag){rte_be_to_cpu_16(mark), rte_be_to_cpu_16(stream),
			    rte_be_to_cpu_32(sequence), rte_be_to_cpu_64(time) >> 16};
}

/* Cycles between the tag's time and now (TSC). */
static inline uint64_t tag_age(const struct tag *tag, uint64_t now)
{
	return (now - tag->time) & TAG_TIME_MASK;
}

#endif
