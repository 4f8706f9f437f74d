/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detections: one item per boundary, each step visible; notices, calibration, imports. */
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Jobs 1 to 3 of one block each. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct answer a;

	fixture_init(f);
	fixture_open(f);
	fixture_kernels(f);
	for (int i = 0; i < 3; i++)
		fixture_job(f, 1, &a);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_deinit(*state);
	free(*state);
	return 0;
}

static struct store_member member(const char *machine, const char *params, double effect_pct)
{
	return (struct store_member){.machine = machine,
				     .workload = "netperf",
				     .params = params,
				     .metric = "rate",
				     .unit = "op/s",
				     .kernel = "new",
				     .lsm = "full",
				     .job = 1,
				     .before = 100,
				     .after = 100 + effect_pct,
				     .effect_pct = effect_pct,
				     .has_interval = true,
				     .lo_pct = effect_pct - 0.5,
				     .hi_pct = effect_pct + 0.5,
				     .p = 0.001,
				     .q = 0.01,
				     .boots_before = 8,
				     .boots_after = 7};
}

static struct store_sighting sighting(const struct store_member *m, size_t n, uint64_t job)
{
	return (struct store_sighting){.from_key = KERNEL_A,
				       .to_key = KERNEL_B,
				       .from_label = "old",
				       .to_label = "new",
				       .members = m,
				       .n_members = n,
				       .job = job,
				       .now_ns = 1000 * (int64_t)job};
}

static uint64_t seen(struct fixture *f, struct store_sighting x, bool existed)
{
	struct answer a;

	if (RUN(f, &a, store_regression_seen(f->s, &x, answer_done(&a))) < 0)
		fail_msg("%s", a.text);
	assert_int_equal(a.r.existed, existed);
	return a.r.id;
}

static void act(struct fixture *f, uint64_t id, const char *state, const char *text)
{
	struct store_regression_action x = {
		.regression = id, .state = state, .user = "ada", .text = text, .now_ns = 7};
	struct answer a;

	if (RUN(f, &a, store_regression_act(f->s, &x, answer_done(&a))) < 0)
		fail_msg("%s", a.text);
}

static void step(struct fixture *f, uint64_t id, enum store_stage stage, uint64_t job,
		 const struct store_confirmed *m, size_t n)
{
	struct store_regression_step x = {.regression = id,
					  .stage = stage,
					  .confirm_job = job,
					  .members = m,
					  .n_members = n,
					  .text = "three fresh blocks",
					  .now_ns = 8};
	struct answer a;

	if (RUN(f, &a, store_regression_step(f->s, &x, answer_done(&a))) < 0)
		fail_msg("%s", a.text);
}

static Kgrid__V1__RegressionsReply *list(struct fixture *f, Kgrid__V1__RegressionsRequest rq)
{
	Kgrid__V1__RegressionsReply *r = NULL;
	struct kg_err err = {""};

	if (query_regressions(f->q, &rq, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static void test_one_boundary_is_one_item_whatever_shows_it(void **state)
{
	struct fixture *f = *state;
	struct store_member m[] = {member("m1", "size=64", -8.79), member("m1", "size=128", -3)};
	Kgrid__V1__RegressionsRequest rq = KGRID__V1__REGRESSIONS_REQUEST__INIT;
	Kgrid__V1__RegressionsReply *r;
	struct store_sighting lists;
	uint64_t id = seen(f, sighting(m, 2, 1), false);

	m[0].effect_pct = -9;
	assert_int_equal(seen(f, sighting(m, 1, 1), true), id); /* the next block of the job */
	m[0].history = true;
	assert_int_equal(seen(f, sighting(m, 1, 2), true), id);
	lists = sighting(m, 1, 2);
	lists.lsm_axis = true;
	assert_true(seen(f, lists, false) != id);
	rq.has_id = 1;
	rq.id = id;
	r = list(f, rq);
	assert_int_equal(r->n_regressions, 1);
	assert_int_equal(r->regressions[0]->seen, 2);
	assert_int_equal(r->regressions[0]->n_members, 3);
	assert_true(r->regressions[0]->members[0]->effect_pct == -9);
	assert_string_equal(r->regressions[0]->stage, "candidate");
	assert_string_equal(r->regressions[0]->state, "open");
	assert_string_equal(r->regressions[0]->from, "old");
	assert_int_equal(r->regressions[0]->first_ns, 1000);
	assert_int_equal(r->regressions[0]->last_ns, 2000);
	assert_string_equal(r->regressions[0]->worst,
			    "-9.00 % [-9.29, -8.29] netperf size=64 on m1");
	assert_string_equal(r->regressions[0]->events[0]->text, "job 1 shows it");
	assert_null(r->regressions[0]->events[0]->user);
	kgrid__v1__regressions_reply__free_unpacked(r, NULL);
}

static void test_row_40_a_candidate_becomes_confirmed_only_by_a_step(void **state)
{
	struct fixture *f = *state;
	struct store_member m[] = {member("m1", "size=64", -8), member("m1", "size=128", -2)};
	const struct store_confirmed c[] = {
		{"m1", "netperf", "size=64", "rate", "new", "full", true, 0.01, "m2"},
		{"m1", "netperf", "size=128", "rate", "new", "full", false, 0.6, NULL},
	};
	uint64_t id = seen(f, sighting(m, 2, 1), false);

	seen(f, sighting(m, 2, 2), true); /* however often it is seen */
	assert_string_equal(fixture_sql(f, "SELECT stage FROM regression"), "candidate");
	step(f, id, STORE_STAGE_CONFIRMING, 3, NULL, 0);
	assert_int_equal(fixture_int(f, "SELECT confirm_job FROM regression"), 3);
	step(f, id, STORE_STAGE_CONFIRMED, 0, c, 2);
	assert_int_equal(fixture_int(f, "SELECT confirm_job FROM regression"), 3);
	assert_string_equal(fixture_sql(f, "SELECT stage FROM regression"), "confirmed");
	assert_string_equal(fixture_sql(f, "SELECT stage || confirm_machine || confirm_p"
					   " FROM regression_member WHERE params = 'size=64'"),
			    "confirmedm20.01");
	assert_string_equal(fixture_sql(f, "SELECT stage FROM regression_member"
					   " WHERE params = 'size=128'"),
			    "refuted");
	/* Confirmed stays so; refuted is a candidate again by another job only. */
	seen(f, sighting(m, 2, 2), true);
	assert_string_equal(fixture_sql(f, "SELECT group_concat(stage) FROM regression_member"),
			    "refuted,confirmed");
	seen(f, sighting(m, 2, 3), true);
	assert_string_equal(fixture_sql(f, "SELECT group_concat(stage) FROM regression_member"),
			    "candidate,confirmed");
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM regression_event"
					" WHERE text = 'three fresh blocks'"),
			 2);
}

static void test_fixed_is_open_again_when_another_job_shows_it(void **state)
{
	struct fixture *f = *state;
	struct store_member m = member("m1", "size=64", -8);
	uint64_t id = seen(f, sighting(&m, 1, 1), false);

	act(f, id, "fixed", "commit abc");
	seen(f, sighting(&m, 1, 1), true);
	assert_string_equal(fixture_sql(f, "SELECT state FROM regression"), "fixed");
	seen(f, sighting(&m, 1, 2), true);
	assert_string_equal(fixture_sql(f, "SELECT state FROM regression"), "open");
	assert_string_equal(fixture_sql(f, "SELECT text FROM regression_event ORDER BY id DESC"),
			    "job 2 shows it again: open again");
	act(f, id, "acknowledged", NULL);
	seen(f, sighting(&m, 1, 3), true); /* carried over */
	assert_string_equal(fixture_sql(f, "SELECT state FROM regression"), "acknowledged");
}

static void test_refuted_is_a_candidate_again_but_not_by_the_same_job(void **state)
{
	struct fixture *f = *state;
	struct store_member m = member("m1", "size=64", -8);
	uint64_t id = seen(f, sighting(&m, 1, 1), false);

	step(f, id, STORE_STAGE_REFUTED, 0, NULL, 0);
	seen(f, sighting(&m, 1, 1), true);
	assert_string_equal(fixture_sql(f, "SELECT stage FROM regression"), "refuted");
	seen(f, sighting(&m, 1, 2), true);
	assert_string_equal(fixture_sql(f, "SELECT stage FROM regression"), "candidate");
	step(f, id, STORE_STAGE_REFUTED, 0, NULL, 0);
	seen(f, sighting(&m, 1, 1), true); /* an old one, although a newer came between */
	assert_string_equal(fixture_sql(f, "SELECT stage FROM regression"), "refuted");
}

static void test_what_people_do_is_kept_with_their_name(void **state)
{
	struct fixture *f = *state;
	struct store_member m = member("m1", "size=64", -8);
	uint64_t id = seen(f, sighting(&m, 1, 1), false);
	struct store_regression_action x = {.regression = id, .now_ns = 1};
	struct answer a;

	act(f, id, "acknowledged", "looking");
	act(f, id, NULL, "it is the timer");
	assert_string_equal(fixture_sql(f, "SELECT group_concat(user || ' ' || text, '; ') FROM"
					   " (SELECT * FROM regression_event WHERE user IS NOT NULL"
					   " ORDER BY id)"),
			    "ada acknowledged: looking; ada it is the timer");
	assert_int_equal(RUN(f, &a, store_regression_act(f->s, &x, answer_done(&a))), KG_EINVALID);
	assert_string_equal(a.text, "an empty comment");
	x.state = "closed";
	assert_int_equal(RUN(f, &a, store_regression_act(f->s, &x, answer_done(&a))), KG_EINVALID);
	assert_string_equal(a.text, "unknown state 'closed': open, acknowledged or fixed");
	x.regression = 99;
	assert_int_equal(RUN(f, &a, store_regression_act(f->s, &x, answer_done(&a))), KG_ENOTFOUND);
}

static void test_numbers_that_are_none_do_not_go_in(void **state)
{
	struct fixture *f = *state;
	struct store_member m = member("m1", "size=64", -8);
	struct store_sighting x;
	struct answer a;

	m.p = NAN;
	m.q = INFINITY;
	m.lo_pct = -INFINITY;
	seen(f, sighting(&m, 1, 1), false);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM regression_member WHERE p IS NULL"
					" AND q IS NULL AND lo_pct IS NULL AND hi_pct = -7.5"),
			 1);
	m.effect_pct = NAN;
	x = sighting(&m, 1, 2);
	assert_int_equal(RUN(f, &a, store_regression_seen(f->s, &x, answer_done(&a))), KG_EINVALID);
	assert_int_equal(fixture_int(f, "SELECT seen FROM regression"), 1); /* as a whole */
}

static void test_lists_are_filtered_and_an_empty_one_says_why(void **state)
{
	struct fixture *f = *state;
	struct store_member m = member("m1", "size=64", -8);
	Kgrid__V1__RegressionsRequest rq = KGRID__V1__REGRESSIONS_REQUEST__INIT;
	Kgrid__V1__RegressionsReply *r = list(f, rq);
	struct kg_err err = {""};
	uint64_t id;

	assert_int_equal(r->n_regressions, 0);
	assert_string_equal(r->notes[0], "no regression was found in 0 blocks");
	kgrid__v1__regressions_reply__free_unpacked(r, NULL);
	id = seen(f, sighting(&m, 1, 1), false);
	act(f, id, "fixed", NULL);
	r = list(f, rq);
	assert_int_equal(r->n_regressions, 0);
	assert_string_equal(r->notes[0], "none of the 1 regressions fits; --all shows all of them");
	kgrid__v1__regressions_reply__free_unpacked(r, NULL);
	rq.has_all = rq.all = 1;
	r = list(f, rq);
	assert_int_equal(r->n_regressions, 1);
	assert_int_equal(r->regressions[0]->n_events, 0);
	kgrid__v1__regressions_reply__free_unpacked(r, NULL);
	rq.has_since_ns = 1;
	rq.since_ns = 1001;
	r = list(f, rq);
	assert_int_equal(r->n_regressions, 0);
	kgrid__v1__regressions_reply__free_unpacked(r, NULL);
	rq.machine = (char *)(uintptr_t) "m7";
	assert_int_equal(query_regressions(f->q, &rq, &r, &err), KG_ENOTFOUND);
	rq.machine = NULL;
	rq.state = (char *)(uintptr_t) "closed";
	assert_int_equal(query_regressions(f->q, &rq, &r, &err), KG_EINVALID);
	rq.state = NULL;
	rq.id = 9;
	assert_int_equal(query_regressions(f->q, &rq, &r, &err), KG_ENOTFOUND);
}

static void test_detector_sees_candidates_with_their_members(void **state)
{
	struct fixture *f = *state;
	struct store_member m[] = {member("m1", "size=64", -8), member("m1", "size=128", -2)};
	struct store_regressions *open = NULL;
	struct kg_err err = {""};
	uint64_t id = seen(f, sighting(m, 2, 1), false);

	assert_int_equal(query_regressions_open(f->q, &open, &err), 0);
	assert_int_equal(open->n, 1);
	assert_int_equal(open->items[0].id, id);
	assert_int_equal(open->items[0].stage, STORE_STAGE_CANDIDATE);
	assert_string_equal(open->items[0].to_key, KERNEL_B);
	assert_int_equal(open->items[0].n_members, 2);
	assert_string_equal(open->items[0].members[0].params, "size=128");
	assert_true(open->items[0].members[1].has_interval);
	assert_true(open->items[0].members[1].lo_pct == -8.5);
	assert_int_equal(open->items[0].members[1].boots_after, 7);
	store_regressions_free(open);
	step(f, id, STORE_STAGE_CONFIRMED, 0, NULL, 0);
	assert_int_equal(query_regressions_open(f->q, &open, &err), 0);
	assert_int_equal(open->n, 0);
	store_regressions_free(open);
}

/* ---- blocks ---- */

struct blocks {
	unsigned n;
	uint64_t job;
	uint32_t block;
};

static void on_block(void *arg, uint64_t job, const char *machine, uint32_t block)
{
	struct blocks *b = arg;

	b->n++;
	b->job = job;
	b->block = block;
	assert_string_equal(machine, MACHINE);
}

static struct blocks undetected(struct fixture *f, uint64_t job)
{
	struct blocks b = {0};
	struct kg_err err = {""};

	if (query_undetected(f->q, job, on_block, &b, &err) < 0)
		fail_msg("%s", err.text);
	return b;
}

/* Settles every slot of job 1; slots 1 and 2 passed. */
static void finish_job(struct fixture *f)
{
	struct store_settle st[] = {
		{.slot = 3, .outcome = KG_OUTCOME_FAIL, .reason = "exit 1"},
		{.slot = 4, .outcome = KG_OUTCOME_BOOT_HANG},
	};
	struct answer a;

	assert_int_equal(fixture_boot(f, 1, 1, (uint64_t[]){1, 2}, 2), 0);
	must_ingest(f, MACHINE, record_evidence(1, 1, 1));
	for (uint64_t i = 0; i < 2; i++) {
		must_ingest(f, MACHINE, record_started(1, 2 + 3 * i, 100 + i));
		must_ingest(f, MACHINE, record_samples(1, 3 + 3 * i, 100 + i, 0, 3, 10));
		must_ingest(f, MACHINE, record_ended(1, 4 + 3 * i, 100 + i, "pass", 3));
	}
	fixture_boot_pass(f, 1, (uint64_t[]){1, 2}, 2);
	assert_int_equal(undetected(f, 0).n, 0); /* two slots are pending */
	assert_int_equal(RUN(f, &a, store_settle(f->s, st, 2, 5, answer_done(&a))), 0);
	assert_int_equal(RUN(f, &a, store_job_state(f->s, 1, STORE_JOB_DONE, 9, answer_done(&a))),
			 0);
}

static void test_finished_blocks_are_looked_at_once(void **state)
{
	struct fixture *f = *state;
	struct answer a;

	finish_job(f);
	assert_int_equal(undetected(f, 0).n, 1);
	assert_int_equal(undetected(f, 1).n, 1);
	assert_int_equal(undetected(f, 1).block, 1);
	assert_int_equal(undetected(f, 2).n, 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(RUN(f, &a,
				     store_detection_mark(f->s, 1, MACHINE, 1, 9, answer_done(&a))),
				 0);
		assert_int_equal(a.r.existed, i);
		fixture_close(f);
		fixture_open(f);
		assert_int_equal(undetected(f, 0).n, 0);
	}
	assert_int_equal(RUN(f, &a, store_detection_mark(f->s, 99, MACHINE, 1, 9, answer_done(&a))),
			 KG_ENOTFOUND);
}

static void test_block_without_a_pass_is_not_looked_at(void **state)
{
	struct fixture *f = *state;
	struct store_settle st[4];
	struct answer a;

	for (uint64_t i = 0; i < 4; i++)
		st[i] = (struct store_settle){.slot = 1 + i, .outcome = KG_OUTCOME_BOOT_HANG};
	assert_int_equal(RUN(f, &a, store_settle(f->s, st, 4, 5, answer_done(&a))), 0);
	assert_int_equal(undetected(f, 0).n, 0);
}

static void test_block_that_is_tried_again_is_looked_at_again(void **state)
{
	struct fixture *f = *state;
	struct store_settle st[] = {{.slot = 3, .outcome = KG_OUTCOME_INFRA},
				    {.slot = 4, .outcome = KG_OUTCOME_INFRA}};
	struct answer a;

	finish_job(f);
	assert_int_equal(RUN(f, &a, store_detection_mark(f->s, 1, MACHINE, 1, 9, answer_done(&a))),
			 0);
	assert_int_equal(RUN(f, &a, store_job_retry(f->s, 1, 10, NULL, answer_done(&a))), 0);
	assert_int_equal(undetected(f, 0).n, 0);
	assert_int_equal(RUN(f, &a, store_settle(f->s, st, 2, 5, answer_done(&a))), 0);
	assert_int_equal(undetected(f, 0).n, 1);
}

static void test_confirmations_are_not_looked_at_and_know_what_they_try(void **state)
{
	struct fixture *f = *state;
	struct store_member m = member("m1", "size=64", -8);
	uint64_t id = seen(f, sighting(&m, 1, 1), false);
	struct store_job j = {.name = "confirm",
			      .text = "t",
			      .file_name = "f",
			      .kind = STORE_JOB_CONFIRM,
			      .regression = id,
			      .blocks = 1};
	struct store_job *back = NULL;
	struct kg_err err = {""};
	Kgrid__V1__JobReply *r = NULL;
	struct answer a;

	assert_int_equal(RUN(f, &a, store_job_insert(f->s, &j, answer_done(&a))), 0);
	assert_int_equal(query_job_load(f->q, a.r.id, &back, &err), 0);
	assert_int_equal(back->kind, STORE_JOB_CONFIRM);
	assert_int_equal(back->regression, id);
	store_job_free(back);
	/* And it is not what a person means by the newest job. */
	assert_int_equal(query_job(f->q, 0, &r, &err), 0);
	assert_int_equal(r->job->id, 3);
	kgrid__v1__job_reply__free_unpacked(r, NULL);
	finish_job(f);
	(void)fixture_sql(f, "UPDATE job SET kind = 'calibrate' WHERE id = 1");
	assert_int_equal(undetected(f, 0).n, 0);
	assert_int_equal(undetected(f, 1).n, 0);
}

/* ---- notices, calibration, imports ---- */

static void test_notice_leaves_pending_once(void **state)
{
	struct fixture *f = *state;
	struct store_member m = member("m1", "size=64", -8);
	uint64_t id = seen(f, sighting(&m, 1, 1), false);
	struct store_notices *n = NULL;
	struct kg_err err = {""};
	struct answer a;

	assert_int_equal(
		RUN(f, &a, store_notice_add(f->s, id, "mail:a@b", "text", 1, answer_done(&a))), 0);
	assert_int_equal(a.r.id, 1);
	assert_int_equal(query_notices(f->q, &n, &err), 0);
	assert_int_equal(n->n, 1);
	assert_string_equal(n->items[0].target, "mail:a@b");
	assert_int_equal(n->items[0].regression, id);
	store_notices_free(n);
	assert_int_equal(
		RUN(f, &a, store_notice_end(f->s, 1, false, "no sendmail", 2, answer_done(&a))), 0);
	assert_false(a.r.existed);
	assert_int_equal(RUN(f, &a, store_notice_end(f->s, 1, true, NULL, 3, answer_done(&a))), 0);
	assert_true(a.r.existed);
	assert_string_equal(fixture_sql(f, "SELECT state || reason FROM notice"),
			    "failedno sendmail");
	assert_int_equal(RUN(f, &a, store_notice_end(f->s, 9, true, NULL, 3, answer_done(&a))),
			 KG_ENOTFOUND);
	assert_int_equal(RUN(f, &a,
			     store_notice_add(f->s, 99, "mail:a@b", "t", 1, answer_done(&a))),
			 KG_ENOTFOUND);
	assert_int_equal(query_notices(f->q, &n, &err), 0);
	assert_int_equal(n->n, 0);
	store_notices_free(n);
}

static void test_recurring_calibration_is_set_replaced_and_taken_away(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CalibrateRequest rq = KGRID__V1__CALIBRATE_REQUEST__INIT;
	struct store_recurring r = {
		.machine = MACHINE, .request = &rq, .every_ns = 5000000000, .next_ns = 9};
	struct store_recurrings *list_ = NULL;
	char *workloads[] = {(char *)(uintptr_t) "netperf: {}"};
	struct kg_err err = {""};
	struct answer a;

	rq.n_workloads = 1;
	rq.workloads = workloads;
	assert_int_equal(RUN(f, &a, store_recurring_set(f->s, &r, answer_done(&a))), 0);
	r.next_ns = 10;
	r.last_job = 2;
	assert_int_equal(RUN(f, &a, store_recurring_set(f->s, &r, answer_done(&a))), 0);
	assert_int_equal(query_recurring(f->q, &list_, &err), 0);
	assert_int_equal(list_->n, 1);
	assert_int_equal(list_->items[0].next_ns, 10);
	assert_int_equal(list_->items[0].last_job, 2);
	assert_string_equal(list_->items[0].request->workloads[0], "netperf: {}");
	store_recurrings_free(list_);
	r.every_ns = 0;
	assert_int_equal(RUN(f, &a, store_recurring_set(f->s, &r, answer_done(&a))), 0);
	assert_int_equal(RUN(f, &a, store_recurring_set(f->s, &r, answer_done(&a))), KG_ENOTFOUND);
	assert_string_equal(a.text, "machine 'm1' has no calibration that comes again");
}

static void test_import_of_the_same_text_is_the_same_import(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__ImportsRequest rq = KGRID__V1__IMPORTS_REQUEST__INIT;
	Kgrid__V1__ImportsReply *r = NULL;
	struct kg_err err = {""};
	struct answer a;

	assert_int_equal(RUN(f, &a, store_import_add(f->s, "2", "a,b\n", 5, answer_done(&a))), 0);
	assert_int_equal(RUN(f, &a, store_import_add(f->s, "field", "c\n", 6, answer_done(&a))), 0);
	assert_int_equal(RUN(f, &a, store_import_add(f->s, "2", "a,b\n", 7, answer_done(&a))), 0);
	assert_true(a.r.existed);
	assert_int_equal(a.r.id, 1);
	assert_int_equal(RUN(f, &a, store_import_add(f->s, "2", "other", 7, answer_done(&a))),
			 KG_EEXISTS);
	assert_int_equal(query_imports(f->q, &rq, &r, &err), 0);
	assert_int_equal(r->n_imports, 2);
	assert_null(r->imports[0]->text);
	kgrid__v1__imports_reply__free_unpacked(r, NULL);
	rq.selector = (char *)(uintptr_t) "2"; /* a name before a number */
	assert_int_equal(query_imports(f->q, &rq, &r, &err), 0);
	assert_int_equal(r->n_imports, 1);
	assert_string_equal(r->imports[0]->text, "a,b\n");
	kgrid__v1__imports_reply__free_unpacked(r, NULL);
	rq.selector = (char *)(uintptr_t) "1";
	assert_int_equal(query_imports(f->q, &rq, &r, &err), 0);
	assert_string_equal(r->imports[0]->name, "2");
	kgrid__v1__imports_reply__free_unpacked(r, NULL);
	rq.selector = (char *)(uintptr_t) "x";
	assert_int_equal(query_imports(f->q, &rq, &r, &err), KG_ENOTFOUND);
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_one_boundary_is_one_item_whatever_shows_it),
		T_(test_row_40_a_candidate_becomes_confirmed_only_by_a_step),
		T_(test_fixed_is_open_again_when_another_job_shows_it),
		T_(test_refuted_is_a_candidate_again_but_not_by_the_same_job),
		T_(test_what_people_do_is_kept_with_their_name),
		T_(test_numbers_that_are_none_do_not_go_in),
		T_(test_lists_are_filtered_and_an_empty_one_says_why),
		T_(test_detector_sees_candidates_with_their_members),
		T_(test_finished_blocks_are_looked_at_once),
		T_(test_block_without_a_pass_is_not_looked_at),
		T_(test_block_that_is_tried_again_is_looked_at_again),
		T_(test_confirmations_are_not_looked_at_and_know_what_they_try),
		T_(test_notice_leaves_pending_once),
		T_(test_recurring_calibration_is_set_replaced_and_taken_away),
		T_(test_import_of_the_same_text_is_the_same_import),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
