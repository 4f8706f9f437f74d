/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the cells of a comparison say, and when they refuse to. Rows are those of FIELD_CASES.md. */
#include "tests/unit/report/fixture.h"

static const struct epoch_change microcode[] = {{"cpu.microcode", "0x1", "0x2"}};
static const struct epoch_change hardware[] = {{"cpu.present", "0-191", "0-95"},
					       {"bios.version", "1", NULL}};
static const struct epoch_change back[] = {{"cpu.microcode", "0x2", "0x1"}};

/* Baseline a/x and candidate b/x on machine m. */
static void two_cells(struct rows *r, size_t *ret_a, size_t *ret_b)
{
	*ret_a = rows_cell(r, "m", "a", "x", "net", "size=1");
	*ret_b = rows_cell(r, "m", "b", "x", "net", "size=1");
}

static Kgrid__V1__CompareCell *cell_at(const Kgrid__V1__CompareReply *r, size_t table, size_t row,
				       size_t column)
{
	return r->tables[table]->rows[row]->cells[column];
}

static void test_row_36_an_answer_is_never_empty(void **state)
{
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();
	size_t a, b;

	(void)state;
	reply = rows_compare(r); /* nothing planned */
	assert_int_equal(reply->n_tables, 0);
	assert_true(has_note(reply, "nothing was planned"));
	rows_drop(reply);

	two_cells(r, &a, &b);
	r->cells[a].slots[KG_OUTCOME_NONE] = r->cells[b].slots[KG_OUTCOME_NONE] = 3;
	reply = rows_compare(r); /* nothing finished */
	assert_true(has_note(reply, "no slot has passed yet"));
	assert_string_equal(cell_at(reply, 0, 0, 1)->verdict, "unknown");
	assert_has(cell_at(reply, 0, 0, 1)->reason, "3 pending");
	rows_drop(reply);

	rows_boots(r, a, 0, 5, 0, 100, 0.001);
	r->in.metric = "latency"; /* known, but no value of it */
	reply = rows_compare(r);
	assert_int_equal(reply->n_tables, 0);
	assert_true(has_note(reply, "no value of metric 'latency'"));
	rows_drop(reply);

	r = rows_new();
	a = rows_cell(r, "m", "a", "x", "net", "size=1");
	rows_boots(r, a, 0, 5, 0, 100, 0.001);
	reply = rows_compare(r); /* one column */
	assert_true(has_note(reply, "a/x is the only column"));
	rows_drop(reply);
}

static void test_row_41_a_side_without_boots_is_named_with_its_outcomes(void **state)
{
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();
	Kgrid__V1__CompareCell *c;
	size_t a, b;

	(void)state;
	two_cells(r, &a, &b);
	r->cells[a].slots[KG_OUTCOME_WRONG_LSM] = 5;
	rows_boots(r, b, 0, 5, 0, 100, 0.001);
	reply = rows_compare(r);
	c = cell_at(reply, 0, 0, 1);
	assert_string_equal(c->verdict, "unknown");
	assert_string_equal(c->reason,
			    "insufficient: baseline a/x has no valid boot (5 wrong-lsm)");
	assert_false(c->has_delta_pct);
	assert_false(c->has_p);
	assert_int_equal(c->baseline_boots, 0);
	assert_int_equal(c->boots, 5);
	rows_drop(reply);

	r = rows_new();
	two_cells(r, &a, &b);
	rows_boots(r, a, 0, 5, 0, 100, 0.001);
	r->cells[b].slots[KG_OUTCOME_PANIC] = 3;
	r->cells[b].slots[KG_OUTCOME_NONE] = 2;
	reply = rows_compare(r);
	assert_string_equal(cell_at(reply, 0, 0, 1)->reason,
			    "insufficient: b/x has no valid boot (3 panic, 2 pending)");
	rows_drop(reply);

	r = rows_new(); /* both, and a baseline that was never planned in a row */
	two_cells(r, &a, &b);
	rows_cell(r, "m", "b", "x", "net", "size=2");
	r->cells[a].slots[KG_OUTCOME_BOOT_HANG] = r->cells[b].slots[KG_OUTCOME_INFRA] = 1;
	reply = rows_compare(r);
	assert_has(cell_at(reply, 0, 0, 1)->reason,
		   "baseline a/x has no valid boot (1 boot-hang); b/x has no valid boot (1 infra)");
	assert_has(cell_at(reply, 0, 1, 1)->reason, "baseline a/x is not part of this row");
	assert_null(cell_at(reply, 0, 1, 0)->verdict);
	rows_drop(reply);
}

static void test_row_43_iterations_of_one_boot_confirm_nothing(void **state)
{
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();
	Kgrid__V1__CompareCell *c;
	size_t a, b;

	(void)state;
	two_cells(r, &a, &b);
	for (int i = 0; i < 100; i++) { /* one boot a side, a hundred iterations, 10 % apart */
		rows_value(r, a, 0, 1, 100 + 0.01 * i);
		rows_value(r, b, 0, 2, 90 + 0.01 * i);
	}
	reply = rows_compare(r);
	c = cell_at(reply, 0, 0, 1);
	assert_string_equal(c->verdict, "unknown");
	assert_has(c->reason, "few boots: 1 and 1");
	assert_int_equal(c->boots, 1);
	assert_int_equal(c->iterations, 100);
	assert_true(c->more_boots >= 4);
	rows_drop(reply);
}

static void test_row_46_hardware_that_changed_under_a_label_is_not_mixed(void **state)
{
	const struct report_epoch epochs[] = {{"m", 2, hardware, 2}, {"other", 2, microcode, 1}};
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();
	Kgrid__V1__CompareCell *c;
	size_t a, b;

	(void)state;
	two_cells(r, &a, &b);
	rows_boots(r, a, 0, 6, 1, 200, 0.001);
	rows_boots(r, a, 0, 5, 2, 100, 0.001);
	rows_boots(r, b, 0, 6, 2, 100, 0.001);
	r->in.epochs = epochs;
	r->in.n_epochs = 2;
	reply = rows_compare(r);
	c = cell_at(reply, 0, 0, 1);
	assert_string_equal(c->verdict, "incomparable");
	assert_has(c->reason, "epochs 1 and 2");
	assert_has(c->reason, "CPUs present 0-191 -> 0-95");
	assert_has(c->reason, "BIOS version 1 -> unsupported");
	assert_has(c->reason, "--across-epochs");
	assert_null(strstr(c->reason, "microcode"));
	assert_false(c->has_delta_pct);
	assert_false(c->has_p);
	c = cell_at(reply, 0, 0, 0); /* its value is of the newest epoch, not of both */
	assert_true(fabs(c->value - 100) < 1);
	assert_int_equal(c->boots, 5);
	assert_int_equal(c->n_epochs, 2);
	assert_has(c->reason, "value of epoch 2 only: 5 of 11 boots");
	rows_drop(reply);
}

static void test_row_47_microcode_between_the_sides_is_named_and_refused(void **state)
{
	const struct report_epoch epochs[] = {{"m", 2, microcode, 1}, {"m", 3, back, 1}};
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();
	Kgrid__V1__CompareCell *c;
	size_t a, b;

	(void)state;
	two_cells(r, &a, &b);
	rows_boots(r, a, 0, 8, 1, 100, 0.001);
	rows_boots(r, b, 0, 8, 2, 90, 0.001);
	r->in.epochs = epochs;
	r->in.n_epochs = 2;
	reply = rows_compare(r);
	c = cell_at(reply, 0, 0, 1);
	assert_string_equal(c->verdict, "incomparable");
	assert_has(c->reason, "microcode 0x1 -> 0x2");
	assert_false(c->has_delta_pct);
	assert_int_equal(c->epochs[0], 2);
	rows_drop(reply);

	r->in.across_epochs = true;
	reply = rows_compare(r);
	c = cell_at(reply, 0, 0, 1);
	assert_string_equal(c->verdict, "regression");
	assert_true(fabs(c->delta_pct + 10) < 0.5);
	assert_has(c->reason, "across boots of epochs 1 and 2: microcode 0x1 -> 0x2");
	rows_drop(reply);

	r = rows_new(); /* changed, and changed back: other epochs all the same */
	two_cells(r, &a, &b);
	rows_boots(r, a, 0, 5, 1, 100, 0.001);
	rows_boots(r, b, 0, 5, 3, 100, 0.001);
	r->in.epochs = epochs;
	r->in.n_epochs = 2;
	reply = rows_compare(r);
	assert_string_equal(cell_at(reply, 0, 0, 1)->verdict, "incomparable");
	assert_has(cell_at(reply, 0, 0, 1)->reason, "changed back");
	rows_drop(reply);
}

static void test_epochs_of_the_same_state_or_never_recorded_are_comparable(void **state)
{
	static const uint32_t sides[][3] = {{0, 0, 1}, {4, 4, 1}, {0, 1, 0}, {1, 0, 0}, {1, 2, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
		struct rows *r = rows_new();
		Kgrid__V1__CompareReply *reply;
		size_t a, b;

		two_cells(r, &a, &b);
		rows_boots(r, a, 0, 5, sides[i][0], 100, 0.001);
		rows_boots(r, b, 0, 5, sides[i][1], 100, 0.001);
		reply = rows_compare(r);
		assert_int_equal(strcmp(cell_at(reply, 0, 0, 1)->verdict, "incomparable") != 0,
				 sides[i][2]);
		if (i == 2)
			assert_has(cell_at(reply, 0, 0, 1)->reason,
				   "of 5 of 10 boots the machine's state was not recorded");
		if (i == 4)
			assert_has(cell_at(reply, 0, 0, 1)->reason, "what changed is not known");
		rows_drop(reply);
	}
}

static void test_row_52_without_a_direction_nothing_is_a_regression(void **state)
{
	/* metric, level of the candidate, word */
	static const struct {
		size_t metric;
		double level;
		const char *word;
	} cases[] = {
		{0, 110, "improvement"}, {0, 90, "regression"}, {1, 110, "regression"},
		{1, 90, "improvement"},	 {2, 110, "different"}, {2, 90, "different"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rows *r = rows_new();
		Kgrid__V1__CompareReply *reply;
		Kgrid__V1__CompareCell *c;
		size_t a, b;

		two_cells(r, &a, &b);
		rows_boots(r, a, cases[i].metric, 8, 0, 100, 0.001);
		rows_boots(r, b, cases[i].metric, 8, 0, cases[i].level, 0.001);
		reply = rows_compare(r);
		c = cell_at(reply, 0, 0, 1);
		assert_string_equal(c->verdict, cases[i].word);
		/* positive is better; without a direction it is the plain change */
		assert_true((c->delta_pct > 0) ==
			    (cases[i].metric == 1 ? cases[i].level < 100 : cases[i].level > 100));
		assert_true(c->has_delta_lo_pct && c->delta_lo_pct <= c->delta_pct &&
			    c->delta_pct <= c->delta_hi_pct);
		assert_int_equal(c->has_p_worse, cases[i].metric != 2);
		rows_drop(reply);
	}
}

static void test_all_tables_and_slices_are_one_family(void **state)
{
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();
	double alone;
	size_t a, b;

	(void)state;
	two_cells(r, &a, &b);
	rows_boots(r, a, 0, 6, 0, 100, 0.001);
	rows_boots(r, b, 0, 6, 0, 80, 0.001);
	reply = rows_compare(r);
	alone = cell_at(reply, 0, 0, 1)->q;
	assert_true(alone == cell_at(reply, 0, 0, 1)->p);
	rows_drop(reply);

	for (int i = 0; i < 9; i++) { /* nine more pairs, on other machines, without a change */
		static const char *const names[] = {"n0", "n1", "n2", "n3", "n4",
						    "n5", "n6", "n7", "n8"};

		a = rows_cell(r, names[i], "a", "x", "net", "size=1");
		b = rows_cell(r, names[i], "b", "x", "net", "size=1");
		rows_boots(r, a, 0, 6, 0, 100, 0.01);
		rows_boots(r, b, 0, 6, 0, 100, 0.01);
	}
	for (int round = 0; round < 2; round++) {
		double lowest = 1;

		r->in.baseline = round ? "a/*" : NULL; /* in slices of each list */
		r->in.correction = "holm";
		reply = rows_compare(r);
		for (size_t t = 0; t < reply->n_tables; t++)
			lowest = fmin(lowest, cell_at(reply, t, 0, 1)->p);
		assert_string_equal(reply->tables[0]->machine, "m");
		/* Holm: the smallest of ten p is adjusted tenfold. */
		assert_true(lowest == alone);
		assert_true(fabs(cell_at(reply, 0, 0, 1)->q - 10 * alone) < 1e-12);
		rows_drop(reply);
	}
}

static void test_gate_takes_holm_and_eight_boots(void **state)
{
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();
	size_t a, b;

	(void)state;
	two_cells(r, &a, &b);
	rows_boots(r, a, 0, 6, 0, 100, 0.001);
	rows_boots(r, b, 0, 6, 0, 80, 0.001);
	r->in.gate = true;
	reply = rows_compare(r);
	assert_string_equal(cell_at(reply, 0, 0, 1)->verdict, "unknown");
	assert_has(cell_at(reply, 0, 0, 1)->reason, "a gate needs 8 a side");
	rows_drop(reply);
}

static void test_policy_that_makes_no_sense_is_refused(void **state)
{
	static const struct {
		double alpha, min_effect;
		const char *correction, *part;
	} cases[] = {{0, 1, NULL, "alpha"},    {1, 1, NULL, "alpha"},	  {NAN, 1, NULL, "alpha"},
		     {.05, -1, NULL, "small"}, {.05, NAN, NULL, "small"}, {.05, 1, "bon", "'bon'"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		Kgrid__V1__CompareReply reply = KGRID__V1__COMPARE_REPLY__INIT;
		struct rows *r = rows_new();
		struct kg_err err = {""};

		r->in.has_alpha = r->in.has_min_effect = true;
		r->in.alpha = cases[i].alpha;
		r->in.min_effect_pct = cases[i].min_effect;
		r->in.correction = cases[i].correction;
		assert_int_equal(report_compare_tables(&r->in, &reply, &err), KG_EINVALID);
		assert_has(err.text, cases[i].part);
	}
}

static void test_smallest_effect_is_asked_for_or_of_the_machine_or_the_default(void **state)
{
	const struct report_min_effect own[] = {
		{"m", "net", "size=1", "rate", "op/s", 4, true},
		{"n", "net", "size=1", "rate", "op/s", 9, false},
	};
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();
	size_t a, b;

	(void)state;
	two_cells(r, &a, &b);
	rows_boots(r, a, 0, 8, 0, 100, 0.0005);
	rows_boots(r, b, 0, 8, 0, 97, 0.0005);
	reply = rows_compare(r);
	assert_string_equal(cell_at(reply, 0, 0, 1)->verdict, "regression");
	assert_true(reply->tables[0]->min_effect_pct == 1);
	rows_drop(reply);

	r->in.min_effects = own;
	r->in.n_min_effects = 2;
	reply = rows_compare(r);
	assert_string_equal(cell_at(reply, 0, 0, 1)->verdict, "same");
	assert_true(reply->tables[0]->min_effect_pct == 4);
	assert_true(has_note(reply, "A/A runs on 'm' differ too often"));
	rows_drop(reply);

	r->in.has_min_effect = true;
	r->in.min_effect_pct = 2;
	reply = rows_compare(r);
	assert_string_equal(cell_at(reply, 0, 0, 1)->verdict, "regression");
	assert_false(has_note(reply, "A/A"));
	rows_drop(reply);
}

static void test_values_come_when_asked_for_with_their_boots(void **state)
{
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();
	Kgrid__V1__CompareCell *c;
	size_t a, b;

	(void)state;
	two_cells(r, &a, &b);
	rows_value(r, a, 0, 7, 3)->block = 2;
	rows_value(r, b, 0, 8, 5);
	rows_value(r, a, 0, 7, 1)->block = 2; /* second iteration */
	rows_value(r, a, 0, 3, 9)->job = 4;
	reply = rows_compare(r);
	assert_int_equal(cell_at(reply, 0, 0, 0)->n_boots_values, 0);
	assert_true(cell_at(reply, 0, 0, 0)->value == 5.5); /* of 9 and (3 + 1) / 2 */
	rows_drop(reply);
	r->in.with_values = true;
	reply = rows_compare(r);
	c = cell_at(reply, 0, 0, 0);
	assert_int_equal(c->n_boots_values, 2);
	assert_int_equal(c->boots_values[0]->boot, 3);
	assert_int_equal(c->boots_values[0]->job, 4);
	assert_int_equal(c->boots_values[1]->block, 2);
	assert_int_equal(c->boots_values[1]->n_value, 2);
	assert_true(c->boots_values[1]->value[0] == 3 && c->boots_values[1]->value[1] == 1);
	rows_drop(reply);
}

static void test_values_that_are_not_finite_are_left_out_and_counted(void **state)
{
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();
	size_t a, b;

	(void)state;
	two_cells(r, &a, &b);
	rows_boots(r, a, 0, 5, 0, 100, 0.001);
	rows_value(r, b, 0, 50, NAN);
	rows_value(r, b, 0, 51, INFINITY);
	reply = rows_compare(r);
	assert_true(has_note(reply, "2 values that are no finite number"));
	assert_int_equal(cell_at(reply, 0, 0, 1)->boots, 0);
	assert_has(cell_at(reply, 0, 0, 1)->reason, "insufficient: b/x");
	rows_drop(reply);
}

static void test_columns_that_pool_different_lists_are_incomparable(void **state)
{
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();
	size_t a, b, c;

	(void)state;
	two_cells(r, &a, &b);
	c = rows_cell(r, "m", "b", "x", "net", "size=1"); /* of another job */
	r->cells[c].lsm_effective = "capability,tomoyo";
	rows_boots(r, a, 0, 5, 0, 100, 0.001);
	rows_boots(r, b, 0, 5, 0, 100, 0.001);
	reply = rows_compare(r);
	assert_string_not_equal(cell_at(reply, 0, 0, 1)->verdict, "incomparable");
	rows_drop(reply);
	rows_boots(r, c, 0, 5, 0, 80, 0.001);
	reply = rows_compare(r);
	assert_string_equal(cell_at(reply, 0, 0, 1)->verdict, "incomparable");
	assert_has(cell_at(reply, 0, 0, 1)->reason, "b/x had different lists");
	rows_drop(reply);
}

static void test_everything_moved_is_said_first_of_the_machine(void **state)
{
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();
	size_t a, b;

	(void)state;
	for (size_t metric = 0; metric < 5; metric++) {
		static const char *const workloads[] = {"w0", "w1", "w2", "w3", "w4"};

		a = rows_cell(r, "m", "a", "x", workloads[metric], "");
		b = rows_cell(r, "m", "b", "x", workloads[metric], "");
		rows_boots(r, a, 0, 8, 0, 100, 0.001);
		rows_boots(r, b, 0, 8, 0, 90, 0.001);
	}
	a = rows_cell(r, "n", "a", "x", "w0", "");
	b = rows_cell(r, "n", "b", "x", "w0", "");
	rows_boots(r, a, 0, 8, 0, 100, 0.001);
	rows_boots(r, b, 0, 8, 0, 90, 0.001);
	reply = rows_compare(r);
	for (size_t t = 0; t < reply->n_tables; t++)
		assert_int_equal(reply->tables[t]->everything_moved,
				 strcmp(reply->tables[t]->machine, "m") == 0);
	assert_true(has_note(
		reply, "most of what was measured on 'm' moved the same way between a/x and b/x"));
	rows_drop(reply);
}

static void test_sizes_of_one_test_that_all_pay_are_not_everything(void **state)
{
	static const char *const sizes[] = {"s=1", "s=2", "s=3", "s=4", "s=5", "s=6"};
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		size_t a = rows_cell(r, "m", "a", "x", "net", sizes[i]);
		size_t b = rows_cell(r, "m", "b", "x", "net", sizes[i]);

		rows_boots(r, a, 0, 8, 0, 100, 0.001);
		rows_boots(r, b, 0, 8, 0, 90, 0.001);
	}
	reply = rows_compare(r);
	assert_string_equal(cell_at(reply, 0, 0, 1)->verdict, "regression");
	assert_false(reply->tables[0]->everything_moved);
	rows_drop(reply);
}

static void test_stopped_early_below_eight_boots_is_said(void **state)
{
	(void)state;
	for (unsigned boots = 7; boots <= 8; boots++) {
		struct rows *r = rows_new();
		Kgrid__V1__CompareReply *reply;
		size_t a, b;

		two_cells(r, &a, &b);
		rows_boots(r, a, 0, boots, 0, 100, 0.001);
		rows_boots(r, b, 0, 8, 0, 100, 0.001);
		reply = rows_compare(r);
		assert_false(has_note(reply, "stopped early"));
		rows_drop(reply);
		r->in.stopped_early = true;
		reply = rows_compare(r);
		assert_int_equal(has_note(reply, "stopped early"), boots == 7);
		assert_int_equal(has_note(reply, "with 7 boots a side"), boots == 7);
		rows_drop(reply);
	}
}

static void test_a_selection_has_the_accounting_of_its_slots(void **state)
{
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();
	size_t a, b;

	(void)state;
	two_cells(r, &a, &b);
	rows_boots(r, a, 0, 5, 0, 100, 0.001);
	r->cells[b].slots[KG_OUTCOME_PANIC] = 2;
	r->cells[b].slots[KG_OUTCOME_NONE] = 3;
	reply = rows_compare(r);
	assert_null(reply->accounting);
	rows_drop(reply);
	r->in.selection = true;
	reply = rows_compare(r);
	assert_int_equal(reply->accounting->slots, 10);
	assert_int_equal(reply->accounting->pending, 3);
	assert_int_equal(reply->accounting->n_outcomes, 2);
	rows_drop(reply);
}

static void test_bimodal_cells_are_marked(void **state)
{
	Kgrid__V1__CompareReply *reply;
	struct rows *r = rows_new();
	size_t a, b;

	(void)state;
	two_cells(r, &a, &b);
	rows_boots(r, a, 0, 8, 0, 100, 0.002);
	for (int i = 0; i < 10; i++)
		rows_boots(r, b, 0, 1, 0, i % 2 ? 100 : 130, 0.002);
	reply = rows_compare(r);
	assert_true(cell_at(reply, 0, 0, 1)->multimodal);
	assert_false(cell_at(reply, 0, 0, 0)->multimodal);
	rows_drop(reply);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_row_36_an_answer_is_never_empty),
		cmocka_unit_test(test_row_41_a_side_without_boots_is_named_with_its_outcomes),
		cmocka_unit_test(test_row_43_iterations_of_one_boot_confirm_nothing),
		cmocka_unit_test(test_row_46_hardware_that_changed_under_a_label_is_not_mixed),
		cmocka_unit_test(test_row_47_microcode_between_the_sides_is_named_and_refused),
		cmocka_unit_test(test_epochs_of_the_same_state_or_never_recorded_are_comparable),
		cmocka_unit_test(test_row_52_without_a_direction_nothing_is_a_regression),
		cmocka_unit_test(test_all_tables_and_slices_are_one_family),
		cmocka_unit_test(test_gate_takes_holm_and_eight_boots),
		cmocka_unit_test(test_policy_that_makes_no_sense_is_refused),
		cmocka_unit_test(
			test_smallest_effect_is_asked_for_or_of_the_machine_or_the_default),
		cmocka_unit_test(test_values_come_when_asked_for_with_their_boots),
		cmocka_unit_test(test_values_that_are_not_finite_are_left_out_and_counted),
		cmocka_unit_test(test_columns_that_pool_different_lists_are_incomparable),
		cmocka_unit_test(test_everything_moved_is_said_first_of_the_machine),
		cmocka_unit_test(test_sizes_of_one_test_that_all_pay_are_not_everything),
		cmocka_unit_test(test_stopped_early_below_eight_boots_is_said),
		cmocka_unit_test(test_a_selection_has_the_accounting_of_its_slots),
		cmocka_unit_test(test_bimodal_cells_are_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
