/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/console.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "control/cmd_render.h"
#include "control/control.h"
#include "control/line_editor.h"

#define READ_SIZE 4096

struct mr_console {
	struct mr *mr;
	struct mr_loop *loop;
	FILE *in, *out;
	struct mr_line_editor *editor; /* on a terminal, or NULL */
	bool skipping;                 /* the rest of a line that is too long */
	bool ended;                    /* no more input is taken */
	size_t length;
	char line[MR_MAX_LINE + 1]; /* the part of a line that was read, off a terminal */
};

static void run_line(const char *line, size_t length, void *context)
{
	struct mr_console *console = context;
	struct mr_reply reply;
	size_t size;

	if (mr_control_execute(console->mr, line, length, &reply) != 0) {
		fprintf(console->out, "%s\n", reply.error.text);
	} else {
		char *text = mr_render(reply.data, MR_STYLE_TEXT, &size);
		if (text != NULL)
			fwrite(text, 1, size, console->out);
		else
			fputs("done, but there is no memory for the answer\n", console->out);
		free(text);
	}
	fflush(console->out);
	mr_reply_clear(&reply);
	console->ended = console->ended || mr_control_is_quitting(console->mr->control);
}

static void end_of_input(struct mr_console *console)
{
	static const char quit[] = "quit";

	console->ended = true;
	if (console->editor != NULL)
		fputc('\n', console->out);
	run_line(quit, strlen(quit), console);
}

/* Off a terminal: cuts what was read into lines. */
static void take_plain(struct mr_console *console, const char *data, size_t size)
{
	for (size_t i = 0; i < size && !console->ended; i++) {
		if (data[i] == '\n') {
			if (!console->skipping)
				run_line(console->line, console->length, console);
			console->length = 0;
			console->skipping = false;
		} else if (!console->skipping) {
			console->line[console->length++] = data[i];
			console->skipping = console->length > MR_MAX_LINE;
			if (console->skipping)
				fprintf(console->out, "a line of more than %d bytes is too long\n",
					MR_MAX_LINE);
		}
	}
}

static void take_typed(struct mr_console *console, const char *data, size_t size)
{
	while (size > 0 && !console->ended) {
		int taken = mr_line_editor_feed(console->editor, data, size);
		if (taken < 0) {
			end_of_input(console);
			return;
		}
		data += taken;
		size -= (size_t)taken;
	}
}

static void on_input(int fd, uint32_t events, void *context)
{
	struct mr_console *console = context;
	char data[READ_SIZE];
	ssize_t size = read(fd, data, sizeof(data));

	(void)events;
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size > 0 && console->editor != NULL) {
		take_typed(console, data, (size_t)size);
	} else if (size > 0) {
		take_plain(console, data, (size_t)size);
	} else {
		/* The last line of a file may lack its newline. */
		if (console->length > 0 && !console->skipping)
			run_line(console->line, console->length, console);
		if (!console->ended)
			end_of_input(console);
	}
	if (console->ended)
		mr_loop_remove(console->loop, fd);
}

int mr_console_new(struct mr *mr, struct mr_loop *loop, FILE *in, FILE *out,
		   struct mr_console **console, struct mr_error *error)
{
	struct mr_console *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return mr_fail(error, -ENOMEM, "not enough memory for the console");
	*c = (struct mr_console){.mr = mr, .loop = loop, .in = in, .out = out};
	int rc = mr_loop_add(loop, fileno(in), EPOLLIN, on_input, c);
	if (rc != 0) {
		free(c);
		return mr_fail(error, rc, "the console's input: %s", strerror(-rc));
	}
	if (isatty(fileno(in)) && isatty(fileno(out))) {
		c->editor = mr_line_editor_new(mr_control_table(mr->control), in, out, run_line, c);
		if (c->editor == NULL) {
			mr_console_free(c);
			return mr_fail(error, -ENOMEM, "lines cannot be edited on this terminal");
		}
	}
	*console = c;
	return 0;
}

void mr_console_free(struct mr_console *console)
{
	if (console == NULL)
		return;
	mr_loop_remove(console->loop, fileno(console->in));
	if (console->editor != NULL)
		mr_line_editor_free(console->editor);
	free(console);
}
