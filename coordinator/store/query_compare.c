/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what a comparison is made of; the numbers and tables are made by analysis and report. */
#include <errno.h>
#include <stdlib.h>

#include "common/str.h"
#include "coordinator/report/compare_tables.h"
#include "coordinator/store/query_internal.h"

struct source {
	struct arena arena;
	struct report_cell *cells;
	size_t n_cells;
	struct report_metric *metrics;
	int64_t *metric_ids; /* beside metrics */
	size_t n_metrics, n_metric_ids;
	struct report_exclusion *exclusions;
	size_t n_exclusions;
	struct report_value *values; /* malloc'ed: there may be many */
	size_t n_values, cap_values;
	bool grouped;
};

static void source_deinit(struct source *s)
{
	free(s->values);
	arena_deinit(&s->arena);
}

static int read_cells(struct db *db, uint64_t job, struct source *s, struct kg_err *err)
{
	static const char sql[] =
		"SELECT cell.id, cell.machine, machine.cpu_name, machine.cpu_vendor, machine.clock,"
		" kernel_label, lsm_label, lsm_effective, workload, params, kernel_order,"
		" lsm_order, workload_order"
		" FROM cell LEFT JOIN machine ON machine.name = cell.machine"
		" WHERE cell.job = ? ORDER BY cell.id";
	struct arena *a = &s->arena;
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct report_cell *c = arena_push(a, &s->cells, &s->n_cells, sizeof(*c));

		if (!c)
			break;
		c->id = (uint64_t)sqlite3_column_int64(st, 0);
		c->machine = arena_text(a, db_col_text_or(st, 1, ""));
		c->cpu_name = arena_text(a, db_col_text(st, 2));
		c->cpu_vendor = arena_text(a, db_col_text(st, 3));
		c->clock = arena_text(a, db_col_text(st, 4));
		c->kernel = arena_text(a, db_col_text_or(st, 5, ""));
		c->lsm = arena_text(a, db_col_text_or(st, 6, ""));
		c->lsm_effective = arena_text(a, db_col_text_or(st, 7, ""));
		c->workload = arena_text(a, db_col_text_or(st, 8, ""));
		c->params = arena_text(a, db_col_text_or(st, 9, ""));
		c->kernel_order = (uint32_t)sqlite3_column_int64(st, 10);
		c->lsm_order = (uint32_t)sqlite3_column_int64(st, 11);
		c->workload_order = (uint32_t)sqlite3_column_int64(st, 12);
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

static int order_cell_id(const void *key, const void *item)
{
	uint64_t id = *(const uint64_t *)key;
	const struct report_cell *c = item;

	return id < c->id ? -1 : id > c->id;
}

static struct report_cell *find_cell(struct source *s, sqlite3_stmt *st, int i)
{
	uint64_t id = (uint64_t)sqlite3_column_int64(st, i);

	return s->n_cells ? bsearch(&id, s->cells, s->n_cells, sizeof(*s->cells), order_cell_id)
			  : NULL;
}

static int read_slots(struct db *db, uint64_t job, struct source *s, struct kg_err *err)
{
	static const char sql[] = "SELECT cell, outcome, count(*) FROM slot WHERE job = ?"
				  " GROUP BY cell, outcome";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct report_cell *c = find_cell(s, st, 0);
		const char *name = db_col_text(st, 1);
		enum kg_outcome o = name ? kg_outcome_parse(name) : KG_OUTCOME_NONE;

		if (name && o == KG_OUTCOME_NONE)
			o = KG_OUTCOME_HARNESS_ERROR; /* a word of another version */
		if (c)
			c->slots[o] += (uint64_t)sqlite3_column_int64(st, 2);
	}
	db_reset(st);
	return rc;
}

static int read_exclusions(struct db *db, uint64_t job, struct source *s, struct kg_err *err)
{
	static const char sql[] =
		"SELECT cell.machine, slot.outcome, slot.reason, count(*)"
		" FROM slot JOIN cell ON cell.id = slot.cell"
		" WHERE slot.job = ? AND slot.outcome <> 'pass'"
		" GROUP BY cell.machine, slot.outcome, slot.reason ORDER BY 4 DESC, 1, 2, 3";
	struct arena *a = &s->arena;
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct report_exclusion *e =
			arena_push(a, &s->exclusions, &s->n_exclusions, sizeof(*e));

		if (!e)
			break;
		e->machine = arena_text(a, db_col_text_or(st, 0, ""));
		e->outcome = arena_text(a, db_col_text_or(st, 1, ""));
		e->reason = arena_text(a, db_col_text(st, 2));
		e->slots = (uint64_t)sqlite3_column_int64(st, 3);
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

static int read_metric(struct db *db, int64_t id, struct source *s, struct kg_err *err)
{
	struct arena *a = &s->arena;
	struct report_metric *m = arena_push(a, &s->metrics, &s->n_metrics, sizeof(*m));
	int64_t *kept = arena_push(a, &s->metric_ids, &s->n_metric_ids, sizeof(*kept));
	sqlite3_stmt *st;
	int rc = m && kept ? db_select(db, err,
				       "SELECT name, unit, direction FROM metric WHERE id = ?", &st,
				       I(id))
			   : reply_oom(err);

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	*kept = id;
	m->name = arena_text(a, rc > 0 ? db_col_text_or(st, 0, "") : "");
	m->unit = arena_text(a, rc > 0 ? db_col_text_or(st, 1, "") : "");
	m->direction = arena_text(a, rc > 0 ? db_col_text_or(st, 2, "none") : "none");
	db_reset(st);
	return rc < 0 ? rc : 0;
}

/* Index of a metric, read when it is met first. */
static int find_metric(struct db *db, int64_t id, struct source *s, size_t *ret, struct kg_err *err)
{
	size_t i = 0;

	while (i < s->n_metric_ids && s->metric_ids[i] != id)
		i++;
	*ret = i;
	return i < s->n_metric_ids ? 0 : read_metric(db, id, s, err);
}

static int add_value(struct source *s, const struct report_value *v)
{
	if (s->n_values == s->cap_values) {
		size_t cap = s->cap_values ? 2 * s->cap_values : 1024;
		struct report_value *grown = realloc(s->values, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		s->values = grown;
		s->cap_values = cap;
	}
	s->values[s->n_values++] = *v;
	return 0;
}

/* Only attempts that passed and decided their slot; never warm-up. */
static int read_values(struct db *db, uint64_t job, struct source *s, struct kg_err *err)
{
	static const char sql[] =
		"SELECT slot.cell, attempt.boot, sample.metric, sample.value"
		" FROM slot JOIN attempt ON attempt.id = slot.attempt"
		" JOIN sample ON sample.attempt = attempt.id"
		" WHERE slot.job = ? AND slot.outcome = 'pass' AND attempt.outcome = 'pass'"
		" AND sample.warmup = 0";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct report_cell *c = find_cell(s, st, 0);
		struct report_value v = {.boot = (uint64_t)sqlite3_column_int64(st, 1),
					 .value = sqlite3_column_double(st, 3)};

		if (!c)
			continue;
		v.cell = (size_t)(c - s->cells);
		rc = find_metric(db, sqlite3_column_int64(st, 2), s, &v.metric, err);
		if (rc == 0)
			rc = add_value(s, &v);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc == -ENOMEM ? reply_oom(err) : rc;
}

static int read_source(struct db *db, uint64_t job, struct source *s, struct kg_err *err)
{
	int64_t grouped = 0;
	int rc = db_int(db, err, "SELECT boot_order = 'grouped' FROM job WHERE id = ?", &grouped,
			I(job));

	if (rc >= 0)
		rc = read_cells(db, job, s, err);
	if (rc == 0)
		rc = read_slots(db, job, s, err);
	if (rc == 0)
		rc = read_exclusions(db, job, s, err);
	if (rc == 0)
		rc = read_values(db, job, s, err);
	s->grouped = grouped != 0;
	return rc;
}

static int make_tables(const Kgrid__V1__CompareRequest *rq, const struct source *s,
		       Kgrid__V1__CompareReply *reply, struct kg_err *err)
{
	struct report_input in = {
		.cells = s->cells,
		.n_cells = s->n_cells,
		.metrics = s->metrics,
		.n_metrics = s->n_metrics,
		.values = s->values,
		.n_values = s->n_values,
		.exclusions = s->exclusions,
		.n_exclusions = s->n_exclusions,
		.grouped = s->grouped,
		.baseline = rq->baseline && rq->baseline[0] ? rq->baseline : NULL,
		.metric = rq->metric && rq->metric[0] ? rq->metric : NULL,
	};

	return report_compare_tables(&in, reply, err);
}

int query_compare(struct query *q, const Kgrid__V1__CompareRequest *rq,
		  Kgrid__V1__CompareReply **ret, struct kg_err *err)
{
	Kgrid__V1__CompareReply *reply = reply_new(&kgrid__v1__compare_reply__descriptor);
	struct source s = {0};
	uint64_t job = 0;
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc < 0) {
		reply_free(reply);
		return rc;
	}
	rc = find_job(db, rq->job, &job, err);
	if (rc == 0)
		rc = read_job_summary(db, job, &reply->job, err);
	if (rc == 0)
		rc = read_source(db, job, &s, err);
	rc = query_end(q, db, rc);
	if (rc == 0)
		rc = make_tables(rq, &s, reply, err);
	source_deinit(&s);
	if (rc < 0)
		reply_free(reply);
	else
		*ret = reply;
	return rc;
}
