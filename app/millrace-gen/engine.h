/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_ENGINE_H
#define GEN_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "arp.h"
#include "base/error.h"
#include "base/mr.h"
#include "histogram.h"
#include "stream.h"

/*
 * One or two ports, the lcores that serve them, and one run of traffic through them. Direction 0 is
 * what the first port sends and the second one receives (the first one itself, when it is the only
 * one); direction 1 is the other way. All functions are for the main lcore.
 */
#define ENGINE_PORTS 2

struct engine;

struct run {
	const struct stream_set *set[ENGINE_PORTS]; /* a direction; NULL: nothing is sent */
	uint64_t rate;                              /* a direction, frames in 1000 s */
	uint64_t count;                             /* frames a direction */
	double seconds;     /* at most so long; 0: until all frames are sent */
	unsigned settle_ms; /* how long frames may be on their way */
	bool verify;
};

struct flow_result {
	uint64_t sent, octets_sent;         /* octets with FCS */
	uint64_t tagged;                    /* of sent: those that are counted on arrival */
	uint64_t received, octets_received; /* received: without duplicates */
	uint64_t lost, duplicates, reordered, late, distance;
	uint64_t bad_checksums, strayed, other;
	double send_seconds, receive_seconds; /* from the first frame to the last */
	struct histogram latency;             /* TSC cycles */
};

struct run_result {
	struct flow_result flow[ENGINE_PORTS];
	bool interrupted;
};

/* Takes the ports that mr has (one or two, else it is refused) and all lcores; station is what each
 * port answers ARP for. Both stay the caller's and outlive the engine. burst: at most
 * TRANSMIT_MAX_BURST frames. */
int engine_create(struct mr *mr, unsigned burst, struct arp_station *stations,
		  struct engine **engine, struct mr_error *error);
void engine_destroy(struct engine *engine);

unsigned engine_ports(const struct engine *engine);
/* Port of the system that is number index (0, 1) here. */
const struct mr_port *engine_port(const struct engine *engine, unsigned index);

/* Waits until links are up, at most so many seconds. */
int engine_wait_for_links(struct engine *engine, unsigned seconds, struct mr_error *error);
/* Asks for the stations' gateways until each answered, at most so many seconds. */
int engine_resolve_gateways(struct engine *engine, unsigned seconds, struct mr_error *error);
/* Announces the stations' IPv4 addresses (at most 4096 a port), so that bridges learn where they
 * are. */
void engine_announce(struct engine *engine);

/* Sends what run says and waits until it has come back, or the time to settle is over. The result
 * is complete even if it was interrupted. Returns 0, or a negative errno with a sentence. */
int engine_run(struct engine *engine, const struct run *run, struct run_result *result,
	       struct mr_error *error);

/* Ends the present run and lets all that follow end at once; async-signal-safe. */
void engine_interrupt(void);
bool engine_interrupted(void);

#endif
