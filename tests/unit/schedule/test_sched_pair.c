/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boots on two machines that belong together. Client on 'c', server on 's', unless said otherwise. */
#include "tests/unit/schedule/world.h"

static const struct plan pair = {1, 50, "ann", "c", "s", 1, 1, 2, .seconds = 600};

static void begin_pair(struct world *w)
{
	world_up(w, "c", 0);
	world_up(w, "s", 0);
	world_add(w, &pair, 0);
	world_expect(w, "job 1 running\nbegin c boot=1 job=1 b1/v1 n=2 client\n"
			"begin s boot=2 job=1 b1/v1 n=2 server\n");
}

/* Attempts 1, 2 are the client's, 3, 4 the server's. */
static void both_stored(struct world *w)
{
	begin_pair(w);
	sched_order_stored(&w->s, 1, 0);
	sched_order_stored(&w->s, 2, 0);
	world_forget(w);
}

static void test_neither_side_begins_without_the_other(void **state)
{
	struct world *w = *state;

	world_up(w, "c", 0);
	world_add(w, &pair, 0);
	sched_tick(&w->s, SEC);
	world_expect(w, "");
	world_up(w, "s", SEC);
	world_expect(w, "job 1 running\nbegin c boot=1 job=1 b1/v1 n=2 client\n"
			"begin s boot=2 job=1 b1/v1 n=2 server\n");
}

static void test_orders_go_out_when_both_are_stored(void **state)
{
	struct world *w = *state;

	begin_pair(w);
	sched_order_stored(&w->s, 2, 0);
	world_expect(w, "");
	world_up(w, "s", SEC); /* nor at a reconnect */
	world_expect(w, "");
	sched_order_stored(&w->s, 1, SEC);
	world_expect(w, "order c boot=1\norder s boot=2\n");
}

static void test_whole_pair(void **state)
{
	struct world *w = *state;

	both_stored(w);
	sched_peer_serving(&w->s, 2, 3, 5001, 0);
	world_expect(w, "");
	sched_peer_wanted(&w->s, 1, 1, SEC);
	world_expect(w, "ready c boot=1 attempt=1 port=5001 at s\n");
	sched_attempt_ended(&w->s, 1, 1, KG_OUTCOME_PASS, NULL, 2 * SEC);
	world_expect(w, "done s boot=2 attempt=3\nsettle slot=1011 pass tries=1\n");
	sched_attempt_ended(&w->s, 2, 3, KG_OUTCOME_PASS, NULL, 2 * SEC);
	world_expect(w, ""); /* a server's attempts never settle */
	sched_peer_wanted(&w->s, 1, 2, 3 * SEC);
	world_expect(w, "");
	sched_peer_serving(&w->s, 2, 4, 5002, 3 * SEC);
	world_expect(w, "ready c boot=1 attempt=2 port=5002 at s\n");
	sched_attempt_ended(&w->s, 1, 2, KG_OUTCOME_FAIL, "exit 1", 4 * SEC);
	sched_attempt_ended(&w->s, 2, 4, KG_OUTCOME_PASS, NULL, 4 * SEC);
	world_forget(w);
	sched_boot_ended(&w->s, 1, KG_OUTCOME_PASS, NULL, 5 * SEC);
	world_expect(w, "end c boot=1 pass\n"); /* the job is not over before its server is */
	sched_boot_ended(&w->s, 2, KG_OUTCOME_PASS, NULL, 6 * SEC);
	world_expect(w, "end s boot=2 pass\njob 1 done\n");
}

static void test_server_may_end_before_its_client_when_all_runs_are_over(void **state)
{
	struct world *w = *state;

	both_stored(w);
	sched_attempt_ended(&w->s, 1, 1, KG_OUTCOME_PASS, NULL, SEC);
	sched_attempt_ended(&w->s, 1, 2, KG_OUTCOME_PASS, NULL, SEC);
	world_forget(w);
	sched_boot_ended(&w->s, 2, KG_OUTCOME_PASS, NULL, 2 * SEC);
	world_expect(w, "end s boot=2 pass\n");
	sched_boot_ended(&w->s, 1, KG_OUTCOME_PASS, NULL, 3 * SEC);
	world_expect(w, "end c boot=1 pass\njob 1 done\n");
}

static void test_what_was_said_before_is_said_again_whenever_asked(void **state)
{
	struct world *w = *state;

	both_stored(w);
	sched_peer_wanted(&w->s, 1, 1, 0);
	sched_peer_serving(&w->s, 2, 3, 5001, 0);
	sched_peer_serving(&w->s, 2, 3, 5001, 0);
	sched_peer_wanted(&w->s, 1, 1, 0);
	world_expect(w, "ready c boot=1 attempt=1 port=5001 at s\n"
			"ready c boot=1 attempt=1 port=5001 at s\n"
			"ready c boot=1 attempt=1 port=5001 at s\n");
	sched_peer_serving(&w->s, 2, 3, 6001, 0); /* restarted: another port */
	world_expect(w, "ready c boot=1 attempt=1 port=6001 at s\n");
	sched_attempt_ended(&w->s, 1, 1, KG_OUTCOME_PASS, NULL, SEC);
	world_forget(w);
	sched_peer_serving(&w->s, 2, 3, 6001, SEC); /* it did not hear that the run is over */
	world_expect(w, "done s boot=2 attempt=3\n");
	sched_peer_wanted(&w->s, 1, 1, SEC); /* late */
	world_expect(w, "");
}

static void test_words_of_the_wrong_side_are_not_heard(void **state)
{
	struct world *w = *state;

	both_stored(w);
	sched_peer_wanted(&w->s, 2, 3, 0);
	sched_peer_serving(&w->s, 1, 1, 5001, 0);
	sched_peer_serving(&w->s, 2, 99, 5001, 0);
	sched_peer_serving(&w->s, 77, 3, 5001, 0);
	sched_peer_serving(&w->s, 2, 3, 0, 0);
	sched_peer_serving(&w->s, 2, 3, 70000, 0);
	sched_peer_wanted(&w->s, 1, 1, 0);
	world_expect(w, "");
}

static void test_server_that_hangs_ends_both_and_is_to_blame(void **state)
{
	struct world *w = *state;

	both_stored(w);
	sched_stage_entered(&w->s, 2, SCHED_BOOT, 0, 0);
	sched_machine_down(&w->s, "s", 0);
	sched_stage_entered(&w->s, 1, SCHED_PAIR, 1, 300 * SEC);
	world_forget(w);
	sched_tick(&w->s, 600 * SEC);
	world_expect(w, "fence s boot=2\npower s boot=2\nend s boot=2 boot-hang\n"
			"fence c boot=1\nend c boot=1 boot-hang\n"
			"settle slot=1011 pending tries=1\nsettle slot=1012 pending tries=1\n");
	world_up(w, "s", 700 * SEC);
	world_expect(w, "begin c boot=3 job=1 b1/v1 n=2 client\n"
			"begin s boot=4 job=1 b1/v1 n=2 server\n");
}

static void test_client_that_fails_ends_its_server(void **state)
{
	struct world *w = *state;

	both_stored(w);
	sched_boot_ended(&w->s, 1, KG_OUTCOME_WRONG_LSM, "list differs", SEC);
	world_expect(w, "end c boot=1 wrong-lsm\n"
			"settle slot=1011 pending tries=1\nsettle slot=1012 pending tries=1\n"
			"fence s boot=2\nend s boot=2 wrong-lsm\n"
			"begin c boot=3 job=1 b1/v1 n=2 client\n"
			"begin s boot=4 job=1 b1/v1 n=2 server\n");
}

static void test_server_lost_in_a_run_costs_only_that_run_a_try(void **state)
{
	struct world *w = *state;

	both_stored(w);
	sched_attempt_ended(&w->s, 1, 1, KG_OUTCOME_PASS, NULL, 0);
	sched_stage_entered(&w->s, 1, SCHED_RUN, 2, 0);
	sched_stage_entered(&w->s, 2, SCHED_SERVE, 4, 0);
	world_forget(w);
	world_up(w, "s", SEC); /* back without its boot */
	world_expect(w, "end s boot=2 infra\nfence c boot=1\nend c boot=1 infra\n"
			"settle slot=1012 pending tries=1\n"
			"begin c boot=3 job=1 b1/v1 n=1 client\n"
			"begin s boot=4 job=1 b1/v1 n=1 server\n");
}

/* The client would wait for it in vain. The other run has done nothing. */
static void test_helper_that_does_not_start_fails_its_run_alone(void **state)
{
	struct world *w = *state;

	both_stored(w);
	sched_stage_entered(&w->s, 1, SCHED_PAIR, 1, 0);
	sched_stage_entered(&w->s, 2, SCHED_SERVE, 3, 0);
	world_forget(w);
	sched_attempt_ended(&w->s, 2, 3, KG_OUTCOME_FAIL, "netserver: no such file", SEC);
	world_expect(w, "settle slot=1011 fail tries=1\nfence s boot=2\nend s boot=2 fail\n"
			"fence c boot=1\nend c boot=1 fail\n"
			"begin c boot=3 job=1 b1/v1 n=1 client\n"
			"begin s boot=4 job=1 b1/v1 n=1 server\n");
}

static void test_helper_that_dies_in_a_run_is_blamed_unless_the_run_passed(void **state)
{
	struct world *w = *state;

	both_stored(w);
	sched_stage_entered(&w->s, 1, SCHED_RUN, 1, 0);
	world_forget(w);
	sched_attempt_ended(&w->s, 2, 3, KG_OUTCOME_INFRA, "killed", SEC);
	world_expect(w, "");
	sched_attempt_ended(&w->s, 1, 1, KG_OUTCOME_FAIL, "connection refused", SEC);
	world_expect(w, "settle slot=1011 pending tries=1\n"); /* infra: tried again */
	sched_stage_entered(&w->s, 1, SCHED_RUN, 2, SEC);
	sched_attempt_ended(&w->s, 2, 4, KG_OUTCOME_FAIL, "exit 1", SEC);
	world_forget(w);
	sched_attempt_ended(&w->s, 1, 2, KG_OUTCOME_PASS, NULL, SEC);
	world_expect(w, "settle slot=1012 pass tries=1\n");
}

static void test_cancel_ends_both_sides(void **state)
{
	struct world *w = *state;

	both_stored(w);
	sched_job_cancelled(&w->s, 1, SEC);
	world_expect(w, "job 1 cancelled\nfence c boot=1\nend c boot=1 cancelled\n"
			"fence s boot=2\nend s boot=2 cancelled\n");
	sched_tick(&w->s, SEC);
	assert_null(w->s.jobs);
}

static void test_maintenance_of_one_side_costs_no_try(void **state)
{
	struct world *w = *state;

	both_stored(w);
	assert_int_equal(sched_machine_service(&w->s, "s", SCHED_MAINTENANCE, "", SEC), 0);
	world_expect(w, "fence s boot=2\nend s boot=2 infra\nfence c boot=1\nend c boot=1 infra\n");
	assert_int_equal(sched_machine_service(&w->s, "s", SCHED_NORMAL, "", 2 * SEC), 0);
	world_expect(w, "begin c boot=3 job=1 b1/v1 n=2 client\n"
			"begin s boot=4 job=1 b1/v1 n=2 server\n");
	assert_int_equal(sched_job_find(&w->s, 1)->visits[0]->slots[0].tries, 0);
}

static void test_waiting_side_that_is_late_needs_no_power(void **state)
{
	struct world *w = *state;

	both_stored(w);
	sched_stage_entered(&w->s, 1, SCHED_PAIR, 1, 0);
	sched_stage_entered(&w->s, 2, SCHED_UPLOAD, 0, 3000 * SEC);
	world_forget(w);
	sched_tick(&w->s, 1800 * SEC);
	assert_contains(w->log, "fence c boot=1\nend c boot=1 infra\n");
	assert_null(strstr(w->log, "power c"));
	world_forget(w);
}

static void test_server_waits_as_long_as_a_client_may_take(void **state)
{
	struct world *w = *state;
	const uint32_t *l = w->s.limits.stage_s;
	struct sched_boot *b;
	uint64_t seconds;

	both_stored(w);
	sched_stage_entered(&w->s, 2, SCHED_SERVE, 3, 0);
	b = world_boot(w, "s");
	seconds = l[SCHED_SERVE] + l[SCHED_WARMUP] + l[SCHED_RUN] + l[SCHED_COLLECT] + 2 * 30;
	assert_int_equal(b->deadline_ns, seconds * SEC);
	/* a client on an instruction clock is slow */
	sched_machine_find(&w->s, "c")->instruction_clock = true;
	sched_stage_entered(&w->s, 2, SCHED_SERVE, 3, 0);
	assert_int_equal(b->deadline_ns, seconds * w->s.limits.instruction_factor * SEC);
}

/* ---- claims ---- */

/* 's' is busy for another 10 minutes with a job of its own; the pair is the best that 'c' has. */
static void busy_server(struct world *w, uint32_t short_s, uint32_t long_s)
{
	world_up(w, "s", 0);
	world_add(w, &(struct plan){7, 50, "ann", "s", NULL, 1, 1, 1, .seconds = 600}, 0);
	world_add(w, &(struct plan){1, 90, "ann", "c", "s", 1, 1, 1, .seconds = 600}, 0);
	world_add(w, &(struct plan){2, 20, "ann", "c", NULL, 1, 9, 1, .seconds = long_s}, 0);
	world_add(w, &(struct plan){3, 10, "ann", "c", NULL, 1, 9, 1, .seconds = short_s}, 0);
	world_forget(w);
}

static void test_server_that_is_free_soon_is_waited_for(void **state)
{
	struct world *w = *state;

	busy_server(w, 60, 300);
	world_up(w, "c", 595 * SEC);
	world_expect(w, "");
	assert_ptr_equal(sched_machine_find(&w->s, "c")->claim,
			 sched_machine_find(&w->s, "s")->claim);
	world_pass(w, "s", 599 * SEC);
	world_expect(w, "end s boot=1 pass\njob 7 done\njob 1 running\n"
			"begin c boot=2 job=1 b1/v1 n=1 client\n"
			"begin s boot=3 job=1 b1/v1 n=1 server\n");
	assert_null(sched_machine_find(&w->s, "c")->claim);
	assert_null(sched_machine_find(&w->s, "s")->claim);
}

static void test_server_that_is_not_free_soon_is_not_waited_for(void **state)
{
	struct world *w = *state;

	busy_server(w, 60, 300);
	world_up(w, "c", 0);
	world_expect(w, "job 2 running\nbegin c boot=2 job=2 b1/v1 n=1\n");
	assert_null(sched_machine_find(&w->s, "c")->claim);
}

/* Passed over for two hours: worth a wait of some minutes, and what fits into it is done meanwhile. */
static void test_claimed_machine_takes_what_ends_before_its_peer_is_free(void **state)
{
	struct world *w = *state;
	uint64_t t;

	world_up(w, "s", 0);
	world_up(w, "c", 0);
	world_add(w, &(struct plan){7, 50, "ann", "s", NULL, 1, 2, 1, .seconds = 7200}, 0);
	world_add(w, &(struct plan){2, 20, "ann", "c", NULL, 1, 9, 1, .seconds = 6900}, 0);
	world_add(w, &(struct plan){3, 10, "ann", "c", NULL, 1, 9, 1, .seconds = 200}, 0);
	world_add(w, &(struct plan){1, 90, "ann", "c", "s", 1, 1, 1, .seconds = 600}, 0);
	world_pass(w, "c", 10 * SEC); /* passed over now */
	world_expect(w, "end c boot=2 pass\nbegin c boot=3 job=2 b1/v2 n=1\n");
	t = 6900 * SEC;
	world_pass(w, "c", t);
	world_expect(w, "end c boot=3 pass\njob 3 running\nbegin c boot=4 job=3 b1/v1 n=1\n");
	world_pass(w, "c", t + 100 * SEC); /* 200 s are left */
	world_expect(w, "end c boot=4 pass\nbegin c boot=5 job=3 b1/v2 n=1\n");
	world_pass(w, "c", t + 250 * SEC); /* 50 s are left, and it has been taking 100 and more */
	world_expect(w, "end c boot=5 pass\n");
	world_pass(w, "s", t + 280 * SEC);
	assert_contains(w->log, "begin c boot=6 job=1 b1/v1 n=1 client\n");
}

static void test_claim_gives_way_to_what_is_much_better(void **state)
{
	struct world *w = *state;

	busy_server(w, 60, 300);
	world_up(w, "c", 595 * SEC);
	world_expect(w, "");
	world_add(w, &(struct plan){4, 100, "ann", "c", NULL, 1, 1, 1, .seconds = 900}, 595 * SEC);
	world_expect(w, ""); /* 10 points are not enough */
	assert_int_equal(sched_job_reprioritise(&w->s, 1, 50, 596 * SEC), 0);
	world_expect(w, "job 4 running\nbegin c boot=2 job=4 b1/v1 n=1\n");
	assert_null(sched_machine_find(&w->s, "s")->claim);
}

static void test_claim_falls_with_whatever_makes_it_void(void **state)
{
	struct world *w = *state;

	busy_server(w, 60, 300);
	world_up(w, "c", 595 * SEC);
	world_expect(w, "");
	assert_int_equal(sched_machine_service(&w->s, "s", SCHED_DRAIN, "", 596 * SEC), 0);
	world_expect(w, "job 2 running\nbegin c boot=2 job=2 b1/v1 n=1\n");
	assert_null(sched_machine_find(&w->s, "s")->claim);
}

static void test_pair_of_a_paused_job_keeps_no_machine(void **state)
{
	struct world *w = *state;

	busy_server(w, 60, 300);
	world_up(w, "c", 595 * SEC);
	assert_int_equal(sched_job_pause(&w->s, 1, true, 596 * SEC), 0);
	world_expect(w, "job 2 running\nbegin c boot=2 job=2 b1/v1 n=1\n");
	assert_null(sched_machine_find(&w->s, "s")->claim);
}

/* Each holds what the other needs: with two steps for a claim nobody would ever begin. */
static void test_circle_of_pairs_runs_one_after_the_other(void **state)
{
	struct world *w = *state;
	static const char *const m[] = {"a", "b", "c"};
	unsigned begun = 0, i;
	uint64_t now = 0;

	for (i = 0; i < 3; i++)
		world_add(w,
			  &(struct plan){i + 1, 50, "ann", m[i], m[(i + 1) % 3], 1, 2, 1,
					 .seconds = 60},
			  0);
	for (i = 0; i < 3; i++)
		world_up(w, m[i], 0);
	for (i = 0; i < 20 && w->s.jobs; i++) {
		unsigned k;

		now += 60 * SEC;
		for (k = 0; k < 3; k++) {
			struct sched_machine *x = sched_machine_find(&w->s, m[k]);

			if (!x->boot || x->boot->role != SCHED_ROLE_CLIENT)
				continue;
			begun++;
			world_pass(w, m[k], now);
		}
		for (k = 0; k < 3; k++) {
			struct sched_machine *x = sched_machine_find(&w->s, m[k]);

			if (x->boot && !x->boot->pair)
				sched_boot_ended(&w->s, x->boot->id, KG_OUTCOME_PASS, NULL, now);
		}
		sched_tick(&w->s, now);
	}
	assert_null(w->s.jobs);
	assert_int_equal(begun, 6);
}

/* One queue, since a queue is what a job has on the client's machine. */
static void test_plain_boot_may_follow_a_pair_of_the_same_job(void **state)
{
	struct world *w = *state;
	struct sched_job *j = world_job(w, &pair);

	world_visits(w, j, &(struct plan){1, 50, "ann", "c", NULL, 1, 1, 1, .seconds = 600}, 2);
	sched_job_added(&w->s, j, 0);
	world_up(w, "c", 0);
	world_up(w, "s", 0);
	assert_contains(w->log, "begin s boot=2 job=1 b1/v1 n=2 server\n");
	world_forget(w);
	world_pass(w, "c", SEC);
	assert_contains(w->log, "begin c boot=3 job=1 b2/v2 n=1\n");
	sched_boot_ended(&w->s, 2, KG_OUTCOME_PASS, NULL, 2 * SEC);
	world_forget(w);
	world_pass(w, "c", 3 * SEC);
	assert_contains(w->log, "job 1 done\n");
}

static void test_pair_with_itself_is_an_ordinary_boot(void **state)
{
	struct world *w = *state;

	world_add(w, &(struct plan){1, 50, "ann", "a", "a", 1, 1, 1, .seconds = 60}, 0);
	world_up(w, "a", 0);
	world_expect(w, "job 1 running\nbegin a boot=1 job=1 b1/v1 n=1\n");
}

static void test_pair_needs_both_machines_for_its_submitter(void **state)
{
	struct world *w = *state;

	world_up(w, "c", 0);
	world_up(w, "s", 0);
	assert_int_equal(sched_machine_reserve(&w->s, "s", "bob", "", INT64_MAX, 0), 0);
	world_add(w, &pair, 0);
	world_expect(w, "");
	assert_int_equal(sched_machine_reserve(&w->s, "s", "ann", "", INT64_MAX, 0), 0);
	assert_contains(w->log, "begin s boot=2 job=1 b1/v1 n=2 server\n");
}

/* The holder's job is next, however well the pair that has just run would go on. */
static void test_pair_does_not_go_on_against_a_reservation(void **state)
{
	struct world *w = *state;

	world_up(w, "c", 0);
	world_up(w, "s", 0);
	world_add(w, &(struct plan){1, 50, "ann", "c", "s", 2, 1, 1, .seconds = 600}, 0);
	world_add(w, &(struct plan){2, 50, "bob", "c", NULL, 1, 1, 1, .seconds = 600}, 0);
	assert_int_equal(sched_machine_reserve(&w->s, "c", "bob", "", INT64_MAX, 0), 0);
	sched_order_stored(&w->s, 1, 0);
	sched_order_stored(&w->s, 2, 0);
	sched_attempt_ended(&w->s, 1, 1, KG_OUTCOME_PASS, NULL, SEC);
	sched_attempt_ended(&w->s, 2, 2, KG_OUTCOME_PASS, NULL, SEC);
	sched_boot_ended(&w->s, 2, KG_OUTCOME_PASS, NULL, 2 * SEC);
	world_forget(w);
	sched_boot_ended(&w->s, 1, KG_OUTCOME_PASS, NULL, 2 * SEC);
	world_expect(w, "end c boot=1 pass\njob 2 running\nbegin c boot=3 job=2 b1/v1 n=1\n");
	assert_int_equal(sched_machine_reserve(&w->s, "c", NULL, NULL, 0, 3 * SEC), 0);
	world_pass(w, "c", 3 * SEC);
	assert_contains(w->log, "begin c boot=4 job=1 b2/v2 n=1 client\n");
}

/* ---- a restart ---- */

static struct sched_boot *stored_boot(struct sched_job *j, uint64_t id, enum sched_role role,
				      uint64_t other, uint64_t first_attempt)
{
	struct sched_boot *b = sched_boot_new(j->visits[0], 2);
	size_t i;

	assert_non_null(b);
	b->id = id;
	b->lease_epoch = id;
	b->order_sent = true;
	b->stage = SCHED_VERIFY;
	b->deadline_ns = 1000 * SEC;
	b->role = role;
	b->pair_id = other;
	for (i = 0; i < 2; i++) {
		b->attempts[i].id = first_attempt + i;
		b->attempts[i].slot = &j->visits[0]->slots[i];
	}
	return b;
}

static struct sched_job *stored_job(struct world *w)
{
	struct sched_job *j = world_job(w, &pair);

	j->state = SCHED_JOB_RUNNING;
	j->started_ns = -5;
	sched_job_added(&w->s, j, 0);
	return j;
}

static void reconnect(struct world *w, const char *machine, uint64_t boot)
{
	sched_machine_up(&w->s, machine, false,
			 &(struct sched_agent_state){.boot = boot, .lease_epoch = boot}, SEC);
}

static void test_pair_goes_on_after_a_restart(void **state)
{
	struct world *w = *state;
	struct sched_job *j = stored_job(w);

	/* the server's came first */
	sched_restore_boot(&w->s, sched_machine_get(&w->s, "s"),
			   stored_boot(j, 8, SCHED_ROLE_SERVER, 7, 23));
	sched_restore_boot(&w->s, sched_machine_get(&w->s, "c"),
			   stored_boot(j, 7, SCHED_ROLE_CLIENT, 8, 21));
	sched_resume(&w->s, 0);
	reconnect(w, "c", 7);
	reconnect(w, "s", 8);
	world_expect(w, "");
	sched_peer_serving(&w->s, 8, 24, 5001, SEC);
	sched_peer_wanted(&w->s, 7, 22, SEC);
	world_expect(w, "ready c boot=7 attempt=22 port=5001 at s\n");
	sched_attempt_ended(&w->s, 7, 22, KG_OUTCOME_PASS, NULL, SEC);
	world_expect(w, "done s boot=8 attempt=24\nsettle slot=1012 pass tries=1\n");
	sched_attempt_ended(&w->s, 8, 24, KG_OUTCOME_PASS, NULL, SEC);
	world_expect(w, "");
}

static void test_client_stored_without_its_server_is_begun_again_without_a_try(void **state)
{
	struct world *w = *state;
	struct sched_job *j = stored_job(w);

	sched_restore_boot(&w->s, sched_machine_get(&w->s, "c"),
			   stored_boot(j, 7, SCHED_ROLE_CLIENT, 8, 21));
	sched_resume(&w->s, 0);
	world_expect(w, "fence c boot=7\nend c boot=7 infra\n");
	assert_int_equal(j->visits[0]->slots[0].tries, 0);
	world_up(w, "c", SEC);
	world_up(w, "s", SEC);
	assert_contains(w->log, "begin s boot=9 job=1 b1/v1 n=2 server\n");
}

static void test_server_without_its_client_is_ended_unless_all_is_done(void **state)
{
	struct world *w = *state;
	struct sched_job *j = stored_job(w);

	sched_restore_boot(&w->s, sched_machine_get(&w->s, "s"),
			   stored_boot(j, 8, SCHED_ROLE_SERVER, 7, 23));
	sched_resume(&w->s, 0);
	world_expect(w, "fence s boot=8\nend s boot=8 infra\n");
	/* the client went through: its server ends by itself, and hears so when it asks */
	j->visits[0]->slots[0].outcome = j->visits[0]->slots[1].outcome = KG_OUTCOME_PASS;
	sched_job_grown(&w->s, 1, 0);
	world_forget(w);
}

static void test_server_whose_client_went_through_ends_by_itself(void **state)
{
	struct world *w = *state;
	struct sched_job *j = world_job(w, &pair);

	j->state = SCHED_JOB_RUNNING;
	j->visits[0]->slots[0].outcome = j->visits[0]->slots[1].outcome = KG_OUTCOME_PASS;
	/* one more visit, so that the job is not over */
	world_visits(w, j, &pair, 2);
	sched_job_added(&w->s, j, 0);
	sched_restore_boot(&w->s, sched_machine_get(&w->s, "s"),
			   stored_boot(j, 8, SCHED_ROLE_SERVER, 7, 23));
	sched_resume(&w->s, 0);
	reconnect(w, "s", 8);
	sched_peer_serving(&w->s, 8, 23, 5001, SEC);
	world_expect(w, "done s boot=8 attempt=23\n");
	sched_boot_ended(&w->s, 8, KG_OUTCOME_PASS, NULL, SEC);
	world_expect(w, "end s boot=8 pass\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_neither_side_begins_without_the_other),
		T(test_orders_go_out_when_both_are_stored),
		T(test_whole_pair),
		T(test_server_may_end_before_its_client_when_all_runs_are_over),
		T(test_what_was_said_before_is_said_again_whenever_asked),
		T(test_words_of_the_wrong_side_are_not_heard),
		T(test_server_that_hangs_ends_both_and_is_to_blame),
		T(test_client_that_fails_ends_its_server),
		T(test_server_lost_in_a_run_costs_only_that_run_a_try),
		T(test_helper_that_does_not_start_fails_its_run_alone),
		T(test_helper_that_dies_in_a_run_is_blamed_unless_the_run_passed),
		T(test_cancel_ends_both_sides),
		T(test_maintenance_of_one_side_costs_no_try),
		T(test_waiting_side_that_is_late_needs_no_power),
		T(test_server_waits_as_long_as_a_client_may_take),
		T(test_server_that_is_free_soon_is_waited_for),
		T(test_server_that_is_not_free_soon_is_not_waited_for),
		T(test_claimed_machine_takes_what_ends_before_its_peer_is_free),
		T(test_claim_gives_way_to_what_is_much_better),
		T(test_claim_falls_with_whatever_makes_it_void),
		T(test_pair_of_a_paused_job_keeps_no_machine),
		T(test_circle_of_pairs_runs_one_after_the_other),
		T(test_plain_boot_may_follow_a_pair_of_the_same_job),
		T(test_pair_with_itself_is_an_ordinary_boot),
		T(test_pair_needs_both_machines_for_its_submitter),
		T(test_pair_does_not_go_on_against_a_reservation),
		T(test_pair_goes_on_after_a_restart),
		T(test_client_stored_without_its_server_is_begun_again_without_a_try),
		T(test_server_without_its_client_is_ended_unless_all_is_done),
		T(test_server_whose_client_went_through_ends_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
