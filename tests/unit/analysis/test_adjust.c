/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/analysis/numbers.h"

#include <errno.h>

#include "coordinator/analysis/adjust.h"

#define N 40

static void draw_p(double *p, size_t n, uint64_t seed)
{
	struct stats_rng rng = {.state = seed};

	for (size_t i = 0; i < n; i++) {
		p[i] = stats_rng_uniform(&rng);
		if (i % 3 == 0)
			p[i] /= 1000;
		if (i % 7 == 0 && i)
			p[i] = p[i - 1];
	}
}

static void test_each_follows_its_definition(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 20; seed++) {
		double p[N], sorted[N], q[6][N];

		draw_p(p, N, seed);
		for (int m = 0; m <= STATS_ADJUST_BONFERRONI; m++)
			assert_int_equal(stats_adjust((enum stats_adjust)m, p, N, q[m]), 0);
		memcpy(sorted, p, sizeof(sorted));
		qsort(sorted, N, sizeof(*sorted), order);
		for (size_t i = 0; i < N; i++) {
			double bh = 1, by = 1, hochberg = 1, holm = 0, harmonic = 0;

			for (size_t k = 0; k < N; k++)
				harmonic += 1 / (double)(k + 1);
			for (size_t k = 0; k < N; k++) {
				double rank = (double)(k + 1);

				if (sorted[k] <= p[i])
					holm = fmax(holm, fmin(1, (N - (double)k) * sorted[k]));
				if (sorted[k] < p[i])
					continue;
				bh = fmin(bh, N / rank * sorted[k]);
				by = fmin(by, harmonic * N / rank * sorted[k]);
				hochberg = fmin(hochberg, (N - (double)k) * sorted[k]);
			}
			near(q[STATS_ADJUST_NONE][i], p[i], 0);
			near(q[STATS_ADJUST_BH][i], bh, 1e-14);
			near(q[STATS_ADJUST_BY][i], by, 1e-13);
			near(q[STATS_ADJUST_HOLM][i], holm, 1e-14);
			near(q[STATS_ADJUST_HOCHBERG][i], hochberg, 1e-14);
			near(q[STATS_ADJUST_BONFERRONI][i], fmin(1, N * p[i]), 1e-14);
		}
	}
}

static void test_order_does_not_matter_and_the_result_may_be_the_input(void **state)
{
	double p[N], q[N], mixed[N];

	(void)state;
	draw_p(p, N, 3);
	for (int m = 0; m <= STATS_ADJUST_BONFERRONI; m++) {
		assert_int_equal(stats_adjust((enum stats_adjust)m, p, N, q), 0);
		for (size_t i = 0; i < N; i++)
			mixed[i] = p[N - 1 - i];
		assert_int_equal(stats_adjust((enum stats_adjust)m, mixed, N, mixed), 0);
		for (size_t i = 0; i < N; i++) {
			assert_true(mixed[i] == q[N - 1 - i]);
			assert_true(q[i] >= p[i] && q[i] <= 1);
		}
	}
}

static void test_ends_and_what_is_no_probability(void **state)
{
	const double bad[] = {-1e-9, 1.0000001, NAN, INFINITY};
	double p[3] = {0, 1, 0.5}, q[3];

	(void)state;
	assert_int_equal(stats_adjust(STATS_ADJUST_BH, p, 0, q), 0);
	for (int m = 0; m <= STATS_ADJUST_BONFERRONI; m++) {
		assert_int_equal(stats_adjust((enum stats_adjust)m, p, 1, q), 0);
		assert_true(q[0] == 0);
		assert_int_equal(stats_adjust((enum stats_adjust)m, p, 3, q), 0);
		assert_true(q[0] == 0 && q[1] == 1);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		p[1] = bad[i];
		assert_int_equal(stats_adjust(STATS_ADJUST_HOLM, p, 3, q), -EINVAL);
	}
}

static void test_names_read_back(void **state)
{
	(void)state;
	for (int m = 0; m <= STATS_ADJUST_BONFERRONI; m++)
		assert_int_equal(stats_adjust_parse(stats_adjust_name((enum stats_adjust)m)), m);
	assert_int_equal(stats_adjust_parse("fdr"), -1);
	assert_int_equal(stats_adjust_parse(""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_follows_its_definition),
		cmocka_unit_test(test_order_does_not_matter_and_the_result_may_be_the_input),
		cmocka_unit_test(test_ends_and_what_is_no_probability),
		cmocka_unit_test(test_names_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
