/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_FILTER_RANDOM_H
#define TEST_FILTER_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "filter/key_fwd.h"
#include "filter/set.h"

/*
 * Random rules and random packets that have much in common, so that rules match, and by one value
 * do not. A seed makes the same ones each time.
 */
#define FILTER_FRAME_SIZE 512
#define FILTER_RANDOM_TEXT 2048

/* A number below `below`; steps the seed. */
uint32_t filter_random(uint64_t *seed, uint32_t below);

/* The text of a rule, without a number, of a kind that a set takes: it may be refused, if rarely,
 * because its parts do not go together. Names the address sets s0 and s1. skipto_max: 0: no skipto;
 * else it goes up to there, from above `number`. */
void filter_random_rule(uint64_t *seed, uint32_t number, uint32_t skipto_max, char *text);

/* A set of `count` rules, numbered 10, 20, ..., and its address sets. state: with keep-state, limit
 * and check-state. */
struct mr_filter_set *filter_random_set(uint64_t *seed, unsigned count);

/* A frame; returns its length, at most FILTER_FRAME_SIZE. Among them: IPv4 and IPv6, fragments,
 * options, extension headers, VLAN tags, other ethertypes, and headers that are wrong. */
unsigned filter_random_frame(uint64_t *seed, uint8_t *frame);

/* Where a packet is met: input or output, ports 0 to 3. */
struct mr_filter_place filter_random_place(uint64_t *seed);

#endif
