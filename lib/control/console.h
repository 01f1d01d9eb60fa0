/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_CONSOLE_H
#define MR_CONTROL_CONSOLE_H

#include <stdio.h>

#include "base/error.h"
#include "base/mr.h"
#include "control/loop.h"

/*
 * The prompt of `millrace -i`. Runs in the control thread's loop: typing never blocks it, a
 * terminal that is stopped (^S) while an answer is printed does. On a terminal lines are edited
 * with history and completion; other input is read line by line without a prompt. The end of
 * input, and ^D on an empty line, does what the command quit does.
 */
struct mr_console;

/* in and out stay the caller's and must, like mr and loop, outlive the console. Returns 0 or a
 * negative errno with a sentence. */
int mr_console_new(struct mr *mr, struct mr_loop *loop, FILE *in, FILE *out,
		   struct mr_console **console, struct mr_error *error);

/* Gives the terminal back as it was. */
void mr_console_free(struct mr_console *console);

#endif
