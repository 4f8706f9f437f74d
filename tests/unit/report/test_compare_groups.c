/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machines as a random sample, and how effects differ between groups and kernels. */
#include "tests/unit/report/fixture.h"

struct machine {
	const char *name, *vendor, *microarchitecture;
	double change; /* of b/x against a/x */
};

static const struct machine machines[] = {
	{"amd1", "AuthenticAMD", "Zen3", 0.90},	   {"amd2", "AuthenticAMD", "Zen3", 0.90},
	{"amd3", "AuthenticAMD", "Zen4", 0.91},	   {"intel1", "GenuineIntel", "Ice Lake", 1.00},
	{"intel2", "GenuineIntel", "Ice Lake", 1}, {"intel3", "GenuineIntel", NULL, 1.00},
};

static struct rows *fleet(size_t metric)
{
	struct rows *r = rows_new();

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		const struct machine *m = &machines[i];

		for (int side = 0; side < 2; side++) {
			size_t c = rows_cell(r, m->name, side ? "b" : "a", "x", "net", "size=1");

			r->cells[c].cpu_vendor = m->vendor;
			r->cells[c].microarchitecture = m->microarchitecture;
			rows_boots(r, c, metric, 8, 0, side ? 1000 * m->change : 1000, 0.0005);
		}
	}
	return r;
}

static const Kgrid__V1__CompareSummary *find(const Kgrid__V1__CompareReply *r, const char *kind,
					     const char *name)
{
	for (size_t i = 0; i < r->n_summaries; i++) {
		if (strcmp(r->summaries[i]->kind, kind) == 0 &&
		    strcmp(r->summaries[i]->name, name) == 0)
			return r->summaries[i];
	}
	return NULL;
}

static void test_summaries_per_vendor_microarchitecture_and_over_all(void **state)
{
	Kgrid__V1__CompareReply *r = rows_compare(fleet(0));
	const Kgrid__V1__CompareSummary *s;

	(void)state;
	assert_int_equal(r->n_summaries, 2 + 3 + 1); /* intel3 has no known microarchitecture */
	s = find(r, "vendor", "AuthenticAMD");
	assert_int_equal(s->machines, 3);
	assert_true(s->effect_pct < -8.5 && s->effect_pct > -10.5);
	assert_true(s->has_lo_pct && s->lo_pct < s->effect_pct && s->effect_pct < s->hi_pct);
	assert_null(s->note); /* none was left out */
	assert_string_equal(s->column->kernel, "b");
	assert_string_equal(s->baseline->kernel, "a");
	s = find(r, "microarchitecture", "Zen4");
	assert_int_equal(s->machines, 1);
	assert_false(s->has_lo_pct); /* one machine is one machine */
	assert_int_equal(find(r, "all", "all")->machines, 6);
	rows_drop(r);
}

static void test_lower_is_better_turns_summaries_around(void **state)
{
	Kgrid__V1__CompareReply *r = rows_compare(fleet(1));
	const Kgrid__V1__CompareSummary *s = find(r, "vendor", "AuthenticAMD");

	(void)state;
	assert_true(s->effect_pct > 8.5 && s->effect_pct < 10.5);
	assert_true(s->lo_pct < s->effect_pct && s->effect_pct < s->hi_pct);
	rows_drop(r);
}

static void test_machines_that_cannot_count_are_left_out_by_name(void **state)
{
	struct rows *r = fleet(0);
	Kgrid__V1__CompareReply *reply;
	const Kgrid__V1__CompareSummary *s;

	(void)state;
	for (size_t i = 0; i < r->in.n_values; i++) { /* amd1: between the sides another epoch */
		if (r->values[i].cell == 0)
			r->values[i].epoch = 1;
		if (r->values[i].cell == 1)
			r->values[i].epoch = 2;
	}
	r->cells[rows_cell(r, "amd4", "b", "x", "net", "size=1")].cpu_vendor = "AuthenticAMD";
	rows_boots(r, rows_cell(r, "amd4", "a", "x", "net", "size=1"), 0, 5, 0, 1000, 0.001);
	reply = rows_compare(r);
	s = find(reply, "vendor", "AuthenticAMD");
	assert_int_equal(s->machines, 2);
	assert_string_equal(s->note, "left out: amd1 (incomparable), amd4 (no result)");
	rows_drop(reply);
}

static void test_vendors_that_differ_are_an_interaction(void **state)
{
	Kgrid__V1__CompareReply *r = rows_compare(fleet(0));
	const Kgrid__V1__CompareInteraction *i;

	(void)state;
	assert_true(r->n_interactions >= 1);
	i = r->interactions[0];
	assert_has(i->text, "b/x costs ");
	assert_has(i->text, "less on GenuineIntel than on AuthenticAMD [");
	assert_has(i->text, "net rate, size=1");
	assert_true(i->difference_pct > 9 && i->difference_pct < 12);
	assert_true(i->lo_pct > 0 && i->lo_pct < i->difference_pct &&
		    i->difference_pct < i->hi_pct);
	assert_true(has_note(r, "interactions looked at"));
	rows_drop(r);
}

/* Cells of kernel x list on one machine; `extra` is what b/y costs beside both. */
static struct rows *square(size_t metric, double extra)
{
	static const char *const names[4][2] = {{"a", "x"}, {"a", "y"}, {"b", "x"}, {"b", "y"}};
	const double levels[] = {1000, 950, 980, 980 * 0.95 * (1 - extra)};
	struct rows *r = rows_new();

	for (size_t i = 0; i < 4; i++) {
		size_t c = rows_cell(r, "m", names[i][0], names[i][1], "net", "size=1");

		rows_boots(r, c, metric, 8, 3, levels[i], 0.001);
	}
	return r;
}

static void test_kernel_by_list_says_where_a_list_costs_more(void **state)
{
	static const char *const baselines[] = {NULL, "*/x", "a/*"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct rows *r = square(0, 0.05);
		Kgrid__V1__CompareReply *reply;

		r->in.baseline = baselines[i];
		reply = rows_compare(r);
		assert_int_equal(reply->n_interactions, 1);
		assert_has(reply->interactions[0]->text, "y costs 4.9");
		assert_has(reply->interactions[0]->text, "% more on b than on a [");
		assert_has(reply->interactions[0]->text, "on m: net rate, size=1");
		assert_true(fabs(reply->interactions[0]->difference_pct + 5) < 0.5);
		rows_drop(reply);
	}
}

static void test_interactions_that_do_not_stand_out_are_counted_only(void **state)
{
	Kgrid__V1__CompareReply *reply = rows_compare(square(0, 0));

	(void)state;
	assert_int_equal(reply->n_interactions, 0);
	assert_true(has_note(reply, "1 interaction looked at"));
	assert_true(has_note(reply, "0 stand out"));
	rows_drop(reply);
}

static void test_interaction_of_lower_and_of_no_direction(void **state)
{
	Kgrid__V1__CompareReply *reply = rows_compare(square(1, 0.05));

	(void)state;
	assert_has(reply->interactions[0]->text, "y costs 4.9");
	assert_has(reply->interactions[0]->text, "% less on b than on a");
	assert_true(reply->interactions[0]->difference_pct > 0);
	rows_drop(reply);
	reply = rows_compare(square(2, 0.05));
	assert_has(reply->interactions[0]->text, "y changes switches by 4.9");
	rows_drop(reply);
}

static void test_interaction_across_epochs_is_not_looked_at(void **state)
{
	struct rows *r = square(0, 0.05);
	Kgrid__V1__CompareReply *reply;

	(void)state;
	r->values[0].epoch = r->values[1].epoch = r->values[2].epoch = 2;
	reply = rows_compare(r);
	assert_int_equal(reply->n_interactions, 0);
	assert_false(has_note(reply, "interaction"));
	rows_drop(reply);
	r->in.across_epochs = true;
	reply = rows_compare(r);
	assert_int_equal(reply->n_interactions, 1);
	rows_drop(reply);
}

static void test_no_machine_with_an_interval_is_said(void **state)
{
	struct rows *r = rows_new();
	size_t a = rows_cell(r, "m", "a", "x", "net", ""),
	       b = rows_cell(r, "m", "b", "x", "net", ""),
	       c = rows_cell(r, "n", "a", "x", "net", ""),
	       d = rows_cell(r, "n", "b", "x", "net", "");
	Kgrid__V1__CompareReply *reply;

	(void)state;
	rows_value(r, a, 0, 1, 10);
	rows_value(r, b, 0, 2, 10);
	rows_value(r, c, 0, 3, 10);
	rows_value(r, d, 0, 4, 10);
	reply = rows_compare(r);
	assert_int_equal(reply->n_summaries, 0);
	assert_true(has_note(reply, "1 comparison without a summary over machines"));
	rows_drop(reply);
}

static void test_one_machine_without_an_interval_is_no_news(void **state)
{
	struct rows *r = rows_new();
	size_t a = rows_cell(r, "m", "a", "x", "net", ""),
	       b = rows_cell(r, "m", "b", "x", "net", "");
	Kgrid__V1__CompareReply *reply;

	(void)state;
	rows_value(r, a, 0, 1, 10);
	rows_value(r, b, 0, 2, 10);
	reply = rows_compare(r);
	assert_false(has_note(reply, "without a summary over machines"));
	assert_int_equal(reply->tables[0]->rows[0]->cells[1]->baseline_iterations, 1);
	rows_drop(reply);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summaries_per_vendor_microarchitecture_and_over_all),
		cmocka_unit_test(test_lower_is_better_turns_summaries_around),
		cmocka_unit_test(test_machines_that_cannot_count_are_left_out_by_name),
		cmocka_unit_test(test_vendors_that_differ_are_an_interaction),
		cmocka_unit_test(test_kernel_by_list_says_where_a_list_costs_more),
		cmocka_unit_test(test_interactions_that_do_not_stand_out_are_counted_only),
		cmocka_unit_test(test_interaction_of_lower_and_of_no_direction),
		cmocka_unit_test(test_interaction_across_epochs_is_not_looked_at),
		cmocka_unit_test(test_no_machine_with_an_interval_is_said),
		cmocka_unit_test(test_one_machine_without_an_interval_is_no_news),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
