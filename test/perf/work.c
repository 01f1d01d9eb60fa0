/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work in the place of what features will cost: linked around the io stage, it spends some 400
 * cycles on each packet, in multiplications that all wait for each other, before packets go on.
 */
#include <rte_mbuf.h>

#include "lcore/input_fwd.h"
#include "lcore/lcore.h"

enum { MULTIPLICATIONS = 100 };

mr_stage_fn __real_mr_io_input, __wrap_mr_io_input;

void __wrap_mr_io_input(struct mr_lcore *lcore, struct mr_vector *vector,
			const struct mr_iface *iface)
{
	uint64_t mixed = 0;

	for (unsigned i = 0; i < vector->count; i++) {
		mixed ^= *rte_pktmbuf_mtod(vector->packet[i], const uint32_t *);

		for (unsigned n = 0; n < MULTIPLICATIONS; n++) {
			mixed = mixed * 0x9e3779b97f4a7c15 + 1;
			__asm__ volatile("" : "+r"(mixed));
		}
	}
	__real_mr_io_input(lcore, vector, iface);
}
