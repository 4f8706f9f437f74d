/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Effects over the machines of a vendor, of a microarchitecture, and of all; whether groups differ. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/meta.h"
#include "coordinator/report/compare_internal.h"
#include "coordinator/report/compare_groups.h"

#define MACHINES_NAMED 4
/* Machines on which every boot gave the same number have no spread, and a weight is not infinite. */
#define SE_LEAST 1e-6

static const char *const kind_names[] = {"vendor", "microarchitecture", "all"};

static const char *group_name(const struct pair *p, enum group_kind kind)
{
	switch (kind) {
	case GROUP_VENDOR:
		return p->vendor;
	case GROUP_MICROARCHITECTURE:
		return p->microarchitecture;
	default:
		return "all";
	}
}

/* ---- order: what is summed up stands together ---- */

static const Kgrid__V1__CompareColumn *column_of(const struct pair *p)
{
	return p->table->columns[p->column];
}

static const Kgrid__V1__CompareColumn *base_of(const struct pair *p)
{
	return p->table->columns[0];
}

static int order_column(const Kgrid__V1__CompareColumn *a, const Kgrid__V1__CompareColumn *b)
{
	int rc = strcmp(a->kernel, b->kernel);

	return rc ? rc : strcmp(a->lsm, b->lsm);
}

int groups_order_subject(const struct pair *x, const struct pair *y)
{
	int rc = strcmp(x->workload, y->workload);

	if (rc == 0)
		rc = (x->metric > y->metric) - (x->metric < y->metric);
	if (rc == 0)
		rc = strcmp(x->params, y->params);
	if (rc == 0)
		rc = order_column(base_of(x), base_of(y));
	return rc ? rc : order_column(column_of(x), column_of(y));
}

static int order_pairs(const void *a, const void *b, void *arg)
{
	const struct pairs *p = arg;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	int rc = groups_order_subject(&p->items[i], &p->items[k]);

	if (rc == 0)
		rc = strcmp(p->items[i].machine, p->items[k].machine);
	return rc ? rc : (i > k) - (i < k);
}

/* ---- one group ---- */

struct left_out {
	size_t n;
	struct kg_str names; /* "m3 (incomparable)", at most MACHINES_NAMED */
};

static void leave_out(struct left_out *l, const struct pair *p, const struct verdict *v)
{
	const char *why = v->word == VERDICT_INCOMPARABLE ? "incomparable"
			  : v->has_p			  ? "no interval"
							  : "no result";

	if (l->n++ < MACHINES_NAMED)
		kg_str_addf(&l->names, "%s%s (%s)", l->n > 1 ? ", " : "", p->machine, why);
}

static int add_note(const struct left_out *l, Kgrid__V1__CompareSummary *m)
{
	struct kg_str s = {0};

	if (l->n == 0)
		return 0;
	kg_str_addf(&s, "left out: %s", kg_str_text(&l->names));
	if (l->n > MACHINES_NAMED)
		kg_str_addf(&s, " and %zu more", l->n - MACHINES_NAMED);
	return set_str(&m->note, &s);
}

double groups_percent(double log_ratio, enum verdict_direction direction)
{
	return (direction == VERDICT_LOWER ? -100 : 100) * expm1(log_ratio);
}

static Kgrid__V1__CompareColumn *copy_column(const Kgrid__V1__CompareColumn *from)
{
	Kgrid__V1__CompareColumn *c = message_new(&kgrid__v1__compare_column__descriptor);

	if (c && (set_text(&c->kernel, from->kernel) | set_text(&c->lsm, from->lsm))) {
		kgrid__v1__compare_column__free_unpacked(c, NULL);
		return NULL;
	}
	return c;
}

static void fill_effect(const struct summed *g, Kgrid__V1__CompareSummary *m)
{
	const struct meta_summary *s = &g->summary;
	double lo = groups_percent(s->lo, g->direction), hi = groups_percent(s->hi, g->direction);

	m->has_machines = m->has_effect_pct = 1;
	m->machines = (uint32_t)s->machines;
	m->effect_pct = groups_percent(s->log_ratio, g->direction);
	if (!s->has_interval)
		return;
	m->has_lo_pct = m->has_hi_pct = m->has_i2_pct = m->has_heterogeneity_p = 1;
	m->lo_pct = fmin(lo, hi);
	m->hi_pct = fmax(lo, hi);
	m->i2_pct = s->i2_pct;
	m->heterogeneity_p = s->q_p;
}

static int add_summary(const struct summed *g, const struct left_out *l,
		       Kgrid__V1__CompareReply *reply)
{
	Kgrid__V1__CompareSummary *m = message_new(&kgrid__v1__compare_summary__descriptor);
	int rc = push(&reply->summaries, &reply->n_summaries, m,
		      &kgrid__v1__compare_summary__descriptor);

	if (rc < 0)
		return rc;
	m->column = copy_column(column_of(g->pair));
	m->baseline = copy_column(base_of(g->pair));
	if (!m->column || !m->baseline)
		return -ENOMEM;
	if (set_text(&m->kind, kind_names[g->kind]) | set_text(&m->name, g->name) |
	    set_text(&m->workload, g->pair->workload) |
	    set_text(&m->metric, g->pair->metric->name) | set_text(&m->params, g->pair->params))
		return -ENOMEM;
	fill_effect(g, m);
	return add_note(l, m);
}

/* order[0..n) are the machines of one subject. Sums up those of one group. */
static int one_group(const struct pairs *p, const size_t *order, size_t n, struct summed *g,
		     struct groups *groups, Kgrid__V1__CompareReply *reply)
{
	struct meta_effect *e = calloc(n + 1, sizeof(*e));
	struct left_out left = {0};
	size_t used = 0;
	int rc = e ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		const struct pair *pair = &p->items[order[i]];
		const struct verdict *v = &p->verdicts[order[i]];

		if (!kg_streq(group_name(pair, g->kind), g->name))
			continue;
		if (!v->has_log) {
			leave_out(&left, pair, v);
			continue;
		}
		e[used++] = (struct meta_effect){v->log_ratio, fmax(v->log_se, SE_LEAST)};
	}
	if (rc == 0 && left.names.failed)
		rc = -ENOMEM;
	if (rc == 0 && used == 0) {
		/* of one machine its own table says it */
		groups->without += left.n > 1 && g->kind == GROUP_ALL;
	} else if (rc == 0) {
		struct summed *kept;

		rc = meta_summarise(e, used, &g->summary, NULL);
		if (rc == 0)
			rc = add_summary(g, &left, reply);
		kept = rc == 0 ? grow(&groups->items, &groups->n, &groups->cap, sizeof(*kept))
			       : NULL;
		if (kept)
			*kept = *g;
		else if (rc == 0)
			rc = -ENOMEM;
	}
	kg_str_deinit(&left.names);
	free(e);
	return rc == KG_EINVALID ? 0 : rc; /* an effect beyond what a double holds */
}

static bool seen_before(const struct pairs *p, const size_t *order, size_t i, enum group_kind kind)
{
	const char *name = group_name(&p->items[order[i]], kind);

	for (size_t k = 0; k < i; k++) {
		if (kg_streq(group_name(&p->items[order[k]], kind), name))
			return true;
	}
	return false;
}

static int one_subject(const struct pairs *p, const size_t *order, size_t n, struct groups *groups,
		       Kgrid__V1__CompareReply *reply)
{
	const struct pair *first = &p->items[order[0]];
	int rc = 0;

	for (int kind = 0; kind < GROUP_KINDS; kind++) {
		for (size_t i = 0; rc == 0 && i < n; i++) {
			struct summed g = {.kind = (enum group_kind)kind,
					   .pair = first,
					   .direction = p->verdicts[order[0]].direction,
					   .min_effect_pct = p->policies[order[0]].min_effect_pct};

			g.name = group_name(&p->items[order[i]], g.kind);
			if (!g.name || !g.name[0] || seen_before(p, order, i, g.kind))
				continue;
			rc = one_group(p, order, n, &g, groups, reply);
		}
	}
	return rc;
}

int groups_sum_up(const struct pairs *p, struct groups *groups, Kgrid__V1__CompareReply *reply)
{
	size_t *order = calloc(p->n + 1, sizeof(*order)), n = 0;
	int rc = order ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < p->n; i++) {
		if (p->items[i].metric)
			order[n++] = i;
	}
	if (n)
		qsort_r(order, n, sizeof(*order), order_pairs, (void *)(uintptr_t)p);
	for (size_t i = 0, k; rc == 0 && i < n; i = k) {
		for (k = i + 1; k < n; k++) {
			if (groups_order_subject(&p->items[order[i]], &p->items[order[k]]) != 0)
				break;
		}
		rc = one_subject(p, &order[i], k - i, groups, reply);
	}
	free(order);
	if (rc == 0 && groups->without)
		rc = add_text(&reply->notes, &reply->n_notes,
			      "%zu comparison%s without a summary over machines: no machine has an "
			      "interval for %s",
			      groups->without, plural(groups->without),
			      groups->without == 1 ? "it" : "them");
	return rc;
}
