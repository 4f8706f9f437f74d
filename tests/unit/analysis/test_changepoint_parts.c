/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PELT against all divisions, window tests against enumeration, E-divisive against its definition. */
#include "tests/lib/cmocka_all.h"

#include <math.h>

#include "coordinator/analysis/changepoint.h"
#include "coordinator/analysis/edivisive.h"
#include "coordinator/analysis/pelt.h"
#include "coordinator/analysis/rank.h"
#include "coordinator/analysis/rng.h"
#include "coordinator/analysis/ttest.h"
#include "coordinator/analysis/window_test.h"

static double cost_of(const double *x, size_t start, size_t end)
{
	double mean = 0;
	double cost = 0;

	for (size_t i = start; i < end; i++)
		mean += x[i] / (double)(end - start);
	for (size_t i = start; i < end; i++)
		cost += (x[i] - mean) * (x[i] - mean);
	return cost;
}

/* Cost of the cuts whose bits are set: bit i is a piece that begins at i + 1; INFINITY when one is
 * too short. */
static double cost_of_mask(const double *x, size_t n, unsigned mask, double penalty, size_t min)
{
	double cost = 0;
	size_t start = 0;

	for (size_t i = 1; i <= n; i++) {
		if (i < n && !(mask >> (i - 1) & 1))
			continue;
		if (i - start < min)
			return INFINITY;
		cost += cost_of(x, start, i) + (i < n ? penalty : 0);
		start = i;
	}
	return cost;
}

static void test_pelt_gives_the_best_of_all_divisions(void **state)
{
	struct stats_rng r = {.state = 1};

	(void)state;
	for (int round = 0; round < 60; round++) {
		size_t n = 1 + stats_rng_index(&r, 12);
		size_t min = 1 + stats_rng_index(&r, 4);
		double penalty = 4 * stats_rng_uniform(&r);
		double x[12], best = INFINITY, got;
		size_t *cuts = NULL;
		size_t n_cuts;
		unsigned mask = 0;

		for (size_t i = 0; i < n; i++)
			x[i] = stats_rng_normal(&r) + (stats_rng_uniform(&r) < 0.3 ? 3 : 0);
		for (unsigned m = 0; m < 1u << (n - 1); m++)
			best = fmin(best, cost_of_mask(x, n, m, penalty, min));
		assert_int_equal(pelt_find(x, n, penalty, min, &cuts, &n_cuts), 0);
		for (size_t i = 0; i < n_cuts; i++)
			mask |= 1u << (cuts[i] - 1);
		got = cost_of_mask(x, n, mask, penalty, n < min ? 1 : min);
		if (n < min)
			assert_int_equal(n_cuts, 0);
		else
			assert_true(fabs(got - best) < 1e-9);
		free(cuts);
	}
}

static void test_window_test_agrees_with_the_rank_test(void **state)
{
	struct stats_rng r = {.state = 2};

	(void)state;
	for (int round = 0; round < 300; round++) {
		double l[WINDOW_MAX], rr[WINDOW_MAX];
		bool ties = round % 2;
		struct window_sides w = {.left = l, .right = rr};
		struct window_result got;
		struct stats_mwu want;
		struct kg_err err;

		w.n_left = 1 + stats_rng_index(&r, ties ? 6 : WINDOW_MAX);
		w.n_right = 1 + stats_rng_index(&r, ties ? 6 : WINDOW_MAX);
		for (size_t i = 0; i < WINDOW_MAX; i++) {
			l[i] = stats_rng_normal(&r);
			rr[i] = stats_rng_normal(&r) + 1;
			if (ties) {
				l[i] = floor(2 * l[i]);
				rr[i] = floor(2 * rr[i]);
			}
		}
		window_test(&w, 1, &got);
		assert_int_equal(stats_mwu(l, w.n_left, rr, w.n_right, &want, &err), 0);
		if (fabs(got.rank_p - want.p) > 1e-9 * want.p && want.method != STATS_METHOD_NORMAL)
			fail_msg("%zu %zu: p %g, expected %g", w.n_left, w.n_right, got.rank_p,
				 want.p);
	}
}

static void test_short_sides_are_compared_as_welch_does(void **state)
{
	static const double l[] = {1, 2, 3, 4, 5.5, 6};
	static const double rr[] = {4, 6, 7.5, 9};
	struct window_sides w = {.left = l, .right = rr, .n_left = 6, .n_right = 4};
	struct window_result got;
	struct stats_ttest want;
	struct kg_err err;

	(void)state;
	window_test(&w, 0.001, &got);
	assert_int_equal(stats_welch(l, 6, rr, 4, &want, &err), 0);
	assert_true(fabs(got.mean_p / want.p - 1) < 1e-9);
	w.pooled = true;
	window_test(&w, 0.001, &got);
	assert_int_equal(stats_student(l, 6, rr, 4, &want, &err), 0);
	assert_true(fabs(got.mean_p / want.p - 1) < 1e-9);
	assert_true(got.median_left == 3.5 && got.median_right == 6.75);
}

/* By the definition, for one division. */
static double qhat(const double *x, size_t tau, size_t kappa)
{
	double n = (double)tau;
	double m = (double)(kappa - tau);
	double a = 0, b = 0, c = 0;

	for (size_t i = 0; i < kappa; i++)
		for (size_t k = i + 1; k < kappa; k++)
			*(k < tau ? &b : i < tau ? &a : &c) += fabs(x[i] - x[k]);
	a *= 2 / (m + n);
	b *= n > 1 ? 2 * m / (m + n) / (n - 1) : 0;
	c *= m > 1 ? 2 * n / (m + n) / (m - 1) : 0;
	return a - b - c;
}

static void test_qhat_is_the_largest_of_all_divisions(void **state)
{
	struct stats_rng r = {.state = 3};

	(void)state;
	for (int round = 0; round < 50; round++) {
		size_t n = 2 + stats_rng_index(&r, 20);
		double x[22], best = -INFINITY, got;
		size_t want = 0, index;
		struct kg_err err;

		for (size_t i = 0; i < n; i++)
			x[i] = stats_rng_normal(&r);
		for (size_t tau = 1; tau < n; tau++)
			for (size_t kappa = tau + 1; kappa <= n; kappa++)
				if (qhat(x, tau, kappa) > best) {
					best = qhat(x, tau, kappa);
					want = tau;
				}
		assert_int_equal(changepoint_qhat(x, n, &index, &got, &err), 0);
		assert_int_equal(index, want);
		assert_true(fabs(got - best) < 1e-9 * fmax(1, fabs(best)));
	}
}

static void test_edivisive_finds_what_otava_documents(void **state)
{
	/* two series of Apache Otava's own tests (Apache-2.0), as data */
	static const double fall[] = {1.02, 0.95, 0.99, 1.0,  1.12, 1.0, 1.01, 0.98, 1.01, 0.96,
				      0.5,  0.51, 0.48, 0.48, 0.55, 0.5, 0.49, 0.51, 0.5,  0.49};
	static const double steps[] = {0.3,  2.4,   1.5,   -0.9,  -0.5,	 99.7,	98.3,
				       99.1, 149.0, 149.7, 149.5, 149.1, 148.8, 150.0};
	struct changepoint_options o;
	struct changepoint *c = NULL;
	struct kg_err err;
	size_t n, index;
	double q;

	(void)state;
	changepoint_options_init(&o);
	o.method = CHANGEPOINT_EDIVISIVE;
	o.window_len = 10;
	o.max_pvalue = 0.0001;
	assert_int_equal(changepoint_find(fall, 20, &o, &c, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_int_equal(c[0].index, 10);
	assert_true(fabs(c[0].before - 1.004) < 1e-9); /* means */
	free(c);
	o.window_len = 50;
	o.max_pvalue = 0.01;
	assert_int_equal(changepoint_find(steps, 14, &o, &c, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_int_equal(c[0].index, 5);
	assert_int_equal(c[1].index, 8);
	free(c);
	assert_int_equal(changepoint_qhat(steps, 14, &index, &q, &err), 0);
	assert_int_equal(index, 5);
	assert_true(fabs(q / 761.2821428571428 - 1) < 1e-12);
	assert_int_equal(changepoint_qhat(steps, 1, &index, &q, &err), 0);
	assert_true(index == 0 && q == 0);
}

static void test_edivisive_leaves_out_changes_below_the_magnitude(void **state)
{
	struct edivisive_options o = {.window_len = 30, .max_pvalue = 0.001, .min_magnitude = 0.05};
	struct edivisive_point *points = NULL;
	struct stats_rng r = {.state = 4};
	double x[100];
	size_t n;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		x[i] = (i < 30 ? 1 : i < 65 ? 1.03 : 1.2) + 0.005 * stats_rng_normal(&r);
	assert_int_equal(edivisive_find(x, 100, &o, &points, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(points[0].index, 65);
	free(points);
	o.min_magnitude = 0;
	assert_int_equal(edivisive_find(x, 100, &o, &points, &n), 0);
	assert_true(n >= 2);
	assert_int_equal(points[0].index, 30);
	free(points);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pelt_gives_the_best_of_all_divisions),
		cmocka_unit_test(test_window_test_agrees_with_the_rank_test),
		cmocka_unit_test(test_short_sides_are_compared_as_welch_does),
		cmocka_unit_test(test_qhat_is_the_largest_of_all_divisions),
		cmocka_unit_test(test_edivisive_finds_what_otava_documents),
		cmocka_unit_test(test_edivisive_leaves_out_changes_below_the_magnitude),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
