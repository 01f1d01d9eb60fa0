/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/report.h"

#include "bridge/bridge.h"
#include "filter/filter.h"
#include "filter/rule_text.h"
#include "filter/slow.h"
#include "lcore/lcores.h"

/* Seconds since the last match, null if there was none. */
static json_t *ago(const struct mr *mr, const struct mr_filter_hits *hits)
{
	uint64_t now = mr->lcores->forwarding.seconds;

	if (hits->packets == 0)
		return json_null();
	return json_integer(now > hits->seconds ? (json_int_t)(now - hits->seconds) : 0);
}

json_t *mr_filter_report_rules(const struct mr *mr, uint32_t from, uint32_t limit)
{
	const struct mr_filter_set *set = mr->filter->set;
	char text[MR_FILTER_TEXT_SIZE];
	json_t *rules = json_array();

	for (uint32_t i = from; i < set->count && i - from < limit; i++) {
		const struct mr_filter_rule *rule = set->rule[i];
		struct mr_filter_hits hits = mr_filter_hits(mr, rule->counter);

		json_array_append_new(
			rules,
			json_pack("{s:I, s:I, s:o, s:s}", "packets", (json_int_t)hits.packets,
				  "bytes", (json_int_t)hits.bytes, "last", ago(mr, &hits), "rule",
				  mr_filter_rule_print(rule, set, text, sizeof(text))));
	}
	return rules;
}

json_t *mr_filter_report_summary(const struct mr *mr)
{
	const struct mr_filter_set *set = mr->filter->set;
	struct mr_filter_hits hits = mr_filter_hits(mr, MR_FILTER_DEFAULT_COUNTER);
	const struct mr_filter_slow *slow = mr->filter->slow;
	json_t *exempt = json_array();
	json_int_t address_sets = 0;

	for (unsigned i = MR_FILTER_ME + 1; i < set->address_sets; i++)
		address_sets += set->addresses[i] != NULL;
	for (unsigned id = 0; id < MR_MAX_BRIDGES; id++)
		if (mr->filter->fwd.exempt[id])
			json_array_append_new(exempt, json_string(mr->bridges->bridge[id].name));
	return json_pack("{s:s, s:I, s:I, s:o, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "default", set->default_action == MR_FILTER_DENY ? "deny" : "allow",
			 "default_packets", (json_int_t)hits.packets, "default_bytes",
			 (json_int_t)hits.bytes, "default_last", ago(mr, &hits), "rules",
			 (json_int_t)set->count, "address_sets", address_sets, "exempt_bridges",
			 exempt, "resets_sent", (json_int_t)slow->resets_sent, "unreachables_sent",
			 (json_int_t)slow->unreachables_sent, "answers_forbidden",
			 (json_int_t)slow->answers_forbidden, "answers_limited",
			 (json_int_t)slow->answers_limited, "logged", (json_int_t)slow->logged,
			 "log_suppressed", (json_int_t)slow->log_suppressed);
}

json_t *mr_filter_report_addresses(const struct mr *mr, unsigned index)
{
	const struct mr_filter_address_set *addresses = mr->filter->set->addresses[index];
	char text[MR_ADDR_TEXT_SIZE];
	json_t *list = json_array();

	for (uint32_t i = 0; i < addresses->count; i++)
		json_array_append_new(list,
				      json_string(mr_prefix_format(&addresses->prefix[i], text)));
	return list;
}

json_t *mr_filter_report_address_sets(const struct mr *mr)
{
	const struct mr_filter_set *set = mr->filter->set;
	json_t *list = json_array();

	for (unsigned i = 0; i < set->address_sets; i++)
		if (set->addresses[i] != NULL)
			json_array_append_new(
				list,
				json_pack("{s:s, s:I, s:b}", "name", set->addresses[i]->name,
					  "prefixes", (json_int_t)set->addresses[i]->count, "used",
					  mr_filter_set_user(set, (uint16_t)i) != NULL));
	return list;
}
