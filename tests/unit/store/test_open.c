/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening: whose file it is, which version, one coordinator only. */
#include "fixture.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"
#include "common/str.h"
#include "coordinator/store/db.h"
#include "coordinator/store/migrate.h"

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fixture_init(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_deinit(*state);
	free(*state);
	return 0;
}

static int try_open(struct fixture *f, struct kg_err *err)
{
	struct store_config c = {.path = f->path, .host_boot_id = "h"};
	struct store *s = NULL;
	int rc = store_open(&c, &s, err);

	store_close(s);
	return rc;
}

static void test_new_file_has_newest_version_and_our_id(void **state)
{
	struct fixture *f = *state;

	fixture_open(f);
	assert_int_equal(fixture_int(f, "PRAGMA user_version"), store_schema_version());
	assert_int_equal(fixture_int(f, "PRAGMA application_id"), STORE_APPLICATION_ID);
	assert_string_equal(fixture_sql(f, "PRAGMA journal_mode"), "wal");
}

static void test_what_was_stored_is_there_after_reopen(void **state)
{
	struct fixture *f = *state;
	struct answer a;

	fixture_open(f);
	fixture_kernels(f);
	assert_int_equal(fixture_job(f, 2, &a), 1);
	fixture_close(f);
	fixture_open(f);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM slot"), 8);
	check_accounting(f, 1, 8);
}

static void test_newer_database_is_refused_and_untouched(void **state)
{
	struct fixture *f = *state;
	struct kg_err err = {""};

	assert_int_equal(try_open(f, &err), 0);
	(void)fixture_sql(f, "PRAGMA user_version = 77");
	assert_int_equal(try_open(f, &err), KG_EVERSION);
	assert_non_null(strstr(err.text, "database is version 77, this kgrid knows up to"));
	assert_int_equal(fixture_int(f, "PRAGMA user_version"), 77);
}

static void test_database_of_another_program_is_refused(void **state)
{
	struct fixture *f = *state;
	struct kg_err err = {""};
	sqlite3 *db;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "CREATE TABLE bookmarks (x)", NULL, NULL, NULL), 0);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	assert_int_equal(try_open(f, &err), KG_EINVALID);
	assert_non_null(strstr(err.text, "another program"));
	assert_string_equal(fixture_sql(f, "PRAGMA journal_mode"), "delete");
}

static void test_file_that_is_no_database_is_refused_and_untouched(void **state)
{
	static const char text[] =
		"these are my notes, and they are longer than a header.........."
		".................................................................";
	struct fixture *f = *state;
	struct kg_err err = {""};
	char *back = NULL;
	size_t len = 0;

	assert_int_equal(kg_file_replace(f->path, text, sizeof(text), 0600, &err), 0);
	assert_int_equal(try_open(f, &err), KG_EINVALID);
	assert_non_null(strstr(err.text, "not a kgrid database"));
	assert_int_equal(kg_file_read(f->path, 4096, &back, &len, &err), 0);
	assert_int_equal(len, sizeof(text));
	assert_memory_equal(back, text, len);
	free(back);
}

static void test_second_coordinator_is_refused(void **state)
{
	struct fixture *f = *state;
	struct kg_err err = {""};

	fixture_open(f);
	assert_int_equal(try_open(f, &err), KG_EBUSY);
	assert_non_null(strstr(err.text, "in use by another coordinator, process "));
	fixture_close(f);
	assert_int_equal(try_open(f, &err), 0);
}

static void test_missing_directory_is_said(void **state)
{
	struct fixture *f = *state;
	struct kg_err err = {""};
	struct store_config c = {.path = "/nonexistent/kgrid.db"};
	struct store *s = NULL;

	(void)f;
	assert_int_equal(store_open(&c, &s, &err), -2);
	assert_non_null(strstr(err.text, "/nonexistent/kgrid.db.lock"));
}

static const struct store_migration two[] = {
	{1, "001_a.sql",
	 "CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT; INSERT INTO t VALUES (1);"},
	{2, "002_b.sql", "ALTER TABLE t ADD COLUMN more TEXT; INSERT INTO t VALUES (2, 'x');"},
};
static const struct store_migration broken[] = {
	{1, "001_a.sql",
	 "CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT; INSERT INTO t VALUES (1);"},
	{2, "002_b.sql",
	 "CREATE TABLE u (t INTEGER REFERENCES t (id)) STRICT;"
	 "INSERT INTO u VALUES (1); INSERT INTO u VALUES (99);"},
};

static int migrate_to(struct fixture *f, const struct store_migration *m, size_t n,
		      struct kg_err *err)
{
	struct db db;
	int rc = db_open_writer(&db, f->path, err);

	assert_int_equal(rc, 0);
	rc = store_migrate(&db, f->path, m, n, err);
	db_close(&db);
	return rc;
}

static void test_upgrade_keeps_rows_and_leaves_a_backup(void **state)
{
	struct fixture *f = *state;
	struct kg_err err = {""};
	char path[256];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s.v1.backup", f->path);
	assert_int_equal(migrate_to(f, two, 1, &err), 0);
	assert_int_equal(stat(path, &st), -1); /* a new file needs none */
	assert_int_equal(migrate_to(f, two, 2, &err), 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM t"), 2);
	assert_int_equal(fixture_int(f, "PRAGMA user_version"), 2);
	assert_int_equal(rename(path, f->path), 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM t"), 1);
	assert_int_equal(fixture_int(f, "PRAGMA user_version"), 1);
}

static void test_failed_migration_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct kg_err err = {""};

	assert_int_equal(migrate_to(f, broken, 1, &err), 0);
	assert_int_equal(migrate_to(f, broken, 2, &err), KG_ECORRUPT);
	assert_non_null(strstr(err.text, "migration '002_b.sql': a row of 'u' refers to nothing"));
	assert_int_equal(fixture_int(f, "PRAGMA user_version"), 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM sqlite_schema WHERE name = 'u'"), 0);
}

/* KGRID_UPDATE=1 writes the file anew. */
static void test_current_sql_is_what_the_migrations_make(void **state)
{
	struct fixture *f = *state;
	struct kg_str s = {0};
	struct kg_err err = {""};
	sqlite3_stmt *st;
	sqlite3 *db;
	char *file = NULL;
	size_t len = 0;

	assert_int_equal(try_open(f, &err), 0);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
					    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
					    " AND name NOT LIKE 'sqlite_%' ORDER BY tbl_name,"
					    " type DESC, name",
					    -1, &st, NULL),
			 SQLITE_OK);
	kg_str_add(&s, "-- SPDX-License-Identifier: GPL-2.0-or-later\n"
		       "-- What the migrations make, for review. Not read by the program.\n");
	while (sqlite3_step(st) == SQLITE_ROW)
		kg_str_addf(&s, "\n%s;\n", (const char *)sqlite3_column_text(st, 0));
	(void)sqlite3_finalize(st);
	(void)sqlite3_close(db);
	if (getenv("KGRID_UPDATE"))
		assert_int_equal(
			kg_file_replace(KGRID_SCHEMA "/current.sql", s.text, s.len, 0644, &err), 0);
	assert_int_equal(kg_file_read(KGRID_SCHEMA "/current.sql", 1 << 20, &file, &len, &err), 0);
	assert_string_equal(file, s.text);
	free(file);
	kg_str_deinit(&s);
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_new_file_has_newest_version_and_our_id),
		T_(test_what_was_stored_is_there_after_reopen),
		T_(test_newer_database_is_refused_and_untouched),
		T_(test_database_of_another_program_is_refused),
		T_(test_file_that_is_no_database_is_refused_and_untouched),
		T_(test_second_coordinator_is_refused),
		T_(test_missing_directory_is_said),
		T_(test_upgrade_keeps_rows_and_leaves_a_backup),
		T_(test_failed_migration_changes_nothing),
		T_(test_current_sql_is_what_the_migrations_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
