/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set in force is never touched: every change is made to a copy, which takes its place as a
 * whole. So lcores see the one or the other, and a change that is refused half way leaves nothing
 * behind. A rule that did not change is the same object before and after, counter and all.
 */
#include "filter/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "bridge/bridge.h"
#include "filter/address_set.h"
#include "filter/change.h"
#include "filter/classifier.h"
#include "filter/flow_state.h"
#include "filter/log_fwd.h"
#include "filter/plain_cache.h"
#include "filter/police.h"
#include "filter/program.h"
#include "filter/publish.h"
#include "filter/slow.h"
#include "lcore/lcores.h"
#include "route/router.h"

static void free_filter(struct mr_filter *filter)
{
	mr_filter_set_free(filter->set);
	for (unsigned i = 0; i < MR_MAX_LCORES; i++) {
		free(filter->fwd.hits[i]);
		for (unsigned out = 0; out < 2; out++)
			mr_verdict_cache_free(filter->fwd.cache[i][out]);
		plain_cache_free(filter->fwd.plain[i]);
	}
	mr_filter_program_free(filter->program);
	for (uint32_t i = 0; filter->police != NULL && i < MR_FILTER_COUNTERS; i++)
		mr_filter_police_free(filter->police[i]);
	free(filter->police);
	free(filter->slots);
	free(filter->baseline);
	free(filter->slow);
	filter_flows_free(filter->fwd.flows);
	rte_free(filter->fwd.log);
	free(filter);
}

int mr_filter_create(struct mr *mr, struct mr_error *error)
{
	struct mr_filter *filter = calloc(1, sizeof(*filter));
	bool failed = filter == NULL;

	if (!failed) {
		filter->set = mr_filter_set_new();
		filter->slots = mr_filter_slots_create();
		filter->baseline = calloc(MR_FILTER_COUNTERS, sizeof(*filter->baseline));
		filter->slow = calloc(1, sizeof(*filter->slow));
		filter->fwd.flows = filter_flows_create();
		filter->police = calloc(MR_FILTER_COUNTERS, sizeof(*filter->police));
		filter->fwd.log =
			rte_zmalloc("mr_filter_log", mr->lcores->count * sizeof(*filter->fwd.log),
				    RTE_CACHE_LINE_SIZE);
		failed = filter->police == NULL || filter->set == NULL || filter->slots == NULL ||
			 filter->baseline == NULL || filter->slow == NULL ||
			 filter->fwd.log == NULL || filter->fwd.flows == NULL;
	}
	for (unsigned i = 0; !failed && i < mr->lcores->count; i++) {
		filter->fwd.hits[i] = aligned_alloc(
			RTE_CACHE_LINE_SIZE,
			RTE_ALIGN_CEIL(MR_FILTER_COUNTERS * sizeof(struct mr_filter_hits),
				       (size_t)RTE_CACHE_LINE_SIZE));
		failed = filter->fwd.hits[i] == NULL;
		if (!failed)
			memset(filter->fwd.hits[i], 0,
			       MR_FILTER_COUNTERS * sizeof(struct mr_filter_hits));
		for (unsigned out = 0; !failed && out < 2; out++) {
			filter->fwd.cache[i][out] = mr_verdict_cache_create(
				MR_VERDICT_CACHE_DEFAULT, mr->lcores->lcore[i]->socket);
			failed = filter->fwd.cache[i][out] == NULL;
		}
		if (!failed) {
			filter->fwd.plain[i] =
				plain_cache_create(PLAIN_CACHE_MAX, mr->lcores->lcore[i]->socket);
			failed = filter->fwd.plain[i] == NULL;
		}
	}
	if (failed) {
		if (filter != NULL)
			free_filter(filter);
		return mr_fail(error, -ENOMEM, "no memory for the filter");
	}
	mr->filter = filter;
	return 0;
}

void mr_filter_destroy(struct mr *mr)
{
	if (mr->filter == NULL)
		return;
	free_filter(mr->filter);
	mr->filter = NULL;
}

static struct mr_filter_hits sum_hits(const struct mr *mr, uint32_t counter)
{
	struct mr_filter_hits sum = {0};

	for (unsigned i = 0; i < mr->lcores->count; i++) {
		const struct mr_filter_hits *hits = &mr->filter->fwd.hits[i][counter];
		uint64_t seconds = mr_counter_read(&hits->seconds);

		sum.packets += mr_counter_read(&hits->packets);
		sum.bytes += mr_counter_read(&hits->bytes);
		sum.seconds = RTE_MAX(sum.seconds, seconds);
	}
	return sum;
}

struct mr_filter_hits mr_filter_hits(const struct mr *mr, uint32_t counter)
{
	const struct mr_filter_hits *baseline = &mr->filter->baseline[counter];
	struct mr_filter_hits hits = sum_hits(mr, counter);

	hits.packets -= baseline->packets;
	hits.bytes -= baseline->bytes;
	if (hits.packets == 0)
		hits.seconds = 0;
	return hits;
}

void mr_filter_zero(struct mr *mr, uint32_t counter)
{
	mr->filter->baseline[counter] = sum_hits(mr, counter);
}

static int give_counters(struct mr *mr, struct mr_filter_set *set, struct mr_error *error)
{
	for (uint32_t i = 0; i < set->count; i++) {
		struct mr_filter_rule *rule = set->rule[i];

		if (rule->slots != NULL)
			continue;
		if (mr_filter_slots_take(mr->filter->slots, rule) != 0)
			return mr_fail(error, -EAGAIN,
				       "rules that were replaced are still in use: try again");
		mr_filter_zero(mr, rule->counter);
		if (rule->keep_state)
			rule->serial = ++mr->filter->last_serial;
	}
	return 0;
}

int mr_filter_commit(struct mr *mr, struct mr_filter_set *next, struct mr_filter_program *program,
		     struct mr_error *error)
{
	int rc = give_counters(mr, next, error);

	if (rc == 0)
		rc = mr_filter_publish(mr, next, program, error);
	if (rc != 0) {
		mr_filter_program_free(program);
		mr_filter_set_free(next);
	}
	return rc;
}

/* Rules of a set by hash; each is taken once. */
struct rule_entry {
	struct mr_filter_rule *rule;
	bool taken;
};

struct rule_table {
	uint32_t mask;
	struct rule_entry *entry;
};

static uint64_t hash_of(const struct mr_filter_rule *rule)
{
	return mr_filter_rule_hash(rule) + rule->number * 0x9e3779b97f4a7c15;
}

static int fill(struct rule_table *table, const struct mr_filter_set *set)
{
	uint32_t size = rte_align32pow2(2 * set->count + 2);

	table->mask = size - 1;
	table->entry = calloc(size, sizeof(*table->entry));
	if (table->entry == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t at = (uint32_t)(hash_of(set->rule[i]) >> 32) & table->mask;

		while (table->entry[at].rule != NULL)
			at = (at + 1) & table->mask;
		table->entry[at].rule = set->rule[i];
	}
	return 0;
}

static struct mr_filter_rule *take_same(struct rule_table *table, const struct mr_filter_rule *rule)
{
	uint32_t at = (uint32_t)(hash_of(rule) >> 32) & table->mask;

	for (; table->entry[at].rule != NULL; at = (at + 1) & table->mask) {
		struct rule_entry *old = &table->entry[at];

		if (old->taken || old->rule->number != rule->number ||
		    !mr_filter_rule_same_tests(old->rule, rule) ||
		    !mr_filter_rule_same_effect(old->rule, rule))
			continue;
		old->taken = true;
		return old->rule;
	}
	return NULL;
}

int mr_filter_keep_rules(struct mr_filter_set *next, const struct mr_filter_set *old)
{
	struct rule_table table;
	int rc = fill(&table, old);

	for (uint32_t i = 0; rc == 0 && i < next->count; i++) {
		struct mr_filter_rule *kept = take_same(&table, next->rule[i]);

		if (kept == NULL)
			continue;
		mr_filter_rule_unref(next->rule[i]);
		next->rule[i] = mr_filter_rule_ref(kept);
	}
	free(table.entry);
	return rc;
}

/* The appliance's addresses as an address set. NULL without memory. */
static struct mr_filter_address_set *own_addresses(const struct mr *mr)
{
	unsigned count = mr_router_addresses(mr, NULL, 0);
	struct mr_addr *own = calloc(count + 1, sizeof(*own));
	struct mr_prefix *prefix = calloc(count + 1, sizeof(*prefix));
	struct mr_filter_address_set *set = NULL;

	if (own != NULL && prefix != NULL) {
		mr_router_addresses(mr, own, count);
		for (unsigned i = 0; i < count; i++)
			prefix[i] = (struct mr_prefix){
				.addr = own[i], .length = own[i].family == AF_INET ? 32 : 128};
		set = mr_filter_address_set_new("me", prefix, count);
	}
	free(own);
	free(prefix);
	return set;
}

/* Puts `me` in its place; *job: what is left to be done. Returns 0 or -ENOMEM. */
static int replace_me(struct mr *mr, const struct mr_filter_address_set *mine, struct mr_job **job)
{
	struct mr_filter_set *next = mr_filter_set_copy(mr->filter->set, 0);

	if (next == NULL)
		return -ENOMEM;
	if (mr_filter_set_put_addresses(next, mine->name, mine->prefix, mine->count) != 0) {
		mr_filter_set_free(next);
		return -ENOMEM;
	}
	if (mr_filter_set_user(next, MR_FILTER_ME) != NULL) {
		*job = mr_filter_change_quietly(mr, next);
		return *job != NULL ? 0 : -ENOMEM;
	}
	mr_filter_publish_names(mr, next);
	return 0;
}

static struct mr_job *follow_addresses(struct mr *mr)
{
	struct mr_filter_address_set *mine = own_addresses(mr);
	struct mr_job *job = NULL;
	int rc = mine != NULL ? 0 : -ENOMEM;

	if (rc == 0 && !mr_filter_address_set_equal(mr->filter->set->addresses[MR_FILTER_ME], mine))
		rc = replace_me(mr, mine, &job);
	if (rc != 0)
		mr_log_error("filter: 'me' stays what it was: no memory");
	if (mine != NULL)
		mr_filter_address_set_unref(mine);
	return job;
}

struct mr_job *mr_filter_follow(struct mr *mr)
{
	struct mr_job *job = NULL;

	/* What changes while a change is under way is followed when that is done. */
	if (!mr->filter->is_changing)
		job = follow_addresses(mr);
	for (unsigned id = 0; id < MR_MAX_BRIDGES; id++)
		if (mr->bridges->bridge[id].name[0] == '\0')
			__atomic_store_n(&mr->filter->fwd.exempt[id], 0, __ATOMIC_RELAXED);
	return job;
}

void mr_filter_poll(struct mr *mr, uint64_t now_ms)
{
	uint64_t now = rte_rdtsc(), hz = rte_get_tsc_hz();

	mr->filter->slow->now_ms = now_ms;
	for (struct mr_filter_police *rate = mr->filter->rates; rate != NULL; rate = rate->next)
		mr_filter_police_grant(rate, now, hz);
}
