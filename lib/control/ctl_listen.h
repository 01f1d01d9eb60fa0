/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_CTL_LISTEN_H
#define MR_CONTROL_CTL_LISTEN_H

#include <sys/types.h>

#include "base/error.h"

/* A listening socket and which file it is. */
struct mr_ctl_listen {
	int fd;
	dev_t device;
	ino_t inode;
};

/* Makes a non-blocking listening socket at path, mode 0600 from its first moment, as
 * mr_ctl_server_new describes it. Returns 0 or a negative errno with a sentence. */
int mr_ctl_listen_open(const char *path, struct mr_ctl_listen *listening, struct mr_error *error);

/* Closes it and unlinks path if that still is this socket. */
void mr_ctl_listen_close(struct mr_ctl_listen *listening, const char *path);

#endif
