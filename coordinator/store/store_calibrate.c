/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A/A jobs that come again, and summaries of other grids. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/store/op.h"

/* ---- recurring ---- */

static int run_recurring(struct store *s, struct op *op)
{
	static const char sql[] =
		"INSERT INTO recurring (machine, request, every_ns, next_ns, last_job)"
		" VALUES (?1, ?2, ?3, ?4, ?5)"
		" ON CONFLICT (machine) DO UPDATE SET request = ?2, every_ns = ?3, next_ns = ?4,"
		" last_job = ?5";
	const struct store_recurring *r = op->args;
	struct db *db = store_db(s);
	uint8_t *bytes;
	size_t len;
	int rc;

	if (r->every_ns <= 0) {
		rc = db_exec(db, &op->err, "DELETE FROM recurring WHERE machine = ?",
			     T(r->machine));
		if (rc == 0 && db_changes(db) == 0)
			rc = kg_err_set(&op->err, KG_ENOTFOUND,
					"machine '%s' has no calibration that comes again",
					r->machine);
		return rc;
	}
	len = kgrid__v1__calibrate_request__get_packed_size(r->request);
	bytes = malloc(len + 1);
	if (!bytes)
		return kg_err_set(&op->err, -ENOMEM, "out of memory");
	len = kgrid__v1__calibrate_request__pack(r->request, bytes);
	rc = db_exec(db, &op->err, sql, T(r->machine), B(bytes, len), I(r->every_ns), I(r->next_ns),
		     I0(r->last_job));
	free(bytes);
	return rc;
}

int store_recurring_set(struct store *s, const struct store_recurring *r, struct store_done done)
{
	static const Kgrid__V1__CalibrateRequest none = KGRID__V1__CALIBRATE_REQUEST__INIT;
	struct op *op = op_new(run_recurring, r, sizeof(*r), done);
	struct store_recurring *copy = op ? op->args : NULL;

	if (copy) {
		copy->machine = arena_text(&op->arena, r->machine);
		copy->request =
			arena_message(&op->arena, r->request ? &r->request->base : &none.base);
	}
	return op_queue(s, op);
}

/* ---- imports ---- */

struct import_args {
	const char *name;
	const char *text;
	int64_t now_ns;
};

static int run_import(struct store *s, struct op *op)
{
	static const char sql[] = "SELECT id, text = ?2 FROM import WHERE name = ?1";
	const struct import_args *a = op->args;
	struct db *db = store_db(s);
	bool same = false;
	sqlite3_stmt *st;
	int rc = db_select(db, &op->err, sql, &st, T(a->name), T(a->text));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, &op->err);
	if (rc > 0) {
		op->result.existed = true;
		op->result.id = (uint64_t)sqlite3_column_int64(st, 0);
		same = sqlite3_column_int(st, 1) != 0;
	}
	db_reset(st);
	if (rc > 0 && !same)
		rc = kg_err_set(&op->err, KG_EEXISTS,
				"an import '%s' is there with another text; choose another name",
				a->name);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = db_exec(db, &op->err, "INSERT INTO import (name, text, added_ns) VALUES (?, ?, ?)",
		     T(a->name), T(a->text), I(a->now_ns));
	if (rc == 0)
		op->result.id = (uint64_t)sqlite3_last_insert_rowid(db->h);
	return rc;
}

int store_import_add(struct store *s, const char *name, const char *text, int64_t now_ns,
		     struct store_done done)
{
	struct import_args a = {name, text, now_ns};
	struct op *op = op_new(run_import, &a, sizeof(a), done);
	struct import_args *copy = op ? op->args : NULL;

	if (copy) {
		copy->name = arena_text(&op->arena, name);
		copy->text = arena_text(&op->arena, text);
	}
	return op_queue(s, op);
}
