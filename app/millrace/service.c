/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams to systemd are all of its protocol that is needed, so no library is. Signs of life come
 * from the control thread's loop, so one that hangs is noticed; and it looks whether each lcore has
 * made an iteration since the last sign. One that sleeps makes dozens a second, so one that has
 * nothing to do is not taken for dead.
 */
#include "service.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "base/log.h"
#include "lcore/lcores.h"
#include "lcore/rates.h"
#include "port/port.h"

#define STATUS_PERIOD_MS 5000

/* Returns 0, also without a service manager, or a negative errno. */
static int notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	if (path == NULL || path[0] == '\0' || strlen(path) >= sizeof(addr.sun_path))
		return 0;
	strcpy(addr.sun_path, path);
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	if (path[0] == '@') /* an abstract socket */
		addr.sun_path[0] = '\0';

	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	int rc = sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
			(struct sockaddr *)&addr, length) < 0
			 ? -errno
			 : 0;
	close(fd);
	return rc;
}

static void notify_once(const char *state)
{
	int rc = notify(state);

	if (rc != 0)
		mr_log_warning("the service manager could not be told %.*s: %s",
			       (int)strcspn(state, "\n"), state, strerror(-rc));
}

/* A number from the environment, 0 if there is none. */
static uint64_t environment_number(const char *name)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 10) : 0;
}

void service_open(struct service *service)
{
	uint64_t pid = environment_number("WATCHDOG_PID");

	*service = (struct service){0};
	if (pid != 0 && pid != (uint64_t)getpid())
		return; /* meant for another process, whose environment this one inherited */
	uint64_t timeout_ms = environment_number("WATCHDOG_USEC") / 1000;
	if (timeout_ms != 0)
		service->alive_ms = timeout_ms / 2 != 0 ? timeout_ms / 2 : 1;
}

/* The sentence that `systemctl status` shows. */
static void describe(struct mr *mr, char *text, size_t size)
{
	unsigned ports = 0, up = 0;
	uint64_t rx_pps = 0;

	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++) {
		const struct mr_port *port = mr_port(mr, id);

		if (port == NULL)
			continue;
		ports++;
		up += port->link.link_status == RTE_ETH_LINK_UP;
		rx_pps += mr_rate_of_port(mr, id).rx_pps;
	}
	if (mr->lcores->running)
		snprintf(text, size,
			 "forwarding with %u lcore%s, %u of %u ports up, %" PRIu64
			 " packets a second received",
			 mr->lcores->count, mr->lcores->count == 1 ? "" : "s", up, ports, rx_pps);
	else
		snprintf(text, size, "forwarding is stopped, %u of %u ports up", up, ports);
}

void service_ready(struct service *service, struct mr *mr, uint64_t now_ms)
{
	char message[sizeof(service->status) + 32];

	describe(mr, service->status, sizeof(service->status));
	snprintf(message, sizeof(message), "READY=1\nSTATUS=%s", service->status);
	notify_once(message);
	service->next_alive_ms = now_ms + service->alive_ms;
	service->next_status_ms = now_ms + STATUS_PERIOD_MS;
}

/* Whether each lcore has moved since the last look. The counter is the lcore's; a torn read cannot
 * be, and an old value only looks like an lcore that moved later. */
static bool lcores_live(struct service *service, struct mr *mr)
{
	const struct mr_lcore *stuck = NULL;

	for (unsigned i = 0; i < mr->lcores->count; i++) {
		const struct mr_lcore *lcore = mr->lcores->lcore[i];
		uint64_t now = __atomic_load_n(&lcore->counters.iterations, __ATOMIC_RELAXED);

		if (mr->lcores->running && now == service->iterations[i])
			stuck = lcore;
		service->iterations[i] = now;
	}
	if (stuck != NULL && !service->is_stuck)
		mr_log_error("lcore %u is stuck: no sign of life to the service manager",
			     stuck->id);
	service->is_stuck = stuck != NULL;
	return stuck == NULL;
}

/* A message that does not arrive is not worth a word: the next one follows. */
void service_poll(struct service *service, struct mr *mr, uint64_t now_ms)
{
	char status[sizeof(service->status)], message[sizeof(status) + 32];

	if (service->alive_ms != 0 && now_ms >= service->next_alive_ms) {
		if (lcores_live(service, mr))
			notify("WATCHDOG=1");
		service->next_alive_ms = now_ms + service->alive_ms;
	}
	if (now_ms < service->next_status_ms)
		return;
	service->next_status_ms = now_ms + STATUS_PERIOD_MS;
	describe(mr, status, sizeof(status));
	if (strcmp(status, service->status) == 0)
		return;
	strcpy(service->status, status);
	snprintf(message, sizeof(message), "STATUS=%s", status);
	notify(message);
}

void service_stopping(void)
{
	notify_once("STOPPING=1");
}
