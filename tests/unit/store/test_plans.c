/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs since schema 3: what is kept of them, and what happens to them after they were submitted. */
#include "plans.h"

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

/* Two cells, of the old and the new kernel, in `blocks` blocks. */
static uint64_t simple_job(struct fixture *f, const char *name, uint32_t blocks)
{
	struct plan_job p;
	struct answer a;

	plan_init(&p, name);
	(void)plan_cell(&p, false);
	(void)plan_cell(&p, true);
	plan_slots(&p, blocks);
	return plan_insert(f, &p, &a);
}

static int set_job_state(struct fixture *f, uint64_t job, enum store_job_state to)
{
	struct answer a;

	return RUN(f, &a, store_job_state(f->s, job, to, 500, answer_done(&a)));
}

static void end_slots(struct fixture *f, const char *where, const char *outcome)
{
	char sql[256];

	(void)snprintf(sql, sizeof(sql), "UPDATE slot SET outcome = '%s' WHERE %s", outcome, where);
	(void)fixture_sql(f, sql);
}

/* ---- insert ---- */

static void fill_everything(struct plan_job *p, const uint64_t *after)
{
	static const struct store_file files[] = {{"base.yaml", "lsm: {}\n"}, {"b.yaml", ""}};
	static const struct store_merge merges[] = {
		{MACHINE, KERNEL_A, "ntnb", "nt", "capability,apparmor"},
		{MACHINE, KERNEL_A, "ntnb", "nt", "capability,apparmor"}, /* of another variant */
		{MACHINE, KERNEL_A, "ntnb", "nt", "capability"},
	};
	struct store_cell *c;

	plan_init(p, "all");
	c = plan_cell(p, false);
	c->variant = "mitigations=off";
	c->settings = "governor=performance; sysctl.vm.swappiness=10";
	c->peer = "m2";
	c->canary = c->leave_by_reboot = true;
	c->run_s = 45;
	(void)plan_cell(p, true);
	plan_slots(p, 12);
	p->job.user = "alice";
	p->job.files = files;
	p->job.n_files = 2;
	p->job.merges = merges;
	p->job.n_merges = 3;
	p->job.after = after;
	p->job.n_after = 2;
	p->job.paused = true;
	p->job.blocks_min = 5;
	p->job.until_pct = 1.5;
	p->job.budget_ns = 14400 * (uint64_t)SECOND;
	p->job.queue_timeout_ns = UINT64_MAX / 4;
	p->job.standing = 9;
	p->job.hop_s = 90;
}

static void test_all_of_a_plan_comes_back(void **state)
{
	struct fixture *f = *state;
	uint64_t after[] = {2, 1}, job;
	struct store_job *j = NULL;
	struct kg_err err = {""};
	struct plan_job p;
	struct answer a;

	(void)simple_job(f, "one", 1);
	(void)simple_job(f, "two", 1);
	fill_everything(&p, after);
	job = plan_insert(f, &p, &a);
	fixture_close(f);
	fixture_open(f);
	assert_int_equal(query_job_load(f->q, job, &j, &err), 0);
	assert_string_equal(j->user, "alice");
	assert_int_equal(j->n_files, 2);
	assert_string_equal(j->files[0].name, "base.yaml");
	assert_string_equal(j->files[0].text, "lsm: {}\n");
	assert_string_equal(j->files[1].text, "");
	assert_int_equal(j->n_after, 2);
	assert_int_equal(j->after[0], 1);
	assert_int_equal(j->after[1], 2);
	assert_true(j->paused);
	assert_int_equal(j->blocks_min, 5);
	assert_true(j->until_pct == 1.5);
	assert_true(j->budget_ns == 14400 * (uint64_t)SECOND);
	assert_true(j->queue_timeout_ns == UINT64_MAX / 4);
	assert_int_equal(j->standing, 9);
	assert_int_equal(j->hop_s, 90);
	assert_int_equal(j->queued_ns, 100);
	assert_int_equal(j->started_ns, 0);
	assert_int_equal(j->cells[0].number, 1);
	assert_string_equal(j->cells[0].variant, "mitigations=off");
	assert_string_equal(j->cells[0].settings, "governor=performance; sysctl.vm.swappiness=10");
	assert_string_equal(j->cells[0].peer, "m2");
	assert_true(j->cells[0].canary && j->cells[0].leave_by_reboot);
	assert_int_equal(j->cells[0].run_s, 45);
	assert_int_equal(j->cells[1].number, 2);
	assert_string_equal(j->cells[1].variant, "");
	assert_false(j->cells[1].canary || j->cells[1].leave_by_reboot);
	store_job_free(j);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM job_merge"), 2);
}

static void test_a_paused_job_is_live_and_summed_up(void **state)
{
	struct fixture *f = *state;
	uint64_t after[] = {1, 1};
	struct store_snapshot *s = NULL;
	Kgrid__V1__JobReply *r = NULL;
	struct kg_err err = {""};
	struct plan_job p;
	struct answer a;

	(void)simple_job(f, "one", 1);
	fill_everything(&p, after); /* the same job twice is once */
	(void)plan_insert(f, &p, &a);
	assert_int_equal(query_snapshot(f->q, &s, &err), 0);
	assert_int_equal(s->n_jobs, 2);
	assert_true(s->jobs[1].paused);
	assert_int_equal(s->jobs[1].n_after, 1);
	store_snapshot_free(s);
	assert_int_equal(query_job(f->q, 2, &r, &err), 0);
	assert_string_equal(r->job->user, "alice");
	assert_true(r->job->has_paused && r->job->paused);
	assert_int_equal(r->job->n_after, 1);
	assert_int_equal(r->job->after[0], 1);
	assert_int_equal(r->job->standing, 9);
	assert_int_equal(r->job->n_stops, 0);
	assert_int_equal(r->n_files, 2);
	assert_string_equal(r->files[0]->text, "lsm: {}\n");
	assert_int_equal(r->slots[0]->cell, 1);
	assert_string_equal(r->slots[0]->lsm, "nt"); /* the variant has a field of its own here */
	assert_string_equal(r->slots[0]->variant, "mitigations=off");
	assert_string_equal(r->slots[0]->peer, "m2");
	assert_true(r->slots[0]->canary);
	assert_null(r->slots[1]->variant);
	assert_false(r->slots[1]->canary);
	kgrid__v1__job_reply__free_unpacked(r, NULL);
}

static void test_a_job_after_none_that_exists_is_refused_as_a_whole(void **state)
{
	struct fixture *f = *state;
	uint64_t after[] = {1, 77};
	struct plan_job p;
	struct answer a;

	(void)simple_job(f, "one", 1);
	fill_everything(&p, after);
	assert_int_equal(RUN(f, &a, store_job_insert(f->s, &p.job, answer_done(&a))), KG_EINVALID);
	assert_string_equal(a.text, "no job 77 to come after");
	after[1] = 2; /* its own number, were it there */
	assert_int_equal(RUN(f, &a, store_job_insert(f->s, &p.job, answer_done(&a))), KG_EINVALID);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM job"), 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM job_file"), 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM cell WHERE job = 2"), 0);
}

static void test_two_cells_of_one_number_are_refused(void **state)
{
	struct fixture *f = *state;
	struct plan_job p;
	struct answer a;

	plan_init(&p, "x");
	plan_cell(&p, false)->number = 2;
	(void)plan_cell(&p, true); /* by its place the second */
	assert_int_equal(RUN(f, &a, store_job_insert(f->s, &p.job, answer_done(&a))), KG_EINVALID);
	p.cells[1].number = 1;
	assert_int_equal(RUN(f, &a, store_job_insert(f->s, &p.job, answer_done(&a))), 0);
}

/* ---- change ---- */

static int change(struct fixture *f, struct store_job_change x, struct answer *a)
{
	x.now_ns = 700;
	return RUN(f, a, store_job_change(f->s, &x, answer_done(a)));
}

static void test_pause_and_priority_are_kept_and_told_once(void **state)
{
	struct fixture *f = *state;
	struct store_job_change pause = {
		.job = 1, .set_paused = true, .paused = true, .user = "bob"};
	struct store_job_change both = {
		.job = 1, .set_paused = true, .set_priority = true, .priority = 80};
	struct answer a;

	(void)simple_job(f, "one", 1);
	assert_int_equal(change(f, pause, &a), 0);
	assert_int_equal(a.r.count, 1);
	assert_int_equal(change(f, pause, &a), 0); /* again: no news */
	assert_int_equal(a.r.count, 0);
	assert_string_equal(fixture_sql(f,
					"SELECT group_concat(text) FROM event WHERE kind = 'job'"),
			    "paused (bob)");
	assert_int_equal(fixture_int(f, "SELECT paused FROM job"), 1);
	assert_int_equal(change(f, both, &a), 0);
	assert_string_equal(fixture_sql(f, "SELECT text FROM event ORDER BY id DESC LIMIT 1"),
			    "goes on, priority 50 -> 80");
	assert_int_equal(fixture_int(f, "SELECT priority * 10 + paused FROM job"), 800);
}

static void test_a_job_that_is_over_does_not_change(void **state)
{
	struct fixture *f = *state;
	struct store_job_change x = {.job = 1, .set_priority = true, .priority = 1};
	struct answer a;

	(void)simple_job(f, "one", 1);
	assert_int_equal(RUN(f, &a, store_job_cancel(f->s, 1, 5, NULL, answer_done(&a))), 0);
	assert_int_equal(change(f, x, &a), KG_ESTATE);
	assert_string_equal(a.text, "job 1 is cancelled");
	x.job = 9;
	assert_int_equal(change(f, x, &a), KG_ENOTFOUND);
	assert_int_equal(fixture_int(f, "SELECT priority FROM job"), 50);
}

/* ---- extend ---- */

static int extend(struct fixture *f, uint32_t first, const struct store_slot *slots, size_t n,
		  uint32_t blocks, struct answer *a)
{
	struct store_job_extend x = {.job = 1,
				     .first_block = first,
				     .n_blocks = blocks,
				     .slots = slots,
				     .n_slots = n,
				     .now_ns = 900};

	return RUN(f, a, store_job_extend(f->s, &x, answer_done(a)));
}

static const struct store_slot third[] = {
	{.cell_index = 0, .block = 3, .visit = 5, .position = 1},
	{.cell_index = 1, .block = 3, .visit = 6, .position = 1},
};

static void test_extension_brings_a_done_job_back_without_its_stop_rule(void **state)
{
	struct fixture *f = *state;
	struct store_job *j = NULL;
	struct kg_err err = {""};
	struct answer a;

	(void)simple_job(f, "one", 2);
	(void)simple_job(f, "two", 1);
	(void)fixture_sql(f,
			  "UPDATE job SET blocks_min = 1, budget_ns = 5, paused = 1 WHERE id = 1");
	end_slots(f, "job = 1 AND block = 1", "pass");
	end_slots(f, "job = 1 AND block = 2", "skipped");
	assert_int_equal(set_job_state(f, 1, STORE_JOB_DONE), 0);
	assert_int_equal(extend(f, 3, third, 2, 1, &a), 0);
	assert_int_equal(a.r.count, 2);
	assert_int_equal(a.r.first_slot, 7);
	assert_int_equal(query_job_load(f->q, 1, &j, &err), 0);
	assert_int_equal(j->state, STORE_JOB_QUEUED);
	assert_int_equal(j->ended_ns, 0);
	assert_int_equal(j->queued_ns, 900);
	assert_int_equal(j->submitted_ns, 100);
	assert_int_equal(j->blocks, 3);
	assert_int_equal(j->blocks_min, 0);
	assert_int_equal(j->budget_ns, 0);
	assert_false(j->paused);
	assert_int_equal(j->n_slots, 6);
	assert_int_equal(j->slots[5].cell_index, 1);
	assert_int_equal(j->slots[5].visit, 6);
	assert_int_equal(j->slots[3].outcome, KG_OUTCOME_SKIPPED); /* what was enough stays so */
	store_job_free(j);
	check_accounting(f, 1, 6);
	assert_string_equal(fixture_sql(f, "SELECT text FROM event WHERE kind = 'job'"),
			    "extended by 1 block: 2 slots");
}

static void test_extension_of_a_running_job_leaves_it_running(void **state)
{
	struct fixture *f = *state;
	struct answer a;

	(void)simple_job(f, "one", 2);
	assert_int_equal(set_job_state(f, 1, STORE_JOB_RUNNING), 0);
	assert_int_equal(extend(f, 3, third, 2, 1, &a), 0);
	assert_string_equal(fixture_sql(f, "SELECT state FROM job"), "running");
	assert_int_equal(fixture_int(f, "SELECT queued_ns FROM job"), 100);
}

static void test_an_extension_fits_once_and_as_a_whole(void **state)
{
	static const struct store_slot twice[] = {{.cell_index = 0, .block = 3},
						  {.cell_index = 0, .block = 3}};
	static const struct store_slot nowhere[] = {{.cell_index = 0, .block = 3},
						    {.cell_index = 2, .block = 3}};
	static const struct store_slot beyond[] = {{.cell_index = 0, .block = 4}};
	static const struct store_slot passed[] = {
		{.cell_index = 0, .block = 3, .outcome = KG_OUTCOME_PASS}};
	struct fixture *f = *state;
	struct answer a;

	(void)simple_job(f, "one", 2);
	assert_int_equal(extend(f, 3, twice, 2, 1, &a), KG_EINVALID);
	assert_int_equal(extend(f, 3, nowhere, 2, 1, &a), KG_EINVALID);
	assert_string_equal(a.text, "slot 1 has no cell");
	assert_int_equal(extend(f, 3, beyond, 1, 1, &a), KG_EINVALID);
	assert_int_equal(extend(f, 3, passed, 1, 1, &a), KG_EINVALID);
	assert_int_equal(extend(f, 3, third, 2, 0, &a), KG_EINVALID);
	assert_int_equal(extend(f, 3, NULL, 0, 1, &a), KG_EINVALID);
	assert_int_equal(extend(f, 3, third, 2, UINT32_MAX, &a), KG_EINVALID);
	assert_int_equal(extend(f, 2, third, 2, 1, &a), KG_ESTATE);
	assert_int_equal(extend(f, 4, third, 2, 1, &a), KG_ESTATE);
	assert_int_equal(fixture_int(f, "SELECT blocks * 100 + count(*) FROM job JOIN slot"), 204);
	assert_int_equal(extend(f, 3, third, 2, 1, &a), 0);
	assert_int_equal(extend(f, 3, third, 2, 1, &a), KG_ESTATE); /* a repeat */
	assert_int_equal(fixture_int(f, "SELECT blocks * 100 + count(*) FROM job JOIN slot"), 306);
}

static void test_infeasible_cells_are_infeasible_in_new_blocks(void **state)
{
	static const struct store_slot slots[] = {
		{.cell_index = 0, .block = 3, .visit = 5, .position = 1},
		{.cell_index = 1,
		 .block = 3,
		 .outcome = KG_OUTCOME_INFEASIBLE,
		 .reason = "no netperf"},
	};
	struct fixture *f = *state;
	struct answer a;

	(void)simple_job(f, "one", 2);
	assert_int_equal(extend(f, 3, slots, 2, 1, &a), 0);
	assert_string_equal(fixture_sql(f, "SELECT reason FROM slot WHERE outcome = 'infeasible'"),
			    "no netperf");
}

static void test_no_extension_of_cancelled_jobs_and_removed_kernels(void **state)
{
	struct fixture *f = *state;
	struct answer a;

	(void)simple_job(f, "one", 2);
	assert_int_equal(RUN(f, &a, store_job_cancel(f->s, 1, 5, NULL, answer_done(&a))), 0);
	assert_int_equal(extend(f, 3, third, 2, 1, &a), KG_ESTATE);
	(void)fixture_sql(f, "UPDATE job SET state = 'done'");
	assert_int_equal(RUN(f, &a, store_kernel_remove(f->s, KERNEL_B, 5, answer_done(&a))), 0);
	assert_int_equal(extend(f, 3, third, 2, 1, &a), KG_EREFUSED);
	assert_string_equal(a.text, "kernel 'new' was removed: add it again before the extension");
}

/* ---- close ---- */

static int close_job(struct fixture *f, const char *machine, enum kg_outcome o, const char *reason,
		     struct answer *a)
{
	struct store_job_close x = {
		.job = 1, .machine = machine, .outcome = o, .reason = reason, .now_ns = 800};

	return RUN(f, a, store_job_close(f->s, &x, answer_done(a)));
}

static const char *only_stop(struct fixture *f)
{
	static char text[256];
	Kgrid__V1__JobReply *r = NULL;
	struct kg_err err = {""};

	assert_int_equal(query_job(f->q, 1, &r, &err), 0);
	assert_int_equal(r->job->n_stops, 1);
	(void)snprintf(text, sizeof(text), "%s", r->job->stops[0]);
	kgrid__v1__job_reply__free_unpacked(r, NULL);
	return text;
}

static void test_a_stop_ends_what_is_pending_and_not_in_a_boot(void **state)
{
	struct fixture *f = *state;
	const struct fixture_where w = {.block = 1, .started_ns = SECOND};
	struct answer a;

	(void)simple_job(f, "one", 3);
	plan_boot(f, 1, 1, &w, (uint64_t[]){1}, (double[]){100}, 1);
	assert_int_equal(fixture_boot(f, 2, 1, (uint64_t[]){2}, 1), 0);
	assert_int_equal(close_job(f, MACHINE, KG_OUTCOME_SKIPPED, "narrow enough", &a), 0);
	assert_int_equal(a.r.count, 4);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM slot WHERE outcome IS NULL"), 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM slot WHERE outcome = 'skipped'"
					" AND reason = 'narrow enough' AND block > 1"),
			 4);
	assert_string_equal(only_stop(f),
			    MACHINE ": stopped after 1 block, 4 slots are skipped: narrow enough");
	assert_string_equal(fixture_sql(f, "SELECT text FROM event WHERE kind = 'close'"),
			    "4 slots: skipped: narrow enough");
	assert_int_equal(close_job(f, MACHINE, KG_OUTCOME_SKIPPED, "narrow enough", &a), 0);
	assert_int_equal(a.r.count, 0); /* a repeat */
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM event WHERE kind = 'close'"), 1);
	fixture_boot_pass(f, 2, NULL, 0);
	assert_int_equal(close_job(f, NULL, KG_OUTCOME_SKIPPED, NULL, &a), 0);
	assert_int_equal(a.r.count, 1); /* its boot is over */
	check_accounting(f, 1, 6);
}

static void test_a_stop_of_one_machine_leaves_the_others(void **state)
{
	struct fixture *f = *state;
	struct plan_job p;
	struct answer a;

	plan_init(&p, "two machines");
	(void)plan_cell(&p, false);
	plan_cell(&p, false)->machine = "m2";
	plan_slots(&p, 2);
	(void)plan_insert(f, &p, &a);
	assert_int_equal(close_job(f, "m2", KG_OUTCOME_QUEUE_TIMEOUT, "", &a), 0);
	assert_int_equal(a.r.count, 2);
	assert_string_equal(only_stop(f),
			    "m2: stopped before the first block, 2 slots are queue-timeout");
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM slot WHERE outcome IS NULL"), 2);
}

static void test_a_stop_everywhere_says_from_where_to_where(void **state)
{
	struct fixture *f = *state;
	const struct fixture_where w = {.started_ns = SECOND};
	struct plan_job p;
	struct answer a;

	plan_init(&p, "two machines");
	(void)plan_cell(&p, false);
	plan_cell(&p, false)->machine = "m2";
	plan_slots(&p, 3);
	(void)plan_insert(f, &p, &a);
	plan_boot(f, 1, 1, &w, (uint64_t[]){1}, (double[]){100}, 1);
	plan_boot(f, 2, 1, &w, (uint64_t[]){3}, (double[]){100}, 1);
	assert_int_equal(close_job(f, NULL, KG_OUTCOME_SKIPPED, "budget 4h is spent", &a), 0);
	assert_string_equal(only_stop(f), "2 machines: stopped after 0 to 2 blocks, 4 slots are"
					  " skipped: budget 4h is spent");
}

static void test_what_is_no_early_end_is_refused(void **state)
{
	struct fixture *f = *state;
	struct answer a;

	(void)simple_job(f, "one", 1);
	assert_int_equal(close_job(f, NULL, KG_OUTCOME_PASS, NULL, &a), KG_EINVALID);
	assert_int_equal(close_job(f, NULL, KG_OUTCOME_NONE, NULL, &a), KG_EINVALID);
	assert_int_equal(close_job(f, NULL, KG_OUTCOME_CANCELLED, NULL, &a), KG_EINVALID);
	(void)fixture_sql(f, "UPDATE job SET id = 9");
	assert_int_equal(close_job(f, NULL, KG_OUTCOME_SKIPPED, NULL, &a), KG_ENOTFOUND);
}

static void test_skipped_blocks_are_neither_boots_nor_done(void **state)
{
	struct fixture *f = *state;
	const struct fixture_where w = {.started_ns = SECOND};
	Kgrid__V1__WatchUpdate *u = NULL;
	struct kg_err err = {""};
	uint64_t after = 0;
	struct answer a;

	(void)simple_job(f, "one", 3);
	plan_boot(f, 1, 1, &w, (uint64_t[]){1}, (double[]){100}, 1);
	plan_boot(f, 2, 1, &w, (uint64_t[]){2}, (double[]){100}, 1);
	assert_int_equal(close_job(f, MACHINE, KG_OUTCOME_SKIPPED, "x", &a), 0);
	assert_int_equal(query_watch(f->q, 1, &after, &u, &err), 0);
	assert_int_equal(u->blocks_done, 1);
	assert_int_equal(u->machines[0]->boots_total, 2);
	assert_int_equal(u->machines[0]->boots_done, 2);
	kgrid__v1__watch_update__free_unpacked(u, NULL);
}

static void test_blocks_without_a_result_are_not_left_for_the_detector(void **state)
{
	struct fixture *f = *state;
	const struct fixture_where w = {.started_ns = SECOND};
	Kgrid__V1__RegressionsRequest rq = KGRID__V1__REGRESSIONS_REQUEST__INIT;
	Kgrid__V1__RegressionsReply *r = NULL;
	struct kg_err err = {""};
	struct answer a;

	(void)simple_job(f, "one", 3);
	plan_boot(f, 1, 1, &w, (uint64_t[]){1}, (double[]){100}, 1);
	plan_boot(f, 2, 1, &w, (uint64_t[]){2}, (double[]){100}, 1);
	assert_int_equal(close_job(f, NULL, KG_OUTCOME_QUEUE_TIMEOUT, "x", &a), 0);
	assert_string_equal(fixture_sql(f, "SELECT group_concat(block) FROM detection"), "2,3");
	assert_int_equal(RUN(f, &a, store_detection_mark(f->s, 1, MACHINE, 1, 5, answer_done(&a))),
			 0);
	assert_int_equal(query_regressions(f->q, &rq, &r, &err), 0);
	assert_string_equal(r->notes[0], "no regression was found in 1 block");
	kgrid__v1__regressions_reply__free_unpacked(r, NULL);
	assert_int_equal(set_job_state(f, 1, STORE_JOB_DONE), 0);
	assert_int_equal(RUN(f, &a, store_job_retry(f->s, 1, 9, NULL, answer_done(&a))), 0);
	assert_string_equal(fixture_sql(f, "SELECT group_concat(block) FROM detection"), "1");
}

/* ---- retry ---- */

static void test_retry_takes_queue_timeouts_and_leaves_skipped(void **state)
{
	struct fixture *f = *state;
	struct answer a;

	(void)simple_job(f, "one", 3);
	end_slots(f, "block = 1", "pass");
	end_slots(f, "block = 2", "queue-timeout");
	end_slots(f, "block = 3", "skipped");
	(void)fixture_sql(f, "UPDATE job SET paused = 1");
	assert_int_equal(set_job_state(f, 1, STORE_JOB_DONE), 0);
	assert_int_equal(RUN(f, &a, store_job_retry(f->s, 1, 950, NULL, answer_done(&a))), 0);
	assert_int_equal(a.r.count, 2);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM slot WHERE outcome IS NULL"
					" AND block = 2"),
			 2);
	assert_int_equal(fixture_int(f, "SELECT paused FROM job"), 0);
	assert_int_equal(fixture_int(f, "SELECT queued_ns FROM job"), 950);
	end_slots(f, "outcome IS NULL", "pass");
	assert_int_equal(set_job_state(f, 1, STORE_JOB_DONE), 0);
	assert_int_equal(RUN(f, &a, store_job_retry(f->s, 1, 960, NULL, answer_done(&a))),
			 KG_ENODATA);
	assert_non_null(strstr(a.text, "kgrid job extend"));
}

static void test_a_budget_counts_from_the_first_boot_since_it_was_queued(void **state)
{
	struct fixture *f = *state;
	struct fixture_where w = {.started_ns = 50}; /* before 100: the clock was set */
	struct store_job *j = NULL;
	struct kg_err err = {""};
	struct answer a;

	(void)simple_job(f, "one", 2);
	plan_boot(f, 1, 1, &w, (uint64_t[]){1}, (double[]){100}, 1);
	assert_int_equal(query_job_load(f->q, 1, &j, &err), 0);
	assert_int_equal(j->started_ns, 50);
	store_job_free(j);
	end_slots(f, "outcome IS NULL", "infra");
	assert_int_equal(set_job_state(f, 1, STORE_JOB_DONE), 0);
	assert_int_equal(RUN(f, &a, store_job_retry(f->s, 1, 1000, NULL, answer_done(&a))), 0);
	assert_int_equal(query_job_load(f->q, 1, &j, &err), 0);
	assert_int_equal(j->started_ns, 0);
	store_job_free(j);
	w.started_ns = 1500;
	plan_boot(f, 2, 1, &w, (uint64_t[]){2}, (double[]){100}, 1);
	assert_int_equal(query_job_load(f->q, 1, &j, &err), 0);
	assert_int_equal(j->started_ns, 1500);
	store_job_free(j);
}

static void test_new_stages_of_agents_are_known(void **state)
{
	static const char *const stages[] = {"leave", "settings", "pair", "serve"};
	struct fixture *f = *state;

	(void)simple_job(f, "one", 1);
	assert_int_equal(fixture_boot(f, 1, 1, (uint64_t[]){1}, 1), 0);
	for (uint64_t i = 0; i < 4; i++) {
		Kgrid__V1__StageEntered s = KGRID__V1__STAGE_ENTERED__INIT;
		Kgrid__V1__Record r = record(1, i + 1, 0);

		s.stage = (char *)(uintptr_t)stages[i];
		r.body_case = KGRID__V1__RECORD__BODY_STAGE;
		r.stage = &s;
		must_ingest(f, MACHINE, r);
		assert_string_equal(fixture_sql(f, "SELECT stage FROM boot"), stages[i]);
	}
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_all_of_a_plan_comes_back),
		T_(test_a_paused_job_is_live_and_summed_up),
		T_(test_a_job_after_none_that_exists_is_refused_as_a_whole),
		T_(test_two_cells_of_one_number_are_refused),
		T_(test_pause_and_priority_are_kept_and_told_once),
		T_(test_a_job_that_is_over_does_not_change),
		T_(test_extension_brings_a_done_job_back_without_its_stop_rule),
		T_(test_extension_of_a_running_job_leaves_it_running),
		T_(test_an_extension_fits_once_and_as_a_whole),
		T_(test_infeasible_cells_are_infeasible_in_new_blocks),
		T_(test_no_extension_of_cancelled_jobs_and_removed_kernels),
		T_(test_a_stop_ends_what_is_pending_and_not_in_a_boot),
		T_(test_a_stop_of_one_machine_leaves_the_others),
		T_(test_a_stop_everywhere_says_from_where_to_where),
		T_(test_what_is_no_early_end_is_refused),
		T_(test_skipped_blocks_are_neither_boots_nor_done),
		T_(test_blocks_without_a_result_are_not_left_for_the_detector),
		T_(test_retry_takes_queue_timeouts_and_leaves_skipped),
		T_(test_a_budget_counts_from_the_first_boot_since_it_was_queued),
		T_(test_new_stages_of_agents_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
