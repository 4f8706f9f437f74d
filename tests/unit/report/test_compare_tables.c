/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layout of comparison tables: what is a table, a row, a column, a note. */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>

#include "coordinator/report/compare_tables.h"

#define CELLS_MAX 16

struct job {
	struct report_cell cells[CELLS_MAX];
	struct report_value values[64];
	struct report_input in;
};

static const struct report_metric metrics[] = {
	{"rate", "op/s", "higher"},
	{"latency", "us", "lower"},
};

static void job_init(struct job *j)
{
	memset(j, 0, sizeof(*j));
	j->in.cells = j->cells;
	j->in.values = j->values;
	j->in.metrics = metrics;
	j->in.n_metrics = 2;
}

/* Order of kernels and lists is that of their letters' distance from 'a'. */
static size_t cell(struct job *j, const char *machine, const char *kernel, const char *lsm,
		   const char *workload, const char *params)
{
	struct report_cell *c = &j->cells[j->in.n_cells];

	*c = (struct report_cell){.id = j->in.n_cells + 1,
				  .machine = machine,
				  .kernel = kernel,
				  .lsm = lsm,
				  .lsm_effective = lsm,
				  .workload = workload,
				  .params = params,
				  .kernel_order = (uint32_t)(kernel[0] - 'a'),
				  .lsm_order = (uint32_t)(lsm[0] - 'a')};
	return j->in.n_cells++;
}

static void value(struct job *j, size_t c, size_t metric, uint64_t boot, double v)
{
	j->values[j->in.n_values++] =
		(struct report_value){.cell = c, .metric = metric, .boot = boot, .value = v};
}

static Kgrid__V1__CompareReply *make(struct job *j)
{
	Kgrid__V1__CompareReply *r = calloc(1, sizeof(*r));
	struct kg_err err = {""};

	kgrid__v1__compare_reply__init(r);
	if (report_compare_tables(&j->in, r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static void drop(Kgrid__V1__CompareReply *r)
{
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
}

static bool has_note(const Kgrid__V1__CompareReply *r, const char *part)
{
	for (size_t i = 0; i < r->n_notes; i++) {
		if (strstr(r->notes[i], part))
			return true;
	}
	return false;
}

static void test_columns_are_in_the_job_files_order_baseline_first(void **state)
{
	static const char *const want[] = {"a/x", "a/y", "b/x", "b/y"};
	static const char *const chosen[] = {"b/x", "a/x", "a/y", "b/y"};
	Kgrid__V1__CompareReply *r;
	char got[32];
	struct job j;

	(void)state;
	job_init(&j);
	cell(&j, "m", "b", "y", "w", "");
	cell(&j, "m", "b", "x", "w", "");
	cell(&j, "m", "a", "y", "w", "");
	cell(&j, "m", "a", "x", "w", "");
	for (int round = 0; round < 2; round++) {
		j.in.baseline = round ? "b/x" : NULL;
		r = make(&j);
		assert_int_equal(r->tables[0]->n_columns, 4);
		for (size_t i = 0; i < 4; i++) {
			(void)snprintf(got, sizeof(got), "%s/%s", r->tables[0]->columns[i]->kernel,
				       r->tables[0]->columns[i]->lsm);
			assert_string_equal(got, round ? chosen[i] : want[i]);
		}
		drop(r);
	}
}

static void test_one_table_per_machine_workload_and_metric(void **state)
{
	Kgrid__V1__CompareReply *r;
	struct job j;
	size_t a, b, c;

	(void)state;
	job_init(&j);
	a = cell(&j, "m2", "a", "x", "net", "size=1");
	b = cell(&j, "m1", "a", "x", "net", "size=1");
	c = cell(&j, "m1", "a", "x", "hack", "groups=1");
	j.cells[c].workload_order = 1;
	value(&j, a, 0, 1, 10);
	value(&j, b, 0, 2, 20);
	value(&j, b, 1, 2, 30);
	value(&j, c, 1, 2, 40);
	r = make(&j);
	assert_int_equal(r->n_tables, 4);
	assert_string_equal(r->tables[0]->machine, "m1");
	assert_string_equal(r->tables[0]->workload, "net");
	assert_string_equal(r->tables[0]->metric, "rate");
	assert_string_equal(r->tables[1]->metric, "latency");
	assert_string_equal(r->tables[1]->direction, "lower");
	assert_string_equal(r->tables[2]->workload, "hack");
	assert_string_equal(r->tables[3]->machine, "m2");
	assert_true(r->tables[3]->rows[0]->cells[0]->value == 10);
	assert_true(has_note(r, "a value of a single boot has no interval"));
	drop(r);
	j.in.metric = "latency";
	r = make(&j);
	assert_int_equal(r->n_tables, 2);
	drop(r);
}

static void test_rows_keep_all_their_parameters(void **state)
{
	Kgrid__V1__CompareReply *r;
	struct job j;

	(void)state;
	job_init(&j);
	cell(&j, "m", "a", "x", "net", "seconds=1 size=64 test=RR");
	cell(&j, "m", "a", "x", "net", "seconds=1 size=128 test=RR");
	cell(&j, "m", "a", "x", "net", "seconds=1 test=CRR");
	cell(&j, "m", "a", "x", "hack", "groups=1 mode=process");
	cell(&j, "m", "b", "x", "hack", "groups=1 mode=process");
	cell(&j, "m", "a", "x", "none", "");
	r = make(&j);
	assert_string_equal(r->tables[0]->rows[0]->params, "seconds=1 size=64 test=RR");
	assert_string_equal(r->tables[0]->rows[1]->params, "seconds=1 size=128 test=RR");
	assert_string_equal(r->tables[0]->rows[2]->params, "seconds=1 test=CRR");
	assert_int_equal(r->tables[1]->n_rows, 1);
	assert_string_equal(r->tables[1]->rows[0]->params, "groups=1 mode=process");
	assert_string_equal(r->tables[2]->rows[0]->params, "");
	drop(r);
}

static void test_rows_without_any_value_stand_in_the_first_table(void **state)
{
	Kgrid__V1__CompareReply *r;
	struct job j;
	size_t good, other, failed;

	(void)state;
	job_init(&j);
	good = cell(&j, "m", "a", "x", "net", "size=1");
	other = cell(&j, "m", "a", "x", "net", "size=2");
	failed = cell(&j, "m", "a", "x", "net", "size=3");
	value(&j, good, 0, 1, 10);
	value(&j, other, 1, 1, 10);
	j.cells[failed].slots[KG_OUTCOME_INFEASIBLE] = 5;
	j.cells[failed].slots[KG_OUTCOME_NONE] = 2;
	r = make(&j);
	assert_int_equal(r->n_tables, 2);
	assert_int_equal(r->tables[0]->n_rows, 2);
	assert_string_equal(r->tables[0]->rows[1]->params, "size=3");
	assert_int_equal(r->tables[0]->rows[1]->cells[0]->boots, 0);
	assert_int_equal(r->tables[0]->rows[1]->cells[0]->pending, 2);
	assert_int_equal(r->tables[0]->rows[1]->cells[0]->excluded[0]->count, 5);
	assert_int_equal(r->tables[1]->n_rows, 1);
	assert_string_equal(r->tables[1]->rows[0]->params, "size=2");
	drop(r);
}

static void test_cell_that_was_not_planned_is_not_present(void **state)
{
	Kgrid__V1__CompareReply *r;
	struct job j;

	(void)state;
	job_init(&j);
	cell(&j, "m", "a", "x", "net", "size=1");
	cell(&j, "m", "b", "x", "net", "size=2");
	r = make(&j);
	assert_true(r->tables[0]->rows[0]->cells[0]->present);
	assert_false(r->tables[0]->rows[0]->cells[1]->present);
	assert_false(r->tables[0]->rows[1]->cells[0]->present);
	assert_true(r->tables[0]->rows[1]->cells[1]->present);
	drop(r);
}

static void test_notes_say_what_numbers_do_not(void **state)
{
	static const struct report_exclusion exclusions[] = {
		{"m", "wrong-lsm", "selinux is missing", 4}, {"m", "infra", NULL, 1}};
	Kgrid__V1__CompareReply *r;
	struct job j;

	(void)state;
	job_init(&j);
	cell(&j, "m", "a", "x", "net", "size=1");
	cell(&j, "m", "a", "x", "hack", "size=1");
	j.cells[0].clock = j.cells[1].clock = "instruction";
	j.in.grouped = true;
	j.in.exclusions = exclusions;
	j.in.n_exclusions = 2;
	r = make(&j);
	assert_int_equal(r->n_notes, 5); /* the clock once a machine */
	assert_true(has_note(r, "machine 'm' runs on an instruction clock"));
	assert_true(has_note(r, "order is grouped"));
	assert_true(has_note(r, "excluded: 4 slots on 'm': wrong-lsm: selinux is missing"));
	assert_true(has_note(r, "excluded: 1 slot on 'm': infra"));
	assert_true(has_note(r, "no slot has passed"));
	drop(r);
}

static void test_empty_job_gives_no_table_and_a_note(void **state)
{
	Kgrid__V1__CompareReply *r;
	struct job j;

	(void)state;
	job_init(&j);
	r = make(&j);
	assert_int_equal(r->n_tables, 0);
	assert_true(has_note(r, "no slot has passed"));
	drop(r);
}

static void column_text(const Kgrid__V1__CompareTable *t, size_t i, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s/%s", t->columns[i]->kernel, t->columns[i]->lsm);
}

static void assert_columns(const Kgrid__V1__CompareTable *t, const char *const *want, size_t n)
{
	char got[64];

	assert_int_equal(t->n_columns, n);
	for (size_t i = 0; i < n; i++) {
		column_text(t, i, got, sizeof(got));
		assert_string_equal(got, want[i]);
	}
}

static void test_star_in_the_baseline_makes_a_table_of_each_slice(void **state)
{
	static const char *const by_kernel[2][2] = {{"a/y", "a/x"}, {"b/y", "b/x"}};
	static const char *const by_lsm[2][2] = {{"b/x", "a/x"}, {"b/y", "a/y"}};
	Kgrid__V1__CompareReply *r;
	struct job j;

	(void)state;
	job_init(&j);
	for (size_t i = 0; i < 4; i++) {
		size_t c = cell(&j, "m", i < 2 ? "a" : "b", i % 2 ? "y" : "x", "net", "size=1");

		for (uint64_t boot = 0; boot < 5; boot++)
			value(&j, c, 0, 10 * i + boot, 100 + (double)boot + 10 * (double)i);
	}
	for (int round = 0; round < 2; round++) {
		j.in.baseline = round ? "b/*" : "*/y";
		r = make(&j);
		assert_int_equal(r->n_tables, 2);
		for (size_t t = 0; t < 2; t++) {
			assert_columns(r->tables[t], round ? by_lsm[t] : by_kernel[t], 2);
			assert_null(r->tables[t]->rows[0]->cells[0]->verdict);
			assert_non_null(r->tables[t]->rows[0]->cells[1]->verdict);
		}
		drop(r);
	}
}

static void test_slices_of_several_jobs_are_all_there_once(void **state)
{
	Kgrid__V1__CompareReply *r;
	struct job j;
	size_t i;

	(void)state;
	job_init(&j);
	cell(&j, "m", "a", "x", "net", "");
	cell(&j, "m", "b", "x", "net", "");
	i = cell(&j, "m", "c", "x", "net", ""); /* first of another job's file */
	j.cells[i].kernel_order = 0;
	i = cell(&j, "m", "a", "x", "net", "");
	j.cells[i].kernel_order = 7;
	j.in.baseline = "*/x";
	r = make(&j);
	assert_int_equal(r->n_tables, 3);
	assert_string_equal(r->tables[0]->columns[0]->kernel, "a");
	assert_string_equal(r->tables[1]->columns[0]->kernel, "c");
	assert_string_equal(r->tables[2]->columns[0]->kernel, "b");
	drop(r);
}

static void test_kernels_of_a_selection_stand_by_version(void **state)
{
	static const char *const want[] = {"z/x", "y/x", "a/x"};
	static const char *const releases[] = {"6.16", "6.2", "6.12"};
	Kgrid__V1__CompareReply *r;
	struct job j;

	(void)state;
	job_init(&j);
	cell(&j, "m", "a", "x", "net", "");
	cell(&j, "m", "z", "x", "net", "");
	cell(&j, "m", "y", "x", "net", "");
	for (size_t i = 0; i < 3; i++)
		j.cells[i].release = releases[i];
	j.in.selection = true;
	r = make(&j);
	assert_columns(r->tables[0], want, 3);
	drop(r);
}

static void test_each_machine_of_a_selection_has_a_baseline_of_its_own(void **state)
{
	Kgrid__V1__CompareReply *r;
	struct job j;
	size_t first, second, third, fourth;

	(void)state;
	job_init(&j);
	first = cell(&j, "m1", "a", "x", "w", "");
	second = cell(&j, "m1", "b", "x", "w", "");
	third = cell(&j, "m2", "b", "x", "w", ""); /* another job, that began with b */
	fourth = cell(&j, "m2", "c", "x", "w", "");
	for (uint64_t boot = 1; boot <= 5; boot++) {
		value(&j, first, 0, boot, 100 + (double)boot);
		value(&j, second, 0, 10 + boot, 200 + (double)boot);
		value(&j, third, 0, 20 + boot, 300 + (double)boot);
		value(&j, fourth, 0, 30 + boot, 600 + (double)boot);
	}
	j.in.selection = true;
	r = make(&j);
	assert_int_equal(r->n_tables, 2);
	for (size_t i = 0; i < 2; i++) {
		const Kgrid__V1__CompareTable *t = r->tables[i];

		assert_int_equal(t->n_columns, 2);
		assert_string_equal(t->columns[0]->kernel, i ? "b" : "a");
		assert_string_equal(t->rows[0]->cells[1]->verdict, "improvement");
	}
	drop(r);
	j.in.baseline = "b/x"; /* who names one gets that one */
	r = make(&j);
	assert_int_equal(r->tables[0]->n_columns, 3);
	assert_string_equal(r->tables[0]->columns[0]->kernel, "b");
	drop(r);
}

static void test_two_kernels_that_had_one_label_are_two_columns(void **state)
{
	static const char *const want[] = {"a (0123abcd)/x", "a (9876fedc)/x", "b/x"};
	struct kg_err err = {""};
	Kgrid__V1__CompareReply *r, bad = KGRID__V1__COMPARE_REPLY__INIT;
	struct job j;

	(void)state;
	job_init(&j);
	cell(&j, "m", "a", "x", "net", "");
	cell(&j, "m", "a", "x", "net", "");
	cell(&j, "m", "b", "x", "net", "");
	j.cells[0].kernel_digest = "9876fedcba";
	j.cells[1].kernel_digest = "0123abcdef";
	j.cells[2].kernel_digest = "aaaaaaaaaa";
	r = make(&j);
	assert_columns(r->tables[0], want, 3);
	assert_string_equal(r->tables[0]->columns[1]->kernel_digest, "9876fedcba");
	drop(r);
	j.in.baseline = "a/x";
	assert_int_equal(report_compare_tables(&j.in, &bad, &err), KG_EAMBIGUOUS);
	assert_non_null(strstr(err.text, "a (9876fedc)/x"));
	j.in.baseline = "a (9876fedc)/x";
	r = make(&j);
	assert_string_equal(r->tables[0]->columns[0]->kernel_digest, "9876fedcba");
	drop(r);
}

static void test_unknown_baseline_and_metric_are_refused(void **state)
{
	Kgrid__V1__CompareReply bad = KGRID__V1__COMPARE_REPLY__INIT;
	struct kg_err err = {""};
	struct job j;

	(void)state;
	job_init(&j);
	cell(&j, "m", "a", "x", "net", "");
	j.in.baseline = "q/x";
	assert_int_equal(report_compare_tables(&j.in, &bad, &err), KG_ENOTFOUND);
	assert_non_null(strstr(err.text, "as in 'a/x'"));
	j.in.baseline = NULL;
	j.in.metric = "speed";
	assert_int_equal(report_compare_tables(&j.in, &bad, &err), KG_ENOTFOUND);
	assert_non_null(strstr(err.text, "rate, latency"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_are_in_the_job_files_order_baseline_first),
		cmocka_unit_test(test_one_table_per_machine_workload_and_metric),
		cmocka_unit_test(test_rows_keep_all_their_parameters),
		cmocka_unit_test(test_rows_without_any_value_stand_in_the_first_table),
		cmocka_unit_test(test_cell_that_was_not_planned_is_not_present),
		cmocka_unit_test(test_notes_say_what_numbers_do_not),
		cmocka_unit_test(test_empty_job_gives_no_table_and_a_note),
		cmocka_unit_test(test_star_in_the_baseline_makes_a_table_of_each_slice),
		cmocka_unit_test(test_slices_of_several_jobs_are_all_there_once),
		cmocka_unit_test(test_kernels_of_a_selection_stand_by_version),
		cmocka_unit_test(test_each_machine_of_a_selection_has_a_baseline_of_its_own),
		cmocka_unit_test(test_two_kernels_that_had_one_label_are_two_columns),
		cmocka_unit_test(test_unknown_baseline_and_metric_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
