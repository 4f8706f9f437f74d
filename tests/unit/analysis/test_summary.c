/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/analysis/numbers.h"

#include <float.h>
#include <string.h>

#include "coordinator/analysis/summary.h"

static struct stats_summary sum_of(const double *x, size_t n)
{
	struct stats_summary s;
	struct kg_err err = {{0}};

	if (stats_summarise(x, n, &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static void test_scaling_and_shifting_carry_over(void **state)
{
	double *x = draw(101, 50, 3, 0, 1), y[101], z[101];
	struct stats_summary a, b, c;

	(void)state;
	for (size_t i = 0; i < 101; i++) {
		y[i] = x[i] * 1024; /* exact */
		z[i] = x[i] + 1000;
	}
	a = sum_of(x, 101);
	b = sum_of(y, 101);
	c = sum_of(z, 101);
	near(b.mean, a.mean * 1024, 1e-15);
	near(b.sd, a.sd * 1024, 1e-15);
	near(b.mad, a.mad * 1024, 0);
	near(b.hmean, a.hmean * 1024, 1e-14);
	near(b.gmean, a.gmean * 1024, 1e-14);
	near(b.hstddev, a.hstddev * 1024, 1e-13);
	near(b.cv_pct, a.cv_pct, 1e-14);
	near(c.mean, a.mean + 1000, 1e-14);
	near(c.sd, a.sd, 1e-12);
	near(c.q75 - c.q25, a.q75 - a.q25, 1e-12);
	free(x);
}

static void test_the_order_of_the_values_does_not_matter(void **state)
{
	double *x = draw(1000, 5, 1, 0.25, 2);
	struct stats_summary a = sum_of(x, 1000), b;

	(void)state;
	for (uint64_t seed = 1; seed < 6; seed++) {
		shuffle(x, 1000, seed);
		b = sum_of(x, 1000);
		assert_true(a.median == b.median && a.q25 == b.q25 && a.q75 == b.q75);
		assert_true(a.mad == b.mad && a.min == b.min && a.max == b.max);
		near(b.mean, a.mean, 1e-15);
		near(b.sd, a.sd, 1e-14);
	}
	free(x);
}

static void test_quantiles_agree_with_sorting(void **state)
{
	(void)state;
	for (size_t n = 1; n < 60; n++) {
		double *x = draw(n, 0, 10, n % 2 ? 1 : 0, n);
		struct stats_summary s = sum_of(x, n);

		qsort(x, n, sizeof(*x), order);
		near_by(s.median, stats_quantile_sorted(x, n, 0.5), 1e-15, 1e-15);
		near_by(s.q25, stats_quantile_sorted(x, n, 0.25), 1e-15, 1e-15);
		near_by(s.q75, stats_quantile_sorted(x, n, 0.75), 1e-15, 1e-15);
		assert_true(s.min == x[0] && s.max == x[n - 1]);
		free(x);
	}
}

static void test_equal_values_have_no_spread_at_all(void **state)
{
	static const double values[] = {0, 0.1, -0.3, 1e9 + 0.1, 1e150, 1.7e308, 5e-324, -5e-324};

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		for (size_t n = 1; n < 12; n++) {
			double x[12];
			struct stats_summary s;

			for (size_t k = 0; k < n; k++)
				x[k] = values[i];
			s = sum_of(x, n);
			assert_true(s.mean == values[i] && s.median == values[i]);
			assert_true(s.sd == 0 && s.mad == 0 && s.hstddev == 0);
			assert_int_equal(s.has_sd, n >= 2);
			assert_int_equal(s.has_cv, n >= 2 && values[i] != 0);
			assert_int_equal(s.has_hmean, values[i] > 0);
			if (s.has_hmean)
				assert_true(s.hmean == values[i] && s.gmean == values[i]);
		}
	}
}

static void test_sizes_near_the_ends_of_double_stay_right(void **state)
{
	const double base[] = {1, 1.1, 1.2};
	static const double scales[] = {1e-300, 1e-150, 1e150, 1e308};
	const double denormal[] = {5e-324, 10e-324, 15e-324};
	struct stats_summary s;
	double x[3];

	(void)state;
	for (size_t i = 0; i < COUNT(scales); i++) {
		for (size_t k = 0; k < 3; k++)
			x[k] = base[k] * scales[i];
		s = sum_of(x, 3);
		near(s.mean / scales[i], 1.1, 1e-14);
		near(s.sd / scales[i], 0.1, 1e-13);
		near(s.hmean / scales[i], 1.0939226519337017, 1e-14);
		near(s.gmean / scales[i], 1.0969613104865237, 1e-13);
		near(s.hcv_pct, 7.453446167531515, 1e-12);
	}
	s = sum_of(denormal, 3);
	assert_true(s.mean == 10e-324 && s.sd == 5e-324 && s.median == 10e-324);
	near(s.cv_pct, 50, 1e-9);
}

static void test_an_offset_of_1e9_does_not_eat_the_deviation(void **state)
{
	double x[] = {4, 7, 13, 16}, far[4];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		far[i] = x[i] + 1e9;
	near(sum_of(far, 4).sd, sum_of(x, 4).sd, 1e-15);
	near(sum_of(far, 4).hcv_pct, 4.7434164428184045e-07, 1e-12);
}

static void test_what_is_no_number_is_refused_with_its_place(void **state)
{
	struct stats_summary s;
	struct kg_err err;
	double h;
	static const struct {
		double x[3];
		size_t n;
		const char *text;
	} rows[] = {
		{{1, 2, NAN}, 3, "'x[2]' is nan"},
		{{INFINITY, 2, 3}, 3, "'x[0]' is infinite"},
		{{1, -INFINITY, 3}, 3, "'x[1]' is inf"},
		{{0}, 0, "'x' is empty"},
		{{-1e308, 0, 1e308}, 3, "range"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(stats_summarise(rows[i].x, rows[i].n, &s, &err), KG_EINVALID);
		assert_non_null(strstr(err.text, rows[i].text));
	}
	assert_int_equal(stats_hmean((double[]){3, 0, 1}, 3, &h, &err), KG_EINVALID);
	assert_non_null(strstr(err.text, "'x[1]' is 0"));
	assert_int_equal(stats_hmean((double[]){3, 1, -1}, 3, &h, &err), KG_EINVALID);
	assert_non_null(strstr(err.text, "'x[2]' is -1"));
	assert_int_equal(stats_hmean((double[]){2, 6}, 2, &h, &err), 0);
	near(h, 3, 1e-15);
}

static void test_the_order_interval_of_the_median_covers(void **state)
{
	size_t lo, hi, n;
	double coverage;

	(void)state;
	for (n = 0; n < 6; n++)
		assert_false(stats_median_order(n, 0.95, &lo, &hi, &coverage));
	for (n = 6; n < 3000; n += n < 100 ? 1 : 97) {
		double level = 0.95, wider;
		size_t l2, h2;

		assert_true(stats_median_order(n, level, &lo, &hi, &coverage));
		assert_true(coverage >= level && coverage <= 1);
		assert_int_equal(lo + hi, n + 1);
		assert_true(lo < hi);
		/* the next narrower one would not: ask for a little more than it has */
		assert_true(stats_median_order(n, coverage - 1e-6, &l2, &h2, &wider));
		assert_int_equal(l2, lo);
	}
	assert_true(stats_median_order(1000000, 0.95, &lo, &hi, &coverage));
	assert_in_range(lo, 500000 - 985, 500000 - 975);
	assert_false(stats_median_order(100, 1, &lo, &hi, &coverage));
	assert_false(stats_median_order(100, NAN, &lo, &hi, &coverage));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scaling_and_shifting_carry_over),
		cmocka_unit_test(test_the_order_of_the_values_does_not_matter),
		cmocka_unit_test(test_quantiles_agree_with_sorting),
		cmocka_unit_test(test_equal_values_have_no_spread_at_all),
		cmocka_unit_test(test_sizes_near_the_ends_of_double_stay_right),
		cmocka_unit_test(test_an_offset_of_1e9_does_not_eat_the_deviation),
		cmocka_unit_test(test_what_is_no_number_is_refused_with_its_place),
		cmocka_unit_test(test_the_order_interval_of_the_median_covers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
