/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the appliance sends goes the way of any other packet: longest prefix match, next hop,
 * neighbour. It never goes back to the MAC that a frame came from just because it came from there:
 * the way back may be another one, and a frame's source is the easiest thing to forge.
 *
 * Datagrams are made in flat memory and copied into buffers, which costs a copy of what is short
 * and rare, and spares every maker of packets the chains of buffers that long ones would need.
 */
#include "host/output.h"

#include <errno.h>
#include <string.h>

#include <rte_ether.h>

#include "host/context.h"
#include "host/fragment.h"
#include "lcore/lcores.h"
#include "packet/punt.h"
#include "port/port.h"
#include "route/neighbour.h"
#include "route/router.h"

bool mr_adjacency_leads_out(const struct mr_adjacency *adjacency)
{
	return adjacency->kind == MR_ADJ_FORWARD || adjacency->kind == MR_ADJ_RESOLVE ||
	       adjacency->kind == MR_ADJ_CONNECTED;
}

const struct mr_adjacency *mr_host_route(struct mr *mr, uint32_t destination)
{
	struct mr_addr addr = mr_addr_from_ipv4(destination);
	const struct mr_adjacency *adjacency = mr_router_lookup(mr, &addr, 0);

	return mr_adjacency_leads_out(adjacency) ? adjacency : NULL;
}

/* Gives a packet, which starts with room for an Ethernet header, to its next hop. */
static void deliver(struct mr *mr, const struct mr_adjacency *adjacency, uint16_t arrival,
		    struct rte_mbuf *packet)
{
	struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(packet, struct rte_ether_hdr *);

	if (adjacency->kind == MR_ADJ_FORWARD) {
		memcpy(ethernet, adjacency->header, sizeof(adjacency->header));
		mr_inject(mr, adjacency->iface, packet);
		return;
	}
	memset(ethernet, 0, sizeof(*ethernet));
	ethernet->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	*mr_punt_of(packet) = (struct mr_punt){
		.iface = arrival,
		.kind = MR_PUNT_ORIGINATED,
		.next_hop = adjacency->next_hop,
	};
	mr_neighbour_hold(mr, packet);
}

/* Returns the number of packets sent, 0 if there were not enough buffers for all of them. */
static unsigned send_fragments(struct mr *mr, const struct mr_adjacency *adjacency,
			       uint16_t arrival, const struct rte_ipv4_hdr *ip)
{
	struct mr_host *host = mr->host;
	/* The neighbour's state may change under the first fragment. */
	const struct mr_adjacency way = *adjacency;
	unsigned count = mr_ipv4_fragment(ip, way.mtu, mr_ports_host_pool(mr), host->fragment,
					  MR_MAX_FRAGMENTS);

	if (count > 1) {
		mr_count(&mr->lcores->control->copied, count - 1);
		host->stats.packets_fragmented++;
	}
	for (unsigned i = 0; i < count; i++)
		deliver(mr, &way, arrival, host->fragment[i]);
	return count;
}

int mr_host_send_fragments(struct mr *mr, const struct mr_adjacency *adjacency, uint16_t arrival,
			   const struct rte_ipv4_hdr *ip)
{
	return send_fragments(mr, adjacency, arrival, ip) > 0 ? 0 : -ENOBUFS;
}

void mr_host_send(struct mr *mr, const struct mr_adjacency *adjacency, uint16_t arrival,
		  struct rte_ipv4_hdr *ip)
{
	struct mr_counters *counters = mr->lcores->control;

	ip->packet_id = rte_cpu_to_be_16(mr->host->next_id++);
	ip->fragment_offset = 0;
	mr_count(&counters->originated, 1);
	if (send_fragments(mr, adjacency, arrival, ip) == 0)
		mr_count(&counters->drop[mr_host_port(mr, adjacency->iface)][MR_DROP_no_mbuf], 1);
}
