/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scheduler starts from. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "common/str.h"
#include "coordinator/store/query_internal.h"

/* The public struct is the first member: freeing it frees the arena that holds everything. */
struct snapshot_owner {
	struct store_snapshot pub;
	struct arena arena;
};

struct job_owner {
	struct store_job pub;
	struct arena arena;
};

static const char *text_at(struct arena *a, sqlite3_stmt *st, int i)
{
	return arena_text(a, db_col_text_or(st, i, ""));
}

static const char *text_or_null_at(struct arena *a, sqlite3_stmt *st, int i)
{
	return arena_text(a, db_col_text(st, i));
}

static enum kg_outcome outcome_at(sqlite3_stmt *st, int i)
{
	const char *name = db_col_text(st, i);

	return name ? kg_outcome_parse(name) : KG_OUTCOME_NONE;
}

static uint64_t u64_at(sqlite3_stmt *st, int i)
{
	return (uint64_t)sqlite3_column_int64(st, i);
}

static uint32_t u32_at(sqlite3_stmt *st, int i)
{
	return (uint32_t)sqlite3_column_int64(st, i);
}

static enum store_job_state state_parse(const char *name)
{
	for (int i = STORE_JOB_QUEUED; i < STORE_JOB_CANCELLED; i++) {
		if (kg_streq(name, store_job_state_name((enum store_job_state)i)))
			return (enum store_job_state)i;
	}
	return STORE_JOB_CANCELLED;
}

static enum store_job_kind kind_parse(const char *name)
{
	for (int i = STORE_JOB_CONFIRM; i <= STORE_JOB_CALIBRATE; i++) {
		if (kg_streq(name, store_job_kind_name((enum store_job_kind)i)))
			return (enum store_job_kind)i;
	}
	return STORE_JOB_NORMAL;
}

/* ---- jobs ---- */

static void read_warnings(struct arena *a, const char *json, struct store_job *j)
{
	json_t *list = json_loads(json, 0, NULL);
	size_t n = json_array_size(list);
	const char **texts = arena_alloc(a, n, sizeof(*texts));

	for (size_t i = 0; texts && i < n; i++) {
		const char *t = json_string_value(json_array_get(list, i));

		texts[i] = arena_text(a, t ? t : "");
	}
	json_decref(list);
	j->warnings = texts;
	j->n_warnings = texts ? n : 0;
}

/* Columns from `user` on. */
static void read_policy(struct arena *a, sqlite3_stmt *st, struct store_job *j)
{
	j->user = text_at(a, st, 14);
	j->paused = sqlite3_column_int(st, 15) != 0;
	j->blocks_min = u32_at(st, 16);
	j->until_pct = sqlite3_column_double(st, 17);
	j->budget_ns = u64_at(st, 18);
	j->queue_timeout_ns = u64_at(st, 19);
	j->standing = u64_at(st, 20);
	j->hop_s = u32_at(st, 21);
	j->queued_ns = sqlite3_column_int64(st, 22);
	j->started_ns = sqlite3_column_int64(st, 23);
}

static int read_job_row(struct db *db, struct arena *a, uint64_t id, struct store_job *j,
			struct kg_err *err)
{
	static const char sql[] =
		"SELECT name, text, file_name, client_key, state, priority, boot_order, seed,"
		" blocks, warnings, submitted_ns, ended_ns, kind, regression, user, paused,"
		" blocks_min, until_pct, budget_ns, queue_timeout_ns, standing, hop_s, queued_ns,"
		/* Budgets count from the first boot; those before a retry are another run. */
		" (SELECT min(boot.started_ns) FROM boot WHERE boot.job = job.id"
		"  AND (job.queued_ns = job.submitted_ns OR boot.started_ns >= job.queued_ns))"
		" FROM job WHERE id = ?";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(id));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0) {
		j->id = id;
		j->name = text_at(a, st, 0);
		j->text = text_at(a, st, 1);
		j->file_name = text_at(a, st, 2);
		j->client_key = text_or_null_at(a, st, 3);
		j->state = state_parse(db_col_text(st, 4));
		j->priority = u32_at(st, 5);
		j->grouped = kg_streq(db_col_text(st, 6), "grouped");
		j->seed = u64_at(st, 7);
		j->blocks = u32_at(st, 8);
		read_warnings(a, db_col_text_or(st, 9, "[]"), j);
		j->submitted_ns = sqlite3_column_int64(st, 10);
		j->ended_ns = sqlite3_column_int64(st, 11);
		j->kind = kind_parse(db_col_text(st, 12));
		j->regression = u64_at(st, 13);
		read_policy(a, st, j);
	}
	db_reset(st);
	if (rc == 0)
		return kg_err_set(err, KG_ENOTFOUND, "no job %llu", (unsigned long long)id);
	return rc < 0 ? rc : 0;
}

void read_cell_row(struct arena *a, sqlite3_stmt *st, struct store_cell *c)
{
	c->id = u64_at(st, 0);
	c->identity = text_at(a, st, 1);
	c->machine = text_at(a, st, 2);
	c->kernel = text_at(a, st, 3);
	c->kernel_label = text_at(a, st, 4);
	c->lsm_label = text_at(a, st, 5);
	c->lsm_request = text_at(a, st, 6);
	c->lsm_effective = text_at(a, st, 7);
	c->cmdline = text_at(a, st, 8);
	c->workload = text_at(a, st, 9);
	c->workload_digest = text_at(a, st, 10);
	c->params = text_at(a, st, 11);
	c->iterations = u32_at(st, 12);
	c->timeout_s = u32_at(st, 13);
	c->kernel_order = u32_at(st, 14);
	c->lsm_order = u32_at(st, 15);
	c->workload_order = u32_at(st, 16);
	c->number = u32_at(st, 17);
	c->variant = text_at(a, st, 18);
	c->settings = text_at(a, st, 19);
	c->peer = text_at(a, st, 20);
	c->canary = sqlite3_column_int(st, 21) != 0;
	c->leave_by_reboot = sqlite3_column_int(st, 22) != 0;
	c->run_s = u32_at(st, 23);
}

static int read_cells(struct db *db, struct arena *a, struct store_job *j, struct kg_err *err)
{
	static const char sql[] = "SELECT " CELL_COLUMNS " FROM cell WHERE job = ? ORDER BY id";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(j->id));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_cell *c = arena_push(a, &j->cells, &j->n_cells, sizeof(*c));

		if (!c)
			break;
		read_cell_row(a, st, c);
	}
	db_reset(st);
	return rc < 0 ? rc : 0;
}

static int compare_cell_id(const void *key, const void *item)
{
	uint64_t id = *(const uint64_t *)key;
	const struct store_cell *c = item;

	return id < c->id ? -1 : id > c->id;
}

static int read_slots(struct db *db, struct arena *a, struct store_job *j, struct kg_err *err)
{
	static const char sql[] =
		"SELECT slot.id, slot.cell, slot.block, slot.visit, slot.position, slot.tries,"
		" slot.outcome, slot.reason, slot.attempt"
		" FROM slot JOIN cell ON cell.id = slot.cell WHERE slot.job = ?"
		" ORDER BY cell.machine, slot.visit, slot.position, slot.id";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(j->id));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_slot *sl = arena_push(a, &j->slots, &j->n_slots, sizeof(*sl));
		uint64_t cell = u64_at(st, 1);
		const struct store_cell *c;

		if (!sl)
			break;
		c = bsearch(&cell, j->cells, j->n_cells, sizeof(*c), compare_cell_id);
		if (!c) {
			rc = kg_err_set(err, KG_ECORRUPT, "slot %lld has no cell in its job",
					(long long)sqlite3_column_int64(st, 0));
			break;
		}
		sl->id = u64_at(st, 0);
		sl->cell_index = (size_t)(c - j->cells);
		sl->block = u32_at(st, 2);
		sl->visit = u32_at(st, 3);
		sl->position = u32_at(st, 4);
		sl->tries = u32_at(st, 5);
		sl->outcome = outcome_at(st, 6);
		sl->reason = text_or_null_at(a, st, 7);
		sl->attempt = u64_at(st, 8);
	}
	db_reset(st);
	return rc < 0 ? rc : 0;
}

int read_files(struct db *db, struct arena *a, const char *sql, uint64_t id,
	       struct store_file **ret, size_t *ret_n, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(id));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_file *f = arena_push(a, ret, ret_n, sizeof(*f));

		if (!f)
			break;
		f->name = text_at(a, st, 0);
		f->text = text_at(a, st, 1);
	}
	db_reset(st);
	return rc < 0 ? rc : 0;
}

static int read_after(struct db *db, struct arena *a, struct store_job *j, struct kg_err *err)
{
	uint64_t *after = NULL;
	sqlite3_stmt *st;
	int rc = db_select(db, err, "SELECT before FROM job_after WHERE job = ? ORDER BY before",
			   &st, I(j->id));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		uint64_t *p = arena_push(a, &after, &j->n_after, sizeof(*p));

		if (!p)
			break;
		*p = u64_at(st, 0);
	}
	db_reset(st);
	j->after = after;
	return rc < 0 ? rc : 0;
}

static int read_job(struct db *db, struct arena *a, uint64_t id, struct store_job *j,
		    struct kg_err *err)
{
	struct store_file *files = NULL;
	int rc = read_job_row(db, a, id, j, err);

	if (rc == 0)
		rc = read_files(db, a, JOB_FILES, id, &files, &j->n_files, err);
	j->files = files;
	if (rc == 0)
		rc = read_after(db, a, j, err);
	if (rc == 0)
		rc = read_cells(db, a, j, err);
	if (rc == 0)
		rc = read_slots(db, a, j, err);
	return rc;
}

static int read_jobs(struct db *db, struct arena *a, struct store_snapshot *s, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err,
			   "SELECT id FROM job WHERE state IN ('queued', 'running') ORDER BY id",
			   &st, NIL);

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_job *j = arena_push(a, &s->jobs, &s->n_jobs, sizeof(*j));

		rc = j ? read_job(db, a, u64_at(st, 0), j, err) : -ENOMEM;
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc;
}

/* ---- boots ---- */

static int read_attempts(struct db *db, struct arena *a, struct store_boot *b, struct kg_err *err)
{
	static const char sql[] = "SELECT id, slot, position, outcome, reason, started_ns, samples"
				  " FROM attempt WHERE boot = ? ORDER BY position, id";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(b->id));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_attempt *at = arena_push(a, &b->attempts, &b->n_attempts, sizeof(*at));

		if (!at)
			break;
		at->id = u64_at(st, 0);
		at->slot = u64_at(st, 1);
		at->position = u32_at(st, 2);
		at->outcome = outcome_at(st, 3);
		at->reason = text_or_null_at(a, st, 4);
		at->started_ns = sqlite3_column_int64(st, 5);
		at->samples = u32_at(st, 6);
	}
	db_reset(st);
	return rc < 0 ? rc : 0;
}

static void read_boot_row(struct arena *a, sqlite3_stmt *st, struct store_boot *b)
{
	b->id = u64_at(st, 0);
	b->job = u64_at(st, 1);
	b->machine = text_at(a, st, 2);
	b->block = u32_at(st, 3);
	b->visit = u32_at(st, 4);
	b->lease_epoch = u64_at(st, 5);
	b->nonce = text_at(a, st, 6);
	b->kernel = text_at(a, st, 7);
	b->lsm_request = text_at(a, st, 8);
	b->lsm_effective = text_at(a, st, 9);
	b->cmdline = text_at(a, st, 10);
	b->stage = text_at(a, st, 11);
	b->deadline.boottime_ns = u64_at(st, 12);
	b->deadline.host_boot_id = text_at(a, st, 13);
	b->deadline.realtime_ns = sqlite3_column_int64(st, 14);
	b->started_ns = sqlite3_column_int64(st, 15);
	b->last_seq = u64_at(st, 16);
	b->agent_outcome = outcome_at(st, 17);
	b->agent_reason = text_or_null_at(a, st, 18);
	b->ended_by_agent = b->agent_outcome != KG_OUTCOME_NONE;
	b->has_evidence = sqlite3_column_type(st, 19) != SQLITE_NULL;
	b->verified = sqlite3_column_int(st, 19) != 0;
	b->settings = text_at(a, st, 20);
	b->role = text_at(a, st, 21);
	b->peer = text_at(a, st, 22);
	b->pair = u64_at(st, 23);
}

static int read_boots(struct db *db, struct arena *a, struct store_snapshot *s, struct kg_err *err)
{
	static const char sql[] =
		"SELECT boot.id, job, machine, block, visit, lease_epoch, boot.nonce, kernel,"
		" lsm_request, lsm_effective, boot.cmdline, stage, deadline_boottime_ns,"
		" deadline_host_boot, deadline_ns, started_ns, last_seq, agent_outcome,"
		" agent_reason, provenance.verified, settings, role, peer, pair"
		" FROM boot LEFT JOIN provenance ON provenance.boot = boot.id"
		" WHERE boot.outcome IS NULL ORDER BY boot.id";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, NIL);

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_boot *b = arena_push(a, &s->boots, &s->n_boots, sizeof(*b));

		if (!b)
			break;
		read_boot_row(a, st, b);
		rc = read_attempts(db, a, b, err);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc < 0 ? rc : 0;
}

/* ---- machines ---- */

static const Kgrid__V1__MachineFacts *read_facts(struct arena *a, sqlite3_stmt *st, int i)
{
	size_t len = (size_t)sqlite3_column_bytes(st, i);
	const void *bytes = sqlite3_column_blob(st, i);
	Kgrid__V1__MachineFacts *f;
	const Kgrid__V1__MachineFacts *copy;

	if (sqlite3_column_type(st, i) == SQLITE_NULL)
		return NULL;
	/* We packed it ourselves; a row that somebody edited is taken as never reported. */
	f = kgrid__v1__machine_facts__unpack(NULL, len, bytes ? bytes : (const void *)"");
	if (!f)
		return NULL;
	copy = arena_message(a, &f->base);
	kgrid__v1__machine_facts__free_unpacked(f, NULL);
	return copy;
}

static int read_machines(struct db *db, struct arena *a, struct store_snapshot *s,
			 struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err,
			   "SELECT name, state_id, facts, first_seen_ns, last_seen_ns, service,"
			   " service_why, reserved_by, reserved_why, reserved_until_ns"
			   " FROM machine ORDER BY name",
			   &st, NIL);

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_machine *m = arena_push(a, &s->machines, &s->n_machines, sizeof(*m));

		if (!m)
			break;
		m->name = text_at(a, st, 0);
		m->state_id = text_or_null_at(a, st, 1);
		m->facts = read_facts(a, st, 2);
		m->first_seen_ns = sqlite3_column_int64(st, 3);
		m->last_seen_ns = sqlite3_column_int64(st, 4);
		m->service = text_at(a, st, 5);
		m->service_why = text_or_null_at(a, st, 6);
		m->reserved_by = text_or_null_at(a, st, 7);
		m->reserved_why = text_or_null_at(a, st, 8);
		m->reserved_until_ns = sqlite3_column_int64(st, 9);
	}
	db_reset(st);
	return rc < 0 ? rc : 0;
}

static int read_ids(struct db *db, struct store_ids *ret, struct kg_err *err)
{
	int64_t boot = 0, attempt = 0, epoch = 0;
	int rc = db_int(db, err, "SELECT max(id) FROM boot", &boot, NIL);

	if (rc >= 0)
		rc = db_int(db, err, "SELECT max(id) FROM attempt", &attempt, NIL);
	if (rc >= 0)
		rc = db_int(db, err, "SELECT max(lease_epoch) FROM boot", &epoch, NIL);
	ret->boot = (uint64_t)boot + 1;
	ret->attempt = (uint64_t)attempt + 1;
	ret->lease_epoch = (uint64_t)epoch + 1;
	return rc < 0 ? rc : 0;
}

/* ---- public ---- */

int query_snapshot(struct query *q, struct store_snapshot **ret, struct kg_err *err)
{
	struct snapshot_owner *o = calloc(1, sizeof(*o));
	struct db *db;
	int rc = o ? query_begin(q, &db, err) : reply_oom(err);

	if (rc < 0) {
		free(o);
		return rc;
	}
	rc = read_jobs(db, &o->arena, &o->pub, err);
	if (rc == 0)
		rc = read_boots(db, &o->arena, &o->pub, err);
	if (rc == 0)
		rc = read_machines(db, &o->arena, &o->pub, err);
	if (rc == 0)
		rc = read_ids(db, &o->pub.ids, err);
	if (rc == 0 && o->arena.failed)
		rc = reply_oom(err);
	rc = query_end(q, db, rc);
	if (rc < 0)
		store_snapshot_free(&o->pub);
	else
		*ret = &o->pub;
	return rc;
}

void store_snapshot_free(struct store_snapshot *s)
{
	struct snapshot_owner *o = (struct snapshot_owner *)s;

	if (!o)
		return;
	arena_deinit(&o->arena);
	free(o);
}

int query_job_load(struct query *q, uint64_t job, struct store_job **ret, struct kg_err *err)
{
	struct job_owner *o = calloc(1, sizeof(*o));
	struct db *db;
	int rc = o ? query_begin(q, &db, err) : reply_oom(err);

	if (rc < 0) {
		free(o);
		return rc;
	}
	rc = find_job(db, job, &job, err);
	if (rc == 0)
		rc = read_job(db, &o->arena, job, &o->pub, err);
	if (rc == 0 && o->arena.failed)
		rc = reply_oom(err);
	rc = query_end(q, db, rc);
	if (rc < 0)
		store_job_free(&o->pub);
	else
		*ret = &o->pub;
	return rc;
}

void store_job_free(struct store_job *j)
{
	struct job_owner *o = (struct job_owner *)j;

	if (!o)
		return;
	arena_deinit(&o->arena);
	free(o);
}
