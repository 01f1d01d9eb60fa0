/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of a local kernel through a packet socket carry what the kernel left to a device that is
 * not there: in the checksum field only the folded sum of the pseudo-header, and super-frames cut
 * at the ring's frame size. The poll-mode driver does not pass on the kernel's mark
 * (TP_STATUS_CSUMNOTREADY), so the field itself is the mark.
 *
 * That is exact for good packets: if the right checksum happens to equal the pseudo-header's sum,
 * completing it gives that same value again.
 */
#include "packet/partial_fwd.h"

#include <netinet/in.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_prefetch.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "packet/link_fwd.h"

static void finish_transport(uint8_t *segment, unsigned length, uint8_t protocol,
			     uint16_t pseudo_sum)
{
	unsigned offset = protocol == IPPROTO_TCP ? offsetof(struct rte_tcp_hdr, cksum)
						  : offsetof(struct rte_udp_hdr, dgram_cksum);
	uint16_t field;

	if (length < offset + sizeof(field))
		return;
	memcpy(&field, segment + offset, sizeof(field));
	if (field != pseudo_sum)
		return;
	/* The field's own content is the pseudo-header's part of the sum. */
	field = (uint16_t)~rte_raw_cksum(segment, length);
	if (field == 0 && protocol == IPPROTO_UDP)
		field = 0xffff; /* RFC 768: 0 means that there is none */
	memcpy(segment + offset, &field, sizeof(field));
}

static bool is_transport(uint8_t protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP;
}

/* Both return false for a packet that is shorter than it says. length: bytes from ip on. */
static bool finish_ipv4(uint8_t *packet, unsigned length)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)packet;

	if (length < sizeof(*ip))
		return true; /* the router will say what is wrong with it, a bridge need not care */
	unsigned header = rte_ipv4_hdr_len(ip), total = rte_be_to_cpu_16(ip->total_length);

	if (total > length)
		return false;
	if (ip->version != 4 || header < sizeof(*ip) || total < header)
		return true;
	if (is_transport(ip->next_proto_id) &&
	    (ip->fragment_offset &
	     rte_cpu_to_be_16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)) == 0)
		finish_transport(packet + header, total - header, ip->next_proto_id,
				 rte_ipv4_phdr_cksum(ip, 0));
	return true;
}

static bool finish_ipv6(uint8_t *packet, unsigned length)
{
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)packet;

	if (length < sizeof(*ip))
		return true;
	unsigned payload = rte_be_to_cpu_16(ip->payload_len);

	if (payload > length - sizeof(*ip))
		return false;
	if (is_transport(ip->proto))
		finish_transport(packet + sizeof(*ip), payload, ip->proto,
				 rte_ipv6_phdr_cksum(ip, 0));
	return true;
}

static bool finish(struct rte_mbuf *m)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	unsigned offset, length = m->data_len;
	uint16_t type = mr_link_payload(frame, length, &offset);

	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return finish_ipv4(frame + offset, length - offset);
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		return finish_ipv6(frame + offset, length - offset);
	return true;
}

uint64_t mr_partial_finish(struct mr_vector *vector)
{
	uint64_t truncated = 0;

	for (unsigned i = 0; i < vector->count; i++)
		if (!finish(vector->packet[i]))
			truncated |= 1ull << i;
	return truncated;
}
