/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_LOOP_H
#define MR_CONTROL_LOOP_H

#include <stdint.h>

/*
 * What the control thread waits for: an epoll set with a callback for each file descriptor. All of
 * it is called by the control thread. Callbacks may not block; they may add and remove any
 * descriptor, also their own.
 */
struct mr_loop;

/* events are those that occurred: EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP. */
typedef void mr_loop_callback(int fd, uint32_t events, void *context);

/* NULL without memory or descriptors (errno says which). */
struct mr_loop *mr_loop_new(void);
void mr_loop_free(struct mr_loop *loop);

/*
 * Calls callback whenever one of events (level triggered; EPOLLERR and EPOLLHUP always) occurs on
 * fd, which stays the caller's: remove it before closing it. A regular file, which epoll does not
 * take, counts as always ready. Returns 0, -EEXIST, -ENOMEM or epoll_ctl's error.
 */
int mr_loop_add(struct mr_loop *loop, int fd, uint32_t events, mr_loop_callback *callback,
		void *context);

/* Changes what fd is watched for; 0 for nothing but errors. */
void mr_loop_set(struct mr_loop *loop, int fd, uint32_t events);

/* Its callback is not called again. */
void mr_loop_remove(struct mr_loop *loop, int fd);

/* Waits up to timeout_ms (0: not at all, -1: for ever) for events and calls their callbacks.
 * Returns how many were called, 0 also when a signal came first, or a negative errno. */
int mr_loop_poll(struct mr_loop *loop, int timeout_ms);

#endif
