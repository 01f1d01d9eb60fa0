/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What senders of rejected packets are told: TCP a reset (RFC 9293 3.10.7.1), others ICMP
 * "administratively prohibited" (RFC 1812 5.2.7.1, RFC 4443 3.1). These packets are caused by
 * others, so the rules of silence come first, then the limits, one of them by port of arrival.
 *
 * An answer about a routed packet is the router's: it goes where routes lead, an ICMP error of it
 * with the appliance's address. A bridge has neither routes nor addresses; there, the answer goes
 * back in the frame that came, with its ends exchanged, as if the destination had sent it.
 */
#include <string.h>

#include <netinet/in.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "filter/filter.h"
#include "filter/slow.h"
#include "host/icmp.h"
#include "host/output.h"
#include "lcore/lcores.h"
#include "packet/checksum.h"
#include "packet/punt.h"
#include "port/port.h"

#define OWN_TTL 64
#define IPV4_ANSWER_MAX 576  /* bytes, RFC 1812 4.3.2.3 */
#define IPV6_ANSWER_MAX 1280 /* bytes, RFC 4443 2.4 (c) */
#define ICMPV6_UNREACHABLE 1
#define ICMPV6_PROHIBITED 1
#define ICMPV6_QUERIES 128 /* and above; errors are below (RFC 4443 2.1) */

static const struct mr_token_rate total_rate = {.per_second = 1000, .burst = 500};
static const struct mr_token_rate iface_rate = {.per_second = 200, .burst = 100};

static bool is_within_limits(struct mr_filter_slow *slow, uint16_t iface)
{
	if (mr_token_take(&slow->iface_answers[iface], &iface_rate, slow->now_ms) &&
	    mr_token_take(&slow->answers, &total_rate, slow->now_ms))
		return true;
	slow->answers_limited++;
	return false;
}

/* Whether an address, as it stands in the packet, is of one host. */
static bool is_one_host(const uint8_t *address, bool ipv6)
{
	static const uint8_t none[16];

	if (ipv6)
		return address[0] != 0xff && memcmp(address, none, sizeof(none)) != 0;
	return address[0] != 0 && address[0] != 127 && address[0] < 224;
}

static const uint8_t *source_of(const struct mr_filter_frame *frame)
{
	return frame->ip + (frame->ipv6 ? 8 : 12);
}

static const uint8_t *destination_of(const struct mr_filter_frame *frame)
{
	return frame->ip + (frame->ipv6 ? 24 : 16);
}

static bool is_icmp_query(const struct mr_filter_frame *frame)
{
	uint8_t type = frame->transport[0];

	return frame->ipv6 ? type >= ICMPV6_QUERIES
			   : type == MR_ICMP_ECHO_REQUEST || type == MR_ICMP_ECHO_REPLY;
}

/* RFC 1122 3.2.2, RFC 4443 2.4 (e), RFC 9293 3.10.7.1. */
static bool is_allowed(const struct mr_filter_frame *frame)
{
	const struct rte_ether_hdr *ethernet = (const struct rte_ether_hdr *)frame->bytes;

	if (frame->fragment || !rte_is_unicast_ether_addr(&ethernet->dst_addr) ||
	    !rte_is_unicast_ether_addr(&ethernet->src_addr) ||
	    !is_one_host(source_of(frame), frame->ipv6) ||
	    !is_one_host(destination_of(frame), frame->ipv6))
		return false;
	if (frame->protocol == IPPROTO_TCP)
		return (frame->transport[13] & RTE_TCP_RST_FLAG) == 0;
	if (frame->protocol == (frame->ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP))
		return is_icmp_query(frame);
	return true;
}

/* Fills in a reset about a segment, but for the checksum. */
static void make_reset(const struct mr_filter_frame *frame, struct rte_tcp_hdr *reset)
{
	const struct rte_tcp_hdr *tcp = (const struct rte_tcp_hdr *)frame->transport;
	unsigned header = (tcp->data_off >> 4) * 4u;
	uint32_t length = frame->transport_size > header ? frame->transport_size - header : 0;

	length += (tcp->tcp_flags & RTE_TCP_SYN_FLAG) != 0;
	length += (tcp->tcp_flags & RTE_TCP_FIN_FLAG) != 0;
	*reset = (struct rte_tcp_hdr){
		.src_port = tcp->dst_port,
		.dst_port = tcp->src_port,
		.data_off = sizeof(*reset) / 4 << 4,
		.tcp_flags = RTE_TCP_RST_FLAG,
	};
	if (tcp->tcp_flags & RTE_TCP_ACK_FLAG) {
		reset->sent_seq = tcp->recv_ack;
	} else {
		reset->recv_ack = rte_cpu_to_be_32(rte_be_to_cpu_32(tcp->sent_seq) + length);
		reset->tcp_flags |= RTE_TCP_ACK_FLAG;
	}
}

/* An IPv4 header of an answer about a packet, from its destination to its source. */
static void make_ipv4(const struct mr_filter_frame *frame, uint8_t protocol, unsigned payload,
		      struct rte_ipv4_hdr *ip)
{
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16((uint16_t)(sizeof(*ip) + payload)),
		.time_to_live = OWN_TTL,
		.next_proto_id = protocol,
	};
	memcpy(&ip->src_addr, destination_of(frame), 4);
	memcpy(&ip->dst_addr, source_of(frame), 4);
}

static void make_ipv6(const struct mr_filter_frame *frame, uint8_t protocol, unsigned payload,
		      struct rte_ipv6_hdr *ip)
{
	*ip = (struct rte_ipv6_hdr){
		.vtc_flow = rte_cpu_to_be_32(6u << 28),
		.payload_len = rte_cpu_to_be_16((uint16_t)payload),
		.proto = protocol,
		.hop_limits = OWN_TTL,
	};
	memcpy(ip->src_addr, destination_of(frame), 16);
	memcpy(ip->dst_addr, source_of(frame), 16);
}

/* Fills in an ICMP or ICMPv6 error that quotes `quoted` bytes, but for the checksum. */
static void make_unreachable(const struct mr_filter_frame *frame, unsigned quoted,
			     struct mr_icmp_header *icmp)
{
	*icmp = (struct mr_icmp_header){
		.type = frame->ipv6 ? ICMPV6_UNREACHABLE : MR_ICMP_UNREACHABLE,
		.code = frame->ipv6 ? ICMPV6_PROHIBITED : MR_ICMP_PROHIBITED,
	};
	memcpy(icmp + 1, frame->ip, quoted);
}

/* Makes the answer's IP packet at `at`, which has room for the largest; returns its size. */
static unsigned make_answer(const struct mr_filter_frame *frame, uint8_t *at)
{
	unsigned header = frame->ipv6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	bool is_reset = frame->protocol == IPPROTO_TCP;
	uint8_t protocol = is_reset ? IPPROTO_TCP : frame->ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	unsigned payload = sizeof(struct rte_tcp_hdr);

	if (is_reset) {
		make_reset(frame, (struct rte_tcp_hdr *)(at + header));
	} else {
		unsigned room = (frame->ipv6 ? IPV6_ANSWER_MAX : IPV4_ANSWER_MAX) - header -
				sizeof(struct mr_icmp_header);
		unsigned quoted = RTE_MIN(frame->ip_size, room);

		make_unreachable(frame, quoted, (struct mr_icmp_header *)(at + header));
		payload = sizeof(struct mr_icmp_header) + quoted;
	}
	if (frame->ipv6) {
		struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)at;
		uint16_t *checksum = (uint16_t *)(at + header + (is_reset ? 16 : 2));

		make_ipv6(frame, protocol, payload, ip);
		*checksum = rte_ipv6_udptcp_cksum(ip, at + header);
		return header + payload;
	}
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)at;
	make_ipv4(frame, protocol, payload, ip);
	mr_ipv4_set_checksum(ip);
	if (is_reset)
		((struct rte_tcp_hdr *)(ip + 1))->cksum = rte_ipv4_udptcp_cksum(ip, ip + 1);
	else
		((struct mr_icmp_header *)(ip + 1))->checksum = mr_checksum(ip + 1, payload);
	return header + payload;
}

/* Sends the answer back by the port on which the packet came. */
static void answer_on_bridge(struct mr *mr, const struct mr_filter_frame *frame, uint16_t arrival)
{
	struct rte_mbuf *answer = rte_pktmbuf_alloc(mr_ports_host_pool(mr));
	struct mr_counters *counters = mr->lcores->control;
	const struct rte_ether_hdr *came = (const struct rte_ether_hdr *)frame->bytes;
	struct rte_ether_hdr *ethernet;
	unsigned size;

	mr_count(&counters->originated, 1);
	if (answer == NULL || rte_pktmbuf_tailroom(answer) < frame->link_size + IPV6_ANSWER_MAX) {
		rte_pktmbuf_free(answer);
		mr_count(&counters->drop[mr_host_port(mr, arrival)][MR_DROP_no_mbuf], 1);
		return;
	}
	ethernet = rte_pktmbuf_mtod(answer, struct rte_ether_hdr *);
	memcpy(ethernet, frame->bytes, frame->link_size);
	ethernet->dst_addr = came->src_addr;
	ethernet->src_addr = came->dst_addr;
	size = frame->link_size + make_answer(frame, (uint8_t *)ethernet + frame->link_size);
	if (size < RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN) {
		memset((uint8_t *)ethernet + size, 0, RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN - size);
		size = RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN;
	}
	answer->data_len = (uint16_t)size;
	answer->pkt_len = size;
	answer->port = arrival;
	mr_inject(mr, arrival, answer);
}

static void reset_by_route(struct mr *mr, const struct mr_filter_frame *frame, uint16_t arrival)
{
	struct {
		struct rte_ipv4_hdr ip;
		struct rte_tcp_hdr tcp;
	} reset;
	uint32_t source;
	const struct mr_adjacency *way;

	memcpy(&source, source_of(frame), sizeof(source));
	way = mr_host_route(mr, rte_be_to_cpu_32(source));
	if (way == NULL)
		return;
	make_answer(frame, (uint8_t *)&reset);
	mr_host_send(mr, way, arrival, &reset.ip);
	mr->filter->slow->resets_sent++;
}

static void answer_routed(struct mr *mr, const struct rte_mbuf *packet,
			  const struct mr_filter_frame *frame, uint16_t arrival)
{
	struct mr_datagram datagram;
	uint32_t source;

	memcpy(&source, source_of(frame), sizeof(source));
	if (frame->ipv6 || !mr_is_host_address(mr, rte_be_to_cpu_32(source)) ||
	    mr_datagram_of(packet, arrival, &datagram) != MR_HOST_CONSUMED) {
		mr->filter->slow->answers_forbidden++;
		return;
	}
	if (frame->protocol != IPPROTO_TCP) /* with limits of its own */
		mr_icmp_error(mr, &datagram, MR_ICMP_UNREACHABLE, MR_ICMP_PROHIBITED, 0);
	else if (is_within_limits(mr->filter->slow, arrival))
		reset_by_route(mr, frame, arrival);
}

void mr_filter_answer(struct mr *mr, const struct rte_mbuf *packet)
{
	struct mr_filter_slow *slow = mr->filter->slow;
	uint16_t arrival = packet->port; /* a port's base interface has its number */
	const struct mr_iface *iface = mr_iface(mr, arrival);
	struct mr_filter_frame frame;

	if (iface == NULL || !mr_filter_frame_read(packet, &frame) || !is_allowed(&frame)) {
		slow->answers_forbidden++;
		return;
	}
	if (iface->mode != MR_MODE_BRIDGE) {
		answer_routed(mr, packet, &frame, arrival);
		return;
	}
	if (!is_within_limits(slow, arrival))
		return;
	answer_on_bridge(mr, &frame, arrival);
	if (frame.protocol == IPPROTO_TCP)
		slow->resets_sent++;
	else
		slow->unreachables_sent++;
}
