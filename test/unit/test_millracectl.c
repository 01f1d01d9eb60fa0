/* SPDX-License-Identifier: BSD-3-Clause */
/* The client program against a server in this process. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "control/control.h"
#include "control/ctl_server.h"

static struct mr mr;
static struct mr_loop *loop;
static struct mr_ctl_server *server;
static char directory[] = "/tmp/millrace-test-client-XXXXXX";
static char sock[64], out[64], err[64], commands_file[64];
static unsigned ran;

static int run_say(struct mr *m, const struct mr_args *args, struct mr_reply *reply)
{
	(void)m;
	ran++;
	return mr_reply(reply, json_pack("{s:s}", "said", mr_arg(args, "TEXT", 0)->text));
}

static const struct mr_cmd commands[] = {{"say TEXT", "", run_say}, {NULL}};

static int set_up(void **state)
{
	struct mr_error error = {0};

	(void)state;
	if (mkdtemp(directory) == NULL)
		return -1;
	snprintf(sock, sizeof(sock), "%s/ctl.sock", directory);
	snprintf(out, sizeof(out), "%s/out", directory);
	snprintf(err, sizeof(err), "%s/err", directory);
	snprintf(commands_file, sizeof(commands_file), "%s/commands", directory);
	loop = mr_loop_new();
	if (loop == NULL || mr_control_new(&mr) != 0 ||
	    mr_control_register(mr.control, commands) != 0)
		return -1;
	return mr_ctl_server_new(&mr, loop, sock, &server, &error);
}

static int tear_down(void **state)
{
	(void)state;
	mr_ctl_server_free(server);
	mr_control_free(&mr);
	mr_loop_free(loop);
	unlink(out);
	unlink(err);
	unlink(commands_file);
	return rmdir(directory);
}

static void redirect(const char *path, int flags, int to)
{
	int fd = open(path, flags, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(99);
}

/* Runs millracectl with words (NULL ends them) and returns its exit status. */
static int run_to(const char *stdout_path, const char *const *words)
{
	const char *argv[16] = {"millracectl"};

	ran = 0;
	for (unsigned i = 0; words[i] != NULL; i++)
		argv[i + 1] = words[i];
	pid_t pid = fork();
	if (pid == 0) {
		redirect(access(commands_file, F_OK) == 0 ? commands_file : "/dev/null", O_RDONLY,
			 STDIN_FILENO);
		redirect(stdout_path, O_CREAT | O_TRUNC | O_WRONLY, STDOUT_FILENO);
		redirect(err, O_CREAT | O_TRUNC | O_WRONLY, STDERR_FILENO);
		execv(MILLRACECTL, (char **)argv);
		_exit(98);
	}
	int status;
	while (waitpid(pid, &status, WNOHANG) == 0)
		mr_loop_poll(loop, 1);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define run(...) run_to(out, (const char *const[]){__VA_ARGS__, NULL})

static void expect_file(const char *path, const char *wanted)
{
	char text[4096];
	int fd = open(path, O_RDONLY);
	ssize_t length = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[length] = '\0';
	assert_string_equal(text, wanted);
}

static void write_commands(const char *text, size_t length)
{
	int fd = open(commands_file, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	assert_int_equal(write(fd, text, length), length);
	close(fd);
}

static void words_are_a_command(void **state)
{
	(void)state;
	assert_int_equal(run("-s", sock, "say", "hello"), 0);
	expect_file(out, "said: hello\n");
	expect_file(err, "");
	assert_int_equal(run("--ctl-socket", sock, "-j", "say -1"), 0);
	expect_file(out, "{\"said\": \"-1\"}\n");
	/* Words that look like options belong to the command. */
	assert_int_equal(run("-s", sock, "say", "-j"), 0);
	expect_file(out, "said: -j\n");
	assert_int_equal(run("-s", sock, "say", "# nothing"), 1);
}

static void words_are_completed(void **state)
{
	(void)state;
	assert_int_equal(run("-s", sock, "-c", "s"), 0);
	expect_file(out, "say\n");
	assert_int_equal(run("-s", sock, "--complete", "say", ""), 0);
	expect_file(out, "TEXT\ta word\n");
	assert_int_equal(run("-s", sock, "-c"), 0);
	expect_file(out, "help\nquit\nsay\n");
	assert_int_equal(run("-s", sock, "-c", "-f", "x"), 2);
	assert_int_equal(ran, 0);
}

static void refusals_go_to_stderr(void **state)
{
	(void)state;
	assert_int_equal(run("-s", sock, "sy", "hello"), 1);
	expect_file(out, "");
	expect_file(err, "millracectl: unknown command 'sy'; did you mean 'say'?\n");
	assert_int_equal(run("-s", sock, "say a\nsay b"), 1);
	expect_file(err, "millracectl: a command is one line\n");
	assert_int_equal(ran, 0);

	static char word[20000];
	memset(word, 'x', sizeof(word) - 1);
	assert_int_equal(run("-s", sock, "say", word), 1);
	expect_file(err, "millracectl: a line is longer than 4096 bytes\n");
}

static void wrong_usage_and_no_server_are_told_apart(void **state)
{
	(void)state;
	char nobody[80], wanted[256];

	assert_int_equal(run("-s", sock), 2);
	assert_int_equal(run("--nonsense"), 2);
	assert_int_equal(run("-f", commands_file, "say", "x"), 2);
	assert_int_equal(run("-f", "/nowhere/commands"), 2);
	snprintf(nobody, sizeof(nobody), "%s/nobody", directory);
	assert_int_equal(run("-s", nobody, "say", "x"), 2);
	snprintf(wanted, sizeof(wanted),
		 "millracectl: no millrace answers at %s: No such file or directory\n", nobody);
	expect_file(err, wanted);
	assert_int_equal(run("--help"), 0);
	assert_int_equal(run("--version"), 0);
}

static void files_stop_at_the_first_refusal(void **state)
{
	(void)state;
	static const char text[] = "say a\n# comment\n\nsay b\nsay a\0b\nsay c\n";
	char wanted[256];

	write_commands(text, sizeof(text) - 1);
	assert_int_equal(run("-s", sock, "-f", commands_file), 1);
	expect_file(out, "said: a\nsaid: b\n");
	snprintf(wanted, sizeof(wanted),
		 "%s:5: byte 0x00 at column 6: a command is printable ASCII\n", commands_file);
	expect_file(err, wanted);
	assert_int_equal(run("-s", sock, "-f", "-"), 1);
	expect_file(err, "stdin:5: byte 0x00 at column 6: a command is printable ASCII\n");
	write_commands("say last", 8);
	assert_int_equal(run("-s", sock, "-f", "-"), 0);
	expect_file(out, "said: last\n");
}

static void a_full_disk_is_trouble(void **state)
{
	(void)state;
	const char *const words[] = {"-s", sock, "say", "hello", NULL};

	assert_int_equal(run_to("/dev/full", words), 2);
	expect_file(err, "millracectl: stdout: No space left on device\n");
	assert_int_equal(ran, 1);
}

static void a_reader_that_left_is_none(void **state)
{
	(void)state;
	const char *const words[] = {"-s", sock, "-f", "-", NULL};
	char unread[32];
	int pipe_fd[2];

	assert_int_equal(pipe(pipe_fd), 0);
	close(pipe_fd[0]);
	snprintf(unread, sizeof(unread), "/dev/fd/%d", pipe_fd[1]);
	write_commands("say a\nsay b\n", 12);
	assert_int_equal(run_to(unread, words), 0);
	assert_int_equal(ran, 2);
	close(pipe_fd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_a_command),
		cmocka_unit_test(words_are_completed),
		cmocka_unit_test(refusals_go_to_stderr),
		cmocka_unit_test(wrong_usage_and_no_server_are_told_apart),
		cmocka_unit_test(files_stop_at_the_first_refusal),
		cmocka_unit_test(a_full_disk_is_trouble),
		cmocka_unit_test(a_reader_that_left_is_none),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
