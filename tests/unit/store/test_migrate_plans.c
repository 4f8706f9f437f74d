/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A database of kgrid 0.2.0 (tests/data/db) is brought up to date: nothing is lost, and what is new is
 * as if it had been so all the time. */
#include "fixture.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/file.h"

#define FIRST_NS 1796000000000000000LL
#define SECOND	 1000000000LL

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct kg_err err = {""};
	char *text = NULL;
	size_t len = 0;
	sqlite3 *db;

	fixture_init(f);
	if (kg_file_read(KGRID_TEST_DATA "/db/0.2.0.sql", 1 << 20, &text, &len, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	free(text);
	assert_int_equal(fixture_int(f, "PRAGMA user_version"), 2);
	fixture_open(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_deinit(*state);
	free(*state);
	return 0;
}

static void test_version_is_new_and_the_old_file_is_kept(void **state)
{
	struct fixture *f = *state;
	char path[256];
	struct stat st;

	assert_int_equal(fixture_int(f, "PRAGMA user_version"), store_schema_version());
	assert_string_equal(fixture_sql(f, "PRAGMA integrity_check"), "ok");
	assert_string_equal(fixture_sql(f, "PRAGMA foreign_key_check"), "");
	(void)snprintf(path, sizeof(path), "%s.v2.backup", f->path);
	assert_int_equal(stat(path, &st), 0);
	fixture_close(f);
	assert_int_equal(rename(path, f->path), 0);
	assert_int_equal(fixture_int(f, "PRAGMA user_version"), 2);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM sample"), 72);
	assert_string_equal(
		fixture_sql(f, "SELECT name FROM sqlite_schema WHERE name = 'standing'"), "");
}

static void test_jobs_go_on_with_numbered_cells_and_no_new_rules(void **state)
{
	struct fixture *f = *state;
	struct store_snapshot *s = NULL;
	struct kg_err err = {""};
	const struct store_job *j;

	check_accounting(f, 1, 24);
	check_accounting(f, 2, 8);
	assert_int_equal(query_snapshot(f->q, &s, &err), 0);
	assert_int_equal(s->n_jobs, 1);
	j = &s->jobs[0];
	assert_int_equal(j->id, 2);
	assert_int_equal(j->state, STORE_JOB_RUNNING);
	assert_string_equal(j->user, "");
	assert_false(j->paused);
	assert_int_equal(j->blocks_min, 0);
	assert_int_equal(j->budget_ns + j->queue_timeout_ns + j->standing + j->hop_s, 0);
	assert_int_equal(j->queued_ns, j->submitted_ns);
	assert_true(j->started_ns == FIRST_NS + 95 * SECOND);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(j->cells[i].number, i + 1); /* ids are 5 to 8 */
		assert_int_equal(j->cells[i].id, i + 5);
		assert_string_equal(j->cells[i].variant, "");
		assert_string_equal(j->cells[i].settings, "");
		assert_string_equal(j->cells[i].peer, "");
		assert_false(j->cells[i].canary || j->cells[i].leave_by_reboot);
	}
	assert_int_equal(s->n_boots, 1);
	assert_int_equal(s->boots[0].id, 14);
	assert_string_equal(s->boots[0].role, "");
	assert_string_equal(s->boots[0].settings, "");
	assert_int_equal(s->boots[0].pair, 0);
	assert_string_equal(s->machines[0].service, "normal");
	assert_null(s->machines[0].reserved_by);
	store_snapshot_free(s);
}

static void test_comparison_and_regressions_are_what_they_were(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__RegressionsRequest rr = KGRID__V1__REGRESSIONS_REQUEST__INIT;
	Kgrid__V1__RegressionsReply *regressions = NULL;
	Kgrid__V1__CompareReply *r = NULL;
	struct kg_err err = {""};
	Kgrid__V1__CompareCell *c;

	rq.has_job = 1;
	rq.job = 1;
	if (query_compare(f->q, &rq, &r, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(r->n_tables, 1);
	assert_string_equal(r->tables[0]->columns[0]->lsm, "full");
	assert_string_equal(r->tables[0]->columns[0]->lsm_request, "apparmor");
	c = r->tables[0]->rows[0]->cells[1];
	assert_int_equal(c->boots, 6);
	assert_true(fabs(c->value - 90.5) < 1e-9);
	assert_string_equal(c->verdict, "regression");
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
	assert_int_equal(query_regressions(f->q, &rr, &regressions, &err), 0);
	assert_int_equal(regressions->n_regressions, 1);
	assert_int_equal(regressions->regressions[0]->n_members, 1);
	kgrid__v1__regressions_reply__free_unpacked(regressions, NULL);
}

static void test_old_runs_are_history_for_plans(void **state)
{
	struct fixture *f = *state;
	struct store_history *h = NULL;
	struct store_usages *u = NULL;
	struct kg_err err = {""};

	/* The newest epoch has no boot that passed yet. */
	assert_int_equal(query_plan_history(f->q, NULL, 0, FIRST_NS + 200 * SECOND, &h, &err), 0);
	assert_int_equal(h->n_paces, 0);
	store_history_free(h);
	(void)fixture_sql(f, "UPDATE boot SET epoch = 2");
	assert_int_equal(query_plan_history(f->q, NULL, 0, FIRST_NS + 200 * SECOND, &h, &err), 0);
	assert_int_equal(h->n_paces, 2);
	assert_int_equal(h->paces[0].attempts, 12);
	assert_int_equal(h->hops[0].boots, 12);
	assert_int_equal(h->n_spreads, 2);
	store_history_free(h);
	assert_int_equal(query_usage(f->q, 0, FIRST_NS + 200 * SECOND, 0, &u, &err), 0);
	assert_int_equal(u->n, 1);
	assert_true(u->items[0].used_ns == (12 * 4 + 5) * (uint64_t)SECOND);
	store_usages_free(u);
}

static void test_an_old_job_is_extended_and_closed_as_a_new_one(void **state)
{
	static const struct store_slot slots[] = {
		{.cell_index = 3, .block = 3, .visit = 5, .position = 1}};
	struct fixture *f = *state;
	struct store_job_extend x = {
		.job = 2, .first_block = 3, .n_blocks = 1, .slots = slots, .n_slots = 1};
	struct store_job_close c = {.job = 2, .outcome = KG_OUTCOME_SKIPPED, .reason = "enough"};
	struct answer a;

	assert_int_equal(RUN(f, &a, store_job_extend(f->s, &x, answer_done(&a))), 0);
	assert_int_equal(fixture_int(f, "SELECT cell FROM slot WHERE block = 3 AND job = 2"), 8);
	assert_int_equal(RUN(f, &a, store_job_close(f->s, &c, answer_done(&a))), 0);
	assert_int_equal(a.r.count, 6); /* all but the one that failed and the open boot's two */
	check_accounting(f, 2, 9);
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_version_is_new_and_the_old_file_is_kept),
		T_(test_jobs_go_on_with_numbered_cells_and_no_new_rules),
		T_(test_comparison_and_regressions_are_what_they_were),
		T_(test_old_runs_are_history_for_plans),
		T_(test_an_old_job_is_extended_and_closed_as_a_new_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
