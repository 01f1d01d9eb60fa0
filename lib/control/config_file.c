/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The end of a long path, which says more than its start. */
static const char *shown(const char *path)
{
	size_t length = strlen(path);

	return length > 80 ? path + length - 80 : path;
}

static int run_lines(struct mr *mr, FILE *file, const char *path, struct mr_error *error)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	unsigned number = 0;
	int rc = 0;

	while (rc == 0 && (length = getline(&line, &size, file)) >= 0) {
		struct mr_reply reply;
		number++;
		if (length > 0 && line[length - 1] == '\n')
			length--;
		rc = mr_control_execute(mr, line, (size_t)length, &reply);
		mr_control_settle(mr); /* the next line finds all that follows from this one done */
		if (rc != 0)
			mr_fail(error, rc, "%s:%u: %s", shown(path), number, reply.error.text);
		mr_reply_clear(&reply);
	}
	if (rc == 0 && ferror(file))
		rc = mr_fail(error, -EIO, "%s: cannot be read", shown(path));
	free(line);
	return rc;
}

int mr_control_config_file(struct mr *mr, const char *path, struct mr_error *error)
{
	struct stat status;
	FILE *file = fopen(path, "re");

	if (file == NULL) {
		int rc = -errno;
		return mr_fail(error, rc, "%s: %s", shown(path), strerror(-rc));
	}
	if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
		fclose(file);
		return mr_fail(error, -EISDIR, "%s: is a directory, not a file of commands",
			       shown(path));
	}
	int rc = run_lines(mr, file, path, error);
	fclose(file);
	return rc;
}
