/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_TEST_FUZZ_H
#define MR_TEST_FUZZ_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What libFuzzer calls. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says what does not hold and ends the program, on which libFuzzer keeps the input. */
static inline void __attribute__((format(printf, 1, 2), noreturn))
fuzz_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("fuzz: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	abort();
}

/* An input that is read from its start; behind its end are zeros. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

static inline uint8_t fuzz_byte(struct fuzz_input *input)
{
	if (input->left == 0)
		return 0;
	input->left--;
	return *input->at++;
}

static inline void fuzz_bytes(struct fuzz_input *input, uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = fuzz_byte(input);
}

#endif
