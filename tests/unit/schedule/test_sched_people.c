/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What people, stop rules, budgets and clocks do to jobs and machines. */
#include "tests/unit/schedule/world.h"

#include "common/err.h"

static void test_paused_job_finishes_its_boot_and_begins_none(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	world_add(w, &(struct plan){1, 50, .machine = "a", .blocks = 1, .visits = 2, .slots = 1},
		  0);
	assert_int_equal(sched_job_pause(&w->s, 1, true, 0), 0);
	world_pass(w, "a", SEC);
	world_expect(w, "end a boot=1 pass\n");
	sched_tick(&w->s, H);
	world_expect(w, "");
	assert_int_equal(sched_job_pause(&w->s, 1, false, 2 * H), 0);
	world_expect(w, "begin a boot=2 job=1 b1/v2 n=1\n");
}

static void test_pause_and_priority_of_unknown_and_ended_jobs_are_refused(void **state)
{
	struct world *w = *state;

	assert_int_equal(sched_job_pause(&w->s, 9, true, 0), KG_ENOTFOUND);
	assert_int_equal(sched_job_reprioritise(&w->s, 9, 1, 0), KG_ENOTFOUND);
	sched_job_added(&w->s, sched_job_new(4, 50, SCHED_JOB_QUEUED), 0);
	world_expect(w, "job 4 done\n");
	assert_int_equal(sched_job_pause(&w->s, 4, true, 0), KG_ESTATE);
	assert_int_equal(sched_job_reprioritise(&w->s, 4, 1, 0), KG_ESTATE);
	assert_int_equal(sched_machine_service(&w->s, "x", SCHED_DRAIN, "", 0), KG_ENOTFOUND);
	assert_int_equal(sched_machine_reserve(&w->s, "x", "ann", "", 1, 0), KG_ENOTFOUND);
}

static void test_new_priority_counts_from_the_next_boot_on(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	world_add(w, &(struct plan){1, 50, .machine = "a", .blocks = 1, .visits = 3, .slots = 1},
		  0);
	world_add(w, &(struct plan){2, 10, .machine = "a", .blocks = 1, .visits = 2, .slots = 1},
		  0);
	assert_int_equal(sched_job_reprioritise(&w->s, 2, 90, 0), 0);
	assert_ptr_equal(w->s.jobs, sched_job_find(&w->s, 2)); /* the list is by priority */
	world_pass(w, "a", SEC);
	world_expect(w, "end a boot=1 pass\njob 2 running\nbegin a boot=2 job=2 b1/v1 n=1\n");
	assert_int_equal(sched_job_reprioritise(&w->s, 2, 10, SEC), 0);
	world_pass(w, "a", 2 * SEC);
	world_expect(w, "end a boot=2 pass\nbegin a boot=3 job=1 b1/v2 n=1\n");
}

static void test_job_waits_until_the_one_before_it_is_over(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	world_up(w, "b", 0);
	world_add(w, &(struct plan){1, 50, .machine = "a", .blocks = 1, .visits = 1, .slots = 1},
		  0);
	world_forget(w);
	world_add(w,
		  &(struct plan){2, 90, .machine = "b", .blocks = 1, .visits = 1, .slots = 1,
				 .after = 1},
		  0);
	sched_tick(&w->s, H);
	world_expect(w, "");
	world_pass(w, "a", H);
	world_expect(w, "end a boot=1 pass\njob 1 done\njob 2 running\n"
			"begin b boot=2 job=2 b1/v1 n=1\n");
}

static void test_cancelled_and_unknown_jobs_are_over(void **state)
{
	struct world *w = *state;

	world_up(w, "b", 0);
	world_add(w, &(struct plan){1, 50, .machine = "a", .blocks = 1, .visits = 1, .slots = 1},
		  0);
	world_add(w,
		  &(struct plan){2, 50, .machine = "b", .blocks = 1, .visits = 1, .slots = 1,
				 .after = 1},
		  0);
	world_expect(w, "");
	sched_job_cancelled(&w->s, 1, SEC);
	world_expect(w, "job 1 cancelled\njob 2 running\nbegin b boot=1 job=2 b1/v1 n=1\n");
	world_up(w, "c", SEC);
	world_add(w,
		  &(struct plan){3, 50, .machine = "c", .blocks = 1, .visits = 1, .slots = 1,
				 .after = 77},
		  SEC);
	world_expect(w, "job 3 running\nbegin c boot=2 job=3 b1/v1 n=1\n");
}

/* At start the store's jobs come in any order. */
static void test_job_that_is_loaded_later_is_waited_for_all_the_same(void **state)
{
	struct world *w = *state;

	world_add(w,
		  &(struct plan){2, 90, .machine = "a", .blocks = 1, .visits = 1, .slots = 1,
				 .after = 1},
		  0);
	world_add(w, &(struct plan){1, 50, .machine = "a", .blocks = 1, .visits = 1, .slots = 1},
		  0);
	world_up(w, "a", 0);
	world_expect(w, "job 1 running\nbegin a boot=1 job=1 b1/v1 n=1\n");
}

static void test_spent_budget_skips_what_has_not_begun(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	world_add(w,
		  &(struct plan){1, 50, .machine = "a", .blocks = 2, .visits = 2, .slots = 2,
				 .budget_ns = 4 * H},
		  0);
	sched_order_stored(&w->s, 1, 0);
	sched_stage_entered(&w->s, 1, SCHED_RUN, 1, 4 * H - SEC);
	world_forget(w);
	sched_tick(&w->s, 4 * H - 1);
	world_expect(w, "");
	sched_tick(&w->s, 4 * H);
	world_expect(w, "close job=1 all skipped count=6: the budget of 4 h is spent\n");
	sched_attempt_ended(&w->s, 1, 1, KG_OUTCOME_PASS, NULL, 4 * H);
	sched_boot_ended(&w->s, 1, KG_OUTCOME_INFRA, "power", 4 * H);
	/* the second run would be tried again */
	world_expect(w, "settle slot=1011 pass tries=1\nend a boot=1 infra\n"
			"settle slot=1012 pending tries=1\n"
			"close job=1 a skipped count=1: the budget of 4 h is spent\njob 1 done\n");
}

static void test_budget_counts_from_the_first_boot(void **state)
{
	struct world *w = *state;

	world_add(w,
		  &(struct plan){1, 50, .machine = "a", .blocks = 1, .visits = 2, .slots = 1,
				 .budget_ns = H},
		  0);
	sched_tick(&w->s, 10 * H);
	world_expect(w, "");
	world_up(w, "a", 10 * H);
	world_forget(w);
	world_pass(w, "a", 11 * H - 2);
	world_expect(w, "end a boot=1 pass\nbegin a boot=2 job=1 b1/v2 n=1\n");
}

static void test_machine_where_no_boot_begins_for_too_long_is_given_up(void **state)
{
	struct world *w = *state;

	world_up(w, "b", 0);
	world_add(w,
		  &(struct plan){1, 50, .machine = "a", .blocks = 1, .visits = 2, .slots = 2,
				 .queue_timeout_ns = 24 * H},
		  0);
	sched_tick(&w->s, 24 * H - 1);
	world_expect(w, "");
	sched_tick(&w->s, 24 * H);
	world_expect(w, "close job=1 a queue-timeout count=4: no boot has begun on 'a' for 24 h: "
			"'a' is offline\njob 1 done\n");
}

/* Neither a pause, nor a job before it, nor a stop rule is the machine's fault. */
static void test_queue_timeout_does_not_count_what_the_job_waits_for(void **state)
{
	struct world *w = *state;

	world_add(w,
		  &(struct plan){1, 50, .machine = "a", .blocks = 1, .visits = 1, .slots = 1,
				 .queue_timeout_ns = 10 * H},
		  0);
	assert_int_equal(sched_job_pause(&w->s, 1, true, 6 * H), 0);
	sched_tick(&w->s, 100 * H);
	assert_int_equal(sched_job_pause(&w->s, 1, false, 100 * H), 0);
	sched_tick(&w->s, 104 * H - 1);
	world_expect(w, "");
	sched_tick(&w->s, 104 * H);
	assert_contains(w->log, "queue-timeout count=1");
	world_forget(w);
	world_add(w, &(struct plan){2, 50, .machine = "b", .blocks = 1, .visits = 1, .slots = 1},
		  0);
	world_add(w,
		  &(struct plan){3, 50, .machine = "a", .blocks = 1, .visits = 1, .slots = 1,
				 .queue_timeout_ns = H, .after = 2},
		  104 * H);
	sched_tick(&w->s, 200 * H);
	world_expect(w, "");
}

static void test_queue_timeout_begins_anew_with_each_boot(void **state)
{
	struct world *w = *state;
	uint64_t t;

	world_up(w, "a", 0);
	world_add(w,
		  &(struct plan){1, 50, .machine = "a", .blocks = 1, .visits = 3, .slots = 1,
				 .queue_timeout_ns = H},
		  0);
	assert_int_equal(sched_machine_service(&w->s, "a", SCHED_DRAIN, "disk", 0), 0);
	t = 5 * H; /* a long boot is no waiting */
	world_pass(w, "a", t);
	world_expect(w, "end a boot=1 pass\n");
	sched_tick(&w->s, t + H - 1);
	world_expect(w, "");
	assert_int_equal(sched_machine_service(&w->s, "a", SCHED_NORMAL, "", t + H - 1), 0);
	world_expect(w, "begin a boot=2 job=1 b1/v2 n=1\n");
	assert_int_equal(sched_machine_service(&w->s, "a", SCHED_DRAIN, "disk", t + H), 0);
	world_pass(w, "a", t + 3 * H);
	sched_tick(&w->s, t + 4 * H);
	assert_contains(w->log, "for 1 h: 'a' is drained: no boot begins there: disk");
}

static void test_only_jobs_of_the_holder_begin_on_a_reserved_machine(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	assert_int_equal(sched_machine_reserve(&w->s, "a", "bob", "tuning", 2 * (int64_t)H, 0), 0);
	world_add(w, &(struct plan){1, 99, "ann", "a", .blocks = 1, .visits = 1, .slots = 1}, 0);
	world_expect(w, "");
	world_add(w, &(struct plan){2, 1, "bob", "a", .blocks = 1, .visits = 1, .slots = 1}, 0);
	world_expect(w, "job 2 running\nbegin a boot=1 job=2 b1/v1 n=1\n");
	world_pass(w, "a", SEC);
	world_expect(w, "end a boot=1 pass\njob 2 done\n");
	sched_tick(&w->s, 2 * H - 1);
	world_expect(w, "");
	sched_tick(&w->s, 2 * H); /* it ends by itself */
	world_expect(w, "job 1 running\nbegin a boot=2 job=1 b1/v1 n=1\n");
	assert_null(sched_machine_find(&w->s, "a")->reserved_by);
}

static void test_released_reservation_lets_others_begin_at_once(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	assert_int_equal(sched_machine_reserve(&w->s, "a", "bob", "", INT64_MAX, 0), 0);
	world_add(w, &(struct plan){1, 9, "ann", "a", .blocks = 1, .visits = 1, .slots = 1}, 0);
	assert_int_equal(sched_machine_reserve(&w->s, "a", NULL, NULL, 0, SEC), 0);
	world_expect(w, "job 1 running\nbegin a boot=1 job=1 b1/v1 n=1\n");
	/* one that is over before it begins, and one while a boot is open */
	assert_int_equal(sched_machine_reserve(&w->s, "a", "bob", "", (int64_t)SEC, 2 * SEC), 0);
	world_expect(w, "");
}

static void test_drained_machine_finishes_its_boot_and_begins_none(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	world_add(w, &(struct plan){1, 9, .machine = "a", .blocks = 1, .visits = 2, .slots = 1}, 0);
	world_forget(w);
	assert_int_equal(sched_machine_service(&w->s, "a", SCHED_DRAIN, "move", SEC), 0);
	world_expect(w, "");
	world_pass(w, "a", 2 * SEC);
	world_expect(w, "end a boot=1 pass\n");
	assert_int_equal(sched_machine_service(&w->s, "a", SCHED_NORMAL, NULL, 3 * SEC), 0);
	world_expect(w, "begin a boot=2 job=1 b1/v2 n=1\n");
}

static void test_maintenance_ends_the_boot_and_counts_no_try(void **state)
{
	struct world *w = *state;
	struct sched_job *j;

	world_up(w, "a", 0);
	world_add(w, &(struct plan){1, 9, .machine = "a", .blocks = 1, .visits = 2, .slots = 2}, 0);
	j = sched_job_find(&w->s, 1);
	sched_order_stored(&w->s, 1, 0);
	sched_stage_entered(&w->s, 1, SCHED_RUN, 1, SEC);
	sched_attempt_ended(&w->s, 1, 1, KG_OUTCOME_PASS, NULL, SEC);
	sched_stage_entered(&w->s, 1, SCHED_RUN, 2, SEC);
	sched_machine_down(&w->s, "a", SEC);
	world_forget(w);
	assert_int_equal(sched_machine_service(&w->s, "a", SCHED_MAINTENANCE, "disk", 2 * SEC), 0);
	world_expect(w, "fence a boot=1\nend a boot=1 infra\n");
	assert_int_equal(j->visits[0]->slots[1].outcome, KG_OUTCOME_NONE);
	assert_int_equal(j->visits[0]->slots[1].tries, 0);
	sched_tick(&w->s, 50 * H); /* somebody is at it: its power stays as it is */
	world_expect(w, "");
	world_up(w, "a", 51 * H);
	world_expect(w, "");
	assert_int_equal(sched_machine_service(&w->s, "a", SCHED_NORMAL, NULL, 52 * H), 0);
	world_expect(w, "begin a boot=2 job=1 b1/v1 n=1\n"); /* first in its block again */
}

static void test_gate_is_told_once_for_a_block_and_released_block_by_block(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	world_add(w,
		  &(struct plan){1, 9, .machine = "a", .blocks = 4, .visits = 1, .slots = 1,
				 .gate = 2},
		  0);
	world_pass(w, "a", SEC);
	world_expect(w, "end a boot=1 pass\nbegin a boot=2 job=1 b2/v2 n=1\n");
	world_pass(w, "a", 2 * SEC);
	world_expect(w, "end a boot=2 pass\ngate job=1 a block=2\n");
	sched_tick(&w->s, H);
	world_expect(w, "");
	sched_release(&w->s, 1, "a", 3, H);
	world_expect(w, "begin a boot=3 job=1 b3/v3 n=1\n");
	world_pass(w, "a", H + SEC);
	world_expect(w, "end a boot=3 pass\ngate job=1 a block=3\n");
	sched_close(&w->s, 1, "a", KG_OUTCOME_SKIPPED, "narrow enough", 2 * H);
	world_expect(w, "close job=1 a skipped count=1: narrow enough\njob 1 done\n");
}

static void test_gate_waits_for_what_is_tried_again_in_the_block(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	world_add(w,
		  &(struct plan){1, 9, .machine = "a", .blocks = 2, .visits = 1, .slots = 1,
				 .gate = 1},
		  0);
	world_forget(w);
	sched_boot_ended(&w->s, 1, KG_OUTCOME_PANIC, "oops", SEC);
	world_expect(w, "end a boot=1 panic\nsettle slot=1011 pending tries=1\n"
			"begin a boot=2 job=1 b1/v1 n=1\n");
	world_pass(w, "a", 2 * SEC);
	world_expect(w, "end a boot=2 pass\ngate job=1 a block=1\n");
	sched_release(&w->s, 1, "a", UINT32_MAX, 3 * SEC);
	world_expect(w, "begin a boot=3 job=1 b2/v2 n=1\n");
}

static void test_gates_of_machines_are_apart(void **state)
{
	struct world *w = *state;
	struct plan p = {1, 9, .machine = "a", .blocks = 2, .visits = 1, .slots = 1, .gate = 1};
	struct sched_job *j = world_job(w, &p);

	p.machine = "b";
	world_visits(w, j, &p, 1);
	sched_job_added(&w->s, j, 0);
	world_up(w, "a", 0);
	world_up(w, "b", 0);
	world_forget(w);
	world_pass(w, "a", SEC);
	world_expect(w, "end a boot=1 pass\ngate job=1 a block=1\n");
	sched_release(&w->s, 1, "b", 2, SEC);
	world_expect(w, "");
	sched_close(&w->s, 1, "a", KG_OUTCOME_SKIPPED, "narrow", SEC);
	world_expect(w, "close job=1 a skipped count=1: narrow\n");
	world_pass(w, "b", 2 * SEC);
	world_expect(w, "end b boot=2 pass\nbegin b boot=3 job=1 b2/v2 n=1\n");
}

static void test_more_blocks_of_a_live_job_begin_without_asking(void **state)
{
	struct world *w = *state;
	struct plan p = {1,	      9,	  .machine = "a", .blocks = 1,
			 .visits = 1, .slots = 1, .gate = 1,	  .budget_ns = H};

	world_up(w, "a", 0);
	world_add(w, &p, 0);
	world_forget(w);
	p.blocks = 2;
	world_visits(w, sched_job_find(&w->s, 1), &p, 2);
	sched_job_grown(&w->s, 1, SEC);
	world_expect(w, "");
	assert_int_equal(sched_job_find(&w->s, 1)->pending, 3);
	sched_tick(&w->s, 2 * H); /* neither budget nor stop rule */
	world_forget(w);
	while (sched_job_find(&w->s, 1)->pending > 0)
		world_pass(w, "a", 2 * H);
	world_expect(w, "end a boot=3 pass\njob 1 done\n");
}

static void test_grouped_jobs_keep_their_order(void **state)
{
	static const uint32_t blocks[] = {1, 2, 1, 2};
	struct world *w = *state;
	struct sched_job *j = sched_job_new(1, 50, SCHED_JOB_QUEUED);
	uint32_t i;

	for (i = 0; i < 4; i++) {
		struct sched_visit like = {.block = blocks[i],
					   .visit = i + 1,
					   .lsm_effective = (char *)(uintptr_t)(i < 2 ? "x" : "y")};

		assert_int_equal(sched_visit_add_slot(sched_job_add_visit(&w->s, j, "a", &like),
						      &(struct sched_slot){.id = i + 1}),
				 0);
	}
	sched_job_added(&w->s, j, 0);
	world_up(w, "a", 0);
	world_expect(w, "job 1 running\nbegin a boot=1 job=1 b1/v1 n=1\n");
	sched_boot_ended(&w->s, 1, KG_OUTCOME_PANIC, "", 0);
	world_expect(w, "end a boot=1 panic\nsettle slot=1 pending tries=1\n"
			"begin a boot=2 job=1 b2/v2 n=1\n");
	world_pass(w, "a", SEC); /* again before the next kernel and list */
	world_expect(w, "end a boot=2 pass\nbegin a boot=3 job=1 b1/v1 n=1\n");
	world_pass(w, "a", SEC);
	world_expect(w, "end a boot=3 pass\nbegin a boot=4 job=1 b1/v3 n=1\n");
}

static void test_machine_whose_boot_was_cancelled_on_its_way_has_to_come_back(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	world_add(w, &(struct plan){1, 9, .machine = "a", .blocks = 1, .visits = 1, .slots = 1}, 0);
	sched_order_stored(&w->s, 1, 0);
	sched_stage_entered(&w->s, 1, SCHED_BOOT, 0, 0);
	sched_machine_down(&w->s, "a", SEC);
	sched_job_cancelled(&w->s, 1, 2 * SEC);
	world_forget(w);
	sched_tick(&w->s, 599 * SEC);
	world_expect(w, "");
	sched_tick(&w->s, 600 * SEC);
	world_expect(w, "power a boot=1\n");
	sched_tick(&w->s, 1200 * SEC);
	world_expect(w, "");
}

static void test_plain_reboot_has_a_deadline_and_is_infra(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	world_add(w, &(struct plan){1, 9, .machine = "a", .blocks = 1, .visits = 1, .slots = 1}, 0);
	sched_order_stored(&w->s, 1, 0);
	sched_stage_entered(&w->s, 1, SCHED_LEAVE, 0, 0);
	sched_machine_down(&w->s, "a", SEC);
	world_forget(w);
	sched_tick(&w->s, 600 * SEC);
	world_expect(w, "fence a boot=1\npower a boot=1\nend a boot=1 infra\n"
			"settle slot=1011 pending tries=1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_paused_job_finishes_its_boot_and_begins_none),
		T(test_pause_and_priority_of_unknown_and_ended_jobs_are_refused),
		T(test_new_priority_counts_from_the_next_boot_on),
		T(test_job_waits_until_the_one_before_it_is_over),
		T(test_cancelled_and_unknown_jobs_are_over),
		T(test_job_that_is_loaded_later_is_waited_for_all_the_same),
		T(test_spent_budget_skips_what_has_not_begun),
		T(test_budget_counts_from_the_first_boot),
		T(test_machine_where_no_boot_begins_for_too_long_is_given_up),
		T(test_queue_timeout_does_not_count_what_the_job_waits_for),
		T(test_queue_timeout_begins_anew_with_each_boot),
		T(test_only_jobs_of_the_holder_begin_on_a_reserved_machine),
		T(test_released_reservation_lets_others_begin_at_once),
		T(test_drained_machine_finishes_its_boot_and_begins_none),
		T(test_maintenance_ends_the_boot_and_counts_no_try),
		T(test_gate_is_told_once_for_a_block_and_released_block_by_block),
		T(test_gate_waits_for_what_is_tried_again_in_the_block),
		T(test_gates_of_machines_are_apart),
		T(test_more_blocks_of_a_live_job_begin_without_asking),
		T(test_grouped_jobs_keep_their_order),
		T(test_machine_whose_boot_was_cancelled_on_its_way_has_to_come_back),
		T(test_plain_reboot_has_a_deadline_and_is_infra),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
