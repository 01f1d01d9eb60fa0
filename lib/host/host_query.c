/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/context.h"
#include "host/host.h"

static int stats(struct mr *mr, const char *params, struct mr_reply *reply)
{
	const struct mr_host_stats *s = &mr->host->stats;
	json_t *object = json_object();

	(void)params;
#define ADD(name) json_object_set_new(object, #name, json_integer((json_int_t)s->name));
	MR_HOST_STATS(ADD)
#undef ADD
	json_object_set_new(object, "fragments_held", json_integer((json_int_t)mr_host_held(mr)));
	return mr_reply(reply, object);
}

const struct mr_query mr_host_queries[] = {
	{"/millrace/host/stats", "What was answered and sent by ARP and ICMP, and what was not.",
	 stats},
	{NULL},
};
