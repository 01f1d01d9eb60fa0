/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive: with Q queues and L lcores, Q mod L lcores poll one queue more than the others, so that
 * loads differ by at most one. Queues first go to lcores of their port's NUMA node as far as those
 * shares allow, then wherever there is room: balance is law, nearness a wish.
 *
 * Transmit: a port with a queue for each lcore gives each its own. Otherwise its queues go to the
 * lcores that poll most of the port (their answers need no hand-over), then to near ones, then to
 * those that own least; the other lcores hand their packets over, spread over the owners.
 */
#include "lcore/placement.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include <rte_common.h>
#include <rte_memory.h>

static_assert(MR_MAX_LCORES <= 64, "a set of lcores is a uint64_t");

struct lcore_load {
	unsigned rx, tx; /* queues so far */
};

static bool is_near(int socket, int port_socket)
{
	return socket == port_socket || socket == SOCKET_ID_ANY;
}

/* The shares that are left: every lcore takes `each` queues, and `extra` of them one more. */
struct shares {
	unsigned each, extra;
};

static int least_loaded(const struct lcore_load *load, const struct shares *shares,
			const int *sockets, unsigned lcore_count, const int *port_socket)
{
	int best = -1;

	for (unsigned i = 0; i < lcore_count; i++) {
		bool has_room = load[i].rx < shares->each ||
				(load[i].rx == shares->each && shares->extra > 0);

		if (!has_room || (port_socket != NULL && !is_near(sockets[i], *port_socket)))
			continue;
		if (best < 0 || load[i].rx < load[best].rx)
			best = (int)i;
	}
	return best;
}

static void place_rx(struct mr_placement *placement, struct lcore_load *load,
		     const struct mr_placement_port *ports, unsigned port_count, const int *sockets,
		     unsigned lcore_count)
{
	struct shares shares;
	unsigned queues = 0;

	for (unsigned p = 0; p < port_count; p++)
		queues += ports[p].rxq;
	shares = (struct shares){.each = queues / lcore_count, .extra = queues % lcore_count};

	for (int near_only = 1; near_only >= 0; near_only--)
		for (unsigned p = 0; p < port_count; p++)
			for (unsigned q = 0; q < ports[p].rxq; q++) {
				uint8_t *lcore = &placement->rx_lcore[ports[p].port][q];
				int best;

				if (*lcore != MR_NO_LCORE)
					continue;
				best = least_loaded(load, &shares, sockets, lcore_count,
						    near_only ? &ports[p].socket : NULL);
				if (best < 0)
					continue;
				if (load[best].rx == shares.each)
					shares.extra--;
				load[best].rx++;
				*lcore = (uint8_t)best;
			}
}

static unsigned queues_polled(const struct mr_placement *placement,
			      const struct mr_placement_port *port, unsigned lcore)
{
	unsigned n = 0;

	for (unsigned q = 0; q < port->rxq; q++)
		n += placement->rx_lcore[port->port][q] == lcore;
	return n;
}

/* Whether lcore a should own a tx queue of the port rather than lcore b. */
static bool is_better_owner(const struct mr_placement *placement, const struct lcore_load *load,
			    const struct mr_placement_port *port, const int *sockets, unsigned a,
			    unsigned b)
{
	unsigned polled_a = queues_polled(placement, port, a);
	unsigned polled_b = queues_polled(placement, port, b);
	bool near_a = is_near(sockets[a], port->socket), near_b = is_near(sockets[b], port->socket);

	if (polled_a != polled_b)
		return polled_a > polled_b;
	if (near_a != near_b)
		return near_a;
	if (load[a].tx != load[b].tx)
		return load[a].tx < load[b].tx;
	return a < b;
}

static unsigned best_owner(const struct mr_placement *placement, const struct lcore_load *load,
			   const struct mr_placement_port *port, const int *sockets,
			   unsigned lcore_count, uint64_t taken)
{
	unsigned best = lcore_count;

	for (unsigned i = 0; i < lcore_count; i++)
		if (!(taken & UINT64_C(1) << i) &&
		    (best == lcore_count ||
		     is_better_owner(placement, load, port, sockets, i, best)))
			best = i;
	return best;
}

static void place_tx(struct mr_placement *placement, struct lcore_load *load,
		     const struct mr_placement_port *port, const int *sockets, unsigned lcore_count)
{
	unsigned owners = RTE_MIN(port->txq, lcore_count);
	uint64_t taken = 0; /* lcores that own a queue of this port */
	unsigned next = 0;

	for (unsigned q = 0; q < owners; q++) {
		/* With a queue for each, lcore i owns queue i, whatever it polls. */
		unsigned owner = port->txq >= lcore_count ? q
							  : best_owner(placement, load, port,
								       sockets, lcore_count, taken);

		taken |= UINT64_C(1) << owner;
		load[owner].tx++;
		placement->tx_owner[port->port][q] = (uint8_t)owner;
		placement->tx_queue[owner][port->port] = (uint8_t)q;
	}
	for (unsigned i = 0; i < lcore_count; i++)
		if (!(taken & UINT64_C(1) << i))
			placement->tx_queue[i][port->port] = (uint8_t)(next++ % owners);
}

/* The control thread's frames leave through the lcore that polls the port, when it owns a queue:
 * then answers and forwarded packets share one way. */
static void place_home(struct mr_placement *placement, const struct mr_placement_port *port)
{
	uint8_t poller = placement->rx_lcore[port->port][0];
	uint8_t queue = placement->tx_queue[poller][port->port];

	placement->home[port->port] = placement->tx_owner[port->port][queue];
}

void mr_placement_compute(struct mr_placement *placement, const struct mr_placement_port *ports,
			  unsigned port_count, const int *sockets, unsigned lcore_count)
{
	struct lcore_load load[MR_MAX_LCORES] = {{0}};

	/* All ones is MR_NO_LCORE and "no queue" alike. */
	memset(placement, 0xff, sizeof(*placement));
	place_rx(placement, load, ports, port_count, sockets, lcore_count);
	for (unsigned p = 0; p < port_count; p++) {
		place_tx(placement, load, &ports[p], sockets, lcore_count);
		place_home(placement, &ports[p]);
	}
}
