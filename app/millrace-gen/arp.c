/* SPDX-License-Identifier: BSD-3-Clause */
#include "arp.h"

#include <string.h>
#include <sys/socket.h>

#include <rte_arp.h>
#include <rte_ether.h>

/* Finds the ARP header of a frame of the station's VLAN; sets *other for ARP of another one. */
static struct rte_arp_hdr *find(const struct arp_station *station, uint8_t *frame, uint16_t length,
				bool *other)
{
	struct rte_ether_hdr *ether = (struct rte_ether_hdr *)frame;
	rte_be16_t type = ether->ether_type;
	size_t at = sizeof(*ether);
	uint16_t vlan = 0;

	*other = false;
	if (length < at + sizeof(struct rte_vlan_hdr) + sizeof(struct rte_arp_hdr))
		return NULL; /* an ARP frame is padded to more than that */
	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN)) {
		const struct rte_vlan_hdr *tag = (const struct rte_vlan_hdr *)(frame + at);
		vlan = rte_be_to_cpu_16(tag->vlan_tci) & 0xfff;
		type = tag->eth_proto;
		at += sizeof(*tag);
	}
	struct rte_arp_hdr *arp = (struct rte_arp_hdr *)(frame + at);
	if (type != rte_cpu_to_be_16(RTE_ETHER_TYPE_ARP))
		return NULL;
	*other =
		vlan != station->vlan || arp->arp_protocol != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	return arp;
}

static struct mr_addr ipv4_of(rte_be32_t octets)
{
	return mr_addr_from_ipv4(rte_be_to_cpu_32(octets));
}

static void answer(const struct arp_station *station, struct rte_ether_hdr *ether,
		   struct rte_arp_hdr *arp, uint32_t index)
{
	rte_be32_t asked = arp->arp_data.arp_tip;

	arp->arp_opcode = rte_cpu_to_be_16(RTE_ARP_OP_REPLY);
	arp->arp_data.arp_tha = arp->arp_data.arp_sha;
	arp->arp_data.arp_tip = arp->arp_data.arp_sip;
	mac_from_number(station->mac.first + index % station->mac.count, &arp->arp_data.arp_sha);
	arp->arp_data.arp_sip = asked;
	ether->dst_addr = ether->src_addr;
	ether->src_addr = arp->arp_data.arp_sha;
}

enum arp_result arp_input(struct arp_station *station, uint8_t *frame, uint16_t length)
{
	bool other;
	struct rte_arp_hdr *arp = find(station, frame, length, &other);

	if (arp == NULL)
		return ARP_NONE;
	if (other)
		return ARP_TAKEN;
	struct mr_addr sender = ipv4_of(arp->arp_data.arp_sip);
	struct mr_addr target = ipv4_of(arp->arp_data.arp_tip);
	if (arp->arp_opcode == rte_cpu_to_be_16(RTE_ARP_OP_REPLY)) {
		if (station->gateway.family == AF_INET &&
		    mr_addr_equal(&sender, &station->gateway)) {
			station->gateway_mac = mac_to_number(&arp->arp_data.arp_sha);
			station->resolved = true;
		}
		return ARP_TAKEN;
	}
	/* Who asks for the address that it has announces it. */
	int32_t index = addr_range_find(&station->addr, &target);
	if (arp->arp_opcode != rte_cpu_to_be_16(RTE_ARP_OP_REQUEST) || index < 0 ||
	    mr_addr_equal(&sender, &target))
		return ARP_TAKEN;
	answer(station, (struct rte_ether_hdr *)frame, arp, (uint32_t)index);
	return ARP_REPLY;
}

void arp_request(const struct arp_station *station, uint32_t index, const struct mr_addr *target,
		 uint8_t *frame)
{
	struct rte_ether_hdr *ether = (struct rte_ether_hdr *)frame;
	rte_be16_t type = rte_cpu_to_be_16(RTE_ETHER_TYPE_ARP);
	uint8_t *at = (uint8_t *)(ether + 1);

	memset(frame, 0, ARP_FRAME_LENGTH);
	memset(&ether->dst_addr, 0xff, sizeof(ether->dst_addr));
	mac_from_number(station->mac.first + index % station->mac.count, &ether->src_addr);
	if (station->vlan != 0) {
		struct rte_vlan_hdr *tag = (struct rte_vlan_hdr *)at;
		tag->vlan_tci = rte_cpu_to_be_16(station->vlan);
		tag->eth_proto = type;
		type = rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN);
		at += sizeof(*tag);
	}
	ether->ether_type = type;
	struct rte_arp_hdr arp = {
		.arp_hardware = rte_cpu_to_be_16(RTE_ARP_HRD_ETHER),
		.arp_protocol = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4),
		.arp_hlen = RTE_ETHER_ADDR_LEN,
		.arp_plen = sizeof(rte_be32_t),
		.arp_opcode = rte_cpu_to_be_16(RTE_ARP_OP_REQUEST),
		.arp_data.arp_sha = ether->src_addr,
		.arp_data.arp_sip = rte_cpu_to_be_32(mr_addr_ipv4(&station->addr.first) + index),
		.arp_data.arp_tip = rte_cpu_to_be_32(mr_addr_ipv4(target)),
	};
	memcpy(at, &arp, sizeof(arp));
}
