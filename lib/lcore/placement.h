/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_PLACEMENT_H
#define MR_LCORE_PLACEMENT_H

#include <stdint.h>

#include "port/port.h"

/*
 * Which lcore polls which rx queue, and which owns which tx queue: a pure function of ports and
 * lcores, the same on every call.
 */
#define MR_MAX_LCORES 64 /* that forward */
#define MR_NO_LCORE UINT8_MAX

struct mr_placement_port {
	uint16_t port; /* below RTE_MAX_ETHPORTS */
	int socket;
	uint16_t rxq, txq;     /* 1..MR_MAX_QUEUES each */
	const uint8_t *pinned; /* by rx queue: the lcore that polls it whatever the others do, or
				  MR_NO_LCORE; NULL: none is pinned */
	uint64_t workers;      /* lcores that share what arrives; 0: those that poll carry it on */
	uint32_t feeds;        /* ports on which what arrives may leave; 0: all others */
};

/* By lcore index, 0.. */
struct mr_placement {
	uint8_t rx_lcore[RTE_MAX_ETHPORTS]
			[MR_MAX_QUEUES]; /* polls it; MR_NO_LCORE: no such queue */
	uint8_t tx_owner[RTE_MAX_ETHPORTS][MR_MAX_QUEUES]; /* sends on it; MR_NO_LCORE: nobody */
	uint8_t tx_queue[MR_MAX_LCORES][RTE_MAX_ETHPORTS]; /* where the packets of an lcore leave;
							      UINT8_MAX: port not placed */
	uint8_t home[RTE_MAX_ETHPORTS]; /* owns a tx queue of the port: the control thread's frames
					   leave through it; MR_NO_LCORE: port not placed */
};

/* sockets: of the lcore_count (1..MR_MAX_LCORES) lcores; SOCKET_ID_ANY is near to every port. */
void mr_placement_compute(struct mr_placement *placement, const struct mr_placement_port *ports,
			  unsigned port_count, const int *sockets, unsigned lcore_count);

#endif
