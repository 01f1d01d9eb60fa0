/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_PLAIN_KEY_FWD_H
#define FILTER_PLAIN_KEY_FWD_H

/*
 * Keys of plain IPv4 packets (plain_fwd.h), as mr_filter_key_read would read them: what they have
 * in common is made once for a vector, and of the rest what is not wanted is masked out, so that no
 * packet costs a branch.
 */
#include <assert.h>
#include <stdalign.h>
#include <string.h>

#include <emmintrin.h>

#include "filter/key_fwd.h"
#include "filter/plain_fwd.h"
#include "packet/load_fwd.h"

struct filter_plain_keys {
	alignas(16) struct mr_filter_key common;
	uint64_t addresses;          /* masks, as things lie in memory */
	uint32_t ports;              /* of both */
	uint32_t rest;               /* of length, TTL and DSCP */
	uint16_t tcp;                /* the flag MR_FILTER_TCP, if wanted */
	uint16_t iface_in;           /* mask */
	uint8_t protocol, tcp_flags; /* masks */
	bool macs;
};

/* wanted: MR_FILTER_WANT_*. iface_in of place is not used. */
static inline void filter_plain_keys_init(struct filter_plain_keys *keys, uint32_t wanted,
					  const struct mr_filter_place *place)
{
	const uint32_t ports = MR_FILTER_WANT_SPORT | MR_FILTER_WANT_DPORT;
	struct mr_filter_key *common = &keys->common;
	uint16_t port[2] = {wanted & MR_FILTER_WANT_SPORT ? 0xffff : 0,
			    wanted & MR_FILTER_WANT_DPORT ? 0xffff : 0};
	uint32_t address[2] = {wanted & MR_FILTER_WANT_SRC ? UINT32_MAX : 0,
			       wanted & MR_FILTER_WANT_DST ? UINT32_MAX : 0};
	uint8_t rest[4] = {wanted & MR_FILTER_WANT_LENGTH ? 0xff : 0,
			   wanted & MR_FILTER_WANT_LENGTH ? 0xff : 0,
			   wanted & MR_FILTER_WANT_TTL ? 0xff : 0,
			   wanted & MR_FILTER_WANT_DSCP ? 0xff : 0};

	memset(common, 0, sizeof(*common));
	if (wanted & MR_FILTER_WANT_FAMILY)
		common->flags |= MR_FILTER_IPV4;
	if (wanted & ports)
		common->flags |= MR_FILTER_PORTS;
	if ((wanted & MR_FILTER_WANT_DIRECTION) && place->out)
		common->flags |= MR_FILTER_OUT;
	if (wanted & MR_FILTER_WANT_OUT)
		common->iface_out = rte_cpu_to_be_16(place->iface_out);
	if (wanted & MR_FILTER_WANT_VRF)
		common->vrf = rte_cpu_to_be_16(place->vrf);
	if (wanted & MR_FILTER_WANT_ETHERTYPE)
		common->ethertype = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	memcpy(&keys->addresses, address, sizeof(address));
	memcpy(&keys->ports, port, sizeof(port));
	memcpy(&keys->rest, rest, sizeof(rest));
	keys->tcp = wanted & MR_FILTER_WANT_TCP ? MR_FILTER_TCP : 0;
	keys->tcp_flags = wanted & MR_FILTER_WANT_TCP ? 0xff : 0;
	keys->protocol = wanted & MR_FILTER_WANT_PROTOCOL ? 0xff : 0;
	keys->iface_in = wanted & MR_FILTER_WANT_IN ? 0xffff : 0;
	keys->macs = (wanted & MR_FILTER_WANT_MACS) != 0;
}

/* Reads the key of a frame that is plain IPv4. iface_in: of arrival, in host byte order. */
static inline void filter_plain_key(const struct filter_plain_keys *keys, const uint8_t *frame,
				    uint16_t iface_in, struct mr_filter_key *key)
{
	const __m128i *from = (const __m128i *)&keys->common;
	uint8_t protocol = frame[FILTER_PLAIN_PROTOCOL];
	bool is_tcp = protocol == FILTER_PLAIN_TCP;
	uint64_t addresses = mr_load64(frame + FILTER_PLAIN_TUPLE) & keys->addresses;
	uint8_t rest[4] = {frame[16], frame[17], frame[22], frame[15] >> 2};
	uint32_t ports, packed;

	static_assert(sizeof(*key) == 5 * sizeof(*from), "what is copied");
	static_assert(offsetof(struct mr_filter_key, dport) ==
			      offsetof(struct mr_filter_key, sport) + 2,
		      "both ports are stored at once");
	static_assert(offsetof(struct mr_filter_key, dscp) ==
			      offsetof(struct mr_filter_key, length) + 3,
		      "so are length, TTL and DSCP");
	for (unsigned i = 0; i < 5; i++)
		_mm_storeu_si128((__m128i *)key + i, from[i]);
	memcpy(key->src, &addresses, 4);
	memcpy(key->dst, (const uint8_t *)&addresses + 4, 4);
	memcpy(&ports, frame + FILTER_PLAIN_TUPLE + 8, sizeof(ports));
	ports &= keys->ports;
	memcpy(&key->sport, &ports, sizeof(ports));
	key->protocol = protocol & keys->protocol;
	key->tcp_flags = is_tcp ? frame[FILTER_PLAIN_TCP_FLAGS] & keys->tcp_flags : 0;
	key->flags |= is_tcp ? keys->tcp : 0;
	key->iface_in = rte_cpu_to_be_16(iface_in) & keys->iface_in;
	memcpy(&packed, rest, sizeof(packed));
	packed &= keys->rest;
	memcpy(&key->length, &packed, sizeof(packed));
	if (keys->macs) {
		memcpy(key->dst_mac, frame, sizeof(key->dst_mac));
		memcpy(key->src_mac, frame + 6, sizeof(key->src_mac));
	}
}

#endif
