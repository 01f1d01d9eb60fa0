/* SPDX-License-Identifier: BSD-3-Clause */
/* What a person can type, ask or meet is documented, and what is documented exists. */
#include "control/appliance.h"
#include "control/control.h"
#include "packet/drop.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <setjmp.h>

#include <cmocka.h>

#define PAGE_SIZE 262144

/* A page of the documentation, which the caller frees. */
static char *read_page(const char *name)
{
	char path[512], *page = malloc(PAGE_SIZE);

	snprintf(path, sizeof(path), "%s/%s", MR_DOCS_DIR, name);
	FILE *file = fopen(path, "r");
	assert_non_null(page);
	assert_non_null(file);
	size_t length = fread(page, 1, PAGE_SIZE - 1, file);
	assert_in_range(length, 1, PAGE_SIZE - 2);
	page[length] = '\0';
	fclose(file);
	return page;
}

/* The rest of the first line that starts with these characters, NULL if none does. */
static const char *find_line(const char *page, const char *start)
{
	size_t length = strlen(start);

	for (const char *line = page; *line != '\0'; line++) {
		if (strncmp(line, start, length) == 0)
			return line + length;
		line += strcspn(line, "\n");
		if (*line == '\0')
			break;
	}
	return NULL;
}

static unsigned count_lines(const char *page, const char *start)
{
	unsigned count = 0;

	while ((page = find_line(page, start)) != NULL)
		count++;
	return count;
}

static void commands_are_documented(void **state)
{
	char *page = read_page("commands.md");
	struct mr documented = {0};
	json_t *entry;
	size_t i;

	(void)state;
	assert_int_equal(mr_control_new(&documented), 0);
	for (unsigned t = 0; mr_appliance_cmds[t] != NULL; t++)
		assert_int_equal(mr_control_register(documented.control, mr_appliance_cmds[t]), 0);
	json_t *help = mr_control_help(documented.control, NULL, 0);
	json_array_foreach (help, i, entry) {
		char wanted[512];

		snprintf(wanted, sizeof(wanted), "### `%s`\n",
			 json_string_value(json_object_get(entry, "command")));
		if (find_line(page, wanted) == NULL)
			fail_msg("docs/commands.md lacks the heading %s", wanted);
	}
	assert_int_equal(count_lines(page, "### `"), json_array_size(help));
	json_decref(help);
	mr_control_free(&documented);
	free(page);
}

/* A line of --help: "  --name=VALUE   what it is for (1 to 16)". */
static void expect_option(const char *name, const char *page, const char *help_line)
{
	char wanted[128], range[64] = "";
	const char *open = strrchr(help_line, '('), *rest;

	snprintf(wanted, sizeof(wanted), "* `%.*s`", (int)strcspn(help_line, " "), help_line);
	rest = find_line(page, wanted);
	if (rest == NULL)
		fail_msg("docs/%s lacks the line %s", name, wanted);
	if (open != NULL && strstr(open, " to ") != NULL) {
		snprintf(range, sizeof(range), "%.*s", (int)strcspn(open + 1, ")"), open + 1);
		const char *found = strstr(rest, range);
		if (found == NULL || found > strchr(rest, '\n'))
			fail_msg("docs/%s: %s lacks its range, %s", name, wanted, range);
	}
}

/* The page has a line for each option of --help, and for no other. */
static void expect_options(const char *name, const char *command)
{
	char *page = read_page(name), line[512];
	FILE *help = popen(command, "r");
	unsigned options = 0;

	assert_non_null(help);
	while (fgets(line, sizeof(line), help) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "  --", 4) != 0)
			continue;
		expect_option(name, page, line + 2);
		options++;
	}
	assert_int_equal(pclose(help), 0);
	assert_int_not_equal(options, 0);
	assert_int_equal(count_lines(page, "* `--"), options);
	free(page);
}

static void launch_options_are_documented(void **state)
{
	(void)state;
	expect_options("commands.md", MILLRACE " -- --help");
	expect_options("generator.md", MILLRACE_GEN " -- --help");
}

static void client_options_are_documented(void **state)
{
	char *page = read_page("commands.md"), line[512], wanted[64];
	FILE *help = popen(MILLRACECTL " --help", "r");
	unsigned options = 0;

	(void)state;
	assert_non_null(help);
	while (fgets(line, sizeof(line), help) != NULL) {
		if (strncmp(line, "  -", 3) != 0)
			continue;
		const char *name = strstr(line, "--");
		assert_non_null(name);
		snprintf(wanted, sizeof(wanted), "* `-%c`, `%.*s`", line[3],
			 (int)strcspn(name, " "), name);
		if (find_line(page, wanted) == NULL)
			fail_msg("docs/commands.md lacks the line %s", wanted);
		options++;
	}
	assert_int_equal(pclose(help), 0);
	assert_int_not_equal(options, 0);
	free(page);
}

static void drop_reasons_are_documented(void **state)
{
	char *page = read_page("drops.md"), wanted[512];

	(void)state;
	for (unsigned reason = 0; reason < MR_DROP_COUNT; reason++) {
		snprintf(wanted, sizeof(wanted), "| `%s` | %s |", mr_drop_name(reason),
			 mr_drop_help(reason));
		if (find_line(page, wanted) == NULL)
			fail_msg("docs/drops.md lacks %s", wanted);
	}
	assert_int_equal(count_lines(page, "| `"), MR_DROP_COUNT);
	free(page);
}

static void profiles_are_documented(void **state)
{
	char *page = read_page("ports.md"), wanted[300];
	DIR *directory = opendir(MR_DOCS_DIR "/../drivers-cfg");
	struct dirent *file;
	unsigned profiles = 0;

	(void)state;
	assert_non_null(directory);
	while ((file = readdir(directory)) != NULL) {
		const char *end = strstr(file->d_name, ".cfg");

		if (end == NULL)
			continue;
		snprintf(wanted, sizeof(wanted), "| `%.*s` |", (int)(end - file->d_name),
			 file->d_name);
		if (find_line(page, wanted) == NULL)
			fail_msg("docs/ports.md lacks %s", wanted);
		profiles++;
	}
	assert_int_not_equal(profiles, 0);
	closedir(directory);
	free(page);
}

static bool is_path(const char *text)
{
	for (unsigned t = 0; mr_appliance_queries[t] != NULL; t++)
		for (const struct mr_query *query = mr_appliance_queries[t]; query->path != NULL;
		     query++)
			if (strlen(query->path) == strcspn(text, "`,[") &&
			    strncmp(text, query->path, strlen(query->path)) == 0)
				return true;
	return false;
}

static void telemetry_is_documented(void **state)
{
	char *page = read_page("telemetry.md"), wanted[128];

	(void)state;
	for (unsigned t = 0; mr_appliance_queries[t] != NULL; t++)
		for (const struct mr_query *query = mr_appliance_queries[t]; query->path != NULL;
		     query++) {
			snprintf(wanted, sizeof(wanted), "`%s", query->path);
			const char *rest = find_line(page, wanted);
			while (rest != NULL && strchr("`,[", *rest) == NULL)
				rest = find_line(rest, wanted);
			if (rest == NULL)
				fail_msg("docs/telemetry.md lacks %s", query->path);
		}
	for (const char *rest = page; (rest = find_line(rest, "`/")) != NULL;)
		if (!is_path(rest - 1))
			fail_msg("docs/telemetry.md has %.*s, which does not exist",
				 (int)strcspn(rest - 1, "`"), rest - 1);
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_documented),
		cmocka_unit_test(launch_options_are_documented),
		cmocka_unit_test(client_options_are_documented),
		cmocka_unit_test(drop_reasons_are_documented),
		cmocka_unit_test(profiles_are_documented),
		cmocka_unit_test(telemetry_is_documented),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
