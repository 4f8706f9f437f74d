/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rank tests and shifts, against counting everything. */
#include "tests/unit/analysis/numbers.h"

#include <string.h>

#include "coordinator/analysis/ordering.h"
#include "coordinator/analysis/rank.h"
#include "coordinator/analysis/rank_exact.h"

static struct stats_mwu mwu(const double *x, size_t nx, const double *y, size_t ny)
{
	struct stats_mwu m;
	struct kg_err err = {{0}};

	if (stats_mwu(x, nx, y, ny, &m, &err) < 0)
		fail_msg("%s", err.text);
	return m;
}

static double pairs_above(const double *x, size_t nx, const double *y, size_t ny)
{
	double u = 0;

	for (size_t i = 0; i < nx; i++) {
		for (size_t j = 0; j < ny; j++)
			u += x[i] > y[j] ? 1 : x[i] == y[j] ? 0.5 : 0;
	}
	return u;
}

/* Each way to give n of the N pooled values to x, by the bits of a number. */
static void brute_tails(const double *pool, size_t n, size_t all, double u, double *ret_less,
			double *ret_greater)
{
	double less = 0, greater = 0, total = 0;

	for (unsigned bits = 0; bits < 1U << all; bits++) {
		double x[16], y[16], v;
		size_t nx = 0, ny = 0;

		if ((size_t)__builtin_popcount(bits) != n)
			continue;
		for (size_t i = 0; i < all; i++) {
			if (bits >> i & 1)
				x[nx++] = pool[i];
			else
				y[ny++] = pool[i];
		}
		v = pairs_above(x, nx, y, ny);
		less += v <= u;
		greater += v >= u;
		total++;
	}
	*ret_less = less / total;
	*ret_greater = greater / total;
}

static void test_p_is_the_share_of_all_ways_with_and_without_ties(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		size_t nx = 1 + seed % 5, ny = 1 + seed / 5 % 6;
		double *pool = draw(nx + ny, 0, 2, seed % 2 ? 1 : 0, seed + 1), less, greater;
		struct stats_mwu m = mwu(pool, nx, pool + nx, ny);

		near(m.u, pairs_above(pool, nx, pool + nx, ny), 0);
		brute_tails(pool, nx, nx + ny, m.u, &less, &greater);
		near(m.p_less, less, 1e-13);
		near(m.p_greater, greater, 1e-13);
		near(m.p, fmin(1, 2 * fmin(less, greater)), 1e-13);
		assert_int_equal(m.method, m.ties ? STATS_METHOD_PERMUTATION : STATS_METHOD_EXACT);
		free(pool);
	}
}

static void test_the_recurrence_counts_every_order(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 6; n++) {
		for (size_t m = 1; m <= 6; m++) {
			double pool[12], less, greater, lower, upper;

			for (size_t i = 0; i < n + m; i++)
				pool[i] = (double)i;
			for (size_t u = 0; u <= n * m; u += 1 + n * m / 7) {
				brute_tails(pool, n, n + m, (double)u, &less, &greater);
				assert_int_equal(rank_u_tails(n, m, u, &lower, &upper), 0);
				near(lower, less, 1e-13);
				near(upper, greater, 1e-13);
			}
		}
	}
}

static void test_swapping_shuffling_and_monotone_maps_change_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 9; seed++) {
		double *x = draw(9, 0, 1, seed % 2 ? 0.5 : 0, seed),
		       *y = draw(7, 0.5, 1, 0.5, seed + 50);
		struct stats_mwu a = mwu(x, 9, y, 7), b = mwu(y, 7, x, 9), c;

		near(a.u + b.u, 63, 1e-15);
		near(a.p, b.p, 1e-13);
		near(a.p_less, b.p_greater, 1e-13);
		near_by(a.cliffs_delta, -b.cliffs_delta, 1e-14, 1e-15);
		near_by(a.p_normal, b.p_normal, 1e-13, 0);
		shuffle(x, 9, seed);
		for (size_t i = 0; i < 9; i++)
			x[i] = exp(x[i]);
		for (size_t i = 0; i < 7; i++)
			y[i] = exp(y[i]);
		c = mwu(x, 9, y, 7);
		assert_true(a.u == c.u && a.p == c.p);
		free(x);
		free(y);
	}
}

static void test_methods_agree_where_they_meet(void **state)
{
	double *x = draw(100, 0, 1, 0, 5), *y = draw(101, 0.3, 1, 0, 6);
	struct stats_mwu exact = mwu(x, 100, y, 100), normal = mwu(x, 100, y, 101);

	(void)state;
	assert_int_equal(exact.method, STATS_METHOD_EXACT);
	assert_int_equal(normal.method, STATS_METHOD_NORMAL);
	near(exact.p_normal, exact.p, 0.05);
	assert_true(normal.p == normal.p_normal);
	free(x);
	free(y);
	/* one tie more or less: the permutations of 9 + 10 values against the recurrence */
	x = draw(9, 0, 1, 0, 7);
	y = draw(10, 0.8, 1, 0, 8);
	x[0] = x[1] + 1e-9;
	exact = mwu(x, 9, y, 10);
	x[0] = x[1];
	normal = mwu(x, 9, y, 10);
	assert_int_equal(normal.method, STATS_METHOD_PERMUTATION);
	near_by(normal.p, exact.p, 0, 0.02);
	near_by(normal.p_normal, normal.p, 0, 0.02);
	free(x);
	free(y);
	/* beyond the permutations' limit */
	x = draw(12, 0, 1, 1, 7);
	y = draw(12, 0.8, 1, 1, 8);
	assert_int_equal(mwu(x, 12, y, 12).method, STATS_METHOD_NORMAL);
	free(x);
	free(y);
}

static void test_equal_values_give_p_1(void **state)
{
	double x[300];

	(void)state;
	for (size_t i = 0; i < COUNT(x); i++)
		x[i] = 0.1;
	for (size_t n = 1; n <= 150; n = n * 3 + 1) {
		struct stats_mwu m = mwu(x, n, x, n + 1);

		assert_true(m.p == 1 && m.p_normal == 1 && m.cliffs_delta == 0);
	}
}

static void test_smallest_p_is_that_of_separated_sides(void **state)
{
	const double pool[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

	(void)state;
	for (size_t nx = 1; nx < 6; nx++) {
		for (size_t ny = 1; ny < 7; ny++)
			near(mwu(pool, nx, pool + nx, ny).p, stats_mwu_min_p(nx, ny), 1e-13);
	}
	assert_true(stats_mwu_min_p(500, 500) > 0 && stats_mwu_min_p(500, 500) < 1e-290);
	assert_true(stats_mwu_min_p(100000, 100000) == 0);
	assert_true(stats_mwu_min_p(0, 3) == 1);
}

static void test_bad_input_is_refused_with_its_place(void **state)
{
	const double x[] = {1, 2}, bad[] = {1, 2, INFINITY};
	struct stats_mwu m;
	struct stats_shift s;
	struct kg_err err;
	double a, b;

	(void)state;
	assert_int_equal(stats_mwu(x, 2, bad, 3, &m, &err), KG_EINVALID);
	assert_non_null(strstr(err.text, "'y[2]' is infinite"));
	assert_int_equal(stats_mwu(x, 0, x, 2, &m, &err), KG_EINVALID);
	assert_non_null(strstr(err.text, "'x' is empty"));
	assert_int_equal(stats_shift(bad, 3, x, 2, 0.95, &s, &err), KG_EINVALID);
	assert_int_equal(stats_shift(x, 2, x, 2, 1, &s, &err), KG_EINVALID);
	assert_int_equal(stats_shift(x, 2, x, 2, NAN, &s, &err), KG_EINVALID);
	assert_int_equal(stats_center(bad, 3, &a, &err), KG_EINVALID);
	assert_int_equal(stats_ks(x, 2, bad, 3, &a, &b, &err), KG_EINVALID);
	assert_int_equal(stats_shift((double[]){1.7e308}, 1, (double[]){-1.7e308}, 1, 0.95, &s,
				     &err),
			 KG_EINVALID);
}

/* All differences, in order. Owned (free). */
static double *differences(const double *x, size_t nx, const double *y, size_t ny)
{
	double *d = calloc(nx * ny, sizeof(*d));

	assert_non_null(d);
	for (size_t i = 0; i < nx; i++) {
		for (size_t j = 0; j < ny; j++)
			d[i * ny + j] = x[i] - y[j];
	}
	qsort(d, nx * ny, sizeof(*d), order);
	return d;
}

static void test_shift_is_the_median_of_all_differences(void **state)
{
	static const size_t sizes[][2] = {{1, 1}, {1, 2},   {2, 2},	{3, 5},
					  {8, 7}, {40, 40}, {700, 300}, {513, 1001}};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(sizes); i++) {
		size_t nx = sizes[i / 2][0], ny = sizes[i / 2][1], n = nx * ny;
		double *x = draw(nx, 100, 5, i % 2 ? 1 : 0, i + 1);
		double *y = draw(ny, 101, 5, i % 2 ? 1 : 0, i + 90);
		double *d = differences(x, nx, y, ny);
		struct stats_shift s;
		size_t lo = 0, hi = n - 1;

		assert_int_equal(stats_shift(x, nx, y, ny, 0.95, &s, NULL), 0);
		assert_true(s.shift == stats_middle(d[(n - 1) / 2], d[n / 2]));
		while (lo < n - 1 && d[lo] < s.lo)
			lo++;
		while (hi > 0 && d[hi] > s.hi)
			hi--;
		assert_true(d[lo] == s.lo && d[hi] == s.hi); /* order statistics */
		if (!s.has_interval)
			assert_true(s.lo == d[0] && s.hi == d[n - 1]);
		free(x);
		free(y);
		free(d);
	}
}

static void test_shift_moves_with_the_values_and_turns_with_the_sides(void **state)
{
	double *x = draw(25, 64, 3, 0.125, 1), *y = draw(31, 66, 3, 0.125, 2), z[25];
	struct stats_shift a, b, c;

	(void)state;
	assert_int_equal(stats_shift(x, 25, y, 31, 0.9, &a, NULL), 0);
	assert_int_equal(stats_shift(y, 31, x, 25, 0.9, &b, NULL), 0);
	assert_true(a.shift == -b.shift && a.lo == -b.hi && a.hi == -b.lo);
	for (size_t i = 0; i < 25; i++)
		z[i] = x[i] + 8;
	assert_int_equal(stats_shift(z, 25, y, 31, 0.9, &c, NULL), 0);
	assert_true(c.shift == a.shift + 8 && c.lo == a.lo + 8 && c.hi == a.hi + 8);
	free(x);
	free(y);
}

static void test_the_interval_fits_the_test(void **state)
{
	/* 0 is outside of the 95 % interval exactly when p < 0.05 */
	(void)state;
	for (uint64_t seed = 1; seed < 200; seed++) {
		size_t nx = 4 + seed % 9, ny = 4 + seed % 7;
		double *x = draw(nx, 0, 1, 0, seed), *y = draw(ny, 1, 1, 0, seed + 1000);
		struct stats_shift s;
		double p = mwu(x, nx, y, ny).p;

		assert_int_equal(stats_shift(x, nx, y, ny, 0.95, &s, NULL), 0);
		if (s.has_interval)
			assert_int_equal(s.lo > 0 || s.hi < 0, p < 0.05);
		free(x);
		free(y);
	}
}

static void test_an_interval_needs_enough_values(void **state)
{
	const double pool[] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct stats_shift s;

	(void)state;
	assert_int_equal(stats_shift(pool, 3, pool + 3, 3, 0.95, &s, NULL), 0);
	assert_false(s.has_interval);
	assert_true(s.lo == -5 && s.hi == -1);
	assert_int_equal(stats_shift(pool, 4, pool + 4, 4, 0.95, &s, NULL), 0);
	assert_true(s.has_interval);
	assert_int_equal(stats_shift(pool, 4, pool + 4, 4, 0.99, &s, NULL), 0);
	assert_false(s.has_interval);
}

static void test_center_is_the_median_of_the_walsh_averages(void **state)
{
	static const size_t sizes[] = {1, 2, 3, 4, 30, 31, 600};
	double center;

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(sizes); i++) {
		size_t n = sizes[i / 2], k = 0, all = n * (n + 1) / 2;
		double *x = draw(n, 3, 5, i % 2 ? 1 : 0, i + 1), *w = calloc(all, sizeof(*w));

		assert_non_null(w);
		for (size_t a = 0; a < n; a++) {
			for (size_t b = a; b < n; b++)
				w[k++] = x[a] + x[b];
		}
		qsort(w, all, sizeof(*w), order);
		assert_int_equal(stats_center(x, n, &center, NULL), 0);
		assert_true(center == stats_middle(w[(all - 1) / 2], w[all / 2]) / 2);
		free(x);
		free(w);
	}
	assert_int_equal(stats_center((double[]){1.7e308, 1.6e308}, 2, &center, NULL), 0);
	near(center, 1.65e308, 1e-15);
}

static double distance(const double *x, size_t nx, const double *y, size_t ny)
{
	double largest = 0;

	for (size_t i = 0; i < nx + ny; i++) {
		double v = i < nx ? x[i] : y[i - nx], fx = 0, fy = 0;

		for (size_t k = 0; k < nx; k++)
			fx += x[k] <= v;
		for (size_t k = 0; k < ny; k++)
			fy += y[k] <= v;
		largest = fmax(largest, fabs(fx / (double)nx - fy / (double)ny));
	}
	return largest;
}

static void test_ks_counts_the_ways_that_are_as_far_apart(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		size_t nx = 1 + seed % 5, ny = 1 + seed / 5 % 6;
		double *pool = draw(nx + ny, 0, 2, seed % 2 ? 1 : 0, seed + 1);
		double d, p, far = 0, total = 0;

		assert_int_equal(stats_ks(pool, nx, pool + nx, ny, &d, &p, NULL), 0);
		near_by(d, distance(pool, nx, pool + nx, ny), 1e-14, 1e-15);
		for (unsigned bits = 0; bits < 1U << (nx + ny); bits++) {
			double x[16], y[16];
			size_t a = 0, b = 0;

			if ((size_t)__builtin_popcount(bits) != nx)
				continue;
			for (size_t i = 0; i < nx + ny; i++) {
				if (bits >> i & 1)
					x[a++] = pool[i];
				else
					y[b++] = pool[i];
			}
			far += distance(x, nx, y, ny) > d - 1e-9;
			total++;
		}
		near(p, far / total, 1e-12);
		free(pool);
	}
}

static void test_ks_exact_and_asymptotic_agree(void **state)
{
	double *x = draw(3162, 0, 1, 0, 1), *y = draw(3164, 0.05, 1, 0, 2), d, p, d2, p2;

	(void)state;
	assert_int_equal(stats_ks(x, 3162, y, 3162, &d, &p, NULL), 0);
	assert_int_equal(stats_ks(x, 3162, y, 3164, &d2, &p2, NULL), 0);
	near(d2, d, 0.05);
	near_by(p2, p, 0.1, 0.02);
	free(x);
	free(y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_p_is_the_share_of_all_ways_with_and_without_ties),
		cmocka_unit_test(test_the_recurrence_counts_every_order),
		cmocka_unit_test(test_swapping_shuffling_and_monotone_maps_change_nothing),
		cmocka_unit_test(test_methods_agree_where_they_meet),
		cmocka_unit_test(test_equal_values_give_p_1),
		cmocka_unit_test(test_smallest_p_is_that_of_separated_sides),
		cmocka_unit_test(test_bad_input_is_refused_with_its_place),
		cmocka_unit_test(test_shift_is_the_median_of_all_differences),
		cmocka_unit_test(test_shift_moves_with_the_values_and_turns_with_the_sides),
		cmocka_unit_test(test_the_interval_fits_the_test),
		cmocka_unit_test(test_an_interval_needs_enough_values),
		cmocka_unit_test(test_center_is_the_median_of_the_walsh_averages),
		cmocka_unit_test(test_ks_counts_the_ways_that_are_as_far_apart),
		cmocka_unit_test(test_ks_exact_and_asymptotic_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
