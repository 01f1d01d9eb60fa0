/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory ran out: say what a person can do about it. EAL's own message would be that an mbuf pool
 * could not be made. The number to reserve is counted from the kernel's figures at this moment,
 * when the failed allocation has been given back.
 */
#include "port/hugepages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_memory.h>

static int smallest_page(const struct rte_memseg_list *list, void *arg)
{
	uint64_t *size = arg;

	if (!list->external && (*size == 0 || list->page_sz < *size))
		*size = list->page_sz;
	return 0;
}

static uint64_t read_count(uint64_t page_kb, const char *name)
{
	char path[128];
	uint64_t count = 0;

	snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/hugepages-%" PRIu64 "kB/%s", page_kb,
		 name);
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%" SCNu64, &count) != 1)
		count = 0;
	fclose(file);
	return count;
}

int mr_hugepages_refuse(struct mr_error *error, const char *what, uint64_t bytes, int socket)
{
	uint64_t mb = bytes / (1024 * 1024) + 1, page = 0;

	rte_memseg_list_walk(smallest_page, &page);
	if (!rte_eal_has_hugepages() || page == 0)
		return mr_fail(error, -ENOMEM,
			       "%s: %" PRIu64 " MB on NUMA node %d are not free: give more memory "
			       "with EAL's -m, or fewer buffers with --total-num-mbufs",
			       what, mb, socket);

	uint64_t page_kb = page / 1024;
	uint64_t needed = bytes / page + 2; /* the pool's ring and alignment take some, too */
	uint64_t reserved = read_count(page_kb, "nr_hugepages");
	uint64_t available = read_count(page_kb, "free_hugepages");
	uint64_t wanted = reserved + needed - RTE_MIN(needed - 1, available);
	if (page_kb != 2048)
		return mr_fail(error, -ENOMEM,
			       "%s: %" PRIu64 " MB on NUMA node %d need %" PRIu64
			       " hugepages of %" PRIu64 " kB, %" PRIu64 " are free: echo %" PRIu64
			       " >/sys/kernel/mm/hugepages/hugepages-%" PRIu64 "kB/nr_hugepages",
			       what, mb, socket, needed, page_kb, available, wanted, page_kb);
	return mr_fail(error, -ENOMEM,
		       "%s: %" PRIu64 " MB on NUMA node %d need %" PRIu64 " hugepages, %" PRIu64
		       " are free: scripts/setup --hugepages %" PRIu64 ", or echo %" PRIu64
		       " >/proc/sys/vm/nr_hugepages",
		       what, mb, socket, needed, available, wanted, wanted);
}
