/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs of life for a service manager: none while an lcore is stuck. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "lcore/lcores.h"
#include "service.h"

#define STATUS_NEVER UINT64_MAX

/* The manager's end of its socket. */
static int manager(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char name[64];
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	snprintf(name, sizeof(name), "@mr_test_service_%d", getpid());
	strcpy(addr.sun_path, name);
	addr.sun_path[0] = '\0';
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, length), 0);
	setenv("NOTIFY_SOCKET", name, 1);
	setenv("WATCHDOG_USEC", "2000000", 1);
	return fd;
}

static bool told_alive(int fd)
{
	char message[256];
	ssize_t length = recv(fd, message, sizeof(message), 0);

	return length == 10 && memcmp(message, "WATCHDOG=1", 10) == 0;
}

static void a_stuck_lcore_is_not_called_alive(void **state)
{
	(void)state;
	static struct mr_lcore lcore[2];
	static struct mr_lcores lcores = {.count = 2, .running = true};
	struct mr mr = {.lcores = &lcores};
	struct service service;
	uint64_t now = 0;
	int fd = manager();

	for (unsigned i = 0; i < 2; i++)
		lcores.lcore[i] = &lcore[i];
	service_open(&service);
	assert_int_equal(service.alive_ms, 1000);
	service.next_status_ms = STATUS_NEVER;
	for (unsigned round = 0; round < 12; round++) {
		bool moves = round % 4 != 3, stopped = round == 7;

		lcores.running = !stopped;
		lcore[0].counters.iterations += 5;
		lcore[1].counters.iterations += moves;
		service_poll(&service, &mr, now);
		assert_int_equal(told_alive(fd), moves || stopped);
		service_poll(&service, &mr, now + 999);
		assert_false(told_alive(fd));
		now += 1000;
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stuck_lcore_is_not_called_alive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
