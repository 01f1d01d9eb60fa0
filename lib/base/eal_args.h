/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_BASE_EAL_ARGS_H
#define MR_BASE_EAL_ARGS_H

/* A command line's two parts: EAL's words, then `--` and the program's own. */
struct mr_eal_args {
	int eal_count; /* words for EAL, the program's name first */
	int own_count; /* at least 1 */
	char **own;    /* own[0] stands where getopt expects the program's name: `--`, or that name
			* where there is no `--` */
};

struct mr_eal_args mr_eal_args_split(int argc, char **argv);

#endif
