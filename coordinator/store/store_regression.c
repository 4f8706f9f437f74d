/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detections, and what becomes of them: one item per boundary. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/store/op.h"

const char *store_stage_name(enum store_stage stage)
{
	static const char *const names[] = {"candidate", "confirming", "confirmed", "refuted"};

	return names[stage];
}

/* What is not a number is not known. */
static struct db_val number(double x)
{
	return isfinite(x) ? D(x) : NIL;
}

static int add_event(struct db *db, int64_t regression, int64_t now_ns, const char *user,
		     const char *text, struct kg_err *err)
{
	return db_exec(db, err,
		       "INSERT INTO regression_event (regression, time_ns, user, text)"
		       " VALUES (?, ?, ?, ?)",
		       I(regression), I(now_ns), T(user), T(text));
}

/* ---- blocks that were looked at ---- */

struct mark_args {
	uint64_t job;
	const char *machine;
	uint32_t block;
	int64_t now_ns;
};

static int run_mark(struct store *s, struct op *op)
{
	const struct mark_args *a = op->args;
	struct db *db = store_db(s);
	int64_t there = 0;
	int rc = db_int(db, &op->err, "SELECT 1 FROM job WHERE id = ?", &there, I(a->job));

	if (rc == 0)
		rc = kg_err_set(&op->err, KG_ENOTFOUND, "no job %llu", (unsigned long long)a->job);
	if (rc < 0)
		return rc;
	rc = db_exec(db, &op->err,
		     "INSERT OR IGNORE INTO detection (job, machine, block, time_ns)"
		     " VALUES (?, ?, ?, ?)",
		     I(a->job), T(a->machine), I(a->block), I(a->now_ns));
	op->result.existed = rc == 0 && db_changes(db) == 0;
	return rc;
}

int store_detection_mark(struct store *s, uint64_t job, const char *machine, uint32_t block,
			 int64_t now_ns, struct store_done done)
{
	struct mark_args a = {job, machine, block, now_ns};
	struct op *op = op_new(run_mark, &a, sizeof(a), done);

	if (op && op->args)
		((struct mark_args *)op->args)->machine = arena_text(&op->arena, machine);
	return op_queue(s, op);
}

/* ---- a boundary was seen ---- */

struct row {
	int64_t id; /* 0: not there */
	bool fixed;
	bool refuted;
	bool known_job; /* this job showed it before */
};

static int read_row(struct db *db, const struct store_sighting *x, struct row *ret,
		    struct kg_err *err)
{
	static const char sql[] =
		"SELECT id, state = 'fixed', stage = 'refuted', EXISTS (SELECT 1 FROM "
		"regression_job"
		"  WHERE regression = regression.id AND job = ?4)"
		" FROM regression WHERE axis = ?1 AND from_key = ?2 AND to_key = ?3";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, T(x->lsm_axis ? "lsm" : "kernel"), T(x->from_key),
			   T(x->to_key), I(x->job));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0) {
		ret->id = sqlite3_column_int64(st, 0);
		ret->fixed = sqlite3_column_int(st, 1) != 0;
		ret->refuted = sqlite3_column_int(st, 2) != 0;
		ret->known_job = sqlite3_column_int(st, 3) != 0;
	}
	db_reset(st);
	return rc < 0 ? rc : 0;
}

static int insert_row(struct db *db, const struct store_sighting *x, struct row *ret,
		      struct kg_err *err)
{
	static const char sql[] = "INSERT INTO regression (axis, from_key, to_key, from_label, "
				  "to_label, state, stage,"
				  " first_ns, last_ns, seen) VALUES (?1, ?2, ?3, ?4, ?5, 'open', "
				  "'candidate', ?6, ?6, 0)";
	char text[64];
	int rc = db_exec(db, err, sql, T(x->lsm_axis ? "lsm" : "kernel"), T(x->from_key),
			 T(x->to_key), T(x->from_label), T(x->to_label), I(x->now_ns));

	if (rc < 0)
		return rc;
	ret->id = sqlite3_last_insert_rowid(db->h);
	(void)snprintf(text, sizeof(text), "job %llu shows it", (unsigned long long)x->job);
	return add_event(db, ret->id, x->now_ns, NULL, text, err);
}

/* Seen again, by another job than before: what was closed or refuted comes back. */
static int come_back(struct db *db, const struct store_sighting *x, const struct row *r,
		     struct kg_err *err)
{
	char text[96];

	if (!r->fixed && !r->refuted)
		return 0;
	(void)snprintf(text, sizeof(text), "job %llu shows it again: %s",
		       (unsigned long long)x->job,
		       r->fixed && r->refuted ? "open again, a candidate again"
		       : r->fixed	      ? "open again"
					      : "a candidate again");
	return add_event(db, r->id, x->now_ns, NULL, text, err);
}

static int touch_row(struct db *db, const struct store_sighting *x, const struct row *r,
		     struct kg_err *err)
{
	static const char sql[] =
		"UPDATE regression SET from_label = ?2, to_label = ?3, last_ns = max(last_ns, ?4),"
		" seen = seen + ?5, state = iif(?5 AND state = 'fixed', 'open', state),"
		" stage = iif(?5 AND stage = 'refuted', 'candidate', stage) WHERE id = ?1";
	bool news = !r->known_job;
	int rc = news ? come_back(db, x, r, err) : 0;

	if (rc == 0)
		rc = db_exec(db, err, sql, I(r->id), T(x->from_label), T(x->to_label), I(x->now_ns),
			     I(news ? 1 : 0));
	if (rc == 0)
		rc = db_exec(db, err,
			     "INSERT OR IGNORE INTO regression_job (regression, job) VALUES (?, ?)",
			     I(r->id), I(x->job));
	return rc;
}

static int put_member(struct db *db, const struct row *r, const struct store_member *m,
		      struct kg_err *err)
{
	/* Confirmed stays so; refuted is a candidate again when another job shows it. */
	static const char sql[] =
		"INSERT INTO regression_member (regression, machine, workload, params, metric, "
		"unit,"
		" kernel, lsm, source, job, before, after, effect_pct, lo_pct, hi_pct, p, q,"
		" boots_before, boots_after, stage)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"
		"  ?17, ?18, ?19, 'candidate')"
		" ON CONFLICT DO UPDATE SET job = ?10, before = ?11, after = ?12, effect_pct = ?13,"
		" lo_pct = ?14, hi_pct = ?15, p = ?16, q = ?17, boots_before = ?18,"
		" boots_after = ?19,"
		" stage = iif(?20 AND stage = 'refuted', 'candidate', stage)";
	bool interval = m->has_interval;

	if (!isfinite(m->before) || !isfinite(m->after) || !isfinite(m->effect_pct))
		return kg_err_set(err, KG_EINVALID, "a level or effect of '%s' is not a number",
				  m->metric);
	return db_exec(db, err, sql, I(r->id), T(m->machine), T(m->workload), T(m->params),
		       T(m->metric), T(m->unit), T(m->kernel), T(m->lsm),
		       T(m->history ? "history" : "block"), I0(m->job), D(m->before), D(m->after),
		       D(m->effect_pct), interval ? number(m->lo_pct) : NIL,
		       interval ? number(m->hi_pct) : NIL, number(m->p), number(m->q),
		       I(m->boots_before), I(m->boots_after), I(r->known_job ? 0 : 1));
}

static int run_seen(struct store *s, struct op *op)
{
	const struct store_sighting *x = op->args;
	struct db *db = store_db(s);
	struct row r = {0};
	int rc = read_row(db, x, &r, &op->err);

	if (rc < 0)
		return rc;
	op->result.existed = r.id != 0;
	if (!r.id)
		rc = insert_row(db, x, &r, &op->err);
	if (rc == 0)
		rc = touch_row(db, x, &r, &op->err);
	for (size_t i = 0; rc == 0 && i < x->n_members; i++)
		rc = put_member(db, &r, &x->members[i], &op->err);
	op->result.id = (uint64_t)r.id;
	return rc;
}

static const struct store_member *copy_members(struct arena *a, const struct store_member *items,
					       size_t n)
{
	struct store_member *copy = arena_copy(a, items, n, sizeof(*items));

	for (size_t i = 0; copy && i < n; i++) {
		copy[i].machine = arena_text(a, items[i].machine);
		copy[i].workload = arena_text(a, items[i].workload);
		copy[i].params = arena_text(a, items[i].params);
		copy[i].metric = arena_text(a, items[i].metric);
		copy[i].unit = arena_text(a, items[i].unit);
		copy[i].kernel = arena_text(a, items[i].kernel);
		copy[i].lsm = arena_text(a, items[i].lsm);
	}
	return copy;
}

int store_regression_seen(struct store *s, const struct store_sighting *x, struct store_done done)
{
	struct op *op = op_new(run_seen, x, sizeof(*x), done);
	struct store_sighting *copy = op ? op->args : NULL;

	if (copy) {
		struct arena *a = &op->arena;

		op->weight += x->n_members;
		copy->from_key = arena_text(a, x->from_key);
		copy->to_key = arena_text(a, x->to_key);
		copy->from_label = arena_text(a, x->from_label);
		copy->to_label = arena_text(a, x->to_label);
		copy->members = copy_members(a, x->members, x->n_members);
	}
	return op_queue(s, op);
}

/* ---- steps ---- */

/* 0: it is there. */
static int check_there(struct db *db, uint64_t id, struct kg_err *err)
{
	int64_t there = 0;
	int rc = db_int(db, err, "SELECT 1 FROM regression WHERE id = ?", &there, I(id));

	if (rc == 0)
		rc = kg_err_set(err, KG_ENOTFOUND, "no regression %llu", (unsigned long long)id);
	return rc < 0 ? rc : 0;
}

static int step_member(struct db *db, uint64_t id, const struct store_confirmed *m,
		       struct kg_err *err)
{
	static const char sql[] =
		"UPDATE regression_member SET stage = ?8, confirm_p = ?9,"
		" confirm_machine = coalesce(?10, confirm_machine)"
		" WHERE regression = ?1 AND machine = ?2 AND workload = ?3 AND params = ?4"
		" AND metric = ?5 AND kernel = ?6 AND lsm = ?7";

	return db_exec(db, err, sql, I(id), T(m->machine), T(m->workload), T(m->params),
		       T(m->metric), T(m->kernel), T(m->lsm),
		       T(m->confirmed ? "confirmed" : "refuted"), number(m->p),
		       T(m->confirm_machine));
}

static int run_step(struct store *s, struct op *op)
{
	const struct store_regression_step *x = op->args;
	struct db *db = store_db(s);
	int rc = check_there(db, x->regression, &op->err);

	if (rc == 0)
		rc = db_exec(db, &op->err,
			     "UPDATE regression SET stage = ?2,"
			     " confirm_job = coalesce(?3, confirm_job) WHERE id = ?1",
			     I(x->regression), T(store_stage_name(x->stage)), I0(x->confirm_job));
	for (size_t i = 0; rc == 0 && i < x->n_members; i++)
		rc = step_member(db, x->regression, &x->members[i], &op->err);
	if (rc == 0)
		rc = add_event(db, (int64_t)x->regression, x->now_ns, NULL, x->text, &op->err);
	op->result.id = x->regression;
	return rc;
}

static const struct store_confirmed *copy_confirmed(struct arena *a,
						    const struct store_confirmed *items, size_t n)
{
	struct store_confirmed *copy = arena_copy(a, items, n, sizeof(*items));

	for (size_t i = 0; copy && i < n; i++) {
		copy[i].machine = arena_text(a, items[i].machine);
		copy[i].workload = arena_text(a, items[i].workload);
		copy[i].params = arena_text(a, items[i].params);
		copy[i].metric = arena_text(a, items[i].metric);
		copy[i].kernel = arena_text(a, items[i].kernel);
		copy[i].lsm = arena_text(a, items[i].lsm);
		copy[i].confirm_machine = arena_text(a, items[i].confirm_machine);
	}
	return copy;
}

int store_regression_step(struct store *s, const struct store_regression_step *x,
			  struct store_done done)
{
	struct op *op = op_new(run_step, x, sizeof(*x), done);
	struct store_regression_step *copy = op ? op->args : NULL;

	if (copy) {
		op->weight += x->n_members;
		copy->members = copy_confirmed(&op->arena, x->members, x->n_members);
		copy->text = arena_text(&op->arena, x->text ? x->text : "");
	}
	return op_queue(s, op);
}

/* ---- what a person does ---- */

static int run_act(struct store *s, struct op *op)
{
	static const char *const states[] = {"open", "acknowledged", "fixed"};
	const struct store_regression_action *x = op->args;
	struct db *db = store_db(s);
	bool known = !x->state, text = x->text && x->text[0];
	struct kg_str told = {0};
	int rc = check_there(db, x->regression, &op->err);

	for (size_t i = 0; x->state && i < sizeof(states) / sizeof(states[0]); i++)
		known = known || kg_streq(x->state, states[i]);
	if (rc == 0 && !known)
		rc = kg_err_set(&op->err, KG_EINVALID,
				"unknown state '%s': open, acknowledged or fixed", x->state);
	if (rc == 0 && !x->state && !text)
		rc = kg_err_set(&op->err, KG_EINVALID, "an empty comment");
	if (rc == 0 && x->state)
		rc = db_exec(db, &op->err, "UPDATE regression SET state = ?2 WHERE id = ?1",
			     I(x->regression), T(x->state));
	if (rc == 0 && x->retest)
		rc = db_exec(db, &op->err,
			     "UPDATE regression SET stage = 'candidate' WHERE id = ?1"
			     " AND stage <> 'confirming'",
			     I(x->regression));
	if (rc < 0)
		return rc;
	kg_str_addf(&told, "%s%s%s", x->state ? x->state : "", x->state && text ? ": " : "",
		    text ? x->text : "");
	rc = told.failed ? kg_err_set(&op->err, -ENOMEM, "out of memory")
			 : add_event(db, (int64_t)x->regression, x->now_ns, x->user, told.text,
				     &op->err);
	kg_str_deinit(&told);
	op->result.id = x->regression;
	return rc;
}

int store_regression_act(struct store *s, const struct store_regression_action *x,
			 struct store_done done)
{
	struct op *op = op_new(run_act, x, sizeof(*x), done);
	struct store_regression_action *copy = op ? op->args : NULL;

	if (copy) {
		copy->state = arena_text(&op->arena, x->state);
		copy->user = arena_text(&op->arena, x->user);
		copy->text = arena_text(&op->arena, x->text);
	}
	return op_queue(s, op);
}

/* ---- what people are told ---- */

struct notice_args {
	uint64_t id; /* add: of the regression */
	const char *target;
	const char *text; /* end: the reason */
	bool sent;
	int64_t now_ns;
};

static int run_notice_add(struct store *s, struct op *op)
{
	const struct notice_args *a = op->args;
	struct db *db = store_db(s);
	int rc = check_there(db, a->id, &op->err);

	if (rc == 0)
		rc = db_exec(db, &op->err,
			     "INSERT INTO notice (regression, target, text, state, time_ns)"
			     " VALUES (?, ?, ?, 'pending', ?)",
			     I(a->id), T(a->target), T(a->text), I(a->now_ns));
	if (rc == 0)
		op->result.id = (uint64_t)sqlite3_last_insert_rowid(db->h);
	return rc;
}

static int run_notice_end(struct store *s, struct op *op)
{
	const struct notice_args *a = op->args;
	struct db *db = store_db(s);
	int64_t there = 0;
	int rc = db_exec(db, &op->err,
			 "UPDATE notice SET state = ?2, reason = ?3, time_ns = ?4"
			 " WHERE id = ?1 AND state = 'pending'",
			 I(a->id), T(a->sent ? "sent" : "failed"), T(a->text), I(a->now_ns));

	op->result.id = a->id;
	if (rc < 0 || db_changes(db) > 0)
		return rc;
	rc = db_int(db, &op->err, "SELECT 1 FROM notice WHERE id = ?", &there, I(a->id));
	if (rc == 0)
		rc = kg_err_set(&op->err, KG_ENOTFOUND, "no notice %llu",
				(unsigned long long)a->id);
	op->result.existed = rc > 0;
	return rc < 0 ? rc : 0;
}

static int queue_notice(struct store *s, int (*run)(struct store *s, struct op *op),
			const struct notice_args *a, struct store_done done)
{
	struct op *op = op_new(run, a, sizeof(*a), done);
	struct notice_args *copy = op ? op->args : NULL;

	if (copy) {
		copy->target = arena_text(&op->arena, a->target);
		copy->text = arena_text(&op->arena, a->text);
	}
	return op_queue(s, op);
}

int store_notice_add(struct store *s, uint64_t regression, const char *target, const char *text,
		     int64_t now_ns, struct store_done done)
{
	struct notice_args a = {regression, target, text, false, now_ns};

	return queue_notice(s, run_notice_add, &a, done);
}

int store_notice_end(struct store *s, uint64_t id, bool sent, const char *reason, int64_t now_ns,
		     struct store_done done)
{
	struct notice_args a = {id, NULL, reason, sent, now_ns};

	return queue_notice(s, run_notice_end, &a, done);
}
