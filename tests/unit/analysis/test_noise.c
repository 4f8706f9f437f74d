/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/noise.h"

#include <math.h>

#include "coordinator/analysis/noise_impl.h"
#include "coordinator/analysis/rng.h"
#include "tests/lib/cmocka_all.h"

#define N(a)	  (sizeof(a) / sizeof((a)[0]))
#define BOOTS_MAX 60

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.12g, not %.12g", got, want);
}

/* One iteration a boot. */
static struct noise_profile profile_of(const double *values, size_t n, uint64_t seed)
{
	struct verdict_boot boots[BOOTS_MAX];
	struct verdict_side s = {boots, n};
	struct verdict_policy policy;
	struct noise_profile p;
	struct kg_err err = {""};

	for (size_t i = 0; i < n; i++)
		boots[i] = (struct verdict_boot){&values[i], 1};
	verdict_policy_init(&policy);
	if (noise_profile(&s, &policy, seed, &p, &err) != 0)
		fail_msg("%s", err.text);
	return p;
}

static void normal_boots(double *values, size_t n, double sd_pct, uint64_t seed)
{
	struct stats_rng r = {seed};

	for (size_t i = 0; i < n; i++)
		values[i] = 1000 * exp(sd_pct / 100 * stats_rng_normal(&r));
}

static void test_deviations_are_of_boots_and_of_their_iterations(void **state)
{
	static const double a[3] = {99, 100, 101}, b[3] = {108, 110, 112}, c[1] = {90};
	struct verdict_boot boots[3] = {{a, 3}, {b, 3}, {c, 1}};
	struct verdict_side s = {boots, 3};
	struct verdict_policy policy;
	struct noise_profile p;

	(void)state;
	verdict_policy_init(&policy);
	assert_int_equal(noise_profile(&s, &policy, 1, &p, NULL), 0);
	assert_int_equal(p.boots, 3);
	near(p.median, 100, 0);
	near(p.between_cov_pct, 10, 1e-9);
	/* 1 % and 100 * 2 / 110 %; the boot with one iteration has none. */
	near(p.within_cov_pct, (1 + 100.0 * 2 / 110) / 2, 1e-9);
	assert_true(p.has_between && p.has_within);
	assert_false(p.has_drift || p.has_autocorrelation || p.raised);
	assert_int_equal(p.splits, 0);
	near(p.min_effect_pct, 1, 0);
}

static void test_drift_is_the_median_slope_with_sens_interval(void **state)
{
	double values[20], flat[20];
	struct noise_profile p;

	(void)state;
	normal_boots(flat, 20, 0.2, 5);
	for (size_t i = 0; i < 20; i++)
		values[i] = flat[i] * pow(1.005, (double)i);
	values[7] *= 3; /* one outlier does not turn it */
	p = profile_of(values, 20, 1);
	assert_true(p.has_drift);
	near(p.drift_pct_per_boot, 100 * log(1.005), 0.05);
	assert_true(p.drift_lo > 0 && p.drift_lo < p.drift_pct_per_boot &&
		    p.drift_pct_per_boot < p.drift_hi);
	p = profile_of(flat, 20, 1);
	assert_true(p.drift_lo < 0 && p.drift_hi > 0);
	p = profile_of(values, 5, 1);
	assert_false(p.has_drift);
	/* By hand: 0, 1, ..., 5 % a boot exactly: all slopes are the same. */
	for (size_t i = 0; i < 6; i++)
		values[i] = exp(0.01 * (double)i);
	p = profile_of(values, 6, 1);
	near(p.drift_pct_per_boot, 1, 1e-9);
	near(p.drift_lo, 1, 1e-9);
	near(p.drift_hi, 1, 1e-9);
}

static void test_drift_intervals_hold_no_drift_at_their_level(void **state)
{
	static const size_t sizes[] = {6, 10, 25, 31, 50};

	(void)state;
	for (size_t k = 0; k < N(sizes); k++) {
		size_t held = 0, n = 1500;

		for (size_t i = 0; i < n; i++) {
			struct noise_profile p;
			double y[50];

			normal_boots(y, sizes[k], 1, 10000 * k + i);
			assert_int_equal(noise_drift(y, sizes[k], &p, NULL), 0);
			held += p.drift_lo <= 0 && 0 <= p.drift_hi;
		}
		if (held < (size_t)(0.93 * (double)n) || held > (size_t)(0.97 * (double)n))
			fail_msg("%zu boots: %zu of %zu", sizes[k], held, n);
	}
}

static void test_autocorrelation_has_the_sign_of_what_follows(void **state)
{
	double values[40];
	struct stats_rng r = {9};
	double last = 0;

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		last = 0.9 * last + 0.01 * stats_rng_normal(&r);
		values[i] = exp(last);
	}
	assert_true(profile_of(values, 40, 1).autocorrelation > 0.5);
	for (size_t i = 0; i < 40; i++)
		values[i] = i % 2 ? 101 : 100;
	near(profile_of(values, 40, 1).autocorrelation, -0.975, 1e-6);
	for (size_t i = 0; i < 40; i++)
		values[i] = 100;
	assert_false(profile_of(values, 40, 1).has_autocorrelation);
}

static void test_a_quiet_machine_keeps_one_percent(void **state)
{
	double values[24];

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct noise_profile p;

		normal_boots(values, 24, 0.3, seed);
		p = profile_of(values, 24, seed);
		assert_true(p.splits > 0);
		near(p.false_positive_rate, 0, 0);
		assert_false(p.raised);
		near(p.min_effect_pct, 1, 0);
		assert_true(p.log_ratio_sd > 0 && p.log_ratio_sd < 0.003);
	}
}

static void test_a_level_that_changes_within_a_a_raises_the_effect(void **state)
{
	double values[24];
	struct noise_profile p;

	(void)state;
	/* Interleaved halves would never show it; blocks of another time do. */
	normal_boots(values, 24, 0.3, 4);
	for (size_t i = 12; i < 24; i++)
		values[i] *= 1.03;
	p = profile_of(values, 24, 1);
	assert_true(p.raised && p.false_positive_rate > 0.02);
	near(p.min_effect_pct, 100 * expm1(3 * p.log_ratio_sd), 1e-9);
	assert_true(p.min_effect_pct > 3 && p.min_effect_pct < 12);
	/* Ten boots are one pair of blocks. */
	for (size_t i = 5; i < 10; i++)
		values[i] *= 1.05;
	p = profile_of(values, 10, 1);
	assert_true(p.raised && p.min_effect_pct > 10);
}

static void test_what_is_detectable_gets_less_with_boots_and_more_with_noise(void **state)
{
	double values[30];
	struct noise_profile quiet, loud;

	(void)state;
	normal_boots(values, 30, 0.5, 2);
	quiet = profile_of(values, 30, 1);
	normal_boots(values, 30, 3, 2);
	loud = profile_of(values, 30, 1);
	for (size_t i = 0; i < 3; i++) {
		assert_true(quiet.detectable_pct[i] >= 1);
		assert_true(loud.detectable_pct[i] > quiet.detectable_pct[i]);
		if (i)
			assert_true(loud.detectable_pct[i] < loud.detectable_pct[i - 1]);
	}
}

/* Power of the whole rule at the change that the profile names: about 0.8. */
static void test_the_detectable_change_is_found_with_its_power(void **state)
{
	static const size_t sides[3] = {5, 8, 12};
	double values[BOOTS_MAX];
	struct verdict_policy policy;
	struct noise_profile p;
	struct stats_rng r = {77};

	(void)state;
	normal_boots(values, BOOTS_MAX, 2, 3);
	p = profile_of(values, BOOTS_MAX, 1);
	verdict_policy_init(&policy);
	policy.brief = true;
	for (size_t k = 0; k < 3; k++) {
		size_t found = 0, n = 600;

		for (size_t i = 0; i < n; i++) {
			double x[12], y[12];
			struct verdict_boot a[12], b[12];
			struct verdict_side sa = {a, sides[k]}, sb = {b, sides[k]};
			struct verdict v;

			for (size_t m = 0; m < sides[k]; m++) {
				x[m] = exp(p.between_cov_pct / 100 * stats_rng_normal(&r));
				y[m] = exp(p.between_cov_pct / 100 * stats_rng_normal(&r)) *
				       (1 + p.detectable_pct[k] / 100);
				a[m] = (struct verdict_boot){&x[m], 1};
				b[m] = (struct verdict_boot){&y[m], 1};
			}
			assert_int_equal(verdict_pair(&sa, &sb, VERDICT_HIGHER, &policy, &v, NULL),
					 0);
			assert_int_equal(verdict_family(&v, &policy, 1), 0);
			found += v.word == VERDICT_IMPROVEMENT;
		}
		if (found < (size_t)(0.7 * (double)n) || found > (size_t)(0.9 * (double)n))
			fail_msg("%zu a side: %zu of %zu", sides[k], found, n);
	}
}

static void test_the_same_seed_gives_the_same_profile(void **state)
{
	double values[30];
	struct noise_profile a, b;

	(void)state;
	normal_boots(values, 30, 2, 8);
	a = profile_of(values, 30, 99);
	b = profile_of(values, 30, 99);
	near(a.log_ratio_sd, b.log_ratio_sd, 0);
	near(a.detectable_pct[1], b.detectable_pct[1], 0);
	near(a.false_positive_rate, b.false_positive_rate, 0);
}

static void test_odd_values_have_finite_profiles(void **state)
{
	static const double rows[][10] = {
		{0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		{7, 7, 7, 7, 7, 7, 7, 7, 7, 7},
		{-1, -2, -1, -2, -1, -2, -1, -2, -1, -2},
		{-1, 0, 1, -1, 0, 1, -1, 0, 1, 0},
		{5e-324, 1e-323, 5e-324, 1e-323, 5e-324, 0, 5e-324, 1e-323, 5e-324, 1e-323},
		{1e308, 1.7e308, 1e308, 1.7e308, 1e308, 1e308, 1e308, 1e308, 1e308, 1e308},
		{-1e308, 1e308, -1e308, 1e308, 5e-324, 1e308, -1e308, 1e308, -1e308, 1e308},
		{5e-324, 1e308, 5e-324, 1e308, 5e-324, 1e308, 5e-324, 1e308, 5e-324, 1e308},
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		for (size_t n = 1; n <= 10; n++) {
			struct noise_profile p = profile_of(rows[i], n, 3);
			double all[] = {
				p.median,	   p.between_cov_pct,	 p.within_cov_pct,
				p.autocorrelation, p.log_ratio_sd,	 p.false_positive_rate,
				p.min_effect_pct,  p.drift_pct_per_boot, p.drift_lo,
				p.drift_hi,	   p.detectable_pct[0],	 p.detectable_pct[2]};

			for (size_t k = 0; k < N(all); k++) {
				if (!isfinite(all[k]))
					fail_msg("row %zu, %zu boots: number %zu is %g", i, n, k,
						 all[k]);
			}
			assert_true(p.min_effect_pct >= 1);
		}
	}
}

static void test_no_boots_and_no_numbers_are_refused(void **state)
{
	double nan = NAN;
	struct verdict_boot boot = {&nan, 1};
	struct verdict_side none = {NULL, 0}, bad = {&boot, 1};
	struct verdict_policy policy;
	struct noise_profile p;
	struct kg_err err;

	(void)state;
	verdict_policy_init(&policy);
	assert_int_equal(noise_profile(&none, &policy, 1, &p, &err), KG_EINVALID);
	assert_contains(err.text, "no boot");
	assert_int_equal(noise_profile(&bad, &policy, 1, &p, &err), KG_EINVALID);
	assert_contains(err.text, "not finite");
	boot.n = 0;
	assert_int_equal(noise_profile(&bad, &policy, 1, &p, &err), KG_EINVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deviations_are_of_boots_and_of_their_iterations),
		cmocka_unit_test(test_drift_is_the_median_slope_with_sens_interval),
		cmocka_unit_test(test_drift_intervals_hold_no_drift_at_their_level),
		cmocka_unit_test(test_autocorrelation_has_the_sign_of_what_follows),
		cmocka_unit_test(test_a_quiet_machine_keeps_one_percent),
		cmocka_unit_test(test_a_level_that_changes_within_a_a_raises_the_effect),
		cmocka_unit_test(test_what_is_detectable_gets_less_with_boots_and_more_with_noise),
		cmocka_unit_test(test_the_detectable_change_is_found_with_its_power),
		cmocka_unit_test(test_the_same_seed_gives_the_same_profile),
		cmocka_unit_test(test_odd_values_have_finite_profiles),
		cmocka_unit_test(test_no_boots_and_no_numbers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
