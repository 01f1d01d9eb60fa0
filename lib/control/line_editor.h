/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_LINE_EDITOR_H
#define MR_CONTROL_LINE_EDITOR_H

#include <stddef.h>
#include <stdio.h>

#include "control/cmd_table.h"

/* Edits lines on a terminal, fed with what was typed. */
struct mr_line_editor;

/* A line is complete (it has no newline). The terminal is in its usual mode meanwhile. */
typedef void mr_line_callback(const char *line, size_t length, void *context);

/* Shows the prompt. Returns NULL when the terminal cannot be used. */
struct mr_line_editor *mr_line_editor_new(const struct mr_cmd_table *table, FILE *in, FILE *out,
					  mr_line_callback *callback, void *context);
void mr_line_editor_free(struct mr_line_editor *editor);

/* Takes bytes that were typed. Returns how many, up to and with the end of the first line (so
 * that a callback may stop it all), or -1 for a ^D on an empty line. */
int mr_line_editor_feed(struct mr_line_editor *editor, const char *typed, size_t length);

/* For the callback of a line that is not done yet: there is no prompt until mr_line_editor_go_on,
 * and nothing may be fed until then. */
void mr_line_editor_pause(struct mr_line_editor *editor);
void mr_line_editor_go_on(struct mr_line_editor *editor);

#endif
