/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels: selection, planning, and what is shown of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/sha256.h"
#include "common/str.h"
#include "coordinator/store/query_internal.h"

#define PREFIX_MIN 6

struct kernels_owner {
	struct store_kernels pub;
	struct arena arena;
};

static int read_list(struct db *db, struct arena *a, struct store_kernels *ret, struct kg_err *err)
{
	static const char sql[] =
		"SELECT digest, label, release, version, build_id, config_digest, config_lsm,"
		" builtin_lsm, files, size_bytes, added_ns FROM kernel WHERE removed_ns IS NULL"
		" ORDER BY added_ns, rowid";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, NIL);

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_kernel *k = arena_push(a, &ret->items, &ret->n, sizeof(*k));

		if (!k)
			break;
		k->digest = arena_text(a, db_col_text_or(st, 0, ""));
		k->label = arena_text(a, db_col_text(st, 1));
		k->release = arena_text(a, db_col_text_or(st, 2, ""));
		k->version = arena_text(a, db_col_text_or(st, 3, ""));
		k->build_id = arena_text(a, db_col_text(st, 4));
		k->config_digest = arena_text(a, db_col_text(st, 5));
		k->config_lsm = arena_text(a, db_col_text(st, 6));
		k->builtin_lsm = arena_text(a, db_col_text(st, 7));
		k->files = (uint32_t)sqlite3_column_int64(st, 8);
		k->size_bytes = (uint64_t)sqlite3_column_int64(st, 9);
		k->added_ns = sqlite3_column_int64(st, 10);
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

int query_kernel_list(struct query *q, struct store_kernels **ret, struct kg_err *err)
{
	struct kernels_owner *o = calloc(1, sizeof(*o));
	struct db *db;
	int rc = o ? query_begin(q, &db, err) : reply_oom(err);

	if (rc < 0) {
		free(o);
		return rc;
	}
	rc = query_end(q, db, read_list(db, &o->arena, &o->pub, err));
	if (rc < 0)
		store_kernels_free(&o->pub);
	else
		*ret = &o->pub;
	return rc;
}

void store_kernels_free(struct store_kernels *k)
{
	struct kernels_owner *o = (struct kernels_owner *)k;

	if (!o)
		return;
	arena_deinit(&o->arena);
	free(o);
}

/* ---- selection ---- */

/* Runs one way of selecting: 1 found, 0 nothing, KG_EAMBIGUOUS with the candidates named. */
static int select_by(struct db *db, const char *sql, const char *selector, char ret_digest[65],
		     struct kg_err *err)
{
	struct kg_str names = {0};
	sqlite3_stmt *st;
	int found = 0;
	int rc = db_select(db, err, sql, &st, T(selector));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		const char *digest = db_col_text_or(st, 0, "");
		const char *label = db_col_text(st, 1);

		if (found++ == 0)
			(void)snprintf(ret_digest, KG_SHA256_HEX_SIZE, "%s", digest);
		kg_str_addf(&names, "%s%s %.12s", found > 1 ? ", " : "",
			    label ? label : db_col_text_or(st, 2, ""), digest);
	}
	db_reset(st);
	if (rc == 0)
		rc = names.failed ? reply_oom(err) : found;
	if (rc > 1)
		rc = kg_err_set(err, KG_EAMBIGUOUS,
				"kernel '%s' fits %d: %s; use a label or a digest", selector, found,
				kg_str_text(&names));
	kg_str_deinit(&names);
	return rc;
}

static bool is_prefix(const char *s)
{
	size_t len = strlen(s);

	return len >= PREFIX_MIN && len <= KG_SHA256_HEX_LEN &&
	       strspn(s, "0123456789abcdef") == len;
}

int find_kernel(struct db *db, const char *selector, char ret_digest[65], struct kg_err *err)
{
	int rc;

	if (!selector || !selector[0])
		return kg_err_set(err, KG_EINVALID, "no kernel is named");
	rc = select_by(db,
		       "SELECT digest, label, release FROM kernel"
		       " WHERE label = ? AND removed_ns IS NULL",
		       selector, ret_digest, err);
	if (rc == 0)
		rc = select_by(db,
			       "SELECT digest, label, release FROM kernel"
			       " WHERE release = ? AND removed_ns IS NULL ORDER BY added_ns",
			       selector, ret_digest, err);
	if (rc == 0 && is_prefix(selector))
		rc = select_by(db,
			       "SELECT digest, label, release FROM kernel"
			       " WHERE digest >= ?1 AND digest < ?1 || 'g' AND removed_ns IS NULL"
			       " ORDER BY digest",
			       selector, ret_digest, err);
	if (rc == 0)
		rc = kg_err_set(err, KG_ENOTFOUND, "no kernel '%s'", selector);
	return rc < 0 ? rc : 0;
}

int query_kernel_find(struct query *q, const char *selector, char ret_digest[65],
		      struct kg_err *err)
{
	struct db *db;
	int rc = query_begin(q, &db, err);

	return rc < 0 ? rc : query_end(q, db, find_kernel(db, selector, ret_digest, err));
}

int query_kernel_manifest(struct query *q, const char *digest, char **ret_text, struct kg_err *err)
{
	sqlite3_stmt *st;
	struct db *db;
	char *text = NULL;
	int rc = query_begin(q, &db, err);

	if (rc < 0)
		return rc;
	rc = db_select(db, err,
		       "SELECT manifest FROM kernel WHERE digest = ? AND removed_ns IS NULL", &st,
		       T(digest));
	if (rc < 0)
		return query_end(q, db, rc);
	rc = db_step(db, st, err);
	if (rc > 0)
		rc = reply_text(&text, db_col_text_or(st, 0, ""));
	else if (rc == 0)
		rc = kg_err_set(err, KG_ENOTFOUND, "no kernel with digest %.12s", digest);
	db_reset(st);
	if (rc == 0)
		*ret_text = text;
	return query_end(q, db, rc);
}

int query_blob_used(struct query *q, const char *blob_digest, bool *ret_used, struct kg_err *err)
{
	int64_t used = 0;
	struct db *db;
	int rc;

	if (!kg_sha256_hex_valid(blob_digest))
		return kg_err_set(err, KG_EINVALID, "not a digest: '%.80s'", blob_digest);
	rc = query_begin(q, &db, err);
	if (rc < 0)
		return rc;
	rc = db_int(db, err,
		    "SELECT 1 FROM kernel WHERE removed_ns IS NULL"
		    " AND instr(manifest, 'file ' || ? || ' ') > 0 LIMIT 1",
		    &used, T(blob_digest));
	if (rc >= 0)
		*ret_used = used != 0;
	return query_end(q, db, rc < 0 ? rc : 0);
}

/* ---- shown ---- */

static int read_used_by(struct db *db, const char *digest, Kgrid__V1__KernelInfo *k,
			struct kg_err *err)
{
	static const char sql[] =
		"SELECT job.id || ' ' || job.name FROM job WHERE job.state IN ('queued', 'running')"
		" AND EXISTS (SELECT 1 FROM cell WHERE cell.job = job.id AND cell.kernel = ?)"
		" ORDER BY job.id";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, T(digest));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		rc = reply_push_text(&k->used_by, &k->n_used_by, db_col_text_or(st, 0, ""));
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc;
}

static int fill_kernel(sqlite3_stmt *st, Kgrid__V1__KernelInfo *k)
{
	int rc = reply_text(&k->digest, db_col_text(st, 0));

	rc |= reply_text(&k->label, db_col_text(st, 1));
	rc |= reply_text(&k->release, db_col_text(st, 2));
	rc |= reply_text(&k->version, db_col_text(st, 3));
	rc |= reply_text(&k->build_id, db_col_text(st, 4));
	rc |= reply_text(&k->config_digest, db_col_text(st, 5));
	rc |= reply_text(&k->config_lsm, db_col_text(st, 6));
	rc |= reply_text(&k->builtin_lsm, db_col_text(st, 7));
	k->has_files = k->has_size_bytes = k->has_added_ns = 1;
	k->files = (uint32_t)sqlite3_column_int64(st, 8);
	k->size_bytes = (uint64_t)sqlite3_column_int64(st, 9);
	k->added_ns = sqlite3_column_int64(st, 10);
	return rc;
}

static int read_kernel(struct db *db, const char *digest, Kgrid__V1__KernelInfo **ret,
		       struct kg_err *err)
{
	static const char sql[] =
		"SELECT digest, label, release, version, build_id, config_digest, config_lsm,"
		" builtin_lsm, files, size_bytes, added_ns FROM kernel WHERE digest = ?";
	Kgrid__V1__KernelInfo *k = reply_new(&kgrid__v1__kernel_info__descriptor);
	sqlite3_stmt *st;
	int rc = k ? db_select(db, err, sql, &st, T(digest)) : reply_oom(err);

	if (rc < 0) {
		reply_free(k);
		return rc;
	}
	rc = db_step(db, st, err);
	if (rc > 0)
		rc = fill_kernel(st, k) ? reply_oom(err) : 0;
	db_reset(st);
	if (rc == 0)
		rc = read_used_by(db, digest, k, err);
	if (rc < 0)
		reply_free(k);
	else
		*ret = k;
	return rc;
}

int query_kernels(struct query *q, Kgrid__V1__KernelsReply **ret, struct kg_err *err)
{
	Kgrid__V1__KernelsReply *reply = reply_new(&kgrid__v1__kernels_reply__descriptor);
	struct store_kernels list = {0};
	struct arena a = {0};
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc < 0) {
		reply_free(reply);
		return rc;
	}
	rc = read_list(db, &a, &list, err);
	for (size_t i = 0; rc == 0 && i < list.n; i++) {
		Kgrid__V1__KernelInfo *k = NULL;

		rc = read_kernel(db, list.items[i].digest, &k, err);
		if (rc == 0)
			rc = reply_push(&reply->kernels, &reply->n_kernels, k,
					&kgrid__v1__kernel_info__descriptor);
	}
	rc = query_end(q, db, rc);
	arena_deinit(&a);
	if (rc < 0)
		reply_free(reply);
	else
		*ret = reply;
	return rc;
}

int query_kernel(struct query *q, const char *selector, Kgrid__V1__KernelReply **ret,
		 struct kg_err *err)
{
	Kgrid__V1__KernelReply *reply = reply_new(&kgrid__v1__kernel_reply__descriptor);
	char digest[KG_SHA256_HEX_SIZE];
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc < 0) {
		reply_free(reply);
		return rc;
	}
	rc = find_kernel(db, selector, digest, err);
	if (rc == 0)
		rc = read_kernel(db, digest, &reply->kernel, err);
	rc = query_end(q, db, rc);
	if (rc < 0)
		reply_free(reply);
	else
		*ret = reply;
	return rc;
}
