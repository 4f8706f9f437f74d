/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a job has been measured long enough: over comparisons as people get them. */
#include "common/str.h"
#include "coordinator/analysis/verdict.h"
#include "coordinator/report/until.h"
#include "tests/unit/report/fixture.h"

static struct until_answer ask(struct rows *r, const char *machine, double pct, uint32_t done)
{
	Kgrid__V1__CompareReply *reply = rows_compare(r);
	struct until_question q = {.compare = reply,
				   .machine = machine,
				   .pct = pct,
				   .blocks_done = done,
				   .blocks_min = 5,
				   .blocks_max = 12};
	struct until_answer a;

	until_judge(&q, &a);
	rows_drop(reply);
	assert_true(strlen(a.text) > 0 && strlen(a.text) < sizeof(a.text));
	assert_true(kg_utf8_valid(a.text, strlen(a.text)));
	assert_true(!a.stop || a.judged);
	return a;
}

/* Boots whose values spread evenly over level * (1 +- pct / 100); the next is `pending` slots. */
static void even(struct rows *r, size_t cell, size_t metric, unsigned boots, double level,
		 double pct, unsigned pending)
{
	for (unsigned i = 0; i < boots; i++) {
		double at = boots > 1 ? 2.0 * i / (boots - 1) - 1 : 0;

		rows_value(r, cell, metric, ++r->boots, level * (1 + at * pct / 100));
	}
	r->cells[cell].slots[KG_OUTCOME_PASS] += boots;
	r->cells[cell].slots[KG_OUTCOME_NONE] = pending;
}

static void test_a_narrow_effect_stops_and_a_wide_one_goes_on(void **state)
{
	struct rows *r = rows_new();
	struct until_answer a;
	size_t base = rows_cell(r, "m", "a6.1", "prev", "netperf", "size=64");
	size_t other = rows_cell(r, "m", "b6.2", "nt", "netperf", "size=64");

	(void)state;
	even(r, base, 0, 5, 100, 0.2, 7);
	even(r, other, 0, 5, 90, 0.2, 7);
	a = ask(r, "m", 1, 5);
	assert_true(a.judged && a.stop);
	assert_true(a.widest_pct > 0.2 && a.widest_pct < 0.9);
	assert_int_equal(a.cells, 1);
	assert_has(a.text, "after 5 blocks the widest 95 % interval is 0.");
	assert_has(a.text, "(netperf size=64 rate, b6.2/nt against a6.1/prev)");
	assert_has(a.text, "'until' asks for 1 %");
	assert_has(a.text, "stopped early with 5 boots a side");

	a = ask(r, "m", 0.1, 5);
	assert_true(a.judged && !a.stop);
	assert_null(strstr(a.text, "stopped early"));
}

static void test_never_before_the_least_number_of_blocks(void **state)
{
	struct rows *r = rows_new();
	struct until_answer a;
	size_t base = rows_cell(r, "m", "a6.1", "prev", "netperf", "size=64");
	size_t other = rows_cell(r, "m", "b6.2", "nt", "netperf", "size=64");

	(void)state;
	even(r, base, 0, 4, 100, 0, 8);
	even(r, other, 0, 4, 90, 0, 8);
	a = ask(r, "m", 1, 4);
	assert_true(a.judged && !a.stop);
	assert_has(a.text, "after at least 5 blocks");
}

static void test_after_the_last_block_the_text_says_so(void **state)
{
	struct rows *r = rows_new();
	struct until_answer a;
	size_t base = rows_cell(r, "m", "a6.1", "prev", "netperf", "size=64");
	size_t other = rows_cell(r, "m", "b6.2", "nt", "netperf", "size=64");

	(void)state;
	even(r, base, 0, 12, 100, 5, 0);
	even(r, other, 0, 12, 90, 5, 0);
	a = ask(r, "m", 1, 12);
	assert_true(a.judged && !a.stop);
	assert_has(a.text, "after all 12 blocks");
}

static void test_the_widest_cell_of_all_tables_decides_and_is_named(void **state)
{
	struct rows *r = rows_new();
	struct until_answer a;
	size_t c[6];

	(void)state;
	for (int i = 0; i < 2; i++) {
		c[i] = rows_cell(r, "m", i ? "b" : "a", "x", "netperf", "size=64");
		c[2 + i] = rows_cell(r, "m", i ? "b" : "a", "x", "netperf", "size=1024");
		c[4 + i] = rows_cell(r, "m", i ? "b" : "a", "x", "hackbench", "groups=1");
	}
	for (int i = 0; i < 6; i++) {
		even(r, c[i], i < 4 ? 0 : 1, 8, 100, i == 5 ? 0.9 : 0.1, 4);
		even(r, c[i], 2, 8, 100, 40, 4); /* no direction: not an effect of interest */
	}
	a = ask(r, "m", 5, 8);
	assert_true(a.stop);
	assert_int_equal(a.cells, 3);
	assert_has(a.text, "hackbench groups=1 latency, b/x against a/x");
	assert_null(strstr(a.text, "stopped early")); /* 8 boots a side */
	a = ask(r, "m", 0.5, 8);
	assert_true(a.judged && !a.stop);
}

static void test_one_column_is_judged_by_its_median(void **state)
{
	struct rows *r = rows_new();
	struct until_answer a;
	size_t c = rows_cell(r, "m", "a6.1", "prev", "netperf", "size=64");

	(void)state;
	even(r, c, 0, 6, 200, 1, 6); /* the order statistics of 6 are the range: 2 % */
	a = ask(r, "m", 2, 6);
	assert_true(a.stop);
	assert_true(fabs(a.widest_pct - 2) < 1e-9);
	assert_has(a.text, "(netperf size=64 rate, a6.1/prev)");
	assert_null(strstr(a.text, "against"));
	a = ask(r, "m", 1.999, 6);
	assert_true(a.judged && !a.stop);
	assert_has(a.text, "is 2 %");
	assert_has(a.text, "asks for 1.999 %");

	r->in.n_values = 0; /* 4 boots have no interval of the median, 8 more can come */
	memset(r->cells[c].slots, 0, sizeof(r->cells[c].slots));
	even(r, c, 0, 4, 200, 0.1, 8);
	a = ask(r, "m", 2, 5);
	assert_false(a.judged || a.stop);
	assert_int_equal(a.waiting, 1);
	assert_has(a.text, "1 of 1 cells has no 95 % interval yet, as netperf size=64 rate");
}

static void test_a_row_with_nothing_to_compare_is_judged_by_its_median(void **state)
{
	struct rows *r = rows_new();
	struct until_answer a;
	size_t c[3];

	(void)state;
	c[0] = rows_cell(r, "m", "a", "x", "net", "size=1");
	c[1] = rows_cell(r, "m", "b", "x", "net", "size=1");
	c[2] = rows_cell(r, "m", "b", "x", "net", "size=2"); /* its baseline was not planned */
	even(r, c[0], 0, 6, 100, 0.1, 6);
	even(r, c[1], 0, 6, 100, 0.1, 6);
	even(r, c[2], 0, 6, 100, 3, 6);
	a = ask(r, "m", 7, 6);
	assert_true(a.stop);
	assert_int_equal(a.cells, 2);
	assert_has(a.text, "(net size=2 rate, b/x)");

	/* the baseline can have no boot any more */
	r->in.n_values = 0;
	r->cells[c[0]].slots[KG_OUTCOME_PASS] = 0;
	r->cells[c[0]].slots[KG_OUTCOME_NONE] = 0;
	r->cells[c[0]].slots[KG_OUTCOME_INFEASIBLE] = 12;
	even(r, c[1], 0, 6, 100, 4, 6);
	even(r, c[2], 0, 6, 100, 3, 6);
	a = ask(r, "m", 9, 6);
	assert_true(a.stop);
	assert_has(a.text, "(net size=1 rate, b/x)");
	assert_has(a.text, "left out: net size=1 rate, a/x");

	/* only the baseline can be measured */
	r->in.n_values = 0;
	r->cells[c[0]].slots[KG_OUTCOME_INFEASIBLE] = 0;
	for (int i = 1; i < 3; i++) {
		r->cells[c[i]].slots[KG_OUTCOME_NONE] = 0;
		r->cells[c[i]].slots[KG_OUTCOME_PANIC] = 12;
	}
	even(r, c[0], 0, 6, 100, 1, 6);
	a = ask(r, "m", 3, 6);
	assert_true(a.stop);
	assert_int_equal(a.cells, 1);
	assert_has(a.text, "(net size=1 rate, a/x)");
	assert_int_equal(a.left_out, 2);
	assert_has(a.text, "and 1 more");
}

static void test_cells_that_can_have_no_more_values_are_left_out_and_named(void **state)
{
	struct rows *r = rows_new();
	struct until_answer a;
	size_t c[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		c[i] = rows_cell(r, "m", i == 0 ? "a" : i == 1 ? "b" : "c", "x", "net", "size=1");
	even(r, c[0], 0, 6, 100, 0.1, 6);
	even(r, c[1], 0, 6, 100, 0.1, 6);
	even(r, c[2], 0, 1, 100, 0.1, 0); /* one boot, then it always hung */
	r->cells[c[2]].slots[KG_OUTCOME_BOOT_HANG] = 11;
	a = ask(r, "m", 1, 6);
	assert_true(a.stop);
	assert_int_equal(a.left_out, 1);
	assert_has(a.text, "left out: net size=1 rate, c/x");

	r->cells[c[2]].slots[KG_OUTCOME_NONE] = 6; /* it still may */
	r->cells[c[2]].slots[KG_OUTCOME_BOOT_HANG] = 5;
	a = ask(r, "m", 1, 6);
	assert_false(a.judged || a.stop);
	assert_int_equal(a.waiting, 1);
	assert_int_equal(a.left_out, 0);
	assert_has(a.text, "c/x against a/x");
	assert_true(a.widest_pct > 0 && a.widest_pct < 1);
}

static void test_a_workload_without_any_value_is_waited_for_while_it_has_slots(void **state)
{
	struct rows *r = rows_new();
	struct until_answer a;
	size_t c[4];

	(void)state;
	for (int i = 0; i < 2; i++) {
		c[i] = rows_cell(r, "m", i ? "b" : "a", "x", "net", "size=1");
		c[2 + i] = rows_cell(r, "m", i ? "b" : "a", "x", "other", "");
		even(r, c[i], 0, 6, 100, 0.1, 6);
		r->cells[c[2 + i]].slots[KG_OUTCOME_FAIL] = 6;
		r->cells[c[2 + i]].slots[KG_OUTCOME_NONE] = 6;
	}
	a = ask(r, "m", 1, 6);
	assert_false(a.judged || a.stop);
	assert_has(a.text, "other, a/x");
	for (int i = 2; i < 4; i++) {
		r->cells[c[i]].slots[KG_OUTCOME_NONE] = 0;
		r->cells[c[i]].slots[KG_OUTCOME_FAIL] = 12;
	}
	a = ask(r, "m", 1, 6);
	assert_true(a.stop);
	assert_has(a.text, "left out: other, a/x and 1 more");
}

static void test_other_machines_and_unknown_ones(void **state)
{
	struct rows *r = rows_new();
	struct until_answer a;
	size_t c[4];

	(void)state;
	for (int i = 0; i < 2; i++) {
		c[i] = rows_cell(r, "quiet", i ? "b" : "a", "x", "net", "size=1");
		c[2 + i] = rows_cell(r, "noisy", i ? "b" : "a", "x", "net", "size=1");
		even(r, c[i], 0, 6, 100, 0.1, 6);
		even(r, c[2 + i], 0, 6, 100, 10, 6);
	}
	assert_true(ask(r, "quiet", 1, 6).stop);
	assert_false(ask(r, "noisy", 1, 6).stop);
	a = ask(r, "absent", 1, 6);
	assert_false(a.judged || a.stop);
	assert_has(a.text, "no result of machine 'absent'");
	r = rows_new();
	rows_cell(r, "m", "a", "x", "net", "");
	r->cells[0].slots[KG_OUTCOME_INFEASIBLE] = 12;
	a = ask(r, "m", 1, 0);
	assert_false(a.judged || a.stop);
	assert_has(a.text, "no cell can have an interval");
}

static void test_metrics_without_direction_alone_cannot_be_judged(void **state)
{
	struct rows *r = rows_new();
	struct until_answer a;
	size_t c = rows_cell(r, "m", "a", "x", "net", "");

	(void)state;
	even(r, c, 2, 8, 100, 0.001, 4);
	a = ask(r, "m", 1, 8);
	assert_false(a.judged || a.stop);
	assert_has(a.text, "no metric has a direction");
}

static void test_numbers_that_are_none_keep_the_job_going(void **state)
{
	struct rows *r = rows_new();
	Kgrid__V1__CompareReply *reply;
	Kgrid__V1__CompareCell *cell;
	struct until_question q = {
		.machine = "m", .pct = 1, .blocks_done = 6, .blocks_min = 5, .blocks_max = 12};
	const double bad[] = {NAN, INFINITY, -INFINITY};
	struct until_answer a;

	(void)state;
	even(r, rows_cell(r, "m", "a", "x", "net", ""), 0, 6, 100, 0.1, 6);
	even(r, rows_cell(r, "m", "b", "x", "net", ""), 0, 6, 100, 0.1, 6);
	q.compare = reply = rows_compare(r);
	cell = reply->tables[0]->rows[0]->cells[1];
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		double was = cell->delta_lo_pct;

		cell->delta_lo_pct = bad[i];
		until_judge(&q, &a);
		assert_false(a.judged || a.stop);
		assert_true(isfinite(a.widest_pct));
		cell->delta_lo_pct = was;
	}
	until_judge(&q, &a);
	assert_true(a.stop);
	q.pct = NAN; /* a limit that is none is never met */
	until_judge(&q, &a);
	assert_true(a.judged && !a.stop);
	q.pct = 0;
	until_judge(&q, &a);
	assert_false(a.stop);
	q.pct = -1;
	until_judge(&q, &a);
	assert_false(a.stop);
	rows_drop(reply);
}

static void test_a_baseline_of_zero_has_no_percentage_and_is_left_out(void **state)
{
	struct rows *r = rows_new();
	struct until_answer a;
	size_t c[4];

	(void)state;
	for (int i = 0; i < 2; i++) {
		c[i] = rows_cell(r, "m", i ? "b" : "a", "x", "net", "");
		c[2 + i] = rows_cell(r, "m", i ? "b" : "a", "x", "drops", "");
		even(r, c[i], 0, 6, 100, 0.1, 6);
		even(r, c[2 + i], 1, 6, i ? 7 : 0, 50, 6);
	}
	a = ask(r, "m", 1, 6);
	assert_true(a.stop);
	assert_has(a.text, "left out: drops latency, b/x against a/x");
}

static void test_equal_values_are_an_interval_of_no_width(void **state)
{
	struct rows *r = rows_new();
	struct until_answer a;
	size_t c = rows_cell(r, "m", "a", "x", "net", "");

	(void)state;
	even(r, c, 0, 6, 100, 0, 6);
	a = ask(r, "m", 1e-9, 6);
	assert_true(a.stop);
	assert_true(a.widest_pct == 0);
}

static void test_incomparable_cells_keep_the_job_going_and_are_named(void **state)
{
	static const struct epoch_change microcode[] = {{"cpu.microcode", "0x1", "0x2"}};
	const struct report_epoch epochs[] = {{"m", 2, microcode, 1}};
	struct rows *r = rows_new();
	struct until_answer a;
	size_t c[2];

	(void)state;
	c[0] = rows_cell(r, "m", "a", "x", "net", "");
	c[1] = rows_cell(r, "m", "b", "x", "net", "");
	rows_boots(r, c[0], 0, 6, 1, 100, 0.0001);
	rows_boots(r, c[1], 0, 6, 2, 100, 0.0001);
	r->cells[c[0]].slots[KG_OUTCOME_NONE] = r->cells[c[1]].slots[KG_OUTCOME_NONE] = 6;
	r->in.epochs = epochs;
	r->in.n_epochs = 1;
	a = ask(r, "m", 1, 6);
	assert_false(a.judged || a.stop);
	assert_has(a.text, "b/x against a/x, which is incomparable");
}

static void test_long_names_are_cut_and_not_within_a_character(void **state)
{
	static char params[400], workload[64];
	struct rows *r = rows_new();
	struct until_answer a;

	(void)state;
	memset(workload, 'w', sizeof(workload) - 1);
	for (size_t shift = 0; shift < 3; shift++) {
		memset(params, 'a', shift);
		for (size_t i = shift; i + 3 < sizeof(params); i += 3)
			memcpy(&params[i], "\xe2\x82\xac", 4);
		r = rows_new();
		even(r, rows_cell(r, "m", "a", "x", workload, params), 0, 6, 100, 0.1, 6);
		even(r, rows_cell(r, "m", "b", "x", workload, params), 0, 6, 100, 0.1, 6);
		even(r, rows_cell(r, "m", "c", "x", workload, params), 0, 1, 100, 0.1, 0);
		a = ask(r, "m", 1, 6);
		assert_true(a.stop);
		assert_has(a.text, "'until' asks for 1 %");
		assert_has(a.text, "stopped early");
	}
}

/* ---- what the rule does to noisy series ---- */

#define ITERATIONS 3
#define BLOCKS	   12
#define BLOCKS_MIN 5

struct tally {
	unsigned runs, early, covered, early_covered, blocks, too_early;
};

struct series { /* of both kernels, which have the same level */
	double values[2][BLOCKS][ITERATIONS];
	struct verdict_boot boots[2][BLOCKS];
};

/* Deviation `boot` between boots and 0.3 within them, in percent. */
static void series_draw(struct series *s, double boot, struct stats_rng *rng)
{
	for (int side = 0; side < 2; side++) {
		for (int b = 0; b < BLOCKS; b++) {
			double level = 100 * (1 + boot / 100 * stats_rng_normal(rng));

			for (int k = 0; k < ITERATIONS; k++)
				s->values[side][b][k] = level * (1 + 0.003 * stats_rng_normal(rng));
			s->boots[side][b] = (struct verdict_boot){s->values[side][b], ITERATIONS};
		}
	}
}

/* What `kgrid compare` would say of the first blocks, asked for the one cell that there is. */
static struct until_answer ask_of_verdict(const struct verdict *v, uint32_t block, double pct)
{
	Kgrid__V1__CompareCell c[2] = {KGRID__V1__COMPARE_CELL__INIT,
				       KGRID__V1__COMPARE_CELL__INIT};
	Kgrid__V1__CompareCell *cells[] = {&c[0], &c[1]};
	Kgrid__V1__CompareRow row = KGRID__V1__COMPARE_ROW__INIT, *rows = &row;
	Kgrid__V1__CompareTable table = KGRID__V1__COMPARE_TABLE__INIT, *tables = &table;
	Kgrid__V1__CompareReply reply = KGRID__V1__COMPARE_REPLY__INIT;
	struct until_question q = {.compare = &reply,
				   .machine = "m",
				   .pct = pct,
				   .blocks_done = block,
				   .blocks_min = BLOCKS_MIN,
				   .blocks_max = BLOCKS};
	struct until_answer a;

	for (int i = 0; i < 2; i++) {
		c[i].has_present = c[i].present = c[i].has_boots = c[i].has_pending = 1;
		c[i].boots = block;
		c[i].pending = BLOCKS - block;
	}
	c[1].has_p = c[1].has_delta_pct = 1;
	c[1].delta_pct = v->effect_pct;
	c[1].has_delta_lo_pct = c[1].has_delta_hi_pct = v->has_interval;
	c[1].delta_lo_pct = v->lo_pct;
	c[1].delta_hi_pct = v->hi_pct;
	row.n_cells = 2;
	row.cells = cells;
	table.machine = (char *)(uintptr_t) "m";
	table.direction = (char *)(uintptr_t) "higher";
	table.n_rows = 1;
	table.rows = &rows;
	reply.n_tables = 1;
	reply.tables = &tables;
	until_judge(&q, &a);
	return a;
}

/* One job: the rule is asked after every block. */
static void one_job(const struct series *s, double pct, struct tally *t)
{
	struct verdict_policy policy;

	verdict_policy_init(&policy);
	policy.brief = true;
	for (uint32_t block = 1; block <= BLOCKS; block++) {
		struct verdict_side side[2] = {{s->boots[0], block}, {s->boots[1], block}};
		struct until_answer a;
		struct verdict v;
		bool covered;

		assert_int_equal(
			verdict_pair(&side[0], &side[1], VERDICT_HIGHER, &policy, &v, NULL), 0);
		a = ask_of_verdict(&v, block, pct);
		assert_int_equal(a.judged, v.has_interval);
		t->too_early += a.stop && block < BLOCKS_MIN;
		if (!a.stop && block < BLOCKS)
			continue;
		covered = v.lo_pct <= 0 && v.hi_pct >= 0;
		t->runs++;
		t->blocks += block;
		t->covered += covered;
		t->early += block < VERDICT_GATE_BOOTS;
		t->early_covered += block < VERDICT_GATE_BOOTS && covered;
		return;
	}
}

static struct tally many_jobs(double boot, double pct, unsigned n)
{
	struct stats_rng rng = {.state = 20261130};
	struct tally t = {0};
	struct series s;

	while (t.runs < n) {
		series_draw(&s, boot, &rng);
		one_job(&s, pct, &t);
	}
	print_message("boots vary by %.1f %%, until ci95 <= %g %%: %.1f blocks on average; the "
		      "interval at the end covers in %.3f of %u, in %.3f of the %u that stopped "
		      "below %d boots\n",
		      boot, pct, (double)t.blocks / t.runs, (double)t.covered / t.runs, t.runs,
		      t.early ? (double)t.early_covered / t.early : NAN, t.early,
		      VERDICT_GATE_BOOTS);
	return t;
}

/* The interval is nominal at a fixed number of boots. Stopped because it happens to be narrow, it
 * covers less: that is what the text warns of below 8 boots. */
static void test_quiet_series_stop_early_noisy_ones_do_not_and_few_boots_cover_less(void **state)
{
	const unsigned n = 1000;
	struct tally quiet = many_jobs(0.2, 1, n);
	struct tally middle = many_jobs(0.8, 1.2, n);
	struct tally noisy = many_jobs(5, 1, n);
	struct tally fixed = many_jobs(0.8, 1e-6, n); /* never met: all blocks */

	(void)state;
	assert_int_equal(quiet.too_early + middle.too_early + noisy.too_early, 0);
	assert_true(quiet.blocks < 6 * n && middle.blocks > 8 * n && noisy.blocks > 11 * n);
	assert_int_equal(fixed.blocks, BLOCKS * n);
	assert_int_equal(fixed.early, 0);
	/* 0.95 and five standard errors of 0.007; the early ones are below it, and not far */
	assert_true(fixed.covered > 0.915 * n && fixed.covered < 0.985 * n);
	assert_true(quiet.covered > 0.90 * n);
	assert_true(middle.early > 20 && middle.early < n / 2);
	assert_true((double)middle.early_covered / middle.early < (double)fixed.covered / n);
	assert_true((double)middle.early_covered / middle.early > 0.6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_narrow_effect_stops_and_a_wide_one_goes_on),
		cmocka_unit_test(test_never_before_the_least_number_of_blocks),
		cmocka_unit_test(test_after_the_last_block_the_text_says_so),
		cmocka_unit_test(test_the_widest_cell_of_all_tables_decides_and_is_named),
		cmocka_unit_test(test_one_column_is_judged_by_its_median),
		cmocka_unit_test(test_a_row_with_nothing_to_compare_is_judged_by_its_median),
		cmocka_unit_test(test_cells_that_can_have_no_more_values_are_left_out_and_named),
		cmocka_unit_test(
			test_a_workload_without_any_value_is_waited_for_while_it_has_slots),
		cmocka_unit_test(test_other_machines_and_unknown_ones),
		cmocka_unit_test(test_metrics_without_direction_alone_cannot_be_judged),
		cmocka_unit_test(test_numbers_that_are_none_keep_the_job_going),
		cmocka_unit_test(test_a_baseline_of_zero_has_no_percentage_and_is_left_out),
		cmocka_unit_test(test_equal_values_are_an_interval_of_no_width),
		cmocka_unit_test(test_incomparable_cells_keep_the_job_going_and_are_named),
		cmocka_unit_test(test_long_names_are_cut_and_not_within_a_character),
		cmocka_unit_test(
			test_quiet_series_stop_early_noisy_ones_do_not_and_few_boots_cover_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
