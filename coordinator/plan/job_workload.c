/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The `workloads:` and `exclude:` parts of a job file. */
#include "coordinator/plan/job_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/warn.h"

static int read_values(const struct job_input *in, const struct kg_yaml_node *n,
		       const struct job_workload *w, struct job_param *p)
{
	bool list = n->kind == KG_YAML_SEQ;
	size_t count = list ? n->n : 1;
	size_t i;
	int rc;

	if (n->kind == KG_YAML_MAP || job_is_null(n) || count == 0)
		return kg_yaml_error(in->doc, n, in->err,
				     "%s: '%s': expected a value, or a list of values to try",
				     w->name, p->name);
	for (i = 0; i < count; i++) {
		const struct kg_yaml_node *item = list ? n->items[i] : n;

		if (item->kind != KG_YAML_SCALAR || job_is_null(item))
			return kg_yaml_error(in->doc, item, in->err,
					     "%s: '%s': expected single values in the list",
					     w->name, p->name);
		rc = job_texts_add(in, &p->values, item);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_params(const struct job_input *in, const struct kg_yaml_node *n,
		       struct job_workload *w)
{
	size_t i;
	int rc;

	if (job_is_null(n))
		return 0;
	if (n->kind != KG_YAML_MAP)
		return kg_yaml_error(in->doc, n, in->err,
				     "%s: expected parameters, '- %s: {name: value}'", w->name,
				     w->name);
	w->params = calloc(n->n ? n->n : 1, sizeof(*w->params));
	if (!w->params)
		return job_no_memory(in->err);
	for (i = 0; i < n->n; i++) {
		struct job_param *p = &w->params[i];

		w->n_params = i + 1;
		p->at = job_place_of(n->keys[i]);
		p->name = strdup(n->keys[i]->text);
		if (!p->name)
			return job_no_memory(in->err);
		rc = read_values(in, n->items[i], w, p);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_workload(const struct job_input *in, const struct kg_yaml_node *n,
			 struct job_workload *w)
{
	const struct kg_yaml_node *key = n;

	if (n->kind == KG_YAML_MAP && n->n > 1)
		return kg_yaml_error(
			in->doc, n->keys[1], in->err,
			"workloads: expected one name per item; begin '%s' with a '-' of "
			"its own, or indent it below '%s' if it is a parameter",
			n->keys[1]->text, n->keys[0]->text);
	if (n->kind == KG_YAML_MAP && n->n == 1)
		key = n->keys[0];
	if (key->kind != KG_YAML_SCALAR || job_is_null(key) || !kg_name_valid(key->text))
		return kg_yaml_error(in->doc, n, in->err,
				     "workloads: expected '- name: {parameters}' or '- name'");
	w->at = job_place_of(key);
	w->name = strdup(key->text);
	if (!w->name)
		return job_no_memory(in->err);
	return key == n ? 0 : read_params(in, n->items[0], w);
}

int job_read_workloads(const struct job_input *in, const struct kg_yaml_node *n)
{
	struct job_spec *j = in->job;
	size_t i;
	int rc;

	if (n->kind != KG_YAML_SEQ)
		return kg_yaml_error(in->doc, n, in->err,
				     "'workloads': expected a list, '- hackbench: {groups: 4}'");
	if (n->n == 0)
		return kg_yaml_error(in->doc, n, in->err, "'workloads': the list is empty");
	j->workloads = calloc(n->n, sizeof(*j->workloads));
	if (!j->workloads)
		return job_no_memory(in->err);
	for (i = 0; i < n->n; i++) {
		j->n_workloads = i + 1;
		rc = read_workload(in, n->items[i], &j->workloads[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- exclude ---- */

struct names {
	struct kg_texts lsms, workloads, params;
};

static int add_once(struct kg_texts *t, const char *name)
{
	return plan_warn(t, "%s", name); /* adds what is not there yet */
}

static int collect(const struct job_spec *j, struct names *ret)
{
	size_t i, k;
	int rc = 0;

	for (i = 0; i < j->n_lsms && rc == 0; i++)
		rc = add_once(&ret->lsms, j->lsms[i].label);
	for (i = 0; i < j->n_workloads && rc == 0; i++) {
		rc = add_once(&ret->workloads, j->workloads[i].name);
		for (k = 0; k < j->workloads[i].n_params && rc == 0; k++)
			rc = add_once(&ret->params, j->workloads[i].params[k].name);
	}
	return rc;
}

static int read_exclude(const struct job_input *in, const struct predicate_scope *scope,
			const struct kg_yaml_node *n, struct job_exclude *x)
{
	int rc;

	if (n->kind != KG_YAML_SCALAR || job_is_null(n))
		return kg_yaml_error(
			in->doc, n, in->err,
			"'exclude': expected a predicate such as 'vendor == amd and lsm == "
			"nt'");
	x->at = job_place_of(n);
	x->text = strdup(n->text);
	if (!x->text)
		return job_no_memory(in->err);
	rc = predicate_parse(n->text, scope, &x->predicate, in->err);
	if (rc < 0)
		kg_err_wrap(in->err, rc, "%s:%u:%u: 'exclude'", in->job->file_name, n->line,
			    n->column);
	return rc;
}

static int read_list(const struct job_input *in, const struct kg_yaml_node *n,
		     const struct names *names)
{
	struct predicate_scope scope = {
		.axes = true,
		.lsms = (const char *const *)names->lsms.items,
		.n_lsms = names->lsms.n,
		.workloads = (const char *const *)names->workloads.items,
		.n_workloads = names->workloads.n,
		.params = (const char *const *)names->params.items,
		.n_params = names->params.n,
	};
	bool list = n->kind == KG_YAML_SEQ;
	size_t count = list ? n->n : 1;
	struct job_spec *j = in->job;
	size_t i;
	int rc;

	j->excludes = calloc(count ? count : 1, sizeof(*j->excludes));
	if (!j->excludes)
		return job_no_memory(in->err);
	for (i = 0; i < count; i++) {
		j->n_excludes = i + 1;
		rc = read_exclude(in, &scope, list ? n->items[i] : n, &j->excludes[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int job_read_excludes(const struct job_input *in, const struct kg_yaml_node *n)
{
	struct names names = {0};
	int rc;

	if (!n)
		return 0;
	rc = collect(in->job, &names);
	rc = rc < 0 ? job_no_memory(in->err) : read_list(in, n, &names);
	kg_texts_deinit(&names.lsms);
	kg_texts_deinit(&names.workloads);
	kg_texts_deinit(&names.params);
	return rc;
}
