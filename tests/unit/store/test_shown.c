/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How cells are called where they are shown, and which of them are results. */
#include "plans.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fixture_init(f);
	fixture_open(f);
	fixture_kernels(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_deinit(*state);
	free(*state);
	return 0;
}

#define OFF  "mitigations=off"
#define AUTO "mitigations=auto"

/* Both kernels x (auto, off); per block four slots: old+auto, old+off, new+auto, new+off. */
static void plan_variants(struct plan_job *p, uint32_t blocks)
{
	plan_init(p, "variants");
	for (int fresh = 0; fresh < 2; fresh++) {
		struct store_cell *c = plan_cell(p, fresh != 0);

		c->variant = OFF; /* the first in the file, though not by its name */
		c->cmdline = "lsm=apparmor mitigations=off";
		c = plan_cell(p, fresh != 0);
		c->variant = AUTO;
		c->cmdline = "lsm=apparmor mitigations=auto";
	}
	plan_slots(p, blocks);
}

/* Values: off 200 + block, auto 100 + block, the new kernel 10 more. */
static void run_variants(struct fixture *f, uint32_t blocks)
{
	struct plan_job p;
	struct answer a;
	uint64_t boot = 0;

	plan_variants(&p, blocks);
	(void)plan_insert(f, &p, &a);
	for (uint32_t b = 0; b < blocks; b++)
		for (unsigned i = 0; i < 4; i++) {
			const struct fixture_where w = {.kernel = i < 2 ? KERNEL_A : KERNEL_B,
							.block = b + 1,
							.started_ns = (int64_t)(++boot) * SECOND};

			plan_boot(f, boot, 1, &w, (uint64_t[]){boot},
				  (double[]){(i % 2 ? 100 : 200) + b + (i < 2 ? 0 : 10)}, 1);
		}
}

static Kgrid__V1__CompareReply *compare(struct fixture *f, Kgrid__V1__CompareRequest rq)
{
	Kgrid__V1__CompareReply *r = NULL;
	struct kg_err err = {""};

	if (query_compare(f->q, &rq, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static Kgrid__V1__CompareReply *compare_job(struct fixture *f, uint64_t job)
{
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;

	rq.has_job = 1;
	rq.job = job;
	return compare(f, rq);
}

/* "old/nt new/nt" */
static const char *columns(const Kgrid__V1__CompareTable *t)
{
	static char text[512];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < t->n_columns; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s/%s", i ? " " : "",
				      t->columns[i]->kernel, t->columns[i]->lsm);
	return text;
}

static bool has_note(const Kgrid__V1__CompareReply *r, const char *part)
{
	for (size_t i = 0; i < r->n_notes; i++)
		if (strstr(r->notes[i], part))
			return true;
	return false;
}

static void free_compare(Kgrid__V1__CompareReply *r)
{
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
}

/* ---- variants ---- */

static void test_variants_are_columns_in_the_order_of_the_file(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareReply *r;

	run_variants(f, 2);
	r = compare_job(f, 1);
	assert_int_equal(r->n_tables, 1);
	assert_string_equal(columns(r->tables[0]),
			    "old/nt+" OFF " old/nt+" AUTO " new/nt+" OFF " new/nt+" AUTO);
	assert_string_equal(r->tables[0]->columns[1]->lsm_request, "apparmor+" AUTO);
	assert_true(fabs(r->tables[0]->rows[0]->cells[1]->value - 100.5) < 1e-9);
	assert_true(fabs(r->tables[0]->rows[0]->cells[2]->value - 210.5) < 1e-9);
	free_compare(r);
}

static void test_a_list_selects_its_variants_and_a_shown_one_itself(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__Selection s = KGRID__V1__SELECTION__INIT;
	Kgrid__V1__CompareReply *r;
	struct kg_err err = {""};

	run_variants(f, 1);
	rq.select = &s;
	s.lsm = (char *)(uintptr_t) "nt";
	r = compare(f, rq);
	assert_int_equal(r->tables[0]->n_columns, 4);
	free_compare(r);
	s.lsm = (char *)(uintptr_t) "nt+" OFF;
	r = compare(f, rq);
	assert_string_equal(columns(r->tables[0]), "old/nt+" OFF " new/nt+" OFF);
	free_compare(r);
	s.lsm = (char *)(uintptr_t) "nt+mitigations";
	assert_int_equal(query_compare(f->q, &rq, &r, &err), KG_ENOTFOUND);
	assert_non_null(strstr(err.text, "nt+" OFF ", nt+" AUTO));
	s.lsm = (char *)(uintptr_t)OFF;
	assert_int_equal(query_compare(f->q, &rq, &r, &err), KG_ENOTFOUND);
}

static void test_a_variant_longer_than_any_label_is_found_as_baseline(void **state)
{
	static char words[1500], baseline[1600];
	struct fixture *f = *state;
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__CompareReply *r;
	struct plan_job p;
	struct answer a;

	memset(words, 'x', sizeof(words) - 1);
	plan_variants(&p, 1);
	p.cells[0].variant = p.cells[2].variant = words;
	(void)plan_insert(f, &p, &a);
	for (uint64_t i = 1; i <= 4; i++)
		plan_boot(f, i, 1,
			  &(struct fixture_where){.kernel = i < 3 ? KERNEL_A : KERNEL_B,
						  .started_ns = SECOND},
			  (uint64_t[]){i}, (double[]){100}, 1);
	(void)snprintf(baseline, sizeof(baseline), "new/nt+%s", words);
	rq.baseline = baseline;
	r = compare(f, rq);
	assert_string_equal(r->tables[0]->columns[0]->kernel, "new");
	assert_string_equal(r->tables[0]->columns[0]->lsm + 3, words);
	free_compare(r);
	rq.baseline = (char *)(uintptr_t) "old/*"; /* within each list */
	r = compare(f, rq);
	assert_int_equal(r->n_tables, 2);
	assert_string_equal(columns(r->tables[1]), "old/nt+" AUTO " new/nt+" AUTO);
	free_compare(r);
	rq.baseline = (char *)(uintptr_t) "w/nt+mitig"; /* a part of one */
	r = compare(f, rq);
	assert_string_equal(r->tables[0]->columns[0]->kernel, "new");
	assert_string_equal(r->tables[0]->columns[0]->lsm, "nt+" AUTO);
	free_compare(r);
}

static void test_history_of_a_variant_is_a_series(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__HistoryRequest rq = KGRID__V1__HISTORY_REQUEST__INIT;
	Kgrid__V1__HistoryReply *r = NULL;
	struct kg_err err = {""};

	run_variants(f, 1);
	assert_int_equal(query_history(f->q, &rq, &r, &err), 0);
	assert_int_equal(r->n_series, 2);
	assert_string_equal(r->series[0]->lsm, "nt+" AUTO);
	assert_string_equal(r->series[1]->lsm, "nt+" OFF);
	assert_int_equal(r->series[0]->n_points, 2);
	assert_true(fabs(r->series[1]->points[1]->value - 210) < 1e-9);
	kgrid__v1__history_reply__free_unpacked(r, NULL);
}

struct seen {
	size_t rows;
	char lsm[64], params[64], machine[16];
	uint64_t attempts[64];
	size_t n_attempts;
};

static int on_samples(void *arg, const Kgrid__V1__SamplesReply *part)
{
	struct seen *s = arg;

	for (size_t i = 0; i < part->n_rows; i++) {
		const Kgrid__V1__SampleRow *r = part->rows[i];

		(void)snprintf(s->lsm, sizeof(s->lsm), "%s", r->lsm);
		(void)snprintf(s->params, sizeof(s->params), "%s", r->params);
		(void)snprintf(s->machine, sizeof(s->machine), "%s", r->machine);
		if (s->n_attempts == 0 || s->attempts[s->n_attempts - 1] != r->attempt)
			s->attempts[s->n_attempts++] = r->attempt;
		s->rows++;
	}
	return 0;
}

static struct seen samples(struct fixture *f, bool all)
{
	Kgrid__V1__SamplesRequest rq = KGRID__V1__SAMPLES_REQUEST__INIT;
	struct kg_err err = {""};
	struct seen s = {0};

	rq.has_all = 1;
	rq.all = all;
	if (query_samples(f->q, &rq, on_samples, &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static void test_samples_logs_and_events_say_the_variant(void **state)
{
	struct fixture *f = *state;
	struct store_settle st = {.slot = 5, .outcome = KG_OUTCOME_INFRA, .reason = "power"};
	Kgrid__V1__DiffRequest rq = KGRID__V1__DIFF_REQUEST__INIT;
	Kgrid__V1__DiffReply *d = NULL;
	struct kg_err err = {""};
	struct plan_job p;
	struct answer a;

	run_variants(f, 1);
	assert_int_equal(samples(f, false).rows, 12);
	assert_string_equal(samples(f, false).lsm, "nt+" AUTO);
	plan_variants(&p, 1);
	(void)plan_insert(f, &p, &a);
	assert_int_equal(RUN(f, &a, store_settle(f->s, &st, 1, 5, answer_done(&a))), 0);
	assert_string_equal(fixture_sql(f, "SELECT text FROM event WHERE kind = 'settle'"),
			    "old/nt+" OFF " netperf seconds=1 size=64, block 1: infra: power");
	rq.a = (char *)(uintptr_t) "boot:1";
	rq.b = (char *)(uintptr_t) "boot:2";
	assert_int_equal(query_diff(f->q, &rq, &d, &err), 0);
	assert_non_null(strstr(d->a, "old nt+" OFF));
	kgrid__v1__diff_reply__free_unpacked(d, NULL);
}

static int keep_heading(void *arg, const Kgrid__V1__LogsReply *part)
{
	(void)snprintf(arg, 256, "%s", part->heading ? part->heading : "");
	return 0;
}

static void test_heading_of_a_log_says_the_variant(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__LogsRequest rq = KGRID__V1__LOGS_REQUEST__INIT;
	Kgrid__V1__LogChunk log = KGRID__V1__LOG_CHUNK__INIT;
	Kgrid__V1__Record r = record(1, 1, 100);
	struct kg_err err = {""};
	char heading[256] = "";
	struct plan_job p;
	struct answer a;

	plan_variants(&p, 1);
	(void)plan_insert(f, &p, &a);
	assert_int_equal(fixture_boot(f, 1, 1, (uint64_t[]){1}, 1), 0);
	log.stream = (char *)(uintptr_t) "stdout";
	r.body_case = KGRID__V1__RECORD__BODY_LOG;
	r.log = &log;
	must_ingest(f, MACHINE, r);
	rq.attempt = 100;
	assert_int_equal(query_logs(f->q, &rq, keep_heading, heading, &err), 0);
	assert_string_equal(heading, "attempt 100: netperf seconds=1 size=64, old/nt+" OFF
				     " on " MACHINE ": not ended");
}

static void test_the_settings_of_a_job_tell_its_values_from_others(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__Selection s = KGRID__V1__SELECTION__INIT;
	Kgrid__V1__HistoryRequest hq = KGRID__V1__HISTORY_REQUEST__INIT;
	Kgrid__V1__HistoryReply *h = NULL;
	Kgrid__V1__CompareReply *r;
	struct kg_err err = {""};
	struct plan_job p;
	struct answer a;

	for (uint64_t job = 1; job <= 2; job++) {
		plan_init(&p, "same label");
		plan_cell(&p, false)->settings = job == 1 ? "" : "governor=performance";
		(void)plan_cell(&p, true);
		p.cells[1].settings = p.cells[0].settings;
		plan_slots(&p, 1);
		(void)plan_insert(f, &p, &a);
		for (uint64_t i = 0; i < 2; i++)
			plan_boot(f, 2 * job + i, job,
				  &(struct fixture_where){.kernel = i ? KERNEL_B : KERNEL_A,
							  .started_ns = SECOND},
				  (uint64_t[]){2 * job - 1 + i}, (double[]){100 * (double)job}, 1);
	}
	rq.select = &s;
	s.has_all_jobs = s.all_jobs = 1;
	r = compare(f, rq);
	assert_int_equal(r->n_tables, 1);
	assert_string_equal(r->tables[0]->rows[0]->cells[1]->verdict, "incomparable");
	assert_non_null(strstr(r->tables[0]->rows[0]->cells[1]->reason,
			       "had different settings: '' and 'governor=performance'"));
	free_compare(r);
	assert_int_equal(query_history(f->q, &hq, &h, &err), 0);
	assert_int_equal(h->n_series, 2);
	kgrid__v1__history_reply__free_unpacked(h, NULL);
}

/* ---- lists that are the same ---- */

static void test_lists_that_are_the_same_stand_with_their_column(void **state)
{
	static const struct store_merge merges[] = {
		{MACHINE, KERNEL_A, "ntnb", "nt", "capability,apparmor"},
		{MACHINE, KERNEL_A, "full", "nt", "capability,apparmor"},
		{"m2", KERNEL_B, "other", "nt", "capability,apparmor"},
		{MACHINE, KERNEL_A, "off", "nt", "capability"}, /* of another variant */
	};
	struct fixture *f = *state;
	Kgrid__V1__CompareReply *r;
	struct plan_job p;
	struct answer a;

	plan_init(&p, "merged");
	(void)plan_cell(&p, false);
	(void)plan_cell(&p, true);
	plan_cell(&p, true)->variant = OFF;
	p.cells[2].kernel = KERNEL_A;
	p.cells[2].kernel_label = "old";
	p.cells[2].lsm_effective = "capability";
	p.job.merges = merges;
	p.job.n_merges = 4;
	plan_slots(&p, 1);
	(void)plan_insert(f, &p, &a);
	plan_boot(f, 1, 1, &(struct fixture_where){.started_ns = 1}, (uint64_t[]){1},
		  (double[]){100}, 1);
	r = compare_job(f, 1);
	assert_string_equal(columns(r->tables[0]), "old/nt new/nt old/nt+" OFF);
	assert_int_equal(r->tables[0]->columns[0]->n_same_as, 2);
	assert_string_equal(r->tables[0]->columns[0]->same_as[0], "full");
	assert_string_equal(r->tables[0]->columns[0]->same_as[1], "ntnb");
	assert_int_equal(r->tables[0]->columns[1]->n_same_as, 0);
	assert_int_equal(r->tables[0]->columns[2]->n_same_as, 1);
	assert_string_equal(r->tables[0]->columns[2]->same_as[0], "off+" OFF);
	free_compare(r);
}

/* ---- pairs ---- */

/* One cell with a server on m2, one cell without. */
static void pair_job(struct fixture *f, uint32_t blocks)
{
	struct store_machine m = {.name = "m2", .last_seen_ns = 9};
	struct plan_job p;
	struct answer a;

	assert_int_equal(RUN(f, &a, store_machine_upsert(f->s, &m, answer_done(&a))), 0);
	plan_init(&p, "pairs");
	plan_cell(&p, false)->peer = "m2";
	(void)plan_cell(&p, false);
	p.cells[1].kernel = KERNEL_A;
	plan_slots(&p, blocks);
	(void)plan_insert(f, &p, &a);
}

static const struct fixture_where server_side = {
	.machine = "m2", .role = "server", .peer = MACHINE, .pair = 1, .started_ns = 1};
static const struct fixture_where client_side = {
	.role = "client", .peer = "m2", .pair = 2, .started_ns = 1};

/* Boots 1 (client) and 2 (server) of slot 1; both sides have samples. */
static void run_pair(struct fixture *f)
{
	struct store_boot_end e = {.boot = 2, .outcome = KG_OUTCOME_PASS};
	struct answer a;

	assert_int_equal(fixture_boot_at(f, 2, 1, &server_side, (uint64_t[]){1}, 1), 0);
	must_ingest(f, "m2", record_evidence(2, 1, 1));
	must_ingest(f, "m2", record_started(2, 2, 200));
	must_ingest(f, "m2", record_samples(2, 3, 200, 0, 3, 7777));
	must_ingest(f, "m2", record_ended(2, 4, 200, "pass", 3));
	plan_boot(f, 1, 1, &client_side, (uint64_t[]){1}, (double[]){100}, 1);
	assert_int_equal(RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))), 0);
}

static void test_a_peer_is_part_of_the_row(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__Selection s = KGRID__V1__SELECTION__INIT;
	char *params[] = {(char *)(uintptr_t) "peer=m2"};
	Kgrid__V1__CompareReply *r;

	pair_job(f, 1);
	run_pair(f);
	plan_boot(f, 3, 1, &(struct fixture_where){.started_ns = 1}, (uint64_t[]){2},
		  (double[]){50}, 1);
	r = compare_job(f, 1);
	assert_int_equal(r->n_tables, 1);
	assert_int_equal(r->tables[0]->n_rows, 2);
	assert_string_equal(r->tables[0]->rows[0]->params, "seconds=1 size=64 peer=m2");
	assert_true(fabs(r->tables[0]->rows[0]->cells[0]->value - 100) < 1e-9);
	assert_string_equal(r->tables[0]->rows[1]->params, "seconds=1 size=64");
	assert_true(fabs(r->tables[0]->rows[1]->cells[0]->value - 50) < 1e-9);
	free_compare(r);
	rq.select = &s;
	s.n_params = 1;
	s.params = params;
	r = compare(f, rq);
	assert_int_equal(r->tables[0]->n_rows, 1);
	free_compare(r);
}

static void test_a_row_without_parameters_is_named_by_its_peer_alone(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareReply *r;
	struct plan_job p;
	struct answer a;

	plan_init(&p, "bare");
	plan_cell(&p, false)->peer = "m2";
	p.cells[0].params = "";
	plan_slots(&p, 1);
	(void)plan_insert(f, &p, &a);
	r = compare_job(f, 1);
	assert_string_equal(r->tables[0]->rows[0]->params, "peer=m2");
	free_compare(r);
}

static void test_a_servers_attempt_never_decides_a_slot(void **state)
{
	struct fixture *f = *state;
	struct store_settle st = {.slot = 1, .outcome = KG_OUTCOME_PASS, .attempt = 200};
	struct answer a;

	pair_job(f, 1);
	assert_int_equal(fixture_boot_at(f, 2, 1, &server_side, (uint64_t[]){1}, 1), 0);
	must_ingest(f, "m2", record_evidence(2, 1, 1));
	must_ingest(f, "m2", record_started(2, 2, 200));
	must_ingest(f, "m2", record_ended(2, 3, 200, "pass", 0));
	assert_int_equal(RUN(f, &a, store_settle(f->s, &st, 1, 5, answer_done(&a))), KG_EINVALID);
	st.outcome = KG_OUTCOME_FAIL;
	assert_int_equal(RUN(f, &a, store_settle(f->s, &st, 1, 5, answer_done(&a))), KG_EINVALID);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM slot WHERE outcome IS NOT NULL"), 0);
	st.attempt = 0; /* the client's slot ends for the server's fault */
	assert_int_equal(RUN(f, &a, store_settle(f->s, &st, 1, 5, answer_done(&a))), 0);
}

static void test_a_server_is_in_no_count_and_no_result(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__WatchUpdate *u = NULL;
	Kgrid__V1__JobReply *j = NULL;
	struct store_cell_detail *d = NULL;
	struct kg_err err = {""};
	uint64_t after = 0;
	struct seen s;

	pair_job(f, 1);
	run_pair(f);
	assert_int_equal(query_job(f->q, 1, &j, &err), 0);
	assert_int_equal(j->slots[0]->attempts, 1);
	assert_int_equal(j->slots[0]->last_attempt, 100);
	assert_int_equal(j->slots[0]->last_boot, 1);
	assert_int_equal(j->slots[1]->attempts, 0);
	kgrid__v1__job_reply__free_unpacked(j, NULL);
	s = samples(f, false);
	assert_int_equal(s.rows, 3);
	assert_int_equal(s.attempts[0], 100);
	assert_string_equal(s.params, "seconds=1 size=64 peer=m2");
	s = samples(f, true);
	assert_int_equal(s.rows, 6); /* evidence, of its own machine */
	assert_string_equal(s.machine, "m2");
	assert_int_equal(query_watch(f->q, 1, &after, &u, &err), 0);
	assert_int_equal(u->n_machines, 1);
	assert_int_equal(u->machines[0]->samples, 3);
	kgrid__v1__watch_update__free_unpacked(u, NULL);
	assert_int_equal(query_cell(f->q, 1, 1, &d, &err), 0);
	assert_int_equal(d->slots[0].attempt, 100);
	store_cell_detail_free(d);
	check_accounting(f, 1, 2);
}

static void test_pairs_come_back_with_their_roles(void **state)
{
	struct fixture *f = *state;
	struct store_snapshot *s = NULL;
	struct kg_err err = {""};
	struct fixture_where w = client_side;

	pair_job(f, 1);
	w.settings = "governor=performance";
	assert_int_equal(fixture_boot_at(f, 1, 1, &w, (uint64_t[]){1}, 1), 0);
	assert_int_equal(fixture_boot_at(f, 2, 1, &server_side, (uint64_t[]){1}, 1), 0);
	fixture_close(f);
	fixture_open(f);
	assert_int_equal(query_snapshot(f->q, &s, &err), 0);
	assert_int_equal(s->n_boots, 2);
	assert_string_equal(s->boots[0].role, "client");
	assert_string_equal(s->boots[0].peer, "m2");
	assert_string_equal(s->boots[0].settings, "governor=performance");
	assert_int_equal(s->boots[0].pair, 2);
	assert_string_equal(s->boots[1].role, "server");
	assert_string_equal(s->boots[1].peer, MACHINE);
	assert_int_equal(s->boots[1].pair, 1);
	assert_int_equal(s->boots[1].attempts[0].slot, 1);
	store_snapshot_free(s);
}

/* ---- canaries ---- */

/* Both kernels with netperf, and a canary on both; `blocks` blocks of two boots each: first and last.
 * Values of the canary: 1000 in the first boot, `last` in the last. */
static void run_canary(struct fixture *f, uint32_t blocks, double last)
{
	struct plan_job p;
	struct answer a;

	plan_init(&p, "canary");
	(void)plan_cell(&p, false);
	(void)plan_cell(&p, true);
	for (int fresh = 0; fresh < 2; fresh++) {
		struct store_cell *c = plan_cell(&p, fresh != 0);

		c->workload = "spin";
		c->params = "seconds=1";
		c->canary = true;
	}
	plan_slots(&p, blocks);
	(void)plan_insert(f, &p, &a);
	for (uint32_t b = 0; b < blocks; b++)
		for (unsigned i = 0; i < 2; i++) {
			uint64_t boot = 2 * b + i + 1, slots[] = {4 * b + i + 1, 4 * b + i + 3};
			const struct fixture_where w = {.kernel = i ? KERNEL_B : KERNEL_A,
							.block = b + 1,
							.started_ns = (int64_t)boot * SECOND};

			plan_boot(f, boot, 1, &w, slots,
				  (double[]){100 + 10 * i, i ? last + b % 2 : 1000}, 2);
		}
}

static void test_a_canary_is_no_result(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__HistoryRequest hq = KGRID__V1__HISTORY_REQUEST__INIT;
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__Selection s = KGRID__V1__SELECTION__INIT;
	Kgrid__V1__HistoryReply *h = NULL;
	Kgrid__V1__CompareReply *r;
	struct kg_err err = {""};

	run_canary(f, 2, 1003);
	r = compare_job(f, 1);
	assert_int_equal(r->n_tables, 1);
	assert_string_equal(r->tables[0]->workload, "netperf");
	assert_int_equal(r->tables[0]->n_rows, 1);
	free_compare(r);
	assert_int_equal(query_history(f->q, &hq, &h, &err), 0);
	assert_int_equal(h->n_series, 1);
	assert_string_equal(h->series[0]->workload, "netperf");
	kgrid__v1__history_reply__free_unpacked(h, NULL);
	assert_int_equal(samples(f, false).n_attempts, 4);
	assert_int_equal(samples(f, true).n_attempts, 8);
	rq.select = &s;
	s.workload = (char *)(uintptr_t) "spin";
	assert_int_equal(query_compare(f->q, &rq, &r, &err), KG_ENOTFOUND);
	check_accounting(f, 1, 8);
}

static void test_a_canary_tells_of_drift(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareReply *r;

	run_canary(f, 6, 1003);
	r = compare_job(f, 1);
	assert_true(has_note(r, "canary " MACHINE ": last boots of a block are +0.3 % [0.3, 0.4]"
				" against the first (6 blocks)"));
	assert_false(has_note(r, "warning"));
	free_compare(r);
}

static void test_real_drift_is_a_warning(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareReply *r;

	run_canary(f, 6, 970);
	r = compare_job(f, 1);
	assert_true(has_note(r, "last boots of a block are -3.0 % [-3.0, -2.9]"));
	assert_true(has_note(r, "warning: '" MACHINE "' gets worse by 3.0 % within a block"));
	free_compare(r);
}

static void count_block(void *arg, uint64_t job, const char *machine, uint32_t block)
{
	(void)job;
	(void)machine;
	(void)block;
	(*(unsigned *)arg)++;
}

static void test_a_block_whose_canary_alone_passed_is_not_looked_at(void **state)
{
	struct fixture *f = *state;
	struct kg_err err = {""};
	struct plan_job p;
	struct answer a;
	unsigned n = 0;

	plan_init(&p, "canary");
	(void)plan_cell(&p, false);
	plan_cell(&p, false)->canary = true;
	plan_slots(&p, 1);
	(void)plan_insert(f, &p, &a);
	(void)fixture_sql(f, "UPDATE slot SET outcome = iif(id = 1, 'fail', 'pass')");
	assert_int_equal(query_undetected(f->q, 0, count_block, &n, &err), 0);
	assert_int_equal(n, 0);
	(void)fixture_sql(f, "UPDATE slot SET outcome = 'pass' WHERE id = 1");
	assert_int_equal(query_undetected(f->q, 0, count_block, &n, &err), 0);
	assert_int_equal(n, 1);
}

/* ---- early ends ---- */

static void test_a_comparison_says_who_stopped_early_and_why(void **state)
{
	struct fixture *f = *state;
	struct store_job_close x = {.job = 1,
				    .machine = MACHINE,
				    .outcome = KG_OUTCOME_SKIPPED,
				    .reason = "the widest 95 % interval is 0.8 %",
				    .now_ns = 800};
	Kgrid__V1__CompareReply *r;
	struct plan_job p;
	struct answer a;

	plan_init(&p, "stops");
	(void)plan_cell(&p, false);
	(void)plan_cell(&p, true);
	plan_slots(&p, 9);
	(void)plan_insert(f, &p, &a);
	for (uint32_t b = 0; b < 6; b++)
		for (unsigned i = 0; i < 2; i++)
			plan_boot(f, 2 * b + i + 1, 1,
				  &(struct fixture_where){.kernel = i ? KERNEL_B : KERNEL_A,
							  .started_ns = SECOND},
				  (uint64_t[]){2 * b + i + 1}, (double[]){100 + 10 * i + b}, 1);
	assert_int_equal(RUN(f, &a, store_job_close(f->s, &x, answer_done(&a))), 0);
	r = compare_job(f, 1);
	assert_true(has_note(r, MACHINE ": stopped after 6 blocks, 6 slots are skipped: the widest "
					"95 % interval is 0.8 %"));
	assert_true(has_note(r, "stopped early, with 6 boots a side in places: below 8 boots"));
	assert_false(has_note(r, "excluded")); /* it would say the same again */
	assert_false(has_note(r, "pending"));
	assert_string_equal(r->job->stops[0], MACHINE ": stopped after 6 blocks, 6 slots are "
						      "skipped: the widest 95 % interval is 0.8 %");
	free_compare(r);
}

static void test_a_comparison_says_that_the_most_blocks_were_made(void **state)
{
	static const char text[] =
		MACHINE ": made all 3 blocks: the stop rule 'ci95 <= 1.5 %' did not end it sooner";
	struct fixture *f = *state;
	Kgrid__V1__CompareReply *r;
	struct plan_job p;
	struct answer a;

	plan_init(&p, "most");
	(void)plan_cell(&p, false);
	p.job.until_pct = 1.5;
	plan_slots(&p, 3);
	(void)plan_insert(f, &p, &a);
	for (uint32_t b = 1; b <= 3; b++) {
		r = compare_job(f, 1);
		assert_int_equal(r->job->n_stops, 0); /* not yet */
		free_compare(r);
		plan_boot(f, b, 1,
			  &(struct fixture_where){.kernel = KERNEL_A, .started_ns = SECOND},
			  (uint64_t[]){b}, (double[]){100 + b}, 1);
	}
	r = compare_job(f, 1);
	assert_true(has_note(r, text));
	assert_int_equal(r->job->n_stops, 1);
	assert_string_equal(r->job->stops[0], text);
	free_compare(r);
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_variants_are_columns_in_the_order_of_the_file),
		T_(test_a_list_selects_its_variants_and_a_shown_one_itself),
		T_(test_a_variant_longer_than_any_label_is_found_as_baseline),
		T_(test_history_of_a_variant_is_a_series),
		T_(test_samples_logs_and_events_say_the_variant),
		T_(test_heading_of_a_log_says_the_variant),
		T_(test_the_settings_of_a_job_tell_its_values_from_others),
		T_(test_lists_that_are_the_same_stand_with_their_column),
		T_(test_a_peer_is_part_of_the_row),
		T_(test_a_row_without_parameters_is_named_by_its_peer_alone),
		T_(test_a_servers_attempt_never_decides_a_slot),
		T_(test_a_server_is_in_no_count_and_no_result),
		T_(test_pairs_come_back_with_their_roles),
		T_(test_a_canary_is_no_result),
		T_(test_a_canary_tells_of_drift),
		T_(test_real_drift_is_a_warning),
		T_(test_a_block_whose_canary_alone_passed_is_not_looked_at),
		T_(test_a_comparison_says_who_stopped_early_and_why),
		T_(test_a_comparison_says_that_the_most_blocks_were_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
