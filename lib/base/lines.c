/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

static int append(struct mr_lines *lines, char *text)
{
	char **larger = realloc(lines->line, (lines->count + 1) * sizeof(*larger));

	if (larger == NULL)
		return -1;
	lines->line = larger;
	lines->line[lines->count++] = text;
	return 0;
}

void mr_lines_add(struct mr_lines *lines, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	if (lines == NULL)
		return;
	va_start(args, format);
	int length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0 || append(lines, text) != 0) {
		mr_log_error("no memory to keep '%s'", length < 0 ? format : text);
		free(length < 0 ? NULL : text);
	}
}

void mr_lines_clear(struct mr_lines *lines)
{
	for (unsigned i = 0; i < lines->count; i++)
		free(lines->line[i]);
	free(lines->line);
	*lines = (struct mr_lines){0};
}
