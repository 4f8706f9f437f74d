/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/analysis/numbers.h"

#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/student.h"

static void test_normal_quantile_is_the_inverse(void **state)
{
	(void)state;
	for (double e = -300; e < -0.31; e += 0.37) {
		double p = pow(10, e), z = stats_norm_quantile(p);

		near(stats_norm_cdf(z), p, 1e-11);
		near(stats_norm_two_tails(z), 2 * p, 1e-11);
		if (p > 1e-8)
			near(stats_norm_quantile(1 - p), -z, 1e-7);
	}
	for (double p = 0.01; p < 1; p += 0.01)
		near_by(stats_norm_quantile(p), -stats_norm_quantile(1 - p), 1e-12, 1e-14);
	assert_true(stats_norm_quantile(0.5) == 0);
	assert_true(isnan(stats_norm_quantile(0)) && isnan(stats_norm_quantile(1)));
	assert_true(isnan(stats_norm_quantile(NAN)) && isnan(stats_norm_quantile(-1)));
}

static void test_chi_square_has_its_closed_forms(void **state)
{
	(void)state;
	for (double x = 0.01; x < 300; x *= 1.7) {
		double sum = 0, term = 1;

		near(stats_chi2_upper(x, 1), stats_norm_two_tails(sqrt(x)), 1e-11);
		near(stats_chi2_upper(x, 2), exp(-x / 2), 1e-12);
		for (int k = 0; k < 10; k++) { /* df 20: e^-h sum h^k / k! */
			sum += term;
			term *= x / 2 / (k + 1);
		}
		near(stats_chi2_upper(x, 20), exp(-x / 2) * sum, 1e-11);
	}
	near(stats_chi2_upper(3.841458820694124, 1), 0.05, 1e-12);
	near(stats_chi2_upper(1e6, 1e6), 0.5, 1e-3);
	assert_true(stats_chi2_upper(0, 3) == 1 && stats_chi2_upper(-1, 3) == 1);
	assert_true(stats_chi2_upper(INFINITY, 3) == 0);
	assert_true(isnan(stats_chi2_upper(1, 0)) && isnan(stats_chi2_upper(NAN, 1)));
}

static void test_student_keeps_its_digits_at_many_degrees_of_freedom(void **state)
{
	(void)state;
	/* R's pt to ten digits; and the normal's limit, t of df being z (1 + (z^2 + 1) / (4 df)) */
	near(stats_student_two_tails(2, 1e6), 0.045500533851319205, 1e-10);
	for (double df = 1e7; df < 1e13; df *= 10) {
		near(stats_student_two_tails(2.5, df),
		     stats_norm_two_tails(2.5 * (1 - (2.5 * 2.5 + 1) / (4 * df))), 1e-8);
	}
	assert_true(stats_student_two_tails(INFINITY, 3) == 0);
	assert_true(stats_student_two_tails(1e200, 3) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal_quantile_is_the_inverse),
		cmocka_unit_test(test_chi_square_has_its_closed_forms),
		cmocka_unit_test(test_student_keeps_its_digits_at_many_degrees_of_freedom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
