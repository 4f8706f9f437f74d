/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/analysis/numbers.h"

#include <string.h>

#include "coordinator/analysis/ttest.h"

typedef int (*test_function)(const double *x, size_t nx, const double *y, size_t ny,
			     struct stats_ttest *ret, struct kg_err *err);

static const test_function functions[] = {stats_welch, stats_student};

static struct stats_ttest run(test_function f, const double *x, size_t nx, const double *y,
			      size_t ny)
{
	struct stats_ttest t;
	struct kg_err err = {{0}};

	if (f(x, nx, y, ny, &t, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

static void test_swapping_the_sides_turns_the_signs(void **state)
{
	double *x = draw(7, 10, 1, 0, 1), *y = draw(12, 11, 2, 0, 2);

	(void)state;
	for (size_t i = 0; i < COUNT(functions); i++) {
		struct stats_ttest a = run(functions[i], x, 7, y, 12);
		struct stats_ttest b = run(functions[i], y, 12, x, 7);

		near(b.t, -a.t, 1e-13);
		near(b.p, a.p, 1e-12);
		near(b.df, a.df, 1e-13);
		near(b.diff, -a.diff, 1e-13);
		near(b.lo, -a.hi, 1e-12);
		near(b.hi, -a.lo, 1e-12);
	}
	free(x);
	free(y);
}

static void test_scale_and_offset_leave_t_as_it_is(void **state)
{
	static const double scales[] = {1e-300, 1e-9, 1e9, 1e150, 1e300};
	double *x = draw(8, 10, 1, 0, 3), *y = draw(9, 11, 2, 0, 4), a[8], b[9];

	(void)state;
	for (size_t i = 0; i < COUNT(functions); i++) {
		struct stats_ttest plain = run(functions[i], x, 8, y, 9), t;

		for (size_t k = 0; k < COUNT(scales); k++) {
			for (size_t j = 0; j < 9; j++) {
				b[j] = y[j] * scales[k];
				if (j < 8)
					a[j] = x[j] * scales[k];
			}
			t = run(functions[i], a, 8, b, 9);
			near(t.t, plain.t, 1e-12);
			near(t.p, plain.p, 1e-11);
			near(t.diff / scales[k], plain.diff, 1e-12);
		}
		for (size_t j = 0; j < 9; j++) {
			b[j] = y[j] + 1e9;
			if (j < 8)
				a[j] = x[j] + 1e9;
		}
		t = run(functions[i], a, 8, b, 9);
		near(t.t, plain.t, 1e-6); /* the values lost digits, the test did not */
	}
	free(x);
	free(y);
}

static void test_welch_and_student_agree_on_equal_sides_of_equal_spread(void **state)
{
	const double x[] = {1, 2, 3, 4, 5}, y[] = {4, 5, 6, 7, 8};
	struct stats_ttest a = run(stats_welch, x, 5, y, 5), b = run(stats_student, x, 5, y, 5);

	(void)state;
	near(a.t, b.t, 1e-15);
	near(a.df, 8, 1e-14);
	near(a.p, 0.01707168123378265, 1e-11);
}

static void test_sides_without_variance_are_told_apart_by_their_values_alone(void **state)
{
	const double five[] = {5, 5, 5}, six[] = {6, 6}, tenth[] = {0.1, 0.1, 0.1};
	struct stats_ttest t = run(stats_welch, five, 3, five, 3);

	(void)state;
	assert_true(t.constant && t.p == 1 && t.diff == 0);
	t = run(stats_welch, five, 3, six, 2);
	assert_true(t.constant && t.p == 0 && t.diff == -1);
	t = run(stats_student, tenth, 3, tenth, 2);
	assert_true(t.constant && t.p == 1);
	t = run(stats_welch, five, 3, (double[]){5, 6}, 2);
	assert_false(t.constant);
	near(t.df, 1, 1e-14);
}

static void test_too_few_values_and_no_numbers_are_refused(void **state)
{
	struct stats_ttest t;
	struct kg_err err;
	const double x[] = {1, 2, 3}, bad[] = {1, NAN}, far[] = {-1.7e308, -1.7e308};
	const double other[] = {1.7e308, 1.7e308};

	(void)state;
	for (size_t i = 0; i < COUNT(functions); i++) {
		assert_int_equal(functions[i](x, 1, x, 3, &t, &err), KG_EINVALID);
		assert_non_null(strstr(err.text, "'x' has 1 value"));
		assert_int_equal(functions[i](x, 3, x, 0, &t, &err), KG_EINVALID);
		assert_non_null(strstr(err.text, "'y' is empty"));
		assert_int_equal(functions[i](x, 3, bad, 2, &t, &err), KG_EINVALID);
		assert_non_null(strstr(err.text, "'y[1]' is nan"));
		assert_int_equal(functions[i](far, 2, other, 2, &t, &err), KG_EINVALID);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_swapping_the_sides_turns_the_signs),
		cmocka_unit_test(test_scale_and_offset_leave_t_as_it_is),
		cmocka_unit_test(test_welch_and_student_agree_on_equal_sides_of_equal_spread),
		cmocka_unit_test(test_sides_without_variance_are_told_apart_by_their_values_alone),
		cmocka_unit_test(test_too_few_values_and_no_numbers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
