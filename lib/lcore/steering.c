/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a person decides about which lcore does what. A decision is noted, then everything is placed
 * anew with it; when that fails the note is taken back.
 */
#include <stdio.h>

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

static void note_workers(const struct mr_lcores *lcores, const struct mr_workers *workers,
			 struct mr_lines *lines)
{
	char list[MR_MAX_WORKERS * 8] = "";
	size_t length = 0;

	for (unsigned i = 0; i < workers->count; i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%u",
					   i > 0 ? "," : "", lcores->lcore[workers->lcore[i]]->id);
	if (workers->count > 0)
		mr_lines_add(lines, "port spread @ lcores %s", list);
}

void mr_lcores_withdraw(struct mr *mr, uint16_t port, struct mr_lines *lines)
{
	struct mr_lcores *lcores = mr->lcores;

	for (unsigned queue = 0; queue < MR_MAX_QUEUES; queue++) {
		uint8_t *pinned = &lcores->pinned[port][queue];

		if (*pinned != MR_NO_LCORE)
			mr_lines_add(lines, "port queue @ %u lcore %u", queue,
				     lcores->lcore[*pinned]->id);
		*pinned = MR_NO_LCORE;
	}
	note_workers(lcores, &lcores->workers[port], lines);
	lcores->workers[port].count = 0;
}
