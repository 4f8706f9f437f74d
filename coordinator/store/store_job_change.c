/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens to a job after it was submitted: pause, priority, more blocks, an early end. */
#include <errno.h>

#include "common/str.h"
#include "coordinator/store/store_job.h"

int job_event(struct db *db, uint64_t job, const char *machine, int64_t now_ns, const char *kind,
	      struct kg_str *text, struct kg_err *err)
{
	struct store_event e = {.time_ns = now_ns, .machine = machine, .job = job, .kind = kind};

	if (text->failed)
		return kg_err_set(err, -ENOMEM, "out of memory");
	e.text = kg_str_text(text);
	return event_insert(db, err, &e);
}

/* ---- pause, priority ---- */

struct job_now {
	uint32_t priority;
	bool paused;
};

static int read_now(struct db *db, uint64_t job, struct job_now *ret, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err, "SELECT priority, paused FROM job WHERE id = ?", &st, I(job));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0) {
		ret->priority = (uint32_t)sqlite3_column_int64(st, 0);
		ret->paused = sqlite3_column_int(st, 1) != 0;
	}
	db_reset(st);
	return rc < 0 ? rc : 0;
}

static int run_change(struct store *s, struct op *op)
{
	const struct store_job_change *x = op->args;
	struct db *db = store_db(s);
	struct job_now now = {0};
	struct kg_str text = {0};
	char state[16] = "";
	bool pauses, ranks;
	int rc = job_state(db, x->job, state, &op->err);

	if (rc < 0)
		return rc;
	if (!kg_streq(state, "queued") && !kg_streq(state, "running"))
		return kg_err_set(&op->err, KG_ESTATE, "job %llu is %s", (unsigned long long)x->job,
				  state);
	rc = read_now(db, x->job, &now, &op->err);
	pauses = x->set_paused && x->paused != now.paused;
	ranks = x->set_priority && x->priority != now.priority;
	if (rc < 0 || (!pauses && !ranks))
		return rc; /* as it is already: no news */
	rc = db_exec(db, &op->err, "UPDATE job SET paused = ?2, priority = ?3 WHERE id = ?1",
		     I(x->job), I(pauses ? x->paused : now.paused),
		     I(ranks ? x->priority : now.priority));
	if (rc < 0)
		return rc;
	op->result.count = 1;
	if (pauses)
		kg_str_add(&text, x->paused ? "paused" : "goes on");
	if (ranks)
		kg_str_addf(&text, "%spriority %u -> %u", pauses ? ", " : "", now.priority,
			    x->priority);
	if (x->user && x->user[0])
		kg_str_addf(&text, " (%s)", x->user);
	rc = job_event(db, x->job, NULL, x->now_ns, "job", &text, &op->err);
	kg_str_deinit(&text);
	return rc;
}

int store_job_change(struct store *s, const struct store_job_change *x, struct store_done done)
{
	struct op *op = op_new(run_change, x, sizeof(*x), done);

	if (op && op->args)
		((struct store_job_change *)op->args)->user = arena_text(&op->arena, x->user);
	return op_queue(s, op);
}

/* ---- more blocks ---- */

static int check_extension(struct db *db, const struct store_job_extend *x, struct kg_err *err)
{
	char state[16] = "";
	int64_t blocks = 0;
	int rc = job_state(db, x->job, state, err);

	if (rc == 0 && kg_streq(state, "cancelled"))
		rc = kg_err_set(err, KG_ESTATE, "job %llu is cancelled: retry it first",
				(unsigned long long)x->job);
	if (rc == 0)
		rc = db_int(db, err, "SELECT blocks FROM job WHERE id = ?", &blocks, I(x->job));
	if (rc < 0)
		return rc;
	if (x->first_block != blocks + 1)
		return kg_err_set(err, KG_ESTATE,
				  "job %llu has %lld blocks, more of them begin at %lld and not %u",
				  (unsigned long long)x->job, (long long)blocks,
				  (long long)blocks + 1, x->first_block);
	if (x->n_blocks == 0 || x->n_slots == 0 || x->n_blocks > UINT32_MAX - x->first_block)
		return kg_err_set(err, KG_EINVALID, "nothing to extend job %llu by",
				  (unsigned long long)x->job);
	return job_kernels_kept(db, x->job, "extension", err);
}

static int extend_slot(struct db *db, const struct store_job_extend *x, size_t i, int64_t id,
		       struct kg_err *err)
{
	const struct store_slot *sl = &x->slots[i];
	int64_t cell = 0;
	int rc;

	if (sl->block < x->first_block || sl->block - x->first_block >= x->n_blocks)
		return kg_err_set(err, KG_EINVALID, "slot %zu is of block %u", i, sl->block);
	rc = db_int(db, err, "SELECT id FROM cell WHERE job = ? AND number = ?", &cell, I(x->job),
		    I(sl->cell_index + 1));
	if (rc == 0)
		rc = kg_err_set(err, KG_EINVALID, "slot %zu has no cell", i);
	if (rc < 0)
		return rc;
	rc = job_insert_slot(db, sl, (int64_t)x->job, cell, id, err);
	return rc < 0 ? kg_err_wrap(err, rc, "slot %zu", i) : 0;
}

static int put_blocks(struct db *db, const struct store_job_extend *x, struct kg_err *err)
{
	/* Judged once and found enough, or out of its budget: who asks for more wants more. */
	static const char sql[] = "UPDATE job SET blocks = ?2, blocks_min = 0, budget_ns = 0"
				  " WHERE id = ?1";
	char state[16] = "";
	int rc = job_state(db, x->job, state, err);

	if (rc == 0)
		rc = db_exec(db, err, sql, I(x->job), I(x->first_block + x->n_blocks - 1));
	if (rc == 0 && kg_streq(state, "done"))
		rc = job_queue_again(db, x->job, x->now_ns, err);
	return rc;
}

static int run_extend(struct store *s, struct op *op)
{
	const struct store_job_extend *x = op->args;
	struct db *db = store_db(s);
	struct kg_str text = {0};
	int64_t last = 0;
	int rc = check_extension(db, x, &op->err);

	if (rc == 0)
		rc = db_int(db, &op->err, "SELECT max(id) FROM slot", &last, NIL);
	for (size_t i = 0; rc >= 0 && i < x->n_slots; i++)
		rc = extend_slot(db, x, i, last + 1 + (int64_t)i, &op->err);
	if (rc >= 0)
		rc = put_blocks(db, x, &op->err);
	if (rc < 0)
		return rc;
	kg_str_addf(&text, "extended by %u block%s: %zu slot%s", x->n_blocks,
		    x->n_blocks == 1 ? "" : "s", x->n_slots, x->n_slots == 1 ? "" : "s");
	rc = job_event(db, x->job, NULL, x->now_ns, "job", &text, &op->err);
	kg_str_deinit(&text);
	op->result.id = x->job;
	op->result.first_slot = (uint64_t)last + 1;
	op->result.count = x->n_slots;
	return rc;
}

int store_job_extend(struct store *s, const struct store_job_extend *x, struct store_done done)
{
	struct op *op = op_new(run_extend, x, sizeof(*x), done);

	if (op && op->args) {
		op->weight = 1 + x->n_slots;
		((struct store_job_extend *)op->args)->slots =
			op_copy_slots(&op->arena, x->slots, x->n_slots);
	}
	return op_queue(s, op);
}

/* ---- an early end ---- */

/* What the close ends, per machine: pending slots that no open boot is about. */
#define CLOSABLE                                                                     \
	" FROM slot JOIN cell ON cell.id = slot.cell"                                \
	" WHERE slot.job = ?1 AND slot.outcome IS NULL"                              \
	" AND (?2 IS NULL OR cell.machine = ?2)"                                     \
	" AND NOT EXISTS (SELECT 1 FROM attempt JOIN boot ON boot.id = attempt.boot" \
	"  WHERE attempt.slot = slot.id AND boot.outcome IS NULL)"

struct closing {
	int64_t slots, machines;
	int64_t least, most; /* blocks that the machines have made of the job */
};

static int read_closing(struct db *db, const struct store_job_close *x, struct closing *ret,
			struct kg_err *err)
{
	/* A block counts as made when a slot of it has ended by running, or runs. */
	static const char sql[] =
		"WITH closed AS MATERIALIZED (SELECT cell.machine AS machine,"
		"  count(*) AS slots" CLOSABLE " GROUP BY cell.machine),"
		" made AS MATERIALIZED (SELECT cell.machine AS machine,"
		"  count(DISTINCT slot.block) AS blocks"
		"  FROM slot JOIN cell ON cell.id = slot.cell"
		"  WHERE slot.job = ?1 AND (?2 IS NULL OR cell.machine = ?2)"
		"  AND (slot.attempt IS NOT NULL OR EXISTS (SELECT 1 FROM attempt JOIN boot"
		"   ON boot.id = attempt.boot WHERE attempt.slot = slot.id"
		"   AND boot.outcome IS NULL)) GROUP BY cell.machine)"
		" SELECT sum(closed.slots), count(*), min(coalesce(made.blocks, 0)),"
		" max(coalesce(made.blocks, 0)) FROM closed"
		" LEFT JOIN made ON made.machine = closed.machine";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(x->job), T(x->machine));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0) {
		ret->slots = sqlite3_column_int64(st, 0);
		ret->machines = sqlite3_column_int64(st, 1);
		ret->least = sqlite3_column_int64(st, 2);
		ret->most = sqlite3_column_int64(st, 3);
	}
	db_reset(st);
	return rc < 0 ? rc : 0;
}

static int add_stop(struct db *db, const struct store_job_close *x, const struct closing *c,
		    struct kg_err *err)
{
	static const char sql[] =
		"UPDATE job SET stops = json_insert(stops, '$[#]', json_object('machine', ?2,"
		" 'machines', ?3, 'outcome', ?4, 'reason', ?5, 'slots', ?6, 'least', ?7,"
		" 'most', ?8, 'time_ns', ?9)) WHERE id = ?1";

	return db_exec(db, err, sql, I(x->job), T(x->machine), I(c->machines),
		       T(kg_outcome_name(x->outcome)), TE(x->reason), I(c->slots), I(c->least),
		       I(c->most), I(x->now_ns));
}

/* Blocks that ended without a result: the detector has nothing to look at and need not ask for them
 * again. A retry takes the marks away. */
static int mark_blocks(struct db *db, const struct store_job_close *x, struct kg_err *err)
{
	static const char sql[] =
		"INSERT OR IGNORE INTO detection (job, machine, block, time_ns)"
		" SELECT ?1, cell.machine, slot.block, ?3 FROM slot JOIN cell ON cell.id = "
		"slot.cell"
		" WHERE slot.job = ?1 AND (?2 IS NULL OR cell.machine = ?2)"
		" GROUP BY cell.machine, slot.block"
		" HAVING sum(slot.outcome IS NULL) = 0 AND sum(slot.outcome IS 'pass') = 0";

	return db_exec(db, err, sql, I(x->job), T(x->machine), I(x->now_ns));
}

static int run_close(struct store *s, struct op *op)
{
	static const char sql[] = "UPDATE slot SET outcome = ?3, reason = ?4 WHERE id IN"
				  " (SELECT slot.id" CLOSABLE ")";
	const struct store_job_close *x = op->args;
	struct db *db = store_db(s);
	struct closing c = {0};
	struct kg_str text = {0};
	char state[16] = "";
	int rc = job_state(db, x->job, state, &op->err);

	if (rc == 0 && x->outcome != KG_OUTCOME_SKIPPED && x->outcome != KG_OUTCOME_QUEUE_TIMEOUT)
		rc = kg_err_set(&op->err, KG_EINVALID, "slots do not end as '%s' before they run",
				kg_outcome_name(x->outcome));
	if (rc == 0)
		rc = read_closing(db, x, &c, &op->err);
	if (rc < 0 || c.slots == 0)
		return rc; /* closed already: nothing to tell */
	rc = db_exec(db, &op->err, sql, I(x->job), T(x->machine), T(kg_outcome_name(x->outcome)),
		     T(x->reason));
	op->result.count = (uint64_t)db_changes(db);
	if (rc == 0)
		rc = add_stop(db, x, &c, &op->err);
	if (rc == 0)
		rc = mark_blocks(db, x, &op->err);
	if (rc < 0)
		return rc;
	kg_str_addf(&text, "%lld slot%s: %s%s%s", (long long)c.slots, c.slots == 1 ? "" : "s",
		    kg_outcome_name(x->outcome), x->reason && x->reason[0] ? ": " : "",
		    x->reason ? x->reason : "");
	rc = job_event(db, x->job, x->machine, x->now_ns, "close", &text, &op->err);
	kg_str_deinit(&text);
	return rc;
}

int store_job_close(struct store *s, const struct store_job_close *x, struct store_done done)
{
	struct op *op = op_new(run_close, x, sizeof(*x), done);
	struct store_job_close *copy = op ? op->args : NULL;

	if (copy) {
		copy->machine = arena_text(&op->arena, x->machine);
		copy->reason = arena_text(&op->arena, x->reason);
	}
	return op_queue(s, op);
}
