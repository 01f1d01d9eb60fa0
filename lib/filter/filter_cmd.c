/* SPDX-License-Identifier: BSD-3-Clause */
/* The filter's commands and what telemetry tells of it. Each change is made to a copy of the set in
 * force, which then takes its place. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "bridge/bridge.h"
#include "filter/address_change.h"
#include "filter/change.h"
#include "filter/filter.h"
#include "filter/report.h"
#include "filter/rule_text.h"
#include "filter/warnings.h"

#define NUMBER_STEP 100     /* between rules that are given no number */
#define SHOW_RULES_MAX 1000 /* unless a limit is given */
#define RULES_A_PAGE 50     /* of telemetry */

static int no_memory(struct mr_reply *reply)
{
	return mr_refuse(reply, -ENOMEM, "no memory for a set of rules");
}

/* Copies the set in force, to be changed; returns 0 or a negative errno. */
static int copy_set(struct mr *mr, struct mr_filter_set **copy, struct mr_reply *reply)
{
	int rc = mr_filter_refuse_change(mr, reply);

	if (rc != 0)
		return rc;
	*copy = mr_filter_set_copy(mr->filter->set, 1);
	return *copy != NULL ? 0 : no_memory(reply);
}

static int parse_rule(struct mr *mr, const char *text, struct mr_filter_rule **rule,
		      struct mr_reply *reply)
{
	const struct mr_filter_set *set = mr->filter->set;
	uint32_t last = set->count != 0 ? set->rule[set->count - 1]->number : 0;
	struct mr_filter_fault fault = {0};
	int rc = mr_filter_rule_parse(text, set, rule, &fault);

	if (rc == -ENOMEM)
		return no_memory(reply);
	if (rc == 0 && (*rule)->number == 0) {
		rc = mr_filter_rule_number(*rule, last + NUMBER_STEP, &fault);
		if (rc != 0)
			mr_filter_rule_unref(*rule);
	}
	if (rc != 0)
		return mr_refuse(reply, rc, "filter add: column %u: %s", fault.column,
				 fault.error.text);
	return 0;
}

static int add(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_filter_rule *rule;
	struct mr_filter_set *next;
	json_t *warnings;
	uint32_t number;
	int rc = parse_rule(mr, mr_arg(args, "RULE", 0)->text, &rule, reply);

	if (rc != 0)
		return rc;
	rc = copy_set(mr, &next, reply);
	if (rc != 0) {
		mr_filter_rule_unref(rule);
		return rc;
	}
	rc = mr_filter_set_insert(next, rule);
	if (rc != 0) {
		mr_filter_rule_unref(rule);
		mr_filter_set_free(next);
		return rc == -ENOSPC ? mr_refuse(reply, rc, "there are %u rules, the most allowed",
						 MR_FILTER_MAX_RULES)
				     : no_memory(reply);
	}
	number = rule->number;
	warnings = json_array();
	mr_filter_warn_rule(next, mr_filter_set_at(next, number + 1) - 1, warnings);
	return mr_filter_change(mr, next, warnings, reply);
}

static int delete_rules(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	uint32_t number = (uint32_t)mr_arg_number(args, "NUMBER", 0);
	struct mr_filter_set *next;
	int rc = copy_set(mr, &next, reply);

	if (rc != 0)
		return rc;
	if (mr_filter_set_delete(next, number) == 0) {
		mr_filter_set_free(next);
		return mr_refuse(reply, -ENOENT, "there is no rule %u", number);
	}
	return mr_filter_change(mr, next, NULL, reply);
}

static int flush(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_filter_set *next;
	int rc = copy_set(mr, &next, reply);

	(void)args;
	if (rc != 0)
		return rc;
	mr_filter_set_clear(next);
	return mr_filter_change(mr, next, NULL, reply);
}

static int set_default(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_filter_set *next;
	int rc = copy_set(mr, &next, reply);

	if (rc != 0)
		return rc;
	next->default_action = mr_arg_has(args, "deny") ? MR_FILTER_DENY : MR_FILTER_ALLOW;
	return mr_filter_change(mr, next, NULL, reply);
}

static int load_or_test(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	return mr_filter_change_by_file(mr, mr_arg(args, "FILE", 0)->text, mr_arg_has(args, "load"),
					reply);
}

static int save(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	return mr_filter_save(mr, mr_arg(args, "FILE", 0)->text, &reply->error);
}

static int show(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	uint32_t from =
		mr_filter_set_at(mr->filter->set, (uint32_t)mr_arg_number(args, "NUMBER", 0));
	uint32_t limit = (uint32_t)mr_arg_number(args, "COUNT", SHOW_RULES_MAX);
	uint32_t behind = mr->filter->set->count - from;

	if (mr_arg_count(args, "COUNT") == 0 && behind > limit)
		return mr_refuse(reply, -E2BIG,
				 "%u rules: show them from a number on, or give a limit", behind);
	json_t *data = mr_filter_report_summary(mr);
	json_object_set_new(data, "rules", mr_filter_report_rules(mr, from, limit));
	return mr_reply(reply, data);
}

static int zero(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	const struct mr_filter_set *set = mr->filter->set;
	bool one = mr_arg_count(args, "NUMBER") != 0;
	uint32_t number = (uint32_t)mr_arg_number(args, "NUMBER", 0);
	uint32_t from = one ? mr_filter_set_at(set, number) : 0;

	if (one && (from == set->count || set->rule[from]->number != number))
		return mr_refuse(reply, -ENOENT, "there is no rule %u", number);
	for (uint32_t i = from; i < set->count && (!one || set->rule[i]->number == number); i++)
		mr_filter_zero(mr, set->rule[i]->counter);
	if (!one)
		mr_filter_zero(mr, MR_FILTER_DEFAULT_COUNTER);
	return 0;
}

static int change_addresses(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	enum mr_filter_change change = mr_arg_has(args, "add")      ? MR_FILTER_ADD
				       : mr_arg_has(args, "delete") ? MR_FILTER_DELETE
								    : MR_FILTER_REPLACE;
	struct mr_prefix prefix[MR_MAX_ARGS];
	struct mr_filter_set *next;
	unsigned count = 0;

	for (unsigned i = 0; i < args->count; i++) {
		const struct mr_arg *arg = &args->arg[i];

		if (strcmp(arg->placeholder, "ADDRESS") != 0 &&
		    strcmp(arg->placeholder, "PREFIX") != 0)
			continue;
		if (mr_filter_parse_prefix(arg->text, &prefix[count++]) != 0)
			return mr_refuse(reply, -EINVAL, "%s is no prefix", arg->text);
	}
	int rc = copy_set(mr, &next, reply);
	if (rc != 0)
		return rc;
	rc = mr_filter_change_addresses(next, mr_arg(args, "NAME", 0)->text, change, prefix, count,
					&reply->error);
	if (rc == 0)
		return mr_filter_change(mr, next, NULL, reply);
	mr_filter_set_free(next);
	return rc;
}

/* The index of the address set that a command names, or -ENOENT. */
static int named_set(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	const char *name = mr_arg(args, "NAME", 0)->text;
	int index = mr_filter_set_find(mr->filter->set, name);

	return index >= 0 ? index : mr_refuse(reply, -ENOENT, "there is no address set %s", name);
}

static int remove_addresses(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	int index = named_set(mr, args, reply);
	const struct mr_filter_rule *user;
	struct mr_filter_set *next;

	if (index < 0)
		return index;
	if (index == MR_FILTER_ME)
		return mr_refuse(reply, -EPERM, "me is always there: the appliance's addresses");
	user = mr_filter_set_user(mr->filter->set, (uint16_t)index);
	if (user != NULL)
		return mr_refuse(reply, -EBUSY, "rule %u names address set %s", user->number,
				 mr_arg(args, "NAME", 0)->text);
	int rc = copy_set(mr, &next, reply);
	if (rc != 0)
		return rc;
	mr_filter_set_drop_addresses(next, (uint16_t)index);
	return mr_filter_change(mr, next, NULL, reply);
}

static int show_addresses(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	int index;

	if (mr_arg_count(args, "NAME") == 0)
		return mr_reply(reply, mr_filter_report_address_sets(mr));
	index = named_set(mr, args, reply);
	return index < 0 ? index : mr_reply(reply, mr_filter_report_addresses(mr, (unsigned)index));
}

static int filter_bridge(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	const char *name = mr_arg(args, "NAME", 0)->text;
	const struct mr_bridge *bridge = mr_bridge_find(mr, name);

	if (bridge == NULL)
		return mr_refuse(reply, -ENOENT, "there is no bridge %s", name);
	__atomic_store_n(&mr->filter->fwd.exempt[bridge->id], mr_arg_has(args, "off"),
			 __ATOMIC_RELAXED);
	return 0;
}

const struct mr_cmd mr_filter_cmds[] = {
	{"filter add RULE", "Adds a rule; without a number, 100 above the last one.", add},
	{"filter delete NUMBER", "Deletes all rules of a number.", delete_rules},
	{"filter flush", "Deletes all rules; the default action and address sets stay.", flush},
	{"filter default allow|deny", "Sets what happens to packets that no rule decides.",
	 set_default},
	{"filter load FILE", "Replaces all rules by those of a file, or changes nothing.",
	 load_or_test},
	{"filter test FILE", "Reads and compiles a file of rules and changes nothing.",
	 load_or_test},
	{"filter save FILE", "Writes rules and address sets to a file, for filter load.", save},
	{"filter show [from NUMBER] [limit COUNT]",
	 "Shows the default action and the rules, what they matched and how many seconds ago.",
	 show},
	{"filter zero [NUMBER]", "Counts anew, for the rules of a number or for all.", zero},
	{"filter set NAME add|delete|replace ADDRESS|PREFIX [ADDRESS|PREFIX ...]",
	 "Changes a named set of addresses; adding and replacing make it.", change_addresses},
	{"filter set NAME remove", "Removes a set of addresses that no rule names.",
	 remove_addresses},
	{"filter show set [NAME]", "Shows the sets of addresses, or what is in one.",
	 show_addresses},
	{"filter bridge NAME on|off", "Has rules look at what a bridge carries, or not.",
	 filter_bridge},
	{0},
};

static int query_summary(struct mr *mr, const char *params, struct mr_reply *reply)
{
	(void)params;
	return mr_reply(reply, mr_filter_report_summary(mr));
}

/* params: empty, or the `next` of the page before. */
static int query_rules(struct mr *mr, const char *params, struct mr_reply *reply)
{
	uint32_t count = mr->filter->set->count;
	uint64_t from = 0;

	if (params[0] != '\0' && mr_number_parse(params, count, &from) != 0)
		return mr_refuse(reply, -EINVAL, "%s is no place among %u rules", params, count);
	return mr_reply(reply,
			json_pack("{s:I, s:I, s:o}", "total", (json_int_t)count, "next",
				  from + RULES_A_PAGE < count ? (json_int_t)(from + RULES_A_PAGE)
							      : (json_int_t)0,
				  "rules",
				  mr_filter_report_rules(mr, (uint32_t)from, RULES_A_PAGE)));
}

const struct mr_query mr_filter_queries[] = {
	{"/millrace/filter/summary", "The filter's default action and how many rules there are.",
	 query_summary},
	{"/millrace/filter/rules", "Rules and their counters, 50 a page. Parameter: NEXT.",
	 query_rules},
	{0},
};
