/* SPDX-License-Identifier: BSD-3-Clause */
/* One datagram to systemd is all of its protocol that is needed, so no library is. */
#include "service.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"

void service_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	if (path == NULL || path[0] == '\0' || strlen(path) >= sizeof(addr.sun_path))
		return;
	strcpy(addr.sun_path, path);
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	if (path[0] == '@') /* an abstract socket */
		addr.sun_path[0] = '\0';

	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 ||
	    sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&addr, length) < 0)
		mr_log_warning("the service manager could not be told %s", state);
	if (fd >= 0)
		close(fd);
}
