/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each allocation fails in turn: nothing is lost, and the next tick goes on. */
#include "tests/unit/schedule/world.h"

#include <errno.h>

#include "tests/lib/alloc_fault.h"

static const struct plan pair = {1, 50, "ann", "c", "s", 2, 2, 2, .seconds = 60};

/* Plays every open boot to its end; false: nothing was open. */
static bool play(struct world *w, uint64_t now)
{
	struct sched_machine *m;
	bool any = false;

	for (m = w->s.machines; m; m = m->next) {
		struct sched_boot *b = m->boot;
		uint64_t id = b ? b->id : 0;
		size_t i;

		if (!b)
			continue;
		any = true;
		sched_order_stored(&w->s, id, now);
		for (i = 0; i < b->n_attempts; i++)
			sched_attempt_ended(&w->s, id, b->attempts[i].id, KG_OUTCOME_PASS,
					    "a reason that may be lost", now);
		world_balance(w);
		sched_boot_ended(&w->s, id, KG_OUTCOME_PASS, NULL, now);
		world_balance(w);
		w->log[0] = '\0';
	}
	return any;
}

/* Everything after the jobs were made: begins, reservations, closes, reasons. */
static void live(struct world *w)
{
	uint64_t now = SEC;
	unsigned i;

	(void)sched_machine_reserve(&w->s, "c", "ann", "why", 1, now);
	(void)sched_machine_service(&w->s, "s", SCHED_DRAIN, "why", now);
	(void)sched_machine_service(&w->s, "s", SCHED_NORMAL, "", now);
	world_up(w, "c", now);
	world_up(w, "s", now);
	sched_close(&w->s, 2, "c", KG_OUTCOME_SKIPPED, "narrow enough", now);
	sched_evidence(&w->s, 1, false, KG_OUTCOME_PANIC, "oops", now);
	for (i = 0; i < 60 && w->s.jobs; i++) {
		(void)play(w, now);
		now += SEC;
		sched_tick(&w->s, now);
	}
	assert_null(w->s.jobs);
}

static void test_whatever_fails_all_jobs_end(void **state)
{
	unsigned n = 0;
	bool fired;

	(void)state;
	do {
		void *st = NULL;
		struct world *w;
		struct sched_job *j, *k;

		assert_int_equal(world_setup(&st), 0);
		w = st;
		j = world_job(w, &pair);
		k = world_job(w, &(struct plan){2, 50, "bob", "c", NULL, 1, 3, 1, .seconds = 60});
		alloc_fault_arm(++n);
		sched_job_added(&w->s, j, 0);
		sched_job_added(&w->s, k, 0);
		live(w);
		fired = alloc_fault_disarm();
		assert_int_equal(world_teardown(&st), 0);
	} while (fired);
	assert_true(n > 5);
}

static int load(struct world *w)
{
	struct sched_policy p = sched_policy_default;
	struct sched_share share = {"ann", 2};
	struct sched_job *j;
	struct sched_visit *v;
	int rc;

	p.shares = &share;
	p.n_shares = 1;
	rc = sched_set_policy(&w->s, &p);
	if (rc == 0)
		rc = sched_usage_add(&w->s, "bob", SEC, 0);
	j = rc == 0 ? sched_job_new(1, 50, SCHED_JOB_QUEUED) : NULL;
	if (!j)
		return -ENOMEM;
	rc = sched_job_set_texts(j, "name", "user");
	if (rc == 0)
		rc = sched_job_add_after(j, 7);
	v = rc == 0 ? sched_job_add_visit(
			      &w->s, j, "c",
			      &(struct sched_visit){.block = 1, .visit = 1, .peer = (char *)"s"})
		    : NULL;
	rc = v ? sched_visit_add_slot(v, &(struct sched_slot){.id = 1}) : -ENOMEM;
	sched_job_free(j);
	return rc;
}

static void test_job_that_cannot_be_made_leaves_nothing(void **state)
{
	unsigned n = 0;
	int rc;

	(void)state;
	do {
		void *st = NULL;

		assert_int_equal(world_setup(&st), 0);
		alloc_fault_arm(++n);
		rc = load(st);
		assert_int_equal(rc, alloc_fault_disarm() ? -ENOMEM : 0);
		assert_int_equal(world_teardown(&st), 0);
	} while (rc < 0);
	assert_true(n > 20);
}

static void test_answers_are_whole_or_refused(void **state)
{
	struct world *w = *state;
	unsigned n = 0;
	bool fired;

	world_add(w, &pair, 0);
	do {
		struct kg_texts lines = {0};
		int rc;

		alloc_fault_arm(++n);
		rc = sched_why_job(&w->s, 1, 0, &lines);
		fired = alloc_fault_disarm();
		assert_int_equal(rc, fired ? -ENOMEM : 0);
		assert_int_equal(lines.n > 0, !fired);
		kg_texts_deinit(&lines);
	} while (fired);
	assert_true(n > 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whatever_fails_all_jobs_end),
		cmocka_unit_test(test_job_that_cannot_be_made_leaves_nothing),
		T(test_answers_are_whole_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
