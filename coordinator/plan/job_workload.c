/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `workloads:` with their parameters, `parameters:` (named sets), `defaults:`, `matrix:`, `role:` and
 * `canary:`. */
#include "coordinator/plan/job_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SETS_DEPTH 8 /* sets that use each other */

/* ---- parameters ---- */

static int read_values(const struct job_input *in, const struct kg_yaml_node *n, const char *of,
		       struct job_param *p)
{
	bool list = n->kind == KG_YAML_SEQ;
	size_t count = list ? n->n : 1;
	size_t i;
	int rc;

	if (n->kind == KG_YAML_MAP || job_is_null(n) || count == 0)
		return kg_yaml_error(in->doc, n, in->err,
				     "%s: '%s': expected a value, or a list of values to try", of,
				     p->name);
	for (i = 0; i < count; i++) {
		const struct kg_yaml_node *item = list ? n->items[i] : n;

		if (item->kind != KG_YAML_SCALAR || job_is_null(item))
			return kg_yaml_error(in->doc, item, in->err,
					     "%s: '%s': expected single values in the list", of,
					     p->name);
		rc = job_texts_add(in, &p->values, item);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int job_read_param(const struct job_input *in, const struct kg_yaml_node *key,
		   const struct kg_yaml_node *value, const char *of, struct job_param *ret)
{
	ret->at = job_place_of(in, key);
	ret->name = strdup(key->text);
	if (!ret->name)
		return job_no_memory(in->err);
	return read_values(in, value, of, ret);
}

struct params {
	struct job_param *items;
	size_t n;
};

static bool has_param(const struct params *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (strcmp(p->items[i].name, name) == 0)
			return true;
	return false;
}

static struct job_param *new_param(struct params *p)
{
	struct job_param *items = realloc(p->items, (p->n + 1) * sizeof(*items));

	if (!items)
		return NULL;
	p->items = items;
	memset(&items[p->n], 0, sizeof(*items));
	return &items[p->n++];
}

static bool reserved(const char *key)
{
	return strcmp(key, "use") == 0 || strcmp(key, "role") == 0 || strcmp(key, "matrix") == 0;
}

/* The parameters of one mapping that are not there yet; `matrix` in it is only a heading. */
static int add_params(const struct job_input *in, const struct kg_yaml_node *map, const char *of,
		      struct params *p)
{
	const struct kg_yaml_node *matrix = kg_yaml_get(map, "matrix");
	size_t i;
	int rc = 0;

	for (i = 0; i < map->n && rc == 0; i++) {
		struct job_param *x;

		if (reserved(map->keys[i]->text) || has_param(p, map->keys[i]->text))
			continue;
		x = new_param(p);
		rc = x ? job_read_param(in, map->keys[i], map->items[i], of, x)
		       : job_no_memory(in->err);
	}
	if (rc < 0 || !matrix)
		return rc;
	if (matrix->kind != KG_YAML_MAP)
		return kg_yaml_error(in->doc, matrix, in->err,
				     "%s: 'matrix': expected parameters with lists of values", of);
	for (i = 0; i < matrix->n && rc == 0; i++) {
		struct job_param *x;

		if (reserved(matrix->keys[i]->text) || has_param(p, matrix->keys[i]->text))
			return kg_yaml_error(in->doc, matrix->keys[i], in->err,
					     "%s: 'matrix': '%s' is given already", of,
					     matrix->keys[i]->text);
		x = new_param(p);
		rc = x ? job_read_param(in, matrix->keys[i], matrix->items[i], of, x)
		       : job_no_memory(in->err);
	}
	return rc;
}

/* ---- named sets ---- */

enum set_state { SET_NEW, SET_OPEN, SET_DONE };

struct sets {
	const struct kg_yaml_node *map;	    /* the key `parameters`; NULL: none */
	enum set_state state[JOB_MAX_KEYS]; /* of each, while one is put together */
	size_t work;			    /* count_work */
};

static int find_set(const struct job_input *in, const struct sets *s,
		    const struct kg_yaml_node *use, size_t *ret_index)
{
	size_t i;

	if (use->kind != KG_YAML_SCALAR || job_is_null(use))
		return kg_yaml_error(in->doc, use, in->err,
				     "'use': expected the name of a set of 'parameters'");
	for (i = 0; s->map && i < s->map->n; i++)
		if (strcmp(s->map->keys[i]->text, use->text) == 0) {
			*ret_index = i;
			return 0;
		}
	if (!s->map || s->map->n == 0)
		return kg_yaml_error(in->doc, use, in->err,
				     "'use': there is no set '%.64s': the file has no 'parameters'",
				     use->text);
	{
		const char **names = calloc(s->map->n, sizeof(*names));
		int rc;

		if (!names)
			return job_no_memory(in->err);
		for (i = 0; i < s->map->n; i++)
			names[i] = s->map->keys[i]->text;
		rc = job_unknown(in, use, "'use': there is no set", names, s->map->n);
		free(names);
		return rc;
	}
}

/* Counts what `use` copies and looks at, so that sets of sets cannot grow without end. */
static int count_work(const struct job_input *in, struct sets *s, const struct kg_yaml_node *use,
		      size_t n)
{
	s->work += n;
	if (s->work <= JOB_MAX_SET_VALUES)
		return 0;
	return kg_yaml_error(in->doc, use, in->err,
			     "'use': with '%.64s' the job takes more than %d parameters and values "
			     "from sets",
			     use->text, JOB_MAX_SET_VALUES);
}

static size_t n_values(const struct params *p, size_t from)
{
	size_t n = 0;

	for (; from < p->n; from++)
		n += p->items[from].values.n;
	return n;
}

/* A set's own parameters win over those of the sets that it uses, the first of these over later
 * ones. A set that is there already adds nothing. */
static int add_set(const struct job_input *in, struct sets *s, const struct kg_yaml_node *use,
		   unsigned depth, struct params *p)
{
	const struct kg_yaml_node *set, *more;
	size_t i, at = 0, before = p->n;
	int rc = find_set(in, s, use, &at);

	if (rc == 0)
		rc = count_work(in, s, use, 1);
	if (rc < 0 || s->state[at] == SET_DONE)
		return rc;
	if (s->state[at] == SET_OPEN)
		return kg_yaml_error(in->doc, use, in->err, "'parameters': '%.64s' uses itself",
				     use->text);
	if (depth > SETS_DEPTH)
		return kg_yaml_error(in->doc, use, in->err,
				     "'parameters': '%.64s': sets use each other more than %d deep",
				     use->text, SETS_DEPTH);
	s->state[at] = SET_OPEN;
	set = s->map->items[at];
	rc = add_params(in, set, use->text, p);
	if (rc == 0)
		rc = count_work(in, s, use, set->n + n_values(p, before));
	if (rc == 0 && p->n > JOB_MAX_KEYS)
		rc = kg_yaml_error(in->doc, use, in->err,
				   "'use': more than %d parameters in one set", JOB_MAX_KEYS);
	more = kg_yaml_get(set, "use");
	if (rc == 0 && more && more->kind != KG_YAML_SEQ)
		rc = add_set(in, s, more, depth + 1, p);
	for (i = 0; rc == 0 && more && more->kind == KG_YAML_SEQ && i < more->n; i++)
		rc = add_set(in, s, more->items[i], depth + 1, p);
	s->state[at] = SET_DONE;
	return rc;
}

static int whole_set(const struct job_input *in, struct sets *s, const struct kg_yaml_node *use,
		     struct params *p)
{
	memset(s->state, 0, sizeof(s->state));
	return add_set(in, s, use, 0, p);
}

static int check_sets(const struct job_input *in, struct sets *s)
{
	size_t i;

	if (!s->map)
		return 0;
	if (s->map->kind != KG_YAML_MAP)
		return kg_yaml_error(in->doc, s->map, in->err,
				     "'parameters': expected names with parameters, 'quick: {size: "
				     "64}'");
	for (i = 0; i < s->map->n; i++) {
		const struct kg_yaml_node *key = s->map->keys[i], *set = s->map->items[i];
		struct params p = {0};
		struct kg_yaml_node use = *key;
		size_t k;
		int rc;

		if (!kg_name_valid(key->text))
			return kg_yaml_error(
				in->doc, key, in->err,
				"'parameters': '%.64s' is not a name: 1 to 63 letters, "
				"digits and ._+- (not first . or -)",
				key->text);
		if (set->kind != KG_YAML_MAP || set->n == 0)
			return kg_yaml_error(in->doc, set, in->err,
					     "'parameters': '%s': expected parameters, '%s: {size: "
					     "64}'",
					     key->text, key->text);
		if (kg_yaml_get(set, "role"))
			return kg_yaml_error(in->doc, kg_yaml_get(set, "role"), in->err,
					     "'parameters': '%s': a role belongs to the workload",
					     key->text);
		rc = whole_set(in, s, &use, &p); /* also one that nobody uses has to be right */
		for (k = 0; k < p.n; k++)
			job_param_deinit(&p.items[k]);
		free(p.items);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_uses(const struct job_input *in, struct sets *s, const struct kg_yaml_node *n,
		     struct job_workload *w)
{
	bool list = n->kind == KG_YAML_SEQ;
	size_t count = list ? n->n : 1;
	size_t i, k;

	if (n->kind == KG_YAML_MAP || count == 0)
		return kg_yaml_error(in->doc, n, in->err,
				     "%s: 'use': expected the name of a set, or a list of names to "
				     "try",
				     w->name);
	if (job_check_count(in, n, "use") < 0)
		return KG_EINVALID;
	w->sets = calloc(count, sizeof(*w->sets));
	if (!w->sets)
		return job_no_memory(in->err);
	for (i = 0; i < count; i++) {
		const struct kg_yaml_node *use = list ? n->items[i] : n;
		struct job_set *x = &w->sets[i];
		struct params p = {0};
		int rc = whole_set(in, s, use, &p);

		w->n_sets = i + 1;
		x->params = p.items;
		x->n_params = p.n;
		if (rc < 0)
			return rc;
		x->at = job_place_of(in, use);
		x->name = strdup(use->text);
		if (!x->name)
			return job_no_memory(in->err);
		for (k = 0; k < i; k++)
			if (strcmp(w->sets[k].name, x->name) == 0)
				return kg_yaml_error(in->doc, use, in->err,
						     "%s: 'use': '%s' is there already", w->name,
						     x->name);
	}
	return 0;
}

/* ---- roles ---- */

struct raw_role {
	const struct kg_yaml_node *client, *server;
};

const struct kg_field job_role_fields[] = {
	{.key = "client",
	 .type = KG_FIELD_NODE,
	 .offset = offsetof(struct raw_role, client),
	 .required = true,
	 .help = "the machines that are measured: a name, a list of names or a predicate"},
	{.key = "server",
	 .type = KG_FIELD_NODE,
	 .offset = offsetof(struct raw_role, server),
	 .required = true,
	 .help = "the machines of the other side, in the same form"},
	{.key = NULL},
};

static int read_role(const struct job_input *in, const struct kg_yaml_node *n,
		     struct job_workload *w)
{
	struct raw_role raw = {0};
	int rc;

	if (n->kind != KG_YAML_MAP)
		return kg_yaml_error(in->doc, n, in->err,
				     "'role': expected {client: machines, server: machines}");
	rc = kg_yaml_read(in->doc, n, job_role_fields, &raw, in->err);
	if (rc < 0)
		return rc;
	w->role = calloc(1, sizeof(*w->role));
	if (!w->role)
		return job_no_memory(in->err);
	w->role->at = job_place_of(in, n);
	rc = job_read_machines(in, raw.client, "role.client", &w->role->client);
	return rc < 0 ? rc : job_read_machines(in, raw.server, "role.server", &w->role->server);
}

/* ---- workloads ---- */

static int read_params(const struct job_input *in, const struct kg_yaml_node *n, struct sets *sets,
		       struct job_workload *w)
{
	struct params p = {0};
	const struct kg_yaml_node *x;
	int rc;

	if (job_is_null(n))
		return 0;
	if (n->kind != KG_YAML_MAP)
		return kg_yaml_error(in->doc, n, in->err,
				     "%s: expected parameters, '- %s: {name: value}'", w->name,
				     w->name);
	rc = add_params(in, n, w->name, &p);
	w->params = p.items;
	w->n_params = p.n;
	x = kg_yaml_get(n, "use");
	if (rc == 0 && x)
		rc = sets ? read_uses(in, sets, x, w)
			  : kg_yaml_error(in->doc, x, in->err, "'canary': a canary uses no set");
	x = kg_yaml_get(n, "role");
	if (rc == 0 && x)
		rc = sets ? read_role(in, x, w)
			  : kg_yaml_error(in->doc, x, in->err, "'canary': a canary has no role");
	return rc;
}

/* `sets` NULL: the canary. */
static int read_workload(const struct job_input *in, const struct kg_yaml_node *n,
			 struct sets *sets, struct job_workload *w)
{
	const struct kg_yaml_node *key = n;

	if (!sets && (n->kind == KG_YAML_SEQ || job_is_null(n) || n->n > 1))
		return kg_yaml_error(in->doc, n, in->err,
				     "'canary': expected auto, none, or one workload such as "
				     "'perf-bench: {test: mem-memcpy}'");

	if (n->kind == KG_YAML_MAP && n->n > 1)
		return kg_yaml_error(
			in->doc, n->keys[1], in->err,
			"workloads: expected one name per item; begin '%s' with a '-' of "
			"its own, or indent it below '%s' if it is a parameter",
			n->keys[1]->text, n->keys[0]->text);
	if (n->kind == KG_YAML_MAP && n->n == 1)
		key = n->keys[0];
	if (key->kind != KG_YAML_SCALAR || job_is_null(key) || !kg_name_valid(key->text))
		return kg_yaml_error(in->doc, n, in->err, "%s",
				     sets ? "workloads: expected '- name: {parameters}' or '- name'"
					  : "'canary': expected auto, none, or 'name: "
					    "{parameters}'");
	w->at = job_place_of(in, key);
	w->name = strdup(key->text);
	if (!w->name)
		return job_no_memory(in->err);
	return key == n ? 0 : read_params(in, n->items[0], sets, w);
}

int job_read_plain_workload(const struct job_input *in, const struct kg_yaml_node *n,
			    struct job_workload *w)
{
	return read_workload(in, n, NULL, w);
}

int job_read_workloads(const struct job_input *in, const struct kg_yaml_node *n,
		       const struct kg_yaml_node *parameters, const struct kg_yaml_node *role)
{
	struct job_spec *j = in->job;
	struct sets sets = {.map = parameters};
	size_t i;
	int rc = check_sets(in, &sets);

	if (rc < 0)
		return rc;
	if (n->kind != KG_YAML_SEQ)
		return kg_yaml_error(in->doc, n, in->err,
				     "'workloads': expected a list, '- hackbench: {groups: 4}'");
	if (n->n == 0)
		return kg_yaml_error(in->doc, n, in->err, "'workloads': the list is empty");
	if (job_check_count(in, n, "workloads") < 0)
		return KG_EINVALID;
	j->workloads = calloc(n->n, sizeof(*j->workloads));
	if (!j->workloads)
		return job_no_memory(in->err);
	for (i = 0; i < n->n; i++) {
		j->n_workloads = i + 1;
		rc = read_workload(in, n->items[i], &sets, &j->workloads[i]);
		if (rc == 0 && role && !j->workloads[i].role)
			rc = read_role(in, role, &j->workloads[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* As the switches of a job file are read. */
static bool is_no(const char *text)
{
	return strcmp(text, "false") == 0 || strcmp(text, "no") == 0 || strcmp(text, "off") == 0;
}

int job_read_canary(const struct job_input *in, const struct kg_yaml_node *n)
{
	struct job_spec *j = in->job;

	j->canary_mode = JOB_CANARY_AUTO;
	if (!n || (n->kind == KG_YAML_SCALAR && strcmp(n->text, "auto") == 0))
		return 0;
	if (n->kind == KG_YAML_SCALAR &&
	    (strcmp(n->text, "none") == 0 || (!n->quoted && is_no(n->text)))) {
		j->canary_mode = JOB_CANARY_NONE;
		return 0;
	}
	j->canary_mode = JOB_CANARY_GIVEN;
	j->canary = calloc(1, sizeof(*j->canary));
	if (!j->canary)
		return job_no_memory(in->err);
	return job_read_plain_workload(in, n, j->canary);
}
