/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/stat_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/stat_intern.h"
#include "coordinator/analysis/ttest.h"

#define MODES_PAIRS 16 /* that are looked at for several modes */

enum verdict_direction stat_direction(const struct stat_comparison *c, const struct stat_group *g)
{
	return c->options.direction ? c->options.direction : g->direction;
}

const char *stat_unit(const struct stat_comparison *c, const struct stat_group *g)
{
	return c->options.unit ? c->options.unit : g->unit;
}

const double *stat_boot_values(const struct stat_cell *cell, double *scratch)
{
	double *copy;
	size_t longest = 0;

	if (cell->n_values == cell->boots.n)
		return cell->boots.boots[0].values;
	for (size_t i = 0; i < cell->boots.n; i++)
		if (cell->boots.boots[i].n > longest)
			longest = cell->boots.boots[i].n;
	copy = cli_alloc(longest, sizeof(*copy));
	for (size_t i = 0; i < cell->boots.n; i++) {
		const struct verdict_boot *b = &cell->boots.boots[i];

		memcpy(copy, b->values, b->n * sizeof(*copy));
		scratch[i] = stats_median_inplace(copy, b->n);
	}
	free(copy);
	return scratch;
}

/* What groups share that differ in machine and vendor only: finds out that a side was measured, but
 * elsewhere. */
static uint32_t elsewhere_key(struct intern *t, struct kg_str *texts, const struct stat_group *g)
{
	kg_str_clear(texts);
	for (size_t k = 0; k < STAT_GROUP_KEYS; k++)
		if (k != STAT_MACHINE && k != STAT_VENDOR)
			kg_str_addf(texts, "%s\x1f", cli_text(g->keys[k]));
	return intern_add(t, kg_str_text(texts), texts->len);
}

/* For each group whether the baseline is in a group that differs in machine or vendor only. */
static void find_elsewhere(const struct stat_data *d, size_t baseline, bool *ret)
{
	struct intern t = {0};
	char **texts = cli_alloc(d->n_groups, sizeof(*texts));
	uint32_t *keys = cli_alloc(d->n_groups, sizeof(*keys));
	bool *has = cli_alloc(d->n_groups, sizeof(*has));

	for (size_t i = 0; i < d->n_groups; i++) {
		struct kg_str s = {0};
		size_t before = t.n;

		keys[i] = elsewhere_key(&t, &s, &d->groups[i]);
		if (t.n > before)
			texts[i] = kg_str_take(&s); /* lent to t */
		else
			kg_str_deinit(&s);
		if (stat_group_cell(&d->groups[i], baseline))
			has[keys[i]] = true;
	}
	for (size_t i = 0; i < d->n_groups; i++)
		ret[i] = has[keys[i]];
	intern_deinit(&t);
	for (size_t i = 0; i < d->n_groups; i++)
		free(texts[i]);
	free(texts);
	free(keys);
	free(has);
}

static void set_missing(const struct stat_data *d, struct stat_pair *p, bool elsewhere)
{
	const struct stat_group *g = &d->groups[p->group];
	struct verdict *v = &p->verdict;

	*v = (struct verdict){.word = elsewhere ? VERDICT_INCOMPARABLE : VERDICT_UNKNOWN,
			      .p = 1,
			      .q = 1,
			      .p_worse = 1,
			      .p_iterations = 1};
	v->boots[1] = p->cells[1]->boots.n;
	v->iterations[1] = p->cells[1]->n_values;
	(void)snprintf(v->reason, sizeof(v->reason), "'%s' has no value here%s%s%s",
		       d->sides[p->baseline].label, elsewhere ? ", only on another " : "",
		       !elsewhere	       ? ""
		       : g->keys[STAT_MACHINE] ? "machine"
					       : "vendor",
		       elsewhere ? ": values of different machines are not compared" : "");
}

static void add_pair(struct stat_comparison *c, size_t *cap, struct stat_pair p)
{
	if (c->n_pairs == *cap) {
		*cap = *cap ? 2 * *cap : 64;
		c->pairs = cli_grow(c->pairs, *cap, sizeof(*c->pairs));
	}
	c->pairs[c->n_pairs++] = p;
}

static void make_pairs(struct stat_comparison *c)
{
	const struct stat_data *d = c->data;
	bool *elsewhere = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < d->n_groups; i++) {
		const struct stat_group *g = &d->groups[i];
		const struct stat_cell *base = stat_group_cell(g, c->baseline);

		if (base && g->n_cells == 1)
			c->n_alone++;
		for (size_t k = 0; k < g->n_cells; k++) {
			struct stat_pair p = {.group = i,
					      .baseline = c->baseline,
					      .candidate = g->cells[k].side,
					      .cells = {base, &g->cells[k]}};

			if (&g->cells[k] == base)
				continue;
			if (!base && !elsewhere) {
				elsewhere = cli_alloc(d->n_groups, sizeof(*elsewhere));
				find_elsewhere(d, c->baseline, elsewhere);
			}
			if (!base)
				set_missing(d, &p, elsewhere[i]);
			add_pair(c, &cap, p);
		}
	}
	free(elsewhere);
}

/* Welch's test beside each pair that verdict_pair() compared. */
static int fill_welch(struct stat_pair *p, struct kg_err *err)
{
	struct verdict *v = &p->verdict;
	struct stats_ttest t;
	double *scratch[2];
	const double *x[2];
	int rc = 0;

	if (!p->cells[0] || v->has_welch || v->boots[0] < 2 || v->boots[1] < 2)
		return 0;
	for (int i = 0; i < 2; i++) {
		bool own = p->cells[i]->n_values == p->cells[i]->boots.n;

		scratch[i] = own ? NULL : cli_alloc(v->boots[i], sizeof(double));
		x[i] = stat_boot_values(p->cells[i], scratch[i]);
	}
	rc = stats_welch(x[1], v->boots[1], x[0], v->boots[0], &t, err);
	free(scratch[0]);
	free(scratch[1]);
	if (rc < 0)
		return rc;
	v->has_welch = true;
	v->welch_p = t.p;
	return 0;
}

static int judge_pairs(struct stat_comparison *c, struct kg_err *err)
{
	struct verdict *verdicts = cli_alloc(c->n_pairs, sizeof(*verdicts));
	struct verdict_policy *policies = cli_alloc(c->n_pairs, sizeof(*policies));
	int rc = 0;

	for (size_t i = 0; i < c->n_pairs && rc == 0; i++) {
		struct stat_pair *p = &c->pairs[i];

		policies[i] = c->options.policy;
		policies[i].brief =
			c->n_pairs > MODES_PAIRS; /* the rest: fill_modes(), fill_welch() */
		if (p->cells[0]) {
			c->n_compared++;
			rc = verdict_pair(&p->cells[0]->boots, &p->cells[1]->boots,
					  stat_direction(c, &c->data->groups[p->group]),
					  &policies[i], &p->verdict, err);
		}
		verdicts[i] = p->verdict;
	}
	if (rc == 0 && verdict_family(verdicts, policies, c->n_pairs) < 0)
		rc = kg_err_set(err, KG_EINVALID, "out of memory");
	for (size_t i = 0; i < c->n_pairs && rc == 0; i++) {
		c->pairs[i].verdict = verdicts[i];
		rc = fill_welch(&c->pairs[i], err);
		c->n_worse += verdicts[i].word == VERDICT_REGRESSION;
	}
	free(verdicts);
	free(policies);
	return rc;
}

static bool is_change(enum verdict_word w)
{
	return w == VERDICT_REGRESSION || w == VERDICT_IMPROVEMENT || w == VERDICT_DIFFERENT;
}

/* Looking for several modes takes milliseconds a side: of many pairs only the first that changed are
 * looked at. */
static int fill_modes(struct stat_comparison *c, struct kg_err *err)
{
	size_t left = MODES_PAIRS;

	if (c->n_pairs <= MODES_PAIRS)
		return 0;
	for (size_t i = 0; i < c->n_pairs && left > 0; i++) {
		struct stat_pair *p = &c->pairs[i];
		struct verdict v;
		int rc;

		if (!is_change(p->verdict.word))
			continue;
		left--;
		rc = verdict_pair(&p->cells[0]->boots, &p->cells[1]->boots, p->verdict.direction,
				  &c->options.policy, &v, err);
		if (rc < 0)
			return rc;
		memcpy(p->verdict.multimodal, v.multimodal, sizeof(v.multimodal));
	}
	return 0;
}

/* Pairs of one machine and candidate side by side. */
static int by_machine(const void *a, const void *b, void *ctx)
{
	const struct stat_comparison *c = ctx;
	const struct stat_pair *x = &c->pairs[*(const size_t *)a];
	const struct stat_pair *y = &c->pairs[*(const size_t *)b];
	int order = strcmp(cli_text(c->data->groups[x->group].keys[STAT_MACHINE]),
			   cli_text(c->data->groups[y->group].keys[STAT_MACHINE]));

	if (order != 0)
		return order;
	if (x->candidate != y->candidate)
		return x->candidate < y->candidate ? -1 : 1;
	return (*(const size_t *)a > *(const size_t *)b) -
	       (*(const size_t *)a < *(const size_t *)b);
}

static bool same_machine(const struct stat_comparison *c, size_t a, size_t b)
{
	const struct stat_pair *x = &c->pairs[a], *y = &c->pairs[b];

	return x->candidate == y->candidate &&
	       kg_streq(c->data->groups[x->group].keys[STAT_MACHINE],
			c->data->groups[y->group].keys[STAT_MACHINE]);
}

static void note_moved(struct stat_comparison *c)
{
	size_t *order = cli_alloc(c->n_pairs, sizeof(*order));
	struct verdict *run = cli_alloc(c->n_pairs, sizeof(*run));

	for (size_t i = 0; i < c->n_pairs; i++)
		order[i] = i;
	qsort_r(order, c->n_pairs, sizeof(*order), by_machine, c);
	for (size_t i = 0, j; i < c->n_pairs; i = j) {
		const struct stat_pair *p = &c->pairs[order[i]];
		const char *machine = c->data->groups[p->group].keys[STAT_MACHINE];

		for (j = i; j < c->n_pairs && same_machine(c, order[i], order[j]); j++)
			run[j - i] = c->pairs[order[j]].verdict;
		if (verdict_everything_moved(run, j - i))
			kg_str_addf(
				&c->notes,
				"nearly everything moved together on '%s' with '%s': suspect the "
				"environment first\n",
				machine ? machine : "the machine",
				c->data->sides[p->candidate].label);
	}
	free(run);
	free(order);
}

static void make_notes(struct stat_comparison *c)
{
	const struct stat_data *d = c->data;
	struct kg_str *n = &c->notes;

	if (!d->has_boots)
		kg_str_add(n,
			   "no boot column: every value is taken for a boot of its own; values of "
			   "one boot agree more than boots do, so that p is too small then\n");
	if (!c->options.direction && !d->has_direction)
		kg_str_add(n,
			   "no direction is declared (--higher-is-better, --lower-is-better, or a "
			   "column 'direction'): a change is 'different', its sign is that of the "
			   "values\n");
	if (c->n_alone)
		kg_str_addf(n, "%zu group%s hold%s values of the baseline '%s' alone\n", c->n_alone,
			    c->n_alone == 1 ? "" : "s", c->n_alone == 1 ? "s" : "",
			    d->sides[c->baseline].label);
	if (d->left_out_outcome + d->left_out_warmup)
		kg_str_addf(n, "left out: %zu row%s of another outcome than pass, %zu of warm-up\n",
			    d->left_out_outcome, d->left_out_outcome == 1 ? "" : "s",
			    d->left_out_warmup);
	if (c->n_pairs > MODES_PAIRS)
		kg_str_addf(
			n,
			"of so many comparisons only the first %d that changed were looked at for "
			"several modes\n",
			MODES_PAIRS);
	note_moved(c);
}

static int no_pair(const struct stat_data *d, struct kg_err *err)
{
	return kg_err_set(
		err, KG_ENODATA,
		"nothing to compare: %zu values, all of one side ('%s'); give a second file, "
		"or rows of another kernel or lsm",
		d->n_values, d->sides[0].label);
}

int stat_compare(const struct stat_data *d, const struct stat_options *o,
		 struct stat_comparison *ret, struct kg_err *err)
{
	struct stat_comparison c = {.data = d, .options = *o};
	int rc = stat_find_side(d, o->baseline, &c.baseline, err);

	if (rc < 0)
		return rc;
	if (d->n_sides < 2)
		return no_pair(d, err);
	make_pairs(&c);
	rc = judge_pairs(&c, err);
	if (rc == 0)
		rc = fill_modes(&c, err);
	if (rc < 0) {
		stat_comparison_deinit(&c);
		return rc;
	}
	make_notes(&c);
	*ret = c;
	return 0;
}

void stat_comparison_deinit(struct stat_comparison *c)
{
	free(c->pairs);
	kg_str_deinit(&c->notes);
	*c = (struct stat_comparison){0};
}
