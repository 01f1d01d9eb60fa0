/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_MILLRACECTL_OPTIONS_H
#define MR_MILLRACECTL_OPTIONS_H

enum {
	EXIT_DONE = 0,
	EXIT_REFUSED = 1,
	EXIT_TROUBLE = 2, /* usage, or no server */
};

struct options {
	const char *socket;
	const char *file;  /* of commands, "-" for standard input, or NULL */
	const char *style; /* of the answers: "text", "json", or "next" for completion */
	char **words;      /* the command, when there is no file */
	int word_count;
};

/* Reads the command line. Ends the program after --help, --version and wrong usage. */
void options_parse(int argc, char **argv, struct options *options);

#endif
