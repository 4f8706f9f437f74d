/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A/A jobs that come again, and summaries of other grids. */
#include <errno.h>
#include <stdlib.h>

#include "common/str.h"
#include "coordinator/store/query_internal.h"

/* The public struct is the first member: freeing it frees the arena that holds everything. */
struct recurrings_owner {
	struct store_recurrings pub;
	struct arena arena;
};

static int read_recurring(sqlite3_stmt *st, struct arena *a, struct store_recurring *r,
			  struct kg_err *err)
{
	size_t len = (size_t)sqlite3_column_bytes(st, 1);
	const void *bytes = sqlite3_column_blob(st, 1);
	Kgrid__V1__CalibrateRequest *rq =
		kgrid__v1__calibrate_request__unpack(NULL, len, bytes ? bytes : (const void *)"");

	if (!rq) /* packed by ourselves: memory, unless somebody edited it */
		return reply_oom(err);
	r->machine = arena_text(a, db_col_text_or(st, 0, ""));
	r->request = arena_message(a, &rq->base);
	r->every_ns = sqlite3_column_int64(st, 2);
	r->next_ns = sqlite3_column_int64(st, 3);
	r->last_job = (uint64_t)sqlite3_column_int64(st, 4);
	kgrid__v1__calibrate_request__free_unpacked(rq, NULL);
	return 0;
}

static int read_recurrings(struct db *db, struct arena *a, struct store_recurrings *ret,
			   struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err,
			   "SELECT machine, request, every_ns, next_ns, last_job FROM recurring"
			   " ORDER BY machine",
			   &st, NIL);

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_recurring *r = arena_push(a, &ret->items, &ret->n, sizeof(*r));

		rc = r ? read_recurring(st, a, r, err) : -ENOMEM;
		if (rc < 0)
			break;
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

int query_recurring(struct query *q, struct store_recurrings **ret, struct kg_err *err)
{
	struct recurrings_owner *o = calloc(1, sizeof(*o));
	struct db *db;
	int rc = o ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db, read_recurrings(db, &o->arena, &o->pub, err));
	if (rc < 0)
		store_recurrings_free(o ? &o->pub : NULL);
	else
		*ret = &o->pub;
	return rc;
}

void store_recurrings_free(struct store_recurrings *r)
{
	struct recurrings_owner *o = (struct recurrings_owner *)r;

	if (!o)
		return;
	arena_deinit(&o->arena);
	free(o);
}

/* ---- imports ---- */

static int push_import(sqlite3_stmt *st, Kgrid__V1__ImportsReply *reply)
{
	Kgrid__V1__ImportInfo *i = reply_new(&kgrid__v1__import_info__descriptor);

	if (!i ||
	    (reply_text(&i->name, db_col_text(st, 1)) | reply_text(&i->text, db_col_text(st, 3)))) {
		reply_free(i);
		return -ENOMEM;
	}
	i->has_id = i->has_added_ns = 1;
	i->id = (uint64_t)sqlite3_column_int64(st, 0);
	i->added_ns = sqlite3_column_int64(st, 2);
	return reply_push(&reply->imports, &reply->n_imports, i,
			  &kgrid__v1__import_info__descriptor);
}

/* A name that is a number stands before the number of another one. */
static int read_imports(struct db *db, const char *selector, Kgrid__V1__ImportsReply *reply,
			struct kg_err *err)
{
	static const char list[] = "SELECT id, name, added_ns, NULL FROM import ORDER BY id";
	static const char one[] = "SELECT id, name, added_ns, text FROM import WHERE name = ?1"
				  " OR (CAST(id AS TEXT) = ?1) ORDER BY name <> ?1 LIMIT 1";
	sqlite3_stmt *st;
	int rc = selector ? db_select(db, err, one, &st, T(selector))
			  : db_select(db, err, list, &st, NIL);

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		rc = push_import(st, reply);
		if (rc < 0)
			break;
	}
	db_reset(st);
	if (rc == 0 && selector && reply->n_imports == 0)
		rc = kg_err_set(err, KG_ENOTFOUND, "no import '%s'; 'kgrid import list' shows them",
				selector);
	return rc == -ENOMEM ? reply_oom(err) : rc;
}

int query_imports(struct query *q, const Kgrid__V1__ImportsRequest *rq,
		  Kgrid__V1__ImportsReply **ret, struct kg_err *err)
{
	Kgrid__V1__ImportsReply *reply = reply_new(&kgrid__v1__imports_reply__descriptor);
	const char *selector = rq->selector && rq->selector[0] ? rq->selector : NULL;
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db, read_imports(db, selector, reply, err));
	if (rc < 0)
		reply_free(reply);
	else
		*ret = reply;
	return rc;
}
