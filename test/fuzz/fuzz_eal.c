/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_eal.h"

#include <sanitizer/lsan_interface.h>

#include <rte_memory.h>

#include "test_eal.h"

static int look_there(const struct rte_memseg_list *list, void *arg)
{
	(void)arg;
	__lsan_register_root_region(list->base_va, list->len);
	return 0;
}

void fuzz_eal_start(void)
{
	test_eal_start("0");
	rte_memseg_list_walk(look_there, NULL);
}
