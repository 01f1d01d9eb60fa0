/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_APP_DEVICES_H
#define MR_APP_DEVICES_H

#include "base/error.h"

/* Whether each device that EAL was told of (-a, --vdev) has become a port: 0, or -ENODEV with a
 * sentence about the first that has not. After EAL's start. */
int devices_check(struct mr_error *error);

#endif
