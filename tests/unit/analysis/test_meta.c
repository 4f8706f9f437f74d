/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/meta.h"

#include <math.h>

#include "coordinator/analysis/rng.h"
#include "tests/lib/cmocka_all.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.12g, not %.12g", got, want);
}

/* The 13 BCG trials of Colditz et al. 1994 (JAMA 271, 698-702), the worked example of many texts:
 * cases and others with the vaccine, cases and others without. */
static void test_summary_of_the_bcg_trials_is_the_published_one(void **state)
{
	static const double t[][4] = {
		{4, 119, 11, 128},	 {6, 300, 29, 274},	   {3, 228, 11, 209},
		{62, 13536, 248, 12619}, {33, 5036, 47, 5761},	   {180, 1361, 372, 1079},
		{8, 2537, 10, 619},	 {505, 87886, 499, 87892}, {29, 7470, 45, 7232},
		{17, 1699, 65, 1600},	 {186, 50448, 141, 27197}, {5, 2493, 3, 2338},
		{27, 16886, 29, 17825},
	};
	struct meta_effect e[N(t)];
	struct meta_summary s;

	(void)state;
	for (size_t i = 0; i < N(t); i++) {
		double with = t[i][0] + t[i][1], without = t[i][2] + t[i][3];

		e[i].log_ratio = log(t[i][0] / with / (t[i][2] / without));
		e[i].se = sqrt(1 / t[i][0] - 1 / with + 1 / t[i][2] - 1 / without);
	}
	assert_int_equal(meta_summarise(e, N(e), &s, NULL), 0);
	assert_int_equal(s.machines, 13);
	near(s.q, 152.2330080823734, 1e-9);
	near(s.tau2, 0.30876026286237646, 1e-12);
	near(s.i2_pct, 92.11734685456206, 1e-9);
	near(s.log_ratio, -0.7141172220732271, 1e-12);
	/* Hartung and Knapp's factor is 1.022 here: above 1, so it counts. */
	near(s.lo, -1.107821354168329, 1e-10);
	near(s.hi, -0.3204130899781252, 1e-10);
	assert_true(s.q_p < 1e-20);
}

static void test_one_machine_has_an_effect_and_no_interval(void **state)
{
	struct meta_effect e = {0.02, 0.01};
	struct meta_summary s;

	(void)state;
	assert_int_equal(meta_summarise(&e, 1, &s, NULL), 0);
	assert_int_equal(s.machines, 1);
	assert_false(s.has_interval);
	near(s.log_ratio, 0.02, 0);
	near(s.q_p, 1, 0);
	near(s.tau2, 0, 0);
}

static void test_two_machines_have_the_interval_of_one_degree_of_freedom(void **state)
{
	/* Q = 0.5 < 1: no heterogeneity; the factor 0.5 is raised to 1. t(0.975, 1) = 12.7062. */
	struct meta_effect e[2] = {{0.02, 0.01}, {0.03, 0.01}};
	struct meta_summary s;

	(void)state;
	assert_int_equal(meta_summarise(e, 2, &s, NULL), 0);
	near(s.log_ratio, 0.025, 1e-15);
	near(s.q, 0.5, 1e-12);
	near(s.q_p, 0.479500122186953, 1e-10);
	near(s.tau2, 0, 0);
	near(s.i2_pct, 0, 0);
	near(s.hi - s.log_ratio, 12.706204736174705 * 0.01 / sqrt(2), 1e-12);
	near(s.log_ratio - s.lo, 12.706204736174705 * 0.01 / sqrt(2), 1e-12);
}

static void test_three_machines_by_hand(void **state)
{
	/* weights 10^4, 10^4, 2500; mean 0.02; Q = 2 = k - 1, so tau2 = 0; p = exp(-Q / 2). */
	struct meta_effect e[3] = {{0.01, 0.01}, {0.03, 0.01}, {0.02, 0.02}};
	struct meta_summary s;

	(void)state;
	assert_int_equal(meta_summarise(e, 3, &s, NULL), 0);
	near(s.log_ratio, 0.02, 1e-15);
	near(s.q, 2, 1e-12);
	near(s.q_p, exp(-1), 1e-12);
	near(s.hi - s.log_ratio, 4.302652729749464 / 150, 1e-10);
}

static void test_what_is_no_effect_is_refused(void **state)
{
	struct meta_effect bad[][2] = {
		{{NAN, 1}, {0, 1}},   {{INFINITY, 1}, {0, 1}}, {{0, 0}, {0, 1}},
		{{0, -1}, {0, 1}},    {{0, NAN}, {0, 1}},      {{0, INFINITY}, {0, 1}},
		{{1e300, 1}, {0, 1}},
	};
	struct meta_summary s;
	struct kg_err err;

	(void)state;
	for (size_t i = 0; i < N(bad); i++) {
		assert_int_equal(meta_summarise(bad[i], 2, &s, &err), KG_EINVALID);
		assert_contains(err.text, "effect 1");
	}
	assert_int_equal(meta_summarise(bad[0], 0, &s, &err), KG_EINVALID);
}

static void test_a_machine_without_noise_leaves_all_numbers_finite(void **state)
{
	struct meta_effect e[3] = {{0.01, 5e-324}, {0.03, 0.5}, {-0.02, 1e5}};
	struct meta_summary s;

	(void)state;
	assert_int_equal(meta_summarise(e, 3, &s, NULL), 0);
	near(s.log_ratio, 0.01, 1e-6);
	assert_true(isfinite(s.lo) && isfinite(s.hi) && isfinite(s.tau2) && isfinite(s.q));
	e[1].se = 5e-324;
	assert_int_equal(meta_summarise(e, 3, &s, NULL), 0);
	assert_true(isfinite(s.lo) && isfinite(s.hi) && isfinite(s.tau2) && isfinite(s.i2_pct));
	assert_true(s.lo <= s.log_ratio && s.log_ratio <= s.hi);
}

/* Share of experiments whose interval holds the truth; `tau`: between machines. */
static double coverage(size_t machines, double tau, struct stats_rng *r)
{
	size_t held = 0;
	const size_t n = 2000;

	for (size_t i = 0; i < n; i++) {
		struct meta_effect e[12];
		struct meta_summary s;

		for (size_t k = 0; k < machines; k++) {
			e[k].se = 0.005 + 0.01 * stats_rng_uniform(r);
			e[k].log_ratio =
				0.02 + tau * stats_rng_normal(r) + e[k].se * stats_rng_normal(r);
		}
		assert_int_equal(meta_summarise(e, machines, &s, NULL), 0);
		held += s.lo <= 0.02 && 0.02 <= s.hi;
	}
	return (double)held / (double)n;
}

static void test_intervals_hold_the_truth_for_few_and_unlike_machines(void **state)
{
	static const size_t machines[] = {2, 3, 5, 12};
	static const double tau[] = {0, 0.01, 0.05};
	struct stats_rng r = {20240607};

	(void)state;
	for (size_t i = 0; i < N(machines); i++) {
		for (size_t k = 0; k < N(tau); k++) {
			double c = coverage(machines[i], tau[k], &r);

			/* Never narrower than the usual one: safe with few or like machines. */
			if (c < 0.935)
				fail_msg("%zu machines, tau %g: %g", machines[i], tau[k], c);
			if (tau[k] > 0.04 && machines[i] > 5 && c > 0.97)
				fail_msg("%zu machines, tau %g: %g", machines[i], tau[k], c);
		}
	}
}

static void test_groups_that_differ_are_told_and_alike_ones_are_not(void **state)
{
	struct meta_effect intel[4] = {{0.01, .002}, {0.012, .002}, {0.008, .002}, {0.01, .002}};
	struct meta_effect amd[4] = {{0.05, .002}, {0.052, .002}, {0.047, .002}, {0.051, .002}};
	struct meta_summary a, b;
	double d, lo, hi, p, d2, lo2, hi2, p2;

	(void)state;
	assert_int_equal(meta_summarise(intel, 4, &a, NULL), 0);
	assert_int_equal(meta_summarise(amd, 4, &b, NULL), 0);
	assert_int_equal(meta_difference(&a, &b, &d, &lo, &hi, &p, NULL), 0);
	near(d, 0.04, 1e-12);
	assert_true(lo > 0.03 && hi < 0.05 && p < 1e-4);
	assert_int_equal(meta_difference(&b, &a, &d2, &lo2, &hi2, &p2, NULL), 0);
	near(d2, -d, 0);
	near(lo2, -hi, 1e-15);
	near(p2, p, 1e-15);
	assert_int_equal(meta_difference(&a, &a, &d, &lo, &hi, &p, NULL), 0);
	assert_true(lo < 0 && hi > 0 && p > 0.99);
}

static void test_a_group_of_one_machine_cannot_be_compared(void **state)
{
	struct meta_effect e[2] = {{0.01, 0.01}, {0.02, 0.01}};
	struct meta_summary one, two;
	double d, lo, hi, p;
	struct kg_err err;

	(void)state;
	assert_int_equal(meta_summarise(e, 1, &one, NULL), 0);
	assert_int_equal(meta_summarise(e, 2, &two, NULL), 0);
	assert_int_equal(meta_difference(&one, &two, &d, &lo, &hi, &p, &err), KG_EINVALID);
	assert_contains(err.text, "one machine");
}

static void test_interaction_of_two_cells_is_welchs_test(void **state)
{
	/* With constant cells the interaction is the contrast of the other two means: variances 1
	 * and 1 / 3 with 4 and 2 degrees of freedom; v = 2.5 / 5, 1 / 3, df = 4.67 by hand. */
	static const double a1[] = {0, 0}, a2[] = {1, 1}, b1[] = {1, 2, 3, 4, 5},
			    b2[] = {9, 10, 11};
	struct meta_side cells[4] = {{a1, 2}, {a2, 2}, {b1, 5}, {b2, 3}};
	double d, lo, hi, p, v = 2.5 / 5 + 1.0 / 3, df;

	(void)state;
	df = v * v / (0.5 * 0.5 / 4 + 1.0 / 9 / 2);
	assert_int_equal(meta_interaction(cells, &d, &lo, &hi, &p, NULL), 0);
	near(d, (10 - 3) - (1 - 0), 1e-12);
	near((lo + hi) / 2, d, 1e-12);
	near(df, 5.882352941176471, 1e-12);
	/* t(0.975, 5.88235) = 2.4588 */
	near((hi - lo) / 2 / sqrt(v), 2.4588, 5e-4);
	assert_true(p < 0.01);
}

static void test_interaction_without_variance_is_the_difference(void **state)
{
	static const double one[] = {1, 1}, two[] = {2, 2};
	struct meta_side none[4] = {{one, 2}, {two, 2}, {one, 2}, {two, 2}};
	struct meta_side some[4] = {{one, 2}, {one, 2}, {one, 2}, {two, 2}};
	struct meta_side few[4] = {{one, 2}, {one, 1}, {one, 2}, {two, 2}};
	static const double bad[] = {1, NAN};
	double d, lo, hi, p;
	struct kg_err err;

	(void)state;
	assert_int_equal(meta_interaction(none, &d, &lo, &hi, &p, NULL), 0);
	assert_true(d == 0 && lo == 0 && hi == 0 && p == 1);
	assert_int_equal(meta_interaction(some, &d, &lo, &hi, &p, NULL), 0);
	assert_true(d == 1 && lo == 1 && hi == 1 && p == 0);
	assert_int_equal(meta_interaction(few, &d, &lo, &hi, &p, &err), KG_EINVALID);
	few[1] = (struct meta_side){bad, 2};
	assert_int_equal(meta_interaction(few, &d, &lo, &hi, &p, &err), KG_EINVALID);
}

static void test_interaction_covers_what_is_there(void **state)
{
	struct stats_rng r = {7};
	size_t held = 0, n = 4000;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		double values[4][6], d, lo, hi, p;
		struct meta_side cells[4];

		for (size_t c = 0; c < 4; c++) {
			for (size_t k = 0; k < 6; k++)
				values[c][k] = 0.01 * (double)(c + 1) * stats_rng_normal(&r) +
					       (c == 3 ? 0.05 : 0);
			cells[c] = (struct meta_side){values[c], 6};
		}
		assert_int_equal(meta_interaction(cells, &d, &lo, &hi, &p, NULL), 0);
		held += lo <= 0.05 && 0.05 <= hi;
		assert_true((p < 0.05) == (lo > 0 || hi < 0));
	}
	assert_in_range(held, (size_t)(0.935 * 4000), (size_t)(0.965 * 4000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary_of_the_bcg_trials_is_the_published_one),
		cmocka_unit_test(test_one_machine_has_an_effect_and_no_interval),
		cmocka_unit_test(test_two_machines_have_the_interval_of_one_degree_of_freedom),
		cmocka_unit_test(test_three_machines_by_hand),
		cmocka_unit_test(test_what_is_no_effect_is_refused),
		cmocka_unit_test(test_a_machine_without_noise_leaves_all_numbers_finite),
		cmocka_unit_test(test_intervals_hold_the_truth_for_few_and_unlike_machines),
		cmocka_unit_test(test_groups_that_differ_are_told_and_alike_ones_are_not),
		cmocka_unit_test(test_a_group_of_one_machine_cannot_be_compared),
		cmocka_unit_test(test_interaction_of_two_cells_is_welchs_test),
		cmocka_unit_test(test_interaction_without_variance_is_the_difference),
		cmocka_unit_test(test_interaction_covers_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
