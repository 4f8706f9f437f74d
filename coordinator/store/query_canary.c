/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of the canaries of a selection's jobs. */
#include "coordinator/report/canary.h"
#include "coordinator/store/query_rows.h"

struct canary_values {
	struct canary_value *items;
	size_t n;
};

static int read_job_canary(struct db *db, struct rows *r, uint64_t job, struct canary_values *ret,
			   struct kg_err *err)
{
	static const char sql[] =
		"SELECT cell.machine, cell.workload, cell.params, metric.name, metric.unit,"
		" metric.direction, slot.block, boot.id, boot.started_ns, boot.epoch, sample.value"
		" FROM cell JOIN slot ON slot.cell = cell.id"
		" JOIN attempt ON attempt.id = slot.attempt JOIN boot ON boot.id = attempt.boot"
		" JOIN sample ON sample.attempt = attempt.id"
		" JOIN metric ON metric.id = sample.metric"
		" WHERE cell.job = ?1 AND cell.canary AND (?2 IS NULL OR cell.machine = ?2)"
		" AND slot.block > ?3 AND boot.started_ns >= ?4 AND boot.role <> 'server'"
		" AND slot.outcome = 'pass' AND attempt.outcome = 'pass' AND NOT sample.warmup";
	const struct row_filter *f = &r->filter;
	struct arena *a = &r->arena;
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job), T(f->machine), I(f->after_block),
			   f->since_ns ? I(f->since_ns) : I(INT64_MIN));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct canary_value *v = arena_push(a, &ret->items, &ret->n, sizeof(*v));

		if (!v)
			break;
		v->machine = arena_text(a, db_col_text_or(st, 0, ""));
		v->workload = arena_text(a, db_col_text_or(st, 1, ""));
		v->params = arena_text(a, db_col_text_or(st, 2, ""));
		v->metric = arena_text(a, db_col_text_or(st, 3, ""));
		v->unit = arena_text(a, db_col_text_or(st, 4, ""));
		v->direction = arena_text(a, db_col_text_or(st, 5, ""));
		v->job = job;
		v->block = (uint32_t)sqlite3_column_int64(st, 6);
		v->boot = (uint64_t)sqlite3_column_int64(st, 7);
		v->time_ns = sqlite3_column_int64(st, 8);
		v->epoch = (uint32_t)sqlite3_column_int64(st, 9);
		v->value = sqlite3_column_double(st, 10);
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

int rows_read_canary(struct db *db, struct rows *r, struct canary_value **ret, size_t *ret_n,
		     struct kg_err *err)
{
	struct canary_values v = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < r->n_jobs; i++)
		rc = read_job_canary(db, r, r->jobs[i], &v, err);
	*ret = v.items;
	*ret_n = v.n;
	return rc;
}
