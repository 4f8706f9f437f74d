/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs that are made again and again: when a kernel is added, or every night. */
#include <errno.h>

#include "common/str.h"
#include "coordinator/store/store_job.h"

static int standing_event(struct db *db, int64_t id, uint64_t job, const char *name,
			  const char *what, int64_t now_ns, struct kg_err *err)
{
	struct store_event e = {.time_ns = now_ns, .job = job, .kind = "standing"};
	struct kg_str text = {0};
	int rc;

	kg_str_addf(&text, "%lld '%s': %s", (long long)id, name, what);
	e.text = kg_str_text(&text);
	rc = text.failed ? kg_err_set(err, -ENOMEM, "out of memory") : event_insert(db, err, &e);
	kg_str_deinit(&text);
	return rc;
}

/* Name of a standing job; KG_ENOTFOUND. Owned by `ret`. */
static int standing_name(struct db *db, uint64_t id, struct kg_str *ret, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err, "SELECT name FROM standing WHERE id = ?", &st, I(id));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0)
		kg_str_add(ret, db_col_text_or(st, 0, ""));
	db_reset(st);
	if (rc == 0)
		return kg_err_set(err, KG_ENOTFOUND, "no standing job %llu",
				  (unsigned long long)id);
	if (rc > 0 && ret->failed)
		return kg_err_set(err, -ENOMEM, "out of memory");
	return rc < 0 ? rc : 0;
}

/* ---- add ---- */

struct add_args {
	struct store_standing x;
	int64_t now_ns;
};

static int same_files(struct db *db, int64_t id, const struct store_standing *x, bool *ret,
		      struct kg_err *err)
{
	int64_t n = 0;
	int rc =
		db_int(db, err, "SELECT count(*) FROM standing_file WHERE standing = ?", &n, I(id));

	*ret = rc >= 0 && (uint64_t)n == x->n_files;
	for (size_t i = 0; rc >= 0 && *ret && i < x->n_files; i++) {
		rc = db_int(db, err,
			    "SELECT 1 FROM standing_file WHERE standing = ? AND position = ?"
			    " AND name = ? AND text = ?",
			    &n, I(id), I(i), TE(x->files[i].name), TE(x->files[i].text));
		*ret = rc > 0;
	}
	return rc < 0 ? rc : 0;
}

/* The one of the same user with the same text and files; 0: none. */
static int find_same(struct db *db, const struct store_standing *x, int64_t *ret,
		     struct kg_err *err)
{
	static const char sql[] = "SELECT id FROM standing WHERE user = ? AND text = ? AND id > ?"
				  " ORDER BY id LIMIT 1";
	int64_t id = 0;
	bool same = false;
	int rc;

	while ((rc = db_int(db, err, sql, &id, TE(x->user), TE(x->text), I(id))) > 0) {
		rc = same_files(db, id, x, &same, err);
		if (rc < 0)
			return rc;
		if (same) {
			*ret = id;
			return 0;
		}
	}
	return rc;
}

static int insert_standing(struct db *db, const struct add_args *a, int64_t *ret_id,
			   struct kg_err *err)
{
	static const char sql[] = "INSERT INTO standing (name, user, text, file_name, due, minute,"
				  " next_ns, added_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
	const struct store_standing *x = &a->x;
	int rc = db_exec(db, err, sql, TE(x->name), TE(x->user), TE(x->text), TE(x->file_name),
			 T(x->when), I(x->minute), I(x->next_ns), I(a->now_ns));

	*ret_id = sqlite3_last_insert_rowid(db->h);
	for (size_t i = 0; rc == 0 && i < x->n_files; i++)
		rc = db_exec(db, err,
			     "INSERT INTO standing_file (standing, position, name, text)"
			     " VALUES (?, ?, ?, ?)",
			     I(*ret_id), I(i), TE(x->files[i].name), TE(x->files[i].text));
	return rc;
}

static int run_add(struct store *s, struct op *op)
{
	const struct add_args *a = op->args;
	struct db *db = store_db(s);
	int64_t id = 0;
	int rc;

	if (!kg_streq(a->x.when, "kernel added") && !kg_streq(a->x.when, "nightly"))
		return kg_err_set(&op->err, KG_EINVALID,
				  "a standing job is due 'kernel added' or 'nightly', not '%s'",
				  a->x.when ? a->x.when : "");
	rc = find_same(db, &a->x, &id, &op->err);
	if (rc < 0)
		return rc;
	op->result.existed = id != 0;
	if (!id)
		rc = insert_standing(db, a, &id, &op->err);
	op->result.id = (uint64_t)id;
	return rc;
}

int store_standing_add(struct store *s, const struct store_standing *x, int64_t now_ns,
		       struct store_done done)
{
	struct add_args a = {*x, now_ns};
	struct op *op = op_new(run_add, &a, sizeof(a), done);
	struct add_args *copy = op ? op->args : NULL;

	if (copy) {
		struct arena *m = &op->arena;

		op->weight += x->n_files;
		copy->x.name = arena_text(m, x->name);
		copy->x.user = arena_text(m, x->user);
		copy->x.text = arena_text(m, x->text);
		copy->x.file_name = arena_text(m, x->file_name);
		copy->x.when = arena_text(m, x->when);
		copy->x.files = op_copy_files(m, x->files, x->n_files);
	}
	return op_queue(s, op);
}

/* ---- remove ---- */

struct remove_args {
	uint64_t id;
	int64_t now_ns;
};

static int run_remove(struct store *s, struct op *op)
{
	const struct remove_args *a = op->args;
	struct db *db = store_db(s);
	struct kg_str name = {0};
	int rc = standing_name(db, a->id, &name, &op->err);

	if (rc == 0) /* its files go with it */
		rc = db_exec(db, &op->err, "DELETE FROM standing WHERE id = ?", I(a->id));
	if (rc == 0)
		rc = standing_event(db, (int64_t)a->id, 0, kg_str_text(&name), "removed", a->now_ns,
				    &op->err);
	kg_str_deinit(&name);
	op->result.id = a->id;
	return rc;
}

int store_standing_remove(struct store *s, uint64_t id, int64_t now_ns, struct store_done done)
{
	struct remove_args a = {id, now_ns};

	return op_queue(s, op_new(run_remove, &a, sizeof(a), done));
}

/* ---- it was due ---- */

struct ran_args {
	uint64_t id, job;
	const char *error;
	int64_t next_ns;
};

static int run_ran(struct store *s, struct op *op)
{
	const struct ran_args *a = op->args;
	struct db *db = store_db(s);
	int64_t there = 0;
	struct kg_str name = {0};
	int rc = standing_name(db, a->id, &name, &op->err);

	kg_str_deinit(&name);
	if (rc == 0 && a->job) {
		rc = db_int(db, &op->err, "SELECT 1 FROM job WHERE id = ?", &there, I(a->job));
		if (rc == 0)
			rc = kg_err_set(&op->err, KG_EINVALID, "no job %llu",
					(unsigned long long)a->job);
	}
	if (rc < 0)
		return rc;
	op->result.id = a->id;
	return db_exec(db, &op->err,
		       "UPDATE standing SET last_job = coalesce(?2, last_job), last_error = ?3,"
		       " next_ns = ?4 WHERE id = ?1",
		       I(a->id), I0(a->job), T(a->error), I(a->next_ns));
}

int store_standing_ran(struct store *s, uint64_t id, uint64_t job, const char *error,
		       int64_t next_ns, struct store_done done)
{
	struct ran_args a = {id, job, error, next_ns};
	struct op *op = op_new(run_ran, &a, sizeof(a), done);

	if (op && op->args)
		((struct ran_args *)op->args)->error = arena_text(&op->arena, error);
	return op_queue(s, op);
}
