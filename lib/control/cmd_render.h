/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_CMD_RENDER_H
#define MR_CONTROL_CMD_RENDER_H

#include <stddef.h>

#include <jansson.h>

enum mr_style { MR_STYLE_TEXT, MR_STYLE_JSON };

/*
 * A command's answer for people or programs. Returns a string that ends in a newline (or is empty:
 * no data), which the caller frees, and its length; NULL without memory.
 *
 * Text: an array of objects is a table whose headings are the keys of the first object, numbers to
 * the right; an object is a "key: value" a line, what is inside it indented by two; an array of
 * plain values is one line; nothing in an array or object is "none"; true and false are "yes" and
 * "no", null is "-". JSON is one line; no data is "null".
 */
char *mr_render(const json_t *data, enum mr_style style, size_t *length);

#endif
