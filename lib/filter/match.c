/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From rules to what the packet path compares. Nothing is multiplied out: a rule with several
 * addresses, ports and negations stays one record and a few lists, so memory is linear in the text
 * of the rules, and an address set is compiled once however many rules name it.
 *
 * The same walk is made twice, first without arrays, to know what they need.
 */
#include "filter/match.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_tcp.h>

#include "filter/interval.h"

struct compile {
	const struct mr_filter_set *set;
	enum filter_hook hook;
	struct filter_matches *all; /* NULL: only count */
	struct filter_match_sizes used;
	uint32_t *table_of_set; /* by address set, one above the table; 0: none yet */
};

static void add_test(struct compile *c, struct filter_match *match, const struct filter_test *test)
{
	match->further++;
	if (c->all != NULL)
		c->all->test[c->used.test] = *test;
	c->used.test++;
}

static void add_bits(struct compile *c, struct filter_match *match, size_t offset,
		     const uint8_t mask[8], const uint8_t value[8], bool negated)
{
	struct filter_test test = {
		.kind = FILTER_BITS,
		.offset = (uint8_t)offset,
		.negated = negated,
		.bits = {mr_load64(mask), mr_load64(value)},
	};

	add_test(c, match, &test);
}

static void add_ranges(struct compile *c, struct filter_match *match, enum filter_further kind,
		       size_t offset, const struct mr_filter_test *from)
{
	struct filter_test test = {
		.kind = kind,
		.offset = (uint8_t)offset,
		.negated = from->negated,
		.count = from->count,
		.at = (uint32_t)c->used.span16,
	};

	for (unsigned i = 0; i < from->count && c->all != NULL; i++)
		c->all->span16[test.at + i] = (struct filter_span16){(uint16_t)from->range[i].first,
								     (uint16_t)from->range[i].last};
	c->used.span16 += from->count;
	add_test(c, match, &test);
}

/* A port: the record's span when it is one range, else the hull of the ranges and a list. */
static void add_port(struct compile *c, struct filter_match *match, size_t offset,
		     const struct mr_filter_test *test, uint16_t *first, uint16_t *span)
{
	if (!test->negated) {
		*first = (uint16_t)test->range[0].first;
		*span = (uint16_t)(test->range[test->count - 1].last - *first);
	}
	if (test->negated || test->count > 1)
		add_ranges(c, match, FILTER_RANGES16, offset, test);
}

static void add_protocol(struct compile *c, struct filter_match *match,
			 const struct mr_filter_test *test)
{
	if (!test->negated) {
		match->protocol_first = (uint8_t)test->range[0].first;
		match->protocol_span =
			(uint8_t)(test->range[test->count - 1].last - match->protocol_first);
	}
	if (test->negated || test->count > 1)
		add_ranges(c, match, FILTER_RANGES8, offsetof(struct mr_filter_key, protocol),
			   test);
}

static void need_flags(struct filter_match *match, uint16_t mask, uint16_t value)
{
	match->flags_mask |= mask;
	match->flags_value |= value;
}

#define OFFSET(field) offsetof(struct mr_filter_key, field)

static void add_field(struct compile *c, struct filter_match *match,
		      const struct mr_filter_test *test)
{
	switch (test->field) {
	case MR_FILTER_PROTOCOL:
		match->families &= MR_FILTER_FAMILY_IP;
		add_protocol(c, match, test);
		break;
	case MR_FILTER_SPORT:
		need_flags(match, MR_FILTER_PORTS, MR_FILTER_PORTS);
		add_port(c, match, OFFSET(sport), test, &match->sport_first, &match->sport_span);
		break;
	case MR_FILTER_DPORT:
		need_flags(match, MR_FILTER_PORTS, MR_FILTER_PORTS);
		add_port(c, match, OFFSET(dport), test, &match->dport_first, &match->dport_span);
		break;
	case MR_FILTER_ICMP_TYPE:
	case MR_FILTER_ICMP6_TYPE:
		match->families &= test->field == MR_FILTER_ICMP_TYPE ? MR_FILTER_FAMILY_V4
								      : MR_FILTER_FAMILY_V6;
		need_flags(match, MR_FILTER_ICMP, MR_FILTER_ICMP);
		add_ranges(c, match, FILTER_RANGES8, OFFSET(icmp.type), test);
		break;
	case MR_FILTER_LENGTH:
		match->families &= MR_FILTER_FAMILY_IP;
		add_ranges(c, match, FILTER_RANGES16, OFFSET(length), test);
		break;
	case MR_FILTER_TTL:
		match->families &= MR_FILTER_FAMILY_IP;
		add_ranges(c, match, FILTER_RANGES8, OFFSET(ttl), test);
		break;
	case MR_FILTER_DSCP:
		match->families &= MR_FILTER_FAMILY_IP;
		add_ranges(c, match, FILTER_RANGES8, OFFSET(dscp), test);
		break;
	case MR_FILTER_VLAN:
		add_ranges(c, match, FILTER_RANGES16, OFFSET(vlan), test);
		break;
	case MR_FILTER_ETHERTYPE:
		add_ranges(c, match, FILTER_RANGES16, OFFSET(ethertype), test);
		break;
	case MR_FILTER_RECV:
		add_ranges(c, match, FILTER_RANGES16, OFFSET(iface_in), test);
		break;
	case MR_FILTER_XMIT:
		add_ranges(c, match, FILTER_RANGES16, OFFSET(iface_out), test);
		break;
	case MR_FILTER_VIA:
		if (c->hook != FILTER_AT_EITHER)
			add_ranges(c, match, FILTER_RANGES16,
				   c->hook == FILTER_AT_OUTPUT ? OFFSET(iface_out)
							       : OFFSET(iface_in),
				   test);
		break;
	default:
		add_ranges(c, match, FILTER_RANGES16, OFFSET(vrf), test);
		break;
	}
}

/* ---- addresses ---- */

/* A table of what prefixes cover; returns its index. */
static uint32_t add_table(struct compile *c, const struct mr_prefix *prefix, uint32_t count)
{
	uint32_t index = (uint32_t)c->used.table++, v4 = 0, v6 = 0;
	struct filter_table table = {(uint32_t)c->used.span32, 0, (uint32_t)c->used.span128, 0};

	for (uint32_t i = 0; i < count; i++) {
		if (prefix[i].addr.family == AF_INET) {
			if (c->all != NULL)
				c->all->span32[table.v4 + v4] = filter_prefix_span32(&prefix[i]);
			v4++;
		} else {
			if (c->all != NULL)
				c->all->span128[table.v6 + v6] = filter_prefix_span128(&prefix[i]);
			v6++;
		}
	}
	c->used.span32 += v4;
	c->used.span128 += v6;
	if (c->all != NULL) {
		table.v4_count = filter_span32_merge(c->all->span32 + table.v4, v4);
		table.v6_count = filter_span128_merge(c->all->span128 + table.v6, v6);
		c->all->table[index] = table;
	}
	return index;
}

static uint32_t table_of_set(struct compile *c, uint16_t index)
{
	const struct mr_filter_address_set *addresses = c->set->addresses[index];

	if (c->table_of_set[index] == 0)
		c->table_of_set[index] = 1 + add_table(c, addresses->prefix, addresses->count);
	return c->table_of_set[index] - 1;
}

static void add_to_list(struct compile *c, struct filter_test *test, uint32_t table)
{
	if (c->all != NULL)
		c->all->table_list[c->used.table_list] = table;
	c->used.table_list++;
	test->count++;
}

/* Several alternatives, sets or a negation: one table of the prefixes, and those of the sets. */
static int add_list(struct compile *c, struct filter_match *match, size_t offset,
		    const struct mr_filter_addresses *addresses)
{
	struct filter_test test = {
		.kind = FILTER_IN,
		.offset = (uint8_t)offset,
		.negated = addresses->negated,
		.at = (uint32_t)c->used.table_list,
	};
	struct mr_prefix *prefix = calloc(addresses->count, sizeof(*prefix));
	uint32_t prefixes = 0;

	if (prefix == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < addresses->count; i++)
		if (!addresses->alternative[i].is_set)
			prefix[prefixes++] = addresses->alternative[i].prefix;
	if (prefixes > 0)
		add_to_list(c, &test, add_table(c, prefix, prefixes));
	for (unsigned i = 0; i < addresses->count; i++)
		if (addresses->alternative[i].is_set)
			add_to_list(c, &test, table_of_set(c, addresses->alternative[i].set));
	free(prefix);
	add_test(c, match, &test);
	return 0;
}

static int add_addresses(struct compile *c, struct filter_match *match, size_t offset,
			 const struct mr_filter_addresses *addresses, uint64_t *mask,
			 uint64_t *value)
{
	const struct mr_filter_address *only = addresses->alternative;
	uint8_t bits[16];

	if (addresses->count == 0)
		return 0;
	match->families &= MR_FILTER_FAMILY_IP;
	if (addresses->negated || addresses->count > 1 || only->is_set)
		return add_list(c, match, offset, addresses);
	match->families &=
		only->prefix.addr.family == AF_INET ? MR_FILTER_FAMILY_V4 : MR_FILTER_FAMILY_V6;
	filter_bits_mask(bits, sizeof(bits), only->prefix.length);
	*mask = mr_load64(bits);
	*value = mr_load64(only->prefix.addr.bytes) & *mask;
	if (only->prefix.length > 64)
		add_bits(c, match, offset + 8, bits + 8, only->prefix.addr.bytes + 8, false);
	return 0;
}

/* ---- the rest ---- */

static void add_mac(struct compile *c, struct filter_match *match, size_t offset,
		    const struct mr_filter_mac *mac)
{
	uint8_t mask[8], value[8] = {0};

	if (mac->bits == 0)
		return;
	filter_bits_mask(mask, sizeof(mask), mac->bits);
	memcpy(value, mac->mac.addr_bytes, sizeof(mac->mac.addr_bytes));
	add_bits(c, match, offset, mask, value, mac->negated);
}

static void add_tcp_flags(struct compile *c, struct filter_match *match, uint8_t mask,
			  uint8_t value, bool negated)
{
	uint8_t masks[8] = {mask}, values[8] = {value};

	need_flags(match, MR_FILTER_TCP, MR_FILTER_TCP);
	add_bits(c, match, OFFSET(tcp_flags), masks, values, negated);
}

static void add_wish(struct filter_match *match, uint8_t wish, uint16_t flag)
{
	if (wish == MR_FILTER_ANY)
		return;
	match->families &= MR_FILTER_FAMILY_IP;
	need_flags(match, flag, wish == MR_FILTER_YES ? flag : 0);
}

static int add_rule(struct compile *c, const struct mr_filter_rule *rule, uint32_t index)
{
	struct filter_match match = {
		.sport_span = UINT16_MAX,
		.dport_span = UINT16_MAX,
		.protocol_span = UINT8_MAX,
		.families = rule->families,
		.test = (uint32_t)c->used.test,
		.rule = index,
	};
	int rc;

	for (unsigned i = 0; i < rule->tests; i++)
		add_field(c, &match, &rule->test[i]);
	rc = add_addresses(c, &match, OFFSET(src), &rule->src, &match.src_mask, &match.src_value);
	if (rc == 0)
		rc = add_addresses(c, &match, OFFSET(dst), &rule->dst, &match.dst_mask,
				   &match.dst_value);
	add_wish(&match, rule->fragment, MR_FILTER_LATER);
	add_wish(&match, rule->options, MR_FILTER_OPTIONS);
	if (rule->established != MR_FILTER_ANY)
		add_tcp_flags(c, &match, RTE_TCP_RST_FLAG | RTE_TCP_ACK_FLAG, 0,
			      rule->established == MR_FILTER_YES);
	if ((rule->tcp.set | rule->tcp.clear) != 0)
		add_tcp_flags(c, &match, rule->tcp.set | rule->tcp.clear, rule->tcp.set,
			      rule->tcp.negated);
	add_mac(c, &match, OFFSET(src_mac), &rule->src_mac);
	add_mac(c, &match, OFFSET(dst_mac), &rule->dst_mac);
	if (c->all != NULL)
		c->all->match[c->used.match] = match;
	c->used.match++;
	return rc;
}

static bool is_for(const struct compile *c, const struct mr_filter_rule *rule)
{
	/* check-state is a place, which no packet matches. */
	return rule->action != MR_FILTER_CHECK_STATE &&
	       ((c->hook != FILTER_AT_OUTPUT && mr_filter_rule_is_for(rule, false)) ||
		(c->hook != FILTER_AT_INPUT && mr_filter_rule_is_for(rule, true)));
}

/* Whether all packets that meet a rule end there, whatever they are. */
static bool ends_all(const struct compile *c, const struct mr_filter_rule *rule)
{
	if (!mr_filter_action_is_final(rule->action))
		return false;
	if (c->hook == FILTER_AT_EITHER &&
	    !(mr_filter_rule_is_for(rule, false) && mr_filter_rule_is_for(rule, true)))
		return false;
	return mr_filter_rule_wants(rule, false) == 0 && mr_filter_rule_wants(rule, true) == 0;
}

static int add_rules(struct compile *c)
{
	bool jumps = false;
	int rc = 0;

	c->table_of_set = calloc(c->set->address_sets + 1u, sizeof(*c->table_of_set));
	if (c->table_of_set == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->set->count && rc == 0; i++) {
		const struct mr_filter_rule *rule = c->set->rule[i];

		if (!is_for(c, rule))
			continue;
		rc = add_rule(c, rule, i);
		jumps = jumps || rule->action == MR_FILTER_SKIPTO;
		if (!jumps && ends_all(c, rule))
			break;
	}
	free(c->table_of_set);
	return rc;
}

int filter_match_sizes(const struct mr_filter_set *set, enum filter_hook hook,
		       struct filter_match_sizes *sizes)
{
	struct compile c = {.set = set, .hook = hook};
	int rc = add_rules(&c);

	*sizes = c.used;
	if (rc == 0 && (c.used.test | c.used.span16 | c.used.span32 | c.used.span128 |
			c.used.table_list) > INT32_MAX)
		return -EFBIG;
	return rc;
}

static void *cut(uint8_t *base, size_t *used, uint64_t count, size_t size)
{
	void *array = base == NULL ? NULL : base + *used;

	*used += RTE_ALIGN_CEIL(count * size, RTE_CACHE_LINE_SIZE);
	return array;
}

size_t filter_match_place(const struct filter_match_sizes *sizes, uint8_t *base,
			  struct filter_matches *all)
{
	size_t used = 0;

	all->match = cut(base, &used, sizes->match, sizeof(*all->match));
	all->test = cut(base, &used, sizes->test, sizeof(*all->test));
	all->span16 = cut(base, &used, sizes->span16, sizeof(*all->span16));
	all->span32 = cut(base, &used, sizes->span32, sizeof(*all->span32));
	all->span128 = cut(base, &used, sizes->span128, sizeof(*all->span128));
	all->table = cut(base, &used, sizes->table, sizeof(*all->table));
	all->table_list = cut(base, &used, sizes->table_list, sizeof(*all->table_list));
	return used;
}

int filter_match_compile(const struct mr_filter_set *set, enum filter_hook hook,
			 struct filter_matches *all)
{
	struct compile c = {.set = set, .hook = hook, .all = all};
	int rc = add_rules(&c);

	return rc != 0 ? rc : (int)c.used.match;
}
