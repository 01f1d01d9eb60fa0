/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame is plain when a few bytes of it have the values that nearly all frames have; these are
 * compared without a branch. A field may be read before it is known whether it is there, since
 * buffers are larger than headers; then what was read is not used.
 */
#include "filter/glance_fwd.h"

#include <stdbool.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "filter/key_fwd.h"

enum { TCP = 6, UDP = 17 };

/* What frames of a burst are, and what of them is looked at. */
struct sight {
	unsigned count;
	uint64_t plain[2]; /* masks: IPv4, IPv6 */
	const uint8_t *frame[MR_VECTOR_SIZE];
	uint64_t groups[MR_VECTOR_SIZE];
};

static inline uint64_t load64(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static inline uint16_t load16(const uint8_t *at)
{
	uint16_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Whether a header of TCP or UDP fits what is behind the IP header; that may be less than nothing.
 */
static inline bool has_transport(uint8_t protocol, int left)
{
	return ((protocol == TCP) & (left >= (int)sizeof(struct rte_tcp_hdr))) |
	       ((protocol == UDP) & (left >= (int)sizeof(struct rte_udp_hdr)));
}

/* From the Ethernet type on: 0800, version 4 with a header of 20 bytes, no fragment. length: of the
 * frame. */
static inline bool is_plain_ipv4(const uint8_t *frame, unsigned length)
{
	unsigned total = rte_be_to_cpu_16(load16(frame + 16));
	uint64_t start = load64(frame + 12) & RTE_BE64(0xffffff0000000000);
	uint16_t fragment = load16(frame + 20) & RTE_BE16(0x3fff);

	return (start == RTE_BE64(0x0800450000000000)) & (fragment == 0) &
	       (RTE_ETHER_HDR_LEN + total <= length) &
	       has_transport(frame[23], (int)total - (int)sizeof(struct rte_ipv4_hdr));
}

static inline bool is_plain_ipv6(const uint8_t *frame, unsigned length)
{
	unsigned payload = rte_be_to_cpu_16(load16(frame + 18));
	uint64_t start = load64(frame + 12) & RTE_BE64(0xfffff00000000000);

	return (start == RTE_BE64(0x86dd600000000000)) &
	       (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv6_hdr) + payload <= length) &
	       has_transport(frame[20], (int)payload);
}

static void look(struct sight *sight, struct rte_mbuf *const *packets, unsigned count)
{
	uint64_t ipv4 = 0;

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(packets[i], const uint8_t *);

		sight->frame[i] = frame;
		ipv4 |= (uint64_t)is_plain_ipv4(frame, packets[i]->data_len) << i;
	}
	sight->count = count;
	sight->plain[0] = ipv4;
	sight->plain[1] = 0;
	for (uint64_t left = UINT64_MAX >> (64 - count) & ~ipv4; left != 0; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		sight->plain[1] |= (uint64_t)is_plain_ipv6(sight->frame[i], packets[i]->data_len)
				   << i;
	}
}

/* Looks at two words of each frame; returns the groups that are left to any. */
static uint64_t sieve_two(struct sight *sight, const struct filter_sieve_word *word)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < sight->count; i++) {
		sight->groups[i] &= filter_sieve_word_groups(&word[0], sight->frame[i]) &
				    filter_sieve_word_groups(&word[1], sight->frame[i]);
		any |= sight->groups[i];
	}
	return any;
}

/* Returns the mask of frames, taken to be of the sieve's family, that none of its rules matches. */
static uint64_t sift(struct sight *sight, const struct filter_sieve *sieve)
{
	uint64_t any = sieve->every, none = 0;

	for (unsigned i = 0; i < sight->count; i++)
		sight->groups[i] = sieve->every;
	for (unsigned word = 0; word < sieve->words && any != 0; word += 2)
		any = sieve_two(sight, &sieve->word[word]);
	if (any == 0)
		return UINT64_MAX;
	for (unsigned i = 0; i < sight->count; i++)
		none |= (uint64_t)(sight->groups[i] == 0) << i;
	return none;
}

uint64_t filter_glance(const struct filter_glance *glance, struct rte_mbuf *const *packets,
		       unsigned count)
{
	uint64_t none = 0;
	struct sight sight;

	look(&sight, packets, count);
	for (unsigned family = 0; family < 2; family++)
		if (sight.plain[family] != 0)
			none |= sight.plain[family] & sift(&sight, &glance->sieve[family]);
	return none;
}
