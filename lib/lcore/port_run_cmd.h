/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_PORT_RUN_CMD_H
#define MR_LCORE_PORT_RUN_CMD_H

#include "base/cmd.h"

/* Commands and queries about ports that need the forwarding lcores: start, stop, statistics. */
extern const struct mr_cmd mr_port_run_cmds[];
extern const struct mr_query mr_port_run_queries[];

#endif
