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

static void table_text(size_t width, bool color, bool brief, struct kg_str *out)
{
	struct compare_look look = {.width = width, .color = color, .brief = brief};

	compare_table_text(&x.table, &look, out);
}

static void reply_text(size_t width, struct kg_str *out)
{
	struct compare_look look = {.width = width};

	compare_text(&x.reply, &look, out);
}

static void set_verdict(size_t row, size_t column, const char *word, double p, double q)
{
	Kgrid__V1__CompareCell *c = &x.cells[row][column];

	c->verdict = s(word);
	c->has_p = c->has_q = 1;
	c->p = p;
	c->q = q;
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

static void test_table_has_baseline_first_then_effect_verdict_p_and_q(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make(3);
	x.cells[0][1].has_cov_pct = 1;
	x.cells[0][1].cov_pct = 0.1234;
	x.cells[0][0].has_value_lo = x.cells[0][0].has_value_hi = 1;
	x.cells[0][0].value_lo = 2170;
	x.cells[0][0].value_hi = 2180.5;
	set_verdict(0, 1, "regression", 0.0079, 0.016);
	set_verdict(0, 2, "regression", 0.0079, 0.016);
	set_verdict(1, 1, "same", 0.5, 0.55);
	set_verdict(1, 2, "same", 0.5, 0.55);
	x.table.has_min_effect_pct = 1;
	x.table.min_effect_pct = 2;
	x.table.microarchitecture = s("cascadelake");
	table_text(100, false, false, &out);
	assert_string_equal(
		kg_str_text(&out),
		"lab-intel: Intel Xeon Processor (Cascadelake), GenuineIntel, cascadelake\n"
		"instruction clock: counts of instructions, not time of a real CPU\n"
		"netperf seconds=1 test=UDP_RR: rate in 1/s, higher is better; n=5 boots; CoV "
		"between boots <= 0.13\n"
		"    %; smallest change that matters 2 %\n"
		"differs from the baseline in: LSM list; in nothing else that is known\n"
		"\n"
		"                  6.12.117                             6.12.117                   "
		"          6.12.117\n"
		"  size                prev                                  new                   "
		"                nt\n"
		"    64             2174.41   2175.41  -12.30 % [-12.55, -12.05]   2176.41  -24.60 "
		"% [-24.85, -24.35]\n"
		"        [2170.00, 2180.50]        regression  p=0.0079  q=0.016        regression "
		" p=0.0079  q=0.016\n"
		"  1024            40123.46  40123.46   +0.10 % [ -0.15,   0.35]  40123.46   +0.10 "
		"% [ -0.15,   0.35]\n"
		"                                  same        p=0.5     q=0.55         same       "
		" p=0.5     q=0.55\n");
	kg_str_deinit(&out);
}

static void test_brief_has_one_line_per_row(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make(2);
	set_verdict(0, 1, "regression", 0.0079, 0.016);
	set_verdict(1, 1, "same", 0.5, 0.55);
	table_text(100, false, true, &out);
	assert_contains(kg_str_text(&out), "[-12.55, -12.05]  regression\n  1024 ");
	assert_contains(kg_str_text(&out), "[ -0.15,   0.35]  same\n");
	assert_null(strstr(kg_str_text(&out), "p="));
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
	table_text(110, false, false, &out);
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
	table_text(120, false, false, &out);
	assert_contains(kg_str_text(&out), "3 wrong-lsm + 2 pending");
	assert_contains(kg_str_text(&out), "n=5 boots where not said otherwise");
	assert_contains(kg_str_text(&out), " n=3\n");
	assert_contains(kg_str_text(&out), "  1024  40123.46                        -  ");
	kg_str_deinit(&out);
}

/* Before a first run has ended no metric is known. */
static void test_table_without_a_metric_names_none(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make(1);
	x.table.n_rows = 1;
	x.table.metric = x.table.unit = x.table.direction = NULL;
	x.cells[0][0].has_value = 0;
	x.cells[0][0].boots = x.cells[0][0].iterations = 0;
	x.cells[0][0].pending = 5;
	table_text(120, false, false, &out);
	assert_contains(kg_str_text(&out),
			"netperf seconds=1 size=64 test=UDP_RR: no valid boot yet\n");
	kg_str_deinit(&out);
}

static void test_colour_follows_the_verdict_not_the_interval(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make(2);
	set_cell(1, 1, 41000, 2.0);
	set_verdict(0, 1, "regression", 0.001, 0.001);
	set_verdict(1, 1, "improvement", 0.001, 0.001);
	table_text(120, true, false, &out);
	assert_contains(kg_str_text(&out), "\033[31m");
	assert_contains(kg_str_text(&out), "\033[32m");
	kg_str_clear(&out);
	set_verdict(0, 1, "unknown", 0.03, 0.06); /* its interval excludes 0 */
	set_verdict(1, 1, "same", 0.001, 0.001);
	table_text(120, true, false, &out);
	assert_null(strstr(kg_str_text(&out), "\033[31m"));
	assert_null(strstr(kg_str_text(&out), "\033[32m"));
	kg_str_deinit(&out);
}

static void test_reasons_are_numbered_lines_each_once(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make(3);
	set_verdict(0, 1, "unknown", 0.05, 0.05);
	set_verdict(0, 2, "unstable", 0.05, 0.05);
	set_verdict(1, 1, "unknown", 0.05, 0.05);
	set_verdict(1, 2, "incomparable", 0.05, 0.05);
	x.cells[0][1].reason = s("few boots");
	x.cells[0][1].has_more_boots = 1;
	x.cells[0][1].more_boots = 3;
	x.cells[0][2].reason = s("between-boot variance");
	x.cells[1][1].reason = s("few boots");
	x.cells[1][1].has_more_boots = 1;
	x.cells[1][1].more_boots = 3;
	x.cells[1][2].has_delta_pct = 0;
	x.cells[1][2].has_delta_lo_pct = 0;
	x.cells[1][2].reason = s("epoch 2: microcode 0x1 -> 0x2\033[2J");
	table_text(100, false, false, &out);
	assert_contains(kg_str_text(&out), "unknown (1)");
	assert_contains(kg_str_text(&out), "unstable (2)");
	assert_contains(kg_str_text(&out), "incomparable (3)");
	assert_contains(kg_str_text(&out),
			"\n  (1) few boots; about 3 more boots a side would decide\n"
			"  (2) between-boot variance\n"
			"  (3) epoch 2: microcode 0x1 -> 0x2?[2J\n");
	assert_null(strstr(kg_str_text(&out), "(4)"));
	kg_str_deinit(&out);
}

static void test_counts_stand_where_they_are_not_as_usual(void **state)
{
	struct kg_str out = {0};
	size_t i;

	(void)state;
	make(2);
	for (i = 0; i < 2; i++) {
		x.cells[0][i].has_iterations = x.cells[1][i].has_iterations = 1;
		x.cells[0][i].iterations = x.cells[1][i].iterations = 25;
	}
	set_verdict(0, 1, "unknown", 0.05, 0.05);
	x.cells[0][1].boots = 4;
	x.cells[0][1].iterations = 18;
	x.cells[0][1].has_baseline_boots = x.cells[0][1].has_baseline_iterations = 1;
	x.cells[0][1].baseline_boots = 5;
	x.cells[0][1].baseline_iterations = 25;
	table_text(100, false, false, &out);
	assert_contains(kg_str_text(&out),
			"n=5 boots (25 iterations) where not\n    said otherwise");
	assert_contains(kg_str_text(&out), " n=5+4 (25+18)  unknown (1)   p=0.05  q=0.05\n");
	kg_str_deinit(&out);
}

static void test_what_differs_stands_above_and_environment_first(void **state)
{
	static char config[] = "config: 12 options", code[] = "microcode 0x1 -> 0x2";
	static char *list[] = {config, code};
	struct kg_str out = {0};
	const char *moved, *differs, *table;

	(void)state;
	make(2);
	x.columns[1].kernel = s("6.13");
	x.table.n_comparability = 2;
	x.table.comparability = list;
	x.table.has_everything_moved = 1;
	x.table.everything_moved = 1;
	table_text(120, false, false, &out);
	moved = strstr(
		kg_str_text(&out),
		"most of what was measured moved the same way: suspect the environment first\n");
	differs = strstr(kg_str_text(&out), "differs from the baseline in: kernel, LSM list\n"
					    "  config: 12 options\n"
					    "  microcode 0x1 -> 0x2\n");
	table = strstr(kg_str_text(&out), "  size ");
	assert_non_null(moved);
	assert_non_null(differs);
	assert_true(moved < differs && differs < table);
	kg_str_deinit(&out);
}

static void test_reply_ends_with_legend_lists_notes_verdicts_and_accounting(void **state)
{
	static char note[] = "first note", *notes[] = {note};
	struct kg_str out = {0};

	(void)state;
	make(2);
	x.columns[1].effective = s("capability,landlock,apparmor");
	x.reply.n_notes = 1;
	x.reply.notes = notes;
	set_verdict(0, 1, "regression", 0.001, 0.001);
	set_verdict(1, 1, "same", 0.6, 0.6);
	reply_text(100, &out);
	assert_contains(kg_str_text(&out), "\nvalue, and the change against the baseline");
	assert_contains(kg_str_text(&out), "; regression: worse by at least");
	assert_null(strstr(kg_str_text(&out), "unstable: "));
	assert_contains(kg_str_text(&out), "effective lists:\n"
					   "  6.12.117/new  capability,landlock,apparmor\n"
					   "note: first note\n"
					   "verdicts 2 = 1 regression + 1 same\n"
					   "slots 20 = 20 pass\n");
	kg_str_deinit(&out);
}

static void test_accounting_of_a_selection_is_not_one_job_s(void **state)
{
	Kgrid__V1__Accounting all = KGRID__V1__ACCOUNTING__INIT;
	struct kg_str out = {0};

	(void)state;
	make(2);
	all.slots = all.pending = 7;
	x.reply.accounting = &all;
	reply_text(100, &out);
	assert_contains(kg_str_text(&out), "\nslots 7 = 7 pending\n");
	kg_str_deinit(&out);
}

static void why(struct kg_str *out)
{
	kg_str_clear(out);
	compare_why_nothing(&x.reply, out);
}

static void test_nothing_to_compare_says_which_nothing(void **state)
{
	struct compare_counts n;
	struct kg_str out = {0};
	size_t row;

	(void)state;
	make(2);
	compare_count(&x.reply, &n);
	assert_int_equal(n.compared, 2);
	for (row = 0; row < ROWS; row++) {
		set_verdict(row, 1, "incomparable", 1, 1);
		x.cells[row][1].has_delta_pct = 0;
	}
	compare_count(&x.reply, &n);
	assert_int_equal(n.compared, 0);
	assert_int_equal(n.words[COMPARE_INCOMPARABLE], 2);
	why(&out);
	assert_contains(kg_str_text(&out), "--across-epochs");
	x.table.n_columns = 1;
	why(&out);
	assert_contains(kg_str_text(&out), "one kernel with one list");
	assert_true(compare_has_values(&x.reply));
	for (row = 0; row < ROWS; row++)
		x.cells[row][0].has_value = 0;
	assert_false(compare_has_values(&x.reply));
	x.accounting.pending = 3;
	why(&out);
	assert_contains(kg_str_text(&out), "no slot of this job has a valid result yet");
	x.accounting.slots = 0;
	x.reply.n_tables = 0;
	why(&out);
	assert_contains(kg_str_text(&out), "no slot fits the selection");
	kg_str_deinit(&out);
}

static Kgrid__V1__CompareSummary summary(const char *kind, const char *name, const char *params)
{
	Kgrid__V1__CompareSummary m = KGRID__V1__COMPARE_SUMMARY__INIT;

	m.kind = s(kind);
	m.name = s(name);
	m.workload = s("netperf");
	m.metric = s("rate");
	m.params = s(params);
	m.column = &x.columns[1];
	m.baseline = &x.columns[0];
	m.has_machines = m.has_effect_pct = 1;
	m.machines = 2;
	m.effect_pct = -5.25;
	return m;
}

static void test_vendors_come_below_with_interactions_as_sentences(void **state)
{
	Kgrid__V1__CompareSummary m[4], *list[] = {&m[0], &m[1], &m[2], &m[3]};
	Kgrid__V1__CompareInteraction i = KGRID__V1__COMPARE_INTERACTION__INIT, *is[] = {&i};
	struct compare_look look = {.width = 100};
	struct kg_str out = {0};

	(void)state;
	make(2);
	m[0] = summary("microarchitecture", "zen3", "size=64");
	m[0].effect_pct = -6.25; /* of other machines than the vendor's */
	m[1] = summary("vendor", "AuthenticAMD", "size=64");
	m[2] = summary("vendor", "AuthenticAMD", "size=1024");
	m[1].has_lo_pct = m[1].has_hi_pct = m[1].has_i2_pct = m[1].has_heterogeneity_p = 1;
	m[1].lo_pct = -6;
	m[1].hi_pct = -4.5;
	m[1].i2_pct = 37.4;
	m[1].heterogeneity_p = 0.2;
	m[1].note = s("2 machines are 2 machines");
	m[2].machines = 1;
	x.reply.n_summaries = 4;
	x.reply.summaries = list;
	i.text = s("tomoyo costs more on zen3 than elsewhere");
	i.workload = s("netperf");
	i.metric = s("rate");
	i.has_difference_pct = i.has_lo_pct = i.has_hi_pct = i.has_p = 1;
	i.difference_pct = -3;
	i.lo_pct = -4;
	i.hi_pct = -2;
	i.p = 0.001;
	x.reply.n_interactions = 1;
	x.reply.interactions = is;
	m[3] = m[1]; /* all machines are of one vendor: nothing new */
	m[3].kind = s("all");
	compare_summaries_text(&x.reply, &look, &out);
	assert_string_equal(
		kg_str_text(&out),
		"vendor AuthenticAMD: netperf, rate\n"
		"  size  COLUMN        AGAINST                 EFFECT [95 %]  MACHINES  "
		"HETEROGENEITY I2  NOTE\n"
		"    64  6.12.117/new  6.12.117/prev  -5.25 % [-6.00, -4.50]         2      37 % "
		"(p=0.2)  (1)\n"
		"  1024  6.12.117/new  6.12.117/prev                 -5.25 %         1             "
		" "
		"   -\n"
		"  (1) 2 machines are 2 machines\n"
		"\n"
		"microarchitecture zen3: netperf size=64, rate\n"
		"  COLUMN        AGAINST        EFFECT [95 %]  MACHINES  HETEROGENEITY I2  NOTE\n"
		"  6.12.117/new  6.12.117/prev        -6.25 %         2                 -\n"
		"\n"
		"interactions:\n"
		"  - tomoyo costs more on zen3 than elsewhere (netperf, rate, difference -3.00 % "
		"[-4.00, -2.00],\n"
		"    p=0.001)\n"
		"\n");
	kg_str_clear(&out);
	m[3].machines = 3;
	compare_summaries_text(&x.reply, &look, &out);
	assert_contains(kg_str_text(&out), "\nall machines: netperf size=64, rate\n");
	kg_str_clear(&out);
	m[1].machines = 1; /* what a vendor's only machine gave is in its own tables */
	compare_summaries_text(&x.reply, &look, &out);
	assert_contains(kg_str_text(&out),
			"vendor AuthenticAMD: one machine, whose tables stand above\n\n");
	assert_null(strstr(kg_str_text(&out), "vendor AuthenticAMD: netperf"));
	m[1].machines = 2;
	kg_str_clear(&out);
	m[0].effect_pct = m[1].effect_pct; /* the vendor's machines: said already */
	i.text = s("tomoyo costs 3.0 % [2.0, 4.0] more on zen3 than elsewhere: netperf rate");
	compare_summaries_text(&x.reply, &look, &out);
	assert_null(strstr(kg_str_text(&out), "microarchitecture"));
	assert_contains(kg_str_text(&out), "elsewhere: netperf rate (p=0.001)\n");
	kg_str_deinit(&out);
}

static void test_a_machine_and_what_differs_are_said_once(void **state)
{
	static char config[] = "config: 12 options", code[] = "microcode 0x1 -> 0x2",
		    list_line[] = "LSM list: +tomoyo";
	static char *list[] = {config, code}, *one[] = {list_line};
	Kgrid__V1__CompareTable *tables[] = {&x.table, &x.table};
	struct kg_str out = {0};
	const char *first;

	(void)state;
	make(2);
	x.table.n_comparability = 2;
	x.table.comparability = list;
	x.reply.n_tables = 2;
	x.reply.tables = tables;
	reply_text(100, &out);
	first = strstr(kg_str_text(&out), "instruction clock");
	assert_non_null(first);
	assert_null(strstr(first + 1, "instruction clock"));
	first = strstr(kg_str_text(&out), "config: 12 options");
	assert_non_null(first);
	assert_null(strstr(first + 1, "config: 12 options"));
	assert_contains(first, "\ndiffers from the baseline as above\n");
	kg_str_clear(&out);
	x.table.n_comparability = 1;
	x.table.comparability = one;
	reply_text(100, &out);
	assert_contains(kg_str_text(&out), "\ndiffers from the baseline in: LSM list: +tomoyo\n");
	kg_str_deinit(&out);
	make(2);
}

static void test_odd_numbers_and_short_rows_do_no_harm(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make(3);
	x.rows[1].n_cells = 1;
	x.cells[0][1].delta_pct = -0.001; /* is no "-0.00" */
	x.cells[0][2].value = INFINITY;
	set_verdict(0, 1, "unknown", NAN, INFINITY);
	reply_text(40, &out);
	assert_contains(kg_str_text(&out), " 0.00 %");
	assert_null(strstr(kg_str_text(&out), "nan"));
	assert_null(strstr(kg_str_text(&out), "inf"));
	x.table.n_columns = 0;
	x.table.n_rows = 0;
	reply_text(40, &out);
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
		"2175.41,,,-12.3,-12.55,-12.05,,0,,,,,,,,,,,,,,,,,,\n");
	kg_str_clear(&out);
	set_verdict(0, 1, "unknown", 0.25, 0.5);
	x.cells[0][1].reason = s("few, \"too\" few");
	x.cells[0][1].has_multimodal = 1;
	x.cells[0][1].has_baseline_boots = 1;
	x.cells[0][1].baseline_boots = 6;
	compare_csv(&x.reply, &out);
	assert_contains(kg_str_text(&out), ",0,,unknown,0.25,0.5,,,,,6,,,false,,,,,\"few, "
					   "\"\"too\"\" few\",\n");
	kg_str_deinit(&out);
}

static void test_requests_with_the_same_list_are_said_by_column(void **state)
{
	char *others[] = {s("ntnb"), s("x+mitigations=off")};
	struct kg_str out = {0};

	(void)state;
	make(2);
	x.columns[1].effective = s("capability,yama");
	x.columns[1].same_as = others;
	x.columns[1].n_same_as = 1;
	reply_text(120, &out);
	assert_contains(kg_str_text(&out), "new  capability,yama; same list as 'ntnb'\n");
	kg_str_clear(&out);
	x.columns[1].n_same_as = 2;
	reply_text(120, &out);
	assert_contains(kg_str_text(&out),
			"capability,yama; same list as 'ntnb' and 'x+mitigations=off'\n");
	kg_str_clear(&out);
	compare_csv(&x.reply, &out);
	assert_contains(kg_str_text(&out), ",ntnb;x+mitigations=off\n");
	x.columns[1].same_as = NULL;
	x.columns[1].n_same_as = 0;
	kg_str_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_has_baseline_first_then_effect_verdict_p_and_q),
		cmocka_unit_test(test_brief_has_one_line_per_row),
		cmocka_unit_test(test_table_that_is_too_wide_repeats_the_baseline),
		cmocka_unit_test(test_cells_without_a_value_say_why),
		cmocka_unit_test(test_table_without_a_metric_names_none),
		cmocka_unit_test(test_colour_follows_the_verdict_not_the_interval),
		cmocka_unit_test(test_reasons_are_numbered_lines_each_once),
		cmocka_unit_test(test_counts_stand_where_they_are_not_as_usual),
		cmocka_unit_test(test_what_differs_stands_above_and_environment_first),
		cmocka_unit_test(test_reply_ends_with_legend_lists_notes_verdicts_and_accounting),
		cmocka_unit_test(test_accounting_of_a_selection_is_not_one_job_s),
		cmocka_unit_test(test_nothing_to_compare_says_which_nothing),
		cmocka_unit_test(test_vendors_come_below_with_interactions_as_sentences),
		cmocka_unit_test(test_a_machine_and_what_differs_are_said_once),
		cmocka_unit_test(test_odd_numbers_and_short_rows_do_no_harm),
		cmocka_unit_test(test_csv_has_a_line_per_cell),
		cmocka_unit_test(test_requests_with_the_same_list_are_said_by_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
