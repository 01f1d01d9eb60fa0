/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epoll hands out several events at once, and the callback of one may remove the descriptor of the
 * next, or close it and get its number for a new one. So each watch is an object of its own, which
 * is freed only after the last event of a batch.
 */
#include "control/loop.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <unistd.h>

#define BATCH 32

struct watch {
	LIST_ENTRY(watch) entry;
	int fd;
	uint32_t events;
	bool always; /* a regular file */
	bool removed;
	mr_loop_callback *callback;
	void *context;
};

LIST_HEAD(watch_list, watch);

struct mr_loop {
	int epoll;
	unsigned always; /* how many watches are */
	struct watch_list watches, removed;
};

struct mr_loop *mr_loop_new(void)
{
	struct mr_loop *loop = calloc(1, sizeof(*loop));

	if (loop == NULL)
		return NULL;
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll < 0) {
		free(loop);
		return NULL;
	}
	return loop;
}

static void free_list(struct watch_list *list)
{
	struct watch *watch;

	while ((watch = LIST_FIRST(list)) != NULL) {
		LIST_REMOVE(watch, entry);
		free(watch);
	}
}

void mr_loop_free(struct mr_loop *loop)
{
	if (loop == NULL)
		return;
	free_list(&loop->watches);
	free_list(&loop->removed);
	close(loop->epoll);
	free(loop);
}

static struct watch *find(struct mr_loop *loop, int fd)
{
	struct watch *watch;

	LIST_FOREACH (watch, &loop->watches, entry) {
		if (watch->fd == fd)
			return watch;
	}
	return NULL;
}

int mr_loop_add(struct mr_loop *loop, int fd, uint32_t events, mr_loop_callback *callback,
		void *context)
{
	if (find(loop, fd) != NULL)
		return -EEXIST;
	struct watch *watch = calloc(1, sizeof(*watch));
	if (watch == NULL)
		return -ENOMEM;
	*watch = (struct watch){
		.fd = fd, .events = events, .callback = callback, .context = context};
	struct epoll_event event = {.events = events, .data.ptr = watch};
	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
		if (errno != EPERM) {
			int rc = -errno;
			free(watch);
			return rc;
		}
		watch->always = true;
		loop->always++;
	}
	LIST_INSERT_HEAD(&loop->watches, watch, entry);
	return 0;
}

void mr_loop_set(struct mr_loop *loop, int fd, uint32_t events)
{
	struct watch *watch = find(loop, fd);

	if (watch == NULL || watch->events == events)
		return;
	watch->events = events;
	struct epoll_event event = {.events = events, .data.ptr = watch};
	if (!watch->always)
		epoll_ctl(loop->epoll, EPOLL_CTL_MOD, fd, &event);
}

void mr_loop_remove(struct mr_loop *loop, int fd)
{
	struct watch *watch = find(loop, fd);

	if (watch == NULL)
		return;
	if (watch->always)
		loop->always--;
	else
		epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL);
	watch->removed = true;
	LIST_REMOVE(watch, entry);
	LIST_INSERT_HEAD(&loop->removed, watch, entry);
}

/* Regular files: each that is ready is called once; the list may change under the callbacks. */
static int call_always_ready(struct mr_loop *loop)
{
	struct watch *ready[BATCH], *watch;
	unsigned count = 0;

	LIST_FOREACH (watch, &loop->watches, entry) {
		if (watch->always && watch->events != 0 && count < BATCH)
			ready[count++] = watch;
	}
	for (unsigned i = 0; i < count; i++) {
		if (!ready[i]->removed)
			ready[i]->callback(ready[i]->fd, ready[i]->events, ready[i]->context);
	}
	return (int)count;
}

int mr_loop_poll(struct mr_loop *loop, int timeout_ms)
{
	struct epoll_event events[BATCH];
	int called = 0;

	if (loop->always > 0) {
		called = call_always_ready(loop);
		timeout_ms = called > 0 ? 0 : timeout_ms;
	}
	int count = epoll_wait(loop->epoll, events, BATCH, timeout_ms);
	if (count < 0)
		return errno == EINTR ? called : -errno;
	for (int i = 0; i < count; i++) {
		struct watch *watch = events[i].data.ptr;
		if (!watch->removed)
			watch->callback(watch->fd, events[i].events, watch->context);
	}
	free_list(&loop->removed);
	return called + count;
}
