/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ARP believes anyone, so what is believed is kept small: only a host that could be a neighbour
 * (on the interface's subnet, no broadcast address, none of ours) speaking for itself (its frame's
 * source MAC is the one that it claims) is heard. An entry is made only for who asks for us, since
 * that host is about to send; everything else refreshes entries that exist because we asked.
 * There is no proxy ARP, and an address is answered for only on its own interface.
 */
#include "host/arp.h"

#include <assert.h>
#include <string.h>

#include <rte_arp.h>
#include <rte_ether.h>

#include "host/context.h"
#include "host/host.h"
#include "lcore/lcores.h"
#include "port/port.h"
#include "route/adjacency.h"
#include "route/neighbour.h"
#include "route/router.h"

#define FRAME_SIZE (RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN)
#define ANNOUNCE_INTERVAL_MS 2000 /* RFC 5227 1.1 */
#define DEFEND_INTERVAL_MS 10000  /* RFC 5227 1.1 */

struct arp_frame {
	struct rte_ether_hdr ethernet;
	struct rte_arp_hdr arp;
};

static_assert(sizeof(struct arp_frame) == 42, "as on the wire");

static const struct rte_ether_addr broadcast = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
static const struct rte_ether_addr unknown_mac;

/* Sends an ARP packet from our address sender (host order, like target). */
static void send_arp(struct mr *mr, const struct mr_iface *iface, uint16_t operation,
		     const struct rte_ether_addr *frame_to, uint32_t sender,
		     const struct rte_ether_addr *target_mac, uint32_t target)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mr_ports_host_pool(mr));
	struct mr_counters *counters = mr->lcores->control;
	struct arp_frame *frame;

	mr_count(&counters->originated, 1);
	if (m == NULL) {
		mr_count(&counters->drop[iface->port][MR_DROP_no_mbuf], 1);
		return;
	}
	frame = (struct arp_frame *)rte_pktmbuf_append(m, FRAME_SIZE);
	memset(frame, 0, FRAME_SIZE);
	frame->ethernet.dst_addr = *frame_to;
	frame->ethernet.src_addr = mr_iface_mac(iface);
	frame->ethernet.ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_ARP);
	frame->arp.arp_hardware = rte_cpu_to_be_16(RTE_ARP_HRD_ETHER);
	frame->arp.arp_protocol = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	frame->arp.arp_hlen = RTE_ETHER_ADDR_LEN;
	frame->arp.arp_plen = sizeof(uint32_t);
	frame->arp.arp_opcode = rte_cpu_to_be_16(operation);
	frame->arp.arp_data.arp_sha = mr_iface_mac(iface);
	frame->arp.arp_data.arp_sip = rte_cpu_to_be_32(sender);
	frame->arp.arp_data.arp_tha = *target_mac;
	frame->arp.arp_data.arp_tip = rte_cpu_to_be_32(target);
	mr_inject(mr, iface->index, m);
}

/* Our own addresses on an interface announced, once each. */
static void announce(struct mr *mr, const struct mr_iface *iface)
{
	struct mr_prefix address;

	for (unsigned i = 0; mr_router_address(mr, iface->index, i, &address) == 0; i++) {
		uint32_t ipv4 = mr_addr_ipv4(&address.addr);

		if (address.addr.family != AF_INET)
			continue;
		send_arp(mr, iface, RTE_ARP_OP_REQUEST, &broadcast, ipv4, &unknown_mac, ipv4);
		mr->host->stats.arp_announcements_sent++;
	}
}

void mr_host_announce(struct mr *mr, uint16_t index)
{
	const struct mr_iface *iface = mr_iface(mr, index);
	struct mr_host *host = mr->host;

	if (iface == NULL)
		return;
	announce(mr, iface);
	if (host->announce_ms[index] == 0)
		host->announcing++;
	host->announce_ms[index] = host->now_ms + ANNOUNCE_INTERVAL_MS;
}

void mr_arp_poll(struct mr *mr)
{
	struct mr_host *host = mr->host;

	for (uint16_t i = 0; host->announcing > 0 && i < MR_MAX_IFACES; i++) {
		if (host->announce_ms[i] == 0 || host->announce_ms[i] > host->now_ms)
			continue;
		host->announce_ms[i] = 0;
		host->announcing--;
		if (mr_iface(mr, i) != NULL)
			announce(mr, mr_iface(mr, i));
	}
}

/* Someone else uses an address of ours: neighbours are told again who has it, but not faster than
 * every ten seconds, lest two hosts shout at each other for ever (RFC 5227 2.4). */
static int conflict(struct mr *mr, const struct mr_iface *iface, const struct mr_addr *addr,
		    uint16_t owner)
{
	struct mr_host *host = mr->host;
	uint32_t ipv4 = mr_addr_ipv4(addr);

	host->stats.arp_conflicts++;
	if (owner == iface->index && host->now_ms >= host->defend_ms[owner]) {
		host->defend_ms[owner] = host->now_ms + DEFEND_INTERVAL_MS;
		send_arp(mr, iface, RTE_ARP_OP_REQUEST, &broadcast, ipv4, &unknown_mac, ipv4);
		host->stats.arp_announcements_sent++;
	}
	return MR_DROP_arp_conflict;
}

/* Whether a neighbour on iface can have an address: it is in a subnet of iface's, and not that
 * subnet's broadcast or network address. */
static bool is_possible_neighbour(struct mr *mr, uint16_t iface, const struct mr_addr *addr)
{
	struct mr_prefix subnet;

	return mr_router_connected(mr, iface, addr, &subnet) == 0 &&
	       mr_router_lookup(mr, addr, 0)->kind != MR_ADJ_BROADCAST;
}

static int check_format(const struct mr_iface *iface, const struct arp_frame *frame)
{
	const struct rte_arp_hdr *arp = &frame->arp;
	const struct rte_ether_addr own = mr_iface_mac(iface);
	const struct rte_ether_addr *to = &frame->ethernet.dst_addr;

	if (arp->arp_hardware != rte_cpu_to_be_16(RTE_ARP_HRD_ETHER) ||
	    arp->arp_protocol != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4) ||
	    arp->arp_hlen != RTE_ETHER_ADDR_LEN || arp->arp_plen != sizeof(uint32_t) ||
	    (arp->arp_opcode != rte_cpu_to_be_16(RTE_ARP_OP_REQUEST) &&
	     arp->arp_opcode != rte_cpu_to_be_16(RTE_ARP_OP_REPLY)))
		return MR_DROP_arp_invalid;
	if (!rte_is_multicast_ether_addr(to) && !rte_is_same_ether_addr(to, &own))
		return MR_DROP_other_host;
	if (!rte_is_valid_assigned_ether_addr(&arp->arp_data.arp_sha) ||
	    !rte_is_same_ether_addr(&arp->arp_data.arp_sha, &frame->ethernet.src_addr))
		return MR_DROP_arp_spoofed;
	if (rte_is_same_ether_addr(&arp->arp_data.arp_sha, &own))
		return MR_DROP_arp_ignored; /* our own frame came back */
	return MR_HOST_CONSUMED;
}

static void answer(struct mr *mr, const struct mr_iface *iface, const struct rte_arp_hdr *request)
{
	send_arp(mr, iface, RTE_ARP_OP_REPLY, &request->arp_data.arp_sha,
		 rte_be_to_cpu_32(request->arp_data.arp_tip), &request->arp_data.arp_sha,
		 rte_be_to_cpu_32(request->arp_data.arp_sip));
	mr->host->stats.arp_replies_sent++;
}

int mr_arp_input(struct mr *mr, const struct mr_iface *iface, const struct rte_mbuf *packet)
{
	const struct arp_frame *frame = rte_pktmbuf_mtod(packet, const struct arp_frame *);
	struct mr_addr sender, target;
	bool is_request, is_for_us;
	uint16_t owner;
	int verdict;

	if (rte_pktmbuf_data_len(packet) < sizeof(*frame))
		return MR_DROP_arp_invalid;
	verdict = check_format(iface, frame);
	if (verdict != MR_HOST_CONSUMED)
		return verdict;

	is_request = frame->arp.arp_opcode == rte_cpu_to_be_16(RTE_ARP_OP_REQUEST);
	if (is_request)
		mr->host->stats.arp_requests_received++;
	else
		mr->host->stats.arp_replies_received++;
	sender = mr_addr_from_ipv4(rte_be_to_cpu_32(frame->arp.arp_data.arp_sip));
	target = mr_addr_from_ipv4(rte_be_to_cpu_32(frame->arp.arp_data.arp_tip));
	is_for_us = mr_router_is_local(mr, &target, &owner) && owner == iface->index;

	if (frame->arp.arp_data.arp_sip == 0) { /* a probe (RFC 5227 2.1): answer, learn nothing */
		if (!is_request)
			return MR_DROP_arp_spoofed;
		if (!is_for_us)
			return MR_DROP_arp_ignored;
		answer(mr, iface, &frame->arp);
		return MR_HOST_CONSUMED;
	}
	if (mr_router_is_local(mr, &sender, &owner))
		return conflict(mr, iface, &sender, owner);
	if (!is_possible_neighbour(mr, iface->index, &sender))
		return MR_DROP_arp_spoofed;
	if (!is_for_us && !mr_addr_equal(&sender, &target)) /* nor gratuitous */
		return MR_DROP_arp_ignored;

	mr_neighbour_seen(mr, iface->index, &sender, &frame->arp.arp_data.arp_sha,
			  is_request && is_for_us);
	if (is_request && is_for_us)
		answer(mr, iface, &frame->arp);
	return MR_HOST_CONSUMED;
}

void mr_arp_solicit(struct mr *mr, uint16_t index, const struct mr_addr *addr,
		    const struct rte_ether_addr *mac)
{
	const struct mr_iface *iface = mr_iface(mr, index);
	struct mr_addr source;

	if (iface == NULL || addr->family != AF_INET ||
	    mr_router_source(mr, index, addr, &source) < 0)
		return;
	send_arp(mr, iface, RTE_ARP_OP_REQUEST, mac != NULL ? mac : &broadcast,
		 mr_addr_ipv4(&source), &unknown_mac, mr_addr_ipv4(addr));
	mr->host->stats.arp_requests_sent++;
}
