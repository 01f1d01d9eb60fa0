/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PORT_CARRIER_H
#define MR_PORT_CARRIER_H

#include "port/ports.h"

/*
 * The kernel interfaces that ports are bound to: their carrier, for ports whose driver does not
 * know it (kernel_link), and whether they are still there. Listens to rtnetlink without blocking.
 * Control thread.
 */

/* Follows the interface that a port is bound to, if it is bound to one (kernel_index). Returns 0 or
 * a negative errno with error set. */
int mr_carrier_follow(struct mr_ports *ports, const struct mr_port *port, struct mr_error *error);
/* Follows it no more: the port goes away. */
void mr_carrier_forget(struct mr_ports *ports, const struct mr_port *port);
void mr_carrier_destroy(struct mr_ports *ports);

/* Takes in what the kernel has said since the last call. */
void mr_carrier_poll(struct mr_carrier *carrier);

/* Whether the kernel interface of that index is up and has a carrier. An index that the kernel
 * never mentioned, or has removed, has none. */
bool mr_carrier_up(const struct mr_carrier *carrier, unsigned kernel_index);

/* Ports whose interface was deleted since they were followed, as a mask. One that was moved to
 * another namespace was not: it may come back. */
uint32_t mr_carrier_deleted(const struct mr_carrier *carrier);

#endif
