/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PORT_ABANDON_H
#define MR_PORT_ABANDON_H

#include "port/ports.h"

/* Ports whose device is gone, while they are being closed (mr_port_abandon). Control thread. */

/* Ends those that are closed by now. */
void mr_abandoned_poll(struct mr_ports *ports);

/* Waits for all and ends them. */
void mr_abandoned_finish(struct mr_ports *ports);

/* Whether a port number is that of such a port. */
bool mr_port_is_abandoned(const struct mr_ports *ports, uint16_t id);

#endif
