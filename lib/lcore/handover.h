/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_LCORE_HANDOVER_H
#define MR_LCORE_HANDOVER_H

#include "base/mr.h"
#include "lcore/handover_fwd.h"
#include "packet/drop.h"

/* What the control thread does with hand-over rings. NULL is a ring without packets everywhere.
 * Private to this room. */

/* Makes a ring for size packets. Returns NULL if there is no memory for it. */
struct mr_handover *mr_handover_create(unsigned size, int socket);
void mr_handover_free(struct mr_handover *handover);

/* Packets that wait. */
unsigned mr_handover_count(const struct mr_handover *handover);

/* Drops what waits, on a port. The caller is the only consumer for now. */
void mr_handover_discard(struct mr *mr, struct mr_handover *handover, uint16_t port,
			 enum mr_drop_reason reason);

/* As mr_ring_await. */
void mr_handover_await(struct mr *mr, const struct mr_handover *handover);

#endif
