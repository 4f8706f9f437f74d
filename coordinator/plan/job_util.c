/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the readers of a job file share, and freeing a job. */
#include "coordinator/plan/job_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int job_spec_error(const struct job_spec *j, struct job_place at, int code, struct kg_err *err,
		   const char *fmt, ...)
{
	char text[KG_ERR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return kg_err_set(err, code, "%s:%u:%u: %s", at.file ? at.file : j->file_name, at.line,
			  at.column, text);
}

struct job_place job_place_of(const struct job_input *in, const struct kg_yaml_node *node)
{
	struct job_place at = {.line = node->line, .column = node->column};
	size_t i;

	/* the documents go, the job stays */
	for (i = 0; node->file && i < in->job->n_file_names; i++)
		if (strcmp(in->job->file_names[i], node->file) == 0)
			at.file = in->job->file_names[i];
	return at;
}

const char *job_line(const struct job_place *at, char *buf, size_t size)
{
	if (at->file)
		(void)snprintf(buf, size, "line %u of '%.160s'", at->line, at->file);
	else
		(void)snprintf(buf, size, "line %u", at->line);
	return buf;
}

int job_no_memory(struct kg_err *err)
{
	return kg_err_set(err, -ENOMEM, "out of memory");
}

bool job_is_null(const struct kg_yaml_node *n)
{
	return n->kind == KG_YAML_SCALAR && !n->quoted &&
	       (!n->text[0] || strcmp(n->text, "~") == 0 || strcmp(n->text, "null") == 0);
}

int job_texts_add(const struct job_input *in, struct job_texts *t, const struct kg_yaml_node *n)
{
	/* full whenever the number is a power of two: then it doubles */
	if ((t->n & (t->n - 1)) == 0) {
		struct job_text *items = realloc(t->items, (t->n ? 2 * t->n : 1) * sizeof(*items));

		if (!items)
			return job_no_memory(in->err);
		t->items = items;
	}
	t->items[t->n].at = job_place_of(in, n);
	t->items[t->n].text = strdup(n->text);
	if (!t->items[t->n].text)
		return job_no_memory(in->err);
	t->n++;
	return 0;
}

int job_read_texts(const struct job_input *in, const struct kg_yaml_node *n, const char *what,
		   struct job_texts *ret)
{
	bool list = n->kind == KG_YAML_SEQ;
	size_t count = list ? n->n : 1;
	size_t i;

	if (n->kind == KG_YAML_MAP || job_is_null(n))
		return kg_yaml_error(in->doc, n, in->err, "'%s': expected a list", what);
	if (count == 0)
		return kg_yaml_error(in->doc, n, in->err, "'%s': the list is empty", what);
	for (i = 0; i < count; i++) {
		const struct kg_yaml_node *item = list ? n->items[i] : n;
		int rc;

		if (item->kind != KG_YAML_SCALAR || job_is_null(item) || !item->text[0])
			return kg_yaml_error(in->doc, item, in->err,
					     "'%s': expected a single value in the list", what);
		rc = job_texts_add(in, ret, item);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int job_check_names(const struct job_input *in, const struct job_texts *t, const char *what,
		    const char *expected)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (!kg_name_valid(t->items[i].text))
			return job_spec_error(in->job, t->items[i].at, KG_EINVALID, in->err,
					      "'%s': expected %s, not '%.64s'", what, expected,
					      t->items[i].text);
	return 0;
}

/* By text, equal ones in the order of the file. */
static int by_text(const void *a, const void *b)
{
	const struct job_text *const *x = a, *const *y = b;
	int c = strcmp((*x)->text, (*y)->text);

	return c ? c : *x < *y ? -1 : *x > *y;
}

int job_check_unique(const struct job_input *in, const struct job_texts *t, const char *what)
{
	const struct job_text **sorted, *first = NULL, *second = NULL;
	char line[JOB_LINE_MAX];
	size_t i;

	if (t->n < 2)
		return 0;
	sorted = calloc(t->n, sizeof(*sorted));
	if (!sorted)
		return job_no_memory(in->err);
	for (i = 0; i < t->n; i++)
		sorted[i] = &t->items[i];
	qsort(sorted, t->n, sizeof(*sorted), by_text);
	for (i = 1; i < t->n; i++)
		if (strcmp(sorted[i - 1]->text, sorted[i]->text) == 0 &&
		    (!second || sorted[i] < second)) {
			first = sorted[i - 1];
			second = sorted[i];
		}
	free(sorted);
	if (!second)
		return 0;
	return job_spec_error(in->job, second->at, KG_EINVALID, in->err,
			      "%s '%.64s' is there already, in %s", what, second->text,
			      job_line(&first->at, line, sizeof(line)));
}

int job_check_count(const struct job_input *in, const struct kg_yaml_node *n, const char *what)
{
	if (n->kind == KG_YAML_SCALAR || n->n <= JOB_MAX_ITEMS)
		return 0;
	return kg_yaml_error(in->doc, n, in->err, "'%s': at most %d, not %zu", what, JOB_MAX_ITEMS,
			     n->n);
}

int job_unknown(const struct job_input *in, const struct kg_yaml_node *n, const char *what,
		const char *const *known, size_t n_known)
{
	const char *meant = kg_suggest(n->text, known, n_known);
	struct kg_str all = {0};
	size_t i;
	int rc;

	for (i = 0; i < n_known; i++)
		kg_str_addf(&all, "%s%s", i ? ", " : "", known[i]);
	rc = kg_yaml_error(in->doc, n, in->err, "%s '%.64s'%s%s%s", what, n->text,
			   meant ? ", did you mean '" : "; known are ",
			   meant ? meant : kg_str_text(&all), meant ? "'?" : "");
	kg_str_deinit(&all);
	return rc;
}

/* ---- freeing ---- */

void job_texts_deinit(struct job_texts *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->items[i].text);
	free(t->items);
	memset(t, 0, sizeof(*t));
}

void job_machines_deinit(struct job_machines *m)
{
	predicate_free(m->where);
	free(m->where_text);
	job_texts_deinit(&m->names);
	memset(m, 0, sizeof(*m));
}

void job_param_deinit(struct job_param *p)
{
	free(p->name);
	job_texts_deinit(&p->values);
	memset(p, 0, sizeof(*p));
}

static void params_free(struct job_param *params, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		job_param_deinit(&params[i]);
	free(params);
}

void job_workload_deinit(struct job_workload *w)
{
	size_t i;

	params_free(w->params, w->n_params);
	for (i = 0; i < w->n_sets; i++) {
		free(w->sets[i].name);
		params_free(w->sets[i].params, w->sets[i].n_params);
	}
	free(w->sets);
	if (w->role) {
		job_machines_deinit(&w->role->client);
		job_machines_deinit(&w->role->server);
	}
	free(w->role);
	free(w->name);
	memset(w, 0, sizeof(*w));
}

static void predicates_free(struct job_exclude *items, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(items[i].text);
		predicate_free(items[i].predicate);
	}
	free(items);
}

static void free_axes(struct job_spec *j)
{
	size_t i;

	for (i = 0; i < j->n_lsms; i++) {
		free(j->lsms[i].label);
		free(j->lsms[i].request);
		free(j->lsms[i].base);
		free(j->lsms[i].changes);
	}
	free(j->lsms);
	for (i = 0; i < j->n_variants; i++) {
		free(j->variants[i].label);
		free(j->variants[i].words);
	}
	free(j->variants);
	for (i = 0; i < j->n_settings; i++) {
		free(j->settings[i].name);
		job_texts_deinit(&j->settings[i].values);
	}
	free(j->settings);
	for (i = 0; i < j->n_defaults; i++) {
		free(j->defaults[i].workload);
		job_param_deinit(&j->defaults[i].param);
	}
	free(j->defaults);
}

void job_spec_free(struct job_spec *j)
{
	size_t i;

	if (!j)
		return;
	free_axes(j);
	for (i = 0; i < j->n_workloads; i++)
		job_workload_deinit(&j->workloads[i]);
	free(j->workloads);
	if (j->canary)
		job_workload_deinit(j->canary);
	free(j->canary);
	predicates_free(j->excludes, j->n_excludes);
	predicates_free(j->onlys, j->n_onlys);
	job_machines_deinit(&j->machines);
	job_texts_deinit(&j->kernels);
	job_texts_deinit(&j->after);
	for (i = 0; i < j->n_file_names; i++)
		free(j->file_names[i]);
	free(j->file_names);
	free(j->file_name);
	free(j->name);
	free(j->cmdline);
	free(j->until);
	kg_texts_deinit(&j->monitors);
	kg_texts_deinit(&j->notify);
	kg_texts_deinit(&j->warnings);
	free(j);
}
