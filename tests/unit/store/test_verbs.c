/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels, jobs, boots, slots: what is taken, what is refused. */
#include "fixture.h"

#include <stdlib.h>
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

static void test_job_ids_are_consecutive_in_the_order_given(void **state)
{
	struct fixture *f = *state;
	struct answer a;

	assert_int_equal(fixture_job(f, 2, &a), 1);
	assert_int_equal(a.r.first_cell, 1);
	assert_int_equal(a.r.first_slot, 1);
	assert_int_equal(fixture_job(f, 3, &a), 2);
	assert_int_equal(a.r.first_cell, 5);
	assert_int_equal(a.r.first_slot, 9);
	assert_int_equal(fixture_int(f, "SELECT job FROM slot WHERE id = 9"), 2);
	check_accounting(f, 1, 8);
	check_accounting(f, 2, 12);
	check_accounting(f, 0, 12); /* the newest */
}

static void test_same_client_key_is_the_same_job(void **state)
{
	struct fixture *f = *state;
	struct store_job j = {
		.name = "n", .text = "t", .file_name = "f", .client_key = "k1", .blocks = 1};
	struct answer a;

	assert_int_equal(RUN(f, &a, store_job_insert(f->s, &j, answer_done(&a))), 0);
	assert_false(a.r.existed);
	assert_int_equal(RUN(f, &a, store_job_insert(f->s, &j, answer_done(&a))), 0);
	assert_true(a.r.existed);
	assert_int_equal(a.r.id, 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM job"), 1);
}

static void test_infeasible_slots_are_decided_from_the_start(void **state)
{
	struct fixture *f = *state;
	struct store_cell c = {.identity = "i",
			       .machine = MACHINE,
			       .kernel = KERNEL_A,
			       .kernel_label = "old",
			       .lsm_label = "l",
			       .lsm_request = "r",
			       .lsm_effective = "e",
			       .cmdline = "c",
			       .workload = "w",
			       .workload_digest = "d",
			       .params = ""};
	struct store_slot s[2] = {
		{.block = 1, .visit = 1, .position = 1},
		{.block = 2,
		 .visit = 2,
		 .position = 1,
		 .outcome = KG_OUTCOME_INFEASIBLE,
		 .reason = "no netperf"},
	};
	struct store_job j = {.name = "n",
			      .text = "t",
			      .file_name = "f",
			      .blocks = 2,
			      .cells = &c,
			      .n_cells = 1,
			      .slots = s,
			      .n_slots = 2};
	struct answer a;

	assert_int_equal(RUN(f, &a, store_job_insert(f->s, &j, answer_done(&a))), 0);
	assert_string_equal(fixture_sql(f, "SELECT reason FROM slot WHERE outcome = 'infeasible'"),
			    "no netperf");
	check_accounting(f, 1, 2);
	s[0].outcome = KG_OUTCOME_PASS; /* nothing can pass before it began */
	assert_int_equal(RUN(f, &a, store_job_insert(f->s, &j, answer_done(&a))), KG_EINVALID);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM job"), 1);
}

static void test_job_with_unknown_kernel_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct store_cell c = {.identity = "i",
			       .machine = MACHINE,
			       .kernel = "nope",
			       .kernel_label = "gone",
			       .lsm_label = "",
			       .lsm_request = "",
			       .lsm_effective = "",
			       .cmdline = "",
			       .workload = "",
			       .workload_digest = "",
			       .params = ""};
	struct store_job j = {
		.name = "n", .text = "t", .file_name = "f", .blocks = 1, .cells = &c, .n_cells = 1};
	struct answer a;

	assert_int_equal(RUN(f, &a, store_job_insert(f->s, &j, answer_done(&a))), KG_EINVALID);
	assert_non_null(strstr(a.text, "kernel 'gone' is not stored"));
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM job"), 0);
}

static void test_label_of_another_kernel_is_refused(void **state)
{
	struct fixture *f = *state;
	struct store_kernel k = {.digest = "cccc",
				 .label = "old",
				 .release = "6.2",
				 .version = "v",
				 .manifest = "m"};
	struct answer a;

	assert_int_equal(RUN(f, &a, store_kernel_insert(f->s, &k, answer_done(&a))), KG_EEXISTS);
	assert_non_null(strstr(a.text, "release 6.1.0, digest aaaaaaaaaaaa"));
	k.digest = KERNEL_A;
	k.label = "older";
	assert_int_equal(RUN(f, &a, store_kernel_insert(f->s, &k, answer_done(&a))), 0);
	assert_true(a.r.existed);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM kernel WHERE label = 'older'"), 1);
}

static void test_kernel_is_kept_while_a_job_needs_it(void **state)
{
	struct fixture *f = *state;
	struct answer a;
	uint64_t job = fixture_job(f, 1, &a);

	assert_int_equal(RUN(f, &a, store_kernel_remove(f->s, KERNEL_A, 5, answer_done(&a))),
			 KG_EBUSY);
	assert_string_equal(a.text,
			    "kernel 'old' is needed by job 1 'demo': wait until that is over, or "
			    "cancel it");
	while (job < 5)
		job = fixture_job(f, 1, &a);
	assert_int_equal(RUN(f, &a, store_kernel_remove(f->s, KERNEL_A, 5, answer_done(&a))),
			 KG_EBUSY);
	assert_non_null(strstr(a.text, "job 3 'demo' and 2 more: wait"));
	for (uint64_t id = job; id > 0; id--)
		assert_int_equal(RUN(f, &a, store_job_cancel(f->s, id, 5, NULL, answer_done(&a))),
				 0);
	assert_int_equal(RUN(f, &a, store_kernel_remove(f->s, KERNEL_A, 5, answer_done(&a))), 0);
	assert_int_equal(RUN(f, &a, store_kernel_remove(f->s, KERNEL_A, 5, answer_done(&a))),
			 KG_ENOTFOUND);
	/* The row stays for the results, without its label, and a retry says what is missing. */
	assert_string_equal(
		fixture_sql(f, "SELECT label FROM kernel WHERE digest = '" KERNEL_A "'"), "");
	assert_int_equal(RUN(f, &a, store_job_retry(f->s, job, 6, NULL, answer_done(&a))),
			 KG_EREFUSED);
}

static void test_cancel_ends_pending_slots_only(void **state)
{
	struct fixture *f = *state;
	struct store_settle st = {.slot = 1, .outcome = KG_OUTCOME_PASS};
	struct answer a;
	uint64_t job = fixture_job(f, 1, &a);

	assert_int_equal(RUN(f, &a, store_settle(f->s, &st, 1, 5, answer_done(&a))), 0);
	assert_int_equal(RUN(f, &a, store_job_cancel(f->s, job, 5, NULL, answer_done(&a))), 0);
	assert_int_equal(a.r.count, 3);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM slot WHERE outcome = 'pass'"), 1);
	check_accounting(f, job, 4);
	assert_int_equal(RUN(f, &a, store_job_cancel(f->s, job, 5, NULL, answer_done(&a))),
			 KG_ESTATE);
	st.slot = 2; /* a late result does not undo it */
	assert_int_equal(RUN(f, &a, store_settle(f->s, &st, 1, 5, answer_done(&a))), 0);
	assert_int_equal(a.r.count, 0);
	check_accounting(f, job, 4);
}

/* Who ended it, and who had it begin again. */
static void test_cancel_and_retry_are_events_that_name_who_did_it(void **state)
{
	static const char last[] = "SELECT kind || ' ' || text FROM event WHERE job = 1"
				   " ORDER BY id DESC LIMIT 1";
	struct fixture *f = *state;
	struct answer a;
	uint64_t job = fixture_job(f, 1, &a);

	assert_int_equal(RUN(f, &a, store_job_cancel(f->s, job, 5, "bob", answer_done(&a))), 0);
	assert_string_equal(fixture_sql(f, last), "job cancelled: 4 slots (bob)");
	assert_int_equal(RUN(f, &a, store_job_retry(f->s, job, 6, "eve", answer_done(&a))), 0);
	assert_string_equal(fixture_sql(f, last), "job retried: 4 slots (eve)");
	assert_int_equal(RUN(f, &a, store_job_retry(f->s, job, 7, "eve", answer_done(&a))),
			 KG_ESTATE);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM event WHERE job = 1"), 2);
}

static void test_retry_takes_back_all_but_pass_and_infeasible(void **state)
{
	struct fixture *f = *state;
	struct store_settle st[] = {
		{.slot = 1, .outcome = KG_OUTCOME_PASS},
		{.slot = 2, .outcome = KG_OUTCOME_INFRA, .count_try = true, .reason = "power"},
		{.slot = 3, .outcome = KG_OUTCOME_FAIL, .count_try = true},
		{.slot = 4, .outcome = KG_OUTCOME_INFEASIBLE},
	};
	struct answer a;
	uint64_t job = fixture_job(f, 1, &a);

	assert_int_equal(RUN(f, &a, store_job_retry(f->s, job, 5, NULL, answer_done(&a))),
			 KG_ESTATE);
	assert_int_equal(RUN(f, &a, store_settle(f->s, st, 4, 5, answer_done(&a))), 0);
	assert_int_equal(a.r.count, 4);
	assert_int_equal(RUN(f, &a, store_job_state(f->s, job, STORE_JOB_DONE, 6, answer_done(&a))),
			 0);
	assert_int_equal(RUN(f, &a, store_job_retry(f->s, job, 7, NULL, answer_done(&a))), 0);
	assert_int_equal(a.r.count, 2);
	assert_string_equal(fixture_sql(f, "SELECT group_concat(id) FROM slot WHERE outcome IS NULL"
					   " AND tries = 0 AND reason IS NULL"),
			    "2,3");
	assert_string_equal(fixture_sql(f, "SELECT state || coalesce(ended_ns, '-') FROM job"),
			    "queued-");
	check_accounting(f, job, 4);
}

static void test_job_with_pending_slots_is_not_done(void **state)
{
	struct fixture *f = *state;
	struct answer a;
	uint64_t job = fixture_job(f, 1, &a);

	assert_int_equal(
		RUN(f, &a, store_job_state(f->s, job, STORE_JOB_RUNNING, 6, answer_done(&a))), 0);
	assert_int_equal(RUN(f, &a, store_job_state(f->s, job, STORE_JOB_DONE, 6, answer_done(&a))),
			 KG_ESTATE);
	assert_int_equal(RUN(f, &a, store_job_state(f->s, 99, STORE_JOB_DONE, 6, answer_done(&a))),
			 KG_ENOTFOUND);
	assert_string_equal(fixture_sql(f, "SELECT state FROM job"), "running");
}

static void test_slot_is_settled_once(void **state)
{
	struct fixture *f = *state;
	struct store_settle st = {.slot = 1, .count_try = true, .reason = "lost"};
	struct answer a;
	uint64_t job = fixture_job(f, 1, &a);

	assert_int_equal(RUN(f, &a, store_settle(f->s, &st, 1, 5, answer_done(&a))), 0);
	assert_int_equal(fixture_int(f, "SELECT tries FROM slot WHERE id = 1 AND outcome IS NULL"),
			 1);
	st.outcome = KG_OUTCOME_INFRA;
	assert_int_equal(RUN(f, &a, store_settle(f->s, &st, 1, 5, answer_done(&a))), 0);
	st.outcome = KG_OUTCOME_PASS;
	assert_int_equal(RUN(f, &a, store_settle(f->s, &st, 1, 5, answer_done(&a))), 0);
	assert_int_equal(a.r.count, 0);
	assert_string_equal(fixture_sql(f, "SELECT outcome || tries FROM slot WHERE id = 1"),
			    "infra2");
	assert_non_null(strstr(fixture_sql(f, "SELECT text FROM event ORDER BY id DESC LIMIT 1"),
			       "old/full netperf seconds=1 size=64, block 1: infra: lost"));
	check_accounting(f, job, 4);
}

static void test_unknown_slot_undoes_the_whole_settle(void **state)
{
	struct fixture *f = *state;
	struct store_settle st[] = {{.slot = 1, .outcome = KG_OUTCOME_PASS},
				    {.slot = 999, .outcome = KG_OUTCOME_PASS}};
	struct answer a;

	fixture_job(f, 1, &a);
	assert_int_equal(RUN(f, &a, store_settle(f->s, st, 2, 5, answer_done(&a))), KG_ENOTFOUND);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM slot WHERE outcome IS NULL"), 4);
}

static void test_machine_has_one_boot_at_a_time(void **state)
{
	struct fixture *f = *state;
	struct store_boot_end e = {.boot = 1, .outcome = KG_OUTCOME_INFRA, .reason = "gone"};
	struct answer a;
	uint64_t job = fixture_job(f, 1, &a);

	assert_int_equal(fixture_boot(f, 1, job, (uint64_t[]){1, 2}, 2), 0);
	assert_int_equal(fixture_boot(f, 2, job, (uint64_t[]){3, 4}, 2), KG_EBUSY);
	assert_int_equal(RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))), 0);
	assert_int_equal(fixture_boot(f, 2, job, (uint64_t[]){3, 4}, 2), 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM attempt WHERE boot = 1"
					" AND outcome = 'infra' AND reason = 'gone'"),
			 2);
}

static void test_boot_takes_pending_slots_of_its_job_only(void **state)
{
	struct fixture *f = *state;
	struct store_settle st = {.slot = 1, .outcome = KG_OUTCOME_PASS};
	struct answer a;
	uint64_t job = fixture_job(f, 1, &a);

	assert_int_equal(RUN(f, &a, store_settle(f->s, &st, 1, 5, answer_done(&a))), 0);
	assert_int_equal(fixture_boot(f, 1, job, (uint64_t[]){2, 1}, 2), KG_ESTATE);
	assert_int_equal(fixture_boot(f, 1, job + 1, (uint64_t[]){2}, 1), KG_EINVALID);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM boot"), 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM attempt"), 0);
}

static void pass_attempt(struct fixture *f, uint64_t boot, uint64_t attempt)
{
	Kgrid__V1__Record r;
	struct answer a;

	r = record_evidence(boot, 1, 1);
	assert_int_equal(ingest(f, &a, &r), 0);
	r = record_started(boot, 2, attempt);
	assert_int_equal(ingest(f, &a, &r), 0);
	r = record_ended(boot, 3, attempt, "pass", 0);
	assert_int_equal(ingest(f, &a, &r), 0);
	assert_int_equal(a.r.attempt_outcome, KG_OUTCOME_PASS);
}

static void test_slot_passes_only_by_its_own_passed_attempt(void **state)
{
	struct fixture *f = *state;
	struct store_settle st = {.slot = 2, .outcome = KG_OUTCOME_PASS, .attempt = 100};
	struct answer a;
	uint64_t job = fixture_job(f, 1, &a);

	assert_int_equal(fixture_boot(f, 1, job, (uint64_t[]){1, 2}, 2), 0);
	pass_attempt(f, 1, 100);
	assert_int_equal(RUN(f, &a, store_settle(f->s, &st, 1, 5, answer_done(&a))), KG_EINVALID);
	assert_string_equal(a.text, "attempt 100 is not one that passed slot 2");
	st.attempt = 101; /* has not ended */
	assert_int_equal(RUN(f, &a, store_settle(f->s, &st, 1, 5, answer_done(&a))), KG_EINVALID);
	st.slot = 1;
	st.attempt = 100;
	assert_int_equal(RUN(f, &a, store_settle(f->s, &st, 1, 5, answer_done(&a))), 0);
	assert_int_equal(a.r.count, 1);
}

static void test_end_of_a_boot_settles_in_the_same_transaction(void **state)
{
	struct fixture *f = *state;
	struct store_settle st[] = {{.slot = 1, .outcome = KG_OUTCOME_PASS, .attempt = 100},
				    {.slot = 2, .count_try = true, .reason = "lost"}};
	struct store_boot_end e = {
		.boot = 1, .outcome = KG_OUTCOME_PASS, .settles = st, .n_settles = 2, .now_ns = 77};
	struct answer a;
	uint64_t job = fixture_job(f, 1, &a);

	assert_int_equal(fixture_boot(f, 1, job, (uint64_t[]){1, 2}, 2), 0);
	pass_attempt(f, 1, 100);
	st[1].slot = 999; /* one bad part: nothing of it */
	assert_int_equal(RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))), KG_ENOTFOUND);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM boot WHERE outcome IS NULL"), 1);
	st[1].slot = 2;
	assert_int_equal(RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))), 0);
	assert_int_equal(a.r.count, 2);
	/* A boot that ended well has no excuse for a run without a result. */
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM attempt"
					" WHERE outcome = 'harness-error'"),
			 1);
	assert_int_equal(RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))), KG_ESTATE);
	check_accounting(f, job, 4);
}

static void test_stage_and_deadline_are_kept_until_the_end(void **state)
{
	struct fixture *f = *state;
	struct store_deadline d = {.boottime_ns = 5000, .realtime_ns = 6000};
	struct store_boot_end e = {.boot = 1, .outcome = KG_OUTCOME_PANIC};
	struct answer a;
	uint64_t job = fixture_job(f, 1, &a);

	assert_int_equal(fixture_boot(f, 1, job, (uint64_t[]){1}, 1), 0);
	assert_int_equal(RUN(f, &a, store_boot_stage(f->s, 1, "run", &d, answer_done(&a))), 0);
	assert_string_equal(fixture_sql(f, "SELECT stage || deadline_boottime_ns || deadline_ns"
					   " || deadline_host_boot FROM boot"),
			    "run50006000host-1");
	assert_int_equal(RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))), 0);
	assert_int_equal(RUN(f, &a, store_boot_stage(f->s, 1, NULL, &d, answer_done(&a))),
			 KG_ESTATE);
	assert_int_equal(RUN(f, &a, store_boot_stage(f->s, 2, NULL, &d, answer_done(&a))),
			 KG_ENOTFOUND);
	assert_string_equal(fixture_sql(f, "SELECT deadline_ns FROM boot"), "");
}

static void test_refused_operation_leaves_its_batch_alone(void **state)
{
	struct fixture *f = *state;
	struct store_event e = {.time_ns = 1, .kind = "test", .text = "x"};
	struct store_settle st = {.slot = 999, .outcome = KG_OUTCOME_PASS};
	struct answer a[40];

	memset(a, 0, sizeof(a));
	for (unsigned i = 0; i < 40; i++) {
		if (i % 4 == 3)
			assert_int_equal(store_settle(f->s, &st, 1, 5, answer_done(&a[i])), 0);
		else
			assert_int_equal(store_event_add(f->s, &e, answer_done(&a[i])), 0);
	}
	for (unsigned i = 0; i < 40; i++) {
		answer_wait(f, &a[i]);
		assert_int_equal(a[i].r.rc, i % 4 == 3 ? KG_ENOTFOUND : 0);
	}
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM event WHERE kind = 'test'"), 30);
}

struct ordered {
	unsigned *next;
	unsigned mine;
	struct fixture *f;
};

static void on_ordered(void *arg, const struct store_result *r)
{
	struct ordered *o = arg;

	(void)r;
	assert_int_equal((*o->next)++, o->mine);
}

static void test_answers_come_in_the_order_of_the_questions(void **state)
{
	struct fixture *f = *state;
	struct store_event e = {.time_ns = 1, .kind = "test", .text = "x"};
	struct ordered o[500];
	unsigned next = 0;

	for (unsigned i = 0; i < 500; i++) {
		o[i] = (struct ordered){&next, i, f};
		assert_int_equal(store_event_add(f->s, &e, (struct store_done){on_ordered, &o[i]}),
				 0);
	}
	fixture_close(f); /* answers what is left */
	assert_int_equal(next, 500);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM event WHERE kind = 'test'"), 500);
}

static unsigned room_calls;

static void on_room(void *arg)
{
	(void)arg;
	room_calls++;
}

static void test_full_queue_refuses_ingests_but_not_decisions(void **state)
{
	struct fixture *f = *state;
	struct store_config c = {.path = f->path, .queue_ops = 4, .on_room = on_room};
	struct store_event e = {.time_ns = 1, .kind = "test", .text = "x"};
	Kgrid__V1__Record r = record(1, 1, 0);
	struct store_done none = {0};
	struct store *s = NULL;
	struct kg_err err;

	fixture_close(f);
	room_calls = 0;
	assert_int_equal(store_open(&c, &s, &err), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(store_ingest(s, MACHINE, &r, 1, none), 0);
	assert_int_equal(store_ingest(s, MACHINE, &r, 1, none), KG_ELIMIT);
	assert_int_equal(store_event_add(s, &e, none), 0);
	assert_int_equal(store_pending(s), 5);
	store_close(s); /* not started: it runs now */
	assert_int_equal(room_calls, 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM event WHERE kind = 'test'"), 1);
	fixture_open(f);
}

static void test_arguments_are_copied(void **state)
{
	struct fixture *f = *state;
	char *text = strdup("before");
	struct store_event e = {.time_ns = 1, .kind = "test", .text = text};
	struct answer a = {0};

	assert_int_equal(store_event_add(f->s, &e, answer_done(&a)), 0);
	memcpy(text, "after.", 6);
	free(text);
	answer_wait(f, &a);
	assert_string_equal(fixture_sql(f, "SELECT text FROM event WHERE kind = 'test'"), "before");
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_job_ids_are_consecutive_in_the_order_given),
		T_(test_same_client_key_is_the_same_job),
		T_(test_infeasible_slots_are_decided_from_the_start),
		T_(test_job_with_unknown_kernel_leaves_nothing),
		T_(test_label_of_another_kernel_is_refused),
		T_(test_kernel_is_kept_while_a_job_needs_it),
		T_(test_cancel_ends_pending_slots_only),
		T_(test_cancel_and_retry_are_events_that_name_who_did_it),
		T_(test_retry_takes_back_all_but_pass_and_infeasible),
		T_(test_job_with_pending_slots_is_not_done),
		T_(test_slot_is_settled_once),
		T_(test_unknown_slot_undoes_the_whole_settle),
		T_(test_machine_has_one_boot_at_a_time),
		T_(test_boot_takes_pending_slots_of_its_job_only),
		T_(test_slot_passes_only_by_its_own_passed_attempt),
		T_(test_end_of_a_boot_settles_in_the_same_transaction),
		T_(test_stage_and_deadline_are_kept_until_the_end),
		T_(test_refused_operation_leaves_its_batch_alone),
		T_(test_answers_come_in_the_order_of_the_questions),
		T_(test_full_queue_refuses_ingests_but_not_decisions),
		T_(test_arguments_are_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
