/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The axes of the expansion, for people. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/plan_internal.h"

struct listing {
	struct plan_builder *b;
	size_t size;
	const char **values; /* in the plan's memory, of the axis being made */
	size_t n;
};

static int begin(struct listing *l, size_t most)
{
	/* the arena zeroes: an axis without values is valid */
	l->values = kg_arena_alloc(l->b->memory, (most + 1) * sizeof(*l->values));
	l->n = 0;
	return l->values ? 0 : plan_no_memory(l->b->err);
}

/* Takes a text of the plan's memory unless the axis has it already. */
static void add(struct listing *l, const char *value)
{
	if (l->n == 0 || strcmp(l->values[l->n - 1], value) != 0)
		l->values[l->n++] = value;
}

static int end(struct listing *l, const char *name)
{
	struct plan *p = l->b->p;

	if (plan_grow((void **)&p->axes, &l->size, p->n_axes + 1, sizeof(*p->axes)) < 0)
		return plan_no_memory(l->b->err);
	p->axes[p->n_axes].name = plan_keep(l->b, name);
	p->axes[p->n_axes].values = l->values;
	p->axes[p->n_axes].n = l->n;
	if (!p->axes[p->n_axes].name)
		return plan_no_memory(l->b->err);
	p->n_axes++;
	return 0;
}

static int list_texts(struct listing *l, const char *name, const struct job_texts *texts)
{
	size_t i;
	int rc = begin(l, texts->n);

	for (i = 0; i < texts->n && rc == 0; i++) {
		const char *text = plan_keep(l->b, texts->items[i].text);

		if (!text)
			return plan_no_memory(l->b->err);
		add(l, text);
	}
	return rc < 0 ? rc : end(l, name);
}

static int list_boots(struct listing *l)
{
	struct plan_builder *b = l->b;
	size_t i;
	int rc = begin(l, b->n_own);

	for (i = 0; i < b->n_own && rc == 0; i++)
		add(l, b->columns[i].name);
	if (rc == 0)
		rc = end(l, "machine");
	if (rc == 0)
		rc = begin(l, b->n_kernels);
	for (i = 0; i < b->n_kernels && rc == 0; i++)
		add(l, b->kernels[i].shown);
	if (rc == 0)
		rc = end(l, "kernel");
	if (rc == 0)
		rc = begin(l, b->job->n_lsms);
	for (i = 0; i < b->job->n_lsms && rc == 0; i++)
		add(l, b->lsm_labels[i]);
	return rc < 0 ? rc : end(l, "lsm");
}

static int list_variants(struct listing *l)
{
	const struct job_spec *j = l->b->job;
	size_t i;
	int rc = 0;

	if (l->b->n_variants > 1 || l->b->variants[0].words[0]) {
		rc = begin(l, l->b->n_variants);
		for (i = 0; i < l->b->n_variants && rc == 0; i++) {
			const char *label = plan_keep(l->b, l->b->variants[i].label);

			if (!label)
				return plan_no_memory(l->b->err);
			l->values[l->n++] = label;
		}
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
	int rc = begin(l, (size_t)p->n);

	for (i = 0; i < p->n && rc == 0; i++)
		add(l, p->values[i].text);
	(void)snprintf(name, sizeof(name), "%s.%s", e->workload->name, p->param->name);
	return rc < 0 ? rc : end(l, name);
}

static int list_sets(struct listing *l, const struct plan_entry *e)
{
	char name[160];
	size_t i;
	int rc = begin(l, e->n_alts);

	for (i = 0; i < e->n_alts && rc == 0; i++) {
		const char *set = plan_keep(l->b, e->alts[i].set->name);

		if (!set)
			return plan_no_memory(l->b->err);
		add(l, set);
	}
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
		rc = begin(&l, b->job->n_workloads);
	for (i = 0; i < b->job->n_workloads && rc == 0; i++)
		add(&l, b->workload_names[i]);
	if (rc == 0)
		rc = end(&l, "workload");
	for (i = 0; i < b->job->n_workloads && rc == 0; i++)
		rc = list_workload(&l, i);
	return rc;
}
