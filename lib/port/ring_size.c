/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An rx ring must hold what arrives while its lcore sleeps: 0.45 ms and what a wakeup is late. 1024
 * packets are 0.69 ms of the shortest frames at 1 Gb/s. A profile's own number is not questioned:
 * it is lower only where a device has no ring. But some rings are made by an argument of the vdev,
 * whatever number of descriptors they are asked for.
 */
#include "port/ring_size.h"

#include <stdlib.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_kvargs.h>

#include "base/log.h"

#define SLEEP_NEEDS 1024

static const struct vdev_ring {
	const char *driver, *argument;
	unsigned by_default, advised;
} vdev_rings[] = {
	{"net_af_packet", "framecnt", 512, 4096},
	{"net_virtio_user", "queue_size", 256, 1024},
};

static const struct vdev_ring *vdev_ring(const char *driver)
{
	for (unsigned i = 0; i < RTE_DIM(vdev_rings); i++)
		if (strcmp(vdev_rings[i].driver, driver) == 0)
			return &vdev_rings[i];
	return NULL;
}

static unsigned vdev_ring_size(const struct vdev_ring *ring, const struct rte_device *device)
{
	const struct rte_devargs *devargs = rte_dev_devargs(device);
	struct rte_kvargs *arguments = devargs != NULL && devargs->args != NULL
					       ? rte_kvargs_parse(devargs->args, NULL)
					       : NULL;
	const char *text = arguments != NULL ? rte_kvargs_get(arguments, ring->argument) : NULL;
	unsigned size = text != NULL ? (unsigned)strtoul(text, NULL, 0) : ring->by_default;

	rte_kvargs_free(arguments);
	return size;
}

void mr_port_check_ring_size(const struct mr_port *port, const struct rte_eth_dev_info *info,
			     const struct mr_port_options *options)
{
	const struct vdev_ring *ring = vdev_ring(port->driver);
	unsigned size = ring != NULL ? vdev_ring_size(ring, info->device) : options->rxd;

	if (ring != NULL && options->rxd > size)
		mr_log_warning("%s: rxd %u wanted, but the ring has %u descriptors: give the vdev "
			       "%s=%u",
			       port->label, options->rxd, size, ring->argument, options->rxd);
	else if (ring != NULL && options->lcores_sleep && size < SLEEP_NEEDS)
		mr_log_warning("%s: %u packets fill its rx ring, fewer than may come while an "
			       "lcore sleeps: give the vdev %s=%u, or millrace --idle=busy",
			       port->label, size, ring->argument, ring->advised);
	else if (ring == NULL && options->rxd != 0 && options->lcores_sleep && size < SLEEP_NEEDS)
		mr_log_warning("%s: rxd %u is fewer than may come while an lcore sleeps: use %u or "
			       "more, or --idle=busy",
			       port->label, size, SLEEP_NEEDS);
}
