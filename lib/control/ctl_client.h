/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_CTL_CLIENT_H
#define MR_CONTROL_CTL_CLIENT_H

#include <sys/queue.h>

#include "base/mr.h"
#include "control/loop.h"

/* One connection to the control socket. */
struct mr_ctl_client;

TAILQ_HEAD(mr_ctl_clients, mr_ctl_client);

/* Takes over fd (non-blocking; it is closed in any case), and from then on frees itself when the
 * connection ends. The client is in the list clients, and counted in count, as long as it lives.
 * Returns 0 or a negative errno. */
int mr_ctl_client_new(struct mr *mr, struct mr_loop *loop, int fd, struct mr_ctl_clients *clients,
		      unsigned *count);

void mr_ctl_client_free(struct mr_ctl_client *client);

/* Answers and closes a connection that cannot be served. */
void mr_ctl_client_turn_away(int fd);

#endif
