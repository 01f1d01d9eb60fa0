/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_BASE_LOG_H
#define MR_BASE_LOG_H

/*
 * Messages for people, on stderr through rte_log (so that EAL's --log-level and --syslog apply).
 * Each line starts with "millrace: ". Never called by forwarding lcores.
 */
void mr_log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mr_log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mr_log_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mr_log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
