/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every column against the baseline of its row, as one family. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/ttest.h"
#include "coordinator/report/compare_internal.h"
#include "coordinator/report/noise_report.h"

#define UNIT_MIN_EFFECT 100 /* above, no change could ever matter */

void pairs_deinit(struct pairs *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->items[i].why);
	free(p->items);
	free(p->verdicts);
	free(p->policies);
	memset(p, 0, sizeof(*p));
}

int compare_policy(const struct report_input *in, struct verdict_policy *ret, struct kg_err *err)
{
	int correction = in->correction ? stats_adjust_parse(in->correction) : STATS_ADJUST_BH;

	verdict_policy_init(ret);
	if (correction < 0)
		return kg_err_set(err, KG_EINVALID, "correction '%s' is not one of bh, holm, none",
				  in->correction);
	ret->correction = (enum stats_adjust)correction;
	ret->gate = in->gate;
	ret->brief = true; /* Welch and modes once for each cell: see fill_welch, compare_modes.c */
	if (in->has_alpha && !(in->alpha > 0 && in->alpha < 1))
		return kg_err_set(err, KG_EINVALID, "alpha %g is not between 0 and 1", in->alpha);
	if (in->has_alpha)
		ret->alpha = in->alpha;
	if (in->has_min_effect &&
	    !(in->min_effect_pct >= 0 && in->min_effect_pct < UNIT_MIN_EFFECT))
		return kg_err_set(err, KG_EINVALID,
				  "smallest effect %g %% is not between 0 and %d %%",
				  in->min_effect_pct, UNIT_MIN_EFFECT);
	return 0;
}

double row_min_effect(const struct report_input *in, const struct report_cell *cell,
		      const struct report_metric *metric, bool *ret_raised)
{
	const struct report_min_effect *own;

	*ret_raised = false;
	if (in->has_min_effect)
		return in->min_effect_pct;
	own = metric ? report_find_min_effect(in, cell, metric) : NULL;
	if (!own)
		return report_default_min_effect(cell->workload, cell->params);
	*ret_raised = own->raised;
	return own->pct;
}

/* ---- values ---- */

static int fill_boots(const struct table *t, const struct cell_data *d, Kgrid__V1__CompareCell *c)
{
	for (size_t i = d->first; i < d->first + d->n; i++) {
		Kgrid__V1__BootValues *b = message_new(&kgrid__v1__boot_values__descriptor);
		int rc = push(&c->boots_values, &c->n_boots_values, b,
			      &kgrid__v1__boot_values__descriptor);

		if (rc < 0)
			return rc;
		b->has_boot = b->has_job = b->has_block = 1;
		b->boot = t->infos[i].boot;
		b->job = t->infos[i].job;
		b->block = t->infos[i].block;
		b->value = malloc(t->boots[i].n * sizeof(*b->value));
		if (!b->value)
			return -ENOMEM;
		memcpy(b->value, t->boots[i].values, t->boots[i].n * sizeof(*b->value));
		b->n_value = t->boots[i].n;
	}
	return 0;
}

static int fill_epochs(const struct table *t, const struct cell_data *d, Kgrid__V1__CompareCell *c)
{
	c->epochs = calloc(d->n + 1, sizeof(*c->epochs));
	if (!c->epochs)
		return -ENOMEM;
	for (size_t i = d->first; i < d->first + d->n; i++) { /* boots stand by epoch */
		uint32_t e = t->infos[i].epoch;

		if (e && (c->n_epochs == 0 || c->epochs[c->n_epochs - 1] != e))
			c->epochs[c->n_epochs++] = e;
	}
	return 0;
}

static int say_left_out(const struct table *t, const struct cell_data *d, Kgrid__V1__CompareCell *c)
{
	struct kg_str s = {0};

	kg_str_addf(&s, "value of epoch %u only: %zu of %zu boots", t->infos[d->used].epoch,
		    d->n_used, d->n);
	return set_str(&c->reason, &s);
}

static int fill_level(const struct table *t, const struct cell_data *d, Kgrid__V1__CompareCell *c,
		      struct kg_err *err)
{
	struct verdict_side side = table_side(t, d);
	struct verdict_level level;
	uint32_t iterations = 0;
	int rc;

	c->has_boots = 1;
	c->boots = (uint32_t)side.n;
	if (side.n == 0)
		return 0;
	rc = verdict_level(&side, 0.95, &level, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < side.n; i++)
		iterations += (uint32_t)side.boots[i].n;
	c->has_iterations = 1;
	c->iterations = iterations;
	c->has_value = 1;
	c->value = level.value;
	c->has_value_lo = c->has_value_hi = level.has_interval;
	c->value_lo = level.lo;
	c->value_hi = level.hi;
	c->has_cov_pct = level.has_cov;
	c->cov_pct = level.cov_pct;
	rc = fill_epochs(t, d, c);
	if (rc == 0 && t->l->in->with_values)
		rc = fill_boots(t, d, c);
	if (rc == 0 && d->n_used < d->n)
		rc = say_left_out(t, d, c);
	return rc;
}

/* ---- a side without a result ---- */

static bool in_cell(const struct table *t, size_t cell, uint32_t row, uint32_t column)
{
	return t->shown[t->l->row_of[cell]] == row && t->l->column_of[cell] == column;
}

/* "6.1/prev has no valid boot (5 wrong-lsm, 2 pending)" */
static void say_no_boot(const struct table *t, uint32_t row, uint32_t column, struct kg_str *s)
{
	const struct layout *l = t->l;
	const struct group *g = &l->groups[t->group];
	const struct column *c = &l->columns[column];
	uint64_t counts[KG_OUTCOME_COUNT] = {0};
	bool planned = false;
	int shown = 0;

	for (size_t i = g->first; i < g->first + g->n; i++) {
		if (!in_cell(t, l->order[i], row, column))
			continue;
		planned = true;
		for (int o = 0; o < KG_OUTCOME_COUNT; o++)
			counts[o] += l->in->cells[l->order[i]].slots[o];
	}
	kg_str_addf(s, "%s%s/%s ", column == 0 ? "baseline " : "", c->shown, c->lsm);
	if (!planned) {
		kg_str_add(s, "is not part of this row");
		return;
	}
	if (counts[KG_OUTCOME_PASS] && t->metric != NO_METRIC)
		kg_str_addf(s, "has no value of '%s'", table_metric(t)->name);
	else
		kg_str_add(s, "has no valid boot");
	/* Pending is said last: the others are why. */
	for (int o = KG_OUTCOME_PASS; o <= KG_OUTCOME_COUNT; o++) {
		int outcome = o < KG_OUTCOME_COUNT ? o : KG_OUTCOME_NONE;

		if (counts[outcome])
			kg_str_addf(s, "%s%llu %s", shown++ ? ", " : " (",
				    (unsigned long long)counts[outcome],
				    kg_outcome_name((enum kg_outcome)outcome));
	}
	kg_str_add(s, shown ? ")" : " (no slot)");
}

static int say_insufficient(const struct table *t, uint32_t row, uint32_t column,
			    struct kg_str *why)
{
	bool base = table_cell(t, row, 0)->n_used == 0;

	kg_str_add(why, "insufficient: ");
	if (base)
		say_no_boot(t, row, 0, why);
	if (table_cell(t, row, column)->n_used == 0) {
		kg_str_add(why, base ? "; " : "");
		say_no_boot(t, row, column, why);
	}
	return why->failed ? -ENOMEM : 0;
}

/* ---- pairs ---- */

static struct pair *pairs_new(struct pairs *p)
{
	size_t cap = p->cap ? 2 * p->cap : 64;

	if (p->n == p->cap) {
		struct pair *items = realloc(p->items, cap * sizeof(*items));
		struct verdict *verdicts;
		struct verdict_policy *policies;

		if (items)
			p->items = items;
		verdicts = realloc(p->verdicts, cap * sizeof(*verdicts));
		if (verdicts)
			p->verdicts = verdicts;
		policies = realloc(p->policies, cap * sizeof(*policies));
		if (policies)
			p->policies = policies;
		if (!items || !verdicts || !policies)
			return NULL;
		p->cap = cap;
	}
	memset(&p->items[p->n], 0, sizeof(*p->items));
	memset(&p->verdicts[p->n], 0, sizeof(*p->verdicts));
	return &p->items[p->n++];
}

static int fill_welch(const struct table *t, const struct cell_data *const d[2], struct verdict *v)
{
	double *a, *b;
	struct stats_ttest w;
	int rc = -ENOMEM;

	if (d[0]->n_used < 2 || d[1]->n_used < 2)
		return 0;
	a = table_medians(t, d[0]);
	b = table_medians(t, d[1]);
	if (a && b)
		rc = stats_welch(b, d[1]->n_used, a, d[0]->n_used, &w, NULL);
	if (rc == 0) {
		v->has_welch = true;
		v->welch_p = w.p;
	}
	free(a);
	free(b);
	return rc == -ENOMEM ? rc : 0;
}

static size_t iterations_of(const struct verdict_side *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->boots[i].n;
	return n;
}

/* A verdict by word alone, with what there is on both sides. */
static struct verdict no_verdict(enum verdict_word word, enum verdict_direction direction,
				 const struct verdict_side *a, const struct verdict_side *b)
{
	return (struct verdict){
		.word = word,
		.direction = direction,
		.boots = {a->n, b->n},
		.iterations = {iterations_of(a), iterations_of(b)},
	};
}

/* The verdict before its family is known; text that goes before its own reason into `why`. */
static int judge(const struct table *t, uint32_t row, uint32_t column,
		 const struct verdict_policy *policy, struct verdict *v, struct kg_str *why,
		 struct kg_err *err)
{
	const struct cell_data *d[2] = {table_cell(t, row, 0), table_cell(t, row, column)};
	const struct report_metric *metric = table_metric(t);
	enum verdict_direction direction = verdict_direction(metric ? metric->direction : NULL);
	struct verdict_side a = table_side(t, d[0]), b = table_side(t, d[1]);
	bool comparable = true;
	int rc;

	if (a.n == 0 || b.n == 0) {
		*v = no_verdict(VERDICT_UNKNOWN, direction, &a, &b);
		return say_insufficient(t, row, column, why);
	}
	rc = cells_comparable(t, d, 2, &comparable, why);
	if (rc < 0)
		return rc;
	if (comparable || t->l->in->across_epochs) {
		if (!comparable) {
			struct kg_str text = *why;

			memset(why, 0, sizeof(*why));
			kg_str_addf(why, "across %s", kg_str_text(&text));
			why->failed |= text.failed;
			kg_str_deinit(&text);
		}
		rc = verdict_pair(&a, &b, direction, policy, v, err);
		return rc == 0 ? fill_welch(t, d, v) : rc;
	}
	*v = no_verdict(VERDICT_INCOMPARABLE, direction, &a, &b);
	kg_str_add(why, "; --across-epochs compares them all the same");
	return 0;
}

static int add_pair(struct pairs *p, const struct table *t, uint32_t row, uint32_t column,
		    const struct verdict_policy *policy, Kgrid__V1__CompareTable *m,
		    struct kg_err *err)
{
	const struct report_cell *cell = table_cell(t, row, column)->cell;
	struct pair *pair = pairs_new(p);
	struct kg_str why = {0};
	int rc;

	if (!pair)
		return -ENOMEM;
	*pair = (struct pair){.table = m,
			      .cell = m->rows[row]->cells[column],
			      .machine = cell->machine,
			      .vendor = cell->cpu_vendor,
			      .microarchitecture = cell->microarchitecture,
			      .workload = cell->workload,
			      .params = cell->params,
			      .metric = table_metric(t),
			      .column = column};
	p->policies[p->n - 1] = *policy;
	rc = judge(t, row, column, policy, &p->verdicts[p->n - 1], &why, err);
	if (rc == 0)
		return set_str(&pair->why, &why);
	kg_str_deinit(&why);
	return rc;
}

int add_pairs(struct pairs *p, const struct table *t, const struct verdict_policy *policy,
	      Kgrid__V1__CompareTable *m, struct kg_err *err)
{
	struct verdict_policy own = *policy;
	bool raised;
	int rc = 0;

	for (uint32_t row = 0; rc == 0 && row < t->n_rows; row++) {
		for (uint32_t col = 0; rc == 0 && col < t->l->n_columns; col++) {
			const struct cell_data *d = table_cell(t, row, col);
			Kgrid__V1__CompareCell *c = m->rows[row]->cells[col];
			bool several = false;

			rc = fill_level(t, d, c, err);
			if (rc == 0)
				rc = cell_multimodal(t, d, &p->modes, &several);
			if (several)
				c->has_multimodal = c->multimodal = 1;
		}
		for (uint32_t col = 1; rc == 0 && col < t->l->n_columns; col++) {
			const struct report_cell *cell = table_cell(t, row, col)->cell;

			if (!cell) /* not planned */
				continue;
			own.min_effect_pct =
				row_min_effect(t->l->in, cell, table_metric(t), &raised);
			rc = add_pair(p, t, row, col, &own, m, err);
		}
	}
	return rc;
}

/* ---- into the reply ---- */

static void fill_numbers(const struct verdict *v, Kgrid__V1__CompareCell *c)
{
	c->has_delta_pct = v->has_effect;
	c->delta_pct = v->effect_pct;
	c->has_delta_lo_pct = c->has_delta_hi_pct = v->has_effect && v->has_interval;
	c->delta_lo_pct = v->lo_pct;
	c->delta_hi_pct = v->hi_pct;
	c->has_p = c->has_q = c->has_cliffs_delta = v->has_p;
	c->has_p_worse = v->has_p && v->direction != VERDICT_NO_DIRECTION;
	c->p = v->p;
	c->q = v->q;
	c->p_worse = v->p_worse;
	c->cliffs_delta = v->cliffs_delta;
	c->has_welch_p = v->has_welch;
	c->welch_p = v->welch_p;
	c->has_more_boots = v->more_boots > 0;
	c->more_boots = v->more_boots;
}

static int fill_reason(const char *why, const struct verdict *v, Kgrid__V1__CompareCell *c)
{
	struct kg_str s = {0};

	if (c->reason)
		kg_str_add(&s, c->reason);
	if (why)
		kg_str_addf(&s, "%s%s", s.len ? "; " : "", why);
	if (v->reason[0])
		kg_str_addf(&s, "%s%s", s.len ? "; " : "", v->reason);
	free(c->reason);
	c->reason = NULL;
	return set_str(&c->reason, &s);
}

static int fill_verdict(const struct pair *p, const struct verdict *v)
{
	Kgrid__V1__CompareCell *c = p->cell;
	int rc = v->word == VERDICT_NONE ? 0 : set_text(&c->verdict, verdict_name(v->word));

	if (rc < 0)
		return rc;
	c->has_baseline_boots = c->has_baseline_iterations = 1;
	c->baseline_boots = (uint32_t)v->boots[0];
	c->baseline_iterations = (uint32_t)v->iterations[0];
	if (v->has_p)
		fill_numbers(v, c);
	return fill_reason(p->why, v, c);
}

/* ---- everything moved ---- */

static int order_boundaries(const void *a, const void *b, void *arg)
{
	const struct pairs *p = arg;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct pair *x = &p->items[i], *y = &p->items[k];
	const Kgrid__V1__CompareColumn *const cx[2] = {x->table->columns[0],
						       x->table->columns[x->column]};
	const Kgrid__V1__CompareColumn *const cy[2] = {y->table->columns[0],
						       y->table->columns[y->column]};
	int rc = strcmp(x->machine, y->machine);

	for (int c = 0; c < 2 && rc == 0; c++) {
		rc = strcmp(cx[c]->kernel, cy[c]->kernel);
		if (rc == 0)
			rc = strcmp(cx[c]->lsm, cy[c]->lsm);
	}
	return rc;
}

static int order_measures(const void *a, const void *b, void *arg)
{
	const struct pairs *p = arg;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct pair *x = &p->items[i], *y = &p->items[k];
	int rc = order_boundaries(a, b, arg);

	if (rc == 0)
		rc = strcmp(x->workload, y->workload);
	if (rc == 0)
		rc = (x->metric > y->metric) - (x->metric < y->metric);
	if (rc == 0)
		rc = (p->verdicts[i].effect_pct > p->verdicts[k].effect_pct) -
		     (p->verdicts[i].effect_pct < p->verdicts[k].effect_pct);
	return rc ? rc : (i > k) - (i < k);
}

static int mark_machine(const struct pairs *p, const size_t *order, Kgrid__V1__CompareReply *reply)
{
	const struct pair *pair = &p->items[*order];
	const Kgrid__V1__CompareTable *m = pair->table;
	const Kgrid__V1__CompareColumn *a = m->columns[0], *b = m->columns[pair->column];

	for (size_t i = 0; i < reply->n_tables; i++) {
		if (strcmp(reply->tables[i]->machine, pair->machine) == 0)
			reply->tables[i]->has_everything_moved =
				reply->tables[i]->everything_moved = 1;
	}
	return add_text(&reply->notes, &reply->n_notes,
			"most of what was measured on '%s' moved the same way between %s/%s and "
			"%s/%s: suspect the environment first",
			pair->machine, a->kernel, a->lsm, b->kernel, b->lsm);
}

/* Of every workload and metric the middle one of its rows: eleven sizes of one test that all pay for
 * the same thing are one thing that moved. */
static int check_boundary(const struct pairs *p, size_t *order, size_t n,
			  Kgrid__V1__CompareReply *reply)
{
	struct verdict *v = calloc(n + 1, sizeof(*v));
	size_t kept = 0;
	bool moved;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0, k; i < n; i = k) {
		const struct pair *x = &p->items[order[i]];

		for (k = i + 1; k < n; k++) {
			const struct pair *y = &p->items[order[k]];

			if (strcmp(x->workload, y->workload) != 0 || x->metric != y->metric)
				break;
		}
		v[kept++] = p->verdicts[order[i + (k - i) / 2]];
	}
	moved = verdict_everything_moved(v, kept);
	free(v);
	return moved ? mark_machine(p, order, reply) : 0;
}

static int check_moved(const struct pairs *p, Kgrid__V1__CompareReply *reply)
{
	size_t *order = calloc(p->n + 1, sizeof(*order)), n = 0;
	int rc = order ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < p->n; i++) {
		if (p->verdicts[i].has_p)
			order[n++] = i;
	}
	if (n)
		qsort_r(order, n, sizeof(*order), order_measures, (void *)(uintptr_t)p);
	for (size_t i = 0, k; rc == 0 && i < n; i = k) {
		for (k = i + 1; k < n; k++) {
			if (order_boundaries(&order[i], &order[k], (void *)(uintptr_t)p) != 0)
				break;
		}
		rc = check_boundary(p, &order[i], k - i, reply);
	}
	free(order);
	return rc;
}

int finish_pairs(struct pairs *p, Kgrid__V1__CompareReply *reply)
{
	int rc = verdict_family(p->verdicts, p->policies, p->n);

	for (size_t i = 0; rc == 0 && i < p->n; i++)
		rc = fill_verdict(&p->items[i], &p->verdicts[i]);
	if (rc < 0)
		return rc;
	if (p->modes.left_out)
		rc = add_text(&reply->notes, &reply->n_notes,
			      "%zu cell%s may have several modes and %s not tested for it",
			      p->modes.left_out, plural(p->modes.left_out),
			      p->modes.left_out == 1 ? "was" : "were");
	return rc == 0 ? check_moved(p, reply) : rc;
}
