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
	bool waiting;                  /* for a command that takes long; input waits too */
	size_t held_size;
	char held[READ_SIZE]; /* input that was read and not taken yet */
	size_t length;
	char line[MR_MAX_LINE + 1]; /* the part of a line that was read, off a terminal */
};

static void print_answer(struct mr_console *console, int rc, const struct mr_reply *reply)
{
	size_t size;

	if (rc != 0) {
		fprintf(console->out, "%s\n", reply->error.text);
	} else {
		char *text = mr_render(reply->data, MR_STYLE_TEXT, &size);
		if (text != NULL)
			fwrite(text, 1, size, console->out);
		else
			fputs("done, but there is no memory for the answer\n", console->out);
		free(text);
	}
	fflush(console->out);
}

static void on_late_answer(int rc, const struct mr_reply *reply, void *context);

static void run_line(const char *line, size_t length, void *context)
{
	struct mr_console *console = context;
	struct mr_reply reply;
	int rc = mr_control_submit(console->mr, line, length, &reply, on_late_answer, console);

	console->waiting = rc == -EINPROGRESS;
	if (console->waiting) {
		if (console->editor != NULL)
			mr_line_editor_pause(console->editor);
		return;
	}
	print_answer(console, rc, &reply);
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

/* Off a terminal: a byte of a line. */
static void take_plain(struct mr_console *console, char byte)
{
	if (byte == '\n') {
		size_t length = console->length;

		console->length = 0;
		if (!console->skipping)
			run_line(console->line, length, console);
		console->skipping = false;
	} else if (!console->skipping) {
		console->line[console->length++] = byte;
		console->skipping = console->length > MR_MAX_LINE;
		if (console->skipping)
			fprintf(console->out, "a line of more than %d bytes is too long\n",
				MR_MAX_LINE);
	}
}

/* Takes what was read, up to the end or to a command that takes long. */
static void take(struct mr_console *console)
{
	size_t taken = 0;

	while (taken < console->held_size && !console->ended && !console->waiting) {
		if (console->editor == NULL) {
			take_plain(console, console->held[taken++]);
			continue;
		}
		int typed = mr_line_editor_feed(console->editor, console->held + taken,
						console->held_size - taken);
		if (typed < 0)
			end_of_input(console);
		else
			taken += (size_t)typed;
	}
	console->held_size -= taken;
	memmove(console->held, console->held + taken, console->held_size);
}

static void on_input(int fd, uint32_t events, void *context)
{
	struct mr_console *console = context;
	ssize_t size = read(fd, console->held, sizeof(console->held));

	(void)events;
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size > 0) {
		console->held_size = (size_t)size;
		take(console);
	} else if (console->length > 0 && !console->skipping) {
		/* The last line of a file may lack its newline. */
		take_plain(console, '\n');
	} else {
		end_of_input(console);
	}
	if (console->ended || console->waiting)
		mr_loop_remove(console->loop, fd);
}

static void on_late_answer(int rc, const struct mr_reply *reply, void *context)
{
	struct mr_console *console = context;

	console->waiting = false;
	print_answer(console, rc, reply);
	if (console->editor != NULL)
		mr_line_editor_go_on(console->editor);
	take(console);
	/* It was watched before, so there is room for it again. */
	if (!console->ended && !console->waiting &&
	    mr_loop_add(console->loop, fileno(console->in), EPOLLIN, on_input, console) != 0)
		end_of_input(console);
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
	mr_control_forget(console->mr->control, console);
	if (!console->waiting)
		mr_loop_remove(console->loop, fileno(console->in));
	if (console->editor != NULL)
		mr_line_editor_free(console->editor);
	free(console);
}
