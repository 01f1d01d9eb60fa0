/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/eal_args.h"

#include <string.h>

struct mr_eal_args mr_eal_args_split(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return (struct mr_eal_args){i, argc - i, argv + i};
	return (struct mr_eal_args){argc, 1, argv};
}
