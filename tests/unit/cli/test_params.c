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

static void test_parameter_that_a_row_lacks_is_a_dash(void **state)
{
	static const char *const rows[] = {"seconds=1 size=64 test=TCP_STREAM",
					   "seconds=1 test=TCP_CRR"};
	struct params *p = params_split(rows, 2);

	(void)state;
	assert_string_equal(params_common(p), "seconds=1");
	assert_int_equal(params_columns(p), 2);
	assert_string_equal(params_title(p, 0), "size");
	assert_string_equal(params_value(p, 1, 0), "-");
	assert_true(params_numeric(p, 0));
	assert_string_equal(params_value(p, 1, 1), "TCP_CRR");
	params_free(p);
}

static void test_single_row_shares_all_it_has(void **state)
{
	static const char *const one[] = {"size=64 test=x"};
	struct params *p = params_split(one, 1);

	(void)state;
	assert_string_equal(params_common(p), "size=64 test=x");
	assert_int_equal(params_columns(p), 0);
	params_free(p);
}

static void test_rows_that_cannot_be_split_stay_whole(void **state)
{
	static const char *const none[] = {"", ""};
	static const char *const odd[] = {"a b", "a c"};
	static const char *const same[] = {"a=1", "a=1"};
	struct params *p = params_split(none, 2);

	(void)state;
	assert_string_equal(params_value(p, 1, 0), "-");
	params_free(p);
	p = params_split(odd, 2);
	assert_string_equal(params_title(p, 0), "parameters");
	assert_string_equal(params_value(p, 1, 0), "a c");
	params_free(p);
	p = params_split(same, 2);
	assert_string_equal(params_value(p, 1, 0), "a=1");
	params_free(p);
	params_free(params_split(NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_parameters_leave_the_rows),
		cmocka_unit_test(test_each_differing_parameter_is_a_column),
		cmocka_unit_test(test_parameter_that_a_row_lacks_is_a_dash),
		cmocka_unit_test(test_single_row_shares_all_it_has),
		cmocka_unit_test(test_rows_that_cannot_be_split_stay_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
