/* SPDX-License-Identifier: BSD-3-Clause */
/* What people see of commands: rendered answers, completion, and that documentation has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "control/cmd_complete.h"
#include "control/cmd_render.h"
#include "control/control.h"

static void expect_render(const char *json, enum mr_style style, const char *wanted)
{
	json_error_t error;
	json_t *data = json_loads(json, JSON_DECODE_ANY, &error);
	size_t length;

	if (data == NULL)
		fail_msg("%s: %s", json, error.text);
	char *text = mr_render(data, style, &length);
	assert_string_equal(text, wanted);
	assert_int_equal(length, strlen(wanted));
	free(text);
	json_decref(data);
}

static void tables_have_aligned_columns(void **state)
{
	(void)state;
	expect_render("[{\"name\": \"br0\", \"members\": [0, 1], \"stations\": 2},"
		      " {\"name\": \"longer\", \"members\": [], \"stations\": 1024},"
		      " {\"name\": \"x\", \"stations\": null}]",
		      MR_STYLE_TEXT,
		      "name    members  stations\n"
		      "br0     0 1             2\n"
		      "longer  none         1024\n"
		      "x       -               -\n");
	/* No blanks at the end of a line. */
	expect_render("[{\"port\": 0, \"up\": true, \"driver\": \"net_null\"},"
		      " {\"port\": 10, \"up\": false, \"driver\": \"x\"}]",
		      MR_STYLE_TEXT,
		      "port  up   driver\n"
		      "   0  yes  net_null\n"
		      "  10  no   x\n");
}

static void objects_are_keys_and_values(void **state)
{
	(void)state;
	expect_render("{\"a\": 1, \"b c\": {\"d\": \"e\", \"f\": []}, \"g\": 1.5, \"h\": 3.0,"
		      " \"i\": [{\"j\": 1}, {\"j\": 20}], \"k\": {}, \"l\": [\"m\", 2]}",
		      MR_STYLE_TEXT,
		      "a: 1\n"
		      "b c:\n"
		      "  d: e\n"
		      "  f: none\n"
		      "g: 1.5\n"
		      "h: 3\n"
		      "i:\n"
		      "   j\n"
		      "   1\n"
		      "  20\n"
		      "k: none\n"
		      "l: m 2\n");
}

static void plain_values_are_one_line(void **state)
{
	(void)state;
	expect_render("[]", MR_STYLE_TEXT, "none\n");
	expect_render("{}", MR_STYLE_TEXT, "none\n");
	expect_render("[{}]", MR_STYLE_TEXT, "{}\n");
	expect_render("[1, \"two\", false]", MR_STYLE_TEXT, "1 two no\n");
	expect_render("\"as it is\"", MR_STYLE_TEXT, "as it is\n");
	expect_render("\"two\\nlines\\n\"", MR_STYLE_TEXT, "two\nlines\n");
	expect_render("\"\"", MR_STYLE_TEXT, "");
	expect_render("18446744", MR_STYLE_TEXT, "18446744\n");
	expect_render("{\"a\": [1, {\"b\": null}]}", MR_STYLE_JSON,
		      "{\"a\": [1, {\"b\": null}]}\n");

	size_t length;
	char *text = mr_render(NULL, MR_STYLE_TEXT, &length);
	assert_string_equal(text, "");
	free(text);
	text = mr_render(NULL, MR_STYLE_JSON, &length);
	assert_string_equal(text, "null\n");
	free(text);
}

static int run_nothing(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	(void)mr;
	(void)args;
	(void)reply;
	return 0;
}

static const struct mr_cmd commands[] = {
	{"bridge add NAME [ageing SECONDS] [stations COUNT]", "", run_nothing},
	{"bridge member add NAME port N", "", run_nothing},
	{"show port info all|N", "", run_nothing},
	{"show port stats all|N", "", run_nothing},
	{"show portal", "", run_nothing},
	{NULL},
};

static struct mr mr;

static int set_up(void **state)
{
	(void)state;
	return mr_control_new(&mr) != 0 || mr_control_register(mr.control, commands) != 0;
}

static int tear_down(void **state)
{
	(void)state;
	mr_control_free(&mr);
	return 0;
}

/* wanted: the literals, then the hints, then "." where the line may end. */
static void expect_completion(const char *line, const char *wanted, size_t common)
{
	struct mr_completion completion;
	char text[512] = "";

	mr_cmd_complete(mr_control_table(mr.control), line, strlen(line), &completion);
	for (unsigned i = 0; i < completion.literals; i++) {
		strcat(text, completion.literal[i]);
		strcat(text, " ");
	}
	for (unsigned i = 0; i < completion.hints; i++) {
		strcat(text, completion.hint[i]->name);
		strcat(text, " ");
	}
	strcat(text, completion.end ? "." : "");
	assert_string_equal(text, wanted);
	assert_int_equal(completion.common, common);
}

static void completion_knows_what_may_follow(void **state)
{
	(void)state;
	expect_completion("", "help quit bridge show ", 0);
	expect_completion("br", "bridge ", 6);
	expect_completion("bridge ", "add member ", 0);
	expect_completion("show por", "port portal ", 4);
	expect_completion("show port ", "info stats ", 0);
	expect_completion("show port stats a", "all N ", 3);
	expect_completion("bridge add ", "NAME ", 0);
	expect_completion("bridge add br0 ", "ageing stations .", 0);
	expect_completion("bridge add br0 stations 5 ", "ageing .", 6);
	expect_completion("bridge add br0 ageing ", "SECONDS ", 0);
	expect_completion("bridge add br0 ageing x ", "", 0);
	expect_completion("nothing ", "", 0);
	expect_completion("show # po", "", 0);
	expect_completion("show \x01", "", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_have_aligned_columns),
		cmocka_unit_test(objects_are_keys_and_values),
		cmocka_unit_test(plain_values_are_one_line),
		cmocka_unit_test_setup_teardown(completion_knows_what_may_follow, set_up,
						tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
