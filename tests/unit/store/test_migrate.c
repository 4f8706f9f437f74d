/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A database of kgrid 0.1.0 (tests/data/db) is brought up to date: nothing is lost, nothing that was
 * not recorded is made up. */
#include "fixture.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/file.h"

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct kg_err err = {""};
	char *text = NULL;
	size_t len = 0;
	sqlite3 *db;

	fixture_init(f);
	if (kg_file_read(KGRID_TEST_DATA "/db/0.1.0.sql", 1 << 20, &text, &len, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	free(text);
	assert_int_equal(fixture_int(f, "PRAGMA user_version"), 1);
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
	(void)snprintf(path, sizeof(path), "%s.v1.backup", f->path);
	assert_int_equal(stat(path, &st), 0);
	fixture_close(f);
	assert_int_equal(rename(path, f->path), 0);
	assert_int_equal(fixture_int(f, "PRAGMA user_version"), 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM sample"), 35);
	assert_string_equal(fixture_sql(f, "SELECT name FROM sqlite_schema WHERE name = 'epoch'"),
			    "");
}

static void test_jobs_samples_and_accounting_are_there(void **state)
{
	struct fixture *f = *state;
	struct store_job *j = NULL;
	Kgrid__V1__JobReply *job = NULL;
	struct kg_err err = {""};

	check_accounting(f, 1, 12);
	check_accounting(f, 2, 4);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM sample"), 35);
	assert_int_equal(query_job(f->q, 1, &job, &err), 0);
	assert_string_equal(job->job->state, "done");
	assert_int_equal(job->n_slots, 12);
	kgrid__v1__job_reply__free_unpacked(job, NULL);
	assert_int_equal(query_job_load(f->q, 2, &j, &err), 0);
	assert_int_equal(j->kind, STORE_JOB_NORMAL);
	assert_true(j->regression == 0);
	store_job_free(j);
}

static void test_comparison_is_what_it_was_and_knows_no_epoch(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__CompareReply *r = NULL;
	struct kg_err err = {""};
	Kgrid__V1__CompareCell *c;

	rq.has_job = 1;
	rq.job = 1;
	rq.has_values = rq.values = 1;
	if (query_compare(f->q, &rq, &r, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(r->n_tables, 1);
	assert_string_equal(r->tables[0]->cpu_vendor, "AuthenticAMD");
	assert_string_equal(r->tables[0]->microarchitecture, "Zen3");
	c = r->tables[0]->rows[0]->cells[0];
	assert_int_equal(c->boots, 2);
	assert_true(fabs(c->value - 101) < 1e-9);
	assert_string_not_equal(r->tables[0]->rows[0]->cells[1]->verdict, "incomparable");
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM boot WHERE epoch IS NOT NULL"), 0);
}

static void on_block(void *arg, uint64_t job, const char *machine, uint32_t block)
{
	(void)job;
	(void)machine;
	(void)block;
	(*(unsigned *)arg)++;
}

static void test_old_blocks_are_not_looked_at_by_themselves(void **state)
{
	struct fixture *f = *state;
	struct kg_err err = {""};
	unsigned n = 0;

	assert_int_equal(query_undetected(f->q, 0, on_block, &n, &err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM detection WHERE job = 1"), 3);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM detection WHERE job = 2"), 0);
}

static void test_an_old_machine_enters_its_first_epoch(void **state)
{
	static const char *const facts[] = {"cpu.microcode", "0x1", NULL};
	struct fixture *f = *state;

	assert_int_equal(fixture_boot(f, 6, 2, (uint64_t[]){13, 14}, 2), 0);
	must_ingest(f, MACHINE, record_evidence(6, 1, 1));
	must_ingest(f, MACHINE, record_provenance(6, 2, 0, "boot", facts));
	assert_int_equal(fixture_int(f, "SELECT epoch FROM boot WHERE id = 6"), 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM event WHERE kind = 'epoch'"), 0);
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_version_is_new_and_the_old_file_is_kept),
		T_(test_jobs_samples_and_accounting_are_there),
		T_(test_comparison_is_what_it_was_and_knows_no_epoch),
		T_(test_old_blocks_are_not_looked_at_by_themselves),
		T_(test_an_old_machine_enters_its_first_epoch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
