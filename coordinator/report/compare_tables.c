/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/report/compare_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/analysis/compare.h"
#include "coordinator/report/compare_internal.h"

#define NO_METRIC SIZE_MAX

/* One table while it is made. */
struct table {
	const struct layout *l;
	size_t group;
	size_t metric;
	const size_t *values; /* indices */
	size_t n_values;
	uint32_t *shown; /* row of the group -> row of the table, UINT32_MAX: not shown */
	const char **rows;
	uint32_t n_rows;
	struct stats_cell *stats; /* n_rows x n_columns */
};

static void table_deinit(struct table *t)
{
	free(t->shown);
	free(t->rows);
	free(t->stats);
}

/* Rows with a value of this metric; in the first table also those without any value. */
static int choose_rows(struct table *t, bool first)
{
	const struct group *g = &t->l->groups[t->group];

	t->shown = calloc(g->n_rows, sizeof(*t->shown));
	t->rows = calloc(g->n_rows, sizeof(*t->rows));
	if (!t->shown || !t->rows)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_values; i++)
		t->shown[t->l->row_of[t->l->in->values[t->values[i]].cell]] = 1;
	for (uint32_t row = 0; row < g->n_rows; row++) {
		if (t->shown[row] || (first && !g->has_value[row])) {
			t->shown[row] = t->n_rows;
			t->rows[t->n_rows++] = g->rows[row];
		} else {
			t->shown[row] = UINT32_MAX;
		}
	}
	return 0;
}

static enum stats_direction direction_of(const char *name)
{
	if (kg_streq(name, "higher"))
		return STATS_HIGHER;
	return kg_streq(name, "lower") ? STATS_LOWER : STATS_NONE;
}

static int compute(struct table *t)
{
	const struct layout *l = t->l;
	struct stats_compare_input in = {
		.n_rows = t->n_rows, .n_columns = l->n_columns, .n = t->n_values};
	int rc;

	t->stats = calloc((size_t)t->n_rows * l->n_columns + 1, sizeof(*t->stats));
	in.observations = calloc(t->n_values + 1, sizeof(*in.observations));
	if (!t->stats || !in.observations) {
		free(in.observations);
		return -ENOMEM;
	}
	if (t->metric != NO_METRIC)
		in.direction = direction_of(l->in->metrics[t->metric].direction);
	for (size_t i = 0; i < t->n_values; i++) {
		const struct report_value *v = &l->in->values[t->values[i]];

		in.observations[i] = (struct stats_observation){
			.row = t->shown[l->row_of[v->cell]],
			.column = l->column_of[v->cell],
			.boot = v->boot,
			.value = v->value,
		};
	}
	rc = stats_compare(&in, t->stats);
	free(in.observations);
	return rc;
}

/* ---- the message ---- */

static void fill_numbers(const struct stats_cell *s, Kgrid__V1__CompareCell *c)
{
	c->has_boots = 1;
	c->boots = s->boots;
	if (s->boots == 0)
		return;
	c->has_value = 1;
	c->value = s->mean;
	c->has_value_lo = c->has_value_hi = s->has_interval;
	c->value_lo = s->lo;
	c->value_hi = s->hi;
	c->has_cov_pct = s->has_cov;
	c->cov_pct = s->cov_pct;
	c->has_delta_pct = s->has_delta;
	c->delta_pct = s->delta_pct;
	c->has_delta_lo_pct = c->has_delta_hi_pct = s->has_delta_interval;
	c->delta_lo_pct = s->delta_lo_pct;
	c->delta_hi_pct = s->delta_hi_pct;
}

static int add_excluded(Kgrid__V1__CompareCell *c, enum kg_outcome outcome, uint64_t count)
{
	const char *name = kg_outcome_name(outcome);
	Kgrid__V1__OutcomeCount *o;

	for (size_t i = 0; i < c->n_excluded; i++) {
		if (strcmp(c->excluded[i]->outcome, name) == 0) {
			c->excluded[i]->count += count;
			return 0;
		}
	}
	o = message_new(&kgrid__v1__outcome_count__descriptor);
	if (!o || set_text(&o->outcome, name) < 0) {
		free(o);
		return -ENOMEM;
	}
	o->has_count = 1;
	o->count = count;
	return push(&c->excluded, &c->n_excluded, o, &kgrid__v1__outcome_count__descriptor);
}

/* What the job's cell counts besides its values. */
static int fill_slots(const struct report_cell *from, Kgrid__V1__CompareCell *c)
{
	int rc = 0;

	c->present = 1;
	c->pending += (uint32_t)from->slots[KG_OUTCOME_NONE];
	for (int o = KG_OUTCOME_PASS + 1; rc == 0 && o < KG_OUTCOME_COUNT; o++) {
		if (from->slots[o])
			rc = add_excluded(c, (enum kg_outcome)o, from->slots[o]);
	}
	return rc;
}

static int add_cells(const struct table *t, uint32_t row, Kgrid__V1__CompareRow *r)
{
	for (uint32_t col = 0; col < t->l->n_columns; col++) {
		Kgrid__V1__CompareCell *c = message_new(&kgrid__v1__compare_cell__descriptor);

		if (!c)
			return -ENOMEM;
		c->has_present = c->has_pending = 1;
		fill_numbers(&t->stats[(size_t)row * t->l->n_columns + col], c);
		if (push(&r->cells, &r->n_cells, c, &kgrid__v1__compare_cell__descriptor) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_rows(const struct table *t, Kgrid__V1__CompareTable *m)
{
	int rc = 0;

	for (uint32_t row = 0; rc == 0 && row < t->n_rows; row++) {
		Kgrid__V1__CompareRow *r = message_new(&kgrid__v1__compare_row__descriptor);

		if (!r)
			return -ENOMEM;
		rc = set_text(&r->params, t->rows[row]);
		if (rc == 0)
			rc = add_cells(t, row, r);
		if (push(&m->rows, &m->n_rows, r, &kgrid__v1__compare_row__descriptor) < 0)
			rc = -ENOMEM;
	}
	return rc;
}

static int add_slots(const struct table *t, Kgrid__V1__CompareTable *m)
{
	const struct layout *l = t->l;
	const struct group *g = &l->groups[t->group];
	int rc = 0;

	for (size_t i = g->first; rc == 0 && i < g->first + g->n; i++) {
		size_t cell = l->order[i];
		uint32_t row = t->shown[l->row_of[cell]];

		if (row != UINT32_MAX)
			rc = fill_slots(&l->in->cells[cell],
					m->rows[row]->cells[l->column_of[cell]]);
	}
	return rc;
}

/* What the list resolves to can differ between machines: the table's own machine counts. */
static const char *effective_of(const struct table *t, uint32_t column)
{
	const struct layout *l = t->l;
	const struct group *g = &l->groups[t->group];

	for (size_t i = g->first; i < g->first + g->n; i++) {
		if (l->column_of[l->order[i]] == column)
			return l->in->cells[l->order[i]].lsm_effective;
	}
	return l->columns[column].effective;
}

static int add_columns(const struct table *t, Kgrid__V1__CompareTable *m)
{
	for (uint32_t i = 0; i < t->l->n_columns; i++) {
		Kgrid__V1__CompareColumn *c = message_new(&kgrid__v1__compare_column__descriptor);
		int rc =
			push(&m->columns, &m->n_columns, c, &kgrid__v1__compare_column__descriptor);

		if (rc < 0)
			return rc;
		if (set_text(&c->kernel, t->l->columns[i].kernel) |
		    set_text(&c->lsm, t->l->columns[i].lsm) |
		    set_text(&c->effective, effective_of(t, i)))
			return -ENOMEM;
	}
	return 0;
}

static int fill_head(const struct table *t, Kgrid__V1__CompareTable *m)
{
	const struct layout *l = t->l;
	const struct report_cell *c = &l->in->cells[l->order[l->groups[t->group].first]];
	int rc = set_text(&m->machine, c->machine) | set_text(&m->cpu_name, c->cpu_name) |
		 set_text(&m->cpu_vendor, c->cpu_vendor) | set_text(&m->clock, c->clock) |
		 set_text(&m->workload, c->workload);

	if (rc == 0 && t->metric != NO_METRIC) {
		const struct report_metric *metric = &l->in->metrics[t->metric];

		rc = set_text(&m->metric, metric->name) | set_text(&m->unit, metric->unit) |
		     set_text(&m->direction, metric->direction);
	}
	return rc;
}

static int add_table(const struct layout *l, size_t group, size_t metric, const size_t *values,
		     size_t n_values, bool first, Kgrid__V1__CompareReply *reply)
{
	struct table t = {
		.l = l, .group = group, .metric = metric, .values = values, .n_values = n_values};
	Kgrid__V1__CompareTable *m = message_new(&kgrid__v1__compare_table__descriptor);
	int rc = push(&reply->tables, &reply->n_tables, m, &kgrid__v1__compare_table__descriptor);

	if (rc == 0)
		rc = choose_rows(&t, first);
	if (rc == 0)
		rc = compute(&t);
	if (rc == 0)
		rc = fill_head(&t, m);
	if (rc == 0)
		rc = add_columns(&t, m);
	if (rc == 0)
		rc = add_rows(&t, m);
	if (rc == 0)
		rc = add_slots(&t, m);
	table_deinit(&t);
	return rc;
}

/* All tables of one machine and workload; *at moves over its values. */
static int add_group(const struct layout *l, size_t group, size_t *at,
		     Kgrid__V1__CompareReply *reply)
{
	const struct report_input *in = l->in;
	bool first = true, any = false;
	int rc = 0;

	while (rc == 0 && *at < in->n_values) {
		const struct report_value *v = &in->values[l->values[*at]];
		size_t begin = *at, metric = v->metric;

		if (l->group_of[v->cell] != group)
			break;
		any = true;
		while (*at < in->n_values) {
			v = &in->values[l->values[*at]];
			if (l->group_of[v->cell] != group || v->metric != metric)
				break;
			(*at)++;
		}
		if (in->metric && !kg_streq(in->metric, in->metrics[metric].name))
			continue;
		rc = add_table(l, group, metric, &l->values[begin], *at - begin, first, reply);
		first = false;
	}
	if (rc == 0 && !any)
		rc = add_table(l, group, NO_METRIC, NULL, 0, true, reply);
	return rc;
}

static int check_metric(const struct report_input *in, struct kg_err *err)
{
	struct kg_str names = {0};

	if (!in->metric)
		return 0;
	for (size_t i = 0; i < in->n_metrics; i++) {
		if (kg_streq(in->metrics[i].name, in->metric)) {
			kg_str_deinit(&names);
			return 0;
		}
		kg_str_addf(&names, "%s%s", i ? ", " : "", in->metrics[i].name);
	}
	kg_err_set(err, 0, "the job has no value of a metric '%s'%s%s", in->metric,
		   names.len ? "; it has " : "", kg_str_text(&names));
	kg_str_deinit(&names);
	return KG_ENOTFOUND;
}

static int add_tables(const struct report_input *in, void *arg, struct kg_err *err)
{
	Kgrid__V1__CompareReply *reply = arg;
	struct layout l;
	size_t at = 0;
	int rc = layout_init(&l, in, err);

	for (size_t g = 0; rc == 0 && g < l.n_groups; g++)
		rc = add_group(&l, g, &at, reply);
	layout_deinit(&l);
	return rc;
}

/* Notes are of the whole job, whatever was sliced. */
static int add_all_notes(const struct report_input *in, Kgrid__V1__CompareReply *reply,
			 struct kg_err *err)
{
	struct report_input whole = *in;
	struct layout l;
	int rc;

	whole.baseline = NULL;
	rc = layout_init(&l, &whole, err);
	if (rc == 0)
		rc = add_notes(&l, reply);
	layout_deinit(&l);
	return rc;
}

int report_compare_tables(const struct report_input *in, Kgrid__V1__CompareReply *reply,
			  struct kg_err *err)
{
	int rc = check_metric(in, err);

	if (rc == 0 && report_has_slices(in->baseline))
		rc = report_each_slice(in, add_tables, reply, err);
	else if (rc == 0)
		rc = add_tables(in, reply, err);
	if (rc == 0)
		rc = add_all_notes(in, reply, err);
	if (rc == -ENOMEM)
		kg_err_set(err, rc, "out of memory");
	return rc;
}
