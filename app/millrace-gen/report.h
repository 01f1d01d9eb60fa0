/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_REPORT_H
#define GEN_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/*
 * Results as rows, printed by one table of columns as text, CSV and JSON.
 */
enum report_kind { REPORT_RUN, REPORT_LATENCY, REPORT_THROUGHPUT, REPORT_BACK_TO_BACK };

/* Latencies are microseconds, rates frames a second, bit rates Mb/s with preamble and gap. */
struct report_row {
	const char *direction; /* "0 -> 1" by port numbers; NULL: all that the row is of */
	uint64_t ways, size;   /* size with FCS; 0: several */
	uint64_t sent, received, lost, duplicates, reordered, late, distance;
	uint64_t bad_checksums, strayed, other;
	double lost_percent, rate, tx_pps, rx_pps, tx_mbps, rx_mbps;
	double min, avg, p50, p99, p999, max;
	double link_percent;
	uint64_t trials, limited; /* limited: what could be sent bounds the result, 0 or 1 */
	double frames, fewest, most, milliseconds;
};

struct report {
	enum report_kind kind;
	unsigned count;
	struct report_row *rows;
};

/* Returns a zeroed row at the end, or NULL without memory. Rows move when others are added. */
struct report_row *report_add(struct report *report);
void report_free(struct report *report);

/* Columns that are zero in every row and say that something went wrong are left out of the text;
 * CSV and JSON have all. */
void report_print(const struct report *report, FILE *out);
void report_write_csv(const struct report *report, FILE *out);
/* Returns 0 or -ENOMEM. */
int report_write_json(const struct report *report, FILE *out);

/* Writes to the file of that name ("-": stdout). */
int report_save(const struct report *report, const char *csv, const char *json,
		struct mr_error *error);

#endif
