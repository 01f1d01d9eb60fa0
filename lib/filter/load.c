/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of rules. A file is read into a set of its own, which takes the place of the one in force
 * when all of it is right; else nothing has happened. Its lines are those of the commands:
 *
 *   default deny
 *   bridge br0 off
 *   set servers replace 192.0.2.1 192.0.2.64/26
 *   add 100 allow tcp from any to set:servers 80,443
 *
 * A file replaces the rules. The default action, the address sets, the bridges' exemptions and the
 * timeouts of flows that it does not mention stay.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <rte_common.h>

#include "base/number.h"
#include "bridge/bridge.h"
#include "filter/address_change.h"
#include "filter/filter.h"
#include "filter/flow_state.h"
#include "filter/lexer.h"
#include "filter/load.h"
#include "filter/rule_text.h"
#include "filter/warnings.h"

#define NUMBER_STEP 100 /* between rules that are given no number */

struct loader {
	struct mr_filter_set *set;
	struct mr_filter_bridges *bridges;
	const char *path; /* its end, if it is long */
	unsigned line;
	uint32_t last_number;
	struct mr_error *error;
};

static int fail_at(const struct loader *loader, unsigned column, const char *sentence)
{
	return mr_fail(loader->error, -EINVAL, "%s:%u:%u: %s", loader->path, loader->line, column,
		       sentence);
}

static int load_rule(struct loader *loader, const char *text, unsigned column)
{
	struct mr_filter_fault fault = {0};
	struct mr_filter_rule *rule;
	int rc = mr_filter_rule_parse(text, loader->set, &rule, &fault);

	if (rc == -ENOMEM)
		return mr_fail(loader->error, rc, "no memory for a rule");
	if (rc != 0)
		return fail_at(loader, column + fault.column - 1, fault.error.text);
	if (rule->number == 0)
		rc = mr_filter_rule_number(rule, loader->last_number + NUMBER_STEP, &fault);
	if (rc != 0) {
		mr_filter_rule_unref(rule);
		return fail_at(loader, column, fault.error.text);
	}
	if (rule->number > loader->last_number)
		loader->last_number = rule->number;
	rc = mr_filter_set_append(loader->set, rule);
	if (rc == 0)
		return 0;
	mr_filter_rule_unref(rule);
	if (rc == -ENOSPC)
		return fail_at(loader, column, "more than 100000 rules");
	return mr_fail(loader->error, rc, "no memory for a rule");
}

static int load_default(struct loader *loader, struct mr_filter_lexer *lexer)
{
	if (mr_filter_lexer_take(lexer, "allow"))
		loader->set->default_action = MR_FILTER_ALLOW;
	else if (mr_filter_lexer_take(lexer, "deny"))
		loader->set->default_action = MR_FILTER_DENY;
	else
		return fail_at(loader, lexer->token.column, "expected allow or deny");
	if (lexer->token.type != MR_FILTER_END)
		return fail_at(loader, lexer->token.column, "expected nothing more");
	return 0;
}

static int load_addresses(struct loader *loader, struct mr_filter_lexer *lexer)
{
	struct mr_prefix prefix[MR_MAX_LINE / 2];
	struct mr_error error = {0};
	enum mr_filter_change change = MR_FILTER_ADD;
	unsigned count = 0, column = lexer->token.column;
	char name[MR_FILTER_WORD_SIZE];
	int rc;

	memcpy(name, lexer->token.text, sizeof(name));
	mr_filter_lexer_step(lexer);
	if (mr_filter_lexer_take(lexer, "replace"))
		change = MR_FILTER_REPLACE;
	else if (!mr_filter_lexer_take(lexer, "add"))
		return fail_at(loader, lexer->token.column, "expected add or replace");
	for (; lexer->token.type != MR_FILTER_END; mr_filter_lexer_step(lexer), count++)
		if (mr_filter_parse_prefix(lexer->token.text, &prefix[count]) != 0)
			return fail_at(loader, lexer->token.column,
				       "expected an address or a prefix");
	rc = mr_filter_change_addresses(loader->set, name, change, prefix, count, &error);
	return rc == 0 ? 0 : fail_at(loader, column, error.text);
}

static int load_bridge(struct loader *loader, struct mr_filter_lexer *lexer)
{
	struct mr_filter_bridges *bridges = loader->bridges;
	unsigned i = 0, column = lexer->token.column;
	char name[MR_FILTER_WORD_SIZE];
	bool exempt;

	memcpy(name, lexer->token.text, sizeof(name));
	mr_filter_lexer_step(lexer);
	exempt = mr_filter_lexer_is(lexer, "off");
	if (!mr_filter_lexer_take(lexer, "on") && !mr_filter_lexer_take(lexer, "off"))
		return fail_at(loader, lexer->token.column, "expected on or off");
	if (lexer->token.type != MR_FILTER_END)
		return fail_at(loader, lexer->token.column, "expected nothing more");
	while (i < bridges->count && strcmp(bridges->bridge[i].name, name) != 0)
		i++;
	if (i == RTE_DIM(bridges->bridge) || strlen(name) >= sizeof(bridges->bridge[i].name))
		return fail_at(loader, column, "there is no such bridge");
	strcpy(bridges->bridge[i].name, name);
	bridges->bridge[i].exempt = exempt;
	bridges->bridge[i].line = loader->line;
	bridges->count = RTE_MAX(bridges->count, i + 1);
	return 0;
}

static int load_state(struct loader *loader, struct mr_filter_lexer *lexer)
{
	uint64_t seconds;
	int timeout;

	if (!mr_filter_lexer_take(lexer, "timeout"))
		return fail_at(loader, lexer->token.column, "expected timeout");
	timeout = filter_flows_timeout(lexer->token.text);
	if (timeout < 0)
		return fail_at(loader, lexer->token.column, "there is no such timeout");
	mr_filter_lexer_step(lexer);
	if (mr_number_parse(lexer->token.text, FLOW_TIMEOUT_MAX, &seconds) != 0 || seconds == 0)
		return fail_at(loader, lexer->token.column, "expected seconds, 1 to 604800");
	mr_filter_lexer_step(lexer);
	if (lexer->token.type != MR_FILTER_END)
		return fail_at(loader, lexer->token.column, "expected nothing more");
	loader->bridges->timeout[timeout] = (uint32_t)seconds;
	return 0;
}

static int load_line(struct loader *loader, char *line)
{
	struct mr_filter_lexer lexer;

	line[strcspn(line, "#\r\n")] = '\0';
	mr_filter_lexer_start(&lexer, line);
	if (lexer.token.type == MR_FILTER_END)
		return 0;
	mr_filter_lexer_take(&lexer, "filter");
	if (mr_filter_lexer_is(&lexer, "add"))
		return load_rule(loader, line + lexer.token.column + 2, lexer.token.column + 3);
	if (mr_filter_lexer_take(&lexer, "set"))
		return load_addresses(loader, &lexer);
	if (mr_filter_lexer_take(&lexer, "default"))
		return load_default(loader, &lexer);
	if (mr_filter_lexer_take(&lexer, "bridge"))
		return load_bridge(loader, &lexer);
	if (mr_filter_lexer_take(&lexer, "state"))
		return load_state(loader, &lexer);
	return fail_at(loader, lexer.token.column,
		       "expected add RULE, set NAME add|replace ADDRESSES, bridge NAME on|off, "
		       "state timeout NAME SECONDS, or default allow|deny");
}

static int load_lines(struct loader *loader, FILE *file)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int rc = 0;

	while (rc == 0 && (length = getline(&line, &size, file)) >= 0) {
		loader->line++;
		if (length > MR_MAX_LINE)
			rc = fail_at(loader, MR_MAX_LINE + 1, "a line of at most 4096 bytes");
		else if (strlen(line) != (size_t)length)
			rc = fail_at(loader, (unsigned)strlen(line) + 1, "a NUL in a line");
		else
			rc = load_line(loader, line);
	}
	free(line);
	if (rc == 0 && ferror(file))
		rc = mr_fail(loader->error, -EIO, "%s: cannot be read", loader->path);
	return rc;
}

/* The end of a long path, which says more than its start. */
static const char *shown(const char *path)
{
	size_t length = strlen(path);

	return length > 60 ? path + length - 60 : path;
}

static int open_file(const char *path, FILE **file, struct mr_error *error)
{
	struct stat status;
	int rc;

	*file = fopen(path, "re");
	if (*file == NULL) {
		rc = -errno;
		return mr_fail(error, rc, "%s: %s", shown(path), strerror(-rc));
	}
	if (fstat(fileno(*file), &status) != 0 || !S_ISREG(status.st_mode)) {
		fclose(*file);
		return mr_fail(error, -EINVAL, "%s: not a file of rules", shown(path));
	}
	return 0;
}

int mr_filter_read_file(struct mr_filter_set *set, const char *path,
			const struct mr_filter_set *old, struct mr_filter_bridges *bridges,
			json_t *warnings, struct mr_error *error)
{
	struct loader loader = {
		.set = set, .bridges = bridges, .path = shown(path), .error = error};
	FILE *file;
	int rc = open_file(path, &file, error);

	if (rc != 0)
		return rc;
	mr_filter_set_clear(set);
	rc = load_lines(&loader, file);
	fclose(file);
	if (rc == 0)
		rc = mr_filter_set_sort(set);
	if (rc == 0)
		rc = mr_filter_keep_rules(set, old);
	if (rc == 0)
		mr_filter_warn_set(set, warnings);
	return rc == -ENOMEM ? mr_fail(error, rc, "no memory for the rules") : rc;
}

int mr_filter_check_bridges(struct mr *mr, const char *path,
			    const struct mr_filter_bridges *bridges, struct mr_error *error)
{
	for (unsigned i = 0; i < bridges->count; i++)
		if (mr_bridge_find(mr, bridges->bridge[i].name) == NULL)
			return mr_fail(error, -ENOENT, "%s:%u: there is no bridge %s", shown(path),
				       bridges->bridge[i].line, bridges->bridge[i].name);
	return 0;
}

void mr_filter_set_bridges(struct mr *mr, const struct mr_filter_bridges *bridges)
{
	for (unsigned i = 0; i < bridges->count; i++)
		__atomic_store_n(
			&mr->filter->fwd.exempt[mr_bridge_find(mr, bridges->bridge[i].name)->id],
			bridges->bridge[i].exempt, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < FLOW_TIMEOUTS; i++)
		if (bridges->timeout[i] != 0)
			__atomic_store_n(&mr->filter->fwd.flows->timeout[i], bridges->timeout[i],
					 __ATOMIC_RELAXED);
}

static void save_addresses(FILE *file, const struct mr_filter_address_set *addresses)
{
	char text[MR_ADDR_TEXT_SIZE];

	fprintf(file, "set %s replace", addresses->name);
	for (uint32_t i = 0; i < addresses->count; i++) {
		if (i != 0 && i % 64 == 0)
			fprintf(file, "\nset %s add", addresses->name);
		fprintf(file, " %s", mr_prefix_format(&addresses->prefix[i], text));
	}
	fputc('\n', file);
}

static void save_timeouts(FILE *file, const struct filter_flows *flows)
{
	for (enum flow_timeout i = 0; i < FLOW_TIMEOUTS; i++)
		if (flows->timeout[i] != filter_flows_timeout_default(i))
			fprintf(file, "state timeout %s %u\n", filter_flows_timeout_name(i),
				flows->timeout[i]);
}

int mr_filter_save(struct mr *mr, const char *path, struct mr_error *error)
{
	const struct mr_filter_set *set = mr->filter->set;
	char text[MR_FILTER_TEXT_SIZE];
	FILE *file = fopen(path, "we");
	int rc;

	if (file == NULL) {
		rc = -errno;
		return mr_fail(error, rc, "%s: %s", shown(path), strerror(-rc));
	}
	fprintf(file, "default %s\n", set->default_action == MR_FILTER_DENY ? "deny" : "allow");
	for (unsigned id = 0; id < MR_MAX_BRIDGES; id++)
		if (mr->filter->fwd.exempt[id] != 0)
			fprintf(file, "bridge %s off\n", mr->bridges->bridge[id].name);
	for (unsigned i = MR_FILTER_ME + 1; i < set->address_sets; i++)
		if (set->addresses[i] != NULL)
			save_addresses(file, set->addresses[i]);
	save_timeouts(file, mr->filter->fwd.flows);
	for (uint32_t i = 0; i < set->count; i++)
		fprintf(file, "add %s\n",
			mr_filter_rule_print(set->rule[i], set, text, sizeof(text)));
	rc = ferror(file) ? -EIO : 0;
	if (fclose(file) != 0)
		rc = -errno;
	return rc == 0 ? 0 : mr_fail(error, rc, "%s: %s", shown(path), strerror(-rc));
}
