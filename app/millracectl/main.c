/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * millracectl runs commands in a running millrace. Answers go to stdout, refusals to stderr. When
 * nobody reads stdout any more the commands that are left are run all the same.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"
#include "options.h"

struct session {
	struct options options;
	struct connection connection;
	const char *file; /* of the command that runs, for its refusal; NULL for the shell */
	unsigned line;    /* in file */
	int write_error;  /* the first of stdout, an errno */
};

static int trouble(const struct session *session, const char *what)
{
	fprintf(stderr, "millracectl: %s: %s\n", session->options.socket, what);
	return EXIT_TROUBLE;
}

/* Copies an answer's body to where it belongs. */
static int print_body(struct session *session, size_t length, FILE *out)
{
	char buffer[65536];

	while (length > 0) {
		size_t got = connection_body(&session->connection, buffer,
					     length < sizeof(buffer) ? length : sizeof(buffer));
		if (got == 0)
			return -EPROTO;
		if (session->write_error == 0 &&
		    (fwrite(buffer, 1, got, out) != got || fflush(out) != 0))
			session->write_error = errno;
		length -= got;
	}
	return 0;
}

static int run_line(struct session *session, const char *line, size_t line_length)
{
	bool refused;
	size_t length;

	connection_send(&session->connection, session->options.style, line, line_length);
	if (connection_status(&session->connection, &refused, &length) != 0)
		return trouble(session, "the connection ended before the answer");
	if (refused && session->file != NULL)
		fprintf(stderr, "%s:%u: ", session->file, session->line);
	else if (refused)
		fprintf(stderr, "millracectl: ");
	if (print_body(session, length, refused ? stderr : stdout) != 0)
		return trouble(session, "the connection ended within the answer");
	return refused ? EXIT_REFUSED : EXIT_DONE;
}

static int run_words(struct session *session)
{
	const struct options *options = &session->options;
	size_t length = 0;

	for (int i = 0; i < options->word_count; i++) {
		if (strchr(options->words[i], '\n') != NULL) {
			fprintf(stderr, "millracectl: a command is one line\n");
			return EXIT_REFUSED;
		}
		length += strlen(options->words[i]) + 1;
	}
	char *line = malloc(length + 1), *end = line;
	if (line == NULL)
		return trouble(session, "not enough memory");
	for (int i = 0; i < options->word_count; i++) {
		end = stpcpy(end, options->words[i]);
		*end++ = ' ';
	}
	int status = run_line(session, line, length > 0 ? length - 1 : 0);
	free(line);
	return status;
}

static int run_file(struct session *session, FILE *file)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int status = EXIT_DONE;

	session->file = file == stdin ? "stdin" : session->options.file;
	while (status == EXIT_DONE && (length = getline(&line, &size, file)) >= 0) {
		session->line++;
		if (length > 0 && line[length - 1] == '\n')
			length--;
		status = run_line(session, line, (size_t)length);
	}
	if (status == EXIT_DONE && ferror(file)) {
		fprintf(stderr, "millracectl: %s: %s\n", session->file, strerror(errno));
		status = EXIT_TROUBLE;
	}
	free(line);
	return status;
}

static FILE *open_file(const char *path)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");

	if (file == NULL)
		fprintf(stderr, "millracectl: %s: %s\n", path, strerror(errno));
	return file;
}

int main(int argc, char **argv)
{
	struct session session = {0};
	const struct options *options = &session.options;
	FILE *file = NULL;

	signal(SIGPIPE, SIG_IGN);
	options_parse(argc, argv, &session.options);
	if (options->file != NULL && (file = open_file(options->file)) == NULL)
		return EXIT_TROUBLE;
	int rc = connection_open(&session.connection, options->socket);
	if (rc != 0) {
		fprintf(stderr, "millracectl: no millrace answers at %s: %s\n", options->socket,
			strerror(-rc));
		return EXIT_TROUBLE;
	}
	int status = file != NULL ? run_file(&session, file) : run_words(&session);
	connection_close(&session.connection);
	/* A reader that went away is no trouble; a full disk is. */
	if (session.write_error != 0 && session.write_error != EPIPE) {
		fprintf(stderr, "millracectl: stdout: %s\n", strerror(session.write_error));
		return EXIT_TROUBLE;
	}
	return status;
}
