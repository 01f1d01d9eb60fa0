/* SPDX-License-Identifier: BSD-3-Clause */
#include "stats.h"

#include <stdlib.h>
#include <string.h>

#include "control/cmd_render.h"
#include "control/control.h"

static void print_answer(struct mr *mr, const char *command, FILE *out)
{
	struct mr_reply reply;
	size_t length;

	if (mr_control_execute(mr, command, strlen(command), &reply) == 0) {
		char *text = mr_render(reply.data, MR_STYLE_TEXT, &length);

		if (text != NULL)
			fwrite(text, 1, length, out);
		free(text);
	}
	mr_reply_clear(&reply);
}

void stats_print(struct mr *mr, FILE *out)
{
	print_answer(mr, "show lcore stats", out);
	fputc('\n', out);
	print_answer(mr, "show port stats all", out);
	fputc('\n', out);
	fflush(out);
}
