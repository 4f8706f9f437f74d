/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/analysis/numbers.h"

#include <float.h>

#include "coordinator/analysis/ordering.h"

static void test_sorting_and_selecting_agree_with_qsort(void **state)
{
	static const size_t sizes[] = {0, 1, 2, 16, 17, 100, 1023, 1024, 5000};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(sizes); i++) {
		size_t n = sizes[i / 2];
		double *x = draw(n + 1, 0, 100, i % 2 ? 10 : 0, i + 1);
		double *want = calloc(n + 1, sizeof(*want)), *got = stats_sorted_copy(x, n);

		assert_non_null(want);
		assert_non_null(got);
		for (size_t k = 0; k < n; k++)
			want[k] = x[k];
		qsort(want, n, sizeof(*want), order);
		for (size_t k = 0; k < n; k++)
			assert_true(want[k] == got[k]);
		for (size_t k = 0; k < n; k += 1 + n / 50) {
			assert_true(stats_select(x, n, k) == want[k]);
			for (size_t j = 0; j < n; j++)
				assert_true(j < k ? x[j] <= want[k] : x[j] >= want[k]);
		}
		free(x);
		free(want);
		free(got);
	}
}

static void test_signs_zeros_and_denormals_sort(void **state)
{
	const double odd[] = {-DBL_MAX, -1, -5e-324, -0.0, 0.0, 5e-324, 1e-310, 1, 1e150, DBL_MAX};
	double x[2000];

	(void)state;
	for (size_t i = 0; i < COUNT(x); i++)
		x[i] = odd[i % COUNT(odd)];
	shuffle(x, COUNT(x), 3);
	stats_sort(x, COUNT(x));
	for (size_t i = 0; i < COUNT(x); i++)
		assert_true(x[i] == odd[i / (COUNT(x) / COUNT(odd))]);
}

static void test_orders_that_are_slow_elsewhere_are_not(void **state)
{
	/* ends at all: a quadratic selection would take hours here */
	enum { N = 300000 };
	double *x = calloc(N, sizeof(*x));

	(void)state;
	assert_non_null(x);
	for (int shape = 0; shape < 4; shape++) {
		for (size_t i = 0; i < N; i++)
			x[i] = shape == 0   ? (double)i
			       : shape == 1 ? (double)(N - i)
			       : shape == 2 ? 7
					    : (double)(i < N / 2 ? i : N - i);
		(void)stats_select(x, N, N / 2);
		for (size_t i = 0; i < N; i++)
			assert_true(i < N / 2 ? x[i] <= x[N / 2] : x[i] >= x[N / 2]);
	}
	free(x);
}

static void test_the_middle_does_not_overflow(void **state)
{
	(void)state;
	assert_true(stats_middle(DBL_MAX, DBL_MAX) == DBL_MAX);
	assert_true(stats_middle(-DBL_MAX, DBL_MAX) == 0);
	assert_true(stats_middle(1, 2) == 1.5);
	assert_true(stats_middle(5e-324, 5e-324) == 5e-324);
}

static void test_checks_name_what_is_missing(void **state)
{
	const double x[] = {1, 2, -INFINITY};
	struct kg_err err;

	(void)state;
	assert_int_equal(stats_check(x, 2, 2, "base", &err), 0);
	assert_int_equal(stats_check(NULL, 0, 0, "base", &err), 0);
	assert_int_equal(stats_check(x, 3, 1, "base", &err), KG_EINVALID);
	assert_contains(err.text, "'base[2]' is infinite");
	assert_int_equal(stats_check(x, 1, 2, "base", &err), KG_EINVALID);
	assert_contains(err.text, "at least 2 values");
	assert_int_equal(stats_check(NULL, 0, 1, "base", &err), KG_EINVALID);
	assert_contains(err.text, "'base' is empty");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorting_and_selecting_agree_with_qsort),
		cmocka_unit_test(test_signs_zeros_and_denormals_sort),
		cmocka_unit_test(test_orders_that_are_slow_elsewhere_are_not),
		cmocka_unit_test(test_the_middle_does_not_overflow),
		cmocka_unit_test(test_checks_name_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
