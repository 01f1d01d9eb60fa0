/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_TELEMETRY_TELEMETRY_H
#define MR_TELEMETRY_TELEMETRY_H

#include "base/cmd.h"
#include "base/error.h"
#include "base/mr.h"

/*
 * The rooms' queries on DPDK's telemetry socket. Its threads ask, the control thread answers.
 * One appliance of a process at a time has telemetry. Control thread.
 */
#define MR_TELEMETRY_TIMEOUT_MS 2000 /* then the client is told that there was no answer */

/* Makes mr->telemetry. Returns 0 or a negative errno with error set. */
int mr_telemetry_create(struct mr *mr, struct mr_error *error);

/* Refuses what still waits, and all that comes later. */
void mr_telemetry_destroy(struct mr *mr);

/* Offers a table's queries on the socket; it must live as long as the process. Returns 0 or a
 * negative errno with error set. */
int mr_telemetry_register(struct mr *mr, const struct mr_query *queries, struct mr_error *error);

/* Readable (as epoll sees it) when mr_telemetry_poll has something to answer. */
int mr_telemetry_fd(const struct mr *mr);

/* Answers what waits; returns how many queries that were. */
unsigned mr_telemetry_poll(struct mr *mr);

#endif
