/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <netinet/in.h>

#include <rte_ether.h>
#include <rte_ip.h>

#include "filter/key_fwd.h"
#include "filter/slow.h"
#include "packet/link_fwd.h"

static unsigned number(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

static bool is_extension(uint8_t protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
	       protocol == IPPROTO_DSTOPTS || protocol == IPPROTO_FRAGMENT ||
	       protocol == IPPROTO_AH;
}

/* Where an IPv6 chain ends, which has been found to be sound. */
static unsigned chain_size(const uint8_t *ip)
{
	uint8_t protocol = ip[6];
	unsigned size = sizeof(struct rte_ipv6_hdr);

	while (is_extension(protocol)) {
		const uint8_t *header = ip + size;

		size += protocol == IPPROTO_FRAGMENT ? 8
			: protocol == IPPROTO_AH     ? (header[1] + 2u) * 4
						     : (header[1] + 1u) * 8;
		protocol = header[0];
	}
	return size;
}

/* The filter's own reading says whether the headers can be relied on. */
bool mr_filter_frame_read(const struct rte_mbuf *packet, struct mr_filter_frame *frame)
{
	static const struct mr_filter_place place = {0};
	const uint8_t *bytes = rte_pktmbuf_mtod(packet, const uint8_t *);
	struct mr_filter_key key;
	unsigned link_size;

	if (packet->nb_segs != 1 || packet->data_len < RTE_ETHER_HDR_LEN ||
	    mr_filter_key_read(bytes, packet->data_len, MR_FILTER_WANT_IP, &place, &key) !=
		    MR_FILTER_READ ||
	    (key.flags & (MR_FILTER_IPV4 | MR_FILTER_IPV6)) == 0)
		return false;
	mr_link_payload(bytes, packet->data_len, &link_size);
	*frame = (struct mr_filter_frame){
		.bytes = bytes,
		.link_size = link_size,
		.ip = bytes + link_size,
		.ipv6 = (key.flags & MR_FILTER_IPV6) != 0,
		.fragment = (key.flags & (MR_FILTER_FIRST | MR_FILTER_LATER)) != 0,
		.later = (key.flags & MR_FILTER_LATER) != 0,
		.protocol = key.protocol,
	};
	frame->ip_size = frame->ipv6 ? number(frame->ip + 4) + 40 : number(frame->ip + 2);
	if (!frame->later) {
		unsigned headers = frame->ipv6 ? chain_size(frame->ip) : (frame->ip[0] & 15) * 4u;

		frame->transport = frame->ip + headers;
		frame->transport_size = frame->ip_size - headers;
	}
	return true;
}
