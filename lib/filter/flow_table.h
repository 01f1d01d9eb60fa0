/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_FLOW_TABLE_H
#define FILTER_FLOW_TABLE_H

#include "filter/flow_table_fwd.h"

#define FLOW_TABLE_DEFAULT 65536 /* flows */
#define FLOW_TABLE_MIN 64
#define FLOW_TABLE_MAX 4194304

/* Makes an empty table for the lcore with the index `owner`, and for as many flows as are asked
 * for, up to the next power of two: about 330 bytes a flow. Returns NULL without memory. Control
 * thread.
 */
struct flow_table *flow_table_create(uint32_t flows, unsigned owner, int socket);

/* No lcore can reach it any more. NULL: nothing. */
void flow_table_free(struct flow_table *table);

#endif
