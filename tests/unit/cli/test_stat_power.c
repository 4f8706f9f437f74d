/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boots a side for an effect. */
#include <math.h>

#include <jansson.h>

#include "cli/stat_power.h"
#include "tests/unit/cli/stat_run.h"

static void test_exact_test_needs_5_boots_at_001_and_4_at_005(void **state)
{
	(void)state;
	assert_int_equal(stat_power_least(0.01), 5);
	assert_int_equal(stat_power_least(0.05), 4);
	assert_int_equal(stat_power_least(0.1), 3);
}

/* The noncentral t (scipy.stats.nct) needs 25.067 values a side; times pi/3 that is 26.25. */
static void test_known_deviation_gives_the_t_test_s_n_times_pi_over_3(void **state)
{
	struct stat_power p = {.effect_pct = 1, .power = 0.8, .alpha = 0.01};
	struct stat_cov cov = {.cov_pct = 1};
	struct stat_power_result r;

	(void)state;
	assert_int_equal(stat_power_of(&cov, &p, &r, NULL), 0);
	assert_int_equal(r.boots, 27);
	assert_true(r.can[0]);
	for (size_t i = 1; i < STAT_POWER_STEPS; i++)
		assert_true(r.smallest_pct[i] < r.smallest_pct[i - 1]);
	/* an effect scales with the deviation */
	cov.cov_pct = 2;
	p.effect_pct = 2;
	assert_int_equal(stat_power_of(&cov, &p, &r, NULL), 0);
	assert_int_equal(r.boots, 27);
}

static void test_no_noise_needs_the_least_that_the_test_can_tell(void **state)
{
	struct stat_power p = {.effect_pct = 1, .power = 0.8, .alpha = 0.01};
	struct stat_cov cov = {.cov_pct = 0};
	struct stat_power_result r;

	(void)state;
	assert_int_equal(stat_power_of(&cov, &p, &r, NULL), 0);
	assert_int_equal(r.boots, 5);
	cov.cov_pct = 1e-300;
	assert_int_equal(stat_power_of(&cov, &p, &r, NULL), 0);
	assert_int_equal(r.boots, 5);
	p.alpha = 0.001; /* 2 / C(12, 6) > 0.001 */
	assert_int_equal(stat_power_of(&cov, &p, &r, NULL), 0);
	assert_int_equal(r.boots, 7);
	assert_false(r.can[0]);
	assert_true(r.can[1]);
}

/* Chi-square with 9 df: 2.7004 and 19.0228 at 0.975 and 0.025. */
static void test_deviation_has_the_interval_of_a_variance(void **state)
{
	double v[10];
	struct verdict_boot boots[10];
	struct stat_cell cell = {.boots = {boots, 10}, .n_values = 10};
	struct stat_group g = {.cells = &cell, .n_cells = 1};
	struct stat_cov cov;

	(void)state;
	for (int i = 0; i < 10; i++) {
		v[i] = i % 2 ? 101 : 99;
		boots[i] = (struct verdict_boot){&v[i], 1};
	}
	assert_true(stat_cov(&g, &cov));
	assert_true(fabs(cov.cov_pct - sqrt(10.0 / 9)) < 1e-12);
	assert_true(fabs(cov.lo_pct - cov.cov_pct * sqrt(9 / 19.0228)) < 1e-4);
	assert_true(fabs(cov.hi_pct - cov.cov_pct * sqrt(9 / 2.7004)) < 1e-4);
	cell.boots.n = cell.n_values = 1;
	assert_false(stat_cov(&g, &cov));
}

static void test_file_is_read_per_group_and_differences_of_sides_are_no_noise(void **state)
{
	json_t *o, *groups, *g;

	(void)state;
	run_file("x.csv", "params,kernel,boot,value\n"
			  "a,o,1,99\na,o,2,101\na,o,3,100\na,n,1,198\na,n,2,202\na,n,3,200\n"
			  "b,o,1,5\n");
	assert_int_equal(run("stat power --effect 1% --from @x.csv --json"), CLI_EXIT_OK);
	o = json_loads(run_out, 0, NULL);
	assert_non_null(o);
	groups = json_object_get(o, "groups");
	assert_int_equal(json_array_size(groups), 2);
	g = json_array_get(groups, 0);
	assert_true(fabs(json_number_value(json_object_get(g, "cov_pct")) - 1) < 1e-9);
	assert_int_equal(json_integer_value(json_object_get(g, "boots_a_side")), 27);
	assert_true(json_number_value(json_array_get(json_object_get(g, "boots_a_side_ci95"), 0)) <
		    27);
	assert_true(json_number_value(json_array_get(json_object_get(g, "boots_a_side_ci95"), 1)) >
		    27);
	assert_true(json_is_null(json_object_get(json_array_get(groups, 1), "cov_pct")));
	json_decref(o);
	assert_int_equal(run("stat power --from @x.csv"), CLI_EXIT_OK);
	assert_contains(run_out, "one boot a side");
}

static void test_options_are_checked(void **state)
{
	(void)state;
	run_file("x.txt", "1\n");
	assert_int_equal(run("stat power --cov 1 --from @x.txt"), CLI_EXIT_USAGE);
	assert_int_equal(run("stat power --cov 1 --effect 0"), CLI_EXIT_USAGE);
	assert_int_equal(run("stat power --cov 1 --power 1"), CLI_EXIT_USAGE);
	assert_int_equal(run("stat power --cov 1 --power 0.1 --alpha 0.2"), CLI_EXIT_USAGE);
	assert_int_equal(run("stat power --cov -1"), CLI_EXIT_USAGE);
	assert_int_equal(run("stat power --from @x.txt"), CLI_EXIT_NODATA);
	assert_contains(run_err, "no deviation between boots");
	assert_int_equal(run("stat power --effect 1% --cov 1%"), CLI_EXIT_OK);
	assert_contains(run_out, "27");
	/* a verdict wants more than the test: see verdict.h */
	assert_contains(run_out, "--min-effect");
}

/* Nothing measured yet: the question has an answer all the same. */
static void test_without_a_deviation_usual_ones_are_shown(void **state)
{
	json_t *o, *groups;

	(void)state;
	assert_int_equal(run("stat power --effect 1%"), CLI_EXIT_OK);
	assert_contains(run_err, "--from FILE");
	assert_int_equal(run("stat power --effect 1% --json"), CLI_EXIT_OK);
	o = json_loads(run_out, 0, NULL);
	groups = json_object_get(o, "groups");
	for (size_t i = 0; i < json_array_size(groups); i++) {
		json_t *g = json_array_get(groups, i);

		if (json_number_value(json_object_get(g, "cov_pct")) == 1)
			assert_int_equal(json_integer_value(json_object_get(g, "boots_a_side")),
					 27);
	}
	assert_true(json_array_size(groups) > 3);
	json_decref(o);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, run_set_up, run_tear_down)
	const struct CMUnitTest tests[] = {
		T(test_exact_test_needs_5_boots_at_001_and_4_at_005),
		T(test_known_deviation_gives_the_t_test_s_n_times_pi_over_3),
		T(test_no_noise_needs_the_least_that_the_test_can_tell),
		T(test_deviation_has_the_interval_of_a_variance),
		T(test_file_is_read_per_group_and_differences_of_sides_are_no_noise),
		T(test_without_a_deviation_usual_ones_are_shown),
		T(test_options_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
