/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of a comparison against numbers made by hand (mpmath, 30 digits). */
#include "tests/lib/cmocka_all.h"

#include <errno.h>
#include <math.h>

#include "coordinator/analysis/compare.h"

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-10 * fabs(want)))
		fail_msg("%.17g, not %.17g", got, want);
}

static const double base[] = {100, 102, 98, 101, 99};
static const double next[] = {110, 108, 113, 109};

/* One row; every value is a boot of its own. Returns how many were put. */
static size_t put(struct stats_observation *o, uint32_t column, const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		o[i] = (struct stats_observation){0, column, column * 100 + i, v[i]};
	return n;
}

static void run(enum stats_direction direction, uint32_t baseline, struct stats_cell *ret)
{
	struct stats_observation o[16];
	struct stats_compare_input in = {.n_rows = 1,
					 .n_columns = 2,
					 .baseline = baseline,
					 .direction = direction,
					 .observations = o};

	in.n = put(o, 0, base, 5);
	in.n += put(o + in.n, 1, next, 4);
	assert_int_equal(stats_compare(&in, ret), 0);
}

static void test_mean_interval_and_cov_are_over_boots(void **state)
{
	struct stats_cell c[2];

	(void)state;
	run(STATS_HIGHER, 0, c);
	assert_int_equal(c[1].boots, 4);
	near(c[1].mean, 110);
	assert_true(c[1].has_interval);
	near(c[1].lo, 106.562565118141689586819297471);
	near(c[1].hi, 113.437434881858310413180702529);
	near(c[1].cov_pct, 1.96386081769935158514120225336);
}

static void test_change_has_the_welch_interval_of_the_log_ratio(void **state)
{
	struct stats_cell c[2];

	(void)state;
	run(STATS_HIGHER, 0, c);
	assert_false(c[0].has_delta); /* the baseline itself */
	assert_true(c[1].has_delta_interval);
	near(c[1].delta_pct, 10);
	near(c[1].delta_lo_pct, 6.75818458061355169312668160697);
	near(c[1].delta_hi_pct, 13.3402562766814322486676937179);
}

static void test_fewer_is_better_turns_the_sign(void **state)
{
	struct stats_cell c[2];

	(void)state;
	run(STATS_LOWER, 0, c);
	near(c[1].delta_pct, -10);
	near(c[1].delta_lo_pct, -13.3402562766814322486676937179);
	near(c[1].delta_hi_pct, -6.75818458061355169312668160697);
	run(STATS_LOWER, 1, c); /* the other side as baseline: 100/110 of it is better */
	near(c[0].delta_pct, 100 * (1 - 100.0 / 110));
	assert_true(c[0].delta_lo_pct < c[0].delta_pct && c[0].delta_pct < c[0].delta_hi_pct);
	run(STATS_NONE, 0, c);
	near(c[1].delta_pct, 10);
}

static void test_iterations_of_one_boot_are_one_observation(void **state)
{
	struct stats_observation o[] = {
		{0, 0, 1, 10}, {0, 0, 2, 20}, {0, 0, 1, 12}, {0, 0, 1, 14}, /* boots: 12, 20 */
		{0, 1, 3, 5},  {0, 1, 3, 7},				    /* boot: 6 */
	};
	struct stats_compare_input in = {
		.n_rows = 1, .n_columns = 2, .direction = STATS_HIGHER, .observations = o, .n = 6};
	struct stats_cell c[2];

	(void)state;
	assert_int_equal(stats_compare(&in, c), 0);
	assert_int_equal(c[0].boots, 2);
	near(c[0].mean, 16);
	assert_int_equal(c[1].boots, 1);
	near(c[1].mean, 6);
	near(c[1].delta_pct, -62.5);
	/* One boot: nothing is known of its spread, whatever its iterations did. */
	assert_false(c[1].has_interval);
	assert_false(c[1].has_cov);
	assert_false(c[1].has_delta_interval);
}

static void test_without_a_baseline_there_is_no_change(void **state)
{
	struct stats_observation o[] = {{0, 1, 1, 5}, {0, 1, 2, 6}, {1, 0, 3, 0}, {1, 1, 4, 3}};
	struct stats_compare_input in = {
		.n_rows = 2, .n_columns = 2, .direction = STATS_HIGHER, .observations = o, .n = 4};
	struct stats_cell c[4];

	(void)state;
	assert_int_equal(stats_compare(&in, c), 0);
	assert_int_equal(c[0].boots, 0);
	assert_false(c[1].has_delta);
	assert_true(c[1].has_interval);
	assert_false(c[3].has_delta); /* baseline 0: no ratio */
}

static void test_no_spread_gives_an_interval_of_no_width(void **state)
{
	struct stats_observation o[] = {{0, 0, 1, 5}, {0, 0, 2, 5}, {0, 1, 3, 4}, {0, 1, 4, 4}};
	struct stats_compare_input in = {
		.n_rows = 1, .n_columns = 2, .direction = STATS_HIGHER, .observations = o, .n = 4};
	struct stats_cell c[2];

	(void)state;
	assert_int_equal(stats_compare(&in, c), 0);
	assert_true(c[1].has_delta_interval);
	near(c[1].delta_pct, -20);
	near(c[1].delta_lo_pct, -20);
	near(c[1].delta_hi_pct, -20);
}

static void test_negative_means_have_a_change_but_no_interval(void **state)
{
	struct stats_observation o[] = {{0, 0, 1, -5}, {0, 0, 2, -6}, {0, 1, 3, -4}, {0, 1, 4, -3}};
	struct stats_compare_input in = {
		.n_rows = 1, .n_columns = 2, .direction = STATS_NONE, .observations = o, .n = 4};
	struct stats_cell c[2];

	(void)state;
	assert_int_equal(stats_compare(&in, c), 0);
	assert_true(c[1].has_delta);
	assert_false(c[1].has_delta_interval);
}

static void test_huge_and_offset_values_neither_overflow_nor_vanish(void **state)
{
	static const double huge[] = {1e200, 3e200}, offset[] = {1e9 + 1, 1e9 + 2, 1e9 + 3};
	struct compare_summary s = compare_summarise(huge, 2);

	(void)state;
	near(s.mean, 2e200);
	near(s.sd, sqrt(2) * 1e200);
	s = compare_summarise(offset, 3);
	near(s.mean, 1e9 + 2);
	assert_true(fabs(s.sd - 1) < 1e-6);
}

static void test_bad_input_is_refused(void **state)
{
	struct stats_observation o[] = {{0, 0, 1, NAN}};
	struct stats_compare_input in = {.n_rows = 1, .n_columns = 1, .observations = o, .n = 1};
	struct stats_cell c[1];

	(void)state;
	assert_int_equal(stats_compare(&in, c), -EINVAL);
	o[0].value = 1;
	o[0].row = 1;
	assert_int_equal(stats_compare(&in, c), -EINVAL);
	o[0].row = 0;
	in.baseline = 1;
	assert_int_equal(stats_compare(&in, c), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mean_interval_and_cov_are_over_boots),
		cmocka_unit_test(test_change_has_the_welch_interval_of_the_log_ratio),
		cmocka_unit_test(test_fewer_is_better_turns_the_sign),
		cmocka_unit_test(test_iterations_of_one_boot_are_one_observation),
		cmocka_unit_test(test_without_a_baseline_there_is_no_change),
		cmocka_unit_test(test_no_spread_gives_an_interval_of_no_width),
		cmocka_unit_test(test_negative_means_have_a_change_but_no_interval),
		cmocka_unit_test(test_huge_and_offset_values_neither_overflow_nor_vanish),
		cmocka_unit_test(test_bad_input_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
