/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The axes of the expansion, for people. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/plan_internal.h"

struct listing {
	struct plan_builder *b;
	size_t size;
	struct plan_interned seen; /* values of the axis being made: what is written twice is one */
};

static void begin(struct listing *l)
{
	free(l->seen.texts);
	memset(&l->seen, 0, sizeof(l->seen));
}

static int add(struct listing *l, const char *value)
{
	uint32_t index;

	return plan_intern(l->b, &l->seen, value, &index);
}

/* `unit`: what its numbers count, NULL for none. */
static int end_unit(struct listing *l, const char *name, const char *unit)
{
	struct plan *p = l->b->p;
	struct plan_axis *a;
	const char **values;

	if (plan_grow((void **)&p->axes, &l->size, p->n_axes + 1, sizeof(*p->axes)) < 0)
		return plan_no_memory(l->b->err);
	a = &p->axes[p->n_axes];
	/* one more: an axis without values is valid */
	values = kg_arena_alloc(l->b->memory, (l->seen.n + 1) * sizeof(*values));
	a->name = plan_keep(l->b, name);
	a->unit = unit ? plan_keep(l->b, unit) : NULL;
	if (!values || !a->name || (unit && !a->unit))
		return plan_no_memory(l->b->err);
	if (l->seen.n > 0)
		memcpy(values, l->seen.texts, l->seen.n * sizeof(*values));
	a->values = values;
	a->n = l->seen.n;
	p->n_axes++;
	return 0;
}

static int end(struct listing *l, const char *name)
{
	return end_unit(l, name, NULL);
}

static int list_texts(struct listing *l, const char *name, const struct job_texts *texts)
{
	size_t i;
	int rc = 0;

	begin(l);
	for (i = 0; i < texts->n && rc == 0; i++)
		rc = add(l, texts->items[i].text);
	return rc < 0 ? rc : end(l, name);
}

static int list_names(struct listing *l, const char *name, const char *const *texts, size_t n)
{
	size_t i;
	int rc = 0;

	begin(l);
	for (i = 0; i < n && rc == 0; i++)
		rc = add(l, texts[i]);
	return rc < 0 ? rc : end(l, name);
}

static int list_boots(struct listing *l)
{
	struct plan_builder *b = l->b;
	size_t i;
	int rc = 0;

	begin(l);
	for (i = 0; i < b->n_own && rc == 0; i++)
		rc = add(l, b->columns[i].name);
	if (rc == 0)
		rc = end(l, "machine");
	begin(l);
	for (i = 0; i < b->n_kernels && rc == 0; i++)
		rc = add(l, b->kernels[i].shown);
	if (rc == 0)
		rc = end(l, "kernel");
	return rc < 0 ? rc : list_names(l, "lsm", b->lsm_labels, b->job->n_lsms);
}

static int list_variants(struct listing *l)
{
	const struct plan_builder *b = l->b;
	const struct job_spec *j = b->job;
	size_t i;
	int rc = 0;

	if (b->n_variants > 1 || b->variants[0].words[0]) {
		begin(l);
		for (i = 0; i < b->n_variants && rc == 0; i++)
			if (b->same_variant[i] == i)
				rc = add(l, b->variants[i].label);
		if (rc == 0)
			rc = end(l, "cmdline");
	}
	for (i = 0; i < j->n_settings && rc == 0; i++)
		rc = list_texts(l, j->settings[i].name, &j->settings[i].values);
	return rc;
}

static int list_param(struct listing *l, const struct plan_entry *e, const struct plan_param *p)
{
	char name[160];
	uint64_t i;
	int rc = 0;

	begin(l);
	for (i = 0; i < p->n && rc == 0; i++)
		rc = add(l, p->values[i].text);
	(void)snprintf(name, sizeof(name), "%s.%s", e->workload->name, p->param->name);
	return rc < 0 ? rc : end_unit(l, name, plan_unit(p->decl));
}

static int list_sets(struct listing *l, const struct plan_entry *e)
{
	char name[160];
	size_t i;
	int rc = 0;

	begin(l);
	for (i = 0; i < e->n_alts && rc == 0; i++)
		rc = add(l, e->alts[i].set->name);
	(void)snprintf(name, sizeof(name), "%s.set", e->workload->name);
	return rc < 0 ? rc : end(l, name);
}

/* Parameters as the first machine reads them that has the workload. */
static int list_workload(struct listing *l, size_t workload)
{
	const struct plan_entry *e = NULL;
	size_t i, k;
	int rc = 0;

	for (i = 0; i < l->b->n_own && !e; i++)
		e = l->b->columns[i].entries[workload];
	if (!e || !e->filled)
		return 0;
	if (e->alts[0].set)
		rc = list_sets(l, e);
	for (i = 0; i < e->n_alts && rc == 0; i++)
		for (k = 0; k < e->alts[i].n_params && rc == 0; k++)
			/* those that the sets have in common are listed once */
			if (i == 0 || e->alts[i].params[k].set)
				rc = list_param(l, e, &e->alts[i].params[k]);
	return rc;
}

int plan_list_axes(struct plan_builder *b)
{
	struct listing l = {.b = b};
	size_t i;
	int rc = list_boots(&l);

	if (rc == 0)
		rc = list_variants(&l);
	if (rc == 0)
		rc = list_names(&l, "workload", b->workload_names, b->job->n_workloads);
	for (i = 0; i < b->job->n_workloads && rc == 0; i++)
		rc = list_workload(&l, i);
	free(l.seen.texts);
	return rc;
}
