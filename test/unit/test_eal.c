/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_eal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

static void remove_runtime_directory(void)
{
	rmdir(rte_eal_get_runtime_dir());
}

void test_eal_start(const char *lcores)
{
	static char prefix[64], cores[64];
	static char *argv[] = {"test", cores, "--no-huge", "--no-shconf",    "--no-pci",
			       "-m",   "256", prefix,      "--no-telemetry", "--log-level=4"};

	snprintf(prefix, sizeof(prefix), "--file-prefix=millrace_unit_%d", (int)getpid());
	snprintf(cores, sizeof(cores), "%s%s", strchr(lcores, '@') ? "--lcores=" : "-l", lcores);
	if (rte_eal_init(sizeof(argv) / sizeof(argv[0]), argv) < 0) {
		fprintf(stderr, "EAL did not start: %s\n", rte_strerror(rte_errno));
		exit(1);
	}
	atexit(remove_runtime_directory);
}
