/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PACKET_LOAD_FWD_H
#define MR_PACKET_LOAD_FWD_H

#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

/* Numbers as they lie in a packet, at any address, in memory's byte order. Any thread. */
static inline uint16_t mr_load16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint32_t mr_load32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint64_t mr_load64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* The same of numbers in network byte order. */
static inline uint16_t mr_number16(const uint8_t *at)
{
	return rte_be_to_cpu_16(mr_load16(at));
}

static inline uint32_t mr_number32(const uint8_t *at)
{
	return rte_be_to_cpu_32(mr_load32(at));
}

#endif
