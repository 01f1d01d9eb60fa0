/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_STEERING_CMD_H
#define MR_LCORE_STEERING_CMD_H

#include "base/cmd.h"

/* Commands that decide which lcore does what: moving queues, spreading ports, rebalancing. */
extern const struct mr_cmd mr_steering_cmds[];

/* How ports are served, for `show config cores`: an array, one object a port. */
json_t *mr_report_served(struct mr *mr);

#endif
