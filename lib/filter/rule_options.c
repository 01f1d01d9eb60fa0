/* SPDX-License-Identifier: BSD-3-Clause */
/* What may follow the addresses of a rule, in any order, each thing once. */
#include <stddef.h>
#include <string.h>

#include <rte_tcp.h>

#include "base/number.h"
#include "filter/parser.h"

/* An option whose word is read; `argument` is of its table entry. */
typedef int option_fn(struct mr_filter_parser *parser, unsigned argument, bool negated,
		      unsigned column);

static int parse_field(struct mr_filter_parser *parser, unsigned field, bool negated,
		       unsigned column)
{
	return mr_filter_parse_values(parser, (enum mr_filter_field)field, negated, column);
}

static int parse_iface(struct mr_filter_parser *parser, unsigned field, bool negated,
		       unsigned column)
{
	if (!mr_filter_lexer_take(&parser->lexer, "port"))
		return mr_filter_unexpected(parser, "'port' and port numbers");
	return parse_field(parser, field, negated, column);
}

static int parse_direction(struct mr_filter_parser *parser, unsigned out, bool negated,
			   unsigned column)
{
	parser->draft->rule.direction = out != negated ? MR_FILTER_NO : MR_FILTER_YES;
	return mr_filter_once(parser, MR_FILTER_ITEM_DIRECTION, column);
}

static int parse_wish(struct mr_filter_parser *parser, unsigned item, bool negated, unsigned column)
{
	struct mr_filter_rule *rule = &parser->draft->rule;
	uint8_t *wish = item == MR_FILTER_ITEM_FRAGMENT  ? &rule->fragment
			: item == MR_FILTER_ITEM_OPTIONS ? &rule->options
							 : &rule->established;

	*wish = negated ? MR_FILTER_NO : MR_FILTER_YES;
	return mr_filter_once(parser, item, column);
}

static int parse_setup(struct mr_filter_parser *parser, unsigned argument, bool negated,
		       unsigned column)
{
	(void)argument;
	parser->draft->rule.tcp = (struct mr_filter_tcp){
		.set = RTE_TCP_SYN_FLAG, .clear = RTE_TCP_ACK_FLAG, .negated = negated};
	return mr_filter_once(parser, MR_FILTER_ITEM_TCP_FLAGS, column);
}

static int parse_tcp_flag(struct mr_filter_parser *parser)
{
	struct mr_filter_tcp *tcp = &parser->draft->rule.tcp;
	const struct mr_filter_token *token = &parser->lexer.token;
	bool clear = token->text[0] == '!';
	const struct mr_filter_name *flag =
		mr_filter_name_find(mr_filter_tcp_flags, token->text + clear);

	if (token->type != MR_FILTER_WORD || flag == NULL)
		return mr_filter_unexpected(parser, "TCP flags: fin, syn, rst, psh, ack, urg, ece, "
						    "cwr, with ! for one that is not set");
	if ((tcp->set | tcp->clear) & flag->value)
		return mr_filter_refuse(parser->fault, token->column, "%s is given twice",
					flag->name);
	*(clear ? &tcp->clear : &tcp->set) |= (uint8_t)flag->value;
	mr_filter_lexer_step(&parser->lexer);
	return 0;
}

static int parse_tcp_flags(struct mr_filter_parser *parser, unsigned argument, bool negated,
			   unsigned column)
{
	int rc = mr_filter_once(parser, MR_FILTER_ITEM_TCP_FLAGS, column);

	(void)argument;
	parser->draft->rule.tcp.negated = negated;
	while (rc == 0 && (rc = parse_tcp_flag(parser)) == 0 &&
	       parser->lexer.token.type == MR_FILTER_COMMA)
		mr_filter_lexer_step(&parser->lexer);
	return rc;
}

static void clear_mac_tail(struct mr_filter_mac *mac)
{
	for (unsigned bit = mac->bits; bit < 48; bit++)
		mac->mac.addr_bytes[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
}

static int parse_mac_value(struct mr_filter_parser *parser, struct mr_filter_mac *mac)
{
	static const char wanted[] = "a MAC address like 02:00:00:00:00:01, or its first bits like "
				     "01:00:5e:00:00:00/25";
	const struct mr_filter_token *token = &parser->lexer.token;
	char text[MR_FILTER_WORD_SIZE];
	char *slash;
	uint64_t bits = 48;

	memcpy(text, token->text, sizeof(text));
	slash = strchr(text, '/');
	if (slash != NULL)
		*slash = '\0';
	if (token->type != MR_FILTER_WORD || mr_mac_parse(text, &mac->mac) != 0)
		return mr_filter_unexpected(parser, wanted);
	if (slash != NULL && (mr_number_parse(slash + 1, 48, &bits) != 0 || bits == 0))
		return mr_filter_unexpected(parser, wanted);
	mac->bits = (uint8_t)bits;
	clear_mac_tail(mac);
	mr_filter_lexer_step(&parser->lexer);
	return 0;
}

static int parse_mac(struct mr_filter_parser *parser, unsigned item, bool negated, unsigned column)
{
	struct mr_filter_rule *rule = &parser->draft->rule;
	struct mr_filter_mac *mac =
		item == MR_FILTER_ITEM_SRC_MAC ? &rule->src_mac : &rule->dst_mac;
	int rc = mr_filter_once(parser, item, column);

	mac->negated = negated;
	return rc != 0 ? rc : parse_mac_value(parser, mac);
}

/* mac DESTINATION SOURCE, either of which may be `any`. */
static int parse_macs(struct mr_filter_parser *parser, unsigned argument, bool negated,
		      unsigned column)
{
	int rc = 0;

	(void)argument;
	if (negated)
		return mr_filter_refuse(parser->fault, column,
					"'not' goes with one MAC: 'not dst-mac' or 'not src-mac'");
	if (!mr_filter_lexer_take(&parser->lexer, "any"))
		rc = parse_mac(parser, MR_FILTER_ITEM_DST_MAC, false, column);
	if (rc == 0 && !mr_filter_lexer_take(&parser->lexer, "any"))
		rc = parse_mac(parser, MR_FILTER_ITEM_SRC_MAC, false, column);
	return rc;
}

static int parse_only(struct mr_filter_parser *parser, unsigned families, bool negated,
		      unsigned column)
{
	struct mr_filter_rule *rule = &parser->draft->rule;
	int rc = mr_filter_once(parser, MR_FILTER_ITEM_ONLY, column);

	if (rc != 0)
		return rc;
	if (negated)
		families ^= MR_FILTER_FAMILY_ALL;
	if ((rule->families & families) == 0)
		return mr_filter_refuse(parser->fault, column,
					"no packet of this rule is of that family");
	rule->families &= (uint8_t)families;
	return 0;
}

static int parse_limit_by(struct mr_filter_parser *parser)
{
	struct mr_filter_rule *rule = &parser->draft->rule;
	const struct mr_filter_token *token = &parser->lexer.token;
	const struct mr_filter_name *name = mr_filter_name_find(mr_filter_limits, token->text);

	if (token->type != MR_FILTER_WORD || name == NULL)
		return mr_filter_unexpected(
			parser, "what to count flows by: src-addr, src-port, dst-addr, dst-port");
	if (rule->limit_by & name->value)
		return mr_filter_refuse(parser->fault, token->column, "%s is given twice",
					name->name);
	rule->limit_by |= (uint8_t)name->value;
	mr_filter_lexer_step(&parser->lexer);
	return 0;
}

static int parse_state(struct mr_filter_parser *parser, unsigned limited, bool negated,
		       unsigned column)
{
	struct mr_filter_rule *rule = &parser->draft->rule;
	uint64_t limit;
	int rc = mr_filter_once(parser, MR_FILTER_ITEM_STATE, column);

	if (negated && rc == 0)
		return mr_filter_refuse(parser->fault, column, "'not' goes with a test only");
	rule->keep_state = true;
	if (rc != 0 || !limited)
		return rc;
	while ((rc = parse_limit_by(parser)) == 0 && parser->lexer.token.type == MR_FILTER_COMMA)
		mr_filter_lexer_step(&parser->lexer);
	if (rc == 0)
		rc = mr_filter_parse_number(parser, 1, 1000000, "a limit: 1 to 1000000 flows",
					    &limit);
	if (rc == 0)
		rule->limit = (uint32_t)limit;
	return rc;
}

static const struct {
	const char *word;
	option_fn *parse;
	unsigned argument;
} options[] = {
	{"in", parse_direction, 0},
	{"out", parse_direction, 1},
	{"recv", parse_iface, MR_FILTER_RECV},
	{"xmit", parse_iface, MR_FILTER_XMIT},
	{"via", parse_iface, MR_FILTER_VIA},
	{"frag", parse_wish, MR_FILTER_ITEM_FRAGMENT},
	{"options", parse_wish, MR_FILTER_ITEM_OPTIONS},
	{"established", parse_wish, MR_FILTER_ITEM_ESTABLISHED},
	{"setup", parse_setup, 0},
	{"tcpflags", parse_tcp_flags, 0},
	{"src-port", parse_field, MR_FILTER_SPORT},
	{"dst-port", parse_field, MR_FILTER_DPORT},
	{"proto", parse_field, MR_FILTER_PROTOCOL},
	{"icmptypes", parse_field, MR_FILTER_ICMP_TYPE},
	{"icmp6types", parse_field, MR_FILTER_ICMP6_TYPE},
	{"iplen", parse_field, MR_FILTER_LENGTH},
	{"ipttl", parse_field, MR_FILTER_TTL},
	{"dscp", parse_field, MR_FILTER_DSCP},
	{"vlan", parse_field, MR_FILTER_VLAN},
	{"ethertype", parse_field, MR_FILTER_ETHERTYPE},
	{"vrf", parse_field, MR_FILTER_VRF},
	{"mac", parse_macs, 0},
	{"src-mac", parse_mac, MR_FILTER_ITEM_SRC_MAC},
	{"dst-mac", parse_mac, MR_FILTER_ITEM_DST_MAC},
	{"ip4", parse_only, MR_FILTER_FAMILY_V4},
	{"ip6", parse_only, MR_FILTER_FAMILY_V6},
	{"keep-state", parse_state, 0},
	{"limit", parse_state, 1},
};

static int parse_option(struct mr_filter_parser *parser)
{
	struct mr_filter_lexer *lexer = &parser->lexer;
	unsigned column = lexer->token.column;
	bool negated = mr_filter_lexer_take(lexer, "not");

	if (lexer->token.type == MR_FILTER_OPEN)
		return mr_filter_refuse(parser->fault, lexer->token.column,
					"alternatives of options need rules of their own");
	for (unsigned i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (mr_filter_lexer_take(lexer, options[i].word))
			return options[i].parse(parser, options[i].argument, negated, column);
	return mr_filter_unexpected(
		parser, "an option: in, out, via, recv, xmit, frag, options, established, setup, "
			"tcpflags, icmptypes, iplen, ipttl, dscp, vlan, ethertype, mac, vrf, ip4, "
			"ip6, keep-state or limit");
}

int mr_filter_parse_options(struct mr_filter_parser *parser)
{
	int rc = 0;

	while (rc == 0 && parser->lexer.token.type != MR_FILTER_END)
		rc = parse_option(parser);
	return rc;
}
