/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/analysis/numbers.h"

#include "coordinator/analysis/power.h"
#include "coordinator/analysis/student.h"
#include "coordinator/analysis/ttest.h"

static void test_values_of_r(void **state)
{
	double v;

	(void)state;
	/* the examples of ?power.t.test */
	assert_int_equal(stats_power(20, 1, 0.05, &v, NULL), 0);
	near(v, 0.8689528, 1e-6);
	assert_int_equal(stats_power_n(1, 0.9, 0.05, &v, NULL), 0);
	near(v, 22.02110, 1e-6);
	assert_int_equal(stats_power_n(0.5, 0.8, 0.05, &v, NULL), 0);
	near(v, 63.7657637248, 1e-6);
}

static void test_no_effect_has_the_power_of_one_tail(void **state)
{
	static const double n[] = {2, 3, 5, 17, 1000, 1e6};
	double v;

	(void)state;
	for (size_t i = 0; i < COUNT(n); i++) {
		for (double alpha = 1e-6; alpha < 0.5; alpha *= 7) {
			assert_int_equal(stats_power(n[i], 0, alpha, &v, NULL), 0);
			near(v, alpha / 2, 1e-8);
		}
	}
}

static void test_the_three_questions_fit_each_other(void **state)
{
	(void)state;
	for (double effect = 0.02; effect < 40; effect *= 2.1) {
		for (double power = 0.5; power < 0.995; power += 0.16) {
			double n, back, e;

			assert_int_equal(stats_power_n(effect, power, 0.01, &n, NULL), 0);
			if (n < 2)
				continue;
			assert_int_equal(stats_power(n, effect, 0.01, &back, NULL), 0);
			near(back, power, 1e-9);
			assert_int_equal(stats_power_effect(n, power, 0.01, &e, NULL), 0);
			near(e, effect, 1e-9);
		}
	}
}

static void test_both_ways_to_integrate_meet(void **state)
{
	/* the noncentrality sqrt(n / 2) effect passes 30 between these */
	double a, b;

	(void)state;
	for (double n = 3; n < 2000; n *= 3) {
		double effect = 30 / sqrt(n / 2);
		/* few degrees of freedom need a small alpha to have a power that is not 1 */
		double df = 2 * (n - 1), alpha = stats_student_two_tails(29.5, df);

		if (!(alpha > 1e-290))
			continue;
		assert_int_equal(stats_power(n, effect * (1 - 1e-9), alpha, &a, NULL), 0);
		assert_int_equal(stats_power(n, effect * (1 + 1e-9), alpha, &b, NULL), 0);
		assert_true(a > 0.3 && a < 0.9);
		near(a, b, 1e-6);
	}
}

static void test_power_is_the_share_of_experiments_that_find_it(void **state)
{
	enum { RUNS = 4000, N = 6 };
	struct stats_rng rng = {.state = 9};
	unsigned found = 0;
	double want;

	(void)state;
	for (int run = 0; run < RUNS; run++) {
		struct stats_ttest t;
		double x[N], y[N];

		for (int i = 0; i < N; i++) {
			x[i] = stats_rng_normal(&rng) + 1.5;
			y[i] = stats_rng_normal(&rng);
		}
		assert_int_equal(stats_student(x, N, y, N, &t, NULL), 0);
		found += t.p < 0.05 && t.diff > 0;
	}
	assert_int_equal(stats_power(N, 1.5, 0.05, &want, NULL), 0);
	near_by((double)found / RUNS, want, 0, 0.03);
}

static void test_impossible_arguments_are_refused(void **state)
{
	double v;
	struct kg_err err;

	(void)state;
	assert_int_equal(stats_power_n(0, 0.8, 0.05, &v, &err), KG_EINVALID);
	assert_int_equal(stats_power_n(-1, 0.8, 0.05, &v, &err), KG_EINVALID);
	assert_int_equal(stats_power_n(NAN, 0.8, 0.05, &v, &err), KG_EINVALID);
	assert_int_equal(stats_power_n(INFINITY, 0.8, 0.05, &v, &err), KG_EINVALID);
	assert_int_equal(stats_power_n(1, 1, 0.05, &v, &err), KG_EINVALID);
	assert_int_equal(stats_power_n(1, 0.8, 0, &v, &err), KG_EINVALID);
	assert_int_equal(stats_power_n(1e-9, 0.8, 0.05, &v, &err), KG_EINVALID);
	assert_contains(err.text, "more than");
	assert_int_equal(stats_power(1, 1, 0.05, &v, &err), KG_EINVALID);
	assert_int_equal(stats_power(NAN, 1, 0.05, &v, &err), KG_EINVALID);
	assert_int_equal(stats_power_effect(1, 0.8, 0.05, &v, &err), KG_EINVALID);
	assert_int_equal(stats_power_effect(2, NAN, 0.05, &v, &err), KG_EINVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_of_r),
		cmocka_unit_test(test_no_effect_has_the_power_of_one_tail),
		cmocka_unit_test(test_the_three_questions_fit_each_other),
		cmocka_unit_test(test_both_ways_to_integrate_meet),
		cmocka_unit_test(test_power_is_the_share_of_experiments_that_find_it),
		cmocka_unit_test(test_impossible_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
