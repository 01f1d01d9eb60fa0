/* SPDX-License-Identifier: BSD-3-Clause */
#include "connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/ctl_protocol.h"

int connection_open(struct connection *connection, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	connection->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connection->fd < 0)
		return -errno;
	if (connect(connection->fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    (connection->in = fdopen(connection->fd, "r")) == NULL) {
		int rc = -errno;
		close(connection->fd);
		return rc;
	}
	return 0;
}

void connection_close(struct connection *connection)
{
	fclose(connection->in);
}

static int send_all(int fd, const char *data, size_t length)
{
	while (length > 0) {
		ssize_t sent = send(fd, data, length, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		data += sent;
		length -= (size_t)sent;
	}
	return 0;
}

int connection_send(struct connection *connection, const char *style, const char *line,
		    size_t length)
{
	int rc = send_all(connection->fd, style, strlen(style));

	if (rc == 0)
		rc = send_all(connection->fd, " ", 1);
	if (rc == 0)
		rc = send_all(connection->fd, line, length);
	if (rc == 0)
		rc = send_all(connection->fd, "\n", 1);
	return rc;
}

int connection_status(struct connection *connection, bool *refused, size_t *length)
{
	char header[MR_CTL_MAX_HEADER], name[32];

	if (fgets(header, sizeof(header), connection->in) == NULL ||
	    sscanf(header, "%31s %zu", name, length) != 2)
		return -EPROTO;
	*refused = strcmp(name, "0") != 0;
	return 0;
}

size_t connection_body(struct connection *connection, char *buffer, size_t size)
{
	return fread(buffer, 1, size, connection->in);
}
