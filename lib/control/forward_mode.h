/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_FORWARD_MODE_H
#define MR_CONTROL_FORWARD_MODE_H

#include "base/error.h"
#include "base/mr.h"
#include "port/iface.h"

/* The bridge of ports that no configuration names. */
#define MR_DEFAULT_BRIDGE "default"

/* Decides what ports do that no configuration names (--forward-mode), and applies it. */
int mr_forward_mode_set(struct mr *mr, enum mr_iface_mode mode, struct mr_error *error);

/* Gives each port without a mode the default one, and brings bridges in line. To be called after
 * whatever may have changed modes. */
void mr_forward_mode_apply(struct mr *mr);

#endif
