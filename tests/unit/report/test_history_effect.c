/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much a level moved, from which points, and how sure that is. */
#include "coordinator/report/history_effect.h"

#include <float.h>
#include <math.h>

#include "coordinator/analysis/rng.h"
#include "tests/lib/cmocka_all.h"

#define MANY 120

static double x[MANY];
static struct stats_rng rng = {1};

/* n points from `first` on around `level`, of relative deviation `noise`. */
static void fill(size_t first, size_t n, double level, double noise)
{
	for (size_t i = first; i < first + n; i++)
		x[i] = level * exp(noise * stats_rng_normal(&rng));
}

static struct history_effect of(size_t n, const struct changepoint *c, size_t n_c, size_t k)
{
	struct history_effect e;
	struct kg_err err = {""};

	assert_int_equal(history_effect(x, n, c, n_c, k, &e, &err), 0);
	return e;
}

static void test_interval_holds_the_true_step_in_95_of_100_series(void **state)
{
	const struct changepoint c = {.index = 20, .end = 20};
	size_t held = 0, runs = 2000;

	(void)state;
	for (size_t i = 0; i < runs; i++) {
		struct history_effect e;

		fill(0, 20, 100, 0.01);
		fill(20, 8, 105, 0.01);
		e = of(28, &c, 1, 0);
		assert_true(e.has_interval && e.lo_pct <= e.pct && e.pct <= e.hi_pct);
		held += e.lo_pct <= 5 && 5 <= e.hi_pct;
	}
	assert_true(held > runs * 93 / 100 && held < runs * 97 / 100);
}

static void test_only_the_neighbouring_levels_count(void **state)
{
	/* 100 | spread | 110 | ramp up to 130 | 121 */
	const struct changepoint c[] = {
		{.index = 10, .end = 10, .kind = CHANGEPOINT_VARIANCE},
		{.index = 20, .end = 20},
		{.index = 30, .end = 35, .kind = CHANGEPOINT_RAMP},
		{.index = 45, .end = 45},
	};

	(void)state;
	fill(0, 20, 100, 0);
	fill(20, 10, 110, 0);
	fill(30, 5, 1000, 0); /* on the ramp: of neither level */
	fill(35, 10, 132, 0);
	fill(45, 10, 66, 0);
	assert_true(fabs(of(55, c, 4, 1).pct - 10) < 1e-9);
	assert_true(fabs(of(55, c, 4, 2).pct - 20) < 1e-9);
	assert_true(fabs(of(55, c, 4, 3).pct + 50) < 1e-9);
	assert_true(of(55, c, 4, 1).has_interval && fabs(of(55, c, 4, 1).lo_pct - 10) < 1e-9);
	assert_false(of(55, c, 4, 0).has_effect); /* a change of the spread moves no level */
}

static void test_the_nearest_points_count(void **state)
{
	const struct changepoint c = {.index = 60, .end = 60};

	(void)state;
	fill(0, 30, 1, 0);
	fill(30, 30, 100, 0);
	fill(60, 30, 110, 0);
	fill(90, 30, 7, 0);
	assert_true(fabs(of(120, &c, 1, 0).lo_pct - 10) < 1e-9);
	assert_true(fabs(of(120, &c, 1, 0).hi_pct - 10) < 1e-9);
}

static void test_too_few_points_have_an_effect_and_no_interval(void **state)
{
	const struct changepoint c = {.index = 3, .end = 3, .kind = CHANGEPOINT_SUSPECT};

	(void)state;
	fill(0, 3, 100, 0);
	fill(3, 1, 90, 0);
	assert_true(of(4, &c, 1, 0).has_effect);
	assert_false(of(4, &c, 1, 0).has_interval);
	assert_true(fabs(of(4, &c, 1, 0).pct + 10) < 1e-9);
}

static void test_values_without_logarithms_and_extreme_ones(void **state)
{
	const struct changepoint c = {.index = 10, .end = 10};
	struct history_effect e;

	(void)state;
	fill(0, 10, -100, 0);
	fill(10, 10, -90, 0);
	e = of(20, &c, 1, 0);
	assert_true(e.has_interval && fabs(e.pct - 10) < 1e-9);
	fill(0, 10, 0, 0);
	assert_false(of(20, &c, 1, 0).has_effect); /* nothing is a percentage of 0 */
	fill(0, 10, DBL_MAX, 0);
	fill(10, 10, DBL_MAX / 2, 0);
	assert_true(fabs(of(20, &c, 1, 0).pct + 50) < 1e-9);
	fill(0, 10, DBL_MIN, 0);
	fill(10, 10, DBL_MIN / 4, 0); /* denormal */
	assert_true(fabs(of(20, &c, 1, 0).pct + 75) < 1e-9);
	fill(0, 10, DBL_MIN, 0);
	fill(10, 10, DBL_MAX, 0);
	e = of(20, &c, 1, 0);
	assert_false(e.has_interval && !isfinite(e.hi_pct));
	fill(0, 10, -DBL_MAX, 0);
	e = of(20, &c, 1, 0);
	assert_true(e.has_effect && fabs(e.pct - 200) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interval_holds_the_true_step_in_95_of_100_series),
		cmocka_unit_test(test_only_the_neighbouring_levels_count),
		cmocka_unit_test(test_the_nearest_points_count),
		cmocka_unit_test(test_too_few_points_have_an_effect_and_no_interval),
		cmocka_unit_test(test_values_without_logarithms_and_extreme_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
