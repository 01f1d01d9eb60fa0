/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_APP_SERVICE_H
#define MR_APP_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mr.h"
#include "lcore/lcores.h"

/*
 * What a service manager is told (sd_notify(3)), if the environment says that there is one: when
 * millrace serves, that it still does (WatchdogSec=), what it does in a sentence, and that it ends.
 * It does not while an lcore that should forward makes no iteration from one sign of life to the
 * next.
 * Control thread. Times are monotonic milliseconds.
 */
struct service {
	uint64_t alive_ms; /* between signs of life, 0: none is waited for */
	uint64_t next_alive_ms, next_status_ms;
	uint64_t iterations[MR_MAX_LCORES]; /* of each lcore at the last look */
	bool is_stuck;                      /* an lcore, then */
	char status[128];                   /* as last told */
};

void service_open(struct service *service);
void service_ready(struct service *service, struct mr *mr, uint64_t now_ms);
void service_poll(struct service *service, struct mr *mr, uint64_t now_ms);
void service_stopping(void);

#endif
