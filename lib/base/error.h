/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_BASE_ERROR_H
#define MR_BASE_ERROR_H

/*
 * The one error idiom: functions return 0 or a negative errno. Where the caller cannot know what
 * was wrong, they also take a struct mr_error and leave one sentence there that names what was
 * wrong and what is allowed. Whoever knows what was wanted prints or logs it, once.
 */
struct mr_error {
	char text[256];
};

/* Puts a sentence into error (which may be NULL) and returns code, so that callers can write
 * `return mr_fail(error, -EINVAL, "...")`. The first sentence stays: it knows the most. */
int mr_fail(struct mr_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
