/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which parameters a workload is tried with: its own, its sets', the job's defaults and matrix. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/plan_internal.h"
#include "coordinator/plan/plan_range.h"

const struct kg_param_decl *plan_find_param(const struct kg_workload *w, const char *param)
{
	size_t i;

	for (i = 0; i < w->n_params; i++)
		if (strcmp(w->params[i].name, param) == 0)
			return &w->params[i];
	return NULL;
}

const char *plan_unit(const struct kg_param_decl *d)
{
	if (d->unit && d->unit[0])
		return d->unit;
	return d->type == KG_PARAM_BYTES ? "bytes" : NULL;
}

/* The file's place of an error about a parameter. */
static int refuse(struct plan_builder *b, const struct plan_entry *e, struct job_place at, int code,
		  const struct kg_err *why)
{
	return job_spec_error(b->job, at, code, b->err, "%s: %s", e->workload->name, why->text);
}

/* ---- counting ---- */

static int count_param(struct plan_builder *b, const struct plan_entry *e, struct plan_param *x)
{
	const struct job_texts *values = &x->param->values;
	struct kg_err why = {{0}};
	size_t i;
	int rc = 0;

	x->decl = plan_find_param(e->decl, x->param->name);
	if (!x->decl) {
		char *none = NULL;

		/* says what was meant */
		rc = kg_workload_normalise(e->decl, x->param->name, "", &none, &why);
		free(none);
		return refuse(b, e, x->param->at, rc < 0 ? rc : KG_EINVALID, &why);
	}
	for (i = 0; i < values->n; i++) {
		struct plan_range r = {.n = 1};

		if (plan_is_range(x->decl, values->items[i].text))
			rc = plan_range_parse(e->decl, x->decl, values->items[i].text, &r, &why);
		if (rc < 0)
			return refuse(b, e, values->items[i].at, rc, &why);
		x->n = plan_plus(x->n, r.n);
	}
	return 0;
}

static bool has_param(const struct plan_alt *a, const char *name)
{
	size_t i;

	for (i = 0; i < a->n_params; i++)
		if (strcmp(a->params[i].param->name, name) == 0)
			return true;
	return false;
}

/* A default is meant for this workload: by name, or because it declares the parameter. One by name
 * that is not declared stays in, to be refused. */
static bool applies(const struct plan_entry *e, const struct job_default *d)
{
	if (d->workload)
		return strcmp(d->workload, e->workload->name) == 0;
	return plan_find_param(e->decl, d->param.name) != NULL;
}

/* The workload's own first, then the set's, then the job's defaults: who comes first wins. */
static int collect_params(struct plan_builder *b, const struct plan_entry *e, struct plan_alt *a,
			  bool with_defaults)
{
	const struct job_workload *w = e->workload;
	size_t most = w->n_params + (a->set ? a->set->n_params : 0) + b->job->n_defaults;
	size_t i;

	a->params = plan_scratch(b, most + 1, sizeof(*a->params));
	if (!a->params)
		return plan_no_memory(b->err);
	for (i = 0; i < w->n_params; i++)
		a->params[a->n_params++].param = &w->params[i];
	for (i = 0; a->set && i < a->set->n_params; i++) {
		if (has_param(a, a->set->params[i].name))
			continue;
		a->params[a->n_params].set = a->set;
		a->params[a->n_params++].param = &a->set->params[i];
	}
	for (i = 0; with_defaults && i < b->job->n_defaults; i++) {
		const struct job_default *d = &b->job->defaults[i];

		if (!applies(e, d) || has_param(a, d->param.name))
			continue;
		a->params[a->n_params].default_of = d;
		a->params[a->n_params++].param = &d->param;
	}
	return 0;
}

static int count_alt(struct plan_builder *b, const struct plan_entry *e, struct plan_alt *a,
		     bool with_defaults)
{
	size_t i;
	int rc = collect_params(b, e, a, with_defaults);

	a->count = 1;
	for (i = 0; i < a->n_params && rc == 0; i++) {
		rc = count_param(b, e, &a->params[i]);
		a->count = plan_times(a->count, a->params[i].n);
	}
	return rc;
}

/* A canary is measured as it is declared, whatever the job's other workloads take. */
static bool takes_defaults(const struct plan_builder *b, const struct job_workload *w)
{
	return w >= b->job->workloads && w < b->job->workloads + b->job->n_workloads;
}

static int make_entry(struct plan_builder *b, struct plan_entry *e)
{
	size_t i;
	int rc = 0;

	if (e->decl->n_params > b->size_values) {
		b->size_values = e->decl->n_params;
		b->values = plan_scratch(b, b->size_values, sizeof(*b->values));
		if (!b->values)
			return plan_no_memory(b->err);
	}
	e->n_alts = e->workload->n_sets ? e->workload->n_sets : 1;
	e->alts = plan_scratch(b, e->n_alts, sizeof(*e->alts));
	if (!e->alts)
		return plan_no_memory(b->err);
	for (i = 0; i < e->n_alts && rc == 0; i++) {
		e->alts[i].set = e->workload->n_sets ? &e->workload->sets[i] : NULL;
		rc = count_alt(b, e, &e->alts[i], takes_defaults(b, e->workload));
		e->count = plan_plus(e->count, e->alts[i].count);
	}
	return rc;
}

int plan_entry_of(struct plan_builder *b, const struct job_workload *w,
		  const struct kg_workload *decl, const struct plan_entry **ret_entry)
{
	uint64_t h = plan_hash_number((uint64_t)(uintptr_t)w, (uint64_t)(uintptr_t)decl);
	struct plan_entry **bucket = &b->entry_at[h % PLAN_BUCKETS];
	struct plan_entry *e;
	int rc;

	for (e = *bucket; e; e = e->chain) {
		if (e->workload != w || e->decl != decl)
			continue;
		*ret_entry = e;
		return 0;
	}
	e = plan_scratch(b, 1, sizeof(*e));
	if (!e)
		return plan_no_memory(b->err);
	e->workload = w;
	e->decl = decl;
	rc = make_entry(b, e);
	e->next = b->entries;
	b->entries = e;
	e->chain = *bucket;
	*bucket = e;
	*ret_entry = e;
	return rc;
}

/* ---- values ---- */

/* "size=64" as it stands among a cell's parameters, quoted where that needs it. */
static int add_value(struct plan_builder *b, const char *name, const char *text,
		     struct plan_value *v)
{
	struct kg_param_value item = {(char *)(uintptr_t)name, (char *)(uintptr_t)text};
	const struct kg_params one = {&item, 1};
	char *word = kg_params_text(&one);

	v->text = plan_keep(b, text);
	v->word = word ? plan_keep(b, word) : NULL;
	v->word_len = word ? (uint32_t)strlen(word) : 0;
	free(word);
	return v->text && v->word ? 0 : plan_no_memory(b->err);
}

static int expand_range(struct plan_builder *b, const struct plan_entry *e, struct plan_param *x,
			const struct job_text *text, size_t *n)
{
	struct kg_err why = {{0}};
	struct plan_range r;
	char number[24];
	int64_t value;
	uint64_t i;
	int rc = plan_range_parse(e->decl, x->decl, text->text, &r, &why);

	if (rc < 0)
		return refuse(b, e, text->at, rc, &why);
	value = r.first;
	for (i = 0; i < r.n && rc == 0; i++) {
		(void)snprintf(number, sizeof(number), "%" PRId64, value);
		rc = add_value(b, x->param->name, number, &x->values[(*n)++]);
		value = plan_range_next(&r, value);
	}
	return rc;
}

static int expand_one(struct plan_builder *b, const struct plan_entry *e, struct plan_param *x,
		      const struct job_text *text, size_t *n)
{
	struct kg_err why = {{0}};
	char *value = NULL;
	int rc = kg_workload_normalise(e->decl, x->param->name, text->text, &value, &why);

	if (rc < 0)
		return refuse(b, e, text->at, rc, &why);
	rc = add_value(b, x->param->name, value, &x->values[(*n)++]);
	free(value);
	return rc;
}

static int expand_param(struct plan_builder *b, const struct plan_entry *e, struct plan_param *x)
{
	const struct job_texts *values = &x->param->values;
	size_t i, n = 0;
	int rc = 0;

	x->values = plan_scratch(b, (size_t)x->n, sizeof(*x->values));
	if (!x->values)
		return plan_no_memory(b->err);
	for (i = 0; i < values->n && rc == 0; i++)
		rc = plan_is_range(x->decl, values->items[i].text)
			     ? expand_range(b, e, x, &values->items[i], &n)
			     : expand_one(b, e, x, &values->items[i], &n);
	return rc;
}

/* All parameters with their values for the first combination, in the order of their names. */
static int complete(struct plan_builder *b, const struct plan_entry *e, struct plan_alt *a)
{
	struct kg_param_value *given = plan_scratch(b, a->n_params + 1, sizeof(*given));
	struct kg_err why = {{0}};
	struct kg_params all;
	size_t i, k;
	int rc;

	if (!given)
		return plan_no_memory(b->err);
	for (i = 0; i < a->n_params; i++) {
		given[i].name = a->params[i].param->name;
		given[i].value = (char *)(uintptr_t)a->params[i].values[0].text;
	}
	rc = kg_workload_params(e->decl, given, a->n_params, &all, &why);
	if (rc < 0)
		return refuse(b, e, e->workload->at, rc, &why);
	a->names = plan_scratch(b, all.n + 1, sizeof(*a->names));
	a->items = plan_scratch(b, all.n + 1, sizeof(*a->items));
	if (!a->names || !a->items)
		rc = plan_no_memory(b->err);
	for (i = 0; i < all.n && rc == 0; i++) {
		a->names[i] = plan_keep(b, all.items[i].name);
		rc = a->names[i] ? add_value(b, a->names[i], all.items[i].value, &a->items[i])
				 : plan_no_memory(b->err);
		for (k = 0; k < a->n_params; k++)
			if (strcmp(a->params[k].param->name, all.items[i].name) == 0)
				a->params[k].item = i;
	}
	a->n_items = all.n;
	kg_params_deinit(&all);
	return rc;
}

/* Whether the expected time depends on what differs between the combinations. */
static void measure(const struct plan_entry *e, struct plan_alt *a, struct plan_builder *b)
{
	struct kg_params all;
	size_t i;

	for (i = 0; i < a->n_params && e->decl->duration; i++) {
		char word[128];

		(void)snprintf(word, sizeof(word), "{%s}", a->params[i].param->name);
		if (a->params[i].n > 1 && strstr(e->decl->duration, word))
			a->duration_varies = true;
	}
	all = plan_set_params(b, a, NULL);
	a->duration_ns = kg_workload_duration_ns(e->decl, &all);
}

int plan_entry_fill(struct plan_builder *b, const struct plan_entry *e)
{
	struct plan_entry *mine = (struct plan_entry *)(uintptr_t)e; /* of this builder */
	size_t i, k;
	int rc = 0;

	if (e->filled)
		return 0;
	for (i = 0; i < e->n_alts; i++) {
		struct plan_alt *a = &mine->alts[i];

		for (k = 0; k < a->n_params && rc == 0; k++)
			rc = expand_param(b, e, &a->params[k]);
		if (rc == 0)
			rc = complete(b, e, a);
		if (rc < 0)
			return rc;
		measure(e, a, b);
	}
	mine->filled = true;
	return 0;
}

struct kg_params plan_set_params(struct plan_builder *b, const struct plan_alt *a,
				 const uint32_t *digits)
{
	struct kg_params p = {.items = b->values, .n = a->n_items};
	size_t i;

	for (i = 0; i < a->n_items; i++) {
		p.items[i].name = (char *)(uintptr_t)a->names[i];
		p.items[i].value = (char *)(uintptr_t)a->items[i].text;
	}
	for (i = 0; digits && i < a->n_params; i++)
		p.items[a->params[i].item].value =
			(char *)(uintptr_t)a->params[i].values[digits[i]].text;
	return p;
}
