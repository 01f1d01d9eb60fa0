/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_BASE_NUMBER_H
#define MR_BASE_NUMBER_H

#include <stdint.h>

/* Parses all of text as a decimal number without sign, blanks or leading zeros. Returns 0, -EINVAL
 * when it is no such number (value is untouched), or -ERANGE when it is one above max. */
int mr_number_parse(const char *text, uint64_t max, uint64_t *value);

#endif
