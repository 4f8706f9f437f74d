/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/analysis/numbers.h"

#include "coordinator/analysis/modes.h"

static struct modes_result find(const double *x, size_t n)
{
	struct modes_result r;
	struct kg_err err = {{0}};

	if (modes_find(x, n, 1, &r, &err) < 0)
		fail_msg("%s", err.text);
	assert_in_range(r.modes, 1, 4);
	for (unsigned i = 1; i < r.modes; i++)
		assert_true(r.centers[i - 1] < r.centers[i]);
	return r;
}

/* `clusters` of them, 10 apart, sd 1. */
static double *mixture(size_t n, size_t clusters, uint64_t seed)
{
	double *x = draw(n, 100, 1, 0, seed);

	for (size_t i = 0; i < n; i++)
		x[i] += 10 * (double)(i % clusters);
	return x;
}

static void test_separate_clusters_are_counted_and_placed(void **state)
{
	(void)state;
	for (size_t clusters = 2; clusters <= 3; clusters++) {
		for (uint64_t seed = 1; seed < 4; seed++) {
			double *x = mixture(120, clusters, seed);
			struct modes_result r = find(x, 120);

			assert_int_equal(r.modes, clusters);
			assert_true(r.p <= 0.05);
			for (unsigned i = 0; i < r.modes; i++)
				near_by(r.centers[i], 100 + 10 * i, 0, 1.5);
			free(x);
		}
	}
}

static void test_one_cluster_is_hardly_ever_two(void **state)
{
	unsigned wrong = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		double *x = draw(50, 100, 5, 0, seed);

		wrong += find(x, 50).modes > 1;
		free(x);
	}
	assert_true(wrong <= 2);
}

static void test_scale_offset_and_order_do_not_matter(void **state)
{
	double *x = mixture(40, 2, 1), y[40];
	struct modes_result a = find(x, 40), b;

	(void)state;
	for (size_t i = 0; i < 40; i++)
		y[i] = x[i] * 0x1p500;
	shuffle(y, 40, 1);
	b = find(y, 40);
	assert_int_equal(a.modes, b.modes);
	assert_true(a.p == b.p);
	for (unsigned i = 0; i < a.modes; i++)
		near(b.centers[i] / 0x1p500, a.centers[i], 1e-9);
	free(x);
}

static void test_few_or_equal_values_have_one_mode(void **state)
{
	const double x[] = {1, 1, 1, 9, 9, 9, 9, 9, 9}, same[12] = {0};
	struct modes_result r = find(x, 9);

	(void)state;
	assert_true(r.modes == 1 && r.p == 1 && r.centers[0] == 9);
	r = find(same, 12);
	assert_true(r.modes == 1 && r.p == 1 && r.centers[0] == 0);
	r = find(x, 1);
	assert_true(r.modes == 1 && r.centers[0] == 1);
	r = find(x, 4);
	assert_true(r.modes == 1 && r.centers[0] == 1);
}

static void test_many_values_are_thinned_out(void **state)
{
	double *x = mixture(20000, 2, 1);

	(void)state;
	assert_int_equal(find(x, 20000).modes, 2);
	free(x);
}

static void test_refusals(void **state)
{
	const double x[] = {1, NAN}, far[] = {-1e308, 1e308};
	struct modes_result r;
	struct kg_err err;

	(void)state;
	assert_int_equal(modes_find(x, 2, 1, &r, &err), KG_EINVALID);
	assert_contains(err.text, "'x[1]' is nan");
	assert_int_equal(modes_find(x, 0, 1, &r, &err), KG_EINVALID);
	assert_int_equal(modes_find(far, 2, 1, &r, &err), KG_EINVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_separate_clusters_are_counted_and_placed),
		cmocka_unit_test(test_one_cluster_is_hardly_ever_two),
		cmocka_unit_test(test_scale_offset_and_order_do_not_matter),
		cmocka_unit_test(test_few_or_equal_values_have_one_mode),
		cmocka_unit_test(test_many_values_are_thinned_out),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
