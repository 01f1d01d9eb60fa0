/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_PLAIN_CACHE_FWD_H
#define FILTER_PLAIN_CACHE_FWD_H

/*
 * Rules of plain IPv4 packets, by flow: the first rule that a packet met is the first that the next
 * one of its flow meets, as long as rules look at nothing else than what is the same in a flow.
 * Then neither headers are read nor rules asked.
 *
 * A flow is known by 16 bytes of the frame, compared as they are: addresses and ports, protocol and
 * TCP's flags, and the port of arrival. It is looked up once, at input; a word in the packet names
 * it to the output hook, which finds there what it did about the flow before, for the interface
 * that it last left on.
 *
 * Two flows share a cache line and are all that may be where a hash says. A flow that takes the
 * place of another has another serial number, so that words which meant the other are known to be
 * void. Flows carry an epoch, which counts the sets of rules that the lcore has seen, so that a new
 * one makes all of them void at once.
 *
 * It belongs to one lcore, which alone reads and writes it.
 */
#include <assert.h>
#include <stdalign.h>
#include <stdint.h>

#include <emmintrin.h>

#include "filter/worth_fwd.h"
#include "packet/vector.h"

struct plain_flow {
	alignas(32) __m128i key;
	uint32_t epoch;   /* 0: never written */
	uint16_t serial;  /* PLAIN_SERIAL_MASK at most */
	uint16_t out;     /* interface that rule[1] is of; MR_IFACE_NONE: there is none yet */
	uint32_t rule[2]; /* that comes first, at input and at output */
};

static_assert(sizeof(struct plain_flow) == 32, "two are a cache line");

struct plain_cache {
	alignas(64) struct plain_flow *flow; /* pairs, at even indices */
	uint32_t mask;                       /* flows less one; PLAIN_INDEX_MASK at most */
	uint32_t epoch;                      /* of the rules in force; at least 1 */
	uint64_t generation;                 /* of these rules */
	uint32_t turn;                       /* which of a pair is replaced next: bit 0 */
	struct filter_worth worth;
	struct filter_worth glance_worth; /* of the first glance, which comes before */
};

/* What the input hook tells the output hook of a packet: nothing (0), or in two bits what the rest
 * means. */
enum {
	PLAIN_WORD_UNMATCHED = 1, /* no rule matches at output either */
	PLAIN_WORD_FLOW = 2,      /* then a flow's serial number, 15 bits, and its index, 15 bits */
	PLAIN_WORD_FLOW_PASSED = 3, /* a flow with state let it pass (flow_word_fwd.h) */
	PLAIN_WORD_KIND = 3,
	PLAIN_SERIAL_SHIFT = 2,
	PLAIN_SERIAL_MASK = 0x7fff,
	PLAIN_INDEX_SHIFT = 17,
	PLAIN_INDEX_MASK = 0x7fff,
};

/* A lookup: what is known of some packets, and what is to be put of others. All by packet. */
struct plain_lookup {
	uint64_t known;  /* mask: rule is theirs */
	uint64_t missed; /* mask: their rules are to be put */
	uint32_t rule[MR_VECTOR_SIZE];
	uint32_t place[MR_VECTOR_SIZE];
	__m128i key[MR_VECTOR_SIZE];
};

/* Looks packets of a mask up at input and writes the words of those that are known. generation: of
 * the set of rules, not the same as of any other. flags_mask: TCP's flags that rules look at. */
void plain_cache_get(struct plain_cache *cache, uint64_t generation, uint8_t flags_mask,
		     struct rte_mbuf *const *packets, uint64_t mask, struct plain_lookup *lookup);

/* Remembers a packet's rule at input, and writes its word. */
void plain_cache_put(struct plain_cache *cache, const struct plain_lookup *lookup,
		     struct rte_mbuf *packet, unsigned index, uint32_t rule);

/* Looks packets of a mask up at the output on an interface, by their words. */
void plain_cache_recall(const struct plain_cache *cache, struct rte_mbuf *const *packets,
			uint64_t mask, uint16_t out, struct plain_lookup *lookup);

/* Remembers a packet's rule at output. */
void plain_cache_put_output(struct plain_cache *cache, struct rte_mbuf *packet, uint16_t out,
			    uint32_t rule);

#endif
