/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Standing jobs, and jobs by their name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/str.h"
#include "coordinator/store/query_internal.h"

/* The public struct is the first member: freeing it frees the arena that holds everything. */
struct standings_owner {
	struct store_standings pub;
	struct arena arena;
};

static void read_standing_row(struct arena *a, sqlite3_stmt *st, struct store_standing *s)
{
	s->id = (uint64_t)sqlite3_column_int64(st, 0);
	s->name = arena_text(a, db_col_text_or(st, 1, ""));
	s->user = arena_text(a, db_col_text_or(st, 2, ""));
	s->text = arena_text(a, db_col_text_or(st, 3, ""));
	s->file_name = arena_text(a, db_col_text_or(st, 4, ""));
	s->when = arena_text(a, db_col_text_or(st, 5, ""));
	s->minute = (uint32_t)sqlite3_column_int64(st, 6);
	s->next_ns = sqlite3_column_int64(st, 7);
	s->last_job = (uint64_t)sqlite3_column_int64(st, 8);
	s->last_error = arena_text(a, db_col_text(st, 9));
	s->added_ns = sqlite3_column_int64(st, 10);
}

static int read_standings(struct db *db, struct arena *a, struct store_standings *ret,
			  struct kg_err *err)
{
	static const char sql[] =
		"SELECT id, name, user, text, file_name, due, minute, next_ns, last_job,"
		" last_error, added_ns FROM standing ORDER BY id";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, NIL);

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_standing *s = arena_push(a, &ret->items, &ret->n, sizeof(*s));
		struct store_file *files = NULL;

		if (!s)
			break;
		read_standing_row(a, st, s);
		rc = read_files(db, a,
				"SELECT name, text FROM standing_file WHERE standing = ?"
				" ORDER BY position",
				s->id, &files, &s->n_files, err);
		s->files = files;
		if (rc < 0)
			break;
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

int query_standing(struct query *q, struct store_standings **ret, struct kg_err *err)
{
	struct standings_owner *o = calloc(1, sizeof(*o));
	struct db *db;
	int rc = o ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db, read_standings(db, &o->arena, &o->pub, err));
	if (rc < 0)
		store_standings_free(o ? &o->pub : NULL);
	else
		*ret = &o->pub;
	return rc;
}

void store_standings_free(struct store_standings *s)
{
	struct standings_owner *o = (struct standings_owner *)s;

	if (!o)
		return;
	arena_deinit(&o->arena);
	free(o);
}

/* ---- a job by its name ---- */

/* What there is of that name, though it is over. */
static int say_over(struct db *db, const char *name, struct kg_err *err)
{
	char state[16] = "";
	sqlite3_stmt *st;
	uint64_t id = 0;
	int rc = db_select(db, err,
			   "SELECT id, state FROM job WHERE name = ? ORDER BY id DESC LIMIT 1", &st,
			   T(name));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0) {
		id = (uint64_t)sqlite3_column_int64(st, 0);
		(void)snprintf(state, sizeof(state), "%s", db_col_text_or(st, 1, ""));
	}
	db_reset(st);
	if (rc < 0)
		return rc;
	return id ? kg_err_set(err, KG_ENOTFOUND, "no job '%s' that is not over; job %llu is %s",
			       name, (unsigned long long)id, state)
		  : kg_err_set(err, KG_ENOTFOUND, "no job '%s'; 'kgrid jobs' shows them", name);
}

/* A name that is a number stands before the number of another job. */
static int find_named(struct db *db, const char *selector, uint64_t *ret_job, struct kg_err *err)
{
	int64_t id = 0;
	uint64_t number = 0;
	int rc = db_int(db, err,
			"SELECT id FROM job WHERE state IN ('queued', 'running') AND name = ?"
			" ORDER BY id DESC LIMIT 1",
			&id, T(selector));

	if (rc == 0 && kg_parse_u64(selector, &number) == 0 && number && number <= INT64_MAX)
		return find_job(db, number, ret_job, err);
	if (rc == 0)
		return say_over(db, selector, err);
	*ret_job = (uint64_t)id;
	return rc < 0 ? rc : 0;
}

int query_job_find(struct query *q, const char *selector, uint64_t *ret_job, struct kg_err *err)
{
	uint64_t job = 0;
	struct db *db;
	int rc = query_begin(q, &db, err);

	if (rc < 0)
		return rc;
	rc = query_end(q, db, find_named(db, selector ? selector : "", &job, err));
	if (rc == 0)
		*ret_job = job;
	return rc;
}
