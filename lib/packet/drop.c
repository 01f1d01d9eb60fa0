/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet/drop.h"

static const struct {
	const char *name, *help;
} reasons[] = {
#define MR_DROP_ROW(name, help) {#name, help},
	MR_DROP_REASONS(MR_DROP_ROW)
#undef MR_DROP_ROW
};

const char *mr_drop_name(enum mr_drop_reason reason)
{
	return reasons[reason].name;
}

const char *mr_drop_help(enum mr_drop_reason reason)
{
	return reasons[reason].help;
}
