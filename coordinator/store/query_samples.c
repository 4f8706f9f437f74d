/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples and logs, in parts: each part is read in a transaction of its own, and the caller's
 * callback runs between them, so that a slow reader holds up nobody. What has ended does not
 * change; of what still runs, a part shows what is there when it is read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/store/labels.h"
#include "coordinator/store/query_internal.h"

#define PART_ROWS 1000

/* An attempt whose samples are wanted, with what is the same in all of its rows. */
struct source {
	uint64_t attempt;
	uint64_t boot;
	uint32_t block;
	const char *machine, *vendor, *kernel, *lsm, *workload, *params;
	const char *outcome; /* NULL: not ended */
};

struct sources {
	struct arena arena;
	struct source *items;
	size_t n;
};

/* What a server's boot brought is of its own machine, and evidence only. */
#define SOURCE_COLUMNS                                                             \
	"SELECT attempt.id, attempt.boot, slot.block, boot.machine,"               \
	" coalesce(provenance.cpu_vendor, machine.cpu_vendor), cell.kernel_label," \
	" " CELL_LSM ", cell.workload, " CELL_PARAMS ", attempt.outcome"           \
	" FROM slot JOIN cell ON cell.id = slot.cell"                              \
	" JOIN attempt ON attempt.slot = slot.id"                                  \
	" JOIN boot ON boot.id = attempt.boot"                                     \
	" LEFT JOIN provenance ON provenance.boot = attempt.boot"                  \
	" LEFT JOIN machine ON machine.name = boot.machine WHERE slot.job = ?"
#define SOURCE_ORDER " ORDER BY cell.machine, cell.workload_order, cell.id, slot.block, attempt.id"

static int read_sources(struct db *db, uint64_t job, bool all, struct sources *ret,
			struct kg_err *err)
{
	static const char every[] = SOURCE_COLUMNS SOURCE_ORDER;
	static const char valid[] =
		SOURCE_COLUMNS " AND slot.outcome = 'pass' AND slot.attempt = attempt.id"
			       " AND boot.role <> 'server' AND NOT cell.canary" SOURCE_ORDER;
	struct arena *a = &ret->arena;
	sqlite3_stmt *st;
	int rc = db_select(db, err, all ? every : valid, &st, I(job));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct source *s = arena_push(a, &ret->items, &ret->n, sizeof(*s));

		if (!s)
			break;
		s->attempt = (uint64_t)sqlite3_column_int64(st, 0);
		s->boot = (uint64_t)sqlite3_column_int64(st, 1);
		s->block = (uint32_t)sqlite3_column_int64(st, 2);
		s->machine = arena_text(a, db_col_text(st, 3));
		s->vendor = arena_text(a, db_col_text(st, 4));
		s->kernel = arena_text(a, db_col_text(st, 5));
		s->lsm = arena_text(a, db_col_text(st, 6));
		s->workload = arena_text(a, db_col_text(st, 7));
		s->params = arena_text(a, db_col_text(st, 8));
		s->outcome = arena_text(a, db_col_text(st, 9));
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

static int fill_sample(sqlite3_stmt *st, const struct source *s, Kgrid__V1__SampleRow *r)
{
	r->has_block = r->has_boot = r->has_attempt = r->has_iteration = r->has_value = 1;
	r->has_warmup = r->has_monotonic_ns = 1;
	r->block = s->block;
	r->boot = s->boot;
	r->attempt = s->attempt;
	r->iteration = (uint32_t)sqlite3_column_int64(st, 1);
	r->warmup = sqlite3_column_int(st, 2) != 0;
	r->monotonic_ns = (uint64_t)sqlite3_column_int64(st, 3);
	r->value = sqlite3_column_double(st, 4);
	return reply_text(&r->machine, s->machine) | reply_text(&r->vendor, s->vendor) |
	       reply_text(&r->kernel, s->kernel) | reply_text(&r->lsm, s->lsm) |
	       reply_text(&r->workload, s->workload) | reply_text(&r->params, s->params) |
	       reply_text(&r->outcome, s->outcome) | reply_text(&r->metric, db_col_text(st, 5)) |
	       reply_text(&r->unit, db_col_text(st, 6)) |
	       reply_text(&r->direction, db_col_text(st, 7));
}

/* Where the next part goes on. */
struct cursor {
	size_t source;
	int64_t after_idx;
};

/* Adds rows of the cursor's source until it is used up or the part is full. */
static int read_rows(struct db *db, const struct source *s, bool warmup, struct cursor *at,
		     Kgrid__V1__SamplesReply *part, struct kg_err *err)
{
	static const char sql[] =
		"SELECT sample.idx, sample.iteration, sample.warmup, sample.monotonic_ns,"
		" sample.value, metric.name, metric.unit, metric.direction"
		" FROM sample JOIN metric ON metric.id = sample.metric"
		" WHERE sample.attempt = ?1 AND sample.idx > ?2 AND (?3 OR NOT sample.warmup)"
		" ORDER BY sample.idx";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(s->attempt), I(at->after_idx), I(warmup));

	if (rc < 0)
		return rc;
	while (part->n_rows < PART_ROWS && (rc = db_step(db, st, err)) > 0) {
		Kgrid__V1__SampleRow *r = reply_new(&kgrid__v1__sample_row__descriptor);

		rc = r && fill_sample(st, s, r) == 0 ? 0 : reply_oom(err);
		if (rc == 0)
			rc = reply_push(&part->rows, &part->n_rows, r,
					&kgrid__v1__sample_row__descriptor);
		else
			reply_free(r);
		if (rc < 0)
			break;
		at->after_idx = sqlite3_column_int64(st, 0);
	}
	if (rc == 0 && part->n_rows < PART_ROWS) {
		at->source++;
		at->after_idx = -1;
	}
	db_reset(st);
	return rc;
}

static int send_part(struct query *q, const struct sources *src, bool all, struct cursor *at,
		     Kgrid__V1__Accounting **accounting,
		     int (*on_part)(void *arg, const Kgrid__V1__SamplesReply *part), void *arg,
		     struct kg_err *err)
{
	Kgrid__V1__SamplesReply *part = reply_new(&kgrid__v1__samples_reply__descriptor);
	struct db *db;
	int rc = part ? query_begin(q, &db, err) : reply_oom(err);

	if (rc < 0) {
		reply_free(part);
		return rc;
	}
	while (rc == 0 && at->source < src->n && part->n_rows < PART_ROWS)
		rc = read_rows(db, &src->items[at->source], all, at, part, err);
	rc = query_end(q, db, rc);
	part->accounting = *accounting;
	*accounting = NULL;
	if (rc == 0 && (part->accounting || part->n_rows))
		rc = on_part(arg, part);
	reply_free(part);
	return rc < 0 ? rc : 0;
}

int query_samples(struct query *q, const Kgrid__V1__SamplesRequest *rq,
		  int (*on_part)(void *arg, const Kgrid__V1__SamplesReply *part), void *arg,
		  struct kg_err *err)
{
	struct sources src = {0};
	struct cursor at = {0, -1};
	Kgrid__V1__Accounting *accounting = NULL;
	uint64_t job = 0;
	struct db *db;
	int rc = query_begin(q, &db, err);

	if (rc < 0)
		return rc;
	rc = find_job(db, rq->job, &job, err);
	if (rc == 0)
		rc = read_accounting(db, job, &accounting, err);
	if (rc == 0)
		rc = read_sources(db, job, rq->all, &src, err);
	rc = query_end(q, db, rc);
	while (rc == 0 && (accounting || at.source < src.n))
		rc = send_part(q, &src, rq->all, &at, &accounting, on_part, arg, err);
	reply_free(accounting);
	arena_deinit(&src.arena);
	return rc;
}

/* ---- logs ---- */

struct log_cursor {
	uint64_t attempt; /* 0: of a boot */
	uint64_t boot;
	int64_t after_id;
	/* of the chunk before, to know where a heading belongs */
	bool any;
	uint64_t last_attempt;
	char last_stream[64];
};

static int check_exists(struct db *db, const struct log_cursor *at, struct kg_err *err)
{
	int64_t there = 0;
	int rc = at->attempt
			 ? db_int(db, err, "SELECT 1 FROM attempt WHERE id = ?", &there,
				  I(at->attempt))
			 : db_int(db, err, "SELECT 1 FROM boot WHERE id = ?", &there, I(at->boot));

	if (rc < 0)
		return rc;
	if (!there)
		return kg_err_set(err, KG_ENOTFOUND, "no %s %llu", at->attempt ? "attempt" : "boot",
				  (unsigned long long)(at->attempt ? at->attempt : at->boot));
	return 0;
}

/* "attempt 12: netperf size=64 test=UDP_RR, 6.12/full: fail (exit 1): reason" */
static int make_heading(struct db *db, uint64_t attempt, uint64_t boot, char **ret,
			struct kg_err *err)
{
	static const char of_attempt[] =
		"SELECT 'attempt ' || attempt.id || ': ' || cell.workload || ' ' || " CELL_PARAMS
		" || ', ' || cell.kernel_label || '/' || " CELL_LSM " || ' on ' || boot.machine"
		" || ': ' || coalesce(attempt.outcome, 'not ended')"
		" || iif(attempt.exit_status, ' (exit ' || attempt.exit_status || ')', '')"
		" || iif(attempt.term_signal, ' (signal ' || attempt.term_signal || ')', '')"
		" || coalesce(': ' || nullif(attempt.reason, ''), '')"
		" FROM attempt JOIN slot ON slot.id = attempt.slot"
		" JOIN cell ON cell.id = slot.cell JOIN boot ON boot.id = attempt.boot"
		" WHERE attempt.id = ?";
	static const char of_boot[] =
		"SELECT 'boot ' || id || ' of ' || machine || ': ' || coalesce(outcome, stage)"
		" || coalesce(': ' || nullif(reason, ''), '') FROM boot WHERE id = ?";
	sqlite3_stmt *st;
	int rc = db_select(db, err, attempt ? of_attempt : of_boot, &st,
			   I(attempt ? attempt : boot));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0)
		rc = reply_text(ret, db_col_text(st, 0));
	db_reset(st);
	return rc;
}

static int fill_log(sqlite3_stmt *st, Kgrid__V1__LogsReply *r)
{
	r->has_attempt = sqlite3_column_type(st, 1) != SQLITE_NULL;
	r->attempt = (uint64_t)sqlite3_column_int64(st, 1);
	r->has_dropped_bytes = 1;
	r->dropped_bytes = (uint64_t)sqlite3_column_int64(st, 4);
	r->has_data = 1;
	return reply_text(&r->stream, db_col_text(st, 2)) |
	       reply_bytes(&r->data, sqlite3_column_blob(st, 3),
			   (size_t)sqlite3_column_bytes(st, 3));
}

/* One chunk: 1, with *ret set; 0: no more. */
static int read_log(struct db *db, struct log_cursor *at, Kgrid__V1__LogsReply **ret,
		    struct kg_err *err)
{
	static const char of_attempt[] =
		"SELECT id, attempt, stream, data, dropped_bytes, boot FROM log"
		" WHERE attempt = ?1 AND id > ?2 ORDER BY id LIMIT 1";
	static const char of_boot[] =
		"SELECT id, attempt, stream, data, dropped_bytes, boot FROM log"
		" WHERE boot = ?1 AND id > ?2 ORDER BY id LIMIT 1";
	Kgrid__V1__LogsReply *r = reply_new(&kgrid__v1__logs_reply__descriptor);
	sqlite3_stmt *st;
	uint64_t boot = 0;
	int rc = r ? db_select(db, err, at->attempt ? of_attempt : of_boot, &st,
			       I(at->attempt ? at->attempt : at->boot), I(at->after_id))
		   : reply_oom(err);

	if (rc < 0) {
		reply_free(r);
		return rc;
	}
	rc = db_step(db, st, err);
	if (rc > 0) {
		at->after_id = sqlite3_column_int64(st, 0);
		boot = (uint64_t)sqlite3_column_int64(st, 5);
		rc = fill_log(st, r) ? reply_oom(err) : 1;
	}
	db_reset(st);
	if (rc > 0 && (!at->any || at->last_attempt != r->attempt ||
		       strcmp(at->last_stream, r->stream) != 0)) {
		int code = make_heading(db, r->attempt, boot, &r->heading, err);

		rc = code < 0 ? code : 1;
	}
	if (rc <= 0) {
		reply_free(r);
		return rc;
	}
	at->any = true;
	at->last_attempt = r->attempt;
	(void)snprintf(at->last_stream, sizeof(at->last_stream), "%s", r->stream);
	*ret = r;
	return 1;
}

int query_logs(struct query *q, const Kgrid__V1__LogsRequest *rq,
	       int (*on_part)(void *arg, const Kgrid__V1__LogsReply *part), void *arg,
	       struct kg_err *err)
{
	struct log_cursor at = {.attempt = rq->attempt, .boot = rq->boot};
	struct db *db;
	int rc = query_begin(q, &db, err);

	if (rc < 0)
		return rc;
	rc = query_end(q, db, check_exists(db, &at, err));
	while (rc >= 0) {
		Kgrid__V1__LogsReply *r = NULL;

		rc = query_begin(q, &db, err);
		if (rc < 0)
			break;
		rc = query_end(q, db, read_log(db, &at, &r, err));
		if (rc <= 0)
			break;
		rc = on_part(arg, r);
		reply_free(r);
	}
	if (rc == 0 && !at.any)
		rc = kg_err_set(err, KG_ENODATA, "%s %llu left no log",
				at.attempt ? "attempt" : "boot",
				(unsigned long long)(at.attempt ? at.attempt : at.boot));
	return rc;
}
