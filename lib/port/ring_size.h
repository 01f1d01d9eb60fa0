/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PORT_RING_SIZE_H
#define MR_PORT_RING_SIZE_H

#include <rte_ethdev.h>

#include "port/port.h"

/* Warns when an rx ring holds less than may come while an lcore sleeps, and when --rxd has no
 * effect on it. port->rxd is decided already. */
void mr_port_check_ring_size(const struct mr_port *port, const struct rte_eth_dev_info *info,
			     const struct mr_port_options *options);

#endif
