/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/flow_state.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_malloc.h>

#include "filter/filter.h"
#include "filter/flow_table.h"
#include "filter/program_fwd.h"
#include "lcore/lcores.h"

struct timeout {
	const char *name;
	uint32_t seconds;
};

static const struct timeout timeouts[FLOW_TIMEOUTS] = {
	[FLOW_TCP_OPENING] = {"tcp-opening", 30},
	[FLOW_TCP_ESTABLISHED] = {"tcp-established", 7440}, /* RFC 5382, REQ-5 */
	[FLOW_TCP_CLOSING] = {"tcp-closing", 240},
	[FLOW_TCP_CLOSED] = {"tcp-closed", 10},
	[FLOW_UDP_OPENING] = {"udp-opening", 30},
	[FLOW_UDP_ESTABLISHED] = {"udp-established", 300}, /* RFC 4787, REQ-5 */
	[FLOW_ICMP] = {"icmp", 30},
	[FLOW_OTHER_OPENING] = {"other-opening", 60},
	[FLOW_OTHER_ESTABLISHED] = {"other-established", 600},
};

struct filter_flows *filter_flows_create(void)
{
	struct filter_flows *flows =
		rte_zmalloc("filter_flows", sizeof(*flows), RTE_CACHE_LINE_SIZE);

	for (unsigned i = 0; flows != NULL && i < FLOW_TIMEOUTS; i++)
		flows->timeout[i] = timeouts[i].seconds;
	return flows;
}

static void free_tables(struct filter_flows *flows)
{
	for (unsigned i = 0; i < MR_MAX_LCORES; i++) {
		flow_table_free(flows->table[i]);
		flows->table[i] = NULL;
	}
}

void filter_flows_free(struct filter_flows *flows)
{
	if (flows == NULL)
		return;
	free_tables(flows);
	rte_free(flows);
}

int filter_flows_provide(struct filter_flows *flows, const struct mr *mr, uint32_t size,
			 struct mr_error *error)
{
	if (flows->count != 0)
		return 0;
	if (size == 0)
		size = FLOW_TABLE_DEFAULT;
	for (unsigned i = 0; i < mr->lcores->count; i++) {
		flows->table[i] = flow_table_create(size, i, mr->lcores->lcore[i]->socket);
		if (flows->table[i] != NULL)
			continue;
		free_tables(flows);
		return mr_fail(error, -ENOMEM,
			       "no memory for %u flows of each lcore (see --filter-flows)", size);
	}
	flows->count = mr->lcores->count;
	return 0;
}

/* ---- times ---- */

int filter_flows_timeout(const char *name)
{
	for (int i = 0; i < FLOW_TIMEOUTS; i++)
		if (strcmp(name, timeouts[i].name) == 0)
			return i;
	return -ENOENT;
}

const char *filter_flows_timeout_name(enum flow_timeout timeout)
{
	return timeouts[timeout].name;
}

uint32_t filter_flows_timeout_default(enum flow_timeout timeout)
{
	return timeouts[timeout].seconds;
}

/* ---- reports ---- */

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* A protocol's name, or its number. */
static void protocol_text(const struct flow_key *key, char *text, size_t size)
{
	switch (key->protocol) {
	case IPPROTO_TCP:
		snprintf(text, size, "tcp");
		break;
	case IPPROTO_UDP:
		snprintf(text, size, "udp");
		break;
	case IPPROTO_ICMP:
		snprintf(text, size, key->ipv6 ? "1" : "icmp");
		break;
	case IPPROTO_ICMPV6:
		snprintf(text, size, key->ipv6 ? "icmp6" : "58");
		break;
	default:
		snprintf(text, size, "%u", key->protocol);
	}
}

static void end_text(const struct flow_key *key, const uint8_t *bytes, uint16_t port, char *text,
		     size_t size)
{
	struct mr_addr addr = {.family = key->ipv6 ? AF_INET6 : AF_INET};
	char address[MR_ADDR_TEXT_SIZE];

	memcpy(addr.bytes, bytes, sizeof(addr.bytes));
	mr_addr_format(&addr, address);
	if (port == 0)
		snprintf(text, size, "%s", address);
	else
		snprintf(text, size, key->ipv6 ? "[%s]:%u" : "%s:%u", address,
			 rte_be_to_cpu_16(port));
}

static const char *state_text(const struct flow_key *key, const struct flow_view *view,
			      const struct flow_view *peer)
{
	static const char *const phases[] = {
		[TCP_OPENING] = "opening",
		[TCP_ESTABLISHED] = "established",
		[TCP_CLOSING] = "closing",
		[TCP_CLOSED] = "closed",
	};

	if (key->protocol == IPPROTO_TCP)
		return phases[tcp_phase(&view->tcp, peer != NULL ? &peer->tcp : NULL)];
	return peer != NULL ? "established" : "opening";
}

/* A direction, or NULL when it is over. */
static json_t *report_entry(const struct mr *mr, const struct flow_key *key,
			    const struct flow_view *view)
{
	const struct mr_filter_program *program = mr->filter->program;
	const struct filter_flows *flows = mr->filter->fwd.flows;
	const struct flow_rule *rule =
		program == NULL ? NULL : filter_flow_rule(&program->flows, view->serial);
	uint32_t now = mr->lcores->forwarding.seconds, left;
	char protocol[8], source[MR_ADDR_TEXT_SIZE + 8], destination[MR_ADDR_TEXT_SIZE + 8];
	struct flow_view peer;
	bool has_peer = filter_flow_peer(flows, key, view, &peer), opening;

	left = filter_flow_left(flows, key, view, has_peer ? &peer : NULL, now, &opening);
	if (rule == NULL || left == 0)
		return NULL;
	protocol_text(key, protocol, sizeof(protocol));
	end_text(key, key->src, key->sport, source, sizeof(source));
	end_text(key, key->dst, key->dport, destination, sizeof(destination));
	return json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:I, s:I}", "protocol", protocol, "source",
			 source, "destination", destination, "state",
			 state_text(key, view, has_peer ? &peer : NULL), "rule",
			 (json_int_t)program->effect[rule->index].number, "lcore",
			 number(mr->lcores->lcore[view->lcore]->id), "age",
			 (json_int_t)(now - view->created), "left", (json_int_t)left);
}

json_t *filter_flows_report(const struct mr *mr, uint32_t limit)
{
	const struct filter_flows *flows = mr->filter->fwd.flows;
	json_t *list = json_array();

	for (unsigned i = 0; i < flows->count; i++) {
		const struct flow_table *table = flows->table[i];
		uint32_t slots = flow_table_slots(table);

		for (uint32_t slot = 0; slot < slots && json_array_size(list) < limit; slot++) {
			struct flow_view view;
			struct flow_key key;
			json_t *entry;

			if (!flow_view_any(table, slot, &key, &view))
				continue;
			entry = report_entry(mr, &key, &view);
			if (entry != NULL)
				json_array_append_new(list, entry);
		}
	}
	return list;
}

uint64_t filter_flows_entries(const struct filter_flows *flows)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < flows->count; i++)
		sum += mr_counter_read(&flows->table[i]->counters.entries);
	return sum;
}

json_t *filter_flows_report_timeouts(const struct filter_flows *flows)
{
	json_t *times = json_object();

	for (unsigned i = 0; i < FLOW_TIMEOUTS; i++)
		json_object_set_new(times, timeouts[i].name, number(flows->timeout[i]));
	return times;
}

json_t *filter_flows_report_lcores(const struct mr *mr)
{
	const struct filter_flows *flows = mr->filter->fwd.flows;
	json_t *list = json_array();

	for (unsigned i = 0; i < flows->count; i++) {
		const struct flow_counters *c = &flows->table[i]->counters;
		uint64_t entries = mr_counter_read(&c->entries),
			 settled = mr_counter_read(&c->settled);

		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
					"lcore", number(mr->lcores->lcore[i]->id), "entries",
					number(entries), "established", number(settled), "created",
					number(mr_counter_read(&c->created)), "answers",
					number(mr_counter_read(&c->replies)), "expired",
					number(mr_counter_read(&c->expired)), "evicted",
					number(mr_counter_read(&c->evicted)), "refused_full",
					number(mr_counter_read(&c->refused_full)), "refused_limit",
					number(mr_counter_read(&c->refused_limit)), "refused_state",
					number(mr_counter_read(&c->refused_state)), "errors",
					number(mr_counter_read(&c->errors))));
	}
	return list;
}
