/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table's cells are rendered twice: once to measure its columns, once to print them. That needs
 * no memory beyond one row, however many stations a table has.
 */
#include "control/cmd_render.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 32

struct column {
	const char *key;
	int width;
	bool numeric;
};

static void print_value(FILE *out, const json_t *value);

static void print_joined(FILE *out, const json_t *array)
{
	size_t i;
	json_t *item;

	if (json_array_size(array) == 0)
		fputs("none", out);
	json_array_foreach (array, i, item) {
		fputs(i > 0 ? " " : "", out);
		print_value(out, item);
	}
}

/* Six decimals at most, none that say nothing. */
static void print_real(FILE *out, double real)
{
	char text[340];
	int length = snprintf(text, sizeof(text), "%.6f", real);

	while (length > 1 && text[length - 1] == '0')
		length--;
	if (length > 1 && text[length - 1] == '.')
		length--;
	fprintf(out, "%.*s", length, text);
}

/* On one line. */
static void print_value(FILE *out, const json_t *value)
{
	switch (value != NULL ? json_typeof(value) : JSON_NULL) {
	case JSON_STRING:
		fputs(json_string_value(value), out);
		break;
	case JSON_INTEGER:
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		break;
	case JSON_REAL:
		print_real(out, json_real_value(value));
		break;
	case JSON_TRUE:
		fputs("yes", out);
		break;
	case JSON_FALSE:
		fputs("no", out);
		break;
	case JSON_NULL:
		fputs("-", out);
		break;
	case JSON_ARRAY:
		print_joined(out, value);
		break;
	case JSON_OBJECT:
		json_dumpf(value, out, JSON_COMPACT);
		break;
	}
}

static bool is_table(const json_t *data)
{
	size_t i;
	json_t *item;

	if (json_object_size(json_array_get(data, 0)) == 0)
		return false;
	json_array_foreach (data, i, item) {
		if (!json_is_object(item))
			return false;
	}
	return true;
}

/* The cell as text, which lives until the next call. cell is a stream on *text. */
static int render_cell(FILE *cell, char **text, const json_t *value)
{
	rewind(cell);
	print_value(cell, value);
	fputc('\0', cell);
	fflush(cell);
	return (int)strlen(*text);
}

static unsigned measure(const json_t *table, struct column *columns, FILE *cell, char **text)
{
	unsigned count = 0;
	const char *key;
	json_t *value, *row;
	size_t i;

	json_object_foreach (json_array_get(table, 0), key, value) {
		if (count < MAX_COLUMNS)
			columns[count++] = (struct column){key, (int)strlen(key), true};
	}
	json_array_foreach (table, i, row) {
		for (unsigned c = 0; c < count; c++) {
			value = json_object_get(row, columns[c].key);
			int width = render_cell(cell, text, value);
			if (width > columns[c].width)
				columns[c].width = width;
			if (value != NULL && !json_is_null(value) && !json_is_number(value))
				columns[c].numeric = false;
		}
	}
	return count;
}

static void print_cell(FILE *out, const struct column *column, const char *text, bool last)
{
	if (column->numeric)
		fprintf(out, "%*s", column->width, text);
	else
		fprintf(out, "%-*s", last ? 0 : column->width, text);
	fputs(last ? "\n" : "  ", out);
}

static void print_table(FILE *out, const json_t *table, int indent)
{
	struct column columns[MAX_COLUMNS];
	char *text = NULL;
	size_t size, i;
	FILE *cell = open_memstream(&text, &size);
	json_t *row;

	if (cell == NULL)
		return;
	unsigned count = measure(table, columns, cell, &text);
	fprintf(out, "%*s", indent, "");
	for (unsigned c = 0; c < count; c++)
		print_cell(out, &columns[c], columns[c].key, c + 1 == count);
	json_array_foreach (table, i, row) {
		fprintf(out, "%*s", indent, "");
		for (unsigned c = 0; c < count; c++) {
			render_cell(cell, &text, json_object_get(row, columns[c].key));
			print_cell(out, &columns[c], text, c + 1 == count);
		}
	}
	fclose(cell);
	free(text);
}

static void print_object(FILE *out, const json_t *object, int indent)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)object, key, value) {
		fprintf(out, "%*s%s:", indent, "", key);
		if (is_table(value)) {
			fputc('\n', out);
			print_table(out, value, indent + 2);
		} else if (json_object_size(value) > 0) {
			fputc('\n', out);
			print_object(out, value, indent + 2);
		} else {
			fputc(' ', out);
			if (json_is_object(value))
				fputs("none", out);
			else
				print_value(out, value);
			fputc('\n', out);
		}
	}
}

static void print_text(FILE *out, const json_t *data)
{
	if (is_table(data)) {
		print_table(out, data, 0);
	} else if (json_object_size(data) > 0) {
		print_object(out, data, 0);
	} else if (json_is_object(data)) {
		fputs("none\n", out);
	} else {
		const char *string = json_string_value(data);
		size_t length = string != NULL ? strlen(string) : 0;
		print_value(out, data);
		if (string == NULL || (length > 0 && string[length - 1] != '\n'))
			fputc('\n', out);
	}
}

char *mr_render(const json_t *data, enum mr_style style, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	if (out == NULL)
		return NULL;
	if (style == MR_STYLE_JSON && data == NULL)
		fputs("null", out);
	else if (style == MR_STYLE_JSON)
		json_dumpf(data, out, JSON_ENCODE_ANY);
	else if (data != NULL)
		print_text(out, data);
	if (style == MR_STYLE_JSON)
		fputc('\n', out);
	bool failed = ferror(out) != 0;
	if (fclose(out) != 0 || failed) {
		free(text);
		return NULL;
	}
	return text;
}
