/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/ctl_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/ctl_client.h"
#include "control/ctl_listen.h"
#include "control/ctl_protocol.h"

#define ACCEPTS_A_TURN 16

struct mr_ctl_server {
	struct mr *mr;
	struct mr_loop *loop;
	struct mr_ctl_listen listening;
	int spare; /* a descriptor to give up when the process has no more of them */
	unsigned count;
	struct mr_ctl_clients clients;
	char *path;
};

/* Without a free descriptor a connection would stay in the backlog and wake the loop for ever, so
 * the spare one is used to take it and close it. */
static void drop_one(struct mr_ctl_server *server)
{
	close(server->spare);
	int fd = accept4(server->listening.fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void on_connect(int listening, uint32_t events, void *context)
{
	struct mr_ctl_server *server = context;

	(void)events;
	for (unsigned i = 0; i < ACCEPTS_A_TURN; i++) {
		int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0 && (errno == EMFILE || errno == ENFILE))
			drop_one(server);
		else if (fd < 0)
			return;
		else if (server->count == MR_CTL_MAX_CLIENTS)
			mr_ctl_client_turn_away(fd);
		else
			mr_ctl_client_new(server->mr, server->loop, fd, &server->clients,
					  &server->count);
	}
}

int mr_ctl_server_new(struct mr *mr, struct mr_loop *loop, const char *path,
		      struct mr_ctl_server **server, struct mr_error *error)
{
	struct mr_ctl_server *s = calloc(1, sizeof(*s));

	if (s == NULL || (s->path = strdup(path)) == NULL) {
		free(s);
		return mr_fail(error, -ENOMEM, "not enough memory for the control socket");
	}
	s->mr = mr;
	s->loop = loop;
	s->spare = -1;
	TAILQ_INIT(&s->clients);
	int rc = mr_ctl_listen_open(path, &s->listening, error);
	if (rc != 0) {
		free(s->path);
		free(s);
		return rc;
	}
	s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	rc = s->spare >= 0 ? mr_loop_add(loop, s->listening.fd, EPOLLIN, on_connect, s) : -errno;
	if (rc != 0) {
		mr_ctl_server_free(s);
		return mr_fail(error, rc, "control socket %s: %s", path, strerror(-rc));
	}
	*server = s;
	return 0;
}

void mr_ctl_server_free(struct mr_ctl_server *server)
{
	struct mr_ctl_client *client;

	if (server == NULL)
		return;
	while ((client = TAILQ_FIRST(&server->clients)) != NULL)
		mr_ctl_client_free(client);
	mr_loop_remove(server->loop, server->listening.fd);
	mr_ctl_listen_close(&server->listening, server->path);
	if (server->spare >= 0)
		close(server->spare);
	free(server->path);
	free(server);
}

unsigned mr_ctl_server_clients(const struct mr_ctl_server *server)
{
	return server->count;
}
