/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/number.h"

#include <errno.h>
#include <stdbool.h>

int mr_number_parse(const char *text, uint64_t max, uint64_t *value)
{
	uint64_t number = 0;
	bool above = false;

	if (text[0] == '\0' || (text[0] == '0' && text[1] != '\0'))
		return -EINVAL;
	for (const char *c = text; *c != '\0'; c++) {
		if (*c < '0' || *c > '9')
			return -EINVAL;
		above = above || __builtin_mul_overflow(number, 10, &number) ||
			__builtin_add_overflow(number, (uint64_t)(*c - '0'), &number);
	}
	if (above || number > max)
		return -ERANGE;
	*value = number;
	return 0;
}
