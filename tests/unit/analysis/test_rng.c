/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/analysis/numbers.h"

#include "coordinator/analysis/summary.h"

static void test_the_sequence_is_that_of_the_reference(void **state)
{
	struct stats_rng a = {.state = 42}, b = {.state = 0};

	(void)state;
	assert_true(stats_rng_next(&a) == UINT64_C(0xbdd732262feb6e95));
	assert_true(stats_rng_next(&a) == UINT64_C(0x28efe333b266f103));
	assert_true(stats_rng_next(&b) == UINT64_C(0xe220a8397b1dcdaf));
}

static void test_indexes_stay_in_range_and_reach_every_place(void **state)
{
	struct stats_rng rng = {.state = 7};
	unsigned seen[13] = {0};

	(void)state;
	for (int i = 0; i < 13000; i++) {
		uint32_t k = stats_rng_index(&rng, 13);

		assert_true(k < 13);
		seen[k]++;
	}
	for (int k = 0; k < 13; k++)
		assert_in_range(seen[k], 850, 1150);
	assert_int_equal(stats_rng_index(&rng, 1), 0);
	assert_true(stats_rng_index(&rng, UINT32_MAX) < UINT32_MAX);
}

static void test_uniform_and_normal_have_their_moments(void **state)
{
	enum { N = 100000 };
	struct stats_rng rng = {.state = 11};
	double *u = calloc(N, sizeof(*u)), *z = draw(N, 0, 1, 0, 12);
	struct stats_summary s;

	(void)state;
	assert_non_null(u);
	for (int i = 0; i < N; i++) {
		u[i] = stats_rng_uniform(&rng);
		assert_true(u[i] >= 0 && u[i] < 1);
	}
	assert_int_equal(stats_summarise(u, N, &s, NULL), 0);
	near_by(s.mean, 0.5, 0, 0.005);
	near_by(s.sd, sqrt(1 / 12.), 0, 0.005);
	assert_int_equal(stats_summarise(z, N, &s, NULL), 0);
	near_by(s.mean, 0, 0, 0.015);
	near_by(s.sd, 1, 0, 0.015);
	near_by(s.q75, 0.6745, 0, 0.015);
	free(u);
	free(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_sequence_is_that_of_the_reference),
		cmocka_unit_test(test_indexes_stay_in_range_and_reach_every_place),
		cmocka_unit_test(test_uniform_and_normal_have_their_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
