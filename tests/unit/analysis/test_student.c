/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Student's t against values of mpmath with 30 digits. */
#include "tests/lib/cmocka_all.h"

#include <math.h>

#include "coordinator/analysis/student.h"

static void near(double got, double want, double rtol)
{
	if (!(fabs(got - want) <= rtol * fabs(want)))
		fail_msg("%.17g, not %.17g", got, want);
}

static void test_quantiles_are_those_of_the_tables(void **state)
{
	static const double p[4] = {0.9, 0.95, 0.975, 0.995};
	static const struct {
		double df, q[4];
	} rows[] = {
		{1, {3.0776835371752536, 6.313751514675043, 12.706204736174705, 63.65674116287158}},
		{2, {1.8856180831641267, 2.9199855803537256, 4.302652729749464, 9.924843200918293}},
		{9,
		 {1.3830287383966322, 1.8331129326562372, 2.2621571627982053, 3.2498355415921263}},
		{29,
		 {1.311433647301551, 1.6991270265334977, 2.0452296421327043, 2.7563859036706053}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t k = 0; k < 4; k++) {
			near(stats_student_quantile(p[k], rows[i].df), rows[i].q[k], 1e-11);
			near(stats_student_quantile(1 - p[k], rows[i].df), -rows[i].q[k], 1e-11);
		}
	}
	near(stats_student_quantile(0.975, 5.3), 2.52742778826811809932588074561, 1e-12);
	near(stats_student_quantile(0.975, 27.879), 2.04880774640675037699891407888, 1e-12);
	near(stats_student_quantile(0.975, 1e6), 1.9599663, 1e-7);
	assert_true(stats_student_quantile(0.5, 3) == 0);
}

static void test_tails_are_right_far_out(void **state)
{
	static const struct {
		double t, df, p;
	} rows[] = {
		{0.0, 1, 1.0},
		{0.5, 1, 0.7048327646991335},
		{12.706, 1, 0.05000080235813319},
		{2.0, 2, 0.18350341907227397},
		{12.706, 2, 0.006137194642611459},
		{0.5, 3, 0.651447964848151},
		{2.0, 3, 0.1393259685588432},
		{0.5, 4.5, 0.6405495020740472},
		{12.706, 4.5, 0.00010723587263467215},
		{2.0, 8, 0.08051623795726268},
		{12.706, 8, 1.3851615465242898e-06},
		{2.0, 9.87, 0.07376285077236473},
		{0.5, 30, 0.6207230048851273},
		{12.706, 30, 1.3198607818426737e-13},
		{2.0, 200, 0.046853186187070975},
		{12.706, 200, 1.668607456993887e-27},
		{0.5, 1000000.0, 0.6170751874723713},
		{2.0, 1000000.0, 0.045500533851319205},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		near(stats_student_two_tails(rows[i].t, rows[i].df), rows[i].p,
		     rows[i].df > 1000 ? 1e-8 : 1e-10);
	near(stats_student_cdf(2.0, 8), 1 - 0.08051623795726268 / 2, 1e-12);
	near(stats_student_cdf(-2.0, 8), 0.08051623795726268 / 2, 1e-12);
}

static void test_nonsense_is_nan(void **state)
{
	(void)state;
	assert_true(isnan(stats_student_quantile(0, 3)));
	assert_true(isnan(stats_student_quantile(1, 3)));
	assert_true(isnan(stats_student_quantile(0.9, 0)));
	assert_true(isnan(stats_student_cdf(1, -1)));
	assert_true(isnan(stats_beta_inc(1, 1, 1.5)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles_are_those_of_the_tables),
		cmocka_unit_test(test_tails_are_right_far_out),
		cmocka_unit_test(test_nonsense_is_nan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
