/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <rte_tcp.h>

#include "filter/names.h"
#include "filter/rule_text.h"

struct printer {
	char *text;
	size_t size, length;
	const struct mr_filter_set *set;
};

static void say(struct printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct printer *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int length = vsnprintf(p->text + p->length, p->size - p->length, format, args);
	va_end(args);
	p->length += (size_t)length;
	if (p->length >= p->size)
		p->length = p->size - 1;
}

static void say_value(struct printer *p, unsigned field, uint32_t value)
{
	const struct mr_filter_name *name =
		field == MR_FILTER_PROTOCOL ? mr_filter_name_of(mr_filter_protocols, value)
		: field == MR_FILTER_DSCP   ? mr_filter_name_of(mr_filter_dscps, value)
					    : NULL;

	if (name != NULL)
		say(p, "%s", name->name);
	else
		say(p, field == MR_FILTER_ETHERTYPE ? "0x%04" PRIx32 : "%" PRIu32, value);
}

static void say_values(struct printer *p, const struct mr_filter_test *test)
{
	for (unsigned i = 0; i < test->count; i++) {
		const struct mr_filter_range *range = &test->range[i];

		if (i > 0)
			say(p, ",");
		if (range->first == range->last) {
			say_value(p, test->field, range->first);
			continue;
		}
		/* The ends of ranges are numbers, since names may contain a dash. */
		say(p,
		    test->field == MR_FILTER_ETHERTYPE ? "0x%04" PRIx32 "-0x%04" PRIx32
						       : "%" PRIu32 "-%" PRIu32,
		    range->first, range->last);
	}
}

static void say_number_with_unit(struct printer *p, uint64_t value)
{
	static const struct {
		uint64_t factor;
		const char *unit;
	} units[] = {{1000000000, "G"}, {1000000, "M"}, {1000, "K"}, {1, ""}};
	unsigned i = 0;

	while (value % units[i].factor != 0)
		i++;
	say(p, "%" PRIu64 "%s", value / units[i].factor, units[i].unit);
}

static void say_action(struct printer *p, const struct mr_filter_rule *rule)
{
	say(p, "%s", mr_filter_name_of(mr_filter_actions, rule->action)->name);
	switch (rule->action) {
	case MR_FILTER_SKIPTO:
		say(p, " %" PRIu32, rule->argument.number);
		break;
	case MR_FILTER_SET_DSCP:
		say(p, " ");
		say_value(p, MR_FILTER_DSCP, rule->argument.dscp);
		break;
	case MR_FILTER_POLICE:
		say(p, " ");
		say_number_with_unit(p, rule->argument.police.rate);
		say(p, " burst ");
		say_number_with_unit(p, rule->argument.police.burst);
		break;
	case MR_FILTER_MIRROR:
		say(p, " port %u", rule->argument.iface);
		break;
	default:
		break;
	}
	if (rule->log)
		say(p, " log");
}

static void say_families(struct printer *p, uint8_t families)
{
	const struct mr_filter_name *name = mr_filter_name_of(mr_filter_families, families);

	if (name != NULL)
		say(p, " %s", name->name);
	else
		say(p, " not %s",
		    mr_filter_name_of(mr_filter_families, MR_FILTER_FAMILY_ALL & ~families)->name);
}

static void say_addresses(struct printer *p, const struct mr_filter_addresses *addresses)
{
	char text[MR_ADDR_TEXT_SIZE];

	say(p, addresses->count == 0 ? " any" : addresses->negated ? " not " : " ");
	for (unsigned i = 0; i < addresses->count; i++) {
		const struct mr_filter_address *address = &addresses->alternative[i];
		const struct mr_prefix *prefix = &address->prefix;

		if (i > 0)
			say(p, ",");
		if (address->is_set && address->set == 0)
			say(p, "me");
		else if (address->is_set)
			say(p, "set:%s", p->set->addresses[address->set]->name);
		else if (prefix->length == (prefix->addr.family == AF_INET ? 32 : 128))
			say(p, "%s", mr_addr_format(&prefix->addr, text));
		else
			say(p, "%s", mr_prefix_format(prefix, text));
	}
}

static void say_ports(struct printer *p, const struct mr_filter_test *test)
{
	if (test == NULL)
		return;
	say(p, test->negated ? " not " : " ");
	say_values(p, test);
}

static void say_wish(struct printer *p, uint8_t wish, const char *word)
{
	if (wish != MR_FILTER_ANY)
		say(p, "%s %s", wish == MR_FILTER_NO ? " not" : "", word);
}

static void say_tcp(struct printer *p, const struct mr_filter_tcp *tcp)
{
	const char *comma = "";

	if ((tcp->set | tcp->clear) == 0)
		return;
	say(p, "%s", tcp->negated ? " not" : "");
	if (tcp->set == RTE_TCP_SYN_FLAG && tcp->clear == RTE_TCP_ACK_FLAG) {
		say(p, " setup");
		return;
	}
	say(p, " tcpflags ");
	for (const struct mr_filter_name *flag = mr_filter_tcp_flags; flag->name != NULL; flag++) {
		if (((tcp->set | tcp->clear) & flag->value) == 0)
			continue;
		say(p, "%s%s%s", comma, tcp->clear & flag->value ? "!" : "", flag->name);
		comma = ",";
	}
}

static void say_mac(struct printer *p, const struct mr_filter_mac *mac, const char *word)
{
	char text[MR_MAC_TEXT_SIZE];

	if (mac->bits == 0)
		return;
	say(p, "%s %s %s", mac->negated ? " not" : "", word, mr_mac_format(&mac->mac, text));
	if (mac->bits != 48)
		say(p, "/%u", mac->bits);
}

static void say_state(struct printer *p, const struct mr_filter_rule *rule)
{
	const char *comma = "";

	if (rule->limit_by == 0) {
		say(p, "%s", rule->keep_state ? " keep-state" : "");
		return;
	}
	say(p, " limit ");
	for (const struct mr_filter_name *by = mr_filter_limits; by->name != NULL; by++) {
		if ((rule->limit_by & by->value) == 0)
			continue;
		say(p, "%s%s", comma, by->name);
		comma = ",";
	}
	say(p, " %" PRIu32, rule->limit);
}

static void say_tests(struct printer *p, const struct mr_filter_rule *rule)
{
	static const char *const words[MR_FILTER_FIELDS] = {
		[MR_FILTER_ICMP_TYPE] = "icmptypes",
		[MR_FILTER_ICMP6_TYPE] = "icmp6types",
		[MR_FILTER_LENGTH] = "iplen",
		[MR_FILTER_TTL] = "ipttl",
		[MR_FILTER_DSCP] = "dscp",
		[MR_FILTER_VLAN] = "vlan",
		[MR_FILTER_ETHERTYPE] = "ethertype",
		[MR_FILTER_RECV] = "recv port",
		[MR_FILTER_XMIT] = "xmit port",
		[MR_FILTER_VIA] = "via port",
		[MR_FILTER_VRF] = "vrf",
	};

	for (unsigned i = 0; i < rule->tests; i++) {
		const struct mr_filter_test *test = &rule->test[i];

		if (words[test->field] == NULL) /* said with the protocol and the addresses */
			continue;
		say(p, "%s %s ", test->negated ? " not" : "", words[test->field]);
		say_values(p, test);
	}
}

static void say_body(struct printer *p, const struct mr_filter_rule *rule)
{
	const struct mr_filter_test *protocol = mr_filter_rule_test(rule, MR_FILTER_PROTOCOL);

	if (protocol == NULL)
		say_families(p, rule->families);
	else
		say_ports(p, protocol);
	say(p, " from");
	say_addresses(p, &rule->src);
	say_ports(p, mr_filter_rule_test(rule, MR_FILTER_SPORT));
	say(p, " to");
	say_addresses(p, &rule->dst);
	say_ports(p, mr_filter_rule_test(rule, MR_FILTER_DPORT));
	if (rule->direction != MR_FILTER_ANY)
		say(p, rule->direction == MR_FILTER_YES ? " in" : " out");
	say_wish(p, rule->fragment, "frag");
	say_wish(p, rule->options, "options");
	say_wish(p, rule->established, "established");
	say_tcp(p, &rule->tcp);
	say_tests(p, rule);
	say_mac(p, &rule->dst_mac, "dst-mac");
	say_mac(p, &rule->src_mac, "src-mac");
	if (protocol != NULL && rule->families != MR_FILTER_FAMILY_IP)
		say(p, rule->families == MR_FILTER_FAMILY_V4 ? " ip4" : " ip6");
	say_state(p, rule);
}

const char *mr_filter_rule_print(const struct mr_filter_rule *rule, const struct mr_filter_set *set,
				 char *text, size_t size)
{
	struct printer p = {.text = text, .size = size, .set = set};

	text[0] = '\0';
	if (rule->number != 0)
		say(&p, "%" PRIu32 " ", rule->number);
	say_action(&p, rule);
	if (rule->action != MR_FILTER_CHECK_STATE)
		say_body(&p, rule);
	return text;
}
