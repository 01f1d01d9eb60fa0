/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_BASE_LINES_H
#define MR_BASE_LINES_H

/*
 * Commands that would bring back what is being taken away, in the order in which they are to be
 * run. A room that withdraws an interface's configuration notes them here; '@' stands for the
 * number that the port will have then.
 */
struct mr_lines {
	char **line;
	unsigned count;
};

/* Adds a line. lines may be NULL: then nobody wants to know. Without memory the line is lost, and
 * logged. */
void mr_lines_add(struct mr_lines *lines, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Frees the lines and empties the list. */
void mr_lines_clear(struct mr_lines *lines);

#endif
