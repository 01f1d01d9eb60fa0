/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_CTL_SERVER_H
#define MR_CONTROL_CTL_SERVER_H

#include "base/error.h"
#include "base/mr.h"
#include "control/loop.h"

/* Serves commands on a UNIX socket (ctl_protocol.h says how). Runs in the control thread's loop. */
struct mr_ctl_server;

/*
 * Listens at path and adds itself to loop; both mr and loop must outlive it. The last directory of
 * path is made when it is missing. A socket that a dead server left there is replaced. Returns 0;
 * -EADDRINUSE when another server answers there, -EEXIST when something there is no socket,
 * -ENAMETOOLONG, or what the system said; error has the sentence.
 */
int mr_ctl_server_new(struct mr *mr, struct mr_loop *loop, const char *path,
		      struct mr_ctl_server **server, struct mr_error *error);

/* Closes all clients and removes the socket, if it still is this server's. */
void mr_ctl_server_free(struct mr_ctl_server *server);

/* Clients that are connected now. */
unsigned mr_ctl_server_clients(const struct mr_ctl_server *server);

#endif
