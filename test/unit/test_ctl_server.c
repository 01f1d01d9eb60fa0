/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "control/control.h"
#include "control/ctl_protocol.h"
#include "control/ctl_server.h"

#define LARGE 20000 /* rows of a table that no socket buffer holds */

static struct mr mr;
static struct mr_loop *loop;
static struct mr_ctl_server *server;
static char directory[] = "/tmp/millrace-test-ctl-XXXXXX", path[128];
static unsigned ran;

static int run_say(struct mr *m, const struct mr_args *args, struct mr_reply *reply)
{
	(void)m;
	ran++;
	return mr_reply(reply, json_string(mr_arg(args, "TEXT", 0)->text));
}

static int run_large(struct mr *m, const struct mr_args *args, struct mr_reply *reply)
{
	json_t *rows = json_array();

	(void)m;
	(void)args;
	ran++;
	for (unsigned i = 0; i < LARGE; i++)
		json_array_append_new(rows, json_pack("{s:i, s:s}", "row", (int)i, "text",
						      "a station or a route, for instance"));
	return mr_reply(reply, rows);
}

static int run_refuse(struct mr *m, const struct mr_args *args, struct mr_reply *reply)
{
	(void)m;
	(void)args;
	return mr_refuse(reply, -EEXIST, "it exists already");
}

static const struct mr_cmd commands[] = {
	{"say TEXT", "", run_say},
	{"large", "", run_large},
	{"refuse", "", run_refuse},
	{NULL},
};

static int set_up(void **state)
{
	struct mr_error error = {0};

	(void)state;
	ran = 0;
	loop = mr_loop_new();
	if (loop == NULL || mr_control_new(&mr) != 0 ||
	    mr_control_register(mr.control, commands) != 0)
		return -1;
	return mr_ctl_server_new(&mr, loop, path, &server, &error);
}

static int tear_down(void **state)
{
	(void)state;
	mr_ctl_server_free(server);
	mr_control_free(&mr);
	mr_loop_free(loop);
	return access(path, F_OK) == 0; /* it takes its socket away */
}

static unsigned open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

static void settle(void)
{
	while (mr_loop_poll(loop, 0) > 0)
		;
}

static int dial(const char *where)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(address.sun_path, where);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static int client(void)
{
	int fd = dial(path);

	assert_true(fd >= 0);
	return fd;
}

static void put(int fd, const void *data, size_t length)
{
	while (length > 0) {
		ssize_t sent = send(fd, data, length, MSG_NOSIGNAL);
		if (sent < 0)
			assert_int_equal(errno, EAGAIN);
		else
			data = (const char *)data + sent, length -= (size_t)sent;
		mr_loop_poll(loop, 0);
	}
	settle();
}

static void put_text(int fd, const char *text)
{
	put(fd, text, strlen(text));
}

/* What has arrived so far, while the server goes on sending. */
static size_t get(int fd, char *text, size_t size)
{
	size_t length = 0;
	ssize_t got;

	do {
		settle();
		got = recv(fd, text + length, size - 1 - length, 0);
		length += got > 0 ? (size_t)got : 0;
	} while (got > 0 && length < size - 1);
	text[length] = '\0';
	return length;
}

static void expect_answer(int fd, const char *wanted)
{
	char text[1024];

	get(fd, text, sizeof(text));
	assert_string_equal(text, wanted);
}

static void expect_closed(int fd)
{
	char byte;

	settle();
	ssize_t got = recv(fd, &byte, 1, 0);
	assert_true(got == 0 || (got < 0 && errno == ECONNRESET));
	close(fd);
}

static void answers_come_in_order(void **state)
{
	(void)state;
	int fd = client();

	put_text(fd, "text say hello\n");
	expect_answer(fd, "0 6\nhello\n");
	put_text(fd, "json say hello\ntext refuse\njson refuse\ntext  # nothing\ntext say b\n");
	expect_answer(fd, "0 8\n\"hello\"\n"
			  "-EEXIST 18\nit exists already\n"
			  "-EEXIST 18\nit exists already\n"
			  "0 0\n"
			  "0 2\nb\n");
	close(fd);
}

static void next_words_are_told_and_nothing_is_run(void **state)
{
	(void)state;
	int fd = client();

	put_text(fd, "next la\nnext \n");
	expect_answer(fd, "0 6\nlarge\n0 27\nhelp\nquit\nsay\nlarge\nrefuse\n");
	put_text(fd, "next say \nnext say hello\nnext large \nnext nonsense \n");
	expect_answer(fd, "0 12\nTEXT\ta word\n0 12\nTEXT\ta word\n0 0\n0 0\n");
	assert_int_equal(ran, 0);
	close(fd);
}

static void more_requests_than_a_turn_serves_are_all_served(void **state)
{
	(void)state;
	int fd = client();
	static char many[15 * 250 + 1], text[16384];

	for (unsigned i = 0; i < 250; i++)
		memcpy(many + 15 * i, "text say a2345\n", 15);
	put_text(fd, many);
	assert_int_equal(get(fd, text, sizeof(text)), 250 * strlen("0 6\na2345\n"));
	assert_int_equal(ran, 250);
	close(fd);
}

static void half_a_line_waits_and_is_dropped_at_the_end(void **state)
{
	(void)state;
	int fd = client();

	put_text(fd, "text sa");
	expect_answer(fd, "");
	put_text(fd, "y hello\ntext say half");
	expect_answer(fd, "0 6\nhello\n");
	close(fd);
	settle();
	assert_int_equal(ran, 1);
	assert_int_equal(mr_ctl_server_clients(server), 0);
}

static void whole_lines_of_a_leaving_client_are_run(void **state)
{
	(void)state;
	int fd = client();

	assert_int_equal(send(fd, "text say a\ntext say b\n", 22, 0), 22);
	shutdown(fd, SHUT_WR);
	expect_answer(fd, "0 2\na\n0 2\nb\n");
	expect_closed(fd);
	assert_int_equal(ran, 2);
}

static void malformed_requests_are_refused_and_the_next_is_served(void **state)
{
	(void)state;
	static char long_line[10240];
	int fd = client();

	put(fd, "text say a\0b\n", 13);
	expect_answer(fd, "-EILSEQ 52\nbyte 0x00 at column 6: a command is printable ASCII\n");
	put_text(fd, "\nhello\ntext\n");
	expect_answer(
		fd,
		"-EPROTO 66\na request starts with 'text ', 'json ' or 'next ', then a command\n"
		"-EPROTO 66\na request starts with 'text ', 'json ' or 'next ', then a command\n"
		"-EPROTO 66\na request starts with 'text ', 'json ' or 'next ', then a command\n");
	memset(long_line, 'x', sizeof(long_line));
	memcpy(long_line, "text say ", 9);
	put(fd, long_line, sizeof(long_line));
	expect_answer(fd, "-EMSGSIZE 33\na line is longer than 4096 bytes\n");
	put_text(fd, "rest\ntext say next\n");
	expect_answer(fd, "0 5\nnext\n");

	/* The longest line there may be. */
	long_line[5 + 4096] = '\n';
	put(fd, long_line, 5 + 4096 + 1);
	char text[8192];
	assert_int_equal(get(fd, text, sizeof(text)), strlen("0 4093\n") + 4093);
	close(fd);
}

static void a_client_that_never_reads_blocks_only_itself(void **state)
{
	(void)state;
	int silent = client(), other = client();
	unsigned sent = 0;

	while (send(silent, "text large\n", 11, MSG_NOSIGNAL) == 11 && sent++ < 100000)
		mr_loop_poll(loop, 0);
	settle();
	assert_int_equal(ran, 1); /* the second waits until the first is read */
	put_text(other, "text say hello\n");
	expect_answer(other, "0 6\nhello\n");
	close(other);

	/* When it reads at last, all of it comes. */
	static char text[4 << 20];
	size_t length = get(silent, text, sizeof(text));
	unsigned header;
	assert_int_equal(sscanf(text, "0 %u\n", &header), 1);
	assert_true(length > header && ran > 1);
	close(silent);
	settle();
	assert_int_equal(mr_ctl_server_clients(server), 0);
}

static void clients_that_come_and_go_leave_nothing(void **state)
{
	(void)state;
	unsigned before = open_descriptors();

	for (unsigned i = 0; i < 1000; i++) {
		int fd = client();
		if (i % 5 == 1)
			send(fd, "text large\n", 11, MSG_NOSIGNAL);
		if (i % 5 == 2)
			send(fd, "text la", 7, MSG_NOSIGNAL);
		if (i % 5 == 3) {
			send(fd, "text large\n", 11, MSG_NOSIGNAL);
			mr_loop_poll(loop, 0);
			mr_loop_poll(loop, 0);
		}
		if (i % 5 == 4)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0},
				   sizeof(struct linger));
		close(fd);
		mr_loop_poll(loop, 0);
	}
	settle();
	assert_int_equal(mr_ctl_server_clients(server), 0);
	assert_int_equal(open_descriptors(), before);
}

static void clients_beyond_the_limit_are_told(void **state)
{
	(void)state;
	int fd[MR_CTL_MAX_CLIENTS];

	for (unsigned i = 0; i < MR_CTL_MAX_CLIENTS; i++)
		fd[i] = client();
	settle();
	assert_int_equal(mr_ctl_server_clients(server), MR_CTL_MAX_CLIENTS);
	int more = client();
	expect_answer(more, "-EBUSY 40\ntoo many clients, 32 are served at once\n");
	expect_closed(more);
	close(fd[7]);
	settle();
	fd[7] = client();
	put_text(fd[7], "text say hello\n");
	expect_answer(fd[7], "0 6\nhello\n");
	for (unsigned i = 0; i < MR_CTL_MAX_CLIENTS; i++)
		close(fd[i]);
}

static void no_more_descriptors_do_not_stop_the_server(void **state)
{
	(void)state;
	struct rlimit limit, low;
	int waiting = client();

	settle();
	int first = client();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = (struct rlimit){(rlim_t)first + 1, limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	settle();
	setrlimit(RLIMIT_NOFILE, &limit);
	expect_closed(first);
	put_text(waiting, "text say hello\n");
	expect_answer(waiting, "0 6\nhello\n");
	close(waiting);
}

static void the_socket_is_for_its_owner_only(void **state)
{
	(void)state;
	struct stat status;
	static const mode_t masks[] = {0, 022, 0777};
	struct mr_error error = {0};
	struct mr_ctl_server *other;
	char name[160];

	snprintf(name, sizeof(name), "%s/mode", directory);
	for (unsigned i = 0; i < 3; i++) {
		mode_t old = umask(masks[i]);
		assert_int_equal(mr_ctl_server_new(&mr, loop, name, &other, &error), 0);
		umask(old);
		assert_int_equal(stat(name, &status), 0);
		assert_int_equal(status.st_mode & 07777, 0600);
		mr_ctl_server_free(other);
	}
}

static void a_living_server_stays_a_dead_one_is_replaced(void **state)
{
	(void)state;
	struct mr_error error = {0};
	struct mr_ctl_server *other;
	char name[160], file[170], wanted[320];

	assert_int_equal(mr_ctl_server_new(&mr, loop, path, &other, &error), -EADDRINUSE);
	snprintf(wanted, sizeof(wanted),
		 "control socket %s: another millrace answers there; end it or choose another with "
		 "--ctl-socket",
		 path);
	assert_string_equal(error.text, wanted);
	settle();

	/* A socket whose server was killed; its directory is made. */
	snprintf(name, sizeof(name), "%s/new", directory);
	snprintf(file, sizeof(file), "%s/sock", name);
	assert_int_equal(mr_ctl_server_new(&mr, loop, file, &other, &error), 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mr_ctl_server_free(other);
	strcpy(address.sun_path, file);
	int dead = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(dead, (struct sockaddr *)&address, sizeof(address)), 0);
	close(dead);
	assert_true(dial(file) < 0);
	assert_int_equal(mr_ctl_server_new(&mr, loop, file, &other, &error), 0);
	int fd = dial(file);
	assert_true(fd >= 0);
	close(fd);
	settle();

	/* A server removes no socket but its own. */
	unlink(file);
	int successor = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(successor, (struct sockaddr *)&address, sizeof(address)), 0);
	mr_ctl_server_free(other);
	assert_int_equal(access(file, F_OK), 0);
	close(successor);
	unlink(file);

	/* What is no socket is never touched. */
	error.text[0] = '\0';
	close(open(file, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(mr_ctl_server_new(&mr, loop, file, &other, &error), -EEXIST);
	assert_int_equal(access(file, F_OK), 0);
	unlink(file);
	assert_int_equal(symlink("/etc/passwd", file), 0);
	assert_int_equal(mr_ctl_server_new(&mr, loop, file, &other, &error), -EEXIST);
	unlink(file);
	rmdir(name);

	error.text[0] = '\0';
	assert_int_equal(mr_ctl_server_new(&mr, loop, "/nowhere/at/all", &other, &error), -ENOENT);
	char too_long[200];
	memset(too_long, 'x', sizeof(too_long));
	too_long[199] = '\0';
	assert_int_equal(mr_ctl_server_new(&mr, loop, too_long, &other, &error), -ENAMETOOLONG);
}

/* ---- the loop itself ---- */

static int pair[2][2];
static unsigned calls;

static void remove_both(int fd, uint32_t events, void *context)
{
	(void)fd;
	(void)events;
	(void)context;
	calls++;
	mr_loop_remove(loop, pair[0][0]);
	mr_loop_remove(loop, pair[1][0]);
}

static void a_removed_descriptor_is_not_called_in_the_same_batch(void **state)
{
	(void)state;
	calls = 0;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(pipe(pair[i]), 0);
		assert_int_equal(mr_loop_add(loop, pair[i][0], EPOLLIN, remove_both, NULL), 0);
		assert_int_equal(write(pair[i][1], "x", 1), 1);
	}
	assert_int_equal(mr_loop_add(loop, pair[0][0], EPOLLIN, remove_both, NULL), -EEXIST);
	assert_int_equal(mr_loop_poll(loop, 1000), 2);
	assert_int_equal(calls, 1);
	assert_int_equal(mr_loop_poll(loop, 0), 0);
	for (unsigned i = 0; i < 4; i++)
		close(pair[i / 2][i % 2]);
}

static void count_call(int fd, uint32_t events, void *context)
{
	(void)events;
	if (++*(unsigned *)context == 2)
		mr_loop_remove(loop, fd);
}

static void regular_files_are_always_ready(void **state)
{
	(void)state;
	unsigned called = 0;
	int fd = open("/proc/self/exe", O_RDONLY);

	assert_int_equal(mr_loop_add(loop, fd, EPOLLIN, count_call, &called), 0);
	assert_int_equal(mr_loop_poll(loop, -1), 1);
	assert_int_equal(mr_loop_poll(loop, -1), 1);
	assert_int_equal(mr_loop_poll(loop, 0), 0);
	assert_int_equal(called, 2);
	close(fd);
}

static int make_directory(void **state)
{
	(void)state;
	if (mkdtemp(directory) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/ctl.sock", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(answers_come_in_order),
		CASE(next_words_are_told_and_nothing_is_run),
		CASE(more_requests_than_a_turn_serves_are_all_served),
		CASE(half_a_line_waits_and_is_dropped_at_the_end),
		CASE(whole_lines_of_a_leaving_client_are_run),
		CASE(malformed_requests_are_refused_and_the_next_is_served),
		CASE(a_client_that_never_reads_blocks_only_itself),
		CASE(clients_that_come_and_go_leave_nothing),
		CASE(clients_beyond_the_limit_are_told),
		CASE(no_more_descriptors_do_not_stop_the_server),
		CASE(the_socket_is_for_its_owner_only),
		CASE(a_living_server_stays_a_dead_one_is_replaced),
		CASE(a_removed_descriptor_is_not_called_in_the_same_batch),
		CASE(regular_files_are_always_ready),
	};
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
