/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One SQLite connection with its prepared statements, and values bound by type. Inside the store
 * only.
 *
 * SQL texts are static strings: a statement is prepared once per text address and kept. A
 * statement that db_select gave is in use until db_reset.
 */
#ifndef KG_COORDINATOR_STORE_DB_H
#define KG_COORDINATOR_STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "common/err.h"

#define DB_STATEMENTS_MAX 256 /* a power of two, more than there are texts */

struct db {
	sqlite3 *h;
	struct {
		const char *sql; /* key: its address */
		sqlite3_stmt *st;
	} cache[DB_STATEMENTS_MAX];
};

enum db_type { DB_NULL, DB_INT, DB_REAL, DB_TEXT, DB_BLOB };

struct db_val {
	enum db_type type;
	int64_t i;
	double d;
	const void *p;
	size_t len;
};

#define I(x)	((struct db_val){.type = DB_INT, .i = (int64_t)(x)})
#define D(x)	((struct db_val){.type = DB_REAL, .d = (x)})
#define T(x)	db_text(x)
#define TE(x)	db_text((x) ? (x) : "") /* NULL is as good as an empty text */
#define B(x, n) ((struct db_val){.type = DB_BLOB, .p = (x), .len = (n)})
#define NIL	((struct db_val){.type = DB_NULL})
/* 0 stands for none */
#define I0(x) ((struct db_val){.type = (x) ? DB_INT : DB_NULL, .i = (int64_t)(x)})

static inline struct db_val db_text(const char *s)
{
	return (struct db_val){.type = s ? DB_TEXT : DB_NULL, .p = s};
}

#define DB_VALS(...)                            \
	((const struct db_val[]){__VA_ARGS__}), \
		(sizeof((const struct db_val[]){__VA_ARGS__}) / sizeof(struct db_val))

/* Runs a statement to its end. 0 or a code, with SQLite's own words in the text. */
#define db_exec(db, err, sql, ...) db_exec_vals((db), (err), (sql), DB_VALS(__VA_ARGS__))
/* Begins a query; then db_step (1: a row, 0: no more, or a code) and db_reset in every case. */
#define db_select(db, err, sql, ret_st, ...) \
	db_select_vals((db), (err), (sql), (ret_st), DB_VALS(__VA_ARGS__))
/* One integer of one row; *ret is left as it is when there is no row or the value is NULL. 1: a row
 * was there, 0: none, or a code. */
#define db_int(db, err, sql, ret, ...) db_int_vals((db), (err), (sql), (ret), DB_VALS(__VA_ARGS__))

int db_exec_vals(struct db *db, struct kg_err *err, const char *sql, const struct db_val *v,
		 size_t n);
int db_select_vals(struct db *db, struct kg_err *err, const char *sql, sqlite3_stmt **ret_st,
		   const struct db_val *v, size_t n);
int db_int_vals(struct db *db, struct kg_err *err, const char *sql, int64_t *ret,
		const struct db_val *v, size_t n);
int db_prepare(struct db *db, struct kg_err *err, const char *sql, sqlite3_stmt **ret_st);
int db_step(struct db *db, sqlite3_stmt *st, struct kg_err *err);
void db_reset(sqlite3_stmt *st);

/* SQL without values, not kept: pragmas, scripts. */
int db_script(struct db *db, struct kg_err *err, const char *sql);
/* Code for what the connection's last call answered, with the text; see db.c for the table. */
int db_error(struct db *db, struct kg_err *err, int sqlite_rc);
/* Whether a code means that the transaction, not the operation, failed. */
bool db_code_is_fatal(int code);

int64_t db_changes(struct db *db);

/* Column access: NULL text stays NULL; borrows until the next step. */
const char *db_col_text(sqlite3_stmt *st, int i);
const char *db_col_text_or(sqlite3_stmt *st, int i, const char *preset);

/* Opens with pragmas. */
int db_open_writer(struct db *db, const char *path, struct kg_err *err);
int db_open_reader(struct db *db, const char *path, struct kg_err *err);
void db_close(struct db *db);

#endif
