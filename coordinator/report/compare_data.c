/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One table in numbers: boots of each cell with their iterations. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/summary.h"
#include "coordinator/report/compare_internal.h"

void table_deinit(struct table *t)
{
	free(t->shown);
	free(t->rows);
	free(t->cells);
	free(t->numbers);
	free(t->boots);
	free(t->infos);
}

struct cell_data *table_cell(const struct table *t, uint32_t row, uint32_t column)
{
	return &t->cells[(size_t)row * t->l->n_columns + column];
}

struct verdict_side table_side(const struct table *t, const struct cell_data *c)
{
	return (struct verdict_side){.boots = &t->boots[c->used], .n = c->n_used};
}

double *table_medians(const struct table *t, const struct cell_data *d)
{
	double *medians = calloc(d->n_used + 1, sizeof(*medians)), *scratch = NULL;
	size_t most = 1;

	for (size_t i = 0; i < d->n_used; i++)
		most = t->boots[d->used + i].n > most ? t->boots[d->used + i].n : most;
	scratch = calloc(most, sizeof(*scratch));
	if (!medians || !scratch) {
		free(medians);
		free(scratch);
		return NULL;
	}
	for (size_t i = 0; i < d->n_used; i++) {
		const struct verdict_boot *b = &t->boots[d->used + i];

		memcpy(scratch, b->values, b->n * sizeof(*scratch));
		medians[i] = stats_median_inplace(scratch, b->n);
	}
	free(scratch);
	return medians;
}

const struct report_metric *table_metric(const struct table *t)
{
	return t->metric == NO_METRIC ? NULL : &t->l->in->metrics[t->metric];
}

/* Rows with a value of this metric; in the first table also those without any value. */
static int choose_rows(struct table *t)
{
	const struct group *g = &t->l->groups[t->group];

	t->shown = calloc(g->n_rows, sizeof(*t->shown));
	t->rows = calloc(g->n_rows, sizeof(*t->rows));
	if (!t->shown || !t->rows)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_values; i++)
		t->shown[t->l->row_of[t->l->in->values[t->values[i]].cell]] = 1;
	for (uint32_t row = 0; row < g->n_rows; row++) {
		if (t->shown[row] || (t->first && !g->has_value[row])) {
			t->shown[row] = t->n_rows;
			t->rows[t->n_rows++] = g->rows[row];
		} else {
			t->shown[row] = UINT32_MAX;
		}
	}
	return 0;
}

static int order_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int order_in_table(const void *a, const void *b, void *arg)
{
	const struct table *t = arg;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct report_value *x = &t->l->in->values[i], *y = &t->l->in->values[k];
	int rc = order_u64(t->l->row_of[x->cell], t->l->row_of[y->cell]);

	if (rc == 0)
		rc = order_u64(t->l->column_of[x->cell], t->l->column_of[y->cell]);
	if (rc == 0)
		rc = order_u64(x->epoch, y->epoch);
	if (rc == 0)
		rc = order_u64(x->boot, y->boot);
	return rc ? rc : order_u64(i, k);
}

static struct cell_data *data_of(const struct table *t, size_t cell)
{
	return table_cell(t, t->shown[t->l->row_of[cell]], t->l->column_of[cell]);
}

/* The job's cells: planned or not is known before there is a value. */
static void collect_cells(struct table *t)
{
	const struct layout *l = t->l;
	const struct group *g = &l->groups[t->group];

	for (size_t i = g->first; i < g->first + g->n; i++) {
		size_t cell = l->order[i];

		if (t->shown[l->row_of[cell]] == UINT32_MAX)
			continue;
		if (!data_of(t, cell)->cell)
			data_of(t, cell)->cell = &l->in->cells[cell];
	}
}

static bool same_subject(const struct report_cell *a, const struct report_cell *b)
{
	return kg_streq(a->lsm_effective, b->lsm_effective) && kg_streq(a->cmdline, b->cmdline) &&
	       strcmp(a->settings ? a->settings : "", b->settings ? b->settings : "") == 0;
}

/* Cells of several jobs can stand under one column; the first with a value is what the others are
 * held against. */
static void note_subject(struct cell_data *d, const struct report_cell *cell)
{
	if (d->n == 0)
		d->cell = cell;
	else if (!d->mixed && d->cell != cell && !same_subject(d->cell, cell)) {
		d->mixed = true;
		d->other = cell;
	}
}

static void collect_boots(struct table *t)
{
	for (size_t i = 0; i < t->n_values; i++) {
		const struct report_value *v = &t->l->in->values[t->values[i]];
		struct cell_data *d = data_of(t, v->cell);
		const struct boot_info *last = t->n_boots ? &t->infos[t->n_boots - 1] : NULL;

		note_subject(d, &t->l->in->cells[v->cell]);
		t->numbers[i] = v->value;
		if (d->n && last->boot == v->boot && last->epoch == v->epoch) {
			t->boots[t->n_boots - 1].n++;
			continue;
		}
		if (d->n == 0)
			d->first = t->n_boots;
		d->n++;
		t->infos[t->n_boots] = (struct boot_info){v->boot, v->job, v->block, v->epoch};
		t->boots[t->n_boots++] = (struct verdict_boot){&t->numbers[i], 1};
	}
}

static void choose_epochs(struct table *t)
{
	for (size_t i = 0; i < (size_t)t->n_rows * t->l->n_columns; i++) {
		struct cell_data *d = &t->cells[i];

		d->used = d->first;
		d->n_used = d->n;
		if (t->l->in->across_epochs || d->n == 0)
			continue;
		while (t->infos[d->used].epoch != t->infos[d->first + d->n - 1].epoch) {
			d->used++;
			d->n_used--;
		}
	}
}

int table_init(struct table *t)
{
	int rc = choose_rows(t);

	if (rc < 0)
		return rc;
	t->cells = calloc((size_t)t->n_rows * t->l->n_columns + 1, sizeof(*t->cells));
	t->numbers = calloc(t->n_values + 1, sizeof(*t->numbers));
	t->boots = calloc(t->n_values + 1, sizeof(*t->boots));
	t->infos = calloc(t->n_values + 1, sizeof(*t->infos));
	if (!t->cells || !t->numbers || !t->boots || !t->infos)
		return -ENOMEM;
	if (t->n_values)
		qsort_r(t->values, t->n_values, sizeof(*t->values), order_in_table, t);
	collect_cells(t);
	collect_boots(t);
	choose_epochs(t);
	return 0;
}

static int one_table(const struct layout *l, const struct table *shape, table_fn fn, void *arg,
		     struct kg_err *err)
{
	struct table t = *shape;
	int rc;

	t.l = l;
	rc = table_init(&t);
	if (rc == 0)
		rc = fn(&t, arg, err);
	table_deinit(&t);
	return rc;
}

/* All tables of one machine and workload; *at moves over its values. */
static int each_of_group(const struct layout *l, size_t group, size_t *at, table_fn fn, void *arg,
			 struct kg_err *err)
{
	const struct report_input *in = l->in;
	struct table shape = {.group = group, .first = true};
	bool any = false;
	int rc = 0;

	while (rc == 0 && *at < l->n_values) {
		const struct report_value *v = &in->values[l->values[*at]];
		size_t begin = *at, metric = v->metric;

		if (l->group_of[v->cell] != group)
			break;
		any = true;
		while (*at < l->n_values) {
			v = &in->values[l->values[*at]];
			if (l->group_of[v->cell] != group || v->metric != metric)
				break;
			(*at)++;
		}
		if (in->metric && !kg_streq(in->metric, in->metrics[metric].name))
			continue;
		shape.metric = metric;
		shape.values = &l->values[begin];
		shape.n_values = *at - begin;
		rc = one_table(l, &shape, fn, arg, err);
		shape.first = false;
	}
	if (rc == 0 && !any) {
		shape.metric = NO_METRIC;
		rc = one_table(l, &shape, fn, arg, err);
	}
	return rc;
}

int each_table(const struct layout *l, table_fn fn, void *arg, struct kg_err *err)
{
	size_t at = 0;
	int rc = 0;

	for (size_t g = 0; rc == 0 && g < l->n_groups; g++)
		rc = each_of_group(l, g, &at, fn, arg, err);
	return rc;
}
