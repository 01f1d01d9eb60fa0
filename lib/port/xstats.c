/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extended statistics. Several people may look at a device's counters, so clearing one's view never
 * touches the device: it moves a baseline. A device whose list of counters changed in length since
 * has no baseline.
 */
#include "port/xstats.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>

/* The values and, unless it is NULL, names of all counters: arrays to be freed. Returns how many
 * or a negative errno. */
static int read_all(const struct mr_port *port, struct rte_eth_xstat **values,
		    struct rte_eth_xstat_name **names)
{
	int count = rte_eth_xstats_get(port->id, NULL, 0);

	if (count < 0)
		return count;
	*values = calloc((size_t)count + 1, sizeof(**values));
	if (names != NULL)
		*names = calloc((size_t)count + 1, sizeof(**names));
	if (*values == NULL || (names != NULL && *names == NULL))
		return -ENOMEM;
	int ret = rte_eth_xstats_get(port->id, *values, count);
	if (ret < 0 || names == NULL)
		return ret < 0 ? ret : RTE_MIN(ret, count);
	ret = rte_eth_xstats_get_names(port->id, *names, count);
	return ret < 0 ? ret : RTE_MIN(ret, count);
}

json_t *mr_port_xstats(const struct mr_port *port, bool nonzero, struct mr_error *error)
{
	struct rte_eth_xstat *values = NULL;
	struct rte_eth_xstat_name *names = NULL;
	json_t *object = json_object();
	int count = read_all(port, &values, &names);

	for (int i = 0; i < count && object != NULL; i++) {
		uint64_t value = values[i].value, base = 0;
		if (port->xstats_baseline != NULL && port->xstats_count == (unsigned)count)
			base = port->xstats_baseline[i];
		if (value >= base) /* else the device started again from 0 */
			value -= base;
		if (values[i].id < (uint64_t)count && (value != 0 || !nonzero))
			json_object_set_new(object, names[values[i].id].name,
					    json_integer((json_int_t)value));
	}
	free(values);
	free(names);
	if (count < 0) {
		json_decref(object);
		mr_fail(error, count, "%s: has no extended statistics: %s", port->label,
			rte_strerror(-count));
		return NULL;
	}
	return object;
}

int mr_port_xstats_clear(struct mr_port *port, struct mr_error *error)
{
	struct rte_eth_xstat *values = NULL;
	uint64_t *baseline = NULL;
	int count = read_all(port, &values, NULL);

	if (count >= 0)
		baseline = calloc((size_t)count + 1, sizeof(*baseline));
	if (baseline != NULL) {
		for (int i = 0; i < count; i++)
			baseline[i] = values[i].value;
		free(port->xstats_baseline);
		port->xstats_baseline = baseline;
		port->xstats_count = count;
	}
	free(values);
	if (count < 0 || baseline == NULL)
		return mr_fail(error, count < 0 ? count : -ENOMEM,
			       "%s: extended statistics cannot be read: %s", port->label,
			       rte_strerror(count < 0 ? -count : ENOMEM));
	return 0;
}
