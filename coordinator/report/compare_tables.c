/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/report/compare_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/report/compare_groups.h"
#include "coordinator/report/compare_internal.h"

/* ---- the message ---- */

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

static int add_cells(const struct table *t, Kgrid__V1__CompareRow *r)
{
	for (uint32_t col = 0; col < t->l->n_columns; col++) {
		Kgrid__V1__CompareCell *c = message_new(&kgrid__v1__compare_cell__descriptor);

		if (!c)
			return -ENOMEM;
		c->has_present = c->has_pending = 1;
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
			rc = add_cells(t, r);
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

/* What the list resolves to can differ between machines: the table's own machine counts. NULL: it has
 * nothing in this column. */
static const struct report_cell *cell_of(const struct table *t, uint32_t column)
{
	const struct layout *l = t->l;
	const struct group *g = &l->groups[t->group];

	for (size_t i = g->first; i < g->first + g->n; i++) {
		if (l->column_of[l->order[i]] == column)
			return &l->in->cells[l->order[i]];
	}
	return NULL;
}

static int add_same_as(const struct report_cell *from, Kgrid__V1__CompareColumn *c)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && from && i < from->n_same_as; i++)
		rc = add_text(&c->same_as, &c->n_same_as, "%s", from->same_as[i]);
	return rc;
}

static int add_columns(const struct table *t, Kgrid__V1__CompareTable *m)
{
	for (uint32_t i = 0; i < t->l->n_columns; i++) {
		Kgrid__V1__CompareColumn *c = message_new(&kgrid__v1__compare_column__descriptor);
		const struct report_cell *cell = cell_of(t, i);
		const char *effective = cell ? cell->lsm_effective : t->l->columns[i].effective;
		int rc =
			push(&m->columns, &m->n_columns, c, &kgrid__v1__compare_column__descriptor);

		if (rc < 0)
			return rc;
		if (set_text(&c->kernel, t->l->columns[i].shown) |
		    set_text(&c->lsm, t->l->columns[i].lsm) | set_text(&c->effective, effective) |
		    add_same_as(cell, c) | set_text(&c->lsm_request, t->l->columns[i].request) |
		    set_text(&c->kernel_digest, t->l->columns[i].digest))
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
		 set_text(&m->microarchitecture, c->microarchitecture) |
		 set_text(&m->workload, c->workload);

	if (rc == 0 && t->metric != NO_METRIC) {
		const struct report_metric *metric = &l->in->metrics[t->metric];

		rc = set_text(&m->metric, metric->name) | set_text(&m->unit, metric->unit) |
		     set_text(&m->direction, metric->direction);
	}
	return rc;
}

/* Rows of one table can have smallest effects of their own: the largest stands for the table. */
static void fill_min_effect(const struct table *t, Kgrid__V1__CompareTable *m)
{
	const struct layout *l = t->l;
	const struct group *g = &l->groups[t->group];
	bool raised;

	for (size_t i = g->first; i < g->first + g->n; i++) {
		const struct report_cell *c = &l->in->cells[l->order[i]];
		double own = row_min_effect(l->in, c, table_metric(t), &raised);

		if (t->shown[l->row_of[l->order[i]]] == UINT32_MAX)
			continue;
		if (!m->has_min_effect_pct || own > m->min_effect_pct)
			m->min_effect_pct = own;
		m->has_min_effect_pct = 1;
	}
}

struct making {
	Kgrid__V1__CompareReply *reply;
	struct verdict_policy policy;
	struct pairs pairs;
	struct config_cache configs;
};

static int add_table(struct table *t, void *arg, struct kg_err *err)
{
	struct making *making = arg;
	Kgrid__V1__CompareReply *reply = making->reply;
	Kgrid__V1__CompareTable *m = message_new(&kgrid__v1__compare_table__descriptor);
	int rc = push(&reply->tables, &reply->n_tables, m, &kgrid__v1__compare_table__descriptor);

	t->configs = &making->configs;
	if (rc == 0)
		rc = fill_head(t, m);
	if (rc == 0)
		rc = add_columns(t, m);
	if (rc == 0)
		rc = add_rows(t, m);
	if (rc == 0)
		rc = add_slots(t, m);
	if (rc == 0)
		rc = add_pairs(&making->pairs, t, &making->policy, m, err);
	if (rc == 0)
		rc = add_comparability(t, m);
	if (rc == 0)
		fill_min_effect(t, m);
	return rc;
}

int check_metric(const struct report_input *in, struct kg_err *err)
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
	struct layout l;
	int rc = layout_init(&l, in, err);

	if (rc == 0)
		rc = each_table(&l, add_table, arg, err);
	layout_deinit(&l);
	return rc;
}

static int add_groups(const struct report_input *in, struct making *m, struct kg_err *err)
{
	struct interactions x = {0};
	struct groups groups = {0};
	int rc = groups_sum_up(&m->pairs, &groups, m->reply);

	if (rc == 0)
		rc = interactions_of_groups(&groups, &x);
	if (rc == 0)
		rc = interactions_of_cells(in, &x, err);
	if (rc == 0)
		rc = interactions_report(&x, &m->policy, m->reply);
	interactions_deinit(&x);
	free(groups.items);
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
	if (rc == 0 && in->selection && !reply->accounting) {
		reply->accounting = cells_accounting(in);
		rc = reply->accounting ? 0 : -ENOMEM;
	}
	return rc;
}

int report_compare_tables(const struct report_input *in, Kgrid__V1__CompareReply *reply,
			  struct kg_err *err)
{
	struct making m = {.reply = reply};
	int rc = compare_policy(in, &m.policy, err);

	if (rc == 0)
		rc = check_metric(in, err);
	/* Jobs of a selection need not share a first column. */
	if (rc == 0 && (report_has_slices(in->baseline) || (in->selection && !in->baseline)))
		rc = report_each_slice(in, add_tables, &m, err);
	else if (rc == 0)
		rc = add_tables(in, &m, err);
	if (rc == 0)
		rc = finish_pairs(&m.pairs, reply);
	if (rc == 0)
		rc = add_groups(in, &m, err);
	if (rc == 0)
		rc = add_all_notes(in, reply, err);
	pairs_deinit(&m.pairs);
	config_cache_deinit(&m.configs);
	if (rc == -ENOMEM)
		kg_err_set(err, rc, "out of memory");
	return rc;
}
