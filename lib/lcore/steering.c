/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a person decides about which lcore does what. A decision is noted, then everything is placed
 * anew with it; when that fails the note is taken back.
 */
#include "lcore/lcores.h"

int mr_lcores_pin(struct mr *mr, uint16_t port, uint16_t queue, uint8_t lcore,
		  struct mr_error *error)
{
	uint8_t *pinned = &mr->lcores->pinned[port][queue];
	uint8_t before = *pinned;
	int ret;

	*pinned = lcore;
	ret = mr_lcores_place(mr, error);
	if (ret != 0)
		*pinned = before;
	return ret;
}

int mr_lcores_spread(struct mr *mr, uint16_t port, const struct mr_workers *workers,
		     struct mr_error *error)
{
	struct mr_workers before = mr->lcores->workers[port];
	int ret;

	mr->lcores->workers[port] = *workers;
	ret = mr_lcores_place(mr, error);
	if (ret != 0)
		mr->lcores->workers[port] = before;
	return ret;
}
