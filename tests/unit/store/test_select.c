/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selections over jobs: what is compared, put in order and told apart. */
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000LL

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct answer a;

	fixture_init(f);
	fixture_open(f);
	fixture_kernels(f);
	fixture_job(f, 2, &a);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_deinit(*state);
	free(*state);
	return 0;
}

/* Boot `id` on the two slots from `slot` on: three values around `base` each, of an epoch if facts
 * are given. */
static void run_boot(struct fixture *f, uint64_t id, uint64_t job, uint64_t slot, double base,
		     const char *const *facts)
{
	const struct fixture_where w = {.kernel = (slot - 1) % 4 < 2 ? KERNEL_A : KERNEL_B,
					.block = (uint32_t)((slot - 1) / 4 % 2 + 1),
					.started_ns = (int64_t)id * SECOND};
	uint64_t slots[] = {slot, slot + 1}, seq = 1;

	assert_int_equal(fixture_boot_at(f, id, job, &w, slots, 2), 0);
	must_ingest(f, MACHINE, record_evidence(id, seq++, 1));
	if (facts)
		must_ingest(f, MACHINE, record_provenance(id, seq++, 0, "boot", facts));
	for (uint64_t i = 0; i < 2; i++) {
		must_ingest(f, MACHINE, record_started(id, seq++, id * 100 + i));
		must_ingest(f, MACHINE, record_samples(id, seq++, id * 100 + i, 0, 3, base - 1));
		must_ingest(f, MACHINE, record_ended(id, seq++, id * 100 + i, "pass", 3));
	}
	fixture_boot_pass(f, id, slots, 2);
}

/* Job 1: two blocks, old 100 and 102, new 110 and 112. */
static void run_job(struct fixture *f)
{
	run_boot(f, 1, 1, 1, 100, NULL);
	run_boot(f, 2, 1, 3, 110, NULL);
	run_boot(f, 3, 1, 5, 102, NULL);
	run_boot(f, 4, 1, 7, 112, NULL);
}

static int try_compare(struct fixture *f, Kgrid__V1__CompareRequest *rq, Kgrid__V1__Selection *s,
		       Kgrid__V1__CompareReply **ret, struct kg_err *err)
{
	rq->select = s;
	return query_compare(f->q, rq, ret, err);
}

static Kgrid__V1__CompareReply *compare(struct fixture *f, Kgrid__V1__Selection s)
{
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__CompareReply *r = NULL;
	struct kg_err err = {""};

	rq.has_values = rq.values = 1;
	if (try_compare(f, &rq, &s, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static Kgrid__V1__Selection all_jobs(void)
{
	Kgrid__V1__Selection s = KGRID__V1__SELECTION__INIT;

	s.has_all_jobs = s.all_jobs = 1;
	return s;
}

static bool has_note(const Kgrid__V1__CompareReply *r, const char *text)
{
	for (size_t i = 0; i < r->n_notes; i++) {
		if (strstr(r->notes[i], text))
			return true;
	}
	return false;
}

#define TEXT(s) ((char *)(uintptr_t)(s))

/* ---- which rows ---- */

static void test_row_38_reused_names_of_another_job_never_mix_unless_selected(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__Selection s = KGRID__V1__SELECTION__INIT;
	Kgrid__V1__CompareReply *r;
	uint64_t second = 2;
	struct answer a;

	run_job(f);
	fixture_job(f, 2, &a); /* same names, same identities */
	run_boot(f, 5, 2, 9, 500, NULL);
	s.n_jobs = 1;
	s.jobs = &second;
	r = compare(f, s);
	assert_int_equal(r->job->id, 2);
	assert_int_equal(r->tables[0]->rows[0]->cells[0]->boots, 1);
	assert_true(r->tables[0]->rows[0]->cells[0]->value == 500);
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
	second = 1;
	r = compare(f, s);
	assert_true(r->tables[0]->rows[0]->cells[0]->value == 101);
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
	r = compare(f, all_jobs());
	assert_null(r->job);
	assert_int_equal(r->n_tables, 1);
	assert_int_equal(r->tables[0]->n_columns, 2); /* one cell each, not two */
	assert_int_equal(r->tables[0]->n_rows, 2);
	assert_int_equal(r->tables[0]->rows[0]->cells[0]->boots, 3);
	assert_true(r->tables[0]->rows[0]->cells[0]->value == 102);
	assert_int_equal(r->accounting->slots, 16);
	assert_int_equal(r->accounting->pending, 6);
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
}

static void test_values_carry_boot_block_and_job(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__Selection s = KGRID__V1__SELECTION__INIT;
	const Kgrid__V1__CompareCell *c;
	Kgrid__V1__CompareReply *r;

	run_job(f);
	r = compare(f, s);
	c = r->tables[0]->rows[0]->cells[0];
	assert_int_equal(c->n_boots_values, 2);
	assert_int_equal(c->boots_values[1]->boot, 3);
	assert_int_equal(c->boots_values[1]->block, 2);
	assert_int_equal(c->boots_values[1]->job, 1);
	assert_int_equal(c->boots_values[1]->n_value, 3);
	assert_true(c->boots_values[1]->value[0] == 101);
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
}

static void test_filters_leave_out_what_they_do_not_name(void **state)
{
	struct fixture *f = *state;
	char *params[] = {TEXT("size=64")};
	Kgrid__V1__Selection s = all_jobs();
	Kgrid__V1__CompareReply *r;

	run_job(f);
	s.n_params = 1;
	s.params = params;
	r = compare(f, s);
	assert_int_equal(r->tables[0]->n_rows, 1);
	assert_string_equal(r->tables[0]->rows[0]->params, "seconds=1 size=64");
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
	for (size_t i = 0; i < 3; i++) {
		s.kernel = TEXT(((const char *[]){"new", "6.12.0", "bbbbbb"})[i]);
		r = compare(f, s);
		assert_int_equal(r->tables[0]->n_columns, 1);
		assert_string_equal(r->tables[0]->columns[0]->kernel, "new");
		kgrid__v1__compare_reply__free_unpacked(r, NULL);
	}
	s.kernel = NULL;
	s.lsm = TEXT("full");
	s.machine = TEXT(MACHINE);
	s.workload = TEXT("netperf");
	s.metric = TEXT("rate");
	r = compare(f, s);
	assert_int_equal(r->tables[0]->n_columns, 2);
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
	params[0] = TEXT("size=6"); /* a whole word or nothing */
	r = compare(f, s);
	assert_int_equal(r->n_tables, 0);
	assert_true(has_note(r, "no cell fits the whole selection"));
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
}

static void test_row_36_name_that_occurs_nowhere_names_what_does(void **state)
{
	static const struct {
		size_t field;
		const char *name;
		const char *text;
	} wrong[] = {
		{offsetof(Kgrid__V1__Selection, machine), "m7",
		 "job 1 has no machine 'm7'; it has m1"},
		{offsetof(Kgrid__V1__Selection, kernel), "5.4",
		 "job 1 has no kernel '5.4'; it has old, new"},
		{offsetof(Kgrid__V1__Selection, lsm), "none",
		 "job 1 has no lsm 'none'; it has full"},
		{offsetof(Kgrid__V1__Selection, workload), "fio",
		 "job 1 has no workload 'fio'; it has netperf"},
		{offsetof(Kgrid__V1__Selection, metric), "bandwidth",
		 "the job has no value of a metric 'bandwidth'; it has rate"},
	};
	struct fixture *f = *state;

	run_job(f);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
		Kgrid__V1__Selection s = KGRID__V1__SELECTION__INIT;
		Kgrid__V1__CompareReply *r = NULL;
		struct kg_err err = {""};
		char *name = TEXT(wrong[i].name);

		memcpy((char *)&s + wrong[i].field, &name, sizeof(name));
		assert_int_equal(try_compare(f, &rq, &s, &r, &err), KG_ENOTFOUND);
		assert_string_equal(err.text, wrong[i].text);
	}
}

static void test_row_36_empty_answers_say_why(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__Selection s = all_jobs();
	Kgrid__V1__CompareReply *r = NULL;
	char *params[] = {TEXT("size")};
	struct kg_err err = {""};
	uint64_t none = 9;

	run_job(f);
	s.has_since_ns = 1;
	s.since_ns = 1796052429 * SECOND;
	r = compare(f, s);
	assert_true(has_note(r, "no boot of the selection since 2026-11-30 "));
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
	rq.has_after_block = 1;
	rq.after_block = 2;
	assert_int_equal(query_compare(f->q, &rq, &r, &err), 0);
	assert_true(has_note(r, "no value after block 2 yet"));
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
	s = all_jobs();
	s.n_params = 1;
	s.params = params;
	assert_int_equal(try_compare(f, &rq, &s, &r, &err), KG_EINVALID);
	assert_string_equal(err.text, "'size' is not a parameter with its value, as 'size=64' is");
	s = (Kgrid__V1__Selection)KGRID__V1__SELECTION__INIT;
	s.n_jobs = 1;
	s.jobs = &none;
	assert_int_equal(try_compare(f, &rq, &s, &r, &err), KG_ENOTFOUND);
	assert_string_equal(err.text, "no job 9");
	(void)fixture_sql(f, "UPDATE job SET kind = 'calibrate'");
	rq = (Kgrid__V1__CompareRequest)KGRID__V1__COMPARE_REQUEST__INIT;
	r = compare(f, all_jobs()); /* A/A runs are compared when asked for by number only */
	assert_true(has_note(r, "there is no job yet"));
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
}

static void test_only_blocks_after_one_and_boots_since_a_time(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__Selection s = all_jobs();
	Kgrid__V1__CompareReply *r = NULL;
	struct kg_err err = {""};

	run_job(f);
	rq.has_after_block = 1;
	rq.after_block = 1;
	assert_int_equal(query_compare(f->q, &rq, &r, &err), 0);
	assert_int_equal(r->tables[0]->rows[0]->cells[0]->boots, 1);
	assert_true(r->tables[0]->rows[0]->cells[0]->value == 102);
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
	s.has_since_ns = 1;
	s.since_ns = 4 * SECOND; /* only the last boot, of the new kernel */
	r = compare(f, s);
	assert_int_equal(r->tables[0]->n_columns, 1);
	assert_true(r->tables[0]->rows[0]->cells[0]->value == 112);
	assert_int_equal(r->accounting->slots, 2);
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
}

/* ---- what may be compared ---- */

static void test_row_46_boots_of_two_epochs_are_incomparable_and_the_change_is_named(void **state)
{
	static const char *const before[] = {"cpu.present", "0-191", NULL};
	static const char *const after[] = {"cpu.present", "0-95", NULL};
	struct fixture *f = *state;
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	const Kgrid__V1__CompareCell *c;
	Kgrid__V1__CompareReply *r = NULL;
	struct kg_err err = {""};

	run_boot(f, 1, 1, 1, 100, before);
	run_boot(f, 2, 1, 3, 110, after);
	assert_int_equal(query_compare(f->q, &rq, &r, &err), 0);
	c = r->tables[0]->rows[0]->cells[1];
	assert_string_equal(c->verdict, "incomparable");
	assert_non_null(strstr(c->reason, "0-191"));
	assert_int_equal(c->n_epochs, 1);
	assert_int_equal(c->epochs[0], 2);
	assert_false(c->has_delta_pct);
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
	rq.has_across_epochs = rq.across_epochs = 1;
	assert_int_equal(query_compare(f->q, &rq, &r, &err), 0);
	c = r->tables[0]->rows[0]->cells[1];
	assert_string_not_equal(c->verdict, "incomparable");
	assert_true(c->has_delta_pct);
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
}

static void test_comparability_counts_config_options_of_the_boots(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__CompareReply *r = NULL;
	struct kg_err err = {""};
	bool found = false;

	for (uint64_t id = 1; id <= 2; id++) {
		const struct fixture_where w = {.kernel = id == 1 ? KERNEL_A : KERNEL_B};
		uint64_t slot = 2 * id - 1;

		assert_int_equal(fixture_boot_at(f, id, 1, &w, &slot, 1), 0);
		must_ingest(f, MACHINE, record_evidence(id, 1, 1));
		must_ingest(f, MACHINE,
			    record_document(id, 2, "config",
					    id == 1 ? "CONFIG_A=y\nCONFIG_B=m\n"
						    : "CONFIG_A=y\nCONFIG_B=y\nCONFIG_C=y\n"));
		must_ingest(f, MACHINE, record_started(id, 3, id * 100));
		must_ingest(f, MACHINE, record_samples(id, 4, id * 100, 0, 3, 10));
		must_ingest(f, MACHINE, record_ended(id, 5, id * 100, "pass", 3));
		fixture_boot_pass(f, id, &slot, 1);
	}
	assert_int_equal(query_compare(f->q, &rq, &r, &err), 0);
	for (size_t i = 0; i < r->tables[0]->n_comparability; i++)
		found = found || strstr(r->tables[0]->comparability[i], "2 options");
	assert_true(found);
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
}

static void test_row_57_each_slot_has_one_outcome_and_only_passes_count(void **state)
{
	struct fixture *f = *state;
	const struct store_settle st[] = {
		{.slot = 1,
		 .outcome = KG_OUTCOME_FAIL,
		 .attempt = 100,
		 .reason = "2 of 5 sub-tests"},
		{.slot = 2, .outcome = KG_OUTCOME_PANIC, .attempt = 101, .reason = "oops"},
	};
	struct store_settle again = {.slot = 1, .outcome = KG_OUTCOME_PASS, .attempt = 100};
	struct store_boot_end e = {.boot = 1,
				   .outcome = KG_OUTCOME_PANIC,
				   .reason = "oops",
				   .settles = st,
				   .n_settles = 2};
	const Kgrid__V1__CompareCell *c;
	Kgrid__V1__CompareReply *r;
	struct answer a;

	assert_int_equal(fixture_boot(f, 1, 1, (uint64_t[]){1, 2}, 2), 0);
	must_ingest(f, MACHINE, record_evidence(1, 1, 1));
	must_ingest(f, MACHINE, record_started(1, 2, 100));
	must_ingest(f, MACHINE, record_samples(1, 3, 100, 0, 3, 10));
	must_ingest(f, MACHINE, record_ended(1, 4, 100, "fail", 3));
	must_ingest(f, MACHINE, record_started(1, 5, 101));
	must_ingest(f, MACHINE, record_samples(1, 6, 101, 0, 2, 10)); /* and then the kernel died */
	assert_int_equal(RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))), 0);
	assert_string_equal(fixture_sql(f, "SELECT outcome FROM attempt WHERE id = 101"), "panic");
	/* A terminal outcome stays, and a failed run never becomes a pass. */
	assert_int_equal(RUN(f, &a, store_settle(f->s, &again, 1, 5, answer_done(&a))),
			 KG_EINVALID);
	again.outcome = KG_OUTCOME_INFRA;
	again.attempt = 0;
	assert_int_equal(RUN(f, &a, store_settle(f->s, &again, 1, 5, answer_done(&a))), 0);
	assert_int_equal(a.r.count, 0);
	assert_string_equal(fixture_sql(f, "SELECT group_concat(outcome) FROM slot WHERE id <= 2"),
			    "fail,panic");
	check_accounting(f, 1, 8);
	r = compare(f, (Kgrid__V1__Selection)KGRID__V1__SELECTION__INIT);
	c = r->tables[0]->rows[0]->cells[0];
	assert_int_equal(c->boots, 0);
	assert_false(c->has_value);
	assert_int_equal(c->n_excluded, 1);
	assert_string_equal(c->excluded[0]->outcome, "fail");
	assert_string_equal(r->tables[0]->rows[1]->cells[0]->excluded[0]->outcome, "panic");
	assert_true(has_note(r, "2 of 5 sub-tests"));
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
}

/* ---- history and noise ---- */

static void test_history_is_one_series_per_row_over_kernels(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__HistoryRequest rq = KGRID__V1__HISTORY_REQUEST__INIT;
	Kgrid__V1__Selection s = all_jobs();
	Kgrid__V1__HistoryReply *r = NULL;
	struct kg_err err = {""};
	struct answer a;

	run_job(f);
	fixture_job(f, 2, &a);
	run_boot(f, 5, 2, 9, 104, NULL);
	fixture_job(f, 2, &a);
	(void)fixture_sql(f, "UPDATE job SET kind = 'calibrate' WHERE id = 3");
	run_boot(f, 6, 3, 17, 999, NULL); /* A/A runs are not history */
	assert_int_equal(query_history(f->q, &rq, &r, &err), 0);
	assert_int_equal(r->n_series, 2);
	assert_string_equal(r->series[1]->params, "seconds=1 size=64");
	assert_int_equal(r->series[1]->n_points, 2);
	assert_string_equal(r->series[1]->points[0]->kernel, "old");
	assert_int_equal(r->series[1]->points[0]->boots, 3);
	assert_true(r->series[1]->points[0]->value == 102);
	assert_string_equal(r->series[1]->points[1]->digest, KERNEL_B);
	assert_int_equal(r->series[1]->points[1]->time_ns, 2 * SECOND);
	kgrid__v1__history_reply__free_unpacked(r, NULL);
	rq.select = &s;
	s.kernel = TEXT("new");
	s.metric = TEXT("rate");
	assert_int_equal(query_history(f->q, &rq, &r, &err), 0);
	assert_int_equal(r->series[0]->n_points, 1);
	kgrid__v1__history_reply__free_unpacked(r, NULL);
	s.machine = TEXT("m8");
	assert_int_equal(query_history(f->q, &rq, &r, &err), KG_ENOTFOUND);
	assert_string_equal(err.text, "no job has a machine 'm8'; there are m1");
}

static void test_noise_is_of_calibration_jobs_in_the_order_of_boots(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CalibrateRequest calibrate = KGRID__V1__CALIBRATE_REQUEST__INIT;
	struct store_recurring again = {
		.machine = MACHINE, .request = &calibrate, .every_ns = 60 * SECOND};
	Kgrid__V1__NoiseRequest rq = KGRID__V1__NOISE_REQUEST__INIT;
	Kgrid__V1__NoiseReply *r = NULL;
	struct kg_err err = {""};
	struct answer a;

	run_job(f);
	assert_int_equal(query_noise(f->q, &rq, &r, &err), 0);
	assert_int_equal(r->n_profiles, 0);
	assert_int_equal(r->n_notes, 1);
	kgrid__v1__noise_reply__free_unpacked(r, NULL);
	(void)fixture_sql(f, "UPDATE job SET kind = 'calibrate'");
	assert_int_equal(RUN(f, &a, store_recurring_set(f->s, &again, answer_done(&a))), 0);
	assert_int_equal(query_noise(f->q, &rq, &r, &err), 0);
	assert_int_equal(r->n_profiles, 2);
	assert_int_equal(r->profiles[0]->boots, 2);
	assert_int_equal(r->profiles[0]->every_seconds, 60);
	kgrid__v1__noise_reply__free_unpacked(r, NULL);
	rq.machine = TEXT("m8");
	assert_int_equal(query_noise(f->q, &rq, &r, &err), KG_ENOTFOUND);
	assert_string_equal(err.text, "no machine 'm8'; there are m1");
}

/* A/A runs of eight boots with values that jump by a fifth: what matters is more than one percent. */
static double min_effect(struct fixture *f)
{
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__CompareReply *r = NULL;
	struct kg_err err = {""};
	double pct;

	rq.has_job = 1;
	rq.job = 1;
	assert_int_equal(query_compare(f->q, &rq, &r, &err), 0);
	assert_true(r->tables[0]->has_min_effect_pct);
	pct = r->tables[0]->min_effect_pct;
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
	return pct;
}

static void test_smallest_effect_follows_the_machines_own_calibration(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__NoiseRequest rq = KGRID__V1__NOISE_REQUEST__INIT;
	Kgrid__V1__NoiseReply *r = NULL;
	struct kg_err err = {""};
	double before, after;
	struct answer a;

	run_job(f);
	before = min_effect(f);
	assert_true(before == 1);
	fixture_job(f, 12, &a);
	(void)fixture_sql(f, "UPDATE job SET kind = 'calibrate' WHERE id = 2");
	for (uint64_t i = 0; i < 12; i++) /* old kernel only, in two levels */
		run_boot(f, 10 + i, 2, 9 + 4 * i, i < 6 ? 100 : 130, NULL);
	after = min_effect(f);
	assert_int_equal(query_noise(f->q, &rq, &r, &err), 0);
	assert_int_equal(r->n_profiles, 2);
	assert_true(after == r->profiles[0]->min_effect_pct);
	assert_true(after > before);
	kgrid__v1__noise_reply__free_unpacked(r, NULL);
	assert_true(min_effect(f) == after); /* from what was kept */
	/* What is kept goes by the values: none are left, and nothing is raised. */
	(void)fixture_sql(f, "UPDATE slot SET outcome = 'fail' WHERE job = 2");
	assert_true(min_effect(f) == before);
}

static void test_smallest_effect_is_what_the_workload_declares_before_calibration(void **state)
{
	struct fixture *f = *state;
	uint64_t slots[] = {1, 3};
	struct answer a;

	for (uint64_t id = 1; id <= 2; id++) {
		const struct fixture_where w = {.kernel = id == 1 ? KERNEL_A : KERNEL_B};
		Kgrid__V1__Record r;

		assert_int_equal(fixture_boot_at(f, id, 1, &w, &slots[id - 1], 1), 0);
		must_ingest(f, MACHINE, record_evidence(id, 1, 1));
		r = record_started(id, 2, id * 100);
		r.attempt_started->metrics[0]->has_min_effect_pct = 1;
		r.attempt_started->metrics[0]->min_effect_pct = NAN;
		assert_int_equal(ingest(f, &a, &r), 0);
		assert_true(a.r.fault);
		r.seq = 3;
		r.attempt_started->metrics[0]->min_effect_pct = id == 1 ? 3 : 2.5;
		must_ingest(f, MACHINE, r);
		must_ingest(f, MACHINE, record_samples(id, 4, id * 100, 0, 3, 10));
		must_ingest(f, MACHINE, record_ended(id, 5, id * 100, "pass", 3));
		fixture_boot_pass(f, id, &slots[id - 1], 1);
	}
	assert_true(min_effect(f) == 2.5);
}

/* ---- differences ---- */

static Kgrid__V1__DiffReply *diff(struct fixture *f, const char *x, const char *y)
{
	Kgrid__V1__DiffRequest rq = KGRID__V1__DIFF_REQUEST__INIT;
	Kgrid__V1__DiffReply *r = NULL;
	struct kg_err err = {""};

	rq.a = TEXT(x);
	rq.b = TEXT(y);
	if (query_diff(f->q, &rq, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static void refused(struct fixture *f, const char *x, int code, const char *text)
{
	Kgrid__V1__DiffRequest rq = KGRID__V1__DIFF_REQUEST__INIT;
	Kgrid__V1__DiffReply *r = NULL;
	struct kg_err err = {""};

	rq.a = TEXT("boot:1");
	rq.b = TEXT(x);
	assert_int_equal(query_diff(f->q, &rq, &r, &err), code);
	if (!strstr(err.text, text))
		fail_msg("'%s' does not say '%s'", err.text, text);
}

static void test_boots_machines_epochs_and_kernels_are_found_by_name(void **state)
{
	static const char *const before[] = {"cpu.microcode", "0x1", "smt.active", "1", NULL};
	static const char *const after[] = {"cpu.microcode", "0x2", "smt.active", "1", NULL};
	struct fixture *f = *state;
	Kgrid__V1__DiffReply *r;

	run_boot(f, 1, 1, 1, 100, before);
	run_boot(f, 2, 1, 3, 110, before);
	run_boot(f, 3, 1, 5, 102, after);
	r = diff(f, "1", "boot:3");
	assert_string_equal(r->a, "boot 1: old full on m1, 1970-01-01");
	assert_int_equal(r->n_items, 1);
	assert_string_equal(r->items[0]->a, "0x1");
	assert_string_equal(r->items[0]->b, "0x2");
	kgrid__v1__diff_reply__free_unpacked(r, NULL);
	/* Epochs by boots of the same kernel: 1 and 3, not 2 and 3. */
	r = diff(f, "m1/1", "epoch:m1/2");
	assert_int_equal(r->n_items, 1);
	assert_string_equal(r->items[0]->a, "0x1");
	kgrid__v1__diff_reply__free_unpacked(r, NULL);
	r = diff(f, "m1", "machine:m1");
	assert_int_equal(r->n_items, 0);
	assert_true(r->same >= 2);
	assert_true(strncmp(r->a, "machine m1: epoch 2", 19) == 0);
	kgrid__v1__diff_reply__free_unpacked(r, NULL);
	r = diff(f, "old", "kernel:6.12.0");
	assert_string_equal(r->b, "kernel new: 6.12.0, bbbbbbbbbbbb");
	kgrid__v1__diff_reply__free_unpacked(r, NULL);
	refused(f, "nothing", KG_ENOTFOUND, "nothing is called 'nothing'; say boot:N");
	refused(f, "boot:99", KG_ENOTFOUND, "no boot '99'");
	refused(f, "boot:18446744073709551615", KG_ENOTFOUND, "no boot");
	refused(f, "machine:m9", KG_ENOTFOUND, "no machine 'm9'; there are m1");
	refused(f, "epoch:m1/7", KG_ENOTFOUND, "machine 'm1' has no epoch 7");
	refused(f, "epoch:m1", KG_ENOTFOUND, "MACHINE/N names one");
	refused(f, "", KG_EINVALID, "two things");
	(void)fixture_sql(f, "UPDATE kernel SET label = '2' WHERE label = 'new'");
	refused(f, "2", KG_EAMBIGUOUS, "'2' fits several things");
}

static int give_text(void *arg, const char *digest, char **ret_text, size_t *ret_len,
		     struct kg_err *err)
{
	(void)arg;
	if (strcmp(digest, "gone") == 0)
		return kg_err_set(err, KG_ENOTFOUND, "no blob");
	*ret_text = strdup(digest[0] == '1' ? "CONFIG_X=y\n" : "CONFIG_X=m\n");
	*ret_len = strlen(*ret_text);
	return 0;
}

static void test_configs_of_kernels_come_from_the_blobs(void **state)
{
	struct fixture *f = *state;
	const struct query_texts texts = {.read = give_text};
	Kgrid__V1__DiffRequest rq = KGRID__V1__DIFF_REQUEST__INIT;
	Kgrid__V1__DiffReply *r = NULL;
	struct kg_err err = {""};

	query_set_texts(f->q, &texts);
	(void)fixture_sql(f, "UPDATE kernel SET config_digest = iif(label = 'old', '1', '2')");
	rq.a = TEXT("old");
	rq.b = TEXT("new");
	assert_int_equal(query_diff(f->q, &rq, &r, &err), 0);
	assert_int_equal(r->n_items, 2);
	assert_string_equal(r->items[0]->b, "6.12.0"); /* the release */
	assert_string_equal(r->items[1]->name, "CONFIG_X");
	assert_string_equal(r->items[1]->a, "y");
	kgrid__v1__diff_reply__free_unpacked(r, NULL);
	(void)fixture_sql(f, "UPDATE kernel SET config_digest = 'gone' WHERE label = 'new'");
	assert_int_equal(query_diff(f->q, &rq, &r, &err), 0);
	assert_int_equal(r->n_items, 1);
	assert_true(r->n_notes > 0); /* it could not be compared, and that is said */
	kgrid__v1__diff_reply__free_unpacked(r, NULL);
}

/* The machine got another CPU after the job: its tables keep the one that was measured. */
static void test_tables_name_the_cpu_that_was_measured(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__Selection s = KGRID__V1__SELECTION__INIT;
	Kgrid__V1__CompareReply *r;

	run_job(f);
	(void)fixture_sql(f, "INSERT INTO fact_set VALUES ('cpu', '{\"cpu.name\":\"Old CPU\","
			     "\"cpu.vendor\":\"AuthenticAMD\","
			     "\"cpu.microarchitecture\":\"Zen3\"}')");
	(void)fixture_sql(f,
			  "INSERT OR REPLACE INTO boot_facts (boot, attempt, phase, class, facts)"
			  " SELECT id, 0, 'boot', 'machine', 'cpu' FROM boot");
	r = compare(f, s);
	assert_string_equal(r->tables[0]->cpu_name, "Old CPU");
	assert_string_equal(r->tables[0]->cpu_vendor, "AuthenticAMD");
	assert_string_equal(r->tables[0]->microarchitecture, "Zen3");
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_row_38_reused_names_of_another_job_never_mix_unless_selected),
		T_(test_values_carry_boot_block_and_job),
		T_(test_filters_leave_out_what_they_do_not_name),
		T_(test_row_36_name_that_occurs_nowhere_names_what_does),
		T_(test_row_36_empty_answers_say_why),
		T_(test_only_blocks_after_one_and_boots_since_a_time),
		T_(test_row_46_boots_of_two_epochs_are_incomparable_and_the_change_is_named),
		T_(test_comparability_counts_config_options_of_the_boots),
		T_(test_row_57_each_slot_has_one_outcome_and_only_passes_count),
		T_(test_history_is_one_series_per_row_over_kernels),
		T_(test_noise_is_of_calibration_jobs_in_the_order_of_boots),
		T_(test_smallest_effect_is_what_the_workload_declares_before_calibration),
		T_(test_smallest_effect_follows_the_machines_own_calibration),
		T_(test_boots_machines_epochs_and_kernels_are_found_by_name),
		T_(test_configs_of_kernels_come_from_the_blobs),
		T_(test_tables_name_the_cpu_that_was_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
