/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `defaults:` and `matrix:`: parameters for workloads that do not give them. */
#include "coordinator/plan/job_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add(const struct job_input *in, const char *workload, const struct kg_yaml_node *key,
	       const struct kg_yaml_node *value, bool matrix)
{
	struct job_spec *j = in->job;
	struct job_default *d;

	if (strcmp(key->text, "use") == 0 || strcmp(key->text, "role") == 0 ||
	    strcmp(key->text, "matrix") == 0)
		return kg_yaml_error(in->doc, key, in->err,
				     "'%s': '%s' is no parameter; write it in the workload itself",
				     matrix ? "matrix" : "defaults", key->text);
	if (j->n_defaults == JOB_MAX_ITEMS)
		return kg_yaml_error(in->doc, key, in->err,
				     "more than %d parameters under 'defaults' and 'matrix'",
				     JOB_MAX_ITEMS);
	d = realloc(j->defaults, (j->n_defaults + 1) * sizeof(*d));
	if (!d)
		return job_no_memory(in->err);
	j->defaults = d;
	d = &d[j->n_defaults++];
	*d = (struct job_default){.matrix = matrix};
	if (workload) {
		d->workload = strdup(workload);
		if (!d->workload)
			return job_no_memory(in->err);
	}
	return job_read_param(in, key, value,
			      workload ? workload
			      : matrix ? "'matrix'"
				       : "'defaults'",
			      &d->param);
}

static bool is_workload(const struct job_spec *j, const char *name)
{
	size_t i;

	for (i = 0; i < j->n_workloads; i++)
		if (strcmp(j->workloads[i].name, name) == 0)
			return true;
	return j->canary && strcmp(j->canary->name, name) == 0;
}

/* An included file may have defaults for workloads that this job does not run; a name that is almost
 * one of the job's is a slip. */
static int check_name(const struct job_input *in, const struct kg_yaml_node *key)
{
	const struct job_spec *j = in->job;
	const char **names = calloc(j->n_workloads + 1, sizeof(*names));
	const char *meant;
	size_t i;
	int rc = 0;

	if (!names)
		return job_no_memory(in->err);
	for (i = 0; i < j->n_workloads; i++)
		names[i] = j->workloads[i].name;
	meant = is_workload(j, key->text) ? NULL : kg_suggest(key->text, names, j->n_workloads);
	if (meant)
		rc = kg_yaml_error(in->doc, key, in->err,
				   "'defaults': there is no workload '%.64s' in the job, did you "
				   "mean '%s'?",
				   key->text, meant);
	free(names);
	return rc;
}

static bool is_job_key(const struct kg_field *keys, const char *name)
{
	for (; keys->key; keys++)
		if (strcmp(keys->key, name) == 0)
			return true;
	return false;
}

static int read_workload(const struct job_input *in, const struct kg_yaml_node *key,
			 const struct kg_yaml_node *map)
{
	size_t i;
	int rc = check_name(in, key);

	for (i = 0; rc == 0 && i < map->n; i++)
		rc = add(in, key->text, map->keys[i], map->items[i], false);
	return rc;
}

/* `general`: those for every workload; else those of one, which come first. */
static int read_defaults(const struct job_input *in, const struct kg_yaml_node *n,
			 const struct kg_field *keys, bool general)
{
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < n->n; i++) {
		bool map = n->items[i]->kind == KG_YAML_MAP;

		if (is_job_key(keys, n->keys[i]->text) || map == general)
			continue;
		rc = map ? read_workload(in, n->keys[i], n->items[i])
			 : add(in, NULL, n->keys[i], n->items[i], false);
	}
	return rc;
}

static int read_matrix(const struct job_input *in, const struct kg_yaml_node *n)
{
	size_t i;
	int rc = 0;

	if (n->kind != KG_YAML_MAP)
		return kg_yaml_error(in->doc, n, in->err,
				     "'matrix': expected parameters with lists of values, {size: "
				     "[64, 1024]}");
	for (i = 0; rc == 0 && i < n->n; i++)
		if (strcmp(n->keys[i]->text, "cmdline") != 0 &&
		    strcmp(n->keys[i]->text, "settings") != 0)
			rc = add(in, NULL, n->keys[i], n->items[i], true);
	return rc;
}

int job_read_defaults(const struct job_input *in, const struct kg_yaml_node *defaults,
		      const struct kg_yaml_node *matrix, const struct kg_field *keys)
{
	int rc = 0;

	if (defaults && defaults->kind != KG_YAML_MAP)
		return kg_yaml_error(in->doc, defaults, in->err,
				     "'defaults': expected job keys, workloads with parameters, or "
				     "parameters, {seconds: 10, netperf: {size: 64}}");
	if (defaults)
		rc = read_defaults(in, defaults, keys, false);
	if (rc == 0 && matrix)
		rc = read_matrix(in, matrix);
	if (rc == 0 && defaults)
		rc = read_defaults(in, defaults, keys, true);
	return rc;
}
