/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_LOAD_H
#define MR_FILTER_LOAD_H

#include <jansson.h>

#include "base/cmd.h"
#include "base/error.h"
#include "bridge/bridge_fwd.h"
#include "filter/flow_fwd.h"
#include "filter/set.h"

/* What a file says of bridges, by name: whether rules look at what they carry; and of the timeouts
 * of flows. */
struct mr_filter_bridges {
	unsigned count;
	struct {
		char name[MR_NAME_SIZE];
		bool exempt;
		unsigned line;
	} bridge[MR_MAX_BRIDGES];
	uint32_t timeout[FLOW_TIMEOUTS]; /* seconds; 0: nothing */
};

/* Replaces the rules of a set, a copy of the one in force (old), by those of a file; those that did
 * not change are old's. The sets must not change meanwhile; any thread. warnings: an array of
 * sentences, to be appended to. bridges: filled in. Returns 0, or a negative errno with error
 * naming the line and column at fault; the set is to be thrown away then. */
int mr_filter_read_file(struct mr_filter_set *set, const char *path,
			const struct mr_filter_set *old, struct mr_filter_bridges *bridges,
			json_t *warnings, struct mr_error *error);

/* Whether all those bridges are there: 0, or -ENOENT with error naming the line. And what the file
 * said of them put in force. Control thread. */
int mr_filter_check_bridges(struct mr *mr, const char *path,
			    const struct mr_filter_bridges *bridges, struct mr_error *error);
void mr_filter_set_bridges(struct mr *mr, const struct mr_filter_bridges *bridges);

#endif
