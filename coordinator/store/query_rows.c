/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cells of a selection. */
#include "coordinator/store/query_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/uarch.h"
#include "coordinator/store/labels.h"

#define PREFIX_MIN 6
#define NAMED_MAX  12 /* names of what there is, in an error */

void rows_deinit(struct rows *r)
{
	for (size_t i = 0; i < r->n_configs; i++)
		free((void *)(uintptr_t)r->configs[i].text);
	free(r->values);
	arena_deinit(&r->arena);
}

void rows_input(const struct rows *r, struct report_input *ret)
{
	*ret = (struct report_input){
		.cells = r->cells,
		.n_cells = r->n_cells,
		.metrics = r->metrics,
		.n_metrics = r->n_metrics,
		.values = r->values,
		.n_values = r->n_values,
		.exclusions = r->exclusions,
		.n_exclusions = r->n_exclusions,
		.grouped = r->grouped,
		.epochs = r->epochs,
		.n_epochs = r->n_epochs,
		.configs = r->configs,
		.n_configs = r->n_configs,
		.selection = !r->one_job,
		.stopped_early = r->stopped_early,
		.stops = r->stops,
		.n_stops = r->n_stops,
	};
}

/* ---- jobs ---- */

static int add_job(struct rows *r, uint64_t job)
{
	uint64_t *p;

	for (size_t i = 0; i < r->n_jobs; i++) {
		if (r->jobs[i] == job)
			return 0;
	}
	p = arena_push(&r->arena, &r->jobs, &r->n_jobs, sizeof(*p));
	if (!p)
		return -ENOMEM;
	*p = job;
	return 0;
}

int rows_select(struct db *db, const Kgrid__V1__Selection *s, bool all_by_default, struct rows *r,
		struct kg_err *err)
{
	struct row_filter *f = &r->filter;
	bool all = s && s->all_jobs;
	int rc = 0;

	for (size_t i = 0; rc == 0 && !all && s && i < s->n_jobs; i++) {
		uint64_t job = 0;

		rc = find_job(db, s->jobs[i], &job, err);
		if (rc == 0 && add_job(r, job) < 0)
			rc = reply_oom(err);
	}
	if (rc == 0 && !all && !all_by_default && r->n_jobs == 0) {
		uint64_t job = 0;

		rc = find_job(db, 0, &job, err);
		if (rc == 0 && add_job(r, job) < 0)
			rc = reply_oom(err);
	}
	r->one_job = r->n_jobs == 1;
	if (rc < 0 || !s)
		return rc;
	f->machine = text_or_none(s->machine);
	f->kernel = text_or_none(s->kernel);
	f->lsm = text_or_none(s->lsm);
	f->workload = text_or_none(s->workload);
	f->params = s->params;
	f->n_params = s->n_params;
	f->since_ns = s->has_since_ns ? s->since_ns : 0;
	for (size_t i = 0; i < s->n_params; i++) {
		const char *equals = strchr(s->params[i], '=');

		if (!equals || equals == s->params[i])
			return kg_err_set(err, KG_EINVALID,
					  "'%s' is not a parameter with its value, as 'size=64' is",
					  s->params[i]);
	}
	return 0;
}

static int read_all_jobs(struct db *db, struct rows *r, struct kg_err *err)
{
	static const char sql[] =
		"SELECT id FROM job WHERE ((?1 AND kind = 'job') OR (?2 AND kind = 'confirm')"
		" OR (?3 AND kind = 'calibrate')) AND (ended_ns IS NULL OR ended_ns >= ?4)"
		" ORDER BY id";
	const struct row_filter *f = &r->filter;
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(f->normal), I(f->confirm), I(f->calibrate),
			   I(f->since_ns));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		uint64_t *p = arena_push(&r->arena, &r->jobs, &r->n_jobs, sizeof(*p));

		if (!p)
			break;
		*p = (uint64_t)sqlite3_column_int64(st, 0);
	}
	db_reset(st);
	return r->arena.failed ? reply_oom(err) : rc;
}

/* Only those of the machine that is asked for. */
static int read_job_stops(struct db *db, struct rows *r, uint64_t job, struct kg_err *err)
{
	size_t first = r->n_stops, n = first;
	int rc = read_stops(db, &r->arena, job, &r->stops, &r->n_stops, err);

	for (size_t i = first; rc == 0 && i < r->n_stops; i++) {
		const struct report_stop *x = &r->stops[i];

		if (r->filter.machine && x->machine && !kg_streq(x->machine, r->filter.machine))
			continue;
		r->stopped_early = r->stopped_early || kg_streq(x->outcome, "skipped");
		r->stops[n++] = *x;
	}
	if (rc == 0)
		r->n_stops = n;
	return rc;
}

static int read_job_states(struct db *db, struct rows *r, struct kg_err *err)
{
	for (size_t i = 0; i < r->n_jobs; i++) {
		sqlite3_stmt *st;
		int rc = db_select(db, err,
				   "SELECT boot_order = 'grouped', state = 'cancelled' FROM job"
				   " WHERE id = ?",
				   &st, I(r->jobs[i]));

		if (rc < 0)
			return rc;
		rc = db_step(db, st, err);
		if (rc > 0) {
			r->grouped = r->grouped || sqlite3_column_int(st, 0) != 0;
			r->stopped_early = r->stopped_early || sqlite3_column_int(st, 1) != 0;
		}
		db_reset(st);
		if (rc >= 0)
			rc = read_job_stops(db, r, r->jobs[i], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- machines ---- */

struct machine {
	const char *name, *cpu_name, *cpu_vendor, *clock, *uarch;
};

struct machines {
	struct machine *items;
	size_t n;
};

const char *machine_uarch(struct arena *a, sqlite3_stmt *st, int column)
{
	const void *bytes = sqlite3_column_blob(st, column);
	size_t len = (size_t)sqlite3_column_bytes(st, column);
	Kgrid__V1__MachineFacts *f =
		bytes ? kgrid__v1__machine_facts__unpack(NULL, len, bytes) : NULL;
	const char *name = NULL;
	char buf[64];

	/* A row that somebody edited is taken as never reported. */
	if (f && f->cpu_vendor && f->has_cpu_family && f->has_cpu_model)
		name = arena_text(a, kg_uarch_name(f->cpu_vendor, f->cpu_family, f->cpu_model,
						   f->cpu_stepping, buf, sizeof(buf)));
	if (f)
		kgrid__v1__machine_facts__free_unpacked(f, NULL);
	return name;
}

static int read_machines(struct db *db, struct arena *a, struct machines *ret, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err,
			   "SELECT name, cpu_name, cpu_vendor, clock, facts FROM machine"
			   " ORDER BY name",
			   &st, NIL);

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct machine *m = arena_push(a, &ret->items, &ret->n, sizeof(*m));

		if (!m)
			break;
		m->name = arena_text(a, db_col_text_or(st, 0, ""));
		m->cpu_name = arena_text(a, db_col_text(st, 1));
		m->cpu_vendor = arena_text(a, db_col_text(st, 2));
		m->clock = arena_text(a, db_col_text(st, 3));
		m->uarch = machine_uarch(a, st, 4);
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

static void fill_machine(const struct machines *m, struct report_cell *c)
{
	for (size_t i = 0; i < m->n; i++) {
		if (strcmp(m->items[i].name, c->machine) != 0)
			continue;
		c->cpu_name = m->items[i].cpu_name;
		c->cpu_vendor = m->items[i].cpu_vendor;
		c->clock = m->items[i].clock;
		c->microarchitecture = m->items[i].uarch;
	}
}

/* ---- cells ---- */

/* Whether 'a=1 b=2' has the word 'b=2'. */
static bool has_word(const char *params, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = params; (p = strstr(p, word)) != NULL; p++) {
		if ((p == params || p[-1] == ' ') && (p[len] == '\0' || p[len] == ' '))
			return true;
	}
	return false;
}

static bool has_params(const struct row_filter *f, const char *params)
{
	for (size_t i = 0; i < f->n_params; i++) {
		if (!has_word(params, f->params[i]))
			return false;
	}
	return true;
}

static bool is_prefix(const char *s)
{
	return s && strlen(s) >= PREFIX_MIN && strspn(s, "0123456789abcdef") == strlen(s);
}

static void fill_cell(struct arena *a, sqlite3_stmt *st, struct raw_cell *raw)
{
	struct report_cell *c = &raw->cell;

	raw->id = (uint64_t)sqlite3_column_int64(st, 0);
	c->id = raw->id;
	c->machine = arena_text(a, db_col_text_or(st, 1, ""));
	c->kernel = arena_text(a, db_col_text_or(st, 2, ""));
	c->kernel_digest = arena_text(a, db_col_text_or(st, 3, ""));
	c->lsm = arena_text(a, db_col_text_or(st, 4, ""));
	c->lsm_effective = arena_text(a, db_col_text_or(st, 5, ""));
	c->cmdline = arena_text(a, db_col_text_or(st, 6, ""));
	c->workload = arena_text(a, db_col_text_or(st, 7, ""));
	raw->workload_digest = arena_text(a, db_col_text_or(st, 8, ""));
	c->params = arena_text(a, db_col_text_or(st, 9, ""));
	c->kernel_order = (uint32_t)sqlite3_column_int64(st, 10);
	c->lsm_order = (uint32_t)sqlite3_column_int64(st, 11);
	c->workload_order = (uint32_t)sqlite3_column_int64(st, 12);
	c->release = arena_text(a, db_col_text(st, 13));
	c->version = arena_text(a, db_col_text(st, 14));
	c->config_digest = arena_text(a, db_col_text(st, 15));
	c->lsm_request = arena_text(a, db_col_text(st, 16));
	c->settings = arena_text(a, db_col_text_or(st, 17, ""));
	raw->lsm_label = arena_text(a, db_col_text_or(st, 18, ""));
	raw->variant = arena_text(a, db_col_text_or(st, 19, ""));
}

/* ---- lists that are the same ---- */

/* "nt", with the variant of the column that it would have been. */
static const char *merged_label(struct arena *a, const char *label, const char *variant)
{
	struct kg_str s = {0};
	const char *text = NULL;

	kg_str_addf(&s, "%s%s%s", label, variant[0] ? "+" : "", variant);
	if (!s.failed)
		text = arena_text(a, kg_str_text(&s));
	else
		a->failed = true;
	kg_str_deinit(&s);
	return text;
}

/* The labels of the cell's job that were planned as this one. A list can merge under one variant of the
 * command line and not under another: what both give tells them apart. */
static int read_same_as(struct db *db, struct arena *a, struct raw_cell *raw, struct kg_err *err)
{
	static const char sql[] =
		"SELECT lsm FROM job_merge WHERE job = ?1 AND machine = ?2 AND kernel = ?3"
		" AND same_as = ?4 AND effective = ?5 ORDER BY lsm";
	struct report_cell *c = &raw->cell;
	const char **labels = NULL;
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(raw->job), T(c->machine), T(c->kernel_digest),
			   T(raw->lsm_label), T(c->lsm_effective));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		const char **p = arena_push(a, &labels, &c->n_same_as, sizeof(*p));

		if (!p)
			break;
		*p = merged_label(a, db_col_text_or(st, 0, ""), raw->variant);
	}
	db_reset(st);
	c->same_as = labels;
	return a->failed ? reply_oom(err) : rc;
}

static int read_merges(struct db *db, struct rows *r, struct kg_err *err)
{
	int64_t any = 0;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < r->n_raw; i++) {
		if (i == 0 || r->raw[i].job != r->raw[i - 1].job) {
			any = 0;
			rc = db_int(db, err, "SELECT 1 FROM job_merge WHERE job = ? LIMIT 1", &any,
				    I(r->raw[i].job));
		}
		if (rc >= 0 && any)
			rc = read_same_as(db, &r->arena, &r->raw[i], err);
	}
	return rc < 0 ? rc : 0;
}

static int read_cells_of(struct db *db, const struct row_filter *f, uint64_t job, struct rows *r,
			 const struct machines *m, struct kg_err *err)
{
	static const char sql[] =
		"SELECT cell.id, cell.machine, cell.kernel_label, cell.kernel, " CELL_LSM ","
		" cell.lsm_effective, cell.cmdline, cell.workload, cell.workload_digest,"
		" " CELL_PARAMS ","
		" cell.kernel_order, cell.lsm_order, cell.workload_order, kernel.release,"
		" kernel.version, kernel.config_digest, " CELL_REQUEST ", cell.settings,"
		" cell.lsm_label, cell.variant"
		" FROM cell JOIN kernel ON kernel.digest = cell.kernel"
		" WHERE cell.job = ?1 AND (?2 IS NULL OR cell.machine = ?2)"
		" AND (?3 IS NULL OR cell.kernel_label = ?3 OR kernel.label = ?3"
		"  OR kernel.release = ?3 OR (?4 AND substr(cell.kernel, 1, length(?3)) = ?3))"
		" AND (?5 IS NULL OR " CELL_LSM_IS(
			"?5") ")"
			      " AND (?6 IS NULL OR cell.workload = ?6) AND NOT cell.canary"
			      " ORDER BY cell.id";
	struct arena *a = &r->arena;
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(job), T(f->machine), T(f->kernel),
			   I(is_prefix(f->kernel)), T(f->lsm), T(f->workload));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct raw_cell *raw;

		if (!has_params(f, db_col_text_or(st, 9, "")))
			continue;
		raw = arena_push(a, &r->raw, &r->n_raw, sizeof(*raw));
		if (!raw)
			break;
		raw->job = job;
		fill_cell(a, st, raw);
		if (!a->failed)
			fill_machine(m, &raw->cell);
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

static int order_key(const struct raw_cell *x, const struct raw_cell *y)
{
	int order = strcmp(x->cell.machine, y->cell.machine);

	if (!order)
		order = strcmp(x->cell.kernel_digest, y->cell.kernel_digest);
	if (!order)
		order = strcmp(x->cell.lsm, y->cell.lsm);
	if (!order)
		order = strcmp(x->cell.lsm_effective, y->cell.lsm_effective);
	if (!order)
		order = strcmp(x->cell.cmdline, y->cell.cmdline);
	if (!order)
		order = strcmp(x->cell.settings, y->cell.settings);
	if (!order)
		order = strcmp(x->cell.workload, y->cell.workload);
	if (!order)
		order = strcmp(x->workload_digest, y->workload_digest);
	return order ? order : strcmp(x->cell.params, y->cell.params);
}

static int order_raw(const void *a, const void *b)
{
	const struct raw_cell *const *x = a, *const *y = b;
	int order = order_key(*x, *y);

	return order ? order : (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

/* The same cell of several jobs is one, named and placed as the newest of them does. */
static int merge_cells(struct rows *r, struct kg_err *err)
{
	struct raw_cell **sorted = arena_alloc(&r->arena, r->n_raw + 1, sizeof(struct raw_cell *));
	size_t *place = arena_alloc(&r->arena, r->n_raw + 1, sizeof(*place));
	size_t groups = 0;

	r->cells = arena_alloc(&r->arena, r->n_raw + 1, sizeof(*r->cells));
	if (!sorted || !place || !r->cells)
		return reply_oom(err);
	for (size_t i = 0; i < r->n_raw; i++)
		sorted[i] = &r->raw[i];
	qsort(sorted, r->n_raw, sizeof(struct raw_cell *), order_raw);
	for (size_t i = 0; i < r->n_raw; i++) {
		groups += i == 0 || order_key(sorted[i - 1], sorted[i]) != 0;
		sorted[i]->index = groups; /* from 1, until it has its place */
	}
	for (size_t i = 0; i < r->n_raw; i++) {
		size_t *at = &place[r->raw[i].index];

		if (*at == 0)
			*at = ++r->n_cells;
		r->raw[i].index = *at - 1;
		r->cells[r->raw[i].index] = r->raw[i].cell;
	}
	return 0;
}

/* ---- nothing fits ---- */

typedef const char *(*name_fn)(const struct report_cell *c);

static const char *name_machine(const struct report_cell *c)
{
	return c->machine;
}

static const char *name_kernel(const struct report_cell *c)
{
	return c->kernel;
}

static const char *name_lsm(const struct report_cell *c)
{
	return c->lsm;
}

static const char *name_workload(const struct report_cell *c)
{
	return c->workload;
}

/* "a, b": each name once, in order of appearance. */
static void add_names(const struct rows *all, name_fn name, struct kg_str *s)
{
	size_t named = 0;

	for (size_t i = 0; i < all->n_raw; i++) {
		const char *x = name(&all->raw[i].cell);
		size_t j = 0;

		while (j < i && strcmp(name(&all->raw[j].cell), x) != 0)
			j++;
		if (j < i)
			continue;
		if (named++ == NAMED_MAX) {
			kg_str_add(s, " ...");
			return;
		}
		kg_str_addf(s, "%s%s", named > 1 ? ", " : "", x);
	}
}

/* One name of the filter alone: whether any cell of the jobs has it. */
static int check_name(struct db *db, const struct rows *r, const struct rows *all,
		      const struct row_filter *only, const char *what, const char *name, name_fn fn,
		      struct kg_err *err)
{
	static const struct machines none = {NULL, 0};
	struct rows found = {0};
	struct kg_str s = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && name && found.n_raw == 0 && i < r->n_jobs; i++)
		rc = read_cells_of(db, only, r->jobs[i], &found, &none, err);
	if (rc == 0 && name && found.n_raw == 0) {
		add_names(all, fn, &s);
		rc = s.failed ? reply_oom(err)
		     : r->one_job
			     ? kg_err_set(err, KG_ENOTFOUND, "job %llu has no %s '%s'; it has %s",
					  (unsigned long long)r->jobs[0], what, name, s.text)
			     : kg_err_set(err, KG_ENOTFOUND, "no job has a %s '%s'; there are %s",
					  what, name, s.text);
	}
	kg_str_deinit(&s);
	rows_deinit(&found);
	return rc;
}

/* KG_ENOTFOUND names what there is instead of a name that occurs nowhere. */
static int explain_nothing(struct db *db, const struct rows *r, struct kg_err *err)
{
	static const struct machines no_machines = {NULL, 0};
	static const struct row_filter none;
	const struct row_filter *f = &r->filter;
	const struct row_filter machine = {.machine = f->machine}, kernel = {.kernel = f->kernel},
				lsm = {.lsm = f->lsm}, workload = {.workload = f->workload};
	struct rows all = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < r->n_jobs; i++)
		rc = read_cells_of(db, &none, r->jobs[i], &all, &no_machines, err);
	if (rc == 0 && all.n_raw)
		rc = check_name(db, r, &all, &machine, "machine", f->machine, name_machine, err);
	if (rc == 0 && all.n_raw)
		rc = check_name(db, r, &all, &kernel, "kernel", f->kernel, name_kernel, err);
	if (rc == 0 && all.n_raw)
		rc = check_name(db, r, &all, &lsm, "lsm", f->lsm, name_lsm, err);
	if (rc == 0 && all.n_raw)
		rc = check_name(db, r, &all, &workload, "workload", f->workload, name_workload,
				err);
	rows_deinit(&all);
	return rc;
}

int rows_read_cells(struct db *db, struct rows *r, struct kg_err *err)
{
	struct machines m = {0};
	int rc = r->n_jobs ? 0 : read_all_jobs(db, r, err);

	if (rc == 0)
		rc = read_job_states(db, r, err);
	if (rc == 0)
		rc = read_machines(db, &r->arena, &m, err);
	for (size_t i = 0; rc == 0 && i < r->n_jobs; i++)
		rc = read_cells_of(db, &r->filter, r->jobs[i], r, &m, err);
	if (rc == 0)
		rc = read_merges(db, r, err);
	if (rc == 0)
		rc = merge_cells(r, err);
	if (rc == 0 && r->n_cells == 0)
		rc = explain_nothing(db, r, err);
	return rc;
}
