/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EAL starts without the devices that it cannot have and says so in lines that nobody reads. An
 * appliance that was asked for ports and has none would seem to work; so it does not start.
 */
#include "devices.h"

#include <errno.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_devargs.h>
#include <rte_ethdev.h>

static bool has_port(const struct rte_devargs *asked)
{
	struct rte_eth_dev_info info;
	uint16_t id;

	RTE_ETH_FOREACH_DEV (id)
		if (rte_eth_dev_info_get(id, &info) == 0 && rte_dev_devargs(info.device) == asked)
			return true;
	return false;
}

/* The kernel's directory of a PCI device, whose domain may have been left out. */
static void pci_path(const char *name, char *path, size_t size)
{
	bool short_name = strchr(name, ':') == strrchr(name, ':');

	snprintf(path, size, "/sys/bus/pci/devices/%s%s", short_name ? "0000:" : "", name);
}

static int refuse_pci(const char *name, struct mr_error *error)
{
	char path[128], link[160], driver[128];

	pci_path(name, path, sizeof(path));
	if (access(path, F_OK) != 0)
		return mr_fail(
			error, -ENODEV,
			"-a %s: there is no such PCI device; millrace-bind lists those there "
			"are",
			name);
	snprintf(link, sizeof(link), "%s/driver", path);
	ssize_t length = readlink(link, driver, sizeof(driver) - 1);
	driver[length > 0 ? length : 0] = '\0';
	const char *bound = basename(driver);
	if (strcmp(bound, "vfio-pci") == 0 || strcmp(bound, "uio_pci_generic") == 0 ||
	    strcmp(bound, "igb_uio") == 0)
		return mr_fail(error, -ENODEV,
			       "-a %s: is no network port that a driver here takes; EAL's lines "
			       "above say more",
			       name);
	return mr_fail(error, -ENODEV,
		       "-a %s: %s%s, not to vfio-pci: give it to user space first, by "
		       "millrace-bind %s",
		       name, length > 0 ? "is bound to " : "is bound to no driver",
		       length > 0 ? bound : "", name);
}

int devices_check(struct mr_error *error)
{
	struct rte_devargs *asked;

	RTE_EAL_DEVARGS_FOREACH(NULL, asked)
	{
		if (asked->policy == RTE_DEV_BLOCKED || has_port(asked))
			continue;
		if (asked->type == RTE_DEVTYPE_VIRTUAL)
			return mr_fail(error, -ENODEV,
				       "--vdev %s: has not become a port; EAL's lines above say "
				       "why",
				       asked->name);
		return refuse_pci(asked->name, error);
	}
	return 0;
}
