/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PORT_XSTATS_H
#define MR_PORT_XSTATS_H

#include <jansson.h>

#include "port/port.h"

/* The device's own counters since the last clear as {"name": value}; with nonzero, only those.
 * Returns a new reference or NULL with error set. Control thread. */
json_t *mr_port_xstats(const struct mr_port *port, bool nonzero, struct mr_error *error);

/* Counts from now. Devices keep counting: the values of this moment become what is subtracted. */
int mr_port_xstats_clear(struct mr_port *port, struct mr_error *error);

#endif
