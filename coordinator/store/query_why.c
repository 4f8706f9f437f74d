/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the store knows of why: what became of slots, what was tried again, what happened last. What
 * waits for what is the scheduler's. Together at most SCHED_WHY_LINES lines, one screen. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/clock.h"
#include "common/str.h"
#include "coordinator/schedule/sched.h"
#include "coordinator/store/labels.h"
#include "coordinator/store/query_internal.h"

/* Lines of each part, with the one that says how many more there are. */
#define STOP_LINES    2
#define OUTCOME_LINES 7
#define RETRY_LINES   6
#define EVENT_LINES   5
_Static_assert(STOP_LINES + OUTCOME_LINES + RETRY_LINES + EVENT_LINES <= SCHED_WHY_LINES,
	       "more than a screen");

static int push_line(struct kg_texts *t, const char *line)
{
	return reply_push_text(&t->items, &t->n, line);
}

static int push_str(struct kg_texts *t, struct kg_str *s)
{
	return reply_push(&t->items, &t->n, kg_str_take(s), NULL);
}

/* Lines of a statement's first column; of more rows than `max` allows, how many there are. `more` is
 * what they are: "outcomes". */
static int push_rows(struct db *db, sqlite3_stmt *st, unsigned max, const char *more,
		     struct kg_texts *t, struct kg_err *err)
{
	char *last = NULL; /* held back: it may be the only one over */
	unsigned n = 0;
	char line[96];
	int rc;

	while ((rc = db_step(db, st, err)) > 0) {
		n++;
		rc = n < max ? push_line(t, db_col_text_or(st, 0, "")) : 0;
		if (rc == 0 && n == max)
			rc = reply_text(&last, db_col_text_or(st, 0, ""));
		if (rc < 0)
			break;
	}
	db_reset(st);
	if (rc == 0 && n > max)
		(void)snprintf(line, sizeof(line), "... and %u more %s", n - max + 1, more);
	if (rc == 0 && n >= max)
		rc = push_line(t, n > max ? line : last);
	free(last);
	return rc == -ENOMEM ? reply_oom(err) : rc;
}

/* ---- a job, or a cell of it ---- */

static int why_stops(struct db *db, uint64_t job, struct kg_texts *t, struct kg_err *err)
{
	struct arena a = {0};
	struct report_stop *stops = NULL;
	size_t n = 0;
	int rc = read_stops(db, &a, job, &stops, &n, err);

	/* The newest ones say what holds now. */
	for (size_t i = n > STOP_LINES ? n - STOP_LINES : 0; rc == 0 && i < n; i++) {
		struct kg_str s = {0};

		report_stop_text(&stops[i], &s);
		if (push_str(t, &s) < 0)
			rc = reply_oom(err);
	}
	arena_deinit(&a);
	return rc;
}

static int why_outcomes(struct db *db, uint64_t job, uint32_t cell, struct kg_texts *t,
			struct kg_err *err)
{
	static const char of_job[] =
		"SELECT cell.machine || ': ' || count(*) || iif(count(*) = 1, ' slot ', ' slots ')"
		" || slot.outcome || coalesce(': ' || nullif(slot.reason, ''), '')"
		" FROM slot JOIN cell ON cell.id = slot.cell WHERE slot.job = ?1"
		" AND slot.outcome <> 'pass' AND ?2 IS NULL"
		" GROUP BY cell.machine, slot.outcome, slot.reason ORDER BY count(*) DESC, 1";
	static const char of_cell[] =
		"SELECT iif(count(*) = 1, 'block ', 'blocks ') || min(slot.block)"
		" || iif(count(*) = 1, '', ' to ' || max(slot.block) || ' (' || count(*) || ')')"
		" || ': ' || slot.outcome || coalesce(': ' || nullif(slot.reason, ''), '')"
		" FROM cell JOIN slot ON slot.cell = cell.id WHERE cell.job = ?1"
		" AND cell.number = ?2 AND slot.outcome IS NOT NULL"
		" GROUP BY slot.outcome, slot.reason ORDER BY min(slot.block)";
	sqlite3_stmt *st;
	int rc = db_select(db, err, cell ? of_cell : of_job, &st, I(job), I0(cell));

	return rc < 0 ? rc : push_rows(db, st, OUTCOME_LINES, "outcomes", t, err);
}

/* "cell 3 (6.12/nt netperf size=64 on lab-intel), block 2: infra: power lost (boot 12), pass (boot
 * 14)" */
static int why_retries(struct db *db, uint64_t job, uint32_t cell, struct kg_texts *t,
		       struct kg_err *err)
{
	static const char sql[] =
		"SELECT 'cell ' || cell.number || ' (' || cell.kernel_label || '/' || " CELL_LSM
		" || ' ' || cell.workload || iif(" CELL_PARAMS " = '', '', ' ' || " CELL_PARAMS ")"
		" || ' on ' || cell.machine || '), block ' || slot.block || ': '"
		" || group_concat(coalesce(tried.outcome, 'runs')"
		"  || coalesce(': ' || nullif(tried.reason, ''), '')"
		"  || ' (boot ' || tried.boot || ')', ', ')"
		" FROM slot JOIN cell ON cell.id = slot.cell"
		" JOIN (SELECT attempt.slot AS slot, attempt.boot AS boot,"
		"  attempt.outcome AS outcome, attempt.reason AS reason"
		"  FROM boot JOIN attempt ON attempt.boot = boot.id"
		"  WHERE boot.job = ?1 AND boot.role <> 'server' ORDER BY attempt.id) AS tried"
		"  ON tried.slot = slot.id"
		" WHERE slot.job = ?1 AND (?2 IS NULL OR cell.number = ?2)"
		" GROUP BY slot.id HAVING count(*) > 1 ORDER BY max(tried.boot) DESC, slot.id";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job), I0(cell));

	return rc < 0 ? rc : push_rows(db, st, RETRY_LINES, "slots that were tried again", t, err);
}

/* "2026-11-30 17:33:58 lab-intel: boot 12: ..." in UTC, oldest first. */
static int push_events(struct db *db, sqlite3_stmt *st, struct kg_texts *t, struct kg_err *err)
{
	int rc;

	while ((rc = db_step(db, st, err)) > 0) {
		time_t at = (time_t)(sqlite3_column_int64(st, 0) / (int64_t)KG_NSEC_PER_SEC);
		struct kg_str s = {0};
		char when[32] = "";
		struct tm tm;

		if (gmtime_r(&at, &tm))
			(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
		kg_str_addf(&s, "%s %s", when, db_col_text_or(st, 1, ""));
		rc = push_str(t, &s);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc == -ENOMEM ? reply_oom(err) : rc;
}

/* Stages of every boot come and go; what else happened says more. */
#define EVENT_TEXT "iif(machine IS NULL, '', machine || ': ') || kind || ' ' || text AS line"
#define NOT_STAGES " AND kind NOT IN ('stage', 'gate')"

static int why_job_events(struct db *db, uint64_t job, struct kg_texts *t, struct kg_err *err)
{
	static const char sql[] =
		"SELECT time_ns, line FROM (SELECT id, time_ns, " EVENT_TEXT " FROM event"
		" WHERE job = ?" NOT_STAGES " ORDER BY id DESC LIMIT ?) ORDER BY id";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job), I(EVENT_LINES));

	return rc < 0 ? rc : push_events(db, st, t, err);
}

/* Events of the cell's own boots. */
static int why_cell_events(struct db *db, uint64_t job, uint32_t cell, struct kg_texts *t,
			   struct kg_err *err)
{
	static const char sql[] =
		"SELECT time_ns, line FROM (SELECT event.id, time_ns, " EVENT_TEXT " FROM event"
		" WHERE job = ?1" NOT_STAGES " AND boot IN (SELECT attempt.boot FROM cell"
		"  JOIN slot ON slot.cell = cell.id JOIN attempt ON attempt.slot = slot.id"
		"  WHERE cell.job = ?1 AND cell.number = ?2)"
		" ORDER BY event.id DESC LIMIT ?3) ORDER BY id";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job), I(cell), I(EVENT_LINES));

	return rc < 0 ? rc : push_events(db, st, t, err);
}

static int check_cell(struct db *db, uint64_t job, uint32_t cell, struct kg_err *err)
{
	int64_t there = 0;
	int rc = db_int(db, err, "SELECT 1 FROM cell WHERE job = ? AND number = ?", &there, I(job),
			I(cell));

	if (rc == 0)
		rc = kg_err_set(err, KG_ENOTFOUND, "job %llu has no cell %u",
				(unsigned long long)job, cell);
	return rc < 0 ? rc : 0;
}

static int why_job(struct db *db, uint64_t job, uint32_t cell, struct kg_texts *t,
		   struct kg_err *err)
{
	int rc = find_job(db, job, &job, err);

	if (rc == 0 && cell)
		rc = check_cell(db, job, cell, err);
	if (rc == 0)
		rc = why_stops(db, job, t, err);
	if (rc == 0)
		rc = why_outcomes(db, job, cell, t, err);
	if (rc == 0)
		rc = why_retries(db, job, cell, t, err);
	if (rc == 0)
		rc = cell ? why_cell_events(db, job, cell, t, err)
			  : why_job_events(db, job, t, err);
	return rc;
}

int query_why_job(struct query *q, uint64_t job, uint32_t cell, struct kg_texts *ret_lines,
		  struct kg_err *err)
{
	struct kg_texts t = {0};
	struct db *db;
	int rc = query_begin(q, &db, err);

	if (rc < 0)
		return rc;
	rc = query_end(q, db, why_job(db, job, cell, &t, err));
	if (rc < 0)
		kg_texts_deinit(&t);
	else
		*ret_lines = t;
	return rc;
}

/* ---- a machine ---- */

#define MACHINE_BOOTS	      50
#define MACHINE_OUTCOME_LINES 8
#define MACHINE_EVENT_LINES   (SCHED_WHY_LINES - MACHINE_OUTCOME_LINES)

/* What became of its newest boots, and why when not well. */
static int why_boots(struct db *db, const char *machine, struct kg_texts *t, struct kg_err *err)
{
	static const char sql[] =
		"SELECT count(*) || ' of the newest ' || (SELECT min(count(*), ?2) FROM boot"
		"  WHERE machine = ?1 AND outcome IS NOT NULL) || ' boots: ' || outcome"
		" || coalesce(': ' || nullif(iif(outcome = 'pass', '', reason), ''), '')"
		" || ', last ' || max(id)"
		" FROM (SELECT id, outcome, reason FROM boot WHERE machine = ?1"
		"  AND outcome IS NOT NULL ORDER BY id DESC LIMIT ?2)"
		" GROUP BY outcome, iif(outcome = 'pass', '', reason) ORDER BY count(*) DESC, 1";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, T(machine), I(MACHINE_BOOTS));

	return rc < 0 ? rc : push_rows(db, st, MACHINE_OUTCOME_LINES, "ends of boots", t, err);
}

static int why_machine_events(struct db *db, const char *machine, struct kg_texts *t,
			      struct kg_err *err)
{
	static const char sql[] =
		"SELECT time_ns, line FROM (SELECT id, time_ns,"
		" iif(job IS NULL, '', 'job ' || job || ' ') || kind || ' ' || text AS line"
		" FROM event WHERE machine = ?" NOT_STAGES " ORDER BY id DESC LIMIT ?) ORDER BY id";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, T(machine), I(MACHINE_EVENT_LINES));

	return rc < 0 ? rc : push_events(db, st, t, err);
}

int query_why_machine(struct query *q, const char *machine, struct kg_texts *ret_lines,
		      struct kg_err *err)
{
	struct kg_texts t = {0};
	struct db *db;
	int rc = query_begin(q, &db, err);

	if (rc < 0)
		return rc;
	rc = check_machine(db, machine ? machine : "", err);
	if (rc == 0)
		rc = why_boots(db, machine, &t, err);
	if (rc == 0)
		rc = why_machine_events(db, machine, &t, err);
	rc = query_end(q, db, rc);
	if (rc < 0)
		kg_texts_deinit(&t);
	else
		*ret_lines = t;
	return rc;
}
