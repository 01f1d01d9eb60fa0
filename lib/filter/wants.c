/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rules look at. The packet path reads only that much of a packet, so a set that decides
 * nothing by a field never pays for it; and what no packet can reach, behind a rule that decides
 * everything, asks for nothing.
 */
#include "filter/key_fwd.h"
#include "filter/rule.h"

enum {
	FLOW = MR_FILTER_WANT_FAMILY | MR_FILTER_WANT_VLAN | MR_FILTER_WANT_PROTOCOL |
	       MR_FILTER_WANT_SRC | MR_FILTER_WANT_DST | MR_FILTER_WANT_SPORT |
	       MR_FILTER_WANT_DPORT | MR_FILTER_WANT_ICMP | MR_FILTER_WANT_TCP
};

static const uint32_t field_wants[MR_FILTER_FIELDS] = {
	[MR_FILTER_PROTOCOL] = MR_FILTER_WANT_FAMILY | MR_FILTER_WANT_PROTOCOL,
	[MR_FILTER_SPORT] = MR_FILTER_WANT_SPORT,
	[MR_FILTER_DPORT] = MR_FILTER_WANT_DPORT,
	[MR_FILTER_ICMP_TYPE] = MR_FILTER_WANT_FAMILY | MR_FILTER_WANT_ICMP,
	[MR_FILTER_ICMP6_TYPE] = MR_FILTER_WANT_FAMILY | MR_FILTER_WANT_ICMP,
	[MR_FILTER_LENGTH] = MR_FILTER_WANT_FAMILY | MR_FILTER_WANT_LENGTH,
	[MR_FILTER_TTL] = MR_FILTER_WANT_FAMILY | MR_FILTER_WANT_TTL,
	[MR_FILTER_DSCP] = MR_FILTER_WANT_FAMILY | MR_FILTER_WANT_DSCP,
	[MR_FILTER_VLAN] = MR_FILTER_WANT_VLAN,
	[MR_FILTER_ETHERTYPE] = MR_FILTER_WANT_ETHERTYPE,
	[MR_FILTER_RECV] = MR_FILTER_WANT_IN,
	[MR_FILTER_XMIT] = MR_FILTER_WANT_OUT,
	[MR_FILTER_VRF] = MR_FILTER_WANT_VRF,
};

const struct mr_filter_test *mr_filter_rule_test(const struct mr_filter_rule *rule,
						 enum mr_filter_field field)
{
	for (unsigned i = 0; i < rule->tests; i++)
		if (rule->test[i].field == field)
			return &rule->test[i];
	return NULL;
}

bool mr_filter_rule_is_for(const struct mr_filter_rule *rule, bool out)
{
	if (!out && mr_filter_rule_test(rule, MR_FILTER_XMIT) != NULL)
		return false;
	return rule->direction == MR_FILTER_ANY || (rule->direction == MR_FILTER_NO) == out;
}

static bool has_flags_test(const struct mr_filter_rule *rule)
{
	return rule->established != MR_FILTER_ANY || (rule->tcp.set | rule->tcp.clear) != 0;
}

uint32_t mr_filter_rule_wants(const struct mr_filter_rule *rule, bool out)
{
	uint32_t wants = 0;

	if (!mr_filter_rule_is_for(rule, out))
		return 0;
	for (unsigned i = 0; i < rule->tests; i++) {
		if (rule->test[i].field == MR_FILTER_VIA)
			wants |= out ? MR_FILTER_WANT_OUT : MR_FILTER_WANT_IN;
		else
			wants |= field_wants[rule->test[i].field];
	}
	if (rule->families != MR_FILTER_FAMILY_ALL)
		wants |= MR_FILTER_WANT_FAMILY;
	if (rule->src.count != 0)
		wants |= MR_FILTER_WANT_FAMILY | MR_FILTER_WANT_SRC;
	if (rule->dst.count != 0)
		wants |= MR_FILTER_WANT_FAMILY | MR_FILTER_WANT_DST;
	if (rule->fragment != MR_FILTER_ANY)
		wants |= MR_FILTER_WANT_FAMILY | MR_FILTER_WANT_FRAGMENT;
	if (rule->options != MR_FILTER_ANY)
		wants |= MR_FILTER_WANT_FAMILY | MR_FILTER_WANT_OPTIONS;
	if (has_flags_test(rule))
		wants |= MR_FILTER_WANT_TCP;
	if (rule->src_mac.bits != 0 || rule->dst_mac.bits != 0)
		wants |= MR_FILTER_WANT_MACS;
	if (rule->keep_state || rule->limit_by != 0 || rule->action == MR_FILTER_CHECK_STATE)
		wants |= FLOW;
	return wants;
}

uint32_t mr_filter_set_wants(const struct mr_filter_set *set, bool out)
{
	bool jumps = false;
	uint32_t wants = 0;

	for (uint32_t i = 0; i < set->count; i++) {
		const struct mr_filter_rule *rule = set->rule[i];
		uint32_t more;

		if (!mr_filter_rule_is_for(rule, out))
			continue;
		more = mr_filter_rule_wants(rule, out);
		jumps = jumps || rule->action == MR_FILTER_SKIPTO;
		if (more == 0 && !jumps && mr_filter_action_is_final(rule->action))
			break;
		wants |= more;
	}
	return wants;
}
