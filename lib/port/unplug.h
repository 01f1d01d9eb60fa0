/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PORT_UNPLUG_H
#define MR_PORT_UNPLUG_H

#include "port/ports.h"

/*
 * Noticing that a device is gone (mr_ports_unplugged tells which). Control thread.
 */

/* Starts to listen to what EAL and drivers report; nothing is required to work. */
void mr_unplug_watch(struct mr_ports *ports);
void mr_unplug_unwatch(struct mr_ports *ports);

/* Prepares for one port's device to be pulled out; asks its driver whether it was; and ends what is
 * known of a port that is being closed. */
void mr_unplug_watch_port(struct mr_ports *ports, const struct mr_port *port);
void mr_unplug_poll_port(struct mr_ports *ports, const struct mr_port *port);
void mr_unplug_forget_port(struct mr_ports *ports, const struct mr_port *port);

#endif
