/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PORT_CARRIER_H
#define MR_PORT_CARRIER_H

#include "port/ports.h"

/*
 * The carrier of kernel interfaces, for ports whose driver does not know it (kernel_link). Listens
 * to rtnetlink without blocking. Control thread.
 */

/* Does nothing if no port needs it. Returns 0 or a negative errno with error set. */
int mr_carrier_create(struct mr_ports *ports, struct mr_error *error);
void mr_carrier_destroy(struct mr_ports *ports);

/* Takes in what the kernel has said since the last call. */
void mr_carrier_poll(struct mr_carrier *carrier);

/* Whether the kernel interface of that index is up and has a carrier. An index that the kernel
 * never mentioned, or has removed, has none. */
bool mr_carrier_up(const struct mr_carrier *carrier, unsigned kernel_index);

#endif
