/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

int mr_fail(struct mr_error *error, int code, const char *format, ...)
{
	if (error == NULL || error->text[0] != '\0')
		return code;
	va_list args;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return code;
}
