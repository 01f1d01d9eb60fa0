/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_FLOW_ROOM_FWD_H
#define FILTER_FLOW_ROOM_FWD_H

#include "filter/flow_fwd.h"

/* A slot of the own table for a new entry, which is free: it was before, or its flow is over, or
 * was opening and makes room. FLOW_NOWHERE: none can. hash: of the new entry's key. */
uint32_t flow_make_room(const struct flow_context *context, uint64_t hash);

#endif
