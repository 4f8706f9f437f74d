/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/schedule/world.h"

#include <stdio.h>

#include "common/err.h"

/* All lines as one text. */
static const char *text_of(const struct kg_texts *lines)
{
	static char text[16384];
	size_t i, at = 0;

	text[0] = '\0';
	assert_true(lines->n <= SCHED_WHY_LINES);
	for (i = 0; i < lines->n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s\n", lines->items[i]);
	return text;
}

static const char *why_job(struct world *w, uint64_t job, uint64_t now)
{
	struct kg_texts lines = {0};
	const char *text;

	assert_int_equal(sched_why_job(&w->s, job, now, &lines), 0);
	text = text_of(&lines);
	kg_texts_deinit(&lines);
	return text;
}

static const char *why_machine(struct world *w, const char *machine, uint64_t now)
{
	struct kg_texts lines = {0};
	const char *text;

	assert_int_equal(sched_why_machine(&w->s, machine, now, &lines), 0);
	text = text_of(&lines);
	kg_texts_deinit(&lines);
	return text;
}

static const char *why_slot(struct world *w, uint64_t job, const char *machine, uint64_t slot,
			    uint64_t now)
{
	struct kg_texts lines = {0};
	const char *text;

	assert_int_equal(sched_why_slots(&w->s, job, machine, &slot, 1, now, &lines), 0);
	text = text_of(&lines);
	kg_texts_deinit(&lines);
	return text;
}

static void one(struct world *w, uint64_t id, uint32_t priority, uint64_t now)
{
	world_add(w, &(struct plan){id, priority, "ann", "a", NULL, 1, 3, 1, .seconds = 600}, now);
}

static void test_what_is_not_here_is_not_found(void **state)
{
	struct world *w = *state;
	struct kg_texts lines = {0};
	uint64_t slot = 1;

	one(w, 1, 50, 0);
	assert_int_equal(sched_why_job(&w->s, 9, 0, &lines), KG_ENOTFOUND);
	assert_int_equal(sched_why_machine(&w->s, "z", 0, &lines), KG_ENOTFOUND);
	assert_int_equal(sched_why_slots(&w->s, 9, "a", &slot, 1, 0, &lines), KG_ENOTFOUND);
	assert_int_equal(sched_why_slots(&w->s, 1, "z", &slot, 1, 0, &lines), KG_ENOTFOUND);
	sched_job_cancelled(&w->s, 1, 0);
	assert_int_equal(sched_why_job(&w->s, 1, 0, &lines), KG_ENOTFOUND);
	assert_int_equal(lines.n, 0);
}

static void test_offline_machine(void **state)
{
	struct world *w = *state;

	one(w, 1, 50, 0);
	assert_string_equal(why_job(w, 1, 2 * H + 60 * SEC),
			    "a: waits: 'a' is offline\n"
			    "its score is 60.1: priority 50, submitted 2 h 1 min ago\n");
	assert_string_equal(why_machine(w, "a", 0),
			    "offline: nothing begins before it connects\n"
			    "1 job is ready for it\n"
			    "  job 1 'nightly': score 50.0 (priority 50, submitted 0 s ago)\n");
}

static void test_busy_machine_and_who_comes_first(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	one(w, 7, 70, 0);
	one(w, 9, 52, 0);
	sched_order_stored(&w->s, 1, 0);
	sched_stage_entered(&w->s, 1, SCHED_RUN, 1, 0);
	assert_string_equal(why_job(w, 9, 80 * SEC),
			    "a: waits: 'a' is busy with job 7 'nightly' (boot 1, stage 'run', at "
			    "most 4 min 10 s left of it)\n"
			    "  job 7 'nightly' comes first there: score 70.1 against 52.1 "
			    "(priority 70, submitted 1 min 20 s ago)\n"
			    "its score is 52.1: priority 52, submitted 1 min 20 s ago\n");
	assert_contains(why_job(w, 7, 80 * SEC), "runs on 1 of 1 machines\na: runs: boot 1, ");
}

/* What breaks a tie is said, and numbers that differ are not shown as the same. */
static void test_equal_scores_say_who_was_first(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	one(w, 7, 50, 0);
	one(w, 8, 50, 0);
	one(w, 9, 50, 10 * SEC);
	sched_order_stored(&w->s, 1, 0);
	assert_contains(why_job(w, 8, 0),
			"  job 7 'nightly' comes first there: both have the score ");
	assert_contains(why_job(w, 8, 0), ", and it was submitted first (priority 50, ");
	assert_contains(why_job(w, 9, 60 * SEC), ", and it was submitted first (priority 50, ");
	world_add(w, &(struct plan){10, 50, "bob", "b", NULL, 1, 1, 1, .seconds = 60}, 0);
	world_add(w, &(struct plan){11, 50, "eve", "b", NULL, 1, 1, 1, .seconds = 60}, 10 * SEC);
	assert_contains(why_job(w, 11, 60 * SEC), "b: waits: 'b' is offline\n");
	world_forget(w);
}

static void test_reservation_and_service(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	assert_int_equal(sched_machine_reserve(&w->s, "a", "bob", "tuning", 5 * (int64_t)H, 0), 0);
	one(w, 1, 50, 0);
	assert_contains(why_job(w, 1, 3 * H + 40 * 60 * SEC),
			"waits: 'a' is reserved by bob for another 1 h 20 min: tuning\n");
	assert_contains(why_machine(w, "a", 0),
			"idle\nreserved by bob for another 5 h: tuning: only "
			"jobs of bob begin\n");
	assert_int_equal(sched_machine_service(&w->s, "a", SCHED_DRAIN, "move", 0), 0);
	assert_contains(why_job(w, 1, 0), "waits: 'a' is drained: no boot begins there: move\n");
	assert_int_equal(sched_machine_service(&w->s, "a", SCHED_MAINTENANCE, NULL, 0), 0);
	assert_contains(why_job(w, 1, 0), "waits: 'a' is in maintenance\n");
	assert_contains(why_machine(w, "a", 0), "in maintenance: no boot begins\n");
}

static void test_pause_dependency_gate_and_budget(void **state)
{
	struct world *w = *state;

	world_up(w, "b", 0);
	one(w, 3, 50, 0);
	world_add(w,
		  &(struct plan){4, 50, "ann", "b", NULL, 2, 1, 1, .seconds = 60, .gate = 1,
				 .after = 3, .budget_ns = 4 * H},
		  0);
	assert_string_equal(why_job(w, 4, 0),
			    "waits for job 3 'nightly' to be over: 3 slots of it are pending\n");
	sched_job_cancelled(&w->s, 3, 0);
	world_pass(w, "b", 60 * SEC);
	assert_string_equal(
		why_job(w, 4, H),
		"waits: the stop rule is being judged on 1 machines\n"
		"b: the stop rule is being judged: block 2 waits for it\n"
		"its budget of 4 h is spent in 3 h; what has not begun then is skipped\n");
	assert_contains(why_slot(w, 4, "b", 4021, H),
			"its next one is in block 2: the stop rule has let blocks up to 1 begin\n");
	assert_int_equal(sched_job_pause(&w->s, 4, true, H), 0);
	assert_contains(why_job(w, 4, H),
			"paused: no boot of it begins before 'kgrid job resume 4'\n");
	assert_contains(why_machine(w, "b", H), "held back: 1 paused jobs, ");
}

static void test_pair_names_both_machines(void **state)
{
	struct world *w = *state;

	world_up(w, "c", 0);
	world_add(w, &(struct plan){1, 50, "ann", "c", "s", 1, 1, 1, .seconds = 60}, 0);
	assert_contains(why_job(w, 1, 0), "waits: it needs both 'c' and 's': 's' is offline\n");
	assert_contains(why_slot(w, 1, "c", 1011, 0),
			"its boots are pairs with 's' as the server\n");
	assert_contains(why_machine(w, "s", 0), "with 'c', which is idle\n");
	world_up(w, "s", 0);
	assert_contains(why_machine(w, "s", 0),
			"busy with job 1 'nightly' as the server of a pair (");
	assert_contains(why_machine(w, "s", 0), "the other side of the pair is boot 1 on 'c'\n");
}

/* Nothing else wants the client's machine: what comes first does so on the server's. */
static void test_pair_says_who_comes_first_on_its_server(void **state)
{
	struct world *w = *state;

	world_up(w, "c", 0);
	world_up(w, "s", 0);
	world_add(w, &(struct plan){7, 80, "bob", "s", NULL, 1, 2, 1, .seconds = 600}, 0);
	world_add(w, &(struct plan){8, 50, "ann", "c", "s", 1, 1, 1, .seconds = 600}, 0);
	sched_order_stored(&w->s, 1, 0);
	world_forget(w);
	assert_contains(why_job(w, 8, 0), "c: waits: it needs both 'c' and 's': 's' is busy with "
					  "job 7 'nightly' (");
	assert_contains(why_job(w, 8, 0),
			"  job 7 'nightly' comes first on 's': score 63.3 against 50.0 (priority "
			"80, submitted 0 s ago, 'bob' has had ");
	assert_contains(why_slot(w, 8, "c", 8011, 0), "job 7 'nightly' comes first on 's': ");
	assert_contains(why_slot(w, 8, "c", 8011, 0), "its score is 50.0: priority 50, ");
}

/* What holds the other machine, not only whether it is busy. */
static void test_machine_says_what_is_in_the_way_of_a_pair(void **state)
{
	struct world *w = *state;

	world_up(w, "c", 0);
	world_up(w, "s", 0);
	assert_int_equal(sched_machine_service(&w->s, "c", SCHED_DRAIN, "move", 0), 0);
	world_add(w, &(struct plan){1, 50, "ann", "c", "s", 1, 1, 1, .seconds = 60}, 0);
	assert_contains(why_machine(w, "s", 0),
			"; but 'c' is drained: no boot begins there: move\n");
	assert_int_equal(sched_machine_service(&w->s, "c", SCHED_NORMAL, NULL, 0), 0);
	world_forget(w);
}

static void test_machine_says_whom_a_reservation_holds_back(void **state)
{
	struct world *w = *state;

	world_up(w, "c", 0);
	world_up(w, "s", 0);
	assert_int_equal(sched_machine_reserve(&w->s, "c", "bob", "tuning", 2 * (int64_t)H, 0), 0);
	world_add(w, &(struct plan){1, 50, "ann", "c", "s", 1, 1, 1, .seconds = 60}, 0);
	assert_contains(why_machine(w, "s", 0),
			"; but 'c' is reserved by bob for another 2 h: tuning\n");
	assert_contains(why_machine(w, "c", 0), "(priority 50, submitted 0 s ago); not while it is "
						"reserved\n");
}

/* Paused, the job is not ready: but it is why the server has nothing to do. */
static void test_machine_counts_what_is_held_back_as_a_server(void **state)
{
	struct world *w = *state;
	struct sched_job *j;

	world_up(w, "s", 0);
	j = world_job(w, &(struct plan){1, 50, "ann", "c", "s", 1, 1, 1, .seconds = 60});
	j->paused = true;
	sched_job_added(&w->s, j, 0);
	assert_contains(why_machine(w, "s", 0), "held back: 1 paused jobs, ");
}

/* A cell that comes later for its submitter's sake says so. */
static void test_slot_says_its_own_score(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	one(w, 1, 50, 0);
	world_add(w, &(struct plan){2, 60, "ann", "a", NULL, 1, 1, 1, .seconds = 60}, 0);
	world_add(w, &(struct plan){3, 40, "bob", "a", NULL, 1, 1, 1, .seconds = 60}, 0);
	sched_order_stored(&w->s, 1, 0);
	assert_contains(why_slot(w, 2, "a", 2011, H), "job 3 'nightly' comes first there: score ");
	assert_contains(why_slot(w, 2, "a", 2011, H),
			"its score is 32.6: priority 60, submitted 1 h ago, 'ann' has had ");
}

static void test_slot_says_tries_and_place(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	one(w, 1, 50, 0);
	assert_contains(why_slot(w, 1, "a", 1011, 0), "runs: boot 1, stage 'dispatch', ");
	assert_contains(why_slot(w, 1, "a", 1031, 0),
			"its next one is in block 1: 1 boots of this job come before it there\n");
	sched_boot_ended(&w->s, 1, KG_OUTCOME_PANIC, "oops", 0);
	assert_contains(why_slot(w, 1, "a", 1011, 0),
			"1 of 1 pending slots were tried before, up to 1 of 3 times\n");
	world_pass(w, "a", SEC);
	assert_contains(why_slot(w, 1, "a", 1021, SEC),
			"waits for nothing: 1 of its slots have their outcome\n");
	world_forget(w);
}

static void test_queue_timeout_is_announced(void **state)
{
	struct world *w = *state;

	world_add(w,
		  &(struct plan){1, 50, "ann", "a", NULL, 1, 1, 1, .seconds = 60,
				 .queue_timeout_ns = 7 * 24 * H},
		  0);
	assert_contains(why_job(w, 1, 24 * H), "a: waits: 'a' is offline; given up in 6 d\n");
}

/* One screen, however large the grid. */
static void test_answers_are_bounded(void **state)
{
	struct world *w = *state;
	struct plan p = {1, 50, "ann", "m0", NULL, 1, 1, 1, .seconds = 60};
	struct sched_job *j = world_job(w, &p);
	char name[16];
	unsigned i;

	for (i = 1; i < 200; i++) {
		(void)snprintf(name, sizeof(name), "m%u", i);
		p.machine = name;
		world_visits(w, j, &p, 1);
	}
	sched_job_added(&w->s, j, 0);
	assert_contains(why_job(w, 1, 0), "waits: 'm0' is offline (and 199 more machines)\n");
	assert_contains(why_job(w, 1, 0), "and 194 more machines; 'kgrid why MACHINE' shows one\n");
	for (i = 2; i < 100; i++)
		world_add(w, &(struct plan){i, 50, "ann", "m0", NULL, 1, 1, 1, .seconds = 60}, 0);
	assert_contains(why_machine(w, "m0", 0), "99 jobs are ready for it, in this order\n"
						 "  job 1 'nightly'");
	assert_contains(why_machine(w, "m0", 0), "  and 94 more\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_what_is_not_here_is_not_found),
		T(test_offline_machine),
		T(test_busy_machine_and_who_comes_first),
		T(test_equal_scores_say_who_was_first),
		T(test_reservation_and_service),
		T(test_pause_dependency_gate_and_budget),
		T(test_pair_names_both_machines),
		T(test_pair_says_who_comes_first_on_its_server),
		T(test_machine_says_what_is_in_the_way_of_a_pair),
		T(test_machine_says_whom_a_reservation_holds_back),
		T(test_machine_counts_what_is_held_back_as_a_server),
		T(test_slot_says_its_own_score),
		T(test_slot_says_tries_and_place),
		T(test_queue_timeout_is_announced),
		T(test_answers_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
