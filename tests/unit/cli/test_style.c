/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other tools' forms, out of values. */
#include <math.h>
#include <stdio.h>

#include "cli/style.h"
#include "tests/lib/cmocka_all.h"

static const double base[] = {100, 101, 99, 100, 100};
static const double lower[] = {90, 91, 89, 90, 90};
static const double near_base[] = {100.5, 101.5, 99.5, 100.5, 100.5};

static struct style_column columns[] = {{"6.4.0", "prev"}, {"6.4.0", "new"}, {"6.4.0", "nt"}};
static struct style_cell cells[] = {
	{.values = base, .n = 5}, {.values = lower, .n = 5}, {.values = near_base, .n = 5}};
static struct style_row row = {.key = "64", .direction = VERDICT_HIGHER, .cells = cells};
static struct style_table table = {.columns = columns, .n_columns = 3, .rows = &row, .n_rows = 1};

static void render(const char *style, struct kg_str *out)
{
	*out = (struct kg_str){0};
	assert_int_equal(style_render(style, &table, 1, out, NULL), 0);
}

static void test_mmtests_marks_what_is_beyond_both_deviations(void **state)
{
	struct kg_str s;

	(void)state;
	render("mmtests", &s);
	assert_string_equal(
		kg_str_text(&s),
		"                                 6.4.0                  6.4.0                  "
		"6.4.0\n"
		"                                  prev                    new                     "
		"nt\n"
		"Hmean     64         100.00 (   0.00%)       90.00 * -10.00%*      100.50 (   "
		"0.50%)\n");
	kg_str_deinit(&s);
}

static void test_mmtests_difference_of_times_is_turned(void **state)
{
	struct style_row times = row;
	double d;

	(void)state;
	times.direction = VERDICT_LOWER;
	assert_true(style_mmtests_diff(&times, 1, &d));
	assert_true(fabs(d - 10) < 1e-12); /* Amean 90 of 100 */
	times.stat = "hmean";
	assert_true(style_mmtests_diff(&times, 1, &d)); /* the direction decides */
	assert_true(d > 9.9);
	times.direction = VERDICT_NO_DIRECTION;
	assert_true(style_mmtests_diff(&times, 1, &d));
	assert_true(d < -9.9);
}

static void test_given_marks_go_before_computed_ones(void **state)
{
	static const struct style_cell given[] = {
		{.has_mean = true, .mean = 100, .has_mark = true},
		{.has_mean = true, .mean = 99.9999, .has_mark = true, .mark = true},
		{.has_mean = true, .mean = 50, .has_mark = true}};
	struct style_row r = {.key = "k", .stat = "hmean", .cells = given};
	struct style_table t = table;
	struct kg_str s = {0};

	(void)state;
	t.rows = &r;
	style_mmtests(&t, COMPAT_STAR_SD, &s);
	assert_contains(kg_str_text(&s), "100.00 *   0.00%*"); /* no sign of nothing */
	assert_contains(kg_str_text(&s), "50.00 ( -50.00%)");
	kg_str_deinit(&s);
}

static void test_empty_cells_and_values_without_harmonic_mean_are_dashes(void **state)
{
	static const double zero[] = {0, 1};
	static const struct style_cell some[] = {
		{.values = base, .n = 5}, {0}, {.values = zero, .n = 2}};
	struct style_row r = {.key = "k", .direction = VERDICT_HIGHER, .cells = some};
	struct style_table t = table;
	static const char *const styles[] = {"mmtests", "lkp", "benchstat", "ministat", "csv"};
	struct kg_str s = {0};

	(void)state;
	t.rows = &r;
	style_mmtests(&t, COMPAT_STAR_SD, &s);
	assert_contains(kg_str_text(&s), "100.00 (   0.00%)           -                      -\n");
	kg_str_deinit(&s);
	for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++) {
		s = (struct kg_str){0};
		assert_int_equal(style_render(styles[i], &t, 1, &s, NULL), 0);
		assert_null(strstr(kg_str_text(&s), "nan"));
		assert_null(strstr(kg_str_text(&s), "inf"));
		kg_str_deinit(&s);
	}
}

static void test_lkp_deviation_is_shown_above_2_per_cent_and_cut(void **state)
{
	static const double wide[] = {90, 110};	      /* population sd 10, 10.0 % */
	static const double odd[] = {97.1, 102.9};    /* 2.9 % */
	static const double narrow[] = {98.1, 101.9}; /* 1.9 % */
	static const struct style_cell some[] = {
		{.values = wide, .n = 2}, {.values = odd, .n = 2}, {.values = narrow, .n = 2}};
	struct style_row r = {.key = "metric", .cells = some};
	struct style_table t = table;
	struct kg_str s = {0};

	(void)state;
	t.rows = &r;
	style_lkp(&t, &s);
	assert_contains(kg_str_text(&s), "    100.00 ± 10%      +0.0%     100.00 ±  2%");
	assert_contains(kg_str_text(&s), "     100.00        metric\n");
	kg_str_deinit(&s);
}

static void test_lkp_change_of_percentages_is_a_difference(void **state)
{
	static const struct style_cell some[] = {{.has_mean = true, .mean = 2},
						 {.has_mean = true, .mean = 3},
						 {.has_mean = true, .mean = 0}};
	struct style_row r = {.key = "idle%", .absolute = true, .cells = some};
	double d;

	(void)state;
	assert_true(style_lkp_absolute("mpstat.cpu.all.idle%"));
	assert_true(style_lkp_absolute("perf-profile.calltrace.cycles-pp.main"));
	assert_false(style_lkp_absolute("will-it-scale.workload"));
	assert_false(style_lkp_absolute(""));
	assert_true(style_lkp_change(&r, 1, &d));
	assert_true(d == 1);
	r.absolute = false;
	assert_true(style_lkp_change(&r, 1, &d));
	assert_true(d == 50);
}

static void test_lkp_values_have_the_form_of_their_size(void **state)
{
	static const struct {
		double v;
		const char *text;
	} rows[] = {{0.62, "0.62"},	      {999.994, "999.99"},     {1000, "1000"},
		    {46897964.9, "46897964"}, {5.257e10, "5.257e+10"}, {-3, "-3.00"}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kg_str s = {0};

		style_lkp_value(rows[i].v, &s);
		assert_string_equal(kg_str_text(&s) + strspn(kg_str_text(&s), " "), rows[i].text);
		kg_str_deinit(&s);
	}
}

static void test_unknown_style_is_refused_with_a_suggestion(void **state)
{
	struct kg_str s = {0};
	struct kg_err err;

	(void)state;
	assert_int_equal(style_render("mmtest", &table, 1, &s, &err), KG_EINVALID);
	assert_contains(err.text, "did you mean 'mmtests'?");
}

static void test_names_cannot_steer_a_terminal(void **state)
{
	static const struct style_column evil[] = {{"a\033[2J", NULL}, {"b", NULL}, {"c", NULL}};
	struct style_table t = table;
	static const char *const styles[] = {"mmtests", "lkp", "benchstat", "ministat"};

	(void)state;
	t.columns = evil;
	t.title = "t\033]0;x\a";
	for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++) {
		struct kg_str s = {0};

		assert_int_equal(style_render(styles[i], &t, 1, &s, NULL), 0);
		assert_null(strchr(kg_str_text(&s), '\033'));
		assert_null(strchr(kg_str_text(&s), '\a'));
		kg_str_deinit(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mmtests_marks_what_is_beyond_both_deviations),
		cmocka_unit_test(test_mmtests_difference_of_times_is_turned),
		cmocka_unit_test(test_given_marks_go_before_computed_ones),
		cmocka_unit_test(test_empty_cells_and_values_without_harmonic_mean_are_dashes),
		cmocka_unit_test(test_lkp_deviation_is_shown_above_2_per_cent_and_cut),
		cmocka_unit_test(test_lkp_change_of_percentages_is_a_difference),
		cmocka_unit_test(test_lkp_values_have_the_form_of_their_size),
		cmocka_unit_test(test_unknown_style_is_refused_with_a_suggestion),
		cmocka_unit_test(test_names_cannot_steer_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
