/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive: pinned queues first. Of the others, every lcore takes as many as bring it to one level,
 * and some one more, so that loads differ by at most one (and by more only through pins). Queues
 * first go to lcores of their port's NUMA node as far as those shares allow, then wherever there is
 * room: balance is law, nearness a wish.
 *
 * Transmit: a port with a queue for each lcore gives each its own. Otherwise its queues go to the
 * lcores that will send most on it, as far as that can be known: what leaves a port came in on
 * another. So of two ports with an lcore each, each lcore owns the other one's tx queue, and
 * nothing is handed over. Then near ones, then those that own least; the other lcores hand their
 * packets over, spread over the owners.
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

struct ports {
	const struct mr_placement_port *port;
	unsigned count;
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

static void place_pinned(struct mr_placement *placement, struct lcore_load *load,
			 const struct mr_placement_port *ports, unsigned port_count)
{
	for (unsigned p = 0; p < port_count; p++)
		for (unsigned q = 0; ports[p].pinned != NULL && q < ports[p].rxq; q++) {
			uint8_t lcore = ports[p].pinned[q];

			if (lcore == MR_NO_LCORE)
				continue;
			placement->rx_lcore[ports[p].port][q] = lcore;
			load[lcore].rx++;
		}
}

/* The highest level to which so many queues can bring all lcores that are below it. */
static struct shares level(const struct lcore_load *load, unsigned lcore_count, unsigned queues)
{
	struct shares shares = {0};

	while (true) {
		unsigned below = 0;

		for (unsigned i = 0; i < lcore_count; i++)
			below += load[i].rx <= shares.each;
		if (below > queues)
			break;
		queues -= below;
		shares.each++;
	}
	shares.extra = queues;
	return shares;
}

static void place_rx(struct mr_placement *placement, struct lcore_load *load,
		     const struct mr_placement_port *ports, unsigned port_count, const int *sockets,
		     unsigned lcore_count)
{
	struct shares shares;
	unsigned queues = 0;

	place_pinned(placement, load, ports, port_count);
	for (unsigned p = 0; p < port_count; p++)
		for (unsigned q = 0; q < ports[p].rxq; q++)
			queues += placement->rx_lcore[ports[p].port][q] == MR_NO_LCORE;
	shares = level(load, lcore_count, queues);

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

/* What an lcore carries on of what arrives on a port. Of two workers the one that polls, too, has
 * more to do already. */
static unsigned carried(const struct mr_placement *placement, const struct mr_placement_port *port,
			unsigned lcore)
{
	unsigned polled = queues_polled(placement, port, lcore);

	if (port->workers == 0)
		return 4 * polled;
	return (port->workers >> lcore & 1) == 0 ? 0 : polled != 0 ? 2 : 3;
}

/* What an lcore will send on a port, as far as is known. */
static unsigned sends_on(const struct ports *all, const struct mr_placement *placement,
			 uint16_t port, unsigned lcore)
{
	unsigned sum = 0;

	for (unsigned p = 0; p < all->count; p++) {
		const struct mr_placement_port *from = &all->port[p];

		if (from->feeds != 0 ? (from->feeds >> port & 1) != 0 : from->port != port)
			sum += carried(placement, from, lcore);
	}
	return sum;
}

/* Whether lcore a should own a tx queue of the port rather than lcore b. */
static bool is_better_owner(const struct ports *all, const struct mr_placement *placement,
			    const struct lcore_load *load, const struct mr_placement_port *port,
			    const int *sockets, unsigned a, unsigned b)
{
	unsigned sent_a = sends_on(all, placement, port->port, a);
	unsigned sent_b = sends_on(all, placement, port->port, b);
	bool near_a = is_near(sockets[a], port->socket), near_b = is_near(sockets[b], port->socket);

	if (sent_a != sent_b)
		return sent_a > sent_b;
	if (near_a != near_b)
		return near_a;
	if (load[a].tx != load[b].tx)
		return load[a].tx < load[b].tx;
	return a < b;
}

static unsigned best_owner(const struct ports *all, const struct mr_placement *placement,
			   const struct lcore_load *load, const struct mr_placement_port *port,
			   const int *sockets, unsigned lcore_count, uint64_t taken)
{
	unsigned best = lcore_count;

	for (unsigned i = 0; i < lcore_count; i++)
		if (!(taken & UINT64_C(1) << i) &&
		    (best == lcore_count ||
		     is_better_owner(all, placement, load, port, sockets, i, best)))
			best = i;
	return best;
}

static void place_tx(const struct ports *all, struct mr_placement *placement,
		     struct lcore_load *load, const struct mr_placement_port *port,
		     const int *sockets, unsigned lcore_count)
{
	unsigned owners = RTE_MIN(port->txq, lcore_count);
	uint64_t taken = 0; /* lcores that own a queue of this port */
	unsigned next = 0;

	for (unsigned q = 0; q < owners; q++) {
		/* With a queue for each, lcore i owns queue i, whatever it polls. */
		unsigned owner = port->txq >= lcore_count ? q
							  : best_owner(all, placement, load, port,
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

/* The control thread's frames leave as those of the lcore that polls the port do: then its answers
 * and forwarded packets share one way. */
static void place_home(struct mr_placement *placement, const struct mr_placement_port *port)
{
	uint8_t poller = placement->rx_lcore[port->port][0];
	uint8_t queue = placement->tx_queue[poller][port->port];

	placement->home[port->port] = placement->tx_owner[port->port][queue];
}

void mr_placement_compute(struct mr_placement *placement, const struct mr_placement_port *ports,
			  unsigned port_count, const int *sockets, unsigned lcore_count)
{
	const struct ports all = {.port = ports, .count = port_count};
	struct lcore_load load[MR_MAX_LCORES] = {{0}};

	/* All ones is MR_NO_LCORE and "no queue" alike. */
	memset(placement, 0xff, sizeof(*placement));
	place_rx(placement, load, ports, port_count, sockets, lcore_count);
	for (unsigned p = 0; p < port_count; p++) {
		place_tx(&all, placement, load, &ports[p], sockets, lcore_count);
		place_home(placement, &ports[p]);
	}
}
