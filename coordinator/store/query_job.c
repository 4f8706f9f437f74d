/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs, their slots, their accounting and their progress. */
#include <errno.h>
#include <stdlib.h>

#include <jansson.h>

#include "common/str.h"
#include "coordinator/store/query_internal.h"

#define WATCH_EVENTS_MAX 100

int find_job(struct db *db, uint64_t job, uint64_t *ret_job, struct kg_err *err)
{
	/* The newest that a person asked for: kgrid's own confirmations and A/A runs do not push in. */
	static const char newest[] = "SELECT coalesce((SELECT max(id) FROM job WHERE kind = 'job'),"
				     " (SELECT max(id) FROM job))";
	int64_t id = 0;
	int rc = job ? db_int(db, err, "SELECT id FROM job WHERE id = ?", &id, I(job))
		     : db_int(db, err, newest, &id, NIL);

	if (rc < 0)
		return rc;
	if (id == 0)
		return job ? kg_err_set(err, KG_ENOTFOUND, "no job %llu", (unsigned long long)job)
			   : kg_err_set(err, KG_ENODATA, "there is no job yet");
	*ret_job = (uint64_t)id;
	return 0;
}

/* ---- accounting ---- */

static int add_count(Kgrid__V1__Accounting *a, const char *outcome, uint64_t count)
{
	Kgrid__V1__OutcomeCount *c;

	a->slots += count;
	if (!outcome) {
		a->pending += count;
		return 0;
	}
	c = reply_new(&kgrid__v1__outcome_count__descriptor);
	if (!c)
		return -ENOMEM;
	c->has_count = 1;
	c->count = count;
	if (reply_text(&c->outcome, outcome) < 0) {
		reply_free(c);
		return -ENOMEM;
	}
	return reply_push(&a->outcomes, &a->n_outcomes, c, &kgrid__v1__outcome_count__descriptor);
}

int read_accounting(struct db *db, uint64_t job, Kgrid__V1__Accounting **ret, struct kg_err *err)
{
	static const char sql[] = "SELECT outcome, count(*) FROM slot WHERE job = ?"
				  " GROUP BY outcome ORDER BY outcome";
	Kgrid__V1__Accounting *a = reply_new(&kgrid__v1__accounting__descriptor);
	sqlite3_stmt *st;
	int rc = a ? db_select(db, err, sql, &st, I(job)) : reply_oom(err);

	if (rc < 0) {
		reply_free(a);
		return rc;
	}
	a->has_slots = a->has_pending = 1;
	while ((rc = db_step(db, st, err)) > 0) {
		rc = add_count(a, db_col_text(st, 0), (uint64_t)sqlite3_column_int64(st, 1));
		if (rc < 0)
			break;
	}
	db_reset(st);
	if (rc < 0)
		reply_free(a);
	else
		*ret = a;
	return rc;
}

int query_accounting(struct query *q, uint64_t job, Kgrid__V1__Accounting **ret, struct kg_err *err)
{
	struct db *db;
	int rc = query_begin(q, &db, err);

	if (rc < 0)
		return rc;
	rc = find_job(db, job, &job, err);
	if (rc == 0)
		rc = read_accounting(db, job, ret, err);
	return query_end(q, db, rc);
}

/* ---- summary ---- */

static int fill_summary(sqlite3_stmt *st, uint64_t job, Kgrid__V1__JobSummary *s)
{
	s->has_id = s->has_priority = s->has_submitted_ns = 1;
	s->id = job;
	s->priority = (uint32_t)sqlite3_column_int64(st, 2);
	s->submitted_ns = sqlite3_column_int64(st, 3);
	s->has_ended_ns = sqlite3_column_type(st, 4) != SQLITE_NULL;
	s->ended_ns = sqlite3_column_int64(st, 4);
	s->has_paused = 1;
	s->paused = sqlite3_column_int(st, 6) != 0;
	s->has_standing = sqlite3_column_type(st, 7) != SQLITE_NULL;
	s->standing = (uint64_t)sqlite3_column_int64(st, 7);
	return reply_text(&s->name, db_col_text(st, 0)) |
	       reply_text(&s->state, db_col_text(st, 1)) |
	       reply_text(&s->user, text_or_none(db_col_text(st, 5)));
}

static int read_after(struct db *db, uint64_t job, Kgrid__V1__JobSummary *s, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err, "SELECT before FROM job_after WHERE job = ? ORDER BY before",
			   &st, I(job));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		uint64_t *grown = realloc(s->after, (s->n_after + 1) * sizeof(*grown));

		if (!grown) {
			rc = reply_oom(err);
			break;
		}
		s->after = grown;
		s->after[s->n_after++] = (uint64_t)sqlite3_column_int64(st, 0);
	}
	db_reset(st);
	return rc;
}

/* ---- what ended it, early or not ---- */

static int read_ended(struct db *db, struct arena *a, uint64_t job, struct report_stop **ret,
		      size_t *ret_n, struct kg_err *err)
{
	static const char sql[] =
		"SELECT j.value ->> 'machine', j.value ->> 'outcome', j.value ->> 'reason',"
		" j.value ->> 'slots', j.value ->> 'machines', j.value ->> 'least',"
		" j.value ->> 'most' FROM job, json_each(job.stops) AS j WHERE job.id = ?"
		" ORDER BY j.id";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct report_stop *x = arena_push(a, ret, ret_n, sizeof(*x));

		if (!x)
			break;
		x->machine = arena_text(a, db_col_text(st, 0));
		x->outcome = arena_text(a, db_col_text_or(st, 1, ""));
		x->reason = arena_text(a, db_col_text_or(st, 2, ""));
		x->slots = (uint64_t)sqlite3_column_int64(st, 3);
		x->machines = (uint32_t)sqlite3_column_int64(st, 4);
		x->least = (uint32_t)sqlite3_column_int64(st, 5);
		x->most = (uint32_t)sqlite3_column_int64(st, 6);
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

/* Machines of a job with a stop rule that have made all their blocks. */
static int read_whole(struct db *db, struct arena *a, uint64_t job, struct report_stop **ret,
		      size_t *ret_n, struct kg_err *err)
{
	static const char sql[] =
		"SELECT cell.machine, max(slot.block), printf('ci95 <= %g %%', job.until_pct)"
		" FROM job JOIN slot ON slot.job = job.id JOIN cell ON cell.id = slot.cell"
		" WHERE job.id = ? AND job.until_pct > 0 AND slot.outcome IS NOT 'infeasible'"
		" GROUP BY cell.machine HAVING count(*) = count(slot.outcome)"
		"  AND max(slot.outcome IN ('skipped', 'cancelled', 'queue-timeout')) = 0"
		" ORDER BY cell.machine";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct report_stop *x = arena_push(a, ret, ret_n, sizeof(*x));

		if (!x)
			break;
		x->machine = arena_text(a, db_col_text(st, 0));
		x->least = x->most = (uint32_t)sqlite3_column_int64(st, 1);
		x->reason = arena_text(a, db_col_text_or(st, 2, ""));
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

int read_stops(struct db *db, struct arena *a, uint64_t job, struct report_stop **ret,
	       size_t *ret_n, struct kg_err *err)
{
	int rc = read_ended(db, a, job, ret, ret_n, err);

	return rc < 0 ? rc : read_whole(db, a, job, ret, ret_n, err);
}

static int fill_stops(struct db *db, uint64_t job, Kgrid__V1__JobSummary *s, struct kg_err *err)
{
	struct arena a = {0};
	struct report_stop *stops = NULL;
	size_t n = 0;
	int rc = read_stops(db, &a, job, &stops, &n, err);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct kg_str text = {0};

		report_stop_text(&stops[i], &text);
		if (reply_push(&s->stops, &s->n_stops, kg_str_take(&text), NULL) < 0)
			rc = reply_oom(err);
	}
	arena_deinit(&a);
	return rc;
}

int read_job_summary(struct db *db, uint64_t job, Kgrid__V1__JobSummary **ret, struct kg_err *err)
{
	static const char sql[] = "SELECT name, state, priority, submitted_ns, ended_ns, user,"
				  " paused, standing FROM job WHERE id = ?";
	Kgrid__V1__JobSummary *s = reply_new(&kgrid__v1__job_summary__descriptor);
	sqlite3_stmt *st;
	int rc = s ? db_select(db, err, sql, &st, I(job)) : reply_oom(err);

	if (rc < 0) {
		reply_free(s);
		return rc;
	}
	rc = db_step(db, st, err);
	if (rc > 0)
		rc = fill_summary(st, job, s) ? reply_oom(err) : 0;
	db_reset(st);
	if (rc == 0)
		rc = read_accounting(db, job, &s->accounting, err);
	if (rc == 0)
		rc = read_after(db, job, s, err);
	if (rc == 0)
		rc = fill_stops(db, job, s, err);
	if (rc < 0)
		reply_free(s);
	else
		*ret = s;
	return rc;
}

static int read_all_summaries(struct db *db, Kgrid__V1__JobsReply *reply, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err, "SELECT id FROM job ORDER BY id", &st, NIL);

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		Kgrid__V1__JobSummary *s = NULL;

		rc = read_job_summary(db, (uint64_t)sqlite3_column_int64(st, 0), &s, err);
		if (rc == 0)
			rc = reply_push(&reply->jobs, &reply->n_jobs, s,
					&kgrid__v1__job_summary__descriptor);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc;
}

int query_jobs(struct query *q, Kgrid__V1__JobsReply **ret, struct kg_err *err)
{
	Kgrid__V1__JobsReply *reply = reply_new(&kgrid__v1__jobs_reply__descriptor);
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db, read_all_summaries(db, reply, err));
	if (rc < 0)
		reply_free(reply);
	else
		*ret = reply;
	return rc;
}

/* ---- one job ---- */

static int fill_slot(sqlite3_stmt *st, Kgrid__V1__SlotInfo *s)
{
	s->has_slot = s->has_block = s->has_attempts = 1;
	s->slot = (uint64_t)sqlite3_column_int64(st, 0);
	s->block = (uint32_t)sqlite3_column_int64(st, 2);
	s->attempts = (uint32_t)sqlite3_column_int64(st, 9);
	s->has_last_attempt = sqlite3_column_type(st, 10) != SQLITE_NULL;
	s->last_attempt = (uint64_t)sqlite3_column_int64(st, 10);
	s->has_last_boot = sqlite3_column_type(st, 11) != SQLITE_NULL;
	s->last_boot = (uint64_t)sqlite3_column_int64(st, 11);
	s->has_cell = s->has_canary = 1;
	s->cell = (uint32_t)sqlite3_column_int64(st, 12);
	s->canary = sqlite3_column_int(st, 15) != 0;
	return reply_text(&s->machine, db_col_text(st, 1)) |
	       reply_text(&s->kernel, db_col_text(st, 3)) |
	       reply_text(&s->lsm, db_col_text(st, 4)) |
	       reply_text(&s->workload, db_col_text(st, 5)) |
	       reply_text(&s->params, db_col_text(st, 6)) |
	       reply_text(&s->outcome, db_col_text(st, 7)) |
	       reply_text(&s->reason, db_col_text(st, 8)) |
	       reply_text(&s->variant, text_or_none(db_col_text(st, 13))) |
	       reply_text(&s->peer, text_or_none(db_col_text(st, 14)));
}

static int read_slot_infos(struct db *db, uint64_t job, Kgrid__V1__JobReply *reply,
			   struct kg_err *err)
{
	/* max() picks the row of the newest attempt for the bare column boot. A server's attempts are
	 * parts of the client's. */
	static const char sql[] =
		"SELECT slot.id, cell.machine, slot.block, cell.kernel_label, cell.lsm_label,"
		" cell.workload, cell.params, slot.outcome, slot.reason, count(attempt.id),"
		" max(attempt.id), attempt.boot, cell.number, cell.variant, cell.peer, cell.canary"
		" FROM slot JOIN cell ON cell.id = slot.cell"
		" LEFT JOIN attempt ON attempt.slot = slot.id"
		"  AND (cell.peer = '' OR attempt.boot NOT IN (SELECT id FROM boot"
		"   WHERE job = ?1 AND role = 'server'))"
		" WHERE slot.job = ?1"
		" GROUP BY slot.id"
		" ORDER BY cell.machine, slot.visit, slot.position, slot.id";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		Kgrid__V1__SlotInfo *s = reply_new(&kgrid__v1__slot_info__descriptor);

		rc = s && fill_slot(st, s) == 0 ? 0 : -ENOMEM;
		if (rc == 0)
			rc = reply_push(&reply->slots, &reply->n_slots, s,
					&kgrid__v1__slot_info__descriptor);
		else
			reply_free(s);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc;
}

static int fill_warnings(const char *json, Kgrid__V1__JobReply *reply)
{
	json_t *list = json_loads(json, 0, NULL);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
		const char *t = json_string_value(json_array_get(list, i));

		rc = reply_push_text(&reply->warnings, &reply->n_warnings, t ? t : "");
	}
	json_decref(list);
	return rc;
}

static int read_job_text(struct db *db, uint64_t job, Kgrid__V1__JobReply *reply,
			 struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err, "SELECT text, warnings FROM job WHERE id = ?", &st, I(job));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0)
		rc = reply_text(&reply->text, db_col_text(st, 0)) |
		     fill_warnings(db_col_text_or(st, 1, "[]"), reply);
	db_reset(st);
	return rc;
}

static int read_job_files(struct db *db, uint64_t job, Kgrid__V1__JobReply *reply,
			  struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err, JOB_FILES, &st, I(job));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		Kgrid__V1__JobFile *f = reply_new(&kgrid__v1__job_file__descriptor);

		if (!f || (reply_text(&f->name, db_col_text(st, 0)) |
			   reply_text(&f->text, db_col_text(st, 1)))) {
			reply_free(f);
			rc = reply_oom(err);
			break;
		}
		rc = reply_push(&reply->files, &reply->n_files, f,
				&kgrid__v1__job_file__descriptor);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc;
}

int query_job(struct query *q, uint64_t job, Kgrid__V1__JobReply **ret, struct kg_err *err)
{
	Kgrid__V1__JobReply *reply = reply_new(&kgrid__v1__job_reply__descriptor);
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc < 0) {
		reply_free(reply);
		return rc;
	}
	rc = find_job(db, job, &job, err);
	if (rc == 0)
		rc = read_job_summary(db, job, &reply->job, err);
	if (rc == 0)
		rc = read_job_text(db, job, reply, err);
	if (rc == 0)
		rc = read_job_files(db, job, reply, err);
	if (rc == 0)
		rc = read_slot_infos(db, job, reply, err);
	rc = query_end(q, db, rc);
	if (rc < 0)
		reply_free(reply);
	else
		*ret = reply;
	return rc;
}

/* ---- progress ---- */

static int read_progress(struct db *db, uint64_t job, Kgrid__V1__WatchUpdate *u, struct kg_err *err)
{
	/* A visit is one planned boot; it is done when none of its slots is pending. What was never
	 * tried and will not be is no boot. */
	static const char sql[] = "SELECT v.machine, count(*), sum(v.pending = 0),"
				  " (SELECT coalesce(sum(attempt.samples), 0) FROM boot"
				  "  JOIN attempt ON attempt.boot = boot.id"
				  "  WHERE boot.job = ?1 AND boot.machine = v.machine"
				  "  AND boot.role <> 'server')"
				  " FROM (SELECT cell.machine AS machine, slot.visit,"
				  "  sum(slot.outcome IS NULL) AS pending"
				  "  FROM slot JOIN cell ON cell.id = slot.cell"
				  "  WHERE slot.job = ?1 AND (slot.outcome IS NULL OR slot.outcome"
				  "   NOT IN ('infeasible', 'skipped', 'queue-timeout'))"
				  "  GROUP BY cell.machine, slot.visit) AS v"
				  " GROUP BY v.machine ORDER BY v.machine";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		Kgrid__V1__MachineProgress *m = reply_new(&kgrid__v1__machine_progress__descriptor);

		if (!m || reply_text(&m->machine, db_col_text(st, 0)) < 0) {
			reply_free(m);
			rc = -ENOMEM;
			break;
		}
		m->has_boots_total = m->has_boots_done = m->has_samples = 1;
		m->boots_total = (uint32_t)sqlite3_column_int64(st, 1);
		m->boots_done = (uint32_t)sqlite3_column_int64(st, 2);
		m->samples = (uint64_t)sqlite3_column_int64(st, 3);
		rc = reply_push(&u->machines, &u->n_machines, m,
				&kgrid__v1__machine_progress__descriptor);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc;
}

static int read_blocks_done(struct db *db, uint64_t job, Kgrid__V1__WatchUpdate *u,
			    struct kg_err *err)
{
	static const char sql[] =
		"SELECT count(*) FROM (SELECT 1 FROM slot WHERE job = ? GROUP BY block"
		" HAVING sum(outcome IS NULL) = 0"
		"  AND sum(outcome NOT IN ('skipped', 'queue-timeout')) > 0)";
	int64_t n = 0;
	int rc = db_int(db, err, sql, &n, I(job));

	u->has_blocks_done = 1;
	u->blocks_done = (uint32_t)n;
	return rc < 0 ? rc : 0;
}

static int read_new_events(struct db *db, uint64_t job, uint64_t *after, Kgrid__V1__WatchUpdate *u,
			   struct kg_err *err)
{
	static const char sql[] =
		"SELECT id, iif(machine IS NULL, '', machine || ': ') || kind || ' ' || text"
		" FROM event WHERE job = ?1 AND id > ?2 ORDER BY id LIMIT ?3";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job), I(*after), I(WATCH_EVENTS_MAX));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		rc = reply_push_text(&u->events, &u->n_events, db_col_text_or(st, 1, ""));
		if (rc < 0)
			break;
		*after = (uint64_t)sqlite3_column_int64(st, 0);
	}
	db_reset(st);
	return rc;
}

int query_watch(struct query *q, uint64_t job, uint64_t *after_event, Kgrid__V1__WatchUpdate **ret,
		struct kg_err *err)
{
	Kgrid__V1__WatchUpdate *u = reply_new(&kgrid__v1__watch_update__descriptor);
	uint64_t after = *after_event;
	struct db *db;
	int rc = u ? query_begin(q, &db, err) : reply_oom(err);

	if (rc < 0) {
		reply_free(u);
		return rc;
	}
	rc = find_job(db, job, &job, err);
	if (rc == 0)
		rc = read_job_summary(db, job, &u->job, err);
	if (rc == 0)
		rc = read_progress(db, job, u, err);
	if (rc == 0)
		rc = read_blocks_done(db, job, u, err);
	if (rc == 0)
		rc = read_new_events(db, job, &after, u, err);
	rc = query_end(q, db, rc);
	if (rc < 0) {
		reply_free(u);
		return rc;
	}
	*after_event = after;
	*ret = u;
	return 0;
}
