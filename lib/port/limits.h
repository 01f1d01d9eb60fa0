/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PORT_LIMITS_H
#define MR_PORT_LIMITS_H

#include <rte_ethdev.h>

#include "port/port.h"
#include "port/profile.h"

#define MR_DEFAULT_MBUF_SIZE (RTE_PKTMBUF_HEADROOM + 2048)

/* Refuses options that no device could satisfy. Returns 0 or -EINVAL with error set. */
int mr_port_options_check(const struct mr_port_options *options, struct mr_error *error);

/* Decides a port's queues, descriptors, burst, offloads and largest MTU from what was asked for,
 * what the profile knows and what the device says. Pure: touches no device. What a person asked
 * for and does not get is logged as a warning that names port, wanted and allowed. port->id and
 * label are set already. Returns 0 or -EINVAL with error set. */
int mr_port_limit(struct mr_port *port, const struct rte_eth_dev_info *info,
		  const struct mr_profile *profile, const struct mr_port_options *options,
		  unsigned lcores, struct mr_error *error);

#endif
