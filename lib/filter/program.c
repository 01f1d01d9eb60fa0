/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/program.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "filter/classifier.h"
#include "filter/flow_walk_fwd.h"
#include "filter/glance.h"

bool mr_filter_set_is_empty(const struct mr_filter_set *set)
{
	return set->count == 0 && set->default_action == MR_FILTER_ALLOW;
}

static struct mr_filter_effect effect_of(const struct mr_filter_set *set, uint32_t index,
					 struct mr_filter_police *const *police)
{
	const struct mr_filter_rule *rule = set->rule[index];
	struct mr_filter_effect effect = {.action = rule->action,
					  .log = rule->log,
					  .number = rule->number,
					  .counter = rule->counter,
					  .next = index + 1};

	switch ((enum mr_filter_action)rule->action) {
	case MR_FILTER_SKIPTO:
		effect.next = mr_filter_set_at(set, rule->argument.number);
		break;
	case MR_FILTER_SET_DSCP:
		effect.dscp = rule->argument.dscp;
		break;
	case MR_FILTER_MIRROR:
		effect.iface = rule->argument.iface;
		break;
	case MR_FILTER_POLICE:
		effect.police = police[rule->counter];
		break;
	default:
		break;
	}
	return effect;
}

/* Whether packets meet flows at a rule. */
static bool has_state(const struct mr_filter_rule *rule)
{
	return rule->keep_state || rule->action == MR_FILTER_CHECK_STATE;
}

static int by_serial(const void *left, const void *right)
{
	const struct flow_rule *a = left, *b = right;

	return a->limit.serial < b->limit.serial ? -1 : a->limit.serial > b->limit.serial;
}

/* Makes room for the list of rules that keep state. Returns 0 or -ENOMEM. */
static int count_flow_rules(struct mr_filter_program *program, const struct mr_filter_set *set,
			    int socket)
{
	struct flow_rule *list;
	uint32_t count = 0;

	for (uint32_t i = 0; i < set->count; i++)
		count += set->rule[i]->keep_state;
	if (count == 0)
		return 0;
	list = rte_malloc_socket("flow_rules", count * sizeof(*list), 0, socket);
	if (list == NULL)
		return -ENOMEM;
	program->flows = (struct flow_rules){.count = count, .rule = list};
	program->flow_rule = list;
	program->hooks.tick = mr_filter_tick;
	return 0;
}

/* Lists them; they have serial numbers now. */
static void list_flow_rules(struct mr_filter_program *program, const struct mr_filter_set *set)
{
	struct flow_rule *list = program->flow_rule;
	uint32_t count = 0;

	for (uint32_t i = 0; i < set->count; i++) {
		const struct mr_filter_rule *rule = set->rule[i];

		if (rule->keep_state)
			list[count++] = (struct flow_rule){
				.limit = {rule->serial, rule->limit, rule->limit_by}, .index = i};
	}
	qsort(list, count, sizeof(*list), by_serial);
	for (uint32_t i = 0; i < count; i++)
		program->effect[list[i].index].keep = &list[i];
}

/* Finds where packets meet flows. */
static void find_state(struct mr_filter_program *program, const struct mr_filter_set *set)
{
	for (unsigned out = 0; out < 2; out++) {
		uint32_t state = UINT32_MAX, first = UINT32_MAX;

		for (uint32_t i = set->count + 1; i-- > 0;) {
			bool is_for = i < set->count && mr_filter_rule_is_for(set->rule[i], out);

			if (is_for)
				first = i;
			if (is_for && program->flows.count != 0 && has_state(set->rule[i]))
				state = i;
			program->effect[i].state[out] = state;
		}
		program->state_first[out] = state != UINT32_MAX && state == first;
	}
}

static void find_by_flow(struct mr_filter_program *program)
{
	const uint32_t of_packet = MR_FILTER_WANT_LENGTH | MR_FILTER_WANT_TTL |
				   MR_FILTER_WANT_DSCP | MR_FILTER_WANT_MACS;
	uint32_t wants = program->classifier[0]->wants | program->classifier[1]->wants;

	/* Packets meet their flows in their order, which those whose rule is known would leave. */
	program->by_flow = program->flows.count == 0 && (wants & of_packet) == 0 &&
			   !(program->classifier[0]->trivial && program->classifier[1]->trivial);
	program->tcp_flags = (wants & MR_FILTER_WANT_TCP) != 0 ? 0xff : 0;
}

/* How many rules come before that with state which is the first at both hooks; 0: there is none. */
static uint32_t rules_before_state(const struct mr_filter_set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (has_state(set->rule[i]))
			return mr_filter_rule_is_for(set->rule[i], false) &&
					       mr_filter_rule_is_for(set->rule[i], true)
				       ? i
				       : 0;
	return 0;
}

static int compile_glance(struct mr_filter_program *program, const struct mr_filter_set *set,
			  int socket, struct mr_error *error)
{
	struct mr_filter_set before = *set;
	int rc;

	program->glance_flows = program->flows.count != 0;
	if (program->glance_flows)
		before.count = rules_before_state(set);
	else if (set->default_action != MR_FILTER_ALLOW)
		return 0;
	if (before.count == 0 ||
	    (program->classifier[0]->trivial && program->classifier[1]->trivial))
		return 0;
	rc = filter_glance_compile(&before, socket, &program->glance);
	return rc == 0 ? 0 : mr_fail(error, rc, "no memory to compile %u rules", set->count);
}

struct mr_filter_program *mr_filter_program_make(const struct mr_filter_fwd *fwd,
						 const struct mr_filter_set *set, int socket,
						 struct mr_error *error)
{
	struct mr_filter_program *program;

	program =
		rte_zmalloc_socket("mr_filter_program",
				   sizeof(*program) + (set->count + 1) * sizeof(program->effect[0]),
				   RTE_CACHE_LINE_SIZE, socket);

	if (program == NULL) {
		mr_fail(error, -ENOMEM, "no memory for %u rules", set->count);
		return NULL;
	}
	program->hooks = (struct mr_hooks){.input = mr_filter_input, .output = mr_filter_output};
	program->fwd = fwd;
	program->count = set->count;
	for (unsigned out = 0; out < 2; out++) {
		program->classifier[out] = mr_classifier_compile(set, out, socket, error);
		if (program->classifier[out] == NULL) {
			mr_filter_program_free(program);
			return NULL;
		}
	}
	if (count_flow_rules(program, set, socket) != 0) {
		mr_fail(error, -ENOMEM, "no memory for %u rules", set->count);
		mr_filter_program_free(program);
		return NULL;
	}
	find_by_flow(program);
	if (compile_glance(program, set, socket, error) != 0) {
		mr_filter_program_free(program);
		return NULL;
	}
	return program;
}

void mr_filter_program_complete(struct mr_filter_program *program, const struct mr_filter_set *set,
				struct mr_filter_police *const *police)
{
	for (uint32_t i = 0; i < set->count; i++)
		program->effect[i] = effect_of(set, i, police);
	program->effect[set->count] = (struct mr_filter_effect){
		.action = set->default_action, .counter = MR_FILTER_DEFAULT_COUNTER};
	if (program->flows.count != 0)
		list_flow_rules(program, set);
	find_state(program, set);
}

void mr_filter_program_free(struct mr_filter_program *program)
{
	if (program == NULL)
		return;
	for (unsigned out = 0; out < 2; out++)
		mr_classifier_free(program->classifier[out]);
	filter_glance_free(program->glance);
	rte_free(program->flow_rule);
	rte_free(program);
}
