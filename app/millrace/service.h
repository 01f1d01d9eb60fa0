/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_APP_SERVICE_H
#define MR_APP_SERVICE_H

/* Tells the service manager a state (sd_notify(3): "READY=1"), if NOTIFY_SOCKET names one. */
void service_notify(const char *state);

#endif
