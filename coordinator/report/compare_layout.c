/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which tables, rows and columns there are. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/report/compare_internal.h"
#include "coordinator/report/kernel_version.h"

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static int order_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* ---- columns ---- */

/* Positions in the job file; over several jobs they are not of one file: there versions count. */
static int order_columns(const void *a, const void *b, void *arg)
{
	const struct column *x = a, *y = b;
	const struct report_input *in = arg;
	int rc = in->selection ? kernel_version_compare(x->release, y->release)
			       : order_number(x->kernel_order, y->kernel_order);

	if (rc == 0 && in->selection)
		rc = strcmp(x->kernel, y->kernel);
	if (rc == 0)
		rc = order_number(x->lsm_order, y->lsm_order);
	if (rc == 0)
		rc = strcmp(x->kernel, y->kernel);
	if (rc == 0 && !in->selection)
		rc = strcmp(or_empty(x->digest), or_empty(y->digest));
	if (rc == 0 && !in->selection)
		rc = order_number(x->first_id, y->first_id);
	if (rc == 0)
		rc = strcmp(x->lsm, y->lsm);
	return rc ? rc : strcmp(or_empty(x->digest), or_empty(y->digest));
}

static bool column_is(const struct column *c, const struct report_cell *cell)
{
	return strcmp(c->kernel, cell->kernel) == 0 && strcmp(c->lsm, cell->lsm) == 0 &&
	       kg_streq(c->digest, cell->kernel_digest);
}

static uint32_t find_column(const struct layout *l, const struct report_cell *cell)
{
	uint32_t i = 0;

	while (i < l->n_columns && !column_is(&l->columns[i], cell))
		i++;
	return i;
}

/* A label that two kernels had is told apart by the digest. */
static int name_columns(struct layout *l)
{
	for (uint32_t i = 0; i < l->n_columns; i++) {
		struct column *c = &l->columns[i];
		bool shared = false;
		int rc;

		for (uint32_t k = 0; k < l->n_columns && !shared; k++)
			shared = strcmp(l->columns[k].kernel, c->kernel) == 0 &&
				 !kg_streq(l->columns[k].digest, c->digest);
		rc = shared ? asprintf(&c->shown, "%s (%.8s)", c->kernel,
				       c->digest ? c->digest : "digest not known")
			    : asprintf(&c->shown, "%s", c->kernel);
		if (rc < 0) {
			c->shown = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

static int collect_columns(struct layout *l)
{
	for (size_t i = 0; i < l->in->n_cells; i++) {
		const struct report_cell *c = &l->in->cells[i];

		if (find_column(l, c) < l->n_columns)
			continue;
		l->columns[l->n_columns++] = (struct column){
			.kernel = c->kernel,
			.lsm = c->lsm,
			.digest = c->kernel_digest,
			.release = c->release ? c->release : c->kernel,
			.effective = c->lsm_effective,
			.request = c->lsm_request,
			.kernel_order = c->kernel_order,
			.lsm_order = c->lsm_order,
			.first_id = c->id,
		};
	}
	qsort_r(l->columns, l->n_columns, sizeof(*l->columns), order_columns,
		(void *)(uintptr_t)l->in);
	return name_columns(l);
}

/* Whether `text` is "KERNEL/LSM"; labels of variants can be as long as a command line. */
static bool is_pair(const char *text, const char *kernel, const char *lsm)
{
	size_t len = strlen(kernel);

	return strncmp(text, kernel, len) == 0 && text[len] == '/' &&
	       strcmp(text + len + 1, lsm) == 0;
}

/* Whether "SHOWN/LSM" has `text` as a part. */
static bool has_part(const struct column *c, const char *text)
{
	const char *slash = strchr(text, '/');

	if (strstr(c->shown, text) || strstr(c->lsm, text))
		return true;
	for (; slash; slash = strchr(slash + 1, '/')) {
		size_t before = (size_t)(slash - text), len = strlen(c->shown);

		if (before <= len && strncmp(c->shown + len - before, text, before) == 0 &&
		    kg_str_starts(c->lsm, slash + 1))
			return true;
	}
	return false;
}

/* The stricter of three ways to name a column that fits at all decides. */
static bool column_fits(const struct column *c, const char *text, int way)
{
	switch (way) {
	case 0:
		return is_pair(text, c->kernel, c->lsm) || is_pair(text, c->shown, c->lsm);
	case 1:
		if (text[0] == '/')
			return strcmp(c->lsm, text + 1) == 0;
		if (kg_str_starts(text, c->kernel) && strcmp(text + strlen(c->kernel), "/") == 0)
			return true;
		return strcmp(c->kernel, text) == 0 || strcmp(c->lsm, text) == 0;
	default:
		return has_part(c, text);
	}
}

static int say_ambiguous(const struct layout *l, const char *text, int way, uint32_t n,
			 struct kg_err *err)
{
	struct kg_str names = {0};

	for (uint32_t i = 0; i < l->n_columns; i++) {
		if (column_fits(&l->columns[i], text, way))
			kg_str_addf(&names, "%s%s/%s", names.len ? ", " : "", l->columns[i].shown,
				    l->columns[i].lsm);
	}
	kg_err_set(err, 0, "baseline '%s' fits %u columns: %s", text, n, kg_str_text(&names));
	kg_str_deinit(&names);
	return KG_EAMBIGUOUS;
}

static int choose_baseline(struct layout *l, const char *text, struct kg_err *err)
{
	uint32_t found = 0, n = 0;
	struct column c;

	if (!text || !text[0] || l->n_columns == 0)
		return 0;
	for (int way = 0; way < 3 && n == 0; way++) {
		for (uint32_t i = 0; i < l->n_columns; i++) {
			if (!column_fits(&l->columns[i], text, way))
				continue;
			found = i;
			n++;
		}
		if (n > 1)
			return say_ambiguous(l, text, way, n, err);
	}
	if (n == 0)
		return kg_err_set(err, KG_ENOTFOUND, "the job has no column '%s', as in '%s/%s'",
				  text, l->columns[0].shown, l->columns[0].lsm);
	c = l->columns[found];
	memmove(&l->columns[1], &l->columns[0], found * sizeof(c));
	l->columns[0] = c;
	return 0;
}

/* ---- groups and rows ---- */

static int order_cells(const void *a, const void *b, void *arg)
{
	const struct report_cell *cells = arg;
	const struct report_cell *x = &cells[*(const size_t *)a], *y = &cells[*(const size_t *)b];
	int rc = strcmp(x->machine, y->machine);

	if (rc == 0)
		rc = order_number(x->workload_order, y->workload_order);
	return rc ? rc : order_number(x->id, y->id);
}

/* Same machine and workload; the search ends where another machine begins. */
static size_t find_group(const struct layout *l, const struct report_cell *c)
{
	for (size_t g = l->n_groups; g-- > 0;) {
		const struct report_cell *other = &l->in->cells[l->groups[g].first];

		if (strcmp(other->machine, c->machine) != 0)
			break;
		if (strcmp(other->workload, c->workload) == 0)
			return g;
	}
	return l->n_groups;
}

static void collect_groups(struct layout *l)
{
	for (size_t i = 0; i < l->in->n_cells; i++) {
		size_t cell = l->order[i];
		size_t g = find_group(l, &l->in->cells[cell]);

		if (g == l->n_groups)
			l->groups[l->n_groups++] = (struct group){.first = cell};
		l->groups[g].n++;
		l->group_of[cell] = g;
	}
}

static int order_by_group(const void *a, const void *b, void *arg)
{
	const struct layout *l = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int rc = order_number(l->group_of[x], l->group_of[y]);

	return rc ? rc : order_cells(a, b, (void *)(uintptr_t)l->in->cells);
}

static int collect_rows(struct layout *l)
{
	for (size_t i = 0; i < l->in->n_cells; i++) {
		size_t cell = l->order[i];
		struct group *g = &l->groups[l->group_of[cell]];
		const char *params = l->in->cells[cell].params;
		uint32_t row = 0;

		if (!g->rows) { /* first cell of the group, as order[] is by group now */
			g->first = i;
			g->rows = calloc(g->n, sizeof(*g->rows));
			g->has_value = calloc(g->n, sizeof(*g->has_value));
			if (!g->rows || !g->has_value)
				return -ENOMEM;
		}
		while (row < g->n_rows && strcmp(g->rows[row], params) != 0)
			row++;
		if (row == g->n_rows)
			g->rows[g->n_rows++] = params;
		l->row_of[cell] = row;
		l->column_of[cell] = find_column(l, &l->in->cells[cell]);
	}
	return 0;
}

static int order_values(const void *a, const void *b, void *arg)
{
	const struct layout *l = arg;
	const struct report_value *x = &l->in->values[*(const size_t *)a];
	const struct report_value *y = &l->in->values[*(const size_t *)b];
	int rc = order_number(l->group_of[x->cell], l->group_of[y->cell]);

	return rc ? rc : order_number(x->metric, y->metric);
}

static void collect_values(struct layout *l)
{
	for (size_t i = 0; i < l->in->n_values; i++) {
		const struct report_value *v = &l->in->values[i];

		if (!isfinite(v->value)) {
			l->n_not_finite++;
			continue;
		}
		l->values[l->n_values++] = i;
		l->groups[l->group_of[v->cell]].has_value[l->row_of[v->cell]] = true;
	}
	if (l->n_values)
		qsort_r(l->values, l->n_values, sizeof(*l->values), order_values, l);
}

static int layout_alloc(struct layout *l)
{
	size_t n = l->in->n_cells + 1;

	l->order = calloc(n, sizeof(*l->order));
	l->row_of = calloc(n, sizeof(*l->row_of));
	l->column_of = calloc(n, sizeof(*l->column_of));
	l->group_of = calloc(n, sizeof(*l->group_of));
	l->columns = calloc(n, sizeof(*l->columns));
	l->groups = calloc(n, sizeof(*l->groups));
	l->values = calloc(l->in->n_values + 1, sizeof(*l->values));
	return l->order && l->row_of && l->column_of && l->group_of && l->columns && l->groups &&
			       l->values
		       ? 0
		       : -ENOMEM;
}

int layout_init(struct layout *l, const struct report_input *in, struct kg_err *err)
{
	size_t n = in->n_cells;
	int rc;

	memset(l, 0, sizeof(*l));
	l->in = in;
	rc = layout_alloc(l);
	if (rc < 0)
		return kg_err_set(err, rc, "out of memory");
	rc = collect_columns(l);
	if (rc < 0)
		return kg_err_set(err, rc, "out of memory");
	rc = choose_baseline(l, in->baseline, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++)
		l->order[i] = i;
	qsort_r(l->order, n, sizeof(*l->order), order_cells, (void *)(uintptr_t)in->cells);
	collect_groups(l);
	qsort_r(l->order, n, sizeof(*l->order), order_by_group, l);
	rc = collect_rows(l);
	if (rc < 0)
		return kg_err_set(err, rc, "out of memory");
	collect_values(l);
	return 0;
}

void layout_deinit(struct layout *l)
{
	for (size_t i = 0; l->groups && i < l->n_groups; i++) {
		free(l->groups[i].rows);
		free(l->groups[i].has_value);
	}
	for (uint32_t i = 0; l->columns && i < l->n_columns; i++)
		free(l->columns[i].shown);
	free(l->order);
	free(l->row_of);
	free(l->column_of);
	free(l->group_of);
	free(l->columns);
	free(l->groups);
	free(l->values);
	memset(l, 0, sizeof(*l));
}
