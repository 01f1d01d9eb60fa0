/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that wait for a neighbour's MAC (RFC 1122 2.3.2.2 wants at least the latest one kept).
 * Where a packet goes is looked up anew rather than taken from what the lcore knew: addresses and
 * routes may have changed while it was on its way, and a next hop's index may mean another one.
 */
#include <rte_ip.h>

#include "lcore/lcores.h"
#include "packet/punt.h"
#include "route/neighbour_state.h"
#include "route/route_rewrite_fwd.h"

static uint16_t drop_port(struct mr *mr, uint16_t iface)
{
	const struct mr_iface *state = mr_iface(mr, iface);

	return state != NULL ? state->port : MR_PORT_NONE;
}

static void tell_unreachable(struct mr *mr, struct rte_mbuf *m)
{
	uint16_t iface = mr_punt_of(m)->iface;

	if (mr->router->neighbours->unreachable != NULL)
		mr->router->neighbours->unreachable(mr, iface, m);
	else
		mr_control_drop(mr, drop_port(mr, iface), MR_DROP_neighbour_unreachable, m);
}

static struct rte_ipv4_hdr *ip_header(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
}

static bool has_ip_packet(struct rte_mbuf *m)
{
	unsigned room = m->data_len, total_length;

	if (room < RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr))
		return false;
	total_length = rte_be_to_cpu_16(ip_header(m)->total_length);
	return total_length + RTE_ETHER_HDR_LEN <= room;
}

/* One of the appliance's own is ready but for its Ethernet header, and was made to fit. */
static void send_originated(struct mr *mr, struct rte_mbuf *m, const struct mr_adjacency *adjacency)
{
	memcpy(rte_pktmbuf_mtod(m, void *), adjacency->header, sizeof(adjacency->header));
	mr_inject(mr, adjacency->iface, m);
}

/* Sends a packet by an adjacency that forwards. */
static void send_on(struct mr *mr, struct rte_mbuf *m, const struct mr_adjacency *adjacency)
{
	unsigned total_length = rte_be_to_cpu_16(ip_header(m)->total_length);
	struct neighbours *neighbours = mr->router->neighbours;

	if (mr_punt_of(m)->kind == MR_PUNT_ORIGINATED) {
		send_originated(mr, m, adjacency);
		return;
	}
	if (ip_header(m)->time_to_live <= 1) {
		mr_control_drop(mr, drop_port(mr, adjacency->iface), MR_DROP_ttl_exceeded, m);
		return;
	}
	if (total_length > adjacency->mtu) {
		struct mr_punt *punt = mr_punt_of(m);

		punt->kind = MR_PUNT_TOO_BIG;
		punt->next_hop = adjacency->next_hop;
		if (neighbours->too_big != NULL)
			neighbours->too_big(mr, m);
		else
			mr_control_drop(mr, drop_port(mr, adjacency->iface),
					MR_DROP_fragmentation_failed, m);
		return;
	}
	mr_route_rewrite(m, adjacency, RTE_ETHER_HDR_LEN + total_length);
	mr_inject(mr, adjacency->iface, m);
}

static struct rte_mbuf *take_oldest(struct mr *mr, struct neighbour *n)
{
	struct rte_mbuf *m = n->held[n->held_first];

	n->held_first = (n->held_first + 1) % NEIGHBOUR_HOLD_MAX;
	n->held_count--;
	mr->router->neighbours->held--;
	return m;
}

static void drop_oldest(struct mr *mr, struct neighbour *n)
{
	mr_control_drop(mr, drop_port(mr, n->iface), MR_DROP_neighbour_queue_full,
			take_oldest(mr, n));
}

static void queue(struct mr *mr, struct neighbour *n, struct rte_mbuf *m)
{
	struct neighbours *neighbours = mr->router->neighbours;
	struct neighbour *longest;

	if (n->held_count == NEIGHBOUR_HOLD_MAX)
		drop_oldest(mr, n);
	if (neighbours->held == NEIGHBOURS_HELD_MAX) {
		/* Whoever has waited longest is the least likely to answer. */
		TAILQ_FOREACH (longest, &neighbours->all, all)
			if (longest->held_count != 0)
				break;
		drop_oldest(mr, longest);
	}
	n->held[(n->held_first + n->held_count) % NEIGHBOUR_HOLD_MAX] = m;
	n->held_count++;
	neighbours->held++;
}

static void hold_for(struct mr *mr, struct neighbour *n, struct rte_mbuf *m)
{
	if (!neighbour_usable(mr, n)) {
		tell_unreachable(mr, m);
		return;
	}
	if (neighbour_resolved(n)) {
		struct mr_adjacency adjacency = neighbour_adjacency(mr, n);

		send_on(mr, m, &adjacency);
		return;
	}
	queue(mr, n, m);
	if (n->state == NEIGHBOUR_UNKNOWN)
		neighbour_start(mr, n);
}

/* Whether a packet waits for its own destination, which is connected. */
static void hold_for_connected(struct mr *mr, uint16_t iface, uint32_t destination,
			       struct rte_mbuf *m)
{
	struct neighbour *n = neighbour_find(mr, iface, destination);

	if (n == NULL && !iface_is_up(mr, iface)) {
		tell_unreachable(mr, m);
		return;
	}
	if (n == NULL)
		n = neighbour_create(mr, iface, destination);
	if (n == NULL)
		mr_control_drop(mr, drop_port(mr, iface), MR_DROP_neighbour_queue_full, m);
	else
		hold_for(mr, n, m);
}

void mr_neighbour_hold(struct mr *mr, struct rte_mbuf *m)
{
	struct mr_router *router = mr->router;
	const struct mr_adjacency *adjacency;
	uint16_t port = drop_port(mr, mr_punt_of(m)->iface);
	uint32_t destination;

	if (!has_ip_packet(m)) {
		mr_control_drop(mr, port, MR_DROP_truncated, m);
		return;
	}
	destination = rte_be_to_cpu_32(ip_header(m)->dst_addr);
	adjacency = mr_adjacency_load(router->fwd,
				      mr_ipv4_table_lookup(router->table, destination, NULL));
	adjacency = mr_adjacency_path(router->fwd, adjacency, m);
	switch (adjacency->kind) {
	case MR_ADJ_FORWARD:
		send_on(mr, m, adjacency);
		break;
	case MR_ADJ_CONNECTED:
		hold_for_connected(mr, adjacency->iface, destination, m);
		break;
	case MR_ADJ_RESOLVE:
		hold_for(mr, next_hop_object(router->hops, adjacency->next_hop), m);
		break;
	case MR_ADJ_UNREACHABLE:
		tell_unreachable(mr, m);
		break;
	default: /* the route changed while the packet was on its way */
		mr_control_drop(mr, port, MR_DROP_no_route, m);
	}
}

uint64_t mr_neighbour_held(struct mr *mr)
{
	return mr->router->neighbours->held + mr->router->neighbours->undeliverable_count;
}

void neighbour_release_held(struct mr *mr, struct neighbour *n)
{
	struct mr_adjacency adjacency = neighbour_adjacency(mr, n);

	while (n->held_count > 0)
		send_on(mr, take_oldest(mr, n), &adjacency);
}

void neighbour_drop_held(struct mr *mr, struct neighbour *n)
{
	while (n->held_count > 0)
		drop_oldest(mr, n);
}

void neighbour_give_up_held(struct mr *mr, struct neighbour *n)
{
	struct neighbours *neighbours = mr->router->neighbours;

	while (n->held_count > 0) {
		if (neighbours->undeliverable_count == NEIGHBOURS_HELD_MAX)
			drop_oldest(mr, n);
		else
			neighbours->undeliverable[neighbours->undeliverable_count++] =
				take_oldest(mr, n);
	}
}

void neighbours_report(struct mr *mr)
{
	struct neighbours *neighbours = mr->router->neighbours;

	for (unsigned i = 0; i < neighbours->undeliverable_count; i++)
		tell_unreachable(mr, neighbours->undeliverable[i]);
	neighbours->undeliverable_count = 0;
}

void neighbours_forget_arrival(struct mr *mr, uint16_t iface)
{
	struct neighbour *n;

	TAILQ_FOREACH (n, &mr->router->neighbours->all, all)
		for (unsigned i = 0; i < n->held_count; i++) {
			struct rte_mbuf *m = n->held[(n->held_first + i) % NEIGHBOUR_HOLD_MAX];

			if (mr_punt_of(m)->iface == iface)
				mr_punt_of(m)->iface = MR_IFACE_NONE;
		}
}
