/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/analysis/numbers.h"

#include "coordinator/analysis/compat.h"

static void test_mmtests_differences_and_what_has_no_ratio(void **state)
{
	(void)state;
	assert_true(compat_mmtests_pdiff(105, 100) == 5);
	assert_true(compat_mmtests_pndiff(105, 100) == -5);
	assert_true(compat_mmtests_pdiff(0, 5) == 0 && compat_mmtests_pndiff(0, 5) == 100);
	assert_true(compat_mmtests_pdiff(5, 0) == 100 && compat_mmtests_pndiff(5, 0) == -99);
	assert_true(compat_mmtests_pdiff(0, 0) == 0 && compat_mmtests_pndiff(0, 0) == 0);
	near(compat_mmtests_pdiff(1.2e308, 1e308), 20, 1e-12);
	near(compat_mmtests_pndiff(1.2e308, 1e308), -20, 1e-12);
}

static void test_the_star_of_today_and_that_before(void **state)
{
	/* 4 % apart, sd 2 %: not beyond 1.96 (s1 + s2), but Welch at n = 5 says so */
	const struct compat_side a = {.mean = 100, .sd = 2, .n = 5};
	struct compat_side b = {.mean = 104, .sd = 2, .n = 5};
	const struct compat_side c = {.mean = 100, .sd = 0, .n = 5};
	double cidiff;

	(void)state;
	assert_false(compat_mmtests_star(COMPAT_STAR_SD, &a, &b, &cidiff));
	near(cidiff, -4 / (1.959963984540054 * 4), 1e-12);
	assert_true(compat_mmtests_star(COMPAT_STAR_WELCH, &a, &b, &cidiff));
	b.mean = 102;
	assert_false(compat_mmtests_star(COMPAT_STAR_WELCH, &a, &b, &cidiff));
	b.mean = 108;
	assert_true(compat_mmtests_star(COMPAT_STAR_SD, &a, &b, &cidiff));
	assert_true(compat_mmtests_star(COMPAT_STAR_SD, &b, &a, &cidiff));
	assert_true(cidiff > 1);
	/* without any deviation */
	assert_false(compat_mmtests_star(COMPAT_STAR_SD, &c, &c, &cidiff));
	assert_false(compat_mmtests_star(COMPAT_STAR_WELCH, &c, &c, &cidiff));
	b = (struct compat_side){.mean = 101, .sd = 0, .n = 1};
	assert_true(compat_mmtests_star(COMPAT_STAR_SD, &c, &b, &cidiff));
	assert_true(cidiff == -1);
	assert_false(compat_mmtests_star(COMPAT_STAR_WELCH, &c, &b, &cidiff)); /* n = 1 */
}

static void test_lkp_wants_ranges_and_medians_apart_and_a_ratio(void **state)
{
	const double a[] = {100, 101, 102}, b[] = {107, 108, 110}, c[] = {103, 104, 105};
	const double overlap[] = {101, 108, 109}, zero[] = {0, 0, 0};
	const double touching[] = {101.5, 107, 108};
	double many[64], other[64];

	(void)state;
	assert_true(compat_lkp_changed(a, 3, b, 3, false));
	assert_true(compat_lkp_changed(b, 3, a, 3, false));
	assert_false(compat_lkp_changed(a, 3, c, 3, false));
	assert_true(compat_lkp_changed(a, 3, c, 3, true));
	assert_false(compat_lkp_changed(a, 3, overlap, 3, false));
	assert_true(compat_lkp_changed(a, 3, touching, 3, false)); /* beyond the median is enough */
	assert_true(compat_lkp_changed(zero, 3, a, 3, false));
	assert_false(compat_lkp_changed(zero, 3, zero, 3, true));
	assert_false(compat_lkp_changed(a, 3, a, 0, false));
	assert_false(compat_lkp_changed(a, 3, (double[]){NAN, 1, 2}, 3, false));
	for (int i = 0; i < 64; i++) {
		many[i] = 100;
		other[i] = 110;
	}
	many[5] = 500; /* one of 64 at each end is left out */
	other[6] = 1;
	assert_true(compat_lkp_changed(many, 64, other, 64, false));
}

static void test_best_95_leaves_out_the_worst_twentieth(void **state)
{
	double x[40];

	(void)state;
	for (int i = 0; i < 40; i++)
		x[i] = i + 1;
	shuffle(x, 40, 1);
	near(compat_best95(x, 40, true), 21.5, 1e-15);	/* 3..40 */
	near(compat_best95(x, 40, false), 19.5, 1e-15); /* 1..38 */
	near(compat_best95((double[]){3, 4}, 2, true), 4, 0);
	near(compat_best95((double[]){3, 4}, 2, false), 3, 0);
	near(compat_best95((double[]){3}, 1, true), 3, 0);
	assert_true(isnan(compat_best95(x, 0, true)));
	assert_true(isnan(compat_best95((double[]){1, INFINITY}, 2, true)));
	near(compat_best95((double[]){1.7e308, 1.7e308, 1.6e308}, 3, true), 1.7e308, 1e-15);
}

static void test_netperf_width(void **state)
{
	const double x[] = {100, 101, 99.5, 100.2};
	double w, minus[4], large[4], v;
	struct kg_err err;

	(void)state;
	assert_int_equal(compat_netperf_interval(x, 4, 95, &w, &err), 0);
	near(w, 1.9818443872875626, 1e-3);
	for (int i = 0; i < 4; i++) {
		minus[i] = -x[i];
		large[i] = x[i] * 1e300;
	}
	assert_int_equal(compat_netperf_interval(minus, 4, 95, &v, &err), 0);
	near(v, w, 1e-12);
	assert_int_equal(compat_netperf_interval(large, 4, 95, &v, &err), 0);
	near(v, w, 1e-12);
	assert_int_equal(compat_netperf_interval(x, 4, 99, &v, &err), 0);
	assert_true(v > w);
	assert_int_equal(compat_netperf_interval(x, 1, 95, &v, &err), KG_EINVALID);
	assert_int_equal(compat_netperf_interval(x, 4, 100, &v, &err), KG_EINVALID);
	assert_int_equal(compat_netperf_interval((double[]){-1, 1}, 2, 95, &v, &err), KG_EINVALID);
	assert_int_equal(compat_netperf_interval((double[]){NAN, 1}, 2, 95, &v, &err), KG_EINVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mmtests_differences_and_what_has_no_ratio),
		cmocka_unit_test(test_the_star_of_today_and_that_before),
		cmocka_unit_test(test_lkp_wants_ranges_and_medians_apart_and_a_ratio),
		cmocka_unit_test(test_best_95_leaves_out_the_worst_twentieth),
		cmocka_unit_test(test_netperf_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
