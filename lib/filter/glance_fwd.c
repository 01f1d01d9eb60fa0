/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/glance_fwd.h"

#include "filter/plain_fwd.h"

/* What frames of a burst are, and what of them is looked at. */
struct sight {
	unsigned count;
	uint64_t plain[2];                    /* masks: IPv4, IPv6 */
	const uint8_t *frame[MR_VECTOR_SIZE]; /* as if there were no tags */
	uint64_t groups[MR_VECTOR_SIZE];
};

static void look(struct sight *sight, struct rte_mbuf *const *packets, unsigned count)
{
	uint64_t ipv4 = 0;

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(packets[i], const uint8_t *);

		sight->frame[i] = frame;
		ipv4 |= (uint64_t)filter_is_plain_ipv4(frame, packets[i]->data_len) << i;
	}
	sight->count = count;
	sight->plain[0] = ipv4;
	sight->plain[1] = 0;
	for (uint64_t left = UINT64_MAX >> (64 - count) & ~ipv4; left != 0; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left), length = packets[i]->data_len;
		unsigned tags = filter_plain_tags(sight->frame[i], length);

		sight->frame[i] += tags;
		length -= tags;
		sight->plain[0] |= (uint64_t)filter_is_plain_ipv4(sight->frame[i], length) << i;
		sight->plain[1] |= (uint64_t)filter_is_plain_ipv6(sight->frame[i], length) << i;
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
