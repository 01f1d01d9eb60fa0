/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server that was killed leaves its socket behind, and the next one has to replace it without
 * taking away a living server's. Whether someone lives there is found by connecting. Two servers
 * that start at once would both find the dead socket and one could unlink what the other just
 * bound, so all of it happens under a lock on the directory.
 *
 * Linux gives a bound socket's file the mode of the socket itself less the umask. So the mode is
 * set before bind: there is no moment at which others could connect, and no process-wide umask is
 * touched while other threads run.
 */
#include "control/ctl_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG 64
#define LOCK_TRIES 100
#define LOCK_WAIT_MS 10

static int system_fault(struct mr_error *error, const char *path, const char *what)
{
	int rc = -errno;

	return mr_fail(error, rc, "control socket %s: %s: %s", path, what, strerror(-rc));
}

/* Returns a descriptor of the socket's directory that holds the lock, or a negative errno. */
static int lock_directory(const char *path, struct mr_error *error)
{
	char copy[sizeof(((struct sockaddr_un *)NULL)->sun_path)];

	strcpy(copy, path);
	const char *directory = dirname(copy);
	if (mkdir(directory, 0755) != 0 && errno != EEXIST)
		return system_fault(error, path, "its directory cannot be made");
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return system_fault(error, path, "its directory cannot be opened");
	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fd;
		nanosleep(&(struct timespec){.tv_nsec = LOCK_WAIT_MS * 1000000L}, NULL);
	}
	int rc = system_fault(error, path, "its directory is locked");
	close(fd);
	return rc;
}

/* Removes a dead server's socket. */
static int make_room(const struct sockaddr_un *address, struct mr_error *error)
{
	const char *path = address->sun_path;
	struct stat status;

	if (lstat(path, &status) != 0)
		return errno == ENOENT ? 0 : system_fault(error, path, "cannot be looked at");
	if (!S_ISSOCK(status.st_mode))
		return mr_fail(error, -EEXIST,
			       "control socket %s: a file that is no socket is there", path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return system_fault(error, path, "socket");
	int rc = connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ? 0 : errno;
	close(fd);
	if (rc == 0 || rc == EAGAIN)
		return mr_fail(error, -EADDRINUSE,
			       "control socket %s: another millrace answers there; end it or "
			       "choose another with --ctl-socket",
			       path);
	if (rc != ECONNREFUSED) {
		errno = rc;
		return system_fault(error, path, "cannot be tried");
	}
	return unlink(path) == 0 ? 0 : system_fault(error, path, "cannot be replaced");
}

static int bind_and_listen(const struct sockaddr_un *address, struct mr_ctl_listen *listening,
			   struct mr_error *error)
{
	const char *path = address->sun_path;
	struct stat status;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return system_fault(error, path, "socket");
	if (fchmod(fd, 0600) != 0 ||
	    bind(fd, (const struct sockaddr *)address, sizeof(*address)) != 0) {
		int rc = system_fault(error, path, "cannot be bound");
		close(fd);
		return rc;
	}
	/* A strict umask may have taken bits that are wanted; others must never have had any. */
	if (lstat(path, &status) != 0 || chmod(path, 0600) != 0 || listen(fd, BACKLOG) != 0) {
		int rc = system_fault(error, path, "cannot be listened on");
		unlink(path);
		close(fd);
		return rc;
	}
	if ((status.st_mode & 0077) != 0) {
		unlink(path);
		close(fd);
		return mr_fail(error, -EPERM, "control socket %s: this system gave it mode %o",
			       path, status.st_mode & 0777);
	}
	*listening = (struct mr_ctl_listen){fd, status.st_dev, status.st_ino};
	return 0;
}

int mr_ctl_listen_open(const char *path, struct mr_ctl_listen *listening, struct mr_error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(path);

	if (length == 0 || length >= sizeof(address.sun_path))
		return mr_fail(error, -ENAMETOOLONG,
			       "control socket: a path of %zu bytes; 1 to %zu are allowed", length,
			       sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, length);
	int lock = lock_directory(path, error);
	if (lock < 0)
		return lock;
	int rc = make_room(&address, error);
	if (rc == 0)
		rc = bind_and_listen(&address, listening, error);
	close(lock);
	return rc;
}

void mr_ctl_listen_close(struct mr_ctl_listen *listening, const char *path)
{
	struct stat status;

	if (lstat(path, &status) == 0 && status.st_dev == listening->device &&
	    status.st_ino == listening->inode)
		unlink(path);
	close(listening->fd);
}
