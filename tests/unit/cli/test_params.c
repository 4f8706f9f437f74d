/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/params.h"
#include "tests/lib/cmocka_all.h"

static void test_shared_parameters_leave_the_rows(void **state)
{
	static const char *const rows[] = {"seconds=1 size=64 test=UDP_RR",
					   "seconds=1 size=128 test=UDP_RR"};
	struct params *p = params_split(rows, 2);

	(void)state;
	assert_string_equal(params_common(p), "seconds=1 test=UDP_RR");
	assert_int_equal(params_columns(p), 1);
	assert_string_equal(params_title(p, 0), "size");
	assert_string_equal(params_value(p, 1, 0), "128");
	assert_true(params_numeric(p, 0));
	params_free(p);
}

static void test_each_differing_parameter_is_a_column(void **state)
{
	static const char *const rows[] = {"groups=1 mode=process", "groups=1 mode=thread",
					   "groups=4 mode=process"};
	struct params *p = params_split(rows, 3);

	(void)state;
	assert_string_equal(params_common(p), "");
	assert_int_equal(params_columns(p), 2);
	assert_string_equal(params_title(p, 1), "mode");
	assert_false(params_numeric(p, 1));
	assert_string_equal(params_value(p, 2, 0), "4");
	assert_string_equal(params_value(p, 2, 1), "process");
	params_free(p);
}

static void test_rows_with_other_parameters_stay_whole(void **state)
{
	static const char *const rows[] = {"size=64 test=TCP_STREAM", "test=TCP_CRR"};
	struct params *p = params_split(rows, 2);

	(void)state;
	assert_string_equal(params_common(p), "");
	assert_int_equal(params_columns(p), 1);
	assert_string_equal(params_title(p, 0), "parameters");
	assert_string_equal(params_value(p, 1, 0), "test=TCP_CRR");
	params_free(p);
}

static void test_one_row_or_no_parameter_is_no_surprise(void **state)
{
	static const char *const one[] = {"size=64"};
	static const char *const none[] = {"", ""};
	static const char *const odd[] = {"a b", "a c"};
	struct params *p = params_split(one, 1);

	(void)state;
	assert_string_equal(params_value(p, 0, 0), "size=64");
	params_free(p);
	p = params_split(none, 2);
	assert_string_equal(params_value(p, 1, 0), "-");
	params_free(p);
	p = params_split(odd, 2);
	assert_string_equal(params_value(p, 1, 0), "a c");
	params_free(p);
	params_free(params_split(NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_parameters_leave_the_rows),
		cmocka_unit_test(test_each_differing_parameter_is_a_column),
		cmocka_unit_test(test_rows_with_other_parameters_stay_whole),
		cmocka_unit_test(test_one_row_or_no_parameter_is_no_surprise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
