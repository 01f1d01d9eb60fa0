/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules are read from left to right, one token at a time, into a draft that is then checked as a
 * whole: what a word means never depends on what follows it, so a fault is where it is found.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "filter/parser.h"
#include "filter/rule_text.h"

#define SHOWN 24 /* characters of a word that are shown */

int mr_filter_unexpected(struct mr_filter_parser *parser, const char *wanted)
{
	const struct mr_filter_token *token = &parser->lexer.token;

	if (token->type == MR_FILTER_END)
		return mr_filter_refuse(parser->fault, token->column,
					"expected %s, but the rule ends here", wanted);
	return mr_filter_refuse(parser->fault, token->column, "expected %s, not '%.*s%s'", wanted,
				SHOWN, token->text, strlen(token->text) > SHOWN ? "..." : "");
}

int mr_filter_once(struct mr_filter_parser *parser, unsigned item, unsigned column)
{
	unsigned *first = &parser->draft->column[item];

	if (*first != 0)
		return mr_filter_refuse(parser->fault, column, "this is said already, at column %u",
					*first);
	*first = column;
	return 0;
}

int mr_filter_parse_number(struct mr_filter_parser *parser, uint64_t min, uint64_t max,
			   const char *wanted, uint64_t *value)
{
	const struct mr_filter_token *token = &parser->lexer.token;

	if (token->type != MR_FILTER_WORD || mr_number_parse(token->text, max, value) != 0 ||
	    *value < min)
		return mr_filter_unexpected(parser, wanted);
	mr_filter_lexer_step(&parser->lexer);
	return 0;
}

static int parse_rule_number(struct mr_filter_parser *parser)
{
	const struct mr_filter_token *token = &parser->lexer.token;
	uint64_t number = 0;
	int rc = 0;

	if (token->type == MR_FILTER_WORD && isdigit((unsigned char)token->text[0]))
		rc = mr_filter_parse_number(parser, 1, MR_FILTER_MAX_NUMBER,
					    "a rule's number: 1 to 99999999", &number);
	parser->draft->rule.number = (uint32_t)number;
	return rc;
}

static int parse_skipto(struct mr_filter_parser *parser)
{
	uint64_t number;
	int rc = mr_filter_parse_number(parser, 1, MR_FILTER_MAX_NUMBER,
					"the number of a later rule: up to 99999999", &number);

	if (rc == 0)
		parser->draft->rule.argument.number = (uint32_t)number;
	return rc;
}

static int parse_dscp(struct mr_filter_parser *parser)
{
	static const char wanted[] = "a DSCP: 0 to 63, or a name like ef, af11, cs6";
	const struct mr_filter_token *token = &parser->lexer.token;
	const struct mr_filter_name *name = mr_filter_name_find(mr_filter_dscps, token->text);
	uint64_t number;

	if (token->type == MR_FILTER_WORD && name != NULL) {
		parser->draft->rule.argument.dscp = (uint8_t)name->value;
		mr_filter_lexer_step(&parser->lexer);
		return 0;
	}
	int rc = mr_filter_parse_number(parser, 0, 63, wanted, &number);
	if (rc == 0)
		parser->draft->rule.argument.dscp = (uint8_t)number;
	return rc;
}

/* A number that may end in K, M or G for thousands, millions or thousand millions. */
static int parse_amount(struct mr_filter_parser *parser, uint64_t min, uint64_t max,
			const char *wanted, uint64_t *value)
{
	static const char units[] = "KMG";
	struct mr_filter_token *token = &parser->lexer.token;
	size_t length = strlen(token->text);
	const char *unit = length > 1 ? strchr(units, token->text[length - 1]) : NULL;
	char digits[MR_FILTER_WORD_SIZE];
	uint64_t factor = 1;

	memcpy(digits, token->text, length + 1);
	if (unit != NULL) {
		digits[length - 1] = '\0';
		for (const char *u = units; u <= unit; u++)
			factor *= 1000;
	}
	if (token->type != MR_FILTER_WORD || mr_number_parse(digits, max / factor, value) != 0 ||
	    *value * factor < min)
		return mr_filter_unexpected(parser, wanted);
	*value *= factor;
	mr_filter_lexer_step(&parser->lexer);
	return 0;
}

static int parse_police(struct mr_filter_parser *parser)
{
	uint64_t rate, burst;
	int rc = parse_amount(parser, 8000, 1000000000000, "a rate in bits a second: 8K to 1000G",
			      &rate);

	if (rc == 0 && !mr_filter_lexer_take(&parser->lexer, "burst"))
		rc = mr_filter_unexpected(parser, "'burst' and a number of bytes");
	if (rc == 0)
		rc = parse_amount(parser, 1518, 1000000000,
				  "a burst in bytes: 1518 (one frame) to 1G", &burst);
	if (rc == 0) {
		parser->draft->rule.argument.police.rate = rate;
		parser->draft->rule.argument.police.burst = (uint32_t)burst;
	}
	return rc;
}

static int parse_mirror(struct mr_filter_parser *parser)
{
	uint64_t number;
	int rc = 0;

	if (!mr_filter_lexer_take(&parser->lexer, "port"))
		rc = mr_filter_unexpected(parser, "'port' and its number");
	if (rc == 0)
		rc = mr_filter_parse_number(parser, 0, 31, "a port number: 0 to 31", &number);
	if (rc == 0)
		parser->draft->rule.argument.iface = (uint16_t)number;
	return rc;
}

static int parse_action(struct mr_filter_parser *parser)
{
	struct mr_filter_lexer *lexer = &parser->lexer;
	const struct mr_filter_name *name =
		mr_filter_name_find(mr_filter_actions, lexer->token.text);

	if (lexer->token.type != MR_FILTER_WORD || name == NULL)
		return mr_filter_unexpected(parser,
					    "an action: allow, deny, reject, count, skipto, "
					    "set-dscp, police, mirror or check-state");
	parser->draft->rule.action = (uint8_t)name->value;
	parser->draft->column[MR_FILTER_ITEM_ACTION] = lexer->token.column;
	mr_filter_lexer_step(lexer);
	switch (name->value) {
	case MR_FILTER_SKIPTO:
		return parse_skipto(parser);
	case MR_FILTER_SET_DSCP:
		return parse_dscp(parser);
	case MR_FILTER_POLICE:
		return parse_police(parser);
	case MR_FILTER_MIRROR:
		return parse_mirror(parser);
	default:
		return 0;
	}
}

/* A family, or protocols: whichever it is. */
static int parse_protocol(struct mr_filter_parser *parser)
{
	struct mr_filter_lexer *lexer = &parser->lexer;
	struct mr_filter_rule *rule = &parser->draft->rule;
	const struct mr_filter_name *family;
	unsigned column = lexer->token.column;
	bool negated = mr_filter_lexer_take(lexer, "not");

	parser->draft->column[MR_FILTER_ITEM_FAMILY] = column;
	rule->families = MR_FILTER_FAMILY_ALL;
	family = mr_filter_name_find(mr_filter_families, lexer->token.text);
	if (lexer->token.type != MR_FILTER_WORD || family == NULL) {
		rule->families = MR_FILTER_FAMILY_IP;
		return mr_filter_parse_values(parser, MR_FILTER_PROTOCOL, negated, column);
	}
	if (negated && family->value == MR_FILTER_FAMILY_ALL)
		return mr_filter_refuse(parser->fault, column, "'not all' matches nothing");
	rule->families = (uint8_t)(negated ? MR_FILTER_FAMILY_ALL & ~family->value : family->value);
	mr_filter_lexer_step(lexer);
	if (lexer->token.type == MR_FILTER_COMMA)
		return mr_filter_unexpected(parser, "'from': a family is given alone");
	return 0;
}

/* Ports start with a digit, which no other word in their place does. */
static bool ports_follow(const struct mr_filter_lexer *lexer)
{
	const struct mr_filter_token *token =
		mr_filter_lexer_is(lexer, "not") ? &lexer->next : &lexer->token;

	return token->type == MR_FILTER_COMMA ||
	       ((token->type == MR_FILTER_WORD || token->type == MR_FILTER_TOO_LONG) &&
		isdigit((unsigned char)token->text[0]));
}

static int parse_end(struct mr_filter_parser *parser, const char *word, bool is_src)
{
	struct mr_filter_lexer *lexer = &parser->lexer;
	bool negated;
	int rc;

	if (!mr_filter_lexer_take(lexer, word))
		return mr_filter_unexpected(parser, is_src ? "'from' and addresses"
							   : "ports, or 'to' and addresses");
	rc = mr_filter_parse_addresses(parser, is_src);
	if (rc != 0 || !ports_follow(lexer))
		return rc;
	unsigned column = lexer->token.column;
	negated = mr_filter_lexer_take(lexer, "not");
	return mr_filter_parse_values(parser, is_src ? MR_FILTER_SPORT : MR_FILTER_DPORT, negated,
				      column);
}

static int parse_body(struct mr_filter_parser *parser)
{
	int rc = parse_protocol(parser);

	if (rc == 0)
		rc = parse_end(parser, "from", true);
	if (rc == 0)
		rc = parse_end(parser, "to", false);
	if (rc == 0)
		rc = mr_filter_parse_options(parser);
	return rc;
}

static int parse_rule(struct mr_filter_parser *parser)
{
	int rc = parse_rule_number(parser);

	if (rc == 0)
		rc = parse_action(parser);
	if (rc != 0)
		return rc;
	if (parser->draft->rule.action == MR_FILTER_CHECK_STATE) {
		parser->draft->rule.families = MR_FILTER_FAMILY_ALL;
		return parser->lexer.token.type == MR_FILTER_END
			       ? 0
			       : mr_filter_unexpected(parser, "nothing after check-state");
	}
	parser->draft->rule.log = mr_filter_lexer_take(&parser->lexer, "log");
	return parse_body(parser);
}

/* The first item whose test needs an IP packet, 0 if there is none. */
static unsigned ip_column(const struct mr_filter_draft *draft)
{
	static const unsigned items[] = {
		MR_FILTER_PROTOCOL,     MR_FILTER_SPORT,          MR_FILTER_DPORT,
		MR_FILTER_ICMP_TYPE,    MR_FILTER_ICMP6_TYPE,     MR_FILTER_LENGTH,
		MR_FILTER_TTL,          MR_FILTER_DSCP,           MR_FILTER_ITEM_FRAGMENT,
		MR_FILTER_ITEM_OPTIONS, MR_FILTER_ITEM_TCP_FLAGS, MR_FILTER_ITEM_ESTABLISHED,
	};

	if (draft->rule.src.count != 0)
		return draft->column[MR_FILTER_ITEM_SRC];
	if (draft->rule.dst.count != 0)
		return draft->column[MR_FILTER_ITEM_DST];
	for (unsigned i = 0; i < sizeof(items) / sizeof(items[0]); i++)
		if (draft->column[items[i]] != 0)
			return draft->column[items[i]];
	return 0;
}

/* A rule that looks into IP packets matches no others: that it says `all` makes no difference. */
static int leave_others_out(struct mr_filter_parser *parser)
{
	struct mr_filter_rule *rule = &parser->draft->rule;
	unsigned column = ip_column(parser->draft);

	if (column != 0)
		rule->families &= MR_FILTER_FAMILY_IP;
	if (rule->families == 0)
		return mr_filter_refuse(parser->fault, column,
					"frames that are not IP have nothing of the kind");
	return 0;
}

int mr_filter_rule_number(struct mr_filter_rule *rule, uint32_t number,
			  struct mr_filter_fault *fault)
{
	if (number < 1 || number > MR_FILTER_MAX_NUMBER)
		return mr_filter_refuse(fault, 1,
					"no number is left above the last rule: give one "
					"from 1 to 99999999");
	if (rule->action == MR_FILTER_SKIPTO && rule->argument.number <= number)
		return mr_filter_refuse(fault, 1,
					"rule %u cannot skip to %u: skipto goes forward only",
					number, rule->argument.number);
	rule->number = number;
	return 0;
}

int mr_filter_rule_parse(const char *text, const struct mr_filter_set *set,
			 struct mr_filter_rule **rule, struct mr_filter_fault *fault)
{
	struct mr_filter_draft draft;
	struct mr_filter_parser parser = {.draft = &draft, .set = set, .fault = fault};
	int rc;

	memset(&draft, 0, offsetof(struct mr_filter_draft, range));
	mr_filter_lexer_start(&parser.lexer, text);
	rc = parse_rule(&parser);
	if (rc == 0)
		rc = leave_others_out(&parser);
	if (rc == 0)
		rc = mr_filter_draft_check(&draft, fault);
	if (rc == 0 && draft.rule.number != 0)
		rc = mr_filter_rule_number(&draft.rule, draft.rule.number, fault);
	if (rc != 0)
		return rc;
	mr_filter_draft_sort(&draft);
	*rule = mr_filter_draft_finish(&draft);
	return *rule != NULL ? 0 : -ENOMEM;
}
