/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/schedule/sched.h"

#define SEC KG_NSEC_PER_SEC

/* What the scheduler did, as text lines: short to compare and to read. */
struct world {
	struct sched s;
	char log[8192];
};

static void record(void *arg, const struct sched_action *a)
{
	static const char *const names[] = {"begin", "order", "stage", "end",  "settle",
					    "job",   "fence", "power", "event"};
	struct world *w = arg;
	size_t len = strlen(w->log);
	char *at = w->log + len;
	size_t left = sizeof(w->log) - len;

	switch (a->kind) {
	case SCHED_ACT_BEGIN_BOOT:
	case SCHED_ACT_SEND_ORDER:
		snprintf(at, left, "%s %s boot=%llu b%u/v%u n=%zu\n", names[a->kind],
			 a->machine->name, (unsigned long long)a->boot->id, a->boot->visit->block,
			 a->boot->visit->visit, a->boot->n_attempts);
		break;
	case SCHED_ACT_SET_STAGE:
		snprintf(at, left, "stage %s %s\n", a->machine->name,
			 sched_stage_name(a->boot->stage));
		break;
	case SCHED_ACT_END_BOOT:
		snprintf(at, left, "end %s boot=%llu %s\n", a->machine->name,
			 (unsigned long long)a->boot->id, kg_outcome_name(a->outcome));
		break;
	case SCHED_ACT_SETTLE:
		snprintf(at, left, "settle slot=%llu %s tries=%u%s\n",
			 (unsigned long long)a->slot->id, kg_outcome_name(a->outcome),
			 a->slot->tries, a->attempt ? "" : " without an attempt");
		break;
	case SCHED_ACT_JOB_STATE:
		snprintf(at, left, "job %llu %s\n", (unsigned long long)a->job->id,
			 sched_job_state_name(a->job->state));
		break;
	case SCHED_ACT_FENCE:
		snprintf(at, left, "fence %s boot=%llu\n", a->machine->name,
			 (unsigned long long)a->boot_id);
		break;
	case SCHED_ACT_POWER_CYCLE:
		snprintf(at, left, "power %s\n", a->machine->name);
		break;
	case SCHED_ACT_EVENT:
	case SCHED_ACT_CLOSE: /* these have tests of their own */
	case SCHED_ACT_GATE:
	case SCHED_ACT_PEER_READY:
	case SCHED_ACT_PEER_DONE:
		break;
	}
	/* An action that begins a boot is stored by the driver; here at once. */
}

static void expect(struct world *w, const char *text)
{
	assert_string_equal(w->log, text);
	w->log[0] = '\0';
}

/* A job with `blocks` x `visits` visits of `slots` slots on one machine. */
static struct sched_job *make_job(struct world *w, uint64_t id, uint32_t priority,
				  const char *machine, uint32_t blocks, uint32_t visits,
				  uint32_t slots)
{
	struct sched_job *j = sched_job_new(id, priority, SCHED_JOB_QUEUED);
	uint32_t b, v, k;

	assert_non_null(j);
	for (b = 1; b <= blocks; b++)
		for (v = 1; v <= visits; v++) {
			struct sched_visit *visit = sched_job_add_visit(
				&w->s, j, machine,
				&(struct sched_visit){.block = b, .visit = (b - 1) * visits + v});

			assert_non_null(visit);
			for (k = 1; k <= slots; k++)
				assert_int_equal(
					sched_visit_add_slot(
						visit,
						&(struct sched_slot){
							.id = id * 1000 +
							      ((b - 1) * visits + v) * 10 + k,
							.position = k,
							.timeout_s = 30}),
					0);
		}
	return j;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	sched_init(&w->s, &sched_limits_default, 1, 1);
	w->s.act = record;
	w->s.arg = w;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	sched_deinit(&w->s);
	free(w);
	return 0;
}

static void idle_up(struct world *w, const char *machine, uint64_t now)
{
	sched_machine_up(&w->s, machine, false, &(struct sched_agent_state){0}, now);
}

static void test_idle_machine_gets_first_visit_once_stored(void **state)
{
	struct world *w = *state;

	sched_job_added(&w->s, make_job(w, 1, 50, "a", 2, 2, 2), 0);
	expect(w, "");
	idle_up(w, "a", 0);
	expect(w, "job 1 running\nbegin a boot=1 b1/v1 n=2\n");
	sched_order_stored(&w->s, 1, 0);
	expect(w, "order a boot=1 b1/v1 n=2\n");
	sched_tick(&w->s, 1 * SEC);
	expect(w, "");
}

static void run_boot(struct world *w, uint64_t boot, uint64_t first_attempt, unsigned n)
{
	unsigned i;

	sched_order_stored(&w->s, boot, 0);
	for (i = 0; i < n; i++)
		sched_attempt_ended(&w->s, boot, first_attempt + i, KG_OUTCOME_PASS, NULL, 0);
	w->log[0] = '\0';
	sched_boot_ended(&w->s, boot, KG_OUTCOME_PASS, NULL, 0);
}

static void test_blocks_follow_one_another_and_the_job_ends(void **state)
{
	struct world *w = *state;

	sched_job_added(&w->s, make_job(w, 1, 50, "a", 2, 1, 1), 0);
	idle_up(w, "a", 0);
	run_boot(w, 1, 1, 1);
	expect(w, "end a boot=1 pass\nbegin a boot=2 b2/v2 n=1\n");
	run_boot(w, 2, 2, 1);
	expect(w, "end a boot=2 pass\njob 1 done\n");
}

static void test_higher_priority_first_then_older(void **state)
{
	struct world *w = *state;

	sched_job_added(&w->s, make_job(w, 1, 50, "a", 1, 1, 1), 0);
	sched_job_added(&w->s, make_job(w, 2, 90, "a", 1, 1, 1), 0);
	sched_job_added(&w->s, make_job(w, 3, 50, "a", 1, 1, 1), 0);
	idle_up(w, "a", 0);
	expect(w, "job 2 running\nbegin a boot=1 b1/v1 n=1\n");
	run_boot(w, 1, 1, 1);
	expect(w, "end a boot=1 pass\njob 2 done\njob 1 running\nbegin a boot=2 b1/v1 n=1\n");
}

static void test_one_boot_at_a_time_per_machine(void **state)
{
	struct world *w = *state;

	idle_up(w, "a", 0);
	sched_job_added(&w->s, make_job(w, 1, 50, "a", 1, 2, 1), 0);
	sched_job_added(&w->s, make_job(w, 2, 99, "a", 1, 2, 1), 0);
	expect(w, "job 1 running\nbegin a boot=1 b1/v1 n=1\n");
}

static void test_retryable_outcome_is_tried_last_in_its_block_and_bounded(void **state)
{
	struct world *w = *state;

	idle_up(w, "a", 0);
	sched_job_added(&w->s, make_job(w, 1, 50, "a", 2, 2, 1), 0);
	w->log[0] = '\0';
	sched_boot_ended(&w->s, 1, KG_OUTCOME_WRONG_LSM, "list differs", 0);
	expect(w, "end a boot=1 wrong-lsm\nsettle slot=1011 pending tries=1\n"
		  "begin a boot=2 b1/v2 n=1\n");
	run_boot(w, 2, 2, 1);
	expect(w, "end a boot=2 pass\nbegin a boot=3 b1/v1 n=1\n");
	sched_boot_ended(&w->s, 3, KG_OUTCOME_WRONG_LSM, "list differs", 0);
	expect(w, "end a boot=3 wrong-lsm\nsettle slot=1011 pending tries=2\n"
		  "begin a boot=4 b1/v1 n=1\n");
	sched_boot_ended(&w->s, 4, KG_OUTCOME_WRONG_LSM, "list differs", 0);
	expect(w, "end a boot=4 wrong-lsm\nsettle slot=1011 wrong-lsm tries=3\n"
		  "begin a boot=5 b2/v3 n=1\n");
}

static void test_failed_workload_is_final_at_once(void **state)
{
	struct world *w = *state;

	idle_up(w, "a", 0);
	sched_job_added(&w->s, make_job(w, 1, 50, "a", 1, 1, 2), 0);
	w->log[0] = '\0';
	sched_attempt_ended(&w->s, 1, 1, KG_OUTCOME_FAIL, "exit 1", 0);
	expect(w, "settle slot=1011 fail tries=1\n");
	sched_attempt_ended(&w->s, 1, 1, KG_OUTCOME_PASS, "", 0);
	expect(w, "");
	sched_attempt_ended(&w->s, 1, 2, KG_OUTCOME_PASS, "", 0);
	expect(w, "settle slot=1012 pass tries=1\n");
	sched_boot_ended(&w->s, 1, KG_OUTCOME_PASS, NULL, 0);
	expect(w, "end a boot=1 pass\njob 1 done\n");
}

static void test_run_without_an_end_in_a_good_boot_is_harness_error(void **state)
{
	struct world *w = *state;

	idle_up(w, "a", 0);
	sched_job_added(&w->s, make_job(w, 1, 50, "a", 1, 1, 1), 0);
	w->log[0] = '\0';
	sched_boot_ended(&w->s, 1, KG_OUTCOME_PASS, NULL, 0);
	expect(w, "end a boot=1 pass\nsettle slot=1011 harness-error tries=1\njob 1 done\n");
}

/* Nothing of such a boot is stored: a slot cannot be settled by one of its attempts. */
static void test_boot_that_the_store_refuses_is_tried_again_and_ends_as_infra(void **state)
{
	struct world *w = *state;

	idle_up(w, "a", 0);
	sched_job_added(&w->s, make_job(w, 1, 50, "a", 1, 1, 1), 0);
	w->log[0] = '\0';
	sched_boot_refused(&w->s, 1, "slot 1011 is not a pending one", 0);
	expect(w, "end a boot=1 infra\nsettle slot=1011 pending tries=1 without an attempt\n"
		  "begin a boot=2 b1/v1 n=1\n");
	sched_order_stored(&w->s, 1, 0); /* said late, of what is over */
	sched_boot_refused(&w->s, 1, "again", 0);
	expect(w, "");
	sched_boot_refused(&w->s, 2, "refused", 0);
	expect(w, "end a boot=2 infra\nsettle slot=1011 pending tries=2 without an attempt\n"
		  "begin a boot=3 b1/v1 n=1\n");
	sched_boot_refused(&w->s, 3, "refused", 0);
	expect(w, "end a boot=3 infra\nsettle slot=1011 infra tries=3 without an attempt\n"
		  "job 1 done\n");
}

static void test_run_that_takes_the_kernel_down_does_not_cost_the_others_their_tries(void **state)
{
	struct world *w = *state;
	int i;

	idle_up(w, "a", 0);
	sched_job_added(&w->s, make_job(w, 1, 50, "a", 1, 1, 2), 0);
	for (i = 0; i < 3; i++) { /* attempts 1, 3, 5 are the culprit's */
		sched_order_stored(&w->s, (uint64_t)i + 1, 0);
		sched_stage_entered(&w->s, (uint64_t)i + 1, SCHED_RUN, (uint64_t)(2 * i) + 1, 0);
		w->log[0] = '\0';
		sched_attempt_ended(&w->s, (uint64_t)i + 1, (uint64_t)(2 * i) + 1, KG_OUTCOME_INFRA,
				    "machine rebooted during the run", 0);
		sched_boot_ended(&w->s, (uint64_t)i + 1, KG_OUTCOME_INFRA, "", 0);
	}
	expect(w, "settle slot=1011 infra tries=3\nend a boot=3 infra\n"
		  "begin a boot=4 b1/v1 n=1\n"); /* the other one alone, with all its tries */
	sched_order_stored(&w->s, 4, 0);
	sched_stage_entered(&w->s, 4, SCHED_RUN, 7, 0);
	sched_attempt_ended(&w->s, 4, 7, KG_OUTCOME_PASS, NULL, 0);
	w->log[0] = '\0';
	sched_boot_ended(&w->s, 4, KG_OUTCOME_PASS, NULL, 0);
	expect(w, "end a boot=4 pass\njob 1 done\n");
}

static void test_boot_deadline_is_boot_hang_and_power_cycle(void **state)
{
	struct world *w = *state;

	idle_up(w, "a", 0);
	sched_job_added(&w->s, make_job(w, 1, 50, "a", 1, 1, 1), 0);
	sched_order_stored(&w->s, 1, 0);
	sched_stage_entered(&w->s, 1, SCHED_BOOT, 0, 10 * SEC);
	sched_machine_down(&w->s, "a", 11 * SEC);
	w->log[0] = '\0';
	sched_tick(&w->s, 609 * SEC);
	expect(w, "");
	sched_tick(&w->s, 610 * SEC);
	expect(w, "fence a boot=1\npower a\nend a boot=1 boot-hang\n"
		  "settle slot=1011 pending tries=1\n");
	idle_up(w, "a", 700 * SEC);
	expect(w, "begin a boot=2 b1/v1 n=1\n");
}

static void test_dispatch_that_is_never_answered_is_infra_without_power_cycle(void **state)
{
	struct world *w = *state;

	idle_up(w, "a", 0);
	sched_job_added(&w->s, make_job(w, 1, 50, "a", 1, 1, 1), 0);
	sched_order_stored(&w->s, 1, 0);
	w->log[0] = '\0';
	sched_tick(&w->s, 60 * SEC);
	expect(w, "fence a boot=1\nend a boot=1 infra\nsettle slot=1011 pending tries=1\n"
		  "begin a boot=2 b1/v1 n=1\n");
}

static void test_run_deadline_includes_the_runs_timeout(void **state)
{
	struct world *w = *state;

	idle_up(w, "a", 0);
	sched_job_added(&w->s, make_job(w, 1, 50, "a", 1, 1, 1), 0);
	sched_order_stored(&w->s, 1, 0);
	sched_stage_entered(&w->s, 1, SCHED_RUN, 1, 0);
	w->log[0] = '\0';
	sched_tick(&w->s, 329 * SEC);
	expect(w, "");
	sched_tick(&w->s, 330 * SEC);
	assert_non_null(strstr(w->log, "end a boot=1 infra"));
}

static void test_reconnect_with_the_same_boot_goes_on(void **state)
{
	struct world *w = *state;

	idle_up(w, "a", 0);
	sched_job_added(&w->s, make_job(w, 1, 50, "a", 1, 1, 1), 0);
	sched_order_stored(&w->s, 1, 0);
	sched_stage_entered(&w->s, 1, SCHED_BOOT, 0, 0);
	w->log[0] = '\0';
	sched_machine_down(&w->s, "a", 0);
	sched_machine_up(&w->s, "a", false,
			 &(struct sched_agent_state){.boot = 1, .lease_epoch = 1}, SEC);
	expect(w, "");
}

static void test_reconnect_before_the_order_arrived_gets_it_again(void **state)
{
	struct world *w = *state;

	idle_up(w, "a", 0);
	sched_job_added(&w->s, make_job(w, 1, 50, "a", 1, 1, 1), 0);
	sched_order_stored(&w->s, 1, 0);
	w->log[0] = '\0';
	sched_machine_down(&w->s, "a", 0);
	idle_up(w, "a", SEC);
	expect(w, "order a boot=1 b1/v1 n=1\n");
}

static void test_agent_without_its_boots_state_is_infra(void **state)
{
	struct world *w = *state;

	idle_up(w, "a", 0);
	sched_job_added(&w->s, make_job(w, 1, 50, "a", 1, 1, 1), 0);
	sched_order_stored(&w->s, 1, 0);
	sched_stage_entered(&w->s, 1, SCHED_FETCH, 0, 0);
	w->log[0] = '\0';
	idle_up(w, "a", SEC);
	expect(w, "end a boot=1 infra\nsettle slot=1011 pending tries=1\n"
		  "begin a boot=2 b1/v1 n=1\n");
}

static void test_agent_with_a_boot_that_has_no_lease_is_fenced(void **state)
{
	struct world *w = *state;

	sched_machine_up(&w->s, "a", false,
			 &(struct sched_agent_state){.boot = 77, .lease_epoch = 77}, 0);
	expect(w, "fence a boot=77\n");
}

static void test_cancel_is_final_and_keeps_what_passed(void **state)
{
	struct world *w = *state;
	struct sched_job *j;

	idle_up(w, "a", 0);
	sched_job_added(&w->s, make_job(w, 1, 50, "a", 1, 2, 2), 0);
	sched_order_stored(&w->s, 1, 0);
	sched_attempt_ended(&w->s, 1, 1, KG_OUTCOME_PASS, NULL, 0);
	j = sched_job_find(&w->s, 1);
	w->log[0] = '\0';
	sched_job_cancelled(&w->s, 1, SEC);
	expect(w, "job 1 cancelled\nfence a boot=1\nend a boot=1 cancelled\n");
	assert_int_equal(j->visits[0]->slots[0].outcome, KG_OUTCOME_PASS);
	assert_int_equal(j->visits[0]->slots[1].outcome, KG_OUTCOME_CANCELLED);
	idle_up(w, "a", 2 * SEC);
	expect(w, "");
	sched_tick(&w->s, 3 * SEC); /* frees the job */
	assert_null(sched_job_find(&w->s, 1));
}

static void test_resume_settles_what_was_committed_before_a_crash(void **state)
{
	struct world *w = *state;
	struct sched_job *j = make_job(w, 1, 50, "a", 1, 1, 2);
	struct sched_boot *b;

	j->state = SCHED_JOB_RUNNING;
	sched_job_added(&w->s, j, 0);
	b = sched_boot_new(j->visits[0], 2);
	b->id = 9;
	b->order_sent = true;
	b->stage = SCHED_RUN;
	b->deadline_ns = 100 * SEC;
	b->attempts[0].id = 5;
	b->attempts[0].slot = &j->visits[0]->slots[0];
	b->attempts[0].outcome = KG_OUTCOME_PASS;
	b->attempts[1].id = 6;
	b->attempts[1].slot = &j->visits[0]->slots[1];
	sched_restore_boot(&w->s, sched_machine_get(&w->s, "a"), b);
	sched_resume(&w->s, 0);
	expect(w, "settle slot=1011 pass tries=1\n");
	sched_machine_up(&w->s, "a", false, &(struct sched_agent_state){.boot = 9}, SEC);
	expect(w, "");
	assert_int_equal(w->s.next_boot, 10);
}

static void test_job_without_feasible_slots_is_done_at_once(void **state)
{
	struct world *w = *state;

	sched_job_added(&w->s, sched_job_new(4, 50, SCHED_JOB_QUEUED), 0);
	expect(w, "job 4 done\n");
}

static void test_machines_of_a_job_run_side_by_side(void **state)
{
	struct world *w = *state;
	struct sched_job *j = make_job(w, 1, 50, "a", 1, 1, 1);
	struct sched_visit *v =
		sched_job_add_visit(&w->s, j, "b", &(struct sched_visit){.block = 1, .visit = 1});

	sched_visit_add_slot(v, &(struct sched_slot){.id = 7, .position = 1});
	sched_job_added(&w->s, j, 0);
	idle_up(w, "a", 0);
	idle_up(w, "b", 0);
	expect(w, "job 1 running\nbegin a boot=1 b1/v1 n=1\nbegin b boot=2 b1/v1 n=1\n");
}

static void test_stage_names_roundtrip(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < SCHED_STAGE_COUNT; i++)
		assert_int_equal(sched_stage_parse(sched_stage_name((enum sched_stage)i)), i);
	assert_int_equal(sched_stage_parse("nope"), SCHED_STAGE_COUNT);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_idle_machine_gets_first_visit_once_stored),
		T(test_blocks_follow_one_another_and_the_job_ends),
		T(test_higher_priority_first_then_older),
		T(test_one_boot_at_a_time_per_machine),
		T(test_retryable_outcome_is_tried_last_in_its_block_and_bounded),
		T(test_failed_workload_is_final_at_once),
		T(test_run_without_an_end_in_a_good_boot_is_harness_error),
		T(test_boot_that_the_store_refuses_is_tried_again_and_ends_as_infra),
		T(test_run_that_takes_the_kernel_down_does_not_cost_the_others_their_tries),
		T(test_boot_deadline_is_boot_hang_and_power_cycle),
		T(test_dispatch_that_is_never_answered_is_infra_without_power_cycle),
		T(test_run_deadline_includes_the_runs_timeout),
		T(test_reconnect_with_the_same_boot_goes_on),
		T(test_reconnect_before_the_order_arrived_gets_it_again),
		T(test_agent_without_its_boots_state_is_infra),
		T(test_agent_with_a_boot_that_has_no_lease_is_fenced),
		T(test_cancel_is_final_and_keeps_what_passed),
		T(test_resume_settles_what_was_committed_before_a_crash),
		T(test_job_without_feasible_slots_is_done_at_once),
		T(test_machines_of_a_job_run_side_by_side),
		T(test_stage_names_roundtrip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
