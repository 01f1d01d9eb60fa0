/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is refused. A rule that asks for something its packets never have would silently match
 * nothing, or, with that part ignored, too much. Either is a hole or a wall that nobody meant; so
 * each test says here what the rest of the rule must say for it to make sense.
 */
#include <rte_ether.h>

#include "filter/draft.h"

static bool protocols_are(const struct mr_filter_draft *draft, bool (*is)(uint32_t))
{
	const struct mr_filter_test *test = &draft->test[MR_FILTER_PROTOCOL];

	if (test->count == 0 || test->negated)
		return false;
	for (unsigned i = 0; i < test->count; i++)
		for (uint32_t p = test->range[i].first; p <= test->range[i].last; p++)
			if (!is(p))
				return false;
	return true;
}

static bool is_tcp(uint32_t protocol)
{
	return protocol == IPPROTO_TCP;
}

static bool is_icmp(uint32_t protocol)
{
	return protocol == IPPROTO_ICMP;
}

static bool is_icmp6(uint32_t protocol)
{
	return protocol == IPPROTO_ICMPV6;
}

/* The column of the first item that looks at the transport header, 0 if there is none. */
static unsigned transport_column(const struct mr_filter_draft *draft)
{
	static const unsigned items[] = {MR_FILTER_SPORT,          MR_FILTER_DPORT,
					 MR_FILTER_ICMP_TYPE,      MR_FILTER_ICMP6_TYPE,
					 MR_FILTER_ITEM_TCP_FLAGS, MR_FILTER_ITEM_ESTABLISHED};

	for (unsigned i = 0; i < RTE_DIM(items); i++)
		if (draft->column[items[i]] != 0)
			return draft->column[items[i]];
	return 0;
}

static int check_transport(const struct mr_filter_draft *draft, struct mr_filter_fault *fault)
{
	const unsigned *column = draft->column;
	unsigned ports =
		column[MR_FILTER_SPORT] != 0 ? column[MR_FILTER_SPORT] : column[MR_FILTER_DPORT];
	unsigned flags = column[MR_FILTER_ITEM_TCP_FLAGS] != 0 ? column[MR_FILTER_ITEM_TCP_FLAGS]
							       : column[MR_FILTER_ITEM_ESTABLISHED];
	unsigned transport = transport_column(draft);

	if (ports != 0 && !protocols_are(draft, mr_filter_protocol_has_ports))
		return mr_filter_refuse(
			fault, ports,
			"ports need a protocol that has them: tcp, udp, udplite, sctp, dccp");
	if (flags != 0 && !protocols_are(draft, is_tcp))
		return mr_filter_refuse(fault, flags, "TCP flags need the protocol tcp");
	if (column[MR_FILTER_ICMP_TYPE] != 0 && !protocols_are(draft, is_icmp))
		return mr_filter_refuse(fault, column[MR_FILTER_ICMP_TYPE],
					"icmptypes need the protocol icmp");
	if (column[MR_FILTER_ICMP6_TYPE] != 0 && !protocols_are(draft, is_icmp6))
		return mr_filter_refuse(fault, column[MR_FILTER_ICMP6_TYPE],
					"icmp6types need the protocol icmp6");
	if (transport != 0 && draft->rule.fragment == MR_FILTER_YES)
		return mr_filter_refuse(
			fault, transport,
			"frag means fragments without a transport header: they have no "
			"ports, types or flags to look at");
	return 0;
}

/* The families in which an address test can hold. */
static uint8_t address_families(const struct mr_filter_addresses *addresses,
				const struct mr_filter_address *alternative)
{
	uint8_t families = 0;

	if (addresses->count == 0)
		return MR_FILTER_FAMILY_ALL;
	if (addresses->negated)
		return MR_FILTER_FAMILY_IP;
	for (unsigned i = 0; i < addresses->count; i++) {
		if (alternative[i].is_set)
			return MR_FILTER_FAMILY_IP;
		families |= alternative[i].prefix.addr.family == AF_INET ? MR_FILTER_FAMILY_V4
									 : MR_FILTER_FAMILY_V6;
	}
	return families;
}

static bool contains(const struct mr_filter_test *test, uint32_t value)
{
	for (unsigned i = 0; i < test->count; i++)
		if (value >= test->range[i].first && value <= test->range[i].last)
			return !test->negated;
	return test->negated;
}

/* The families of frames that a test of the ethertype lets through. */
static uint8_t ethertype_families(const struct mr_filter_test *test)
{
	uint8_t families = MR_FILTER_FAMILY_OTHER;

	if (test->count == 0 || contains(test, RTE_ETHER_TYPE_IPV4))
		families |= MR_FILTER_FAMILY_V4;
	if (test->count == 0 || contains(test, RTE_ETHER_TYPE_IPV6))
		families |= MR_FILTER_FAMILY_V6;
	return families;
}

static uint8_t protocol_families(const struct mr_filter_draft *draft)
{
	return protocols_are(draft, is_icmp)    ? MR_FILTER_FAMILY_V4
	       : protocols_are(draft, is_icmp6) ? MR_FILTER_FAMILY_V6
						: MR_FILTER_FAMILY_ALL;
}

static int check_families(const struct mr_filter_draft *draft, struct mr_filter_fault *fault)
{
	const struct mr_filter_rule *rule = &draft->rule;
	uint8_t families = rule->families, src, dst;

	src = address_families(&rule->src, draft->src);
	dst = address_families(&rule->dst, draft->dst);
	if ((families & protocol_families(draft)) == 0)
		return mr_filter_refuse(fault, draft->column[MR_FILTER_ITEM_ONLY],
					"icmp is of IPv4, icmp6 of IPv6");
	families &= protocol_families(draft);
	if ((families & src) == 0)
		return mr_filter_refuse(
			fault, draft->column[MR_FILTER_ITEM_SRC],
			"the packets of this rule have no such address: IPv4 and IPv6 do "
			"not go together");
	if ((families & src & dst) == 0)
		return mr_filter_refuse(
			fault, draft->column[MR_FILTER_ITEM_DST],
			"the packets of this rule have no such address: IPv4 and IPv6 do "
			"not go together");
	families &= src & dst;
	if ((families & ethertype_families(&draft->test[MR_FILTER_ETHERTYPE])) == 0)
		return mr_filter_refuse(
			fault, draft->column[MR_FILTER_ETHERTYPE],
			"no packet of this rule has such an ethertype; 'all' takes frames "
			"of any");
	return 0;
}

static int check_place(const struct mr_filter_draft *draft, struct mr_filter_fault *fault)
{
	const unsigned *column = draft->column;

	if (column[MR_FILTER_XMIT] != 0 && draft->rule.direction == MR_FILTER_YES)
		return mr_filter_refuse(
			fault, column[MR_FILTER_XMIT],
			"where a packet leaves is not known at input: xmit needs 'out'");
	if (column[MR_FILTER_VIA] != 0 &&
	    (column[MR_FILTER_XMIT] != 0 || column[MR_FILTER_RECV] != 0))
		return mr_filter_refuse(
			fault, column[MR_FILTER_VIA],
			"via is recv at input and xmit at output: give either via or these");
	return 0;
}

static int check_state(const struct mr_filter_draft *draft, struct mr_filter_fault *fault)
{
	const struct mr_filter_rule *rule = &draft->rule;
	unsigned column = draft->column[MR_FILTER_ITEM_STATE];
	bool by_port = rule->limit_by & (MR_FILTER_BY_SPORT | MR_FILTER_BY_DPORT);

	if (column == 0)
		return 0;
	if (rule->action != MR_FILTER_ALLOW)
		return mr_filter_refuse(fault, column, "only a rule that allows can keep state");
	if (rule->families & MR_FILTER_FAMILY_OTHER)
		return mr_filter_refuse(fault, column,
					"only IP packets have a state: say ip, ip4, ip6 or a "
					"protocol");
	if (rule->fragment == MR_FILTER_YES)
		return mr_filter_refuse(fault, column, "fragments have no state of their own");
	if (by_port && !protocols_are(draft, mr_filter_protocol_has_ports))
		return mr_filter_refuse(
			fault, column,
			"a limit by ports needs a protocol that has them: tcp, udp, udplite, "
			"sctp, dccp");
	return 0;
}

int mr_filter_draft_check(const struct mr_filter_draft *draft, struct mr_filter_fault *fault)
{
	int rc = check_transport(draft, fault);

	if (rc == 0)
		rc = check_families(draft, fault);
	if (rc == 0)
		rc = check_place(draft, fault);
	if (rc == 0)
		rc = check_state(draft, fault);
	if (rc == 0 && draft->rule.action == MR_FILTER_SET_DSCP &&
	    (draft->rule.families & MR_FILTER_FAMILY_OTHER))
		rc = mr_filter_refuse(
			fault, draft->column[MR_FILTER_ITEM_FAMILY],
			"only IP packets have a DSCP: say ip, ip4, ip6 or a protocol");
	return rc;
}
