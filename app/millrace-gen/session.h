/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_SESSION_H
#define GEN_SESSION_H

#include "engine.h"
#include "options.h"
#include "report.h"

/*
 * What options mean with the ports that there are: who sends what to whom, and how fast.
 */
struct session {
	const struct options *options;
	struct engine *engine;
	struct arp_station station[ENGINE_PORTS]; /* what each port is */
	uint32_t link_speed;                      /* Mb/s */
	char direction[ENGINE_PORTS][16];         /* names of them */
	struct run_result result;                 /* of the last run */
	/* Frames of one direction, or of both, for the runs to come. */
	struct stream_set *set[ENGINE_PORTS];
	unsigned ways;
};

/* Opens the engine on mr's ports, waits for links and resolves gateways. */
int session_open(struct session *session, const struct options *options, struct mr *mr,
		 struct mr_error *error);
void session_close(struct session *session);

/* Makes the frames of these sizes, sent in so many ways (1 or 2). */
int session_load(struct session *session, const struct size_mix *sizes, unsigned ways,
		 struct mr_error *error);
/* Lets bridges learn, and routers find neighbours, before anything counts. */
int session_warm_up(struct session *session, struct mr_error *error);
/* Sends count frames each way at a rate (frames in 1000 s), for no longer than seconds (0: as long
 * as it takes); session->result tells what became of them. */
int session_run(struct session *session, uint64_t rate, uint64_t count, double seconds,
		struct mr_error *error);

/* The rate that the options want of frames as loaded, and that a full link has; in 1000 s. */
uint64_t session_rate(const struct session *session);
uint64_t session_link_rate(const struct session *session);
/* Whether all frames were sent, at the rate. */
bool session_kept_pace(const struct session *session, uint64_t rate, uint64_t count);
uint64_t session_lost(const struct session *session);

/* Adds a row of a direction of the last result; size is 0 for several. */
int session_report_flow(const struct session *session, unsigned direction, uint64_t size,
			struct report *report);
/* Latency columns from a histogram of TSC cycles. */
void session_report_latency(const struct histogram *latency, struct report_row *row);

#endif
