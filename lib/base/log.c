/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include <rte_log.h>

RTE_LOG_REGISTER(mr_logtype, millrace, NOTICE)

static void log_line(uint32_t level, const char *format, va_list args)
{
	char line[512];

	vsnprintf(line, sizeof(line), format, args);
	rte_log(level, mr_logtype, "millrace: %s\n", line);
}

void mr_log_error(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	log_line(RTE_LOG_ERR, format, args);
	va_end(args);
}

void mr_log_warning(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	log_line(RTE_LOG_WARNING, format, args);
	va_end(args);
}

void mr_log_notice(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	log_line(RTE_LOG_NOTICE, format, args);
	va_end(args);
}

void mr_log_debug(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	log_line(RTE_LOG_DEBUG, format, args);
	va_end(args);
}
