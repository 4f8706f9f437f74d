/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `exclude:` and `only:`: predicates over every axis of the job. */
#include "coordinator/plan/job_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct list {
	const char **items; /* owned; the texts borrow from the job */
	size_t n, room;
};

struct names {
	struct list lsms, workloads, params, settings, sets;
};

static int add_name(struct list *t, const char *name)
{
	if (t->n == t->room) {
		size_t room = t->room ? 2 * t->room : 16;
		const char **items = realloc(t->items, room * sizeof(*items));

		if (!items)
			return -ENOMEM;
		t->items = items;
		t->room = room;
	}
	t->items[t->n++] = name;
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* There may be very many, of sets that many workloads use. */
static void sort_once_each(struct list *t)
{
	size_t i, n = 0;

	if (t->n > 1)
		qsort(t->items, t->n, sizeof(*t->items), by_text);
	for (i = 0; i < t->n; i++)
		if (n == 0 || strcmp(t->items[n - 1], t->items[i]) != 0)
			t->items[n++] = t->items[i];
	t->n = n;
}

static int add_params(struct names *ret, const struct job_param *params, size_t n)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < n && rc == 0; i++)
		rc = add_name(&ret->params, params[i].name);
	return rc;
}

static int collect_workload(const struct job_workload *w, struct names *ret)
{
	size_t i;
	int rc = add_name(&ret->workloads, w->name);

	if (rc == 0)
		rc = add_params(ret, w->params, w->n_params);
	for (i = 0; i < w->n_sets && rc == 0; i++) {
		rc = add_name(&ret->sets, w->sets[i].name);
		if (rc == 0)
			rc = add_params(ret, w->sets[i].params, w->sets[i].n_params);
	}
	return rc;
}

static int collect(const struct job_spec *j, struct names *ret)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < j->n_lsms && rc == 0; i++)
		rc = add_name(&ret->lsms, j->lsms[i].label);
	for (i = 0; i < j->n_workloads && rc == 0; i++)
		rc = collect_workload(&j->workloads[i], ret);
	for (i = 0; i < j->n_defaults && rc == 0; i++)
		rc = add_params(ret, &j->defaults[i].param, 1);
	for (i = 0; i < j->n_settings && rc == 0; i++)
		rc = add_name(&ret->settings, j->settings[i].name);
	sort_once_each(&ret->workloads);
	sort_once_each(&ret->sets);
	sort_once_each(&ret->params);
	sort_once_each(&ret->settings);
	return rc;
}

static int read_one(const struct job_input *in, const struct predicate_scope *scope,
		    const char *what, const struct kg_yaml_node *n, struct job_exclude *x)
{
	int rc;

	if (n->kind != KG_YAML_SCALAR || job_is_null(n))
		return kg_yaml_error(
			in->doc, n, in->err,
			"'%s': expected a predicate such as 'vendor == amd and lsm == nt'", what);
	x->at = job_place_of(in, n);
	x->text = strdup(n->text);
	if (!x->text)
		return job_no_memory(in->err);
	rc = predicate_parse(n->text, scope, &x->predicate, in->err);
	if (rc < 0)
		kg_err_wrap(in->err, rc, "%s:%u:%u: '%s'",
			    x->at.file ? x->at.file : in->job->file_name, n->line, n->column, what);
	return rc;
}

static int read_list(const struct job_input *in, const struct predicate_scope *scope,
		     const char *what, const struct kg_yaml_node *n, struct job_exclude **ret_items,
		     size_t *ret_n)
{
	bool list = n->kind == KG_YAML_SEQ;
	size_t count = list ? n->n : 1;
	size_t i;
	int rc;

	rc = job_check_count(in, n, what);
	if (rc < 0)
		return rc;
	*ret_items = calloc(count ? count : 1, sizeof(**ret_items));
	if (!*ret_items)
		return job_no_memory(in->err);
	for (i = 0; i < count; i++) {
		*ret_n = i + 1;
		rc = read_one(in, scope, what, list ? n->items[i] : n, &(*ret_items)[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_both(const struct job_input *in, const struct names *x,
		     const struct kg_yaml_node *exclude, const struct kg_yaml_node *only)
{
	struct predicate_scope scope = {
		.axes = true,
		.lsms = x->lsms.items,
		.n_lsms = x->lsms.n,
		.workloads = x->workloads.items,
		.n_workloads = x->workloads.n,
		.params = x->params.items,
		.n_params = x->params.n,
		.settings = x->settings.items,
		.n_settings = x->settings.n,
		.sets = x->sets.items,
		.n_sets = x->sets.n,
	};
	struct job_spec *j = in->job;
	int rc = 0;

	if (exclude)
		rc = read_list(in, &scope, "exclude", exclude, &j->excludes, &j->n_excludes);
	if (rc == 0 && only)
		rc = read_list(in, &scope, "only", only, &j->onlys, &j->n_onlys);
	return rc;
}

int job_read_predicates(const struct job_input *in, const struct kg_yaml_node *exclude,
			const struct kg_yaml_node *only)
{
	struct names names = {0};
	int rc;

	if (!exclude && !only)
		return 0;
	rc = collect(in->job, &names);
	rc = rc < 0 ? job_no_memory(in->err) : read_both(in, &names, exclude, only);
	free(names.lsms.items);
	free(names.workloads.items);
	free(names.params.items);
	free(names.settings.items);
	free(names.sets.items);
	return rc;
}
