/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an interface that went away takes along: routes first, since gateways need their subnet,
 * then neighbours, then addresses. Nothing of that needs memory. It is noted the other way round,
 * in the order in which it can be configured again.
 */
#include "route/neighbour_state.h"
#include "route/router_state.h"

static void note_addresses(struct mr *mr, uint16_t iface, struct mr_lines *lines)
{
	struct mr_prefix address;
	char text[MR_ADDR_TEXT_SIZE];

	for (unsigned i = 0; mr_router_address(mr, iface, i, &address) == 0; i++)
		mr_lines_add(lines, "address add %s port @", mr_prefix_format(&address, text));
}

static void note_neighbours(const struct router_iface *iface, struct mr_lines *lines)
{
	char text[MR_ADDR_TEXT_SIZE], mac[MR_MAC_TEXT_SIZE];
	const struct neighbour *n;

	LIST_FOREACH (n, &iface->neighbours, of_iface)
		if (n->state == NEIGHBOUR_PERMANENT)
			mr_lines_add(lines, "neighbour add %s mac %s port @",
				     ipv4_text(n->ipv4, text), mr_mac_format(&n->mac, mac));
}

static void delete_neighbours(struct mr *mr, struct router_iface *iface)
{
	struct neighbour *n;

	while ((n = LIST_FIRST(&iface->neighbours)) != NULL)
		neighbour_remove(mr, n);
	neighbours_report(mr);
}

void mr_router_withdraw(struct mr *mr, uint16_t index, struct mr_lines *lines)
{
	struct router_iface *iface = index < MR_MAX_IFACES ? mr->router->iface[index] : NULL;
	struct mr_prefix address;

	if (iface != NULL) {
		note_addresses(mr, index, lines);
		note_neighbours(iface, lines);
		static_routes_withdraw(mr, index, lines);
		delete_neighbours(mr, iface);
		while (mr_router_address(mr, index, 0, &address) == 0 &&
		       mr_address_del(mr, &address, index, NULL) == 0)
			;
	}
	neighbours_forget_arrival(mr, index);
}
