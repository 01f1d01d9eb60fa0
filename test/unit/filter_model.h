/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_FILTER_MODEL_H
#define TEST_FILTER_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "filter/key_fwd.h"
#include "filter/set.h"

/*
 * What rules mean, as docs/filter.md says it: one after the other, test by test, over headers that
 * are read here, byte by byte. It shares no code with the packet path.
 */

/* What a packet has. Numbers in host byte order. */
struct model_packet {
	enum { MODEL_SOUND, MODEL_BAD_HEADER, MODEL_TINY_FRAGMENT, MODEL_LONG_CHAIN } state;
	uint8_t dst_mac[6], src_mac[6];
	uint16_t vlan, ethertype;
	bool ip4, ip6;
	uint8_t src[16], dst[16];
	unsigned protocol, length, ttl, dscp;
	bool options, first, later;
	bool has_ports, has_tcp, has_icmp;
	unsigned sport, dport, tcp_flags, icmp_type, icmp_code;
};

void model_read(const uint8_t *frame, unsigned length, struct model_packet *packet);

/* The index of the first rule from `start` on that matches, or set->count. */
uint32_t model_first(const struct mr_filter_set *set, const struct model_packet *packet,
		     const struct mr_filter_place *place, uint32_t start);

#define MODEL_MATCHES 256

struct model_verdict {
	enum { MODEL_ALLOW, MODEL_DENY, MODEL_REJECT, MODEL_UNREADABLE } end;
	enum mr_filter_reading reading; /* of what is unreadable */
	unsigned matched;               /* rules that matched, the final one with them */
	uint32_t rule[MODEL_MATCHES];   /* their indices, in order */
};

/* What a set does with a frame at a hook. State is not kept, and police lets everything pass. */
void model_filter(const struct mr_filter_set *set, const uint8_t *frame, unsigned length,
		  const struct mr_filter_place *place, struct model_verdict *verdict);

#endif
