/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Regressions as people see them, and what the detector goes on with. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/store/query_internal.h"

static void take_double(sqlite3_stmt *st, int i, protobuf_c_boolean *has, double *x)
{
	*has = sqlite3_column_type(st, i) != SQLITE_NULL;
	*x = sqlite3_column_double(st, i);
}

/* ---- for people ---- */

static int fill_member(sqlite3_stmt *st, Kgrid__V1__RegressionMember *m)
{
	m->has_before = m->has_after = m->has_effect_pct = 1;
	m->has_boots_before = m->has_boots_after = 1;
	m->before = sqlite3_column_double(st, 8);
	m->after = sqlite3_column_double(st, 9);
	m->effect_pct = sqlite3_column_double(st, 10);
	take_double(st, 11, &m->has_lo_pct, &m->lo_pct);
	take_double(st, 12, &m->has_hi_pct, &m->hi_pct);
	take_double(st, 13, &m->has_p, &m->p);
	take_double(st, 14, &m->has_q, &m->q);
	m->boots_before = (uint32_t)sqlite3_column_int64(st, 15);
	m->boots_after = (uint32_t)sqlite3_column_int64(st, 16);
	m->has_job = sqlite3_column_type(st, 18) != SQLITE_NULL;
	m->job = (uint64_t)sqlite3_column_int64(st, 18);
	take_double(st, 20, &m->has_confirm_p, &m->confirm_p);
	return reply_text(&m->machine, db_col_text(st, 0)) |
	       reply_text(&m->vendor, db_col_text(st, 1)) |
	       reply_text(&m->workload, db_col_text(st, 2)) |
	       reply_text(&m->params, db_col_text(st, 3)) |
	       reply_text(&m->metric, db_col_text(st, 4)) |
	       reply_text(&m->unit, db_col_text(st, 5)) |
	       reply_text(&m->kernel, db_col_text(st, 6)) |
	       reply_text(&m->lsm, db_col_text(st, 7)) |
	       reply_text(&m->source, db_col_text(st, 17)) |
	       reply_text(&m->stage, db_col_text(st, 19)) |
	       reply_text(&m->confirm_machine, db_col_text(st, 21));
}

static int read_members(struct db *db, Kgrid__V1__Regression *r, struct kg_err *err)
{
	static const char sql[] =
		"SELECT m.machine, machine.cpu_vendor, m.workload, m.params, m.metric, m.unit,"
		" m.kernel, m.lsm, m.before, m.after, m.effect_pct, m.lo_pct, m.hi_pct, m.p, m.q,"
		" m.boots_before, m.boots_after, m.source, m.job, m.stage, m.confirm_p,"
		" m.confirm_machine FROM regression_member AS m"
		" LEFT JOIN machine ON machine.name = m.machine WHERE m.regression = ?"
		" ORDER BY m.effect_pct, m.machine, m.workload, m.params, m.metric, m.source";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(r->id));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		Kgrid__V1__RegressionMember *m =
			reply_new(&kgrid__v1__regression_member__descriptor);

		if (!m || fill_member(st, m) != 0) {
			reply_free(m);
			rc = -ENOMEM;
			break;
		}
		rc = reply_push(&r->members, &r->n_members, m,
				&kgrid__v1__regression_member__descriptor);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc == -ENOMEM ? reply_oom(err) : rc;
}

static int read_events(struct db *db, Kgrid__V1__Regression *r, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err,
			   "SELECT time_ns, user, text FROM regression_event WHERE regression = ?"
			   " ORDER BY id",
			   &st, I(r->id));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		Kgrid__V1__RegressionEvent *e = reply_new(&kgrid__v1__regression_event__descriptor);

		if (!e || (reply_text(&e->user, db_col_text(st, 1)) |
			   reply_text(&e->text, db_col_text(st, 2)))) {
			reply_free(e);
			rc = -ENOMEM;
			break;
		}
		e->has_time_ns = 1;
		e->time_ns = sqlite3_column_int64(st, 0);
		rc = reply_push(&r->events, &r->n_events, e,
				&kgrid__v1__regression_event__descriptor);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc == -ENOMEM ? reply_oom(err) : rc;
}

/* "-8.79 % [-9.10, -8.40] netperf size=64 on bing3"; members are in the order of their effects. */
static int fill_worst(Kgrid__V1__Regression *r)
{
	const Kgrid__V1__RegressionMember *m = r->n_members ? r->members[0] : NULL;
	struct kg_str s = {0};

	if (!m)
		return 0;
	kg_str_addf(&s, "%+.2f %%", m->effect_pct);
	if (m->has_lo_pct && m->has_hi_pct)
		kg_str_addf(&s, " [%+.2f, %+.2f]", m->lo_pct, m->hi_pct);
	kg_str_addf(&s, " %s%s%s on %s", m->workload, m->params[0] ? " " : "", m->params,
		    m->machine);
	r->worst = kg_str_take(&s);
	return r->worst ? 0 : -ENOMEM;
}

static int fill_regression(sqlite3_stmt *st, Kgrid__V1__Regression *r)
{
	r->has_id = r->has_first_ns = r->has_last_ns = r->has_seen = 1;
	r->id = (uint64_t)sqlite3_column_int64(st, 0);
	r->first_ns = sqlite3_column_int64(st, 6);
	r->last_ns = sqlite3_column_int64(st, 7);
	r->seen = (uint32_t)sqlite3_column_int64(st, 8);
	r->has_confirm_job = sqlite3_column_type(st, 9) != SQLITE_NULL;
	r->confirm_job = (uint64_t)sqlite3_column_int64(st, 9);
	return reply_text(&r->axis, db_col_text(st, 1)) | reply_text(&r->from, db_col_text(st, 2)) |
	       reply_text(&r->to, db_col_text(st, 3)) | reply_text(&r->state, db_col_text(st, 4)) |
	       reply_text(&r->stage, db_col_text(st, 5));
}

static int push_regression(struct db *db, sqlite3_stmt *st, bool events,
			   Kgrid__V1__RegressionsReply *reply, struct kg_err *err)
{
	Kgrid__V1__Regression *r = reply_new(&kgrid__v1__regression__descriptor);
	int rc = r && fill_regression(st, r) == 0 ? 0 : reply_oom(err);

	if (rc == 0)
		rc = read_members(db, r, err);
	if (rc == 0 && events)
		rc = read_events(db, r, err);
	if (rc == 0 && fill_worst(r) < 0)
		rc = reply_oom(err);
	if (rc < 0) {
		reply_free(r);
		return rc;
	}
	return reply_push(&reply->regressions, &reply->n_regressions, r,
			  &kgrid__v1__regression__descriptor) < 0
		       ? reply_oom(err)
		       : 0;
}

static int read_regressions(struct db *db, const Kgrid__V1__RegressionsRequest *rq,
			    Kgrid__V1__RegressionsReply *reply, struct kg_err *err)
{
	static const char sql[] =
		"SELECT id, axis, from_label, to_label, state, stage, first_ns, last_ns, seen,"
		" confirm_job FROM regression WHERE (?1 = 0 OR id = ?1)"
		" AND (?2 IS NULL OR last_ns >= ?2)"
		" AND (?3 IS NULL OR EXISTS (SELECT 1 FROM regression_member"
		"  WHERE regression = regression.id AND machine = ?3))"
		" AND iif(?4 IS NULL, ?5 OR state <> 'fixed', state = ?4)"
		" ORDER BY last_ns DESC, id DESC";
	const char *machine = rq->machine && rq->machine[0] ? rq->machine : NULL;
	const char *state = rq->state && rq->state[0] ? rq->state : NULL;
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(rq->id), rq->has_since_ns ? I(rq->since_ns) : NIL,
			   T(machine), T(state), I(rq->all || rq->id ? 1 : 0));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		rc = push_regression(db, st, rq->id != 0, reply, err);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc;
}

static int check_regressions(struct db *db, const Kgrid__V1__RegressionsRequest *rq,
			     struct kg_err *err)
{
	static const char *const states[] = {"open", "acknowledged", "fixed"};
	bool known = !rq->state || !rq->state[0];
	int64_t there = 0;
	int rc = 0;

	for (size_t i = 0; !known && i < sizeof(states) / sizeof(states[0]); i++)
		known = kg_streq(rq->state, states[i]);
	if (!known)
		return kg_err_set(err, KG_EINVALID,
				  "unknown state '%s': open, acknowledged or fixed", rq->state);
	if (rq->machine && rq->machine[0])
		rc = check_machine(db, rq->machine, err);
	if (rc < 0 || !rq->id)
		return rc;
	rc = db_int(db, err, "SELECT 1 FROM regression WHERE id = ?", &there, I(rq->id));
	if (rc == 0)
		rc = kg_err_set(err, KG_ENOTFOUND, "no regression %llu",
				(unsigned long long)rq->id);
	return rc < 0 ? rc : 0;
}

/* An empty list says why. */
static int note_empty(struct db *db, Kgrid__V1__RegressionsReply *reply, struct kg_err *err)
{
	/* Blocks that ended before they ran are marked too: there was nothing to find. */
	static const char looked_at[] =
		"SELECT count(*) FROM detection AS d WHERE EXISTS (SELECT 1 FROM cell"
		" JOIN slot ON slot.cell = cell.id AND slot.block = d.block"
		" WHERE cell.job = d.job AND cell.machine = d.machine AND slot.outcome = 'pass')";
	int64_t all = 0, blocks = 0;
	char text[160];
	int rc = db_int(db, err, "SELECT count(*) FROM regression", &all, NIL);

	if (rc >= 0)
		rc = db_int(db, err, looked_at, &blocks, NIL);
	if (rc < 0)
		return rc;
	if (all)
		(void)snprintf(text, sizeof(text),
			       "none of the %lld regressions fits; --all shows all of them",
			       (long long)all);
	else
		(void)snprintf(text, sizeof(text), "no regression was found in %lld block%s",
			       (long long)blocks, blocks == 1 ? "" : "s");
	return reply_push_text(&reply->notes, &reply->n_notes, text) < 0 ? reply_oom(err) : 0;
}

int query_regressions(struct query *q, const Kgrid__V1__RegressionsRequest *rq,
		      Kgrid__V1__RegressionsReply **ret, struct kg_err *err)
{
	Kgrid__V1__RegressionsReply *reply = reply_new(&kgrid__v1__regressions_reply__descriptor);
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0) {
		rc = check_regressions(db, rq, err);
		if (rc == 0)
			rc = read_regressions(db, rq, reply, err);
		if (rc == 0 && reply->n_regressions == 0)
			rc = note_empty(db, reply, err);
		rc = query_end(q, db, rc);
	}
	if (rc < 0)
		reply_free(reply);
	else
		*ret = reply;
	return rc;
}

/* ---- for the detector ---- */

/* The public struct is the first member: freeing it frees the arena that holds everything. */
struct regressions_owner {
	struct store_regressions pub;
	struct arena arena;
};

struct notices_owner {
	struct store_notices pub;
	struct arena arena;
};

static double number_or_zero(sqlite3_stmt *st, int i)
{
	return sqlite3_column_double(st, i); /* 0 for NULL */
}

static int read_open_members(struct db *db, struct arena *a, struct store_regression *r,
			     struct kg_err *err)
{
	static const char sql[] =
		"SELECT machine, workload, params, metric, unit, kernel, lsm, source, job, before,"
		" after, effect_pct, lo_pct, hi_pct, p, q, boots_before, boots_after"
		" FROM regression_member WHERE regression = ?"
		" ORDER BY machine, workload, params, metric, unit, kernel, lsm, source";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(r->id));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_member *m = arena_push(a, &r->members, &r->n_members, sizeof(*m));

		if (!m)
			break;
		m->machine = arena_text(a, db_col_text_or(st, 0, ""));
		m->workload = arena_text(a, db_col_text_or(st, 1, ""));
		m->params = arena_text(a, db_col_text_or(st, 2, ""));
		m->metric = arena_text(a, db_col_text_or(st, 3, ""));
		m->unit = arena_text(a, db_col_text_or(st, 4, ""));
		m->kernel = arena_text(a, db_col_text_or(st, 5, ""));
		m->lsm = arena_text(a, db_col_text_or(st, 6, ""));
		m->history = kg_streq(db_col_text(st, 7), "history");
		m->job = (uint64_t)sqlite3_column_int64(st, 8);
		m->before = sqlite3_column_double(st, 9);
		m->after = sqlite3_column_double(st, 10);
		m->effect_pct = sqlite3_column_double(st, 11);
		m->has_interval = sqlite3_column_type(st, 12) != SQLITE_NULL &&
				  sqlite3_column_type(st, 13) != SQLITE_NULL;
		m->lo_pct = number_or_zero(st, 12);
		m->hi_pct = number_or_zero(st, 13);
		m->p = sqlite3_column_type(st, 14) != SQLITE_NULL ? sqlite3_column_double(st, 14)
								  : 1;
		m->q = sqlite3_column_type(st, 15) != SQLITE_NULL ? sqlite3_column_double(st, 15)
								  : 1;
		m->boots_before = (uint32_t)sqlite3_column_int64(st, 16);
		m->boots_after = (uint32_t)sqlite3_column_int64(st, 17);
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

static int read_open(struct db *db, struct arena *a, struct store_regressions *ret,
		     struct kg_err *err)
{
	static const char sql[] =
		"SELECT id, axis, from_key, to_key, from_label, to_label, state, stage, confirm_job"
		" FROM regression WHERE state <> 'fixed' AND stage IN ('candidate', 'confirming')"
		" ORDER BY id";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, NIL);

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_regression *r = arena_push(a, &ret->items, &ret->n, sizeof(*r));

		if (!r)
			break;
		r->id = (uint64_t)sqlite3_column_int64(st, 0);
		r->lsm_axis = kg_streq(db_col_text(st, 1), "lsm");
		r->from_key = arena_text(a, db_col_text_or(st, 2, ""));
		r->to_key = arena_text(a, db_col_text_or(st, 3, ""));
		r->from_label = arena_text(a, db_col_text_or(st, 4, ""));
		r->to_label = arena_text(a, db_col_text_or(st, 5, ""));
		r->state = arena_text(a, db_col_text_or(st, 6, ""));
		r->stage = kg_streq(db_col_text(st, 7), "confirming") ? STORE_STAGE_CONFIRMING
								      : STORE_STAGE_CANDIDATE;
		r->confirm_job = (uint64_t)sqlite3_column_int64(st, 8);
		rc = read_open_members(db, a, r, err);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

int query_regressions_open(struct query *q, struct store_regressions **ret, struct kg_err *err)
{
	struct regressions_owner *o = calloc(1, sizeof(*o));
	struct db *db;
	int rc = o ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db, read_open(db, &o->arena, &o->pub, err));
	if (rc < 0)
		store_regressions_free(o ? &o->pub : NULL);
	else
		*ret = &o->pub;
	return rc;
}

void store_regressions_free(struct store_regressions *r)
{
	struct regressions_owner *o = (struct regressions_owner *)r;

	if (!o)
		return;
	arena_deinit(&o->arena);
	free(o);
}

static int read_notices(struct db *db, struct arena *a, struct store_notices *ret,
			struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err,
			   "SELECT id, regression, target, text FROM notice"
			   " WHERE state = 'pending' ORDER BY id",
			   &st, NIL);

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_notice *n = arena_push(a, &ret->items, &ret->n, sizeof(*n));

		if (!n)
			break;
		n->id = (uint64_t)sqlite3_column_int64(st, 0);
		n->regression = (uint64_t)sqlite3_column_int64(st, 1);
		n->target = arena_text(a, db_col_text_or(st, 2, ""));
		n->text = arena_text(a, db_col_text_or(st, 3, ""));
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

int query_notices(struct query *q, struct store_notices **ret, struct kg_err *err)
{
	struct notices_owner *o = calloc(1, sizeof(*o));
	struct db *db;
	int rc = o ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db, read_notices(db, &o->arena, &o->pub, err));
	if (rc < 0)
		store_notices_free(o ? &o->pub : NULL);
	else
		*ret = &o->pub;
	return rc;
}

void store_notices_free(struct store_notices *n)
{
	struct notices_owner *o = (struct notices_owner *)n;

	if (!o)
		return;
	arena_deinit(&o->arena);
	free(o);
}

/* ---- blocks to look at ---- */

struct block {
	uint64_t job;
	const char *machine;
	uint32_t block;
};

/* Jobs whose blocks were all looked at are left out before their slots are read. */
#define UNDETECTED                                                           \
	"SELECT slot.job, cell.machine, slot.block FROM job"                 \
	" JOIN slot ON slot.job = job.id JOIN cell ON cell.id = slot.cell"   \
	" WHERE job.kind = 'job'"                                            \
	" AND (SELECT count(*) FROM detection WHERE detection.job = job.id)" \
	"  < job.blocks * (SELECT count(DISTINCT cell.machine) FROM cell"    \
	"   WHERE cell.job = job.id)"
#define UNDETECTED_END                                                             \
	" GROUP BY slot.job, cell.machine, slot.block"                             \
	" HAVING sum(slot.outcome IS NULL) = 0"                                    \
	" AND sum(slot.outcome IS 'pass' AND NOT cell.canary) > 0"                 \
	" AND NOT EXISTS (SELECT 1 FROM detection WHERE detection.job = slot.job"  \
	"  AND detection.machine = cell.machine AND detection.block = slot.block)" \
	" ORDER BY slot.job, slot.block, cell.machine"

int query_undetected(struct query *q, uint64_t job,
		     void (*on_block)(void *arg, uint64_t job, const char *machine, uint32_t block),
		     void *arg, struct kg_err *err)
{
	static const char of_any[] = UNDETECTED UNDETECTED_END;
	static const char of_job[] = UNDETECTED " AND slot.job = ?" UNDETECTED_END;
	struct arena arena = {0};
	struct block *blocks = NULL;
	sqlite3_stmt *st;
	struct db *db;
	size_t n = 0;
	int rc = query_begin(q, &db, err);

	if (rc < 0)
		return rc;
	rc = db_select(db, err, job ? of_job : of_any, &st, I0(job));
	if (rc < 0)
		return query_end(q, db, rc);
	while ((rc = db_step(db, st, err)) > 0) {
		struct block *b = arena_push(&arena, &blocks, &n, sizeof(*b));

		if (!b)
			break;
		b->job = (uint64_t)sqlite3_column_int64(st, 0);
		b->machine = arena_text(&arena, db_col_text_or(st, 1, ""));
		b->block = (uint32_t)sqlite3_column_int64(st, 2);
	}
	db_reset(st);
	rc = query_end(q, db, arena.failed ? reply_oom(err) : rc);
	/* The connection is given back before: who is called may ask more. */
	for (size_t i = 0; rc == 0 && i < n; i++)
		on_block(arg, blocks[i].job, blocks[i].machine, blocks[i].block);
	arena_deinit(&arena);
	return rc;
}
