/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_APP_OPTIONS_H
#define MR_APP_OPTIONS_H

#include "control/appliance.h"

/* Launch options: what follows `--` on the command line, in testpmd's words. */
struct options {
	struct mr_appliance_options appliance;
	bool interactive;
	bool auto_start;
	unsigned nb_cores;     /* forwarding lcores to use; 0: all */
	unsigned stats_period; /* seconds between statistics on stdout; 0: none */
	const char *config;    /* file of console commands, or NULL */
	char ctl_socket[108];  /* path */
};

/* Parses argv (argv[0] is the program's name) before EAL starts. file_prefix: EAL's or NULL; it
 * names the default control socket. A wrong option is reported on stderr with what is allowed;
 * then, and after --help or --version, the program ends. */
void options_parse(struct options *options, int argc, char **argv, const char *file_prefix);

/* Prints the options; EAL calls it for --help before `--`. */
void options_usage(const char *program);

#endif
