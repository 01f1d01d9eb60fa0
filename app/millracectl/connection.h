/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_MILLRACECTL_CONNECTION_H
#define MR_MILLRACECTL_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A connection to millrace's control socket; control/ctl_protocol.h says what is spoken. */
struct connection {
	int fd;
	FILE *in;
};

/* Returns 0, or a negative errno: nobody answers at path. */
int connection_open(struct connection *connection, const char *path);
void connection_close(struct connection *connection);

/* Sends a command line of length bytes; style is the protocol's word for what is wanted ("text",
 * "json", "next"). Returns 0 or a negative errno; an answer may have come
 * before the server hung up, so try to read it in any case. */
int connection_send(struct connection *connection, const char *style, const char *line,
		    size_t length);

/* Reads an answer's header. Returns 0 or -EPROTO. */
int connection_status(struct connection *connection, bool *refused, size_t *length);

/* Reads the next part of its body, size bytes at most. Returns how many, 0 at a hung up end. */
size_t connection_body(struct connection *connection, char *buffer, size_t size);

#endif
