/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/rule.h"

#include <stdlib.h>
#include <string.h>

#include "filter/slots.h"

struct mr_filter_rule *mr_filter_rule_ref(struct mr_filter_rule *rule)
{
	__atomic_fetch_add(&rule->references, 1, __ATOMIC_RELAXED);
	return rule;
}

void mr_filter_rule_unref(struct mr_filter_rule *rule)
{
	if (__atomic_sub_fetch(&rule->references, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	if (rule->slots != NULL)
		mr_filter_slots_give(rule->slots, rule->counter);
	free(rule);
}

static bool same_address(const struct mr_filter_address *a, const struct mr_filter_address *b)
{
	if (a->is_set || b->is_set)
		return a->is_set && b->is_set && a->set == b->set;
	return a->prefix.length == b->prefix.length &&
	       mr_addr_equal(&a->prefix.addr, &b->prefix.addr);
}

static bool same_addresses(const struct mr_filter_addresses *a, const struct mr_filter_addresses *b)
{
	if (a->count != b->count || a->negated != b->negated)
		return false;
	for (unsigned i = 0; i < a->count; i++)
		if (!same_address(&a->alternative[i], &b->alternative[i]))
			return false;
	return true;
}

static bool same_test(const struct mr_filter_test *a, const struct mr_filter_test *b)
{
	return a->field == b->field && a->negated == b->negated && a->count == b->count &&
	       memcmp(a->range, b->range, a->count * sizeof(*a->range)) == 0;
}

static bool same_mac(const struct mr_filter_mac *a, const struct mr_filter_mac *b)
{
	return a->bits == b->bits && a->negated == b->negated &&
	       rte_is_same_ether_addr(&a->mac, &b->mac);
}

bool mr_filter_rule_same_tests(const struct mr_filter_rule *a, const struct mr_filter_rule *b)
{
	if (a->families != b->families || a->direction != b->direction ||
	    a->fragment != b->fragment || a->options != b->options ||
	    a->established != b->established || a->tests != b->tests)
		return false;
	if (a->tcp.set != b->tcp.set || a->tcp.clear != b->tcp.clear ||
	    a->tcp.negated != b->tcp.negated)
		return false;
	if (!same_mac(&a->src_mac, &b->src_mac) || !same_mac(&a->dst_mac, &b->dst_mac) ||
	    !same_addresses(&a->src, &b->src) || !same_addresses(&a->dst, &b->dst))
		return false;
	for (unsigned i = 0; i < a->tests; i++)
		if (!same_test(&a->test[i], &b->test[i]))
			return false;
	return true;
}

static bool same_argument(const struct mr_filter_rule *a, const struct mr_filter_rule *b)
{
	switch (a->action) {
	case MR_FILTER_SKIPTO:
		return a->argument.number == b->argument.number;
	case MR_FILTER_SET_DSCP:
		return a->argument.dscp == b->argument.dscp;
	case MR_FILTER_POLICE:
		return a->argument.police.rate == b->argument.police.rate &&
		       a->argument.police.burst == b->argument.police.burst;
	case MR_FILTER_MIRROR:
		return a->argument.iface == b->argument.iface;
	default:
		return true;
	}
}

bool mr_filter_rule_same_effect(const struct mr_filter_rule *a, const struct mr_filter_rule *b)
{
	return a->action == b->action && a->log == b->log && a->keep_state == b->keep_state &&
	       a->limit_by == b->limit_by && a->limit == b->limit && same_argument(a, b);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static uint64_t mix_addresses(uint64_t hash, const struct mr_filter_addresses *addresses)
{
	hash = mix(hash, (uint64_t)addresses->count << 1 | addresses->negated);
	for (unsigned i = 0; i < addresses->count; i++) {
		const struct mr_filter_address *address = &addresses->alternative[i];
		uint64_t half[2];

		if (address->is_set) {
			hash = mix(hash, address->set + 1u);
			continue;
		}
		memcpy(half, address->prefix.addr.bytes, sizeof(half));
		hash = mix(hash, address->prefix.length);
		hash = mix(mix(hash, half[0]), half[1]);
	}
	return hash;
}

static uint64_t mac_bits(const struct mr_filter_mac *mac)
{
	uint64_t bits = 0;

	memcpy(&bits, &mac->mac, sizeof(mac->mac));
	return bits << 16 | (uint64_t)mac->bits << 1 | mac->negated;
}

uint64_t mr_filter_rule_hash(const struct mr_filter_rule *rule)
{
	uint64_t hash = mix(rule->families,
			    (uint64_t)rule->direction << 24 | (uint64_t)rule->fragment << 16 |
				    (uint64_t)rule->options << 8 | rule->established);

	hash = mix(hash, (uint64_t)rule->tcp.set << 16 | (uint64_t)rule->tcp.clear << 8 |
				 rule->tcp.negated);
	hash = mix(mix(hash, mac_bits(&rule->src_mac)), mac_bits(&rule->dst_mac));
	hash = mix_addresses(mix_addresses(hash, &rule->src), &rule->dst);
	for (unsigned i = 0; i < rule->tests; i++) {
		const struct mr_filter_test *test = &rule->test[i];

		hash = mix(hash, (uint64_t)test->field << 1 | test->negated);
		for (unsigned j = 0; j < test->count; j++)
			hash = mix(hash,
				   (uint64_t)test->range[j].first << 32 | test->range[j].last);
	}
	return hash;
}
