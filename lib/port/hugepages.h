/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PORT_HUGEPAGES_H
#define MR_PORT_HUGEPAGES_H

#include <stdint.h>

#include "base/error.h"

/* Refuses with -ENOMEM: what could not get bytes of memory on a NUMA node, how many hugepages
 * that would take and the command that reserves them. */
int mr_hugepages_refuse(struct mr_error *error, const char *what, uint64_t bytes, int socket);

#endif
