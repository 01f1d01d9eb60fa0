/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "control/console.h"
#include "control/control.h"

static struct mr mr;
static struct mr_loop *loop;
static struct mr_console *console;
static FILE *in, *out;
static int quits;
static char said[8192]; /* by commands */

static int run_say(struct mr *m, const struct mr_args *args, struct mr_reply *reply)
{
	const char *text = mr_arg(args, "TEXT", 0)->text;

	(void)m;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%.100s;", text);
	return mr_reply(reply, json_string(text));
}

static const struct mr_cmd commands[] = {
	{"say TEXT", "", run_say},
	{"show port info all|N", "", run_say},
	{"show port stats all|N", "", run_say},
	{NULL},
};

static void count_quit(void *context)
{
	(void)context;
	quits++;
}

static int set_up(void **state)
{
	(void)state;
	quits = 0;
	said[0] = '\0';
	loop = mr_loop_new();
	if (loop == NULL || mr_control_new(&mr) != 0 ||
	    mr_control_register(mr.control, commands) != 0)
		return -1;
	mr_control_on_quit(mr.control, count_quit, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	mr_console_free(console);
	mr_control_free(&mr);
	mr_loop_free(loop);
	fclose(in);
	fclose(out);
	return 0;
}

static void start(int in_fd, int out_fd)
{
	struct mr_error error = {0};

	in = fdopen(in_fd, "r");
	out = fdopen(out_fd, "w");
	assert_int_equal(mr_console_new(&mr, loop, in, out, &console, &error), 0);
}

static void settle(void)
{
	while (mr_loop_poll(loop, 0) > 0)
		;
}

static void expect_output(int fd, const char *wanted)
{
	char text[4096];
	ssize_t length = read(fd, text, sizeof(text) - 1);

	text[length > 0 ? length : 0] = '\0';
	assert_string_equal(text, wanted);
}

static void a_pipe_is_read_line_by_line(void **state)
{
	(void)state;
	int to[2], from[2];

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	start(to[0], from[1]);
	assert_int_equal(write(to[1], "say a\nsay ", 10), 10);
	settle();
	expect_output(from[0], "a\n");
	assert_int_equal(write(to[1], "b\nsya c\n\n# d\nsay last", 21), 21);
	settle();
	expect_output(from[0], "b\nunknown command 'sya'; did you mean 'say'?\n");
	close(to[1]);
	settle();
	expect_output(from[0], "last\n");
	assert_int_equal(quits, 1);
	close(from[0]);
}

static void long_lines_are_refused_once(void **state)
{
	(void)state;
	int to[2], from[2];
	static char line[10240];

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	start(to[0], from[1]);
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	assert_int_equal(write(to[1], line, sizeof(line)), sizeof(line));
	assert_int_equal(write(to[1], "say a\n", 6), 6);
	settle();
	expect_output(from[0], "a line of more than 4096 bytes is too long\na\n");
	close(to[1]);
	close(from[0]);
}

static void a_file_ends_with_quit(void **state)
{
	(void)state;
	char path[] = "/tmp/millrace-test-console-XXXXXX";
	int fd = mkstemp(path), from[2];

	unlink(path);
	assert_int_equal(pipe(from), 0);
	assert_int_equal(write(fd, "say a\nquit\nsay b\n", 17), 17);
	lseek(fd, 0, SEEK_SET);
	start(fd, from[1]);
	settle();
	expect_output(from[0], "a\n");
	assert_int_equal(quits, 1);
	close(from[0]);
}

/* ---- a terminal ---- */

static int terminal; /* the side of the person */

static void start_terminal(void)
{
	int slave;

	setenv("TERM", "vt100", 1);
	assert_int_equal(openpty(&terminal, &slave, NULL, NULL, NULL), 0);
	fcntl(terminal, F_SETFL, O_NONBLOCK);
	start(slave, dup(slave));
}

/* What is typed arrives when the kernel gets round to it: what should come of it is awaited. */
static void type(const char *keys)
{
	assert_int_equal(write(terminal, keys, strlen(keys)), strlen(keys));
	settle();
}

#define TRIES 500 /* of 10 ms each at most */

static void expect_shown(const char *wanted)
{
	char text[8192] = "";
	size_t length = 0;

	for (unsigned i = 0; i < TRIES && strstr(text, wanted) == NULL; i++) {
		mr_loop_poll(loop, i > 0 ? 10 : 0);
		ssize_t got = read(terminal, text + length, sizeof(text) - 1 - length);
		length += got > 0 ? (size_t)got : 0;
		text[length] = '\0';
	}
	if (strstr(text, wanted) == NULL)
		fail_msg("'%s' is not in what is shown: '%s'", wanted, text);
}

static void expect_said(const char *wanted)
{
	for (unsigned i = 0; i < TRIES && strcmp(said, wanted) != 0; i++)
		mr_loop_poll(loop, 10);
	assert_string_equal(said, wanted);
}

static void a_terminal_has_a_prompt_and_editing(void **state)
{
	(void)state;
	start_terminal();
	expect_shown("millrace> ");
	type("say ab\x7f\x7f");
	type("hello\n");
	expect_shown("hello\r\n");
	expect_said("hello;");
	type("\x1b[A"); /* up: the last line again */
	type("\n");
	expect_said("hello;hello;");
	/* An arrow in pieces; meanwhile nothing waits. */
	type("\x1b");
	type("[");
	type("A");
	type("x\n");
	expect_said("hello;hello;hellox;");
	/* Several lines at once. */
	type("say 1\nsay 2\nsay 3\n");
	expect_said("hello;hello;hellox;1;2;3;");
	assert_int_equal(quits, 0);
	type("say \x04\n"); /* deletes nothing, since a line is there */
	expect_shown("needs TEXT");
	assert_int_equal(quits, 0);
	type("\x04");
	for (unsigned i = 0; i < TRIES && quits == 0; i++)
		mr_loop_poll(loop, 10);
	assert_int_equal(quits, 1);
	close(terminal);
}

static void the_tab_key_completes(void **state)
{
	(void)state;
	start_terminal();
	expect_shown("millrace> ");
	type("sho\t");
	expect_shown("w "); /* the rest of show */
	type("\t");
	expect_shown("port ");
	type("\t");
	expect_shown("info  stats\r\n");
	type("i\t\t");
	expect_shown("N: a port number (0 to 65535)\r\n");
	type("\x15"); /* the line away */
	type("say\t");
	type("\t");
	expect_shown("TEXT: a word\r\n");
	type("y\n");
	expect_said("y;");
	close(terminal);
}

static void the_terminal_is_given_back(void **state)
{
	(void)state;
	struct termios before, raw, after;
	int slave;

	setenv("TERM", "vt100", 1);
	assert_int_equal(openpty(&terminal, &slave, NULL, NULL, NULL), 0);
	fcntl(terminal, F_SETFL, O_NONBLOCK);
	assert_int_equal(tcgetattr(slave, &before), 0);
	start(slave, dup(slave));
	assert_int_equal(tcgetattr(slave, &raw), 0);
	assert_int_not_equal(before.c_lflag, raw.c_lflag);
	mr_console_free(console);
	console = NULL;
	assert_int_equal(tcgetattr(slave, &after), 0);
	assert_int_equal(before.c_lflag, after.c_lflag);
	assert_int_equal(before.c_iflag, after.c_iflag);
	assert_int_equal(before.c_oflag, after.c_oflag);
	close(terminal);
}

/* Any keys at all: nothing is harmed and nothing waits. */
static void random_keys_do_no_harm(void **state)
{
	(void)state;
	unsigned seed = 7;

	start_terminal();
	for (unsigned i = 0; i < 3000; i++) {
		char shown[4096], key = (char)(rand_r(&seed) % 256);
		/* ^C, ^Z, ^\ are signals, ^S and ^Q hold output, ^D ends. */
		if (strchr("\x03\x1a\x1c\x11\x13\x04", key) != NULL)
			key = '\t';
		assert_int_equal(write(terminal, &key, 1), 1);
		settle();
		while (read(terminal, shown, sizeof(shown)) > 0)
			;
	}
	said[0] = '\0';
	type("\n\nsay end\nsay end\n"); /* one newline may end a key that was begun */
	for (unsigned i = 0; i < TRIES && strstr(said, "end;") == NULL; i++)
		mr_loop_poll(loop, 10);
	assert_non_null(strstr(said, "end;"));
	assert_int_equal(quits, 0);
	close(terminal);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_pipe_is_read_line_by_line), CASE(long_lines_are_refused_once),
		CASE(a_file_ends_with_quit),       CASE(a_terminal_has_a_prompt_and_editing),
		CASE(the_tab_key_completes),       CASE(the_terminal_is_given_back),
		CASE(random_keys_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
