/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/analysis/numbers.h"

#include "coordinator/analysis/bootstrap.h"

#define B 2000

static struct bootstrap_interval bca(const double *x, size_t n, bootstrap_statistic f,
				     uint64_t seed, double level)
{
	struct bootstrap_interval r;
	struct kg_err err = {{0}};

	if (bootstrap_bca(x, n, f, B, seed, level, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static double largest(double *x, size_t n)
{
	double max = x[0];

	for (size_t i = 1; i < n; i++)
		max = fmax(max, x[i]);
	return max;
}

static void test_the_same_seed_gives_the_same_interval(void **state)
{
	double *x = draw(20, 10, 1, 0, 1);
	struct bootstrap_interval a = bca(x, 20, bootstrap_mean, 5, 0.95);
	struct bootstrap_interval b = bca(x, 20, bootstrap_mean, 5, 0.95);
	struct bootstrap_interval c = bca(x, 20, bootstrap_mean, 6, 0.95);

	(void)state;
	assert_true(a.lo == b.lo && a.hi == b.hi && a.z0 == b.z0 && a.accel == b.accel);
	assert_true(a.lo != c.lo);
	near_by(a.lo, c.lo, 0, 0.2);
	assert_true(a.lo < a.theta && a.theta < a.hi);
	free(x);
}

static void test_scale_and_offset_carry_over(void **state)
{
	static const double scales[] = {1e-150, 1e150, 1e300};
	double *x = draw(15, 10, 1, 0, 2), y[15];
	bootstrap_statistic f[] = {bootstrap_mean, bootstrap_median};

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct bootstrap_interval a = bca(x, 15, f[k], 1, 0.9), b;

		for (size_t i = 0; i < COUNT(scales); i++) {
			for (size_t j = 0; j < 15; j++)
				y[j] = x[j] * scales[i];
			b = bca(y, 15, f[k], 1, 0.9);
			near(b.lo / scales[i], a.lo, 1e-3); /* ties may round the other way */
			near(b.hi / scales[i], a.hi, 1e-3);
			near_by(b.accel, a.accel, 1e-9, 1e-9);
		}
	}
	free(x);
}

static void test_a_wider_level_is_wider(void **state)
{
	double *x = draw(12, 10, 1, 0, 3);
	struct bootstrap_interval a = bca(x, 12, bootstrap_mean, 1, 0.8);
	struct bootstrap_interval b = bca(x, 12, bootstrap_mean, 1, 0.99);

	(void)state;
	assert_true(b.lo < a.lo && a.hi < b.hi);
	free(x);
}

static void test_short_ways_of_the_jackknife_agree_with_the_long_one(void **state)
{
	size_t n = BOOTSTRAP_JACKKNIFE_EACH_MAX;
	double *x = draw(n + 2, 100, 30, 0, 4), last;
	bootstrap_statistic f[] = {bootstrap_mean, bootstrap_median};

	(void)state;
	x[n] = x[0];
	x[n + 1] = x[1];
	last = x[n - 1];
	for (size_t k = 0; k < 2; k++) {
		struct bootstrap_interval a, b;

		assert_int_equal(bootstrap_bca(x, n, f[k], 50, 1, 0.95, &a, NULL), 0);
		assert_int_equal(bootstrap_bca(x, n + 2, f[k], 50, 1, 0.95, &b, NULL), 0);
		near_by(a.accel, b.accel, 0.05, 1e-3);
		near_by(a.theta, b.theta, 0.01, 0);
	}
	assert_true(x[n - 1] == last); /* the values are left alone */
	free(x);
}

static void test_equal_values_and_one_sided_statistics_have_an_answer(void **state)
{
	const double same[] = {0.1, 0.1, 0.1, 0.1, 0.1};
	const double x[] = {1, 2, 3, 4, 5, 6, 7};
	struct bootstrap_interval r = bca(same, 5, bootstrap_median, 1, 0.95);

	(void)state;
	assert_true(r.lo == 0.1 && r.hi == 0.1 && r.z0 == 0 && r.accel == 0);
	r = bca(x, 7, largest, 1, 0.95); /* no resample is above it */
	assert_true(isfinite(r.lo) && r.lo >= 1 && r.lo <= r.hi && r.hi <= 7);
	r = bca(x, 2, bootstrap_mean, 1, 0.95);
	assert_true(r.lo == 1 && r.hi == 2);
}

static void test_refusals(void **state)
{
	const double x[] = {1, 2, NAN};
	struct bootstrap_interval r;
	struct kg_err err;

	(void)state;
	assert_int_equal(bootstrap_bca(x, 3, bootstrap_mean, B, 1, 0.95, &r, &err), KG_EINVALID);
	assert_contains(err.text, "'x[2]' is nan");
	assert_int_equal(bootstrap_bca(x, 1, bootstrap_mean, B, 1, 0.95, &r, &err), KG_EINVALID);
	assert_int_equal(bootstrap_bca(x, 0, bootstrap_mean, B, 1, 0.95, &r, &err), KG_EINVALID);
	assert_int_equal(bootstrap_bca(x, 2, bootstrap_mean, 0, 1, 0.95, &r, &err), KG_EINVALID);
	assert_int_equal(bootstrap_bca(x, 2, bootstrap_mean, B, 1, 1, &r, &err), KG_EINVALID);
	assert_int_equal(bootstrap_bca(x, 2, bootstrap_mean, B, 1, NAN, &r, &err), KG_EINVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_seed_gives_the_same_interval),
		cmocka_unit_test(test_scale_and_offset_carry_over),
		cmocka_unit_test(test_a_wider_level_is_wider),
		cmocka_unit_test(test_short_ways_of_the_jackknife_agree_with_the_long_one),
		cmocka_unit_test(test_equal_values_and_one_sided_statistics_have_an_answer),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
