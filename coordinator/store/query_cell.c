/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One cell of a job, with what reproducing it needs. */
#include <errno.h>
#include <stdlib.h>

#include "coordinator/store/query_internal.h"

/* The public struct is the first member: freeing it frees the arena that holds everything. */
struct cell_owner {
	struct store_cell_detail pub;
	struct arena arena;
};

static int say_no_cell(struct db *db, uint64_t job, uint32_t number, struct kg_err *err)
{
	int64_t last = 0;
	int rc = db_int(db, err, "SELECT max(number) FROM cell WHERE job = ?", &last, I(job));

	if (rc < 0)
		return rc;
	return last ? kg_err_set(err, KG_ENOTFOUND, "job %llu has no cell %u, it has 1 to %lld",
				 (unsigned long long)job, number, (long long)last)
		    : kg_err_set(err, KG_ENOTFOUND, "job %llu has no cell",
				 (unsigned long long)job);
}

static int read_cell(struct db *db, struct arena *a, uint64_t job, uint32_t number,
		     struct store_cell_detail *d, struct kg_err *err)
{
	static const char sql[] =
		"SELECT " CELL_COLUMNS ", job.name, job.text, job.file_name, kernel.release,"
		" kernel.config_lsm FROM cell JOIN job ON job.id = cell.job"
		" JOIN kernel ON kernel.digest = cell.kernel"
		" WHERE cell.job = ? AND cell.number = ?";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job), I(number));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0) {
		read_cell_row(a, st, &d->cell);
		d->job = job;
		d->job_name = arena_text(a, db_col_text_or(st, 24, ""));
		d->text = arena_text(a, db_col_text_or(st, 25, ""));
		d->file_name = arena_text(a, db_col_text_or(st, 26, ""));
		d->kernel_release = arena_text(a, db_col_text_or(st, 27, ""));
		d->config_lsm = arena_text(a, db_col_text(st, 28));
	}
	db_reset(st);
	return rc == 0 ? say_no_cell(db, job, number, err) : rc < 0 ? rc : 0;
}

/* As last reported; "" when it never was. */
static int read_base_cmdline(struct db *db, struct arena *a, struct store_cell_detail *d,
			     struct kg_err *err)
{
	Kgrid__V1__MachineFacts *f = NULL;
	sqlite3_stmt *st;
	int rc = db_select(db, err, "SELECT facts FROM machine WHERE name = ?", &st,
			   T(d->cell.machine));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0) {
		const void *bytes = sqlite3_column_blob(st, 0);
		size_t len = (size_t)sqlite3_column_bytes(st, 0);

		f = bytes ? kgrid__v1__machine_facts__unpack(NULL, len, bytes) : NULL;
		if (bytes && !f) /* packed by ourselves: memory, unless somebody edited it */
			rc = reply_oom(err);
	}
	d->base_cmdline = arena_text(a, f && f->base_cmdline ? f->base_cmdline : "");
	if (f)
		kgrid__v1__machine_facts__free_unpacked(f, NULL);
	db_reset(st);
	return rc < 0 ? rc : 0;
}

/* Of the newest attempt at the cell itself; a server's are parts of the client's. */
static int read_argv(struct db *db, struct arena *a, struct store_cell_detail *d,
		     struct kg_err *err)
{
	static const char sql[] =
		"SELECT attempt.argv FROM slot JOIN attempt ON attempt.slot = slot.id"
		" JOIN boot ON boot.id = attempt.boot WHERE slot.cell = ?"
		" AND boot.role <> 'server' AND attempt.argv IS NOT NULL"
		" ORDER BY attempt.id DESC LIMIT 1";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(d->cell.id));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0)
		d->argv = arena_text(a, db_col_text(st, 0));
	db_reset(st);
	return rc < 0 ? rc : 0;
}

static int read_cell_slots(struct db *db, struct arena *a, struct store_cell_detail *d,
			   struct kg_err *err)
{
	static const char sql[] = "SELECT id, block, visit, position, tries, outcome, reason,"
				  " attempt FROM slot WHERE cell = ? ORDER BY block";
	sqlite3_stmt *st;
	size_t n_ids = 0;
	int rc = db_select(db, err, sql, &st, I(d->cell.id));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_slot *s = arena_push(a, &d->slots, &d->n_slots, sizeof(*s));
		uint64_t *id = arena_push(a, &d->slot_ids, &n_ids, sizeof(*id));
		const char *outcome = db_col_text(st, 5);

		if (!s || !id)
			break;
		*id = s->id = (uint64_t)sqlite3_column_int64(st, 0);
		s->cell_index = d->cell.number - 1;
		s->block = (uint32_t)sqlite3_column_int64(st, 1);
		s->visit = (uint32_t)sqlite3_column_int64(st, 2);
		s->position = (uint32_t)sqlite3_column_int64(st, 3);
		s->tries = (uint32_t)sqlite3_column_int64(st, 4);
		s->outcome = outcome ? kg_outcome_parse(outcome) : KG_OUTCOME_NONE;
		s->reason = arena_text(a, db_col_text(st, 6));
		s->attempt = (uint64_t)sqlite3_column_int64(st, 7);
	}
	db_reset(st);
	return rc < 0 ? rc : 0;
}

static int read_detail(struct db *db, struct arena *a, uint64_t job, uint32_t number,
		       struct store_cell_detail *d, struct kg_err *err)
{
	int rc = find_job(db, job, &job, err);

	if (rc == 0)
		rc = read_cell(db, a, job, number, d, err);
	if (rc == 0)
		rc = read_files(db, a, JOB_FILES, job, &d->files, &d->n_files, err);
	if (rc == 0)
		rc = read_base_cmdline(db, a, d, err);
	if (rc == 0)
		rc = read_argv(db, a, d, err);
	if (rc == 0)
		rc = read_cell_slots(db, a, d, err);
	return rc == 0 && a->failed ? reply_oom(err) : rc;
}

int query_cell(struct query *q, uint64_t job, uint32_t number, struct store_cell_detail **ret,
	       struct kg_err *err)
{
	struct cell_owner *o = calloc(1, sizeof(*o));
	struct db *db;
	int rc = o ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db, read_detail(db, &o->arena, job, number, &o->pub, err));
	if (rc < 0)
		store_cell_detail_free(o ? &o->pub : NULL);
	else
		*ret = &o->pub;
	return rc;
}

void store_cell_detail_free(struct store_cell_detail *d)
{
	struct cell_owner *o = (struct cell_owner *)d;

	if (!o)
		return;
	arena_deinit(&o->arena);
	free(o);
}
