/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set is compiled while the one before is in force, and one store exchanges both hooks. An lcore
 * loads what is in force once an iteration, so a packet meets the rules of one set at both hooks.
 * What a rate has left belongs to the rule, so it outlives the set as the rule does.
 */
#include "filter/publish.h"

#include <errno.h>

#include <rte_cycles.h>

#include "base/rcu.h"
#include "filter/filter.h"
#include "filter/flow_state.h"
#include "filter/police.h"
#include "filter/program.h"
#include "lcore/lcores.h"

static void free_set(void *set)
{
	mr_filter_set_free(set);
}

static void free_program(void *program)
{
	mr_filter_program_free(program);
}

int mr_filter_socket(const struct mr *mr)
{
	return mr->lcores->lcore[0]->socket;
}

/* Gives each rule with a rate what it shares; returns 0 or -ENOMEM. */
static int make_police(struct mr *mr, const struct mr_filter_set *set)
{
	struct mr_filter *filter = mr->filter;

	for (uint32_t i = 0; i < set->count; i++) {
		const struct mr_filter_rule *rule = set->rule[i];

		if (rule->action != MR_FILTER_POLICE || filter->police[rule->counter] != NULL)
			continue;
		filter->police[rule->counter] =
			mr_filter_police_create(rule, mr->lcores->count, rte_rdtsc());
		if (filter->police[rule->counter] == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* Lists what is in force. */
static void list_police(struct mr_filter *filter, const struct mr_filter_set *set)
{
	filter->rates = NULL;
	for (uint32_t i = 0; i < set->count; i++) {
		struct mr_filter_police *police = filter->police[set->rule[i]->counter];

		if (set->rule[i]->action != MR_FILTER_POLICE)
			continue;
		police->next = filter->rates;
		filter->rates = police;
	}
}

/* Takes the rates away that are of rules of `from` and not of the list of those in force. */
static void retire_police(struct mr *mr, const struct mr_filter_set *from,
			  const struct mr_filter_police *in_force)
{
	struct mr_filter_police **police = mr->filter->police;

	for (uint32_t i = 0; i < from->count; i++) {
		const struct mr_filter_rule *rule = from->rule[i];
		const struct mr_filter_police *other = in_force;

		if (rule->action != MR_FILTER_POLICE || police[rule->counter] == NULL)
			continue;
		while (other != NULL && other != police[rule->counter])
			other = other->next;
		if (other != NULL)
			continue;
		mr_rcu_defer(mr->rcu, mr_filter_police_free, police[rule->counter]);
		police[rule->counter] = NULL;
	}
}

static void exchange(struct mr *mr, struct mr_filter_program *program)
{
	struct mr_filter *filter = mr->filter;

	__atomic_store_n(&mr->lcores->forwarding.hooks, program != NULL ? &program->hooks : NULL,
			 __ATOMIC_RELEASE);
	if (filter->program != NULL)
		mr_rcu_defer(mr->rcu, free_program, filter->program);
	filter->program = program;
}

int mr_filter_compile(const struct mr_filter *filter, const struct mr_filter_set *set, int socket,
		      struct mr_filter_program **program, struct mr_error *error)
{
	*program = NULL;
	if (mr_filter_set_is_empty(set))
		return 0;
	*program = mr_filter_program_make(&filter->fwd, set, socket, error);
	return *program != NULL ? 0 : -EINVAL;
}

int mr_filter_publish(struct mr *mr, struct mr_filter_set *set, struct mr_filter_program *program,
		      struct mr_error *error)
{
	struct mr_filter *filter = mr->filter;
	int rc = make_police(mr, set);

	if (rc != 0)
		mr_fail(error, rc, "no memory for the rates of rules");
	if (rc == 0 && program != NULL && program->flows.count != 0)
		rc = filter_flows_provide(filter->fwd.flows, mr, filter->flows_size, error);
	if (rc != 0) {
		retire_police(mr, set, filter->rates);
		return rc;
	}
	if (program != NULL) {
		program->flows.program = ++filter->last_program;
		mr_filter_program_complete(program, set, filter->police);
	}
	exchange(mr, program);
	list_police(filter, set);
	retire_police(mr, filter->set, filter->rates);
	mr_filter_publish_names(mr, set);
	return 0;
}

void mr_filter_publish_names(struct mr *mr, struct mr_filter_set *set)
{
	mr_rcu_defer(mr->rcu, free_set, mr->filter->set);
	mr->filter->set = set;
}
