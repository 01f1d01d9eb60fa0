/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_TELEMETRY_TEL_CONVERT_H
#define MR_TELEMETRY_TEL_CONVERT_H

#include <stddef.h>

#include <jansson.h>

#include "base/dpdk_compat.h"

/*
 * From an answer as JSON to what DPDK's telemetry can carry. Any thread that owns the values.
 */
#define MR_TEL_PAGE_WHOLE SIZE_MAX /* no page was asked for */

/*
 * The answer in a form that telemetry carries unchanged: a new reference, NULL without memory. At
 * most max_bytes as JSON. An answer that is too large, or of which a page was asked for (offset in
 * entries), becomes {"total", "offset", "next", "entries"}; next is 0 on the last page.
 */
json_t *mr_tel_fit(const json_t *answer, size_t offset, size_t max_bytes);

/* Fills data with what mr_tel_fit has made. Returns 0 or a negative errno. */
int mr_tel_fill(struct rte_tel_data *data, const json_t *fitted);

/* Cuts "offset=N" off the end of params (where it stands alone or after a comma). Returns N, or
 * MR_TEL_PAGE_WHOLE. */
size_t mr_tel_cut_offset(char *params);

#endif
