/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_LOG_FWD_H
#define MR_FILTER_LOG_FWD_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "filter/rule.h"
#include "lcore/lcore.h"

/* What a log line wants to know of a rule, in the 32 bits that cross a ring with the packet. */
static_assert(MR_FILTER_MAX_NUMBER < 1 << 27 && MR_FILTER_ACTIONS <= 16, "fit into 31 bits");

static inline uint32_t mr_filter_log_word(uint32_t number, uint8_t action, bool out)
{
	return number | (uint32_t)action << 27 | (uint32_t)out << 31;
}

/* What an lcore has logged; its own. */
struct mr_filter_log {
	uint32_t second; /* mr_forwarding's */
	uint32_t copies; /* in that second */
} __rte_cache_aligned;

/* Sends a copy of a packet's start to the control thread, for the log, unless the lcore has sent
 * enough of them this second. iface: of the hook. */
void mr_filter_log(struct mr_lcore *lcore, struct mr_filter_log *log, const struct rte_mbuf *packet,
		   uint16_t iface, uint32_t word);

#endif
