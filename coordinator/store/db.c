/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/store/db.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

static int code_of(int sqlite_rc)
{
	switch (sqlite_rc & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return -EACCES;
	case SQLITE_CORRUPT:
		return KG_ECORRUPT;
	case SQLITE_NOTADB:
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_TOOBIG:
	case SQLITE_RANGE:
		return KG_EINVALID;
	default:
		return -EIO;
	}
}

int db_error(struct db *db, struct kg_err *err, int sqlite_rc)
{
	return kg_err_set(err, code_of(sqlite_rc), "database: %s",
			  db->h ? sqlite3_errmsg(db->h) : sqlite3_errstr(sqlite_rc));
}

bool db_code_is_fatal(int code)
{
	return code < 0 && code > -5000 ? true : code == KG_ECORRUPT;
}

static size_t slot_of(const char *sql)
{
	uintptr_t x = (uintptr_t)sql;

	return (size_t)((x >> 4) * 0x9e3779b97f4a7c15ULL >> 32) & (DB_STATEMENTS_MAX - 1);
}

int db_prepare(struct db *db, struct kg_err *err, const char *sql, sqlite3_stmt **ret_st)
{
	size_t i = slot_of(sql);
	int rc;

	for (size_t tried = 0; db->cache[i].sql && db->cache[i].sql != sql; tried++) {
		assert(tried < DB_STATEMENTS_MAX);
		i = (i + 1) & (DB_STATEMENTS_MAX - 1);
	}
	if (!db->cache[i].sql) {
		sqlite3_stmt *st;

		rc = sqlite3_prepare_v3(db->h, sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL);
		if (rc != SQLITE_OK)
			return db_error(db, err, rc);
		db->cache[i].sql = sql;
		db->cache[i].st = st;
	}
	*ret_st = db->cache[i].st;
	return 0;
}

static int bind_one(sqlite3_stmt *st, int at, const struct db_val *v)
{
	switch (v->type) {
	case DB_INT:
		return sqlite3_bind_int64(st, at, v->i);
	case DB_REAL:
		return sqlite3_bind_double(st, at, v->d);
	case DB_TEXT:
		return sqlite3_bind_text(st, at, v->p, -1, SQLITE_STATIC);
	case DB_BLOB:
		/* An empty blob is not NULL. */
		return sqlite3_bind_blob64(st, at, v->len ? v->p : "", v->len, SQLITE_STATIC);
	default:
		return sqlite3_bind_null(st, at);
	}
}

int db_select_vals(struct db *db, struct kg_err *err, const char *sql, sqlite3_stmt **ret_st,
		   const struct db_val *v, size_t n)
{
	sqlite3_stmt *st;
	int rc = db_prepare(db, err, sql, &st);

	if (rc < 0)
		return rc;
	assert(!sqlite3_stmt_busy(st));
	for (size_t i = 0; i < n; i++) {
		if (v[i].type == DB_NULL && sqlite3_bind_parameter_count(st) == 0)
			continue; /* NIL stands for "no values" */
		rc = bind_one(st, (int)i + 1, &v[i]);
		if (rc != SQLITE_OK) {
			rc = db_error(db, err, rc);
			db_reset(st);
			return rc;
		}
	}
	*ret_st = st;
	return 0;
}

int db_step(struct db *db, sqlite3_stmt *st, struct kg_err *err)
{
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_DONE ? 0 : db_error(db, err, rc);
}

void db_reset(sqlite3_stmt *st)
{
	(void)sqlite3_reset(st);
	(void)sqlite3_clear_bindings(st);
}

int db_exec_vals(struct db *db, struct kg_err *err, const char *sql, const struct db_val *v,
		 size_t n)
{
	sqlite3_stmt *st;
	int rc = db_select_vals(db, err, sql, &st, v, n);

	if (rc < 0)
		return rc;
	do
		rc = db_step(db, st, err);
	while (rc > 0);
	db_reset(st);
	return rc;
}

int db_int_vals(struct db *db, struct kg_err *err, const char *sql, int64_t *ret,
		const struct db_val *v, size_t n)
{
	sqlite3_stmt *st;
	int rc = db_select_vals(db, err, sql, &st, v, n);

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0 && sqlite3_column_type(st, 0) != SQLITE_NULL)
		*ret = sqlite3_column_int64(st, 0);
	db_reset(st);
	return rc;
}

int db_script(struct db *db, struct kg_err *err, const char *sql)
{
	int rc = sqlite3_exec(db->h, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : db_error(db, err, rc);
}

int64_t db_changes(struct db *db)
{
	return sqlite3_changes64(db->h);
}

const char *db_col_text(sqlite3_stmt *st, int i)
{
	return (const char *)sqlite3_column_text(st, i);
}

const char *db_col_text_or(sqlite3_stmt *st, int i, const char *preset)
{
	const char *text = db_col_text(st, i);

	return text ? text : preset;
}

static int open_with(struct db *db, const char *path, int flags, const char *pragmas,
		     struct kg_err *err)
{
	int rc;

	memset(db, 0, sizeof(*db));
	rc = sqlite3_open_v2(path, &db->h, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
			     NULL);
	if (rc != SQLITE_OK) {
		rc = db_error(db, err, rc);
		db_close(db);
		return kg_err_wrap(err, rc, "cannot open '%s'", path);
	}
	(void)sqlite3_busy_timeout(db->h, 5000);
	(void)sqlite3_db_config(db->h, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(db->h, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	if (!(flags & SQLITE_OPEN_READONLY) && sqlite3_db_readonly(db->h, "main") == 1) {
		db_close(db);
		return kg_err_set(err, -EROFS, "'%s' cannot be written to", path);
	}
	rc = db_script(db, err, pragmas);
	if (rc < 0) {
		db_close(db);
		if (rc == KG_EINVALID)
			return kg_err_set(err, rc, "'%s' is not a kgrid database", path);
		return kg_err_wrap(err, rc, "cannot open '%s'", path);
	}
	return 0;
}

int db_open_writer(struct db *db, const char *path, struct kg_err *err)
{
	return open_with(db, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
			 "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768;", err);
}

int db_open_reader(struct db *db, const char *path, struct kg_err *err)
{
	return open_with(db, path, SQLITE_OPEN_READONLY,
			 "PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;"
			 "PRAGMA cache_size = -16384;",
			 err);
}

void db_close(struct db *db)
{
	for (size_t i = 0; i < DB_STATEMENTS_MAX; i++)
		(void)sqlite3_finalize(db->cache[i].st);
	(void)sqlite3_close(db->h);
	memset(db, 0, sizeof(*db));
}
