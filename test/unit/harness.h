/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_TEST_HARNESS_H
#define MR_TEST_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frames.h"
#include "packet/drop.h"
#include "ring_rig.h"

/*
 * The whole packet path in one process: an appliance over ring ports (see ring_rig.h), and what
 * must hold of it. Ports are 0..HARNESS_PORTS-1, their MACs 02:00:00:00:00:0N.
 *
 * A case starts with harness_begin and ends with harness_end, which checks that nothing was left
 * unexpected: frames on a port, drops that no harness_dropped took, buffers that are gone, packets
 * that the conservation law misses, configuration that differs from the start.
 */
#define HARNESS_PORTS 4

struct harness {
	struct ring_rig rig;
	unsigned free_buffers; /* of the pool, at the start of the case */
	uint64_t drops[MR_DROP_COUNT], consumed;
	char *configuration;
};

/* The program's one harness, made at first use (EAL started already). */
struct harness *harness(void);
/* Frees it: the teardown of the program's group of tests. */
int harness_destroy(void **state);

void harness_begin(struct harness *h);
void harness_end(struct harness *h);

/* Runs a console command, which must be done; or refused with that code. */
void harness_command(struct harness *h, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void harness_refused(struct harness *h, int code, const char *line);

/* Puts frames on a port: one, or several that one receive call returns. Does not run anything. */
void harness_send(struct harness *h, unsigned port, const struct frame *frame);
void harness_burst(struct harness *h, unsigned port, const struct frame *frames, unsigned count);

/* The same for a frame in a chain of two buffers. */
void harness_send_chained(struct harness *h, unsigned port, const struct frame *frame);

/* Runs lcore and control thread in turn until both have nothing left to do. */
void harness_run(struct harness *h);
/* Turns the clock and runs; long times in steps, so that every timer gets its turn. */
void harness_advance(struct harness *h, uint64_t ms);

/* Brings a port's link down or up, as a cable would. */
void harness_link(struct harness *h, unsigned port, bool up);

/* The next frame that left a port must be exactly this. */
void harness_expect(struct harness *h, unsigned port, const struct frame *frame);
/* Takes the next frame that left a port; false if there is none. */
bool harness_take(struct harness *h, unsigned port, struct frame *frame);
/* No frame is left on any port. */
void harness_expect_nothing(struct harness *h);
/* So many packets, since the case's start or the last such call, were dropped for that reason. */
void harness_dropped(struct harness *h, enum mr_drop_reason reason, uint64_t count);
/* How many were, since then. */
uint64_t harness_take_drops(struct harness *h, enum mr_drop_reason reason);

/* So many were consumed by the appliance, since the case's start or the last such call. */
void harness_consumed(struct harness *h, uint64_t count);

/* Answers a command as JSON text, to be freed. */
char *harness_show(struct harness *h, const char *line);

#endif
