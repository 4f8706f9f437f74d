/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>

#include "cli/history_text.h"
#include "cli/width.h"
#include "tests/lib/cmocka_all.h"

#define POINTS_MOST 200

static struct {
	Kgrid__V1__HistoryReply reply;
	Kgrid__V1__HistorySeries series, *list[1];
	Kgrid__V1__HistoryPoint points[POINTS_MOST], *point_list[POINTS_MOST];
	Kgrid__V1__HistoryChange changes[2], *change_list[2];
	char names[POINTS_MOST][32];
} x;

static char *s(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* n points of 4500, from the middle on of 4400 */
static void make(size_t n)
{
	size_t i;

	memset(&x, 0, sizeof(x));
	x.reply = (Kgrid__V1__HistoryReply)KGRID__V1__HISTORY_REPLY__INIT;
	x.series = (Kgrid__V1__HistorySeries)KGRID__V1__HISTORY_SERIES__INIT;
	x.series.machine = s("lab-amd");
	x.series.workload = s("netperf");
	x.series.params = s("size=64");
	x.series.lsm = s("full");
	x.series.metric = s("rate");
	x.series.unit = s("1/s");
	x.series.direction = s("higher");
	for (i = 0; i < n; i++) {
		(void)snprintf(x.names[i], sizeof(x.names[i]), "6.%zu", i);
		x.points[i] = (Kgrid__V1__HistoryPoint)KGRID__V1__HISTORY_POINT__INIT;
		x.points[i].kernel = x.names[i];
		x.points[i].has_value = x.points[i].has_lo = x.points[i].has_hi = 1;
		x.points[i].boots = 5;
		x.points[i].value = i < n / 2 ? 4500 : 4400;
		x.points[i].lo = x.points[i].value - 5;
		x.points[i].hi = x.points[i].value + 5;
		x.point_list[i] = &x.points[i];
	}
	for (i = 0; i < 2; i++) {
		x.changes[i] = (Kgrid__V1__HistoryChange)KGRID__V1__HISTORY_CHANGE__INIT;
		x.change_list[i] = &x.changes[i];
	}
	x.series.n_points = n;
	x.series.points = x.point_list;
	x.series.changes = x.change_list;
	x.list[0] = &x.series;
	x.reply.n_series = 1;
	x.reply.series = x.list;
}

static void set_step(size_t index)
{
	Kgrid__V1__HistoryChange *c = &x.changes[0];

	c->has_index = c->has_lo = c->has_hi = c->has_before = c->has_after = 1;
	c->has_effect_pct = c->has_p = 1;
	c->index = (uint32_t)index;
	c->lo = (uint32_t)index - 1;
	c->hi = (uint32_t)index;
	c->before = 4500;
	c->after = 4400;
	c->effect_pct = -2.22;
	c->has_lo_pct = c->has_hi_pct = 1;
	c->lo_pct = -2.4;
	c->hi_pct = -2.05;
	c->p = 0.0003;
	c->kind = s("step");
	c->verdict = s("regression");
	x.series.n_changes = 1;
}

static char *text_of(size_t width, bool unicode)
{
	struct history_look look = {.width = width, .unicode = unicode};
	struct kg_str out = {0};

	history_text(&x.reply, &look, &out);
	return kg_str_take(&out);
}

static void test_series_has_marks_changes_and_points(void **state)
{
	char *text;

	(void)state;
	make(6);
	set_step(3);
	text = text_of(100, false);
	assert_string_equal(
		text,
		"lab-amd netperf size=64 full: rate in 1/s, higher is better; 6 points, 6.0 .. "
		"6.5\n"
		"  ###___   4400.00 .. 4500.00 1/s\n"
		"     ^\n"
		"  ^ step at 6.3, between 6.2 and 6.3: -2.22 % [-2.40, -2.05] (4500.00 -> 4400.00 "
		"1/s), p=0.0003:\n"
		"    regression\n"
		"  KERNEL  SINCE  BOOTS      1/s              [95 %]  CHANGE\n"
		"  6.0     -          5  4500.00  [4495.00, 4505.00]\n"
		"  6.1     -          5  4500.00  [4495.00, 4505.00]\n"
		"  6.2     -          5  4500.00  [4495.00, 4505.00]\n"
		"  6.3     -          5  4400.00  [4395.00, 4405.00]  ^ step\n"
		"  6.4     -          5  4400.00  [4395.00, 4405.00]\n"
		"  6.5     -          5  4400.00  [4395.00, 4405.00]\n"
		"\n"
		"^ step, / ramp, ~ change of variance, | new epoch of the machine, ? suspect: "
		"newest points that look\n"
		"  bad, too few to say; positive is better; values are medians over boots with 95 "
		"% intervals\n");
	free(text);
	text = text_of(100, true);
	assert_contains(text, "  ███▁▁▁   ");
	free(text);
}

static void test_long_series_share_marks_and_say_so(void **state)
{
	char *text, *line, *save = NULL;

	(void)state;
	make(200);
	set_step(100);
	text = text_of(80, false);
	assert_contains(text, "  a mark is the mean of 4 points\n");
	assert_contains(text, "#_");
	assert_contains(text, "the first 160 points are left out; --points lists all\n");
	assert_null(strstr(text, "\n  6.100 "));
	assert_contains(text, "step at 6.100");
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		assert_true(text_width(line) <= 80);
	free(text);
}

static void spark_is(const double *v, size_t n, size_t columns, const char *want)
{
	struct kg_str out = {0};
	size_t per;

	history_spark(v, n, columns, false, &out, &per);
	assert_string_equal(kg_str_text(&out), want);
	kg_str_deinit(&out);
}

static void test_marks_of_odd_series(void **state)
{
	static const double flat[] = {3, 3, 3}, one[] = {0}, gap[] = {1, NAN, 2},
			    huge[] = {-1.7e308, 1.7e308}, none[] = {NAN, INFINITY},
			    tiny[] = {0, 5e-324}, pairs[] = {1, 3, 5, 7};

	(void)state;
	spark_is(flat, 3, 10, "===");
	spark_is(one, 1, 10, "=");
	spark_is(gap, 3, 10, "_ #");
	spark_is(huge, 2, 10, "_#");
	spark_is(none, 2, 10, "  ");
	spark_is(tiny, 2, 10, "==");
	spark_is(pairs, 4, 2, "_#");
	spark_is(pairs, 0, 10, "");
	spark_is(pairs, 4, 0, "=");
}

static void test_epochs_are_a_column_only_where_there_are_several(void **state)
{
	char *text;

	(void)state;
	make(4);
	text = text_of(100, false);
	assert_null(strstr(text, "EPOCH"));
	assert_contains(text, "  no change found\n");
	free(text);
	x.points[3].epoch = 2;
	x.changes[0].index = 3;
	x.changes[0].kind = s("epoch");
	x.changes[0].verdict = s("incomparable");
	x.series.n_changes = 1;
	text = text_of(100, false);
	assert_contains(text, "EPOCH");
	assert_contains(text, "| epoch at 6.3, 6.2 was before: incomparable\n");
	free(text);
}

static void test_change_beyond_the_points_does_no_harm(void **state)
{
	char *text;

	(void)state;
	make(3);
	set_step(2);
	x.changes[0].index = 17;
	x.changes[0].hi = 18;
	text = text_of(100, false);
	assert_contains(text, "step at ?");
	free(text);
	make(0);
	text = text_of(100, false);
	assert_contains(text, "no kernel has a valid value");
	free(text);
}

static void test_csv_has_a_line_per_point_with_its_change(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make(4);
	set_step(2);
	history_csv(&x.reply, &out);
	assert_contains(kg_str_text(&out),
			"\nlab-amd,netperf,size=64,full,rate,1/s,higher,1,6.1,,0,"
			"0,5,4500,4495,4505,,,,,,,,,,\n");
	assert_contains(kg_str_text(&out),
			"\nlab-amd,netperf,size=64,full,rate,1/s,higher,2,6.2,,0,"
			"0,5,4400,4395,4405,step,regression,-2.22,4500,4400,"
			"0.0003,1,2,-2.4,-2.05\n");
	kg_str_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_series_has_marks_changes_and_points),
		cmocka_unit_test(test_long_series_share_marks_and_say_so),
		cmocka_unit_test(test_marks_of_odd_series),
		cmocka_unit_test(test_epochs_are_a_column_only_where_there_are_several),
		cmocka_unit_test(test_change_beyond_the_points_does_no_harm),
		cmocka_unit_test(test_csv_has_a_line_per_point_with_its_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
