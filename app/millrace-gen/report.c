/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#define CELL 32
#define RUN (1u << REPORT_RUN | 1u << REPORT_LATENCY)
#define THROUGHPUT (1u << REPORT_THROUGHPUT)
#define BACK_TO_BACK (1u << REPORT_BACK_TO_BACK)
#define ALL (RUN | THROUGHPUT | BACK_TO_BACK)

enum column_type { TEXT, COUNT, REAL };

struct column {
	const char *name, *heading; /* in CSV and JSON; in text */
	size_t offset;
	unsigned kinds; /* of report */
	enum column_type type;
	int decimals;
	bool fault; /* left out of the text when it is zero in every row */
};

#define AT(field) offsetof(struct report_row, field)

static const struct column columns[] = {
	{"size", "size", AT(size), ALL, COUNT},
	{"ways", "ways", AT(ways), ALL, COUNT},
	{"direction", "direction", AT(direction), RUN, TEXT},
	{"sent", "sent", AT(sent), RUN, COUNT},
	{"received", "received", AT(received), RUN, COUNT},
	{"lost", "lost", AT(lost), RUN, COUNT},
	{"lost_percent", "lost %", AT(lost_percent), RUN, REAL, 4},
	{"duplicates", "duplicates", AT(duplicates), RUN, COUNT},
	{"reordered", "reordered", AT(reordered), RUN, COUNT},
	{"reordered_distance", "distance", AT(distance), RUN, COUNT, 0, true},
	{"late", "late", AT(late), RUN, COUNT, 0, true},
	{"bad_checksums", "bad checksums", AT(bad_checksums), RUN, COUNT, 0, true},
	{"strayed", "strayed", AT(strayed), RUN, COUNT, 0, true},
	{"other", "other frames", AT(other), RUN, COUNT, 0, true},
	{"throughput_pps", "throughput pps", AT(rate), THROUGHPUT, REAL, 0},
	{"link_percent", "% of link", AT(link_percent), THROUGHPUT, REAL, 2},
	{"throughput_mbps", "Mb/s", AT(tx_mbps), THROUGHPUT, REAL, 1},
	{"tx_pps", "tx pps", AT(tx_pps), RUN, REAL, 0},
	{"rx_pps", "rx pps", AT(rx_pps), RUN, REAL, 0},
	{"tx_mbps", "tx Mb/s", AT(tx_mbps), RUN, REAL, 1},
	{"rx_mbps", "rx Mb/s", AT(rx_mbps), RUN, REAL, 1},
	{"latency_min_us", "min us", AT(min), RUN | THROUGHPUT, REAL, 1},
	{"latency_avg_us", "avg us", AT(avg), RUN | THROUGHPUT, REAL, 1},
	{"latency_p50_us", "p50 us", AT(p50), RUN | THROUGHPUT, REAL, 1},
	{"latency_p99_us", "p99 us", AT(p99), RUN | THROUGHPUT, REAL, 1},
	{"latency_p999_us", "p99.9 us", AT(p999), RUN | THROUGHPUT, REAL, 1},
	{"latency_max_us", "max us", AT(max), RUN | THROUGHPUT, REAL, 1},
	{"frames", "frames", AT(frames), BACK_TO_BACK, REAL, 1},
	{"fewest", "fewest", AT(fewest), BACK_TO_BACK, REAL, 0},
	{"most", "most", AT(most), BACK_TO_BACK, REAL, 0},
	{"milliseconds", "ms", AT(milliseconds), BACK_TO_BACK, REAL, 2},
	{"trials", "trials", AT(trials), THROUGHPUT | BACK_TO_BACK, COUNT},
	{"limited_by_generator", "limited", AT(limited), THROUGHPUT | BACK_TO_BACK, COUNT, 0, true},
};

static const char *const kind_names[] = {[REPORT_RUN] = "run",
					 [REPORT_LATENCY] = "latency",
					 [REPORT_THROUGHPUT] = "throughput",
					 [REPORT_BACK_TO_BACK] = "back-to-back"};

struct report_row *report_add(struct report *report)
{
	struct report_row *rows = realloc(report->rows, (report->count + 1) * sizeof(*rows));

	if (rows == NULL)
		return NULL;
	report->rows = rows;
	memset(&rows[report->count], 0, sizeof(*rows));
	return &rows[report->count++];
}

void report_free(struct report *report)
{
	free(report->rows);
	*report = (struct report){.kind = report->kind};
}

static bool has(const struct report *report, const struct column *column)
{
	return (column->kinds & 1u << report->kind) != 0;
}

static const void *cell(const struct report_row *row, const struct column *column)
{
	return (const uint8_t *)row + column->offset;
}

static const char *direction(const struct report_row *row)
{
	return row->direction != NULL ? row->direction : "all";
}

static const char *format(const struct report_row *row, const struct column *column, char *text)
{
	if (column->type == TEXT)
		snprintf(text, CELL, "%s", direction(row));
	else if (column->type == COUNT)
		snprintf(text, CELL, "%" PRIu64, *(const uint64_t *)cell(row, column));
	else
		snprintf(text, CELL, "%.*f", column->decimals, *(const double *)cell(row, column));
	return text;
}

/* As format, for people: several sizes have no number. */
static const char *show(const struct report_row *row, const struct column *column, char *text)
{
	if (column->offset == AT(size) && row->size == 0)
		return "mix";
	return format(row, column, text);
}

static bool is_shown(const struct report *report, const struct column *column)
{
	bool shown = !column->fault;

	for (unsigned i = 0; i < report->count && !shown; i++)
		shown = *(const uint64_t *)cell(&report->rows[i], column) != 0;
	return shown && has(report, column);
}

void report_print(const struct report *report, FILE *out)
{
	int width[RTE_DIM(columns)];
	char text[CELL];

	for (unsigned c = 0; c < RTE_DIM(columns); c++) {
		width[c] = is_shown(report, &columns[c]) ? (int)strlen(columns[c].heading) : 0;
		for (unsigned i = 0; i < report->count && width[c] != 0; i++)
			width[c] = RTE_MAX(width[c],
					   (int)strlen(show(&report->rows[i], &columns[c], text)));
		if (width[c] != 0)
			fprintf(out, "%s%*s", c == 0 ? "" : "  ", width[c], columns[c].heading);
	}
	fprintf(out, "\n");
	for (unsigned i = 0; i < report->count; i++) {
		for (unsigned c = 0; c < RTE_DIM(columns); c++)
			if (width[c] != 0)
				fprintf(out, "%s%*s", c == 0 ? "" : "  ", width[c],
					show(&report->rows[i], &columns[c], text));
		fprintf(out, "\n");
	}
}

void report_write_csv(const struct report *report, FILE *out)
{
	char text[CELL];

	for (unsigned c = 0; c < RTE_DIM(columns); c++)
		if (has(report, &columns[c]))
			fprintf(out, "%s%s", c == 0 ? "" : ",", columns[c].name);
	fprintf(out, "\n");
	for (unsigned i = 0; i < report->count; i++) {
		for (unsigned c = 0; c < RTE_DIM(columns); c++)
			if (has(report, &columns[c]))
				fprintf(out, "%s%s", c == 0 ? "" : ",",
					format(&report->rows[i], &columns[c], text));
		fprintf(out, "\n");
	}
}

static json_t *to_json(const struct report_row *row, const struct column *column)
{
	if (column->type == TEXT)
		return json_string(direction(row));
	if (column->type == COUNT)
		return json_integer((json_int_t)(*(const uint64_t *)cell(row, column)));
	return json_real(*(const double *)cell(row, column));
}

int report_write_json(const struct report *report, FILE *out)
{
	json_t *rows = json_array();
	json_t *all = json_pack("{s:s, s:o}", "kind", kind_names[report->kind], "rows", rows);
	int rc = all != NULL ? 0 : -1;

	for (unsigned i = 0; i < report->count && rc == 0; i++) {
		json_t *row = json_object();
		for (unsigned c = 0; c < RTE_DIM(columns); c++)
			if (has(report, &columns[c]))
				rc |= json_object_set_new(row, columns[c].name,
							  to_json(&report->rows[i], &columns[c]));
		rc |= json_array_append_new(rows, row);
	}
	if (rc == 0)
		rc = json_dumpf(all, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	json_decref(all);
	fprintf(out, "\n");
	return rc == 0 ? 0 : -ENOMEM;
}

static FILE *open_file(const char *path, struct mr_error *error)
{
	FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");

	if (file == NULL)
		mr_fail(error, -errno, "%s: %s", path, strerror(errno));
	return file;
}

static int close_file(FILE *file, const char *path, struct mr_error *error)
{
	int rc = file == stdout ? fflush(file) : fclose(file);

	return rc == 0 ? 0 : mr_fail(error, -EIO, "%s: cannot be written", path);
}

int report_save(const struct report *report, const char *csv, const char *json,
		struct mr_error *error)
{
	FILE *file;
	int rc = 0;

	if (csv != NULL) {
		file = open_file(csv, error);
		if (file == NULL)
			return -EIO;
		report_write_csv(report, file);
		rc = close_file(file, csv, error);
	}
	if (rc == 0 && json != NULL) {
		file = open_file(json, error);
		if (file == NULL)
			return -EIO;
		rc = report_write_json(report, file);
		if (rc != 0)
			mr_fail(error, rc, "%s: no memory", json);
		if (close_file(file, json, error) != 0)
			rc = -EIO;
	}
	return rc;
}
