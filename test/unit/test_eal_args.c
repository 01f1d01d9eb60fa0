/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rte_common.h>

#include "base/eal_args.h"

static void a_command_line_has_two_parts(void **state)
{
	char *line[] = {"millrace", "-l", "0,1", "--", "-i", "--", "last", NULL};
	struct mr_eal_args args = mr_eal_args_split(RTE_DIM(line) - 1, line);
	(void)state;

	assert_int_equal(args.eal_count, 3);
	assert_int_equal(args.own_count, 4);
	assert_ptr_equal(args.own, line + 3);
}

static void without_dashes_all_is_eal_s(void **state)
{
	char *line[] = {"millrace", "--help", NULL};
	struct mr_eal_args args = mr_eal_args_split(RTE_DIM(line) - 1, line);
	(void)state;

	assert_int_equal(args.eal_count, 2);
	assert_int_equal(args.own_count, 1);
	assert_string_equal(args.own[0], "millrace");
}

static void the_program_s_part_may_be_empty(void **state)
{
	char *line[] = {"millrace", "--", NULL};
	struct mr_eal_args args = mr_eal_args_split(RTE_DIM(line) - 1, line);
	(void)state;

	assert_int_equal(args.eal_count, 1);
	assert_int_equal(args.own_count, 1);
	assert_string_equal(args.own[0], "--");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_line_has_two_parts),
		cmocka_unit_test(without_dashes_all_is_eal_s),
		cmocka_unit_test(the_program_s_part_may_be_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
