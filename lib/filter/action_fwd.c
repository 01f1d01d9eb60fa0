/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rules do to packets that then go on. A frame that is flooded is shared by several outputs
 * and may not be written to, so whoever writes takes a copy of their own first.
 */
#include "filter/action_fwd.h"

#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>

#include "filter/buffer_fwd.h"
#include "lcore/output_fwd.h"
#include "packet/link_fwd.h"
#include "port/port.h"

/* A copy of a frame of one segment, from the pool that it is from. NULL without a buffer. */
static struct rte_mbuf *copy_frame(struct mr_lcore *lcore, const struct rte_mbuf *packet)
{
	struct rte_mbuf *copy = mr_filter_buffer(lcore, packet->pool);
	char *frame;

	if (copy == NULL)
		return NULL;
	frame = rte_pktmbuf_append(copy, packet->data_len);
	if (frame == NULL) {
		rte_pktmbuf_free_bulk(&copy, 1);
		return NULL;
	}
	memcpy(frame, rte_pktmbuf_mtod(packet, const char *), packet->data_len);
	copy->port = packet->port;
	return copy;
}

void mr_filter_mirror(struct mr_lcore *lcore, const struct rte_mbuf *packet, uint16_t iface)
{
	const struct mr_hooks *hooks = lcore->hooks;
	struct rte_mbuf *copy = copy_frame(lcore, packet);

	mr_count(&lcore->counters.copied, 1);
	if (copy == NULL) {
		mr_count(&lcore->counters.drop[MR_PORT_NONE][MR_DROP_no_mbuf], 1);
		return;
	}
	lcore->hooks = NULL;
	mr_output(lcore, iface, &copy, 1);
	lcore->hooks = hooks;
}

static void set_ipv4(struct rte_ipv4_hdr *ip, uint8_t dscp)
{
	uint8_t old = ip->type_of_service;
	uint8_t new = (uint8_t)(dscp << 2 | (old & 3));
	/* RFC 1624: HC' = ~(~HC + ~m + m'), the byte being the lower half of a word. */
	uint32_t sum = (uint16_t)~rte_be_to_cpu_16(ip->hdr_checksum) + (uint16_t)~old + new;

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	ip->hdr_checksum = rte_cpu_to_be_16((uint16_t)~sum);
	ip->type_of_service = new;
}

/* The traffic class lies across the first two bytes (RFC 8200 3). */
static void set_ipv6(uint8_t *ip, uint8_t dscp)
{
	ip[0] = (uint8_t)(ip[0] & 0xf0) | dscp >> 2;
	ip[1] = (uint8_t)((ip[1] & 0x3f) | (dscp & 3) << 6);
}

/* The headers were read, so they are there. */
static void set_in_frame(uint8_t *frame, unsigned length, uint8_t dscp)
{
	unsigned offset;
	uint16_t type = mr_link_payload(frame, length, &offset);

	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		set_ipv4((struct rte_ipv4_hdr *)(frame + offset), dscp);
	else if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		set_ipv6(frame + offset, dscp);
}

bool mr_filter_set_dscp(struct mr_lcore *lcore, struct rte_mbuf **packet, uint8_t dscp)
{
	if (rte_mbuf_refcnt_read(*packet) > 1) {
		struct rte_mbuf *copy = copy_frame(lcore, *packet);

		if (copy == NULL)
			return false;
		rte_pktmbuf_free_bulk(packet, 1); /* one use of the shared frame */
		*packet = copy;
	}
	set_in_frame(rte_pktmbuf_mtod(*packet, uint8_t *), (*packet)->data_len, dscp);
	return true;
}
