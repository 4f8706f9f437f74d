/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boots and their attempts, and how slots are settled. */
#include <stdio.h>

#include "common/str.h"
#include "coordinator/store/labels.h"
#include "coordinator/store/op.h"

/* ---- settle ---- */

/* Tells the reader of the events what a slot did not give; a pass is no news. */
static int settle_event(struct db *db, const struct store_settle *st, int64_t now_ns,
			struct kg_err *err)
{
	static const char sql[] =
		"INSERT INTO event (time_ns, machine, job, boot, kind, text)"
		" SELECT ?2, cell.machine, slot.job,"
		"  (SELECT attempt.boot FROM attempt WHERE attempt.id = ?3), 'settle',"
		"  cell.kernel_label || '/' || " CELL_LSM " || ' ' || cell.workload || ' '"
		"  || " CELL_PARAMS " || ', block ' || slot.block || ': ' || ?4"
		"  || iif(?5 IS NULL, '', ': ' || ?5)"
		" FROM slot JOIN cell ON cell.id = slot.cell WHERE slot.id = ?1";

	return db_exec(db, err, sql, I(st->slot), I(now_ns), I0(st->attempt),
		       T(st->outcome == KG_OUTCOME_NONE ? "tried in vain"
							: kg_outcome_name(st->outcome)),
		       T(st->reason));
}

/* A slot's result is that of an attempt at it, and it passes by one that passed. What a server's boot
 * has are helpers of the client's attempts and never a result. */
static int check_attempt(struct db *db, const struct store_settle *st, struct kg_err *err)
{
	bool pass = st->outcome == KG_OUTCOME_PASS;
	int64_t fits = 0;
	int rc;

	if (!st->attempt || st->outcome == KG_OUTCOME_NONE)
		return 0;
	rc = db_int(db, err,
		    "SELECT 1 FROM attempt JOIN boot ON boot.id = attempt.boot"
		    " WHERE attempt.id = ?1 AND attempt.slot = ?2 AND boot.role <> 'server'"
		    " AND (NOT ?3 OR attempt.outcome = 'pass')",
		    &fits, I(st->attempt), I(st->slot), I(pass));
	if (rc >= 0 && !fits)
		rc = kg_err_set(err, KG_EINVALID, "attempt %llu is not one %s slot %llu",
				(unsigned long long)st->attempt, pass ? "that passed" : "at",
				(unsigned long long)st->slot);
	return rc < 0 ? rc : 0;
}

static int settle_one(struct db *db, struct op *op, const struct store_settle *st, int64_t now_ns)
{
	static const char sql[] = "UPDATE slot SET outcome = ?2, reason = ?3, attempt = ?4,"
				  " tries = tries + ?5 WHERE id = ?1 AND outcome IS NULL";
	bool ends = st->outcome != KG_OUTCOME_NONE;
	int64_t there = 0;
	int rc = check_attempt(db, st, &op->err);

	if (rc < 0)
		return rc;
	rc = db_exec(db, &op->err, sql, I(st->slot), T(ends ? kg_outcome_name(st->outcome) : NULL),
		     T(st->reason), ends ? I0(st->attempt) : NIL, I(st->count_try ? 1 : 0));

	if (rc < 0)
		return rc;
	if (db_changes(db) > 0) {
		op->result.count++;
		return st->outcome == KG_OUTCOME_PASS ? 0 : settle_event(db, st, now_ns, &op->err);
	}
	rc = db_int(db, &op->err, "SELECT 1 FROM slot WHERE id = ?", &there, I(st->slot));
	if (rc >= 0 && !there)
		rc = kg_err_set(&op->err, KG_ENOTFOUND, "no slot %llu",
				(unsigned long long)st->slot);
	return rc < 0 ? rc : 0;
}

int settle_all(struct store *s, struct op *op, const struct store_settle *items, size_t n,
	       int64_t now_ns)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = settle_one(store_db(s), op, &items[i], now_ns);
	return rc;
}

static struct store_settle *copy_settles(struct arena *a, const struct store_settle *items,
					 size_t n)
{
	struct store_settle *copy = arena_copy(a, items, n, sizeof(*items));

	for (size_t i = 0; copy && i < n; i++)
		copy[i].reason = arena_text(a, items[i].reason);
	return copy;
}

struct settle_args {
	const struct store_settle *items;
	size_t n;
	int64_t now_ns;
};

static int run_settle(struct store *s, struct op *op)
{
	const struct settle_args *a = op->args;

	return settle_all(s, op, a->items, a->n, a->now_ns);
}

int store_settle(struct store *s, const struct store_settle *items, size_t n, int64_t now_ns,
		 struct store_done done)
{
	struct settle_args a = {items, n, now_ns};
	struct op *op = op_new(run_settle, &a, sizeof(a), done);

	if (op && op->args) {
		((struct settle_args *)op->args)->items = copy_settles(&op->arena, items, n);
		op->weight = n;
	}
	return op_queue(s, op);
}

/* ---- begin ---- */

static int check_machine_free(struct db *db, const struct store_boot *b, struct kg_err *err)
{
	int64_t open = 0;
	int rc = db_int(db, err, "SELECT id FROM boot WHERE machine = ? AND outcome IS NULL", &open,
			T(b->machine));

	if (rc >= 0 && open)
		rc = kg_err_set(err, KG_EBUSY, "machine '%s' is in boot %lld", b->machine,
				(long long)open);
	return rc < 0 ? rc : 0;
}

static int insert_attempt(struct db *db, const struct store_boot *b, const struct store_attempt *a,
			  struct kg_err *err)
{
	int64_t ok = 0;
	int rc = db_int(db, err, "SELECT 1 FROM slot WHERE id = ? AND job = ? AND outcome IS NULL",
			&ok, I(a->slot), I(b->job));

	if (rc >= 0 && !ok)
		rc = kg_err_set(err, KG_ESTATE, "slot %llu is not a pending one of job %llu",
				(unsigned long long)a->slot, (unsigned long long)b->job);
	if (rc < 0)
		return rc;
	return db_exec(db, err,
		       "INSERT INTO attempt (id, slot, boot, position) VALUES (?, ?, ?, ?)",
		       I(a->id), I(a->slot), I(b->id), I(a->position));
}

static int run_boot_begin(struct store *s, struct op *op)
{
	static const char sql[] =
		"INSERT INTO boot (id, job, machine, block, visit, lease_epoch, nonce, kernel,"
		" lsm_request, lsm_effective, cmdline, stage, deadline_boottime_ns,"
		" deadline_host_boot, deadline_ns, started_ns, settings, role, peer, pair)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	const struct store_boot *b = op->args;
	struct db *db = store_db(s);
	bool limited = b->deadline.boottime_ns != 0;
	int rc = check_machine_free(db, b, &op->err);

	if (rc == 0)
		rc = db_exec(db, &op->err, sql, I(b->id), I(b->job), T(b->machine), I(b->block),
			     I(b->visit), I(b->lease_epoch), T(b->nonce), T(b->kernel),
			     T(b->lsm_request), T(b->lsm_effective), T(b->cmdline), T(b->stage),
			     I0(b->deadline.boottime_ns), T(limited ? store_host_boot_id(s) : NULL),
			     limited ? I(b->deadline.realtime_ns) : NIL, I(b->started_ns),
			     TE(b->settings), TE(b->role), TE(b->peer), I0(b->pair));
	for (size_t i = 0; rc == 0 && i < b->n_attempts; i++)
		rc = insert_attempt(db, b, &b->attempts[i], &op->err);
	return rc < 0 ? kg_err_wrap(&op->err, rc, "boot %llu", (unsigned long long)b->id) : 0;
}

int store_boot_begin(struct store *s, const struct store_boot *boot, struct store_done done)
{
	struct op *op = op_new(run_boot_begin, boot, sizeof(*boot), done);
	struct store_boot *b = op ? op->args : NULL;

	if (b) {
		struct arena *a = &op->arena;

		op->weight = 1 + b->n_attempts;
		b->machine = arena_text(a, b->machine);
		b->nonce = arena_text(a, b->nonce);
		b->kernel = arena_text(a, b->kernel);
		b->lsm_request = arena_text(a, b->lsm_request);
		b->lsm_effective = arena_text(a, b->lsm_effective);
		b->cmdline = arena_text(a, b->cmdline);
		b->stage = arena_text(a, b->stage);
		b->settings = arena_text(a, b->settings);
		b->role = arena_text(a, b->role);
		b->peer = arena_text(a, b->peer);
		b->attempts = arena_copy(a, b->attempts, b->n_attempts, sizeof(*b->attempts));
	}
	return op_queue(s, op);
}

/* ---- stage ---- */

struct stage_args {
	uint64_t boot;
	const char *stage;
	struct store_deadline deadline;
};

/* 0: open; KG_ENOTFOUND or KG_ESTATE. */
static int check_open(struct db *db, uint64_t boot, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err, "SELECT outcome FROM boot WHERE id = ?", &st, I(boot));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc == 0)
		rc = kg_err_set(err, KG_ENOTFOUND, "no boot %llu", (unsigned long long)boot);
	else if (rc > 0 && db_col_text(st, 0))
		rc = kg_err_set(err, KG_ESTATE, "boot %llu has ended: %s", (unsigned long long)boot,
				db_col_text(st, 0));
	db_reset(st);
	return rc < 0 ? rc : 0;
}

static int run_boot_stage(struct store *s, struct op *op)
{
	const struct stage_args *a = op->args;
	struct db *db = store_db(s);
	bool limited = a->deadline.boottime_ns != 0;
	int rc = check_open(db, a->boot, &op->err);

	if (rc < 0)
		return rc;
	return db_exec(db, &op->err,
		       "UPDATE boot SET stage = coalesce(?2, stage), deadline_boottime_ns = ?3,"
		       " deadline_host_boot = ?4, deadline_ns = ?5 WHERE id = ?1",
		       I(a->boot), T(a->stage), I0(a->deadline.boottime_ns),
		       T(limited ? store_host_boot_id(s) : NULL),
		       limited ? I(a->deadline.realtime_ns) : NIL);
}

int store_boot_stage(struct store *s, uint64_t boot, const char *stage,
		     const struct store_deadline *d, struct store_done done)
{
	struct stage_args a = {boot, stage, *d};
	struct op *op = op_new(run_boot_stage, &a, sizeof(a), done);

	if (op && op->args)
		((struct stage_args *)op->args)->stage = arena_text(&op->arena, stage);
	return op_queue(s, op);
}

/* ---- end ---- */

static int run_boot_end(struct store *s, struct op *op)
{
	const struct store_boot_end *e = op->args;
	struct db *db = store_db(s);
	bool pass = e->outcome == KG_OUTCOME_PASS;
	int rc = check_open(db, e->boot, &op->err);

	if (rc < 0)
		return rc;
	if (e->outcome == KG_OUTCOME_NONE)
		return kg_err_set(&op->err, KG_EINVALID, "a boot cannot end as pending");
	rc = db_exec(db, &op->err,
		     "UPDATE boot SET outcome = ?2, reason = ?3, ended_ns = ?4,"
		     " deadline_boottime_ns = NULL, deadline_host_boot = NULL, deadline_ns = NULL"
		     " WHERE id = ?1",
		     I(e->boot), T(kg_outcome_name(e->outcome)), T(e->reason), I(e->now_ns));
	if (rc == 0)
		rc = db_exec(db, &op->err,
			     "UPDATE attempt SET outcome = ?2, reason = ?3, ended_ns = ?4"
			     " WHERE boot = ?1 AND outcome IS NULL",
			     I(e->boot), T(pass ? "harness-error" : kg_outcome_name(e->outcome)),
			     T(pass ? "the boot ended without a result of this run" : e->reason),
			     I(e->now_ns));
	if (rc == 0) /* documents that did not come in whole never will */
		rc = db_exec(db, &op->err, "DELETE FROM document_part WHERE boot = ?", I(e->boot));
	return rc < 0 ? rc : settle_all(s, op, e->settles, e->n_settles, e->now_ns);
}

int store_boot_end(struct store *s, const struct store_boot_end *end, struct store_done done)
{
	struct op *op = op_new(run_boot_end, end, sizeof(*end), done);
	struct store_boot_end *e = op ? op->args : NULL;

	if (e) {
		op->weight = 2 + e->n_settles;
		e->reason = arena_text(&op->arena, e->reason);
		e->settles = copy_settles(&op->arena, e->settles, e->n_settles);
	}
	return op_queue(s, op);
}
