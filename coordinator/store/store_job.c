/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs: the plan goes in as a whole; slots get their outcomes. */
#include "coordinator/store/store_job.h"

#include <errno.h>
#include <stdio.h>

#include "common/str.h"

const char *store_job_state_name(enum store_job_state state)
{
	static const char *const names[] = {"queued", "running", "done", "cancelled"};

	return names[state];
}

const char *store_job_kind_name(enum store_job_kind kind)
{
	static const char *const names[] = {"job", "confirm", "calibrate"};

	return names[kind];
}

/* ---- insert ---- */

static int check_kernel(struct db *db, const struct store_cell *c, struct kg_err *err)
{
	int64_t there = 0;
	int rc = db_int(db, err, "SELECT 1 FROM kernel WHERE digest = ? AND removed_ns IS NULL",
			&there, T(c->kernel));

	if (rc >= 0 && !there)
		rc = kg_err_set(err, KG_EINVALID, "kernel '%s' is not stored any more",
				c->kernel_label);
	return rc < 0 ? rc : 0;
}

static int insert_cells(struct db *db, const struct store_job *j, int64_t job, int64_t first,
			struct kg_err *err)
{
	static const char sql[] =
		"INSERT INTO cell (id, job, identity, machine, kernel, kernel_label, lsm_label,"
		" lsm_request, lsm_effective, cmdline, workload, workload_digest, params,"
		" iterations, timeout_s, kernel_order, lsm_order, workload_order, number, variant,"
		" settings, peer, canary, leave_by_reboot, run_s)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
		"?)";
	const char *checked = "";
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < j->n_cells; i++) {
		const struct store_cell *c = &j->cells[i];

		if (!kg_streq(c->kernel, checked))
			rc = check_kernel(db, c, err);
		checked = c->kernel;
		if (rc < 0)
			break;
		rc = db_exec(db, err, sql, I(first + (int64_t)i), I(job), T(c->identity),
			     T(c->machine), T(c->kernel), T(c->kernel_label), T(c->lsm_label),
			     T(c->lsm_request), T(c->lsm_effective), T(c->cmdline), T(c->workload),
			     T(c->workload_digest), T(c->params), I(c->iterations), I(c->timeout_s),
			     I(c->kernel_order), I(c->lsm_order), I(c->workload_order),
			     I(c->number ? c->number : i + 1), TE(c->variant), TE(c->settings),
			     TE(c->peer), I(c->canary), I(c->leave_by_reboot), I(c->run_s));
		if (rc < 0)
			rc = kg_err_wrap(err, rc, "cell '%s %s %s'", c->kernel_label, c->lsm_label,
					 c->workload);
	}
	return rc;
}

int job_insert_slot(struct db *db, const struct store_slot *sl, int64_t job, int64_t cell,
		    int64_t id, struct kg_err *err)
{
	static const char sql[] = "INSERT INTO slot (id, job, cell, block, visit, position,"
				  " outcome, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
	bool pending = sl->outcome == KG_OUTCOME_NONE;

	if (!pending && sl->outcome != KG_OUTCOME_INFEASIBLE)
		return kg_err_set(err, KG_EINVALID, "it is '%s' before it began",
				  kg_outcome_name(sl->outcome));
	return db_exec(db, err, sql, I(id), I(job), I(cell), I(sl->block), I(sl->visit),
		       I(sl->position), T(pending ? NULL : kg_outcome_name(sl->outcome)),
		       T(sl->reason));
}

static int insert_slots(struct db *db, const struct store_job *j, int64_t job, int64_t first_cell,
			int64_t first, struct kg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < j->n_slots; i++) {
		const struct store_slot *sl = &j->slots[i];

		if (sl->cell_index >= j->n_cells)
			return kg_err_set(err, KG_EINVALID, "slot %zu has no cell", i);
		rc = job_insert_slot(db, sl, job, first_cell + (int64_t)sl->cell_index,
				     first + (int64_t)i, err);
		if (rc < 0)
			rc = kg_err_wrap(err, rc, "slot %zu", i);
	}
	return rc;
}

static int insert_files(struct db *db, const struct store_job *j, int64_t job, struct kg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < j->n_files; i++)
		rc = db_exec(db, err,
			     "INSERT INTO job_file (job, position, name, text) VALUES (?, ?, ?, ?)",
			     I(job), I(i), TE(j->files[i].name), TE(j->files[i].text));
	return rc;
}

static int insert_merges(struct db *db, const struct store_job *j, int64_t job, struct kg_err *err)
{
	/* A list that merges under every variant of the command line is said once. */
	static const char sql[] =
		"INSERT OR IGNORE INTO job_merge (job, machine, kernel, lsm, same_as, effective)"
		" VALUES (?, ?, ?, ?, ?, ?)";
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < j->n_merges; i++) {
		const struct store_merge *m = &j->merges[i];

		rc = db_exec(db, err, sql, I(job), TE(m->machine), TE(m->kernel), TE(m->lsm),
			     TE(m->into), TE(m->effective));
	}
	return rc;
}

static int insert_after(struct db *db, const struct store_job *j, int64_t job, struct kg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < j->n_after; i++) {
		int64_t there = 0;

		rc = db_int(db, err, "SELECT 1 FROM job WHERE id = ? AND id <> ?", &there,
			    I(j->after[i]), I(job));
		if (rc == 0)
			rc = kg_err_set(err, KG_EINVALID, "no job %llu to come after",
					(unsigned long long)j->after[i]);
		if (rc > 0)
			rc = db_exec(db, err,
				     "INSERT OR IGNORE INTO job_after (job, before) VALUES (?, ?)",
				     I(job), I(j->after[i]));
	}
	return rc;
}

static int insert_job_row(struct db *db, const struct store_job *j, struct kg_err *err)
{
	static const char sql[] =
		"INSERT INTO job (name, text, file_name, client_key, state, priority, boot_order,"
		" seed, blocks, warnings, submitted_ns, ended_ns, kind, regression, user, paused,"
		" blocks_min, until_pct, budget_ns, queue_timeout_ns, hop_s, standing, queued_ns)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"
		"  ?17, ?18, ?19, ?20, ?21, ?22, ?11)";
	struct kg_str w = {0};
	int rc;

	kg_str_add(&w, "[");
	for (size_t i = 0; i < j->n_warnings; i++) {
		kg_str_add(&w, i ? "," : "");
		kg_str_add_json(&w, j->warnings[i]);
	}
	kg_str_add(&w, "]");
	rc = w.failed ? kg_err_set(err, -ENOMEM, "out of memory")
		      : db_exec(db, err, sql, T(j->name), T(j->text), T(j->file_name),
				T(j->client_key), T(store_job_state_name(j->state)), I(j->priority),
				T(j->grouped ? "grouped" : "interleaved"), I(j->seed), I(j->blocks),
				T(w.text), I(j->submitted_ns), I0(j->ended_ns),
				T(store_job_kind_name(j->kind)), I0(j->regression), TE(j->user),
				I(j->paused), I(j->blocks_min), D(j->until_pct), I(j->budget_ns),
				I(j->queue_timeout_ns), I(j->hop_s), I0(j->standing));
	kg_str_deinit(&w);
	return rc;
}

static int run_job_insert(struct store *s, struct op *op)
{
	const struct store_job *j = op->args;
	struct db *db = store_db(s);
	int64_t job = 0, cell = 0, slot = 0;
	int rc = 0;

	if (j->client_key)
		rc = db_int(db, &op->err, "SELECT id FROM job WHERE client_key = ?", &job,
			    T(j->client_key));
	if (rc < 0)
		return rc;
	if (rc > 0) {
		op->result.id = (uint64_t)job;
		op->result.existed = true;
		return 0;
	}
	rc = db_int(db, &op->err, "SELECT max(id) FROM cell", &cell, NIL);
	if (rc >= 0)
		rc = db_int(db, &op->err, "SELECT max(id) FROM slot", &slot, NIL);
	if (rc >= 0)
		rc = insert_job_row(db, j, &op->err);
	if (rc < 0)
		return rc;
	job = sqlite3_last_insert_rowid(db->h);
	rc = insert_cells(db, j, job, cell + 1, &op->err);
	if (rc == 0)
		rc = insert_slots(db, j, job, cell + 1, slot + 1, &op->err);
	if (rc == 0)
		rc = insert_files(db, j, job, &op->err);
	if (rc == 0)
		rc = insert_merges(db, j, job, &op->err);
	if (rc == 0)
		rc = insert_after(db, j, job, &op->err);
	op->result.id = (uint64_t)job;
	op->result.first_cell = (uint64_t)cell + 1;
	op->result.first_slot = (uint64_t)slot + 1;
	return rc;
}

static void copy_cells(struct arena *a, struct store_job *j)
{
	struct store_cell *cells = arena_copy(a, j->cells, j->n_cells, sizeof(*cells));

	for (size_t i = 0; cells && i < j->n_cells; i++) {
		struct store_cell *c = &cells[i];

		c->identity = arena_text(a, c->identity);
		c->machine = arena_text(a, c->machine);
		c->kernel = arena_text(a, c->kernel);
		c->kernel_label = arena_text(a, c->kernel_label);
		c->lsm_label = arena_text(a, c->lsm_label);
		c->lsm_request = arena_text(a, c->lsm_request);
		c->lsm_effective = arena_text(a, c->lsm_effective);
		c->cmdline = arena_text(a, c->cmdline);
		c->workload = arena_text(a, c->workload);
		c->workload_digest = arena_text(a, c->workload_digest);
		c->params = arena_text(a, c->params);
		c->variant = arena_text(a, c->variant);
		c->settings = arena_text(a, c->settings);
		c->peer = arena_text(a, c->peer);
	}
	j->cells = cells;
}

const struct store_file *op_copy_files(struct arena *a, const struct store_file *files, size_t n)
{
	struct store_file *copy = arena_copy(a, files, n, sizeof(*copy));

	for (size_t i = 0; copy && i < n; i++) {
		copy[i].name = arena_text(a, files[i].name);
		copy[i].text = arena_text(a, files[i].text);
	}
	return copy;
}

static const struct store_merge *copy_merges(struct arena *a, const struct store_merge *merges,
					     size_t n)
{
	struct store_merge *copy = arena_copy(a, merges, n, sizeof(*copy));

	for (size_t i = 0; copy && i < n; i++) {
		copy[i].machine = arena_text(a, merges[i].machine);
		copy[i].kernel = arena_text(a, merges[i].kernel);
		copy[i].lsm = arena_text(a, merges[i].lsm);
		copy[i].into = arena_text(a, merges[i].into);
		copy[i].effective = arena_text(a, merges[i].effective);
	}
	return copy;
}

struct store_slot *op_copy_slots(struct arena *a, const struct store_slot *slots, size_t n)
{
	struct store_slot *copy = arena_copy(a, slots, n, sizeof(*copy));

	for (size_t i = 0; copy && i < n; i++)
		copy[i].reason = arena_text(a, slots[i].reason);
	return copy;
}

int store_job_insert(struct store *s, const struct store_job *job, struct store_done done)
{
	struct op *op = op_new(run_job_insert, job, sizeof(*job), done);
	struct store_job *j = op ? op->args : NULL;
	struct arena *a = op ? &op->arena : NULL;
	const char **warnings;

	if (!j)
		return op_queue(s, op);
	op->weight = 1 + j->n_cells + j->n_slots + j->n_files + j->n_merges + j->n_after;
	j->name = arena_text(a, j->name);
	j->text = arena_text(a, j->text);
	j->file_name = arena_text(a, j->file_name);
	j->client_key = arena_text(a, j->client_key);
	warnings = arena_alloc(a, j->n_warnings, sizeof(*warnings));
	for (size_t i = 0; warnings && i < j->n_warnings; i++)
		warnings[i] = arena_text(a, j->warnings[i]);
	j->warnings = warnings;
	copy_cells(a, j);
	j->slots = op_copy_slots(a, j->slots, j->n_slots);
	j->user = arena_text(a, j->user);
	j->files = op_copy_files(a, j->files, j->n_files);
	j->merges = copy_merges(a, j->merges, j->n_merges);
	j->after = arena_copy(a, j->after, j->n_after, sizeof(*j->after));
	return op_queue(s, op);
}

/* ---- state ---- */

struct job_args {
	uint64_t job;
	enum store_job_state state;
	int64_t now_ns;
	const char *user;
};

int job_state(struct db *db, uint64_t job, char ret[16], struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err, "SELECT state FROM job WHERE id = ?", &st, I(job));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0)
		(void)snprintf(ret, 16, "%s", db_col_text_or(st, 0, ""));
	else if (rc == 0)
		rc = kg_err_set(err, KG_ENOTFOUND, "no job %llu", (unsigned long long)job);
	db_reset(st);
	return rc < 0 ? rc : 0;
}

static int check_no_pending(struct db *db, uint64_t job, struct kg_err *err)
{
	int64_t pending = 0;
	int rc = db_int(db, err, "SELECT count(*) FROM slot WHERE job = ? AND outcome IS NULL",
			&pending, I(job));

	if (rc >= 0 && pending)
		rc = kg_err_set(err, KG_ESTATE, "job %llu has %lld pending slots",
				(unsigned long long)job, (long long)pending);
	return rc < 0 ? rc : 0;
}

static int set_state(struct db *db, const struct job_args *a, struct kg_err *err)
{
	bool ended = a->state == STORE_JOB_DONE || a->state == STORE_JOB_CANCELLED;

	return db_exec(db, err, "UPDATE job SET state = ?2, ended_ns = ?3 WHERE id = ?1", I(a->job),
		       T(store_job_state_name(a->state)), ended ? I(a->now_ns) : NIL);
}

static int run_job_state(struct store *s, struct op *op)
{
	const struct job_args *a = op->args;
	struct db *db = store_db(s);
	char state[16] = "";
	int rc = job_state(db, a->job, state, &op->err);

	if (rc < 0)
		return rc;
	if (kg_streq(state, store_job_state_name(a->state)))
		return 0;
	if (kg_streq(state, "cancelled") || kg_streq(state, "done"))
		return kg_err_set(&op->err, KG_ESTATE, "job %llu is %s", (unsigned long long)a->job,
				  state);
	if (a->state == STORE_JOB_CANCELLED)
		return kg_err_set(&op->err, KG_EINVALID, "cancelling is another operation");
	if (a->state == STORE_JOB_DONE)
		rc = check_no_pending(db, a->job, &op->err);
	return rc < 0 ? rc : set_state(db, a, &op->err);
}

/* "cancelled: 54 slots (bob)" */
static int tell(struct db *db, const struct job_args *a, const char *what, uint64_t slots,
		struct kg_err *err)
{
	struct kg_str text = {0};
	int rc;

	kg_str_addf(&text, "%s: %llu slot%s", what, (unsigned long long)slots,
		    slots == 1 ? "" : "s");
	if (a->user && a->user[0])
		kg_str_addf(&text, " (%s)", a->user);
	rc = job_event(db, a->job, NULL, a->now_ns, "job", &text, err);
	kg_str_deinit(&text);
	return rc;
}

static int run_job_cancel(struct store *s, struct op *op)
{
	const struct job_args *a = op->args;
	struct db *db = store_db(s);
	char state[16] = "";
	int rc = job_state(db, a->job, state, &op->err);

	if (rc < 0)
		return rc;
	if (kg_streq(state, "cancelled") || kg_streq(state, "done"))
		return kg_err_set(&op->err, KG_ESTATE, "job %llu is %s", (unsigned long long)a->job,
				  state);
	rc = db_exec(db, &op->err,
		     "UPDATE slot SET outcome = 'cancelled', reason = NULL"
		     " WHERE job = ? AND outcome IS NULL",
		     I(a->job));
	op->result.count = (uint64_t)db_changes(db);
	if (rc == 0)
		rc = set_state(db, a, &op->err);
	return rc < 0 ? rc : tell(db, a, "cancelled", op->result.count, &op->err);
}

int job_kernels_kept(struct db *db, uint64_t job, const char *what, struct kg_err *err)
{
	static const char sql[] = "SELECT cell.kernel_label FROM cell"
				  " JOIN kernel ON kernel.digest = cell.kernel"
				  " WHERE cell.job = ? AND kernel.removed_ns IS NOT NULL LIMIT 1";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0)
		rc = kg_err_set(err, KG_EREFUSED,
				"kernel '%s' was removed: add it again before the %s",
				db_col_text_or(st, 0, ""), what);
	db_reset(st);
	return rc;
}

int job_queue_again(struct db *db, uint64_t job, int64_t now_ns, struct kg_err *err)
{
	return db_exec(db, err,
		       "UPDATE job SET state = 'queued', ended_ns = NULL, paused = 0,"
		       " queued_ns = ?2 WHERE id = ?1",
		       I(job), I(now_ns));
}

static int run_job_retry(struct store *s, struct op *op)
{
	const struct job_args *a = op->args;
	struct db *db = store_db(s);
	char state[16] = "";
	int rc = job_state(db, a->job, state, &op->err);

	if (rc < 0)
		return rc;
	if (!kg_streq(state, "cancelled") && !kg_streq(state, "done"))
		return kg_err_set(&op->err, KG_ESTATE, "job %llu is still %s",
				  (unsigned long long)a->job, state);
	rc = job_kernels_kept(db, a->job, "retry", &op->err);
	if (rc == 0)
		rc = db_exec(db, &op->err,
			     "UPDATE slot SET outcome = NULL, reason = NULL, attempt = NULL,"
			     " tries = 0 WHERE job = ?"
			     " AND outcome NOT IN ('pass', 'infeasible', 'skipped')",
			     I(a->job));
	if (rc < 0)
		return rc;
	op->result.count = (uint64_t)db_changes(db);
	if (op->result.count == 0)
		return kg_err_set(&op->err, KG_ENODATA,
				  "job %llu has no slot to retry: all passed, are infeasible or "
				  "were skipped ('kgrid job extend' makes more blocks)",
				  (unsigned long long)a->job);
	/* Their blocks are to be looked at again. */
	rc = db_exec(db, &op->err,
		     "DELETE FROM detection WHERE job = ?1 AND (machine, block) IN"
		     " (SELECT cell.machine, slot.block FROM slot JOIN cell ON cell.id = slot.cell"
		     "  WHERE slot.job = ?1 AND slot.outcome IS NULL)",
		     I(a->job));
	if (rc == 0)
		rc = job_queue_again(db, a->job, a->now_ns, &op->err);
	return rc < 0 ? rc : tell(db, a, "retried", op->result.count, &op->err);
}

static int queue_job(struct store *s, int (*run)(struct store *s, struct op *op), uint64_t job,
		     enum store_job_state state, int64_t now_ns, const char *user,
		     struct store_done done)
{
	struct job_args a = {job, state, now_ns, user};
	struct op *op = op_new(run, &a, sizeof(a), done);

	if (op && op->args)
		((struct job_args *)op->args)->user = arena_text(&op->arena, user);
	return op_queue(s, op);
}

int store_job_state(struct store *s, uint64_t job, enum store_job_state state, int64_t now_ns,
		    struct store_done done)
{
	return queue_job(s, run_job_state, job, state, now_ns, NULL, done);
}

int store_job_cancel(struct store *s, uint64_t job, int64_t now_ns, const char *user,
		     struct store_done done)
{
	return queue_job(s, run_job_cancel, job, STORE_JOB_CANCELLED, now_ns, user, done);
}

int store_job_retry(struct store *s, uint64_t job, int64_t now_ns, const char *user,
		    struct store_done done)
{
	return queue_job(s, run_job_retry, job, STORE_JOB_QUEUED, now_ns, user, done);
}
