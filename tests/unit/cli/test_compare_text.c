/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "cli/cli.h"
#include "cli/compare_text.h"
#include "cli/width.h"
#include "tests/lib/cmocka_all.h"

#define ROWS	     2
#define COLUMNS_MOST 6

/* A reply with one table, in static memory; the tests change cells. */
static struct {
	Kgrid__V1__CompareReply reply;
	Kgrid__V1__CompareTable table, *tables[1];
	Kgrid__V1__CompareColumn columns[COLUMNS_MOST], *column_list[COLUMNS_MOST];
	Kgrid__V1__CompareRow rows[ROWS], *row_list[ROWS];
	Kgrid__V1__CompareCell cells[ROWS][COLUMNS_MOST], *cell_list[ROWS][COLUMNS_MOST];
	Kgrid__V1__JobSummary job;
	Kgrid__V1__Accounting accounting;
	Kgrid__V1__OutcomeCount pass, *passes[1];
} x;

static char *s(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void set_cell(size_t row, size_t column, double value, double delta)
{
	Kgrid__V1__CompareCell *c = &x.cells[row][column];

	c->has_present = c->has_value = c->has_boots = 1;
	c->present = 1;
	c->boots = 5;
	c->value = value;
	if (column == 0)
		return;
	c->has_delta_pct = c->has_delta_lo_pct = c->has_delta_hi_pct = 1;
	c->delta_pct = delta;
	c->delta_lo_pct = delta - 0.25;
	c->delta_hi_pct = delta + 0.25;
}

static void make(size_t n_columns)
{
	static const char *const lsm[COLUMNS_MOST] = {"prev", "new", "nt", "ntnb", "a", "b"};
	static const char *const params[ROWS] = {"seconds=1 size=64 test=UDP_RR",
						 "seconds=1 size=1024 test=UDP_RR"};
	size_t i, row;

	memset(&x, 0, sizeof(x));
	x.reply = (Kgrid__V1__CompareReply)KGRID__V1__COMPARE_REPLY__INIT;
	x.table = (Kgrid__V1__CompareTable)KGRID__V1__COMPARE_TABLE__INIT;
	x.job = (Kgrid__V1__JobSummary)KGRID__V1__JOB_SUMMARY__INIT;
	x.accounting = (Kgrid__V1__Accounting)KGRID__V1__ACCOUNTING__INIT;
	x.pass = (Kgrid__V1__OutcomeCount)KGRID__V1__OUTCOME_COUNT__INIT;
	x.table.machine = s("lab-intel");
	x.table.cpu_name = s("Intel Xeon Processor (Cascadelake)");
	x.table.cpu_vendor = s("GenuineIntel");
	x.table.clock = s("instruction");
	x.table.workload = s("netperf");
	x.table.metric = s("rate");
	x.table.unit = s("1/s");
	x.table.direction = s("higher");
	x.table.n_columns = n_columns;
	x.table.columns = x.column_list;
	x.table.n_rows = ROWS;
	x.table.rows = x.row_list;
	for (i = 0; i < n_columns; i++) {
		x.columns[i] = (Kgrid__V1__CompareColumn)KGRID__V1__COMPARE_COLUMN__INIT;
		x.columns[i].kernel = s("6.12.117");
		x.columns[i].lsm = s(lsm[i]);
		x.column_list[i] = &x.columns[i];
	}
	for (row = 0; row < ROWS; row++) {
		x.rows[row] = (Kgrid__V1__CompareRow)KGRID__V1__COMPARE_ROW__INIT;
		x.rows[row].params = s(params[row]);
		x.rows[row].n_cells = n_columns;
		x.rows[row].cells = x.cell_list[row];
		x.row_list[row] = &x.rows[row];
		for (i = 0; i < n_columns; i++) {
			x.cells[row][i] = (Kgrid__V1__CompareCell)KGRID__V1__COMPARE_CELL__INIT;
			x.cell_list[row][i] = &x.cells[row][i];
			set_cell(row, i, row ? 40123.456 : 2174.41 + (double)i,
				 row ? 0.1 : -12.3 * (double)i);
		}
	}
	x.pass.outcome = s("pass");
	x.pass.count = 20;
	x.passes[0] = &x.pass;
	x.accounting.slots = 20;
	x.accounting.n_outcomes = 1;
	x.accounting.outcomes = x.passes;
	x.job.accounting = &x.accounting;
	x.tables[0] = &x.table;
	x.reply.job = &x.job;
	x.reply.n_tables = 1;
	x.reply.tables = x.tables;
}

static void test_table_has_baseline_first_and_marks_what_stands_clear(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make(3);
	x.cells[0][1].has_cov_pct = 1;
	x.cells[0][1].cov_pct = 0.1234;
	compare_table_text(&x.table, 100, false, &out);
	assert_string_equal(
		kg_str_text(&out),
		"lab-intel: Intel Xeon Processor (Cascadelake), GenuineIntel\n"
		"instruction clock: counts of instructions, not time of a real CPU\n"
		"netperf seconds=1 test=UDP_RR: rate in 1/s, higher is better; n=5 boots; "
		"CoV between boots <= 0.13 %\n"
		"\n"
		"        6.12.117                              6.12.117                            "
		" "
		"  6.12.117\n"
		"  size      prev                                   new                            "
		" "
		"        nt\n"
		"    64   2174.41   2175.41 (-12.30 % [-12.55, -12.05])*   2176.41 (-24.60 % "
		"[-24.85, -24.35])*\n"
		"  1024  40123.46  40123.46 ( +0.10 % [ -0.15,   0.35])   40123.46 ( +0.10 % "
		"[ -0.15,   0.35])\n");
	kg_str_deinit(&out);
}

static void test_change_too_small_to_matter_is_not_marked(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make(2);
	x.cells[0][1].delta_pct = -0.06; /* its interval excludes 0 */
	x.cells[0][1].delta_lo_pct = -0.10;
	x.cells[0][1].delta_hi_pct = -0.01;
	compare_table_text(&x.table, 100, false, &out);
	assert_contains(kg_str_text(&out), "[-0.10, -0.01])");
	assert_null(strstr(kg_str_text(&out), "*"));
	kg_str_deinit(&out);
}

static void test_table_that_is_too_wide_repeats_the_baseline(void **state)
{
	struct kg_str out = {0};
	const char *p;
	unsigned prev = 0;
	char *line, *save = NULL;

	(void)state;
	make(6);
	compare_table_text(&x.table, 110, false, &out);
	for (p = kg_str_text(&out); (p = strstr(p, "prev")); p++)
		prev++;
	assert_int_equal(prev, 3);
	for (line = strtok_r(out.text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		assert_true(text_width(line) <= 110);
	kg_str_deinit(&out);
}

static void test_cells_without_a_value_say_why(void **state)
{
	Kgrid__V1__OutcomeCount wrong = KGRID__V1__OUTCOME_COUNT__INIT, *list[1] = {&wrong};
	struct kg_str out = {0};

	(void)state;
	make(3);
	wrong.outcome = s("wrong-lsm");
	wrong.count = 3;
	x.cells[0][1].has_value = 0;
	x.cells[0][1].n_excluded = 1;
	x.cells[0][1].excluded = list;
	x.cells[0][1].pending = 2;
	x.cells[1][1].has_value = 0;
	x.cells[1][1].present = 0;
	x.cells[1][2].boots = 3;
	compare_table_text(&x.table, 120, false, &out);
	assert_contains(kg_str_text(&out), "3 wrong-lsm + 2 pending");
	assert_contains(kg_str_text(&out), "n=5 boots where not said otherwise");
	assert_contains(kg_str_text(&out), " n=3\n");
	assert_contains(kg_str_text(&out), "  1024  40123.46                        -  ");
	kg_str_deinit(&out);
}

static void test_colour_says_better_or_worse_only_when_clear(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make(2);
	set_cell(1, 1, 41000, 2.0);
	compare_table_text(&x.table, 120, true, &out);
	assert_contains(kg_str_text(&out), "\033[31m");
	assert_contains(kg_str_text(&out), "\033[32m");
	kg_str_clear(&out);
	set_cell(0, 1, 2175, 0.1);
	set_cell(1, 1, 41000, 0.1);
	compare_table_text(&x.table, 120, true, &out);
	assert_null(strstr(kg_str_text(&out), "\033"));
	kg_str_deinit(&out);
}

static void test_reply_ends_with_legend_lists_notes_and_accounting(void **state)
{
	static char note[] = "first note", *notes[] = {note};
	struct kg_str out = {0};

	(void)state;
	make(2);
	x.columns[1].effective = s("capability,landlock,apparmor");
	x.reply.n_notes = 1;
	x.reply.notes = notes;
	compare_text(&x.reply, 100, false, &out);
	assert_contains(kg_str_text(&out),
			"\n"
			"value (change against the baseline, the first column, in % [95 % interval "
			"over boots]); positive is\n"
			"  better; * the interval excludes 0 and the change is at least 1 %\n"
			"effective lists:\n"
			"  6.12.117/new  capability,landlock,apparmor\n"
			"note: first note\n"
			"slots 20 = 20 pass\n");
	kg_str_deinit(&out);
}

static void test_nothing_to_compare_is_known(void **state)
{
	size_t row, i;

	(void)state;
	make(2);
	assert_true(compare_has_values(&x.reply));
	for (row = 0; row < ROWS; row++)
		for (i = 0; i < 2; i++)
			x.cells[row][i].has_value = 0;
	assert_false(compare_has_values(&x.reply));
	x.reply.n_tables = 0;
	assert_false(compare_has_values(&x.reply));
}

static void test_odd_numbers_and_short_rows_do_no_harm(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make(3);
	x.rows[1].n_cells = 1;
	x.cells[0][1].delta_pct = -0.001; /* is no "-0.00" */
	x.cells[0][2].value = INFINITY;
	compare_text(&x.reply, 40, false, &out);
	assert_contains(kg_str_text(&out), "(0.00 %");
	x.table.n_columns = 0;
	x.table.n_rows = 0;
	compare_text(&x.reply, 40, false, &out);
	kg_str_deinit(&out);
}

static void test_csv_has_a_line_per_cell(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make(2);
	compare_csv(&x.reply, &out);
	assert_contains(
		kg_str_text(&out),
		"\nlab-intel,Intel Xeon Processor (Cascadelake),GenuineIntel,instruction,"
		"netperf,seconds=1 size=64 test=UDP_RR,rate,1/s,higher,6.12.117,new,false,5,"
		"2175.41,,,-12.3,-12.55,-12.05,,0,\n");
	kg_str_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_has_baseline_first_and_marks_what_stands_clear),
		cmocka_unit_test(test_change_too_small_to_matter_is_not_marked),
		cmocka_unit_test(test_table_that_is_too_wide_repeats_the_baseline),
		cmocka_unit_test(test_cells_without_a_value_say_why),
		cmocka_unit_test(test_colour_says_better_or_worse_only_when_clear),
		cmocka_unit_test(test_reply_ends_with_legend_lists_notes_and_accounting),
		cmocka_unit_test(test_nothing_to_compare_is_known),
		cmocka_unit_test(test_odd_numbers_and_short_rows_do_no_harm),
		cmocka_unit_test(test_csv_has_a_line_per_cell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
