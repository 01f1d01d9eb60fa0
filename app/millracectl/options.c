/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "control/ctl_protocol.h"

static const char usage[] =
	"usage: millracectl [-s PATH] [-j] COMMAND WORDS...\n"
	"       millracectl [-s PATH] [-j] -f FILE\n"
	"       millracectl [-s PATH] -c [WORDS...]\n"
	"\n"
	"Runs commands in a running millrace; 'millracectl help' shows which there are.\n"
	"\n"
	"  -s, --ctl-socket PATH  millrace's control socket (default " MR_CTL_SOCKET ";\n"
	"                         /run/millrace/PREFIX.sock if it has --file-prefix=PREFIX)\n"
	"  -j, --json             print answers as JSON, one line each\n"
	"  -f, --file FILE        run the commands in FILE ('-': standard input), one a line, up\n"
	"                         to the first that is refused\n"
	"  -c, --complete         run nothing: print what the last word of the command may "
	"become,\n"
	"                         one a line, values as NAME, a tab and what they take\n"
	"  -h, --help             show this\n"
	"  -V, --version          show the version\n"
	"\n"
	"Exit status: 0 done, 1 refused, 2 wrong usage or no server.\n";

static void __attribute__((noreturn)) wrong_usage(const char *sentence)
{
	if (sentence != NULL)
		fprintf(stderr, "millracectl: %s\n", sentence);
	fprintf(stderr, "Try 'millracectl --help'.\n");
	exit(EXIT_TROUBLE);
}

static void __attribute__((noreturn)) show(const char *text)
{
	fputs(text, stdout);
	exit(fflush(stdout) == 0 ? EXIT_DONE : EXIT_TROUBLE);
}

void options_parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{"ctl-socket", required_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},
		{"file", required_argument, NULL, 'f'},
		{"complete", no_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	int option;
	bool complete = false;

	*options = (struct options){.socket = MR_CTL_SOCKET, .style = "text"};
	/* '+': the words of a command may look like options. */
	while ((option = getopt_long(argc, argv, "+s:jf:chV", known, NULL)) != -1) {
		switch (option) {
		case 's':
			options->socket = optarg;
			break;
		case 'j':
			options->style = "json";
			break;
		case 'f':
			options->file = optarg;
			break;
		case 'c':
			complete = true;
			break;
		case 'h':
			show(usage);
		case 'V':
			show("millracectl " MR_VERSION "\n");
		default:
			wrong_usage(NULL);
		}
	}
	options->words = argv + optind;
	options->word_count = argc - optind;
	if (complete) {
		if (options->file != NULL)
			wrong_usage("--complete takes a command, not -f FILE");
		options->style = "next";
		return;
	}
	if (options->file != NULL && options->word_count > 0)
		wrong_usage("either a command or -f FILE, not both");
	if (options->file == NULL && options->word_count == 0)
		wrong_usage("no command");
}
