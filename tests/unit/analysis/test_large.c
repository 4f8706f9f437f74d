/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes at which anything that is not O(n log n) would not end. */
#include "tests/unit/analysis/numbers.h"

#include "coordinator/analysis/ordering.h"
#include "coordinator/analysis/rank.h"
#include "coordinator/analysis/summary.h"

#ifdef KGRID_SANITIZED /* ten times as slow; what it looks for shows with fewer values */
#define MILLION 100000
#else
#define MILLION 1000000
#endif

/* How many of all x - y are below v, and at most v; both sides in order. */
static void count(const double *x, size_t nx, const double *y, size_t ny, double v,
		  uint64_t *ret_below, uint64_t *ret_at_most)
{
	size_t first = ny, last = ny; /* y[first..) give less than v */

	*ret_below = *ret_at_most = 0;
	for (size_t i = nx; i > 0; i--) {
		double a = x[i - 1];

		while (first > 0 && a - y[first - 1] < v)
			first--;
		while (last > 0 && a - y[last - 1] <= v)
			last--;
		*ret_below += ny - first;
		*ret_at_most += ny - last;
	}
}

static void check_shift(size_t n, double grain)
{
	double *x = draw(n, 10, 1, grain, 1), *y = draw(n, 10.01, 1, grain, 2);
	uint64_t all = (uint64_t)n * n, below, at_most;
	struct stats_shift s;
	struct stats_mwu m;

	assert_int_equal(stats_mwu(x, n, y, n, &m, NULL), 0);
	assert_int_equal(m.method, STATS_METHOD_NORMAL);
	assert_int_equal(stats_shift(x, n, y, n, 0.95, &s, NULL), 0);
	stats_sort(x, n);
	stats_sort(y, n);
	count(x, n, y, n, 0, &below, &at_most);
	near(m.u, (double)(all - at_most) + (double)(at_most - below) / 2, 1e-15);
	count(x, n, y, n, s.shift, &below, &at_most);
	assert_true(below <= all / 2 && all / 2 <= at_most);
	count(x, n, y, n, s.lo, &below, &at_most);
	assert_true(at_most > all / 2 - all / 50 && below < all / 2);
	count(x, n, y, n, s.hi, &below, &at_most);
	assert_true(below < all / 2 + all / 50 && at_most > all / 2);
	assert_true(s.lo <= s.shift && s.shift <= s.hi && s.has_interval);
	free(x);
	free(y);
}

static void test_a_million_values_a_side(void **state)
{
	(void)state;
	check_shift(MILLION, 0);
}

static void test_a_million_values_a_side_with_ties(void **state)
{
	(void)state;
	check_shift(MILLION, 0.1);
}

static void test_ten_million_values(void **state)
{
	enum { N = 10 * MILLION };
	double *x = draw(N, 1e9, 1, 0, 3);
	struct stats_summary s;

	(void)state;
	assert_int_equal(stats_summarise(x, N, &s, NULL), 0);
	near_by(s.mean - 1e9, 0, 0, 0.002);
	near_by(s.sd, 1, 0, 0.002);
	near_by(s.q75 - 1e9, 0.6745, 0, 0.002);
	near_by(s.mad, 0.6745, 0, 0.002);
	free(x);
	check_shift(N / 2, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_million_values_a_side),
		cmocka_unit_test(test_a_million_values_a_side_with_ties),
		cmocka_unit_test(test_ten_million_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
