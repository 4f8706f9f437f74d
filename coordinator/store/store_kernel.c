/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel artifacts: rows only; the blobs are the caller's. */
#include "common/str.h"
#include "coordinator/store/op.h"

#define JOBS_NAMED 3

/* KG_EBUSY names the kernel and the jobs that it is needed by; 0: none. */
static int check_unused(struct db *db, const char *digest, struct kg_err *err)
{
	static const char sql[] =
		"SELECT DISTINCT job.id, job.name,"
		" (SELECT coalesce(label, release) FROM kernel WHERE digest = ?1) FROM job"
		" WHERE (job.state IN ('queued', 'running')"
		"  AND EXISTS (SELECT 1 FROM cell WHERE cell.job = job.id AND cell.kernel = ?1))"
		" OR job.id IN (SELECT boot.job FROM boot WHERE boot.kernel = ?1"
		"  AND boot.outcome IS NULL)"
		" ORDER BY job.id";
	struct kg_str name = {0}, jobs = {0};
	sqlite3_stmt *st;
	size_t n = 0;
	int rc = db_select(db, err, sql, &st, T(digest));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		if (n == 0)
			kg_str_add(&name, db_col_text_or(st, 2, digest));
		if (n++ < JOBS_NAMED)
			kg_str_addf(&jobs, "%sjob %lld '%s'", jobs.len ? ", " : "",
				    (long long)sqlite3_column_int64(st, 0),
				    db_col_text_or(st, 1, ""));
	}
	db_reset(st);
	if (n > JOBS_NAMED)
		kg_str_addf(&jobs, " and %zu more", n - JOBS_NAMED);
	if (rc == 0 && n > 0)
		rc = kg_err_set(err, KG_EBUSY,
				"kernel '%s' is needed by %s: wait until that is over, or cancel "
				"it",
				kg_str_text(&name), kg_str_text(&jobs));
	kg_str_deinit(&name);
	kg_str_deinit(&jobs);
	return rc;
}

/* 1: another kernel has the label, 0: free. */
static int check_label(struct db *db, const struct store_kernel *k, struct kg_err *err)
{
	static const char sql[] = "SELECT release, digest FROM kernel"
				  " WHERE label = ? AND digest <> ?";
	sqlite3_stmt *st;
	int rc;

	if (!k->label)
		return 0;
	rc = db_select(db, err, sql, &st, T(k->label), T(k->digest));
	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0)
		rc = kg_err_set(err, KG_EEXISTS,
				"label '%s' is taken by another kernel, release %s, digest %.12s",
				k->label, db_col_text_or(st, 0, ""), db_col_text_or(st, 1, ""));
	db_reset(st);
	return rc;
}

/* A job that runs goes on showing the label it was submitted with. */
static int check_rename(struct db *db, const struct store_kernel *k, struct kg_err *err)
{
	int64_t renamed = 0;
	int rc;

	if (!k->label)
		return 0;
	rc = db_int(db, err,
		    "SELECT label IS NOT NULL AND label <> ?2 FROM kernel WHERE digest = ?1",
		    &renamed, T(k->digest), T(k->label));
	if (rc < 0 || !renamed)
		return rc;
	rc = check_unused(db, k->digest, err);
	return rc < 0 ? kg_err_wrap(err, rc, "cannot change the label") : 0;
}

static int run_kernel_insert(struct store *s, struct op *op)
{
	/* A known, not removed kernel keeps its moment of arrival. */
	static const char sql[] =
		"INSERT INTO kernel (digest, label, release, version, build_id, config_digest,"
		" config_lsm, builtin_lsm, manifest, files, size_bytes, added_ns)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
		" ON CONFLICT (digest) DO UPDATE SET label = coalesce(?2, label), release = ?3,"
		" version = ?4, build_id = ?5, config_digest = ?6, config_lsm = ?7,"
		" builtin_lsm = ?8, added_ns = iif(removed_ns IS NULL, added_ns, ?12),"
		" removed_ns = NULL";
	const struct store_kernel *k = op->args;
	struct db *db = store_db(s);
	int64_t known = 0;
	int rc = check_label(db, k, &op->err);

	if (rc == 0)
		rc = db_int(db, &op->err,
			    "SELECT 1 FROM kernel WHERE digest = ? AND removed_ns IS NULL", &known,
			    T(k->digest));
	if (rc >= 0 && known)
		rc = check_rename(db, k, &op->err);
	if (rc < 0)
		return rc;
	op->result.existed = known != 0;
	return db_exec(db, &op->err, sql, T(k->digest), T(k->label), T(k->release), T(k->version),
		       T(k->build_id), T(k->config_digest), T(k->config_lsm), T(k->builtin_lsm),
		       T(k->manifest), I(k->files), I(k->size_bytes), I(k->added_ns));
}

int store_kernel_insert(struct store *s, const struct store_kernel *k, struct store_done done)
{
	struct op *op = op_new(run_kernel_insert, k, sizeof(*k), done);
	struct store_kernel *c = op ? op->args : NULL;

	if (c) {
		c->digest = arena_text(&op->arena, k->digest);
		c->label = arena_text(&op->arena, k->label);
		c->release = arena_text(&op->arena, k->release);
		c->version = arena_text(&op->arena, k->version);
		c->build_id = arena_text(&op->arena, k->build_id);
		c->config_digest = arena_text(&op->arena, k->config_digest);
		c->config_lsm = arena_text(&op->arena, k->config_lsm);
		c->builtin_lsm = arena_text(&op->arena, k->builtin_lsm);
		c->manifest = arena_text(&op->arena, k->manifest);
	}
	return op_queue(s, op);
}

struct remove_args {
	const char *digest;
	int64_t now_ns;
};

static int run_kernel_remove(struct store *s, struct op *op)
{
	const struct remove_args *a = op->args;
	struct db *db = store_db(s);
	int rc = check_unused(db, a->digest, &op->err);

	if (rc < 0)
		return rc;
	rc = db_exec(db, &op->err,
		     "UPDATE kernel SET removed_ns = ?2, label = NULL"
		     " WHERE digest = ?1 AND removed_ns IS NULL",
		     T(a->digest), I(a->now_ns));
	if (rc == 0 && db_changes(db) == 0)
		rc = kg_err_set(&op->err, KG_ENOTFOUND, "no kernel with digest %.12s", a->digest);
	return rc;
}

int store_kernel_remove(struct store *s, const char *digest, int64_t now_ns, struct store_done done)
{
	struct remove_args a = {digest, now_ns};
	struct op *op = op_new(run_kernel_remove, &a, sizeof(a), done);

	if (op && op->args)
		((struct remove_args *)op->args)->digest = arena_text(&op->arena, digest);
	return op_queue(s, op);
}
