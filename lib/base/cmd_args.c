/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/cmd.h"

#include <errno.h>
#include <string.h>

const struct mr_arg *mr_arg(const struct mr_args *args, const char *placeholder, unsigned index)
{
	for (unsigned i = 0; i < args->count; i++) {
		if (strcmp(args->arg[i].placeholder, placeholder) == 0 && index-- == 0)
			return &args->arg[i];
	}
	return NULL;
}

unsigned mr_arg_count(const struct mr_args *args, const char *placeholder)
{
	unsigned count = 0;

	for (unsigned i = 0; i < args->count; i++)
		count += strcmp(args->arg[i].placeholder, placeholder) == 0;
	return count;
}

bool mr_arg_has(const struct mr_args *args, const char *word)
{
	return mr_arg_count(args, word) > 0;
}

uint64_t mr_arg_number(const struct mr_args *args, const char *placeholder, uint64_t fallback)
{
	const struct mr_arg *arg = mr_arg(args, placeholder, 0);

	return arg != NULL && arg->type == MR_ARG_NUMBER ? arg->number : fallback;
}

int mr_reply(struct mr_reply *reply, json_t *data)
{
	if (data == NULL)
		return mr_fail(&reply->error, -ENOMEM, "not enough memory for the answer");
	json_decref(reply->data);
	reply->data = data;
	return 0;
}

void mr_reply_clear(struct mr_reply *reply)
{
	json_decref(reply->data);
	*reply = (struct mr_reply){0};
}
