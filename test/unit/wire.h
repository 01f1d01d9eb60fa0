/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_WIRE_H
#define TEST_WIRE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "base/mr.h"
#include "frames.h"

/*
 * An appliance over ring ports whose forwarding lcore runs on a thread of its own, while the
 * caller is sender, receiver and control thread in turn. Port N's MAC is 02:00:00:00:00:0N.
 */
#define WIRE_PORTS 3

struct wire {
	struct mr *mr;
	struct rte_ring *rx[WIRE_PORTS], *tx[WIRE_PORTS];
	struct rte_mempool *pool;
	uint64_t sent, received; /* received is the caller's to count */
};

/* Set-up and teardown of a group of tests; state is the wire. max: stations, and routes. */
int wire_create(void **state, uint32_t max);
int wire_destroy(void **state);

uint64_t wire_now_ms(void);

/* Runs a command, which must be done. */
void wire_command(struct wire *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts a frame on a port. */
void wire_send(struct wire *w, unsigned port, const struct frame *frame);

#endif
