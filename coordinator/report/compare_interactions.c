/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How an effect differs between groups of machines, and between kernels. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/report/compare_groups.h"

#define INTERACTIONS_MAX 50 /* more of them in one report say that something else is wrong */

void interactions_deinit(struct interactions *x)
{
	for (size_t i = 0; i < x->n; i++) {
		free(x->items[i].subject);
		free(x->items[i].where);
		free(x->items[i].base);
	}
	free(x->items);
	memset(x, 0, sizeof(*x));
}

/* ---- groups ---- */

static int add_difference(const struct summed *a, const struct summed *b, struct interactions *x)
{
	const Kgrid__V1__CompareColumn *c = a->pair->table->columns[a->pair->column];
	struct interaction i = {.workload = a->pair->workload,
				.params = a->pair->params,
				.metric = a->pair->metric,
				.direction = a->direction,
				.min_effect_pct = a->min_effect_pct};
	struct interaction *item;

	if (meta_difference(&a->summary, &b->summary, &i.log_ratio, &i.lo, &i.hi, &i.p, NULL) < 0)
		return 0; /* a group of one machine: its spread is not known */
	item = grow(&x->items, &x->n, &x->cap, sizeof(*item));
	if (!item)
		return -ENOMEM;
	*item = i;
	if (asprintf(&item->subject, "%s/%s", c->kernel, c->lsm) < 0)
		item->subject = NULL;
	item->where = strdup(b->name);
	item->base = strdup(a->name);
	return item->subject && item->where && item->base ? 0 : -ENOMEM;
}

int interactions_of_groups(const struct groups *g, struct interactions *x)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < g->n; i++) {
		const struct summed *a = &g->items[i];

		for (size_t k = i + 1; rc == 0 && k < g->n; k++) {
			const struct summed *b = &g->items[k];

			if (groups_order_subject(a->pair, b->pair) != 0)
				break;
			if (a->kind == b->kind && a->kind != GROUP_ALL)
				rc = add_difference(a, b, x);
		}
	}
	return rc;
}

/* ---- kernel x list ---- */

/* Logarithms of the boots' medians; owned. KG_EINVALID: one has none. */
static int log_medians(const struct table *t, const struct cell_data *d, double **ret)
{
	double *logs = table_medians(t, d);

	if (!logs)
		return -ENOMEM;
	for (size_t i = 0; i < d->n_used; i++) {
		logs[i] = log(logs[i]);
		if (!isfinite(logs[i])) {
			free(logs);
			return KG_EINVALID;
		}
	}
	*ret = logs;
	return 0;
}

struct four {
	uint32_t row, columns[4]; /* k0 l0, k0 l, k l0, k l */
};

static int four_effect(const struct table *t, const struct four *f, struct interaction *ret)
{
	struct meta_side sides[4] = {0};
	double *logs[4] = {0};
	int rc = 0;

	for (int i = 0; rc == 0 && i < 4; i++) {
		const struct cell_data *d = table_cell(t, f->row, f->columns[i]);

		rc = log_medians(t, d, &logs[i]);
		sides[i] = (struct meta_side){logs[i], d->n_used};
	}
	if (rc == 0)
		rc = meta_interaction(sides, &ret->log_ratio, &ret->lo, &ret->hi, &ret->p, NULL);
	for (int i = 0; i < 4; i++)
		free(logs[i]);
	return rc;
}

static int add_four(const struct table *t, const struct four *f, struct interactions *x)
{
	const struct layout *l = t->l;
	const struct column *base = &l->columns[f->columns[0]], *top = &l->columns[f->columns[3]];
	const struct cell_data *d[4];
	const struct report_cell *cell;
	struct interaction i = {0}, *item;
	struct kg_str why = {0};
	bool comparable, raised;
	int rc;

	for (int k = 0; k < 4; k++) {
		d[k] = table_cell(t, f->row, f->columns[k]);
		if (d[k]->n_used < 2)
			return 0;
	}
	rc = cells_comparable(t, d, 4, &comparable, &why);
	kg_str_deinit(&why);
	if (rc < 0 || (!comparable && !l->in->across_epochs))
		return rc;
	rc = four_effect(t, f, &i);
	if (rc < 0)
		return rc == -ENOMEM ? rc : 0; /* values that have no logarithm */
	cell = d[0]->cell;
	item = grow(&x->items, &x->n, &x->cap, sizeof(*item));
	if (!item)
		return -ENOMEM;
	i.machine = cell->machine;
	i.workload = cell->workload;
	i.params = cell->params;
	i.metric = table_metric(t);
	i.direction = verdict_direction(i.metric->direction);
	i.min_effect_pct = row_min_effect(l->in, cell, i.metric, &raised);
	*item = i;
	item->subject = strdup(top->lsm);
	item->where = strdup(top->shown);
	item->base = strdup(base->shown);
	return item->subject && item->where && item->base ? 0 : -ENOMEM;
}

static bool find_four(const struct layout *l, uint32_t top, struct four *f)
{
	const struct column *base = &l->columns[0], *c = &l->columns[top];
	bool lsm_side = false, kernel_side = false;

	if (strcmp(c->shown, base->shown) == 0 || strcmp(c->lsm, base->lsm) == 0)
		return false;
	f->columns[0] = 0;
	f->columns[3] = top;
	for (uint32_t i = 1; i < l->n_columns; i++) {
		const struct column *o = &l->columns[i];

		if (strcmp(o->shown, base->shown) == 0 && strcmp(o->lsm, c->lsm) == 0) {
			f->columns[1] = i;
			lsm_side = true;
		}
		if (strcmp(o->shown, c->shown) == 0 && strcmp(o->lsm, base->lsm) == 0) {
			f->columns[2] = i;
			kernel_side = true;
		}
	}
	return lsm_side && kernel_side;
}

static int table_interactions(struct table *t, void *arg, struct kg_err *err)
{
	struct interactions *x = arg;
	int rc = 0;

	(void)err;
	if (t->metric == NO_METRIC)
		return 0;
	for (uint32_t col = 1; rc == 0 && col < t->l->n_columns; col++) {
		struct four f;

		if (!find_four(t->l, col, &f))
			continue;
		for (f.row = 0; rc == 0 && f.row < t->n_rows; f.row++)
			rc = add_four(t, &f, x);
	}
	return rc;
}

/* With a star the comparison has no single baseline; an interaction has: the first kernel with the
 * list that every kernel is compared with, or the like. */
static int whole_layout(const struct report_input *in, struct report_input *whole, struct layout *l,
			struct kg_err *err)
{
	struct layout plain;
	char baseline[512] = "";
	size_t len = in->baseline ? strlen(in->baseline) : 0;
	int rc;

	*whole = *in;
	if (!report_has_slices(in->baseline))
		return layout_init(l, whole, err);
	whole->baseline = NULL;
	rc = layout_init(&plain, whole, err);
	if (rc == 0 && plain.n_columns && in->baseline[0] == '*')
		(void)snprintf(baseline, sizeof(baseline), "%s/%s", plain.columns[0].shown,
			       in->baseline + 2);
	else if (rc == 0 && plain.n_columns)
		(void)snprintf(baseline, sizeof(baseline), "%.*s/%s", (int)(len - 2), in->baseline,
			       plain.columns[0].lsm);
	layout_deinit(&plain);
	if (rc < 0)
		return rc;
	whole->baseline = baseline;
	rc = layout_init(l, whole, err);
	if (rc == KG_ENOTFOUND || rc == KG_EAMBIGUOUS) {
		layout_deinit(l);
		whole->baseline = NULL;
		rc = layout_init(l, whole, err);
	}
	whole->baseline = NULL; /* was needed by layout_init only */
	return rc;
}

int interactions_of_cells(const struct report_input *in, struct interactions *x, struct kg_err *err)
{
	struct report_input whole;
	struct layout l = {0};
	int rc = whole_layout(in, &whole, &l, err);

	if (rc == 0)
		rc = each_table(&l, table_interactions, x, err);
	layout_deinit(&l);
	return rc;
}

/* ---- what stands out ---- */

static bool stands_out(const struct interaction *i, double q, const struct verdict_policy *policy)
{
	return i->p <= policy->alpha && q <= policy->q_max && (i->lo > 0 || i->hi < 0) &&
	       fabs(groups_percent(i->log_ratio, i->direction)) >= i->min_effect_pct;
}

static void add_interval(struct kg_str *s, double lo, double hi)
{
	kg_str_addf(s, "[%.1f, %.1f]", lo, hi);
}

/* "full costs 3.1 % more on 6.12 than on 6.1 [2.0, 4.2] on lab-amd: netperf rate, size=64" */
static int fill_text(const struct interaction *i, double q, Kgrid__V1__CompareInteraction *m)
{
	double d = m->difference_pct, lo = m->lo_pct, hi = m->hi_pct;
	struct kg_str s = {0};

	if (i->direction == VERDICT_NO_DIRECTION)
		kg_str_addf(&s, "%s changes %s by %.1f %% %s", i->subject, i->metric->name, fabs(d),
			    d < 0 ? "less" : "more");
	else
		kg_str_addf(&s, "%s costs %.1f %% %s", i->subject, fabs(d),
			    d < 0 ? "more" : "less");
	kg_str_addf(&s, " on %s than on %s ", i->where, i->base);
	/* The size as it is said: costs are the effect turned around. */
	if (d < 0)
		add_interval(&s, -hi, -lo);
	else
		add_interval(&s, lo, hi);
	if (i->machine)
		kg_str_addf(&s, " on %s", i->machine);
	kg_str_addf(&s, ": %s %s", i->workload, i->metric->name);
	if (i->params[0])
		kg_str_addf(&s, ", %s", i->params);
	kg_str_addf(&s, " (q %.2g)", q);
	return set_str(&m->text, &s);
}

static int add_one(const struct interaction *i, double q, Kgrid__V1__CompareReply *reply)
{
	Kgrid__V1__CompareInteraction *m = message_new(&kgrid__v1__compare_interaction__descriptor);
	int rc = push(&reply->interactions, &reply->n_interactions, m,
		      &kgrid__v1__compare_interaction__descriptor);
	double lo, hi;

	if (rc < 0)
		return rc;
	lo = groups_percent(i->lo, i->direction);
	hi = groups_percent(i->hi, i->direction);
	m->has_difference_pct = m->has_lo_pct = m->has_hi_pct = m->has_p = 1;
	m->difference_pct = groups_percent(i->log_ratio, i->direction);
	m->lo_pct = fmin(lo, hi);
	m->hi_pct = fmax(lo, hi);
	m->p = i->p;
	if (set_text(&m->workload, i->workload) | set_text(&m->metric, i->metric->name) |
	    set_text(&m->params, i->params))
		return -ENOMEM;
	return fill_text(i, q, m);
}

struct ranked {
	size_t index;
	double q, p;
};

static int order_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static int note_looked(size_t looked, size_t found, const struct verdict_policy *policy,
		       Kgrid__V1__CompareReply *reply)
{
	return add_text(&reply->notes, &reply->n_notes,
			"%zu interaction%s looked at (groups of machines, kernel x list): %zu "
			"stand%s out at q <= %g%s",
			looked, plural(looked), found, found == 1 ? "s" : "", policy->q_max,
			found > INTERACTIONS_MAX ? ", the first of them shown" : "");
}

int interactions_report(const struct interactions *x, const struct verdict_policy *policy,
			Kgrid__V1__CompareReply *reply)
{
	struct ranked *found = calloc(x->n + 1, sizeof(*found));
	double *q = calloc(x->n + 1, sizeof(*q));
	size_t n = 0;
	int rc = found && q ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < x->n; i++)
		q[i] = x->items[i].p;
	if (rc == 0 && x->n)
		rc = stats_adjust(policy->gate ? STATS_ADJUST_HOLM : policy->correction, q, x->n,
				  q);
	for (size_t i = 0; rc == 0 && i < x->n; i++) {
		if (stands_out(&x->items[i], q[i], policy))
			found[n++] = (struct ranked){i, q[i], x->items[i].p};
	}
	if (n)
		qsort(found, n, sizeof(*found), order_ranked);
	for (size_t i = 0; rc == 0 && i < n && i < INTERACTIONS_MAX; i++)
		rc = add_one(&x->items[found[i].index], found[i].q, reply);
	if (rc == 0 && x->n)
		rc = note_looked(x->n, n, policy, reply);
	free(found);
	free(q);
	return rc;
}
