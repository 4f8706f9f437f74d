/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workloads x parameters, per machine: declarations may differ between machines. */
#include "coordinator/plan/plan_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct plan_offer *plan_find_offer(const struct plan_machine *m, const char *name)
{
	size_t i;

	for (i = 0; i < m->n_offers; i++)
		if (strcmp(m->offers[i].name, name) == 0)
			return &m->offers[i];
	return NULL;
}

/* ---- what the machines offer ---- */

static int unknown_workload(struct plan_builder *b, const struct job_workload *w)
{
	struct kg_texts names = {0};
	struct kg_str all = {0};
	const char *meant;
	size_t i, k;
	int rc = 0;

	for (i = 0; i < b->n_machines; i++) {
		for (k = 0; k < b->machines[i]->n_offers && rc == 0; k++)
			rc = plan_warn(&names, "%s", b->machines[i]->offers[k].name);
	}
	for (i = 0; i < names.n; i++)
		kg_str_addf(&all, "%s%s", i ? ", " : "", names.items[i]);
	meant = kg_suggest(w->name, (const char *const *)names.items, names.n);
	rc = job_spec_error(b->job, w->at, KG_EINVALID, b->err,
			    "'workloads': no machine of the job offers '%s'%s%s%s; offered are %s",
			    w->name, meant ? " (did you mean '" : "", meant ? meant : "",
			    meant ? "'?)" : "", names.n ? kg_str_text(&all) : "none");
	kg_str_deinit(&all);
	kg_texts_deinit(&names);
	return rc;
}

/* The declaration to read parameters with: the machine's own, else another's. NULL: see *ret_rc. */
static const struct kg_workload *find_decl(struct plan_builder *b, const struct plan_offer *own,
					   const struct job_workload *w, int *ret_rc)
{
	const struct plan_offer *unread = NULL;
	size_t i;

	if (own && own->decl)
		return own->decl;
	for (i = 0; i < b->n_machines; i++) {
		const struct plan_offer *o = plan_find_offer(b->machines[i], w->name);

		if (o && o->decl)
			return o->decl;
		if (o)
			unread = o;
	}
	*ret_rc = unread ? job_spec_error(b->job, w->at, KG_EINVALID, b->err,
					  "'workloads': the declaration of '%s' cannot be used: %s",
					  w->name, unread->missing ? unread->missing : "unreadable")
			 : unknown_workload(b, w);
	return NULL;
}

/* *ret_reason NULL: can run. */
static int why_not(struct plan_builder *b, const struct plan_machine *m,
		   const struct plan_offer *own, const char *workload, const char **ret_reason)
{
	const char *name = m->facts.name;

	*ret_reason = NULL;
	if (own && own->available && own->decl)
		return 0;
	if (!own)
		*ret_reason =
			plan_text(b, "workload '%s' is not installed on '%s'", workload, name);
	else
		*ret_reason =
			plan_text(b, "workload '%s' is not available on '%s': %s", workload, name,
				  own->missing && own->missing[0] ? own->missing
				  : own->decl			  ? "no reason given"
					      : "its declaration cannot be read");
	return *ret_reason ? 0 : plan_no_memory(b->err);
}

/* ---- one workload on one machine ---- */

/* Where a parameter's values stand in the product. */
struct axis {
	const struct job_param *param;
	char **values; /* normalised, owned */
	size_t at;
};

struct product {
	struct plan_builder *b;
	const struct job_workload *w;
	const struct kg_workload *decl;
	struct axis *axes;
	struct kg_param_value *given; /* borrows from the axes */
};

static void product_deinit(struct product *x)
{
	size_t i, k;

	for (i = 0; x->axes && i < x->w->n_params; i++) {
		for (k = 0; x->axes[i].values && k < x->axes[i].param->values.n; k++)
			free(x->axes[i].values[k]);
		free(x->axes[i].values);
	}
	free(x->axes);
	free(x->given);
}

static bool declared(const struct kg_workload *w, const char *param)
{
	size_t i;

	for (i = 0; i < w->n_params; i++)
		if (strcmp(w->params[i].name, param) == 0)
			return true;
	return false;
}

static int normalise(struct product *x, struct axis *a)
{
	const struct job_texts *values = &a->param->values;
	struct kg_err why = {{0}};
	size_t i;

	a->values = calloc(values->n, sizeof(*a->values));
	if (!a->values)
		return plan_no_memory(x->b->err);
	for (i = 0; i < values->n; i++) {
		int rc = kg_workload_normalise(x->decl, a->param->name, values->items[i].text,
					       &a->values[i], &why);

		if (rc < 0)
			return job_spec_error(x->b->job,
					      declared(x->decl, a->param->name)
						      ? values->items[i].at
						      : a->param->at,
					      rc, x->b->err, "%s: %s", x->w->name, why.text);
	}
	return 0;
}

static int product_init(struct product *x)
{
	size_t n = x->w->n_params;
	size_t i;
	int rc = 0;

	x->axes = calloc(n + 1, sizeof(*x->axes));
	x->given = calloc(n + 1, sizeof(*x->given));
	if (!x->axes || !x->given)
		return plan_no_memory(x->b->err);
	for (i = 0; i < n && rc == 0; i++) {
		x->axes[i].param = &x->w->params[i];
		rc = normalise(x, &x->axes[i]);
	}
	return rc;
}

/* The next combination, the last parameter varies fastest. False behind the last one. */
static bool product_next(struct product *x)
{
	size_t i = x->w->n_params;

	while (i-- > 0) {
		if (++x->axes[i].at < x->axes[i].param->values.n)
			return true;
		x->axes[i].at = 0;
	}
	return false;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t product_of(uint64_t a, uint64_t b)
{
	return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* Time that the run should take, and the limit after which it is ended. */
static void set_times(const struct product *x, struct plan_set *s)
{
	/* a warm-up by time ends with the run that was begun in it */
	uint64_t runs =
		(uint64_t)x->b->job->iterations + x->decl->warmup_runs + (x->decl->warmup_ns > 0);
	uint64_t one = kg_workload_duration_ns(x->decl, &s->params);
	uint64_t limit = sum(product_of(runs, sum(one, x->decl->timeout_ns)), x->decl->warmup_ns);
	uint64_t limit_s = limit / 1000000000 + (limit % 1000000000 != 0);

	s->run_ns = sum(product_of(runs, one), x->decl->warmup_ns);
	s->timeout_s = limit_s > UINT32_MAX ? UINT32_MAX : (uint32_t)limit_s;
}

static int fill_set(struct product *x, struct plan_set *s)
{
	struct kg_err why = {{0}};
	size_t i;
	int rc;

	for (i = 0; i < x->w->n_params; i++) {
		x->given[i].name = x->axes[i].param->name;
		x->given[i].value = x->axes[i].values[x->axes[i].at];
	}
	rc = kg_workload_params(x->decl, x->given, x->w->n_params, &s->params, &why);
	if (rc < 0)
		return job_spec_error(x->b->job, x->w->at, rc, x->b->err, "%s: %s", x->w->name,
				      why.text);
	s->workload = x->w;
	s->text = kg_params_text(&s->params);
	if (!s->text)
		return plan_no_memory(x->b->err);
	set_times(x, s);
	return 0;
}

/* ---- all of one machine ---- */

static size_t sets_of(const struct job_workload *w)
{
	size_t n = 1;
	size_t i;

	for (i = 0; i < w->n_params; i++)
		n *= w->params[i].values.n; /* bounded: the plan's size was checked */
	return n;
}

static int add_workload(struct plan_builder *b, const struct plan_machine *m,
			const struct job_workload *w, struct plan_sets *sets)
{
	const struct plan_offer *own = plan_find_offer(m, w->name);
	struct product x = {.b = b, .w = w};
	const char *digest, *reason;
	int rc = 0;

	x.decl = find_decl(b, own, w, &rc);
	if (!x.decl)
		return rc;
	rc = why_not(b, m, own, w->name, &reason);
	if (rc < 0)
		return rc;
	digest = plan_text(b, "%s", own && own->digest ? own->digest : "");
	if (!digest)
		return plan_no_memory(b->err);
	rc = product_init(&x);
	while (rc == 0) {
		struct plan_set *s = &sets->items[sets->n];

		s->order = (uint32_t)sets->n;
		s->digest = digest;
		s->infeasible = reason;
		sets->n++; /* what is there is released with the rest */
		rc = fill_set(&x, s);
		if (rc == 0 && !product_next(&x))
			break;
	}
	product_deinit(&x);
	return rc;
}

static int compare_sets(const void *a, const void *b)
{
	const struct plan_set *const *x = a;
	const struct plan_set *const *y = b;
	int c = strcmp((*x)->workload->name, (*y)->workload->name);

	if (c == 0)
		c = strcmp((*x)->text, (*y)->text);
	if (c == 0)
		c = (*x)->order < (*y)->order ? -1 : 1;
	return c;
}

/* The same parameters written twice ("64KiB, 65536", or a workload listed again) are one cell. */
static int mark_duplicates(struct plan_builder *b, struct plan_sets *sets)
{
	struct plan_set **sorted = calloc(sets->n, sizeof(struct plan_set *));
	size_t i;
	int rc = 0;

	if (!sorted)
		return plan_no_memory(b->err);
	for (i = 0; i < sets->n; i++)
		sorted[i] = &sets->items[i];
	qsort(sorted, sets->n, sizeof(struct plan_set *), compare_sets);
	for (i = 1; i < sets->n && rc == 0; i++) {
		struct plan_set *s = sorted[i];

		if (strcmp(sorted[i - 1]->workload->name, s->workload->name) != 0 ||
		    strcmp(sorted[i - 1]->text, s->text) != 0)
			continue;
		s->duplicate = true;
		rc = plan_add_warning(b, "workload '%s' is listed more than once with %s: one cell",
				      s->workload->name, s->text[0] ? s->text : "no parameters");
	}
	free(sorted);
	return rc;
}

static int make_machine_sets(struct plan_builder *b, const struct plan_machine *m,
			     struct plan_sets *sets)
{
	size_t total = 0;
	size_t i;
	int rc = 0;

	for (i = 0; i < b->job->n_workloads; i++)
		total += sets_of(&b->job->workloads[i]);
	sets->items = calloc(total, sizeof(*sets->items));
	if (!sets->items)
		return plan_no_memory(b->err);
	for (i = 0; i < b->job->n_workloads && rc == 0; i++)
		rc = add_workload(b, m, &b->job->workloads[i], sets);
	return rc < 0 ? rc : mark_duplicates(b, sets);
}

int plan_make_sets(struct plan_builder *b)
{
	size_t i;
	int rc = 0;

	b->sets = calloc(b->n_machines, sizeof(*b->sets));
	if (!b->sets)
		return plan_no_memory(b->err);
	for (i = 0; i < b->n_machines && rc == 0; i++)
		rc = make_machine_sets(b, b->machines[i], &b->sets[i]);
	return rc;
}

void plan_sets_deinit(struct plan_sets *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		kg_params_deinit(&s->items[i].params);
		free(s->items[i].text);
	}
	free(s->items);
	memset(s, 0, sizeof(*s));
}
