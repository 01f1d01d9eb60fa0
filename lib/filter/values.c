/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of values and of addresses in a rule's text. */
#include <stdio.h>
#include <string.h>

#include <rte_config.h>

#include "base/number.h"
#include "filter/parser.h"
#include "filter/set.h"

/* What a field's values are. */
static const struct {
	uint32_t max;
	bool hexadecimal; /* numbers are 0x and up to four digits */
	const struct mr_filter_name *names;
	const char *wanted;
} kinds[MR_FILTER_FIELDS] = {
	[MR_FILTER_PROTOCOL] = {255, false, mr_filter_protocols,
				"a protocol: its name, like tcp, or 0 to 255"},
	[MR_FILTER_SPORT] = {65535, false, NULL, "ports: 0 to 65535, or a range like 8000-8100"},
	[MR_FILTER_DPORT] = {65535, false, NULL, "ports: 0 to 65535, or a range like 8000-8100"},
	[MR_FILTER_ICMP_TYPE] = {255, false, NULL, "ICMP types: 0 to 255, or a range"},
	[MR_FILTER_ICMP6_TYPE] = {255, false, NULL, "ICMPv6 types: 0 to 255, or a range"},
	[MR_FILTER_LENGTH] = {65535, false, NULL, "lengths of IP packets: 0 to 65535, or a range"},
	[MR_FILTER_TTL] = {255, false, NULL, "TTLs: 0 to 255, or a range"},
	[MR_FILTER_DSCP] = {63, false, mr_filter_dscps,
			    "DSCPs: 0 to 63, a range, or names like ef, af11, cs6"},
	[MR_FILTER_VLAN] = {4094, false, NULL,
			    "VLAN ids: 1 to 4094, or a range; 0 for untagged frames"},
	[MR_FILTER_ETHERTYPE] = {65535, true, mr_filter_ethertypes,
				 "ethertypes: like 0x0806, a range, or arp, ip4, ip6, lldp"},
	[MR_FILTER_RECV] = {RTE_MAX_ETHPORTS - 1, false, NULL, "port numbers: 0 to 31, or a range"},
	[MR_FILTER_XMIT] = {RTE_MAX_ETHPORTS - 1, false, NULL, "port numbers: 0 to 31, or a range"},
	[MR_FILTER_VIA] = {RTE_MAX_ETHPORTS - 1, false, NULL, "port numbers: 0 to 31, or a range"},
	[MR_FILTER_VRF] = {65535, false, NULL, "VRF numbers: 0 to 65535, or a range"},
};
_Static_assert(RTE_MAX_ETHPORTS == 32, "port numbers are 0 to 31");

static bool parse_hexadecimal(const char *text, uint32_t *value)
{
	size_t digits = strlen(text) < 2 ? 0 : strlen(text) - 2;

	if (strncmp(text, "0x", 2) != 0 || digits < 1 || digits > 4 ||
	    strspn(text + 2, "0123456789abcdefABCDEF") != digits)
		return false;
	return sscanf(text + 2, "%x", value) == 1;
}

static bool parse_value(enum mr_filter_field field, const char *text, uint32_t *value)
{
	const struct mr_filter_name *name =
		kinds[field].names != NULL ? mr_filter_name_find(kinds[field].names, text) : NULL;
	uint64_t number;

	if (name != NULL) {
		*value = name->value;
		return true;
	}
	if (kinds[field].hexadecimal)
		return parse_hexadecimal(text, value);
	if (mr_number_parse(text, kinds[field].max, &number) != 0)
		return false;
	*value = (uint32_t)number;
	return true;
}

static bool parse_range(enum mr_filter_field field, const char *text, struct mr_filter_range *range)
{
	char first[MR_FILTER_WORD_SIZE];
	const char *dash = strchr(text, '-');

	if (parse_value(field, text, &range->first)) {
		range->last = range->first;
		return true;
	}
	if (dash == NULL)
		return false;
	memcpy(first, text, (size_t)(dash - text));
	first[dash - text] = '\0';
	return parse_value(field, first, &range->first) &&
	       parse_value(field, dash + 1, &range->last) && range->first <= range->last;
}

static int parse_item(struct mr_filter_parser *parser, enum mr_filter_field field)
{
	struct mr_filter_draft *draft = parser->draft;
	const struct mr_filter_token *token = &parser->lexer.token;

	if (token->type != MR_FILTER_WORD ||
	    !parse_range(field, token->text, &draft->range[draft->ranges]))
		return mr_filter_unexpected(parser, kinds[field].wanted);
	if (++draft->ranges == MR_FILTER_MAX_RANGES)
		return mr_filter_refuse(parser->fault, token->column,
					"a rule takes at most %u values and ranges",
					MR_FILTER_MAX_RANGES - 1);
	draft->test[field].count++;
	mr_filter_lexer_step(&parser->lexer);
	return 0;
}

/* Items with commas, or in braces with `or`, between them. */
static int parse_list(struct mr_filter_parser *parser,
		      int (*item)(struct mr_filter_parser *parser, unsigned kind), unsigned kind)
{
	struct mr_filter_lexer *lexer = &parser->lexer;
	bool braces = lexer->token.type == MR_FILTER_OPEN;
	int rc;

	if (braces)
		mr_filter_lexer_step(lexer);
	while ((rc = item(parser, kind)) == 0) {
		if (lexer->token.type == MR_FILTER_COMMA)
			mr_filter_lexer_step(lexer);
		else if (!braces || !mr_filter_lexer_take(lexer, "or"))
			break;
	}
	if (rc != 0 || !braces)
		return rc;
	if (lexer->token.type != MR_FILTER_CLOSE)
		return mr_filter_unexpected(parser, "'or' or '}'");
	mr_filter_lexer_step(lexer);
	return 0;
}

static int value_item(struct mr_filter_parser *parser, unsigned field)
{
	return parse_item(parser, (enum mr_filter_field)field);
}

int mr_filter_parse_values(struct mr_filter_parser *parser, enum mr_filter_field field,
			   bool negated, unsigned column)
{
	struct mr_filter_draft *draft = parser->draft;
	int rc = mr_filter_once(parser, field, column);

	if (rc != 0)
		return rc;
	draft->test[field] = (struct mr_filter_test){
		.field = (uint8_t)field,
		.negated = negated,
		.range = &draft->range[draft->ranges],
	};
	return parse_list(parser, value_item, field);
}

static int parse_set_name(struct mr_filter_parser *parser, const char *name,
			  struct mr_filter_address *address)
{
	int index = mr_filter_set_find(parser->set, name);

	if (index < 0)
		return mr_filter_refuse(parser->fault, parser->lexer.token.column,
					"there is no address set '%s'; 'filter set' makes one",
					name);
	*address = (struct mr_filter_address){.is_set = true, .set = (uint16_t)index};
	return 0;
}

static int address_item(struct mr_filter_parser *parser, unsigned is_src)
{
	struct mr_filter_draft *draft = parser->draft;
	struct mr_filter_addresses *addresses = is_src ? &draft->rule.src : &draft->rule.dst;
	struct mr_filter_address *address = &(is_src ? draft->src : draft->dst)[addresses->count];
	const struct mr_filter_token *token = &parser->lexer.token;
	int rc = 0;

	if (addresses->count == MR_FILTER_MAX_ADDRESSES)
		return mr_filter_refuse(parser->fault, token->column,
					"at most %u addresses in a rule; an address set has room "
					"for more",
					MR_FILTER_MAX_ADDRESSES);
	memset(address, 0, sizeof(*address));
	if (token->type != MR_FILTER_WORD)
		return mr_filter_unexpected(parser, "any, me, set:NAME, an address or a prefix");
	if (strcmp(token->text, "me") == 0) {
		address->is_set = true;
	} else if (strncmp(token->text, "set:", 4) == 0) {
		rc = parse_set_name(parser, token->text + 4, address);
	} else if (mr_addr_parse(token->text, &address->prefix.addr) == 0) {
		address->prefix.length = address->prefix.addr.family == AF_INET ? 32 : 128;
	} else if (mr_prefix_parse(token->text, &address->prefix) == 0) {
		address->prefix = mr_prefix_canonical(&address->prefix);
	} else {
		return mr_filter_unexpected(parser, strcmp(token->text, "any") == 0
							    ? "any alone, or addresses"
							    : "any, me, set:NAME, an address or a "
							      "prefix");
	}
	if (rc != 0)
		return rc;
	addresses->count++;
	mr_filter_lexer_step(&parser->lexer);
	return 0;
}

int mr_filter_parse_addresses(struct mr_filter_parser *parser, bool is_src)
{
	struct mr_filter_rule *rule = &parser->draft->rule;
	struct mr_filter_addresses *addresses = is_src ? &rule->src : &rule->dst;
	unsigned item = is_src ? MR_FILTER_ITEM_SRC : MR_FILTER_ITEM_DST;
	int rc = mr_filter_once(parser, item, parser->lexer.token.column);

	if (rc != 0 || mr_filter_lexer_take(&parser->lexer, "any"))
		return rc;
	addresses->negated = mr_filter_lexer_take(&parser->lexer, "not");
	return parse_list(parser, address_item, is_src);
}
