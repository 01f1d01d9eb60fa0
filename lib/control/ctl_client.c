/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client costs the server one line and one answer at most: the next request is read and run only
 * when the last answer is gone. So one that never reads blocks itself and nobody else, and one that
 * sends faster than it is served waits in its own socket. A turn serves a few requests, then lets
 * the loop go round.
 */
#include "control/ctl_client.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/cmd_complete.h"
#include "control/cmd_render.h"
#include "control/control.h"
#include "control/ctl_protocol.h"

#define STYLE_LENGTH 5 /* of "text ", "json " and "next " */
#define REQUESTS_A_TURN 16

static_assert(MR_CTL_MAX_LINE == MR_MAX_LINE, "the protocol carries any line");

struct mr_ctl_client {
	TAILQ_ENTRY(mr_ctl_client) entry;
	struct mr *mr;
	struct mr_loop *loop;
	struct mr_ctl_clients *clients;
	unsigned *count;
	int fd;
	bool skipping;       /* the rest of a line that is too long */
	bool finished;       /* it sends no more */
	bool waiting;        /* for the end of a command that takes long */
	enum mr_style style; /* of that one's answer */
	size_t in_length;
	size_t out_length, out_sent;
	char *out; /* the answer being sent, or NULL */
	char in[STYLE_LENGTH + MR_CTL_MAX_LINE + 1];
};

static int set_answer(struct mr_ctl_client *client, int status, const char *body, size_t length)
{
	const char *name = status != 0 ? strerrorname_np(-status) : NULL;
	char header[MR_CTL_MAX_HEADER];
	int used = snprintf(header, sizeof(header), "%s%s %zu\n", status != 0 ? "-" : "",
			    status == 0    ? "0"
			    : name != NULL ? name
					   : "EINVAL",
			    length);

	client->out = malloc((size_t)used + length);
	if (client->out == NULL)
		return -ENOMEM;
	memcpy(client->out, header, (size_t)used);
	memcpy(client->out + used, body, length);
	client->out_length = (size_t)used + length;
	client->out_sent = 0;
	return 0;
}

static int refuse(struct mr_ctl_client *client, int status, const char *sentence)
{
	char body[sizeof(((struct mr_error *)NULL)->text) + 2];
	int length = snprintf(body, sizeof(body), "%s\n", sentence);

	return set_answer(client, status, body, (size_t)length);
}

static int answer(struct mr_ctl_client *client, const struct mr_reply *reply, enum mr_style style)
{
	size_t length;
	char *body = mr_render(reply->data, style, &length);

	if (body == NULL)
		return refuse(client, -ENOMEM, "done, but there is no memory for the answer");
	int rc = set_answer(client, 0, body, length);
	free(body);
	return rc;
}

/* Answers with what can come next in a line that is being typed. */
static int answer_next(struct mr_ctl_client *client, const char *line, size_t length)
{
	struct mr_completion completion;
	char *body = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&body, &size);

	if (out == NULL)
		return refuse(client, -ENOMEM, "not enough memory");
	mr_cmd_complete(mr_control_table(client->mr->control), line, length, &completion);
	mr_completion_print(&completion, out);
	int rc = fclose(out) == 0 ? set_answer(client, 0, body, size)
				  : refuse(client, -ENOMEM, "not enough memory");
	free(body);
	return rc;
}

static bool has_style(const char *request, size_t length, const char *style)
{
	return length >= STYLE_LENGTH && memcmp(request, style, STYLE_LENGTH) == 0;
}

static int answer_done(struct mr_ctl_client *client, int rc, const struct mr_reply *reply)
{
	return rc < 0 ? refuse(client, rc, reply->error.text)
		      : answer(client, reply, client->style);
}

static void on_late_answer(int rc, const struct mr_reply *reply, void *context);

/* Runs a request (without its newline) and leaves the answer in client->out, or will. */
static int serve(struct mr_ctl_client *client, const char *request, size_t length)
{
	bool json = has_style(request, length, "json ");
	struct mr_reply reply;

	if (has_style(request, length, "next "))
		return answer_next(client, request + STYLE_LENGTH, length - STYLE_LENGTH);
	if (!json && !has_style(request, length, "text "))
		return refuse(client, -EPROTO,
			      "a request starts with 'text ', 'json ' or 'next ', then a command");
	client->style = json ? MR_STYLE_JSON : MR_STYLE_TEXT;
	int rc = mr_control_submit(client->mr, request + STYLE_LENGTH, length - STYLE_LENGTH,
				   &reply, on_late_answer, client);
	client->waiting = rc == -EINPROGRESS;
	if (client->waiting)
		return 0;
	rc = answer_done(client, rc, &reply);
	mr_reply_clear(&reply);
	return rc;
}

/* Sends what can be sent. Returns 0 when all is gone, -EAGAIN when some is left, or the error. */
static int flush(struct mr_ctl_client *client)
{
	while (client->out != NULL) {
		ssize_t sent =
			send(client->fd, client->out + client->out_sent,
			     client->out_length - client->out_sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0)
			return errno == EINTR ? -EAGAIN : -errno;
		client->out_sent += (size_t)sent;
		if (client->out_sent == client->out_length) {
			free(client->out);
			client->out = NULL;
		}
	}
	return 0;
}

/* Reads once into the room that is left. Returns 0 or an error. */
static int fill(struct mr_ctl_client *client)
{
	size_t room = sizeof(client->in) - client->in_length;

	if (client->finished || room == 0)
		return 0;
	ssize_t got = recv(client->fd, client->in + client->in_length, room, MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	client->finished = got == 0;
	client->in_length += (size_t)got;
	return 0;
}

static bool has_request(const struct mr_ctl_client *client)
{
	return client->in_length == sizeof(client->in) ||
	       memchr(client->in, '\n', client->in_length) != NULL;
}

/* Takes the first request (or a part of one that is too long) out of the buffer. */
static int next_request(struct mr_ctl_client *client)
{
	const char *end = memchr(client->in, '\n', client->in_length);
	size_t length = end != NULL ? (size_t)(end - client->in) : client->in_length;
	size_t consumed = end != NULL ? length + 1 : length;
	int rc = 0;

	if (!client->skipping && end != NULL)
		rc = serve(client, client->in, length);
	else if (!client->skipping)
		rc = refuse(client, -EMSGSIZE, "a line is longer than 4096 bytes");
	client->skipping = end == NULL;
	client->in_length -= consumed;
	memmove(client->in, client->in + consumed, client->in_length);
	return rc;
}

static int serve_turn(struct mr_ctl_client *client)
{
	int rc = flush(client);

	if (rc == 0)
		rc = fill(client);
	for (unsigned i = 0;
	     rc == 0 && !client->waiting && i < REQUESTS_A_TURN && has_request(client); i++) {
		rc = next_request(client);
		if (rc == 0)
			rc = flush(client);
	}
	return rc;
}

static void take_turn(struct mr_ctl_client *client)
{
	int rc = serve_turn(client), fd = client->fd;

	if (rc != 0 && rc != -EAGAIN) {
		mr_ctl_client_free(client);
		return;
	}
	/* A request that waits for the next turn is like an answer that waits to be sent. */
	if (client->waiting)
		mr_loop_set(client->loop, fd, 0);
	else if (client->out != NULL || has_request(client))
		mr_loop_set(client->loop, fd, EPOLLOUT);
	else if (client->finished)
		mr_ctl_client_free(client);
	else
		mr_loop_set(client->loop, fd, EPOLLIN);
}

static void on_event(int fd, uint32_t events, void *context)
{
	struct mr_ctl_client *client = context;

	(void)fd;
	if (!client->waiting)
		take_turn(client);
	else if ((events & (EPOLLHUP | EPOLLERR)) != 0)
		mr_ctl_client_free(client);
}

static void on_late_answer(int rc, const struct mr_reply *reply, void *context)
{
	struct mr_ctl_client *client = context;

	client->waiting = false;
	if (answer_done(client, rc, reply) == 0)
		take_turn(client);
	else
		mr_ctl_client_free(client);
}

int mr_ctl_client_new(struct mr *mr, struct mr_loop *loop, int fd, struct mr_ctl_clients *clients,
		      unsigned *count)
{
	struct mr_ctl_client *client = malloc(sizeof(*client));

	if (client == NULL) {
		close(fd);
		return -ENOMEM;
	}
	*client = (struct mr_ctl_client){
		.mr = mr, .loop = loop, .clients = clients, .count = count, .fd = fd};
	int rc = mr_loop_add(loop, fd, EPOLLIN, on_event, client);
	if (rc != 0) {
		close(fd);
		free(client);
		return rc;
	}
	TAILQ_INSERT_TAIL(clients, client, entry);
	++*count;
	return 0;
}

void mr_ctl_client_free(struct mr_ctl_client *client)
{
	mr_control_forget(client->mr->control, client);
	TAILQ_REMOVE(client->clients, client, entry);
	--*client->count;
	mr_loop_remove(client->loop, client->fd);
	close(client->fd);
	free(client->out);
	free(client);
}

void mr_ctl_client_turn_away(int fd)
{
	static const char body[] = "too many clients, 32 are served at once\n";
	char text[MR_CTL_MAX_HEADER + sizeof(body)];
	int length = snprintf(text, sizeof(text), "-EBUSY %zu\n%s", strlen(body), body);

	static_assert(MR_CTL_MAX_CLIENTS == 32, "the sentence says so");
	send(fd, text, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}
