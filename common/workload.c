/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations: from YAML into struct kg_workload, checked so far that a run can only fail for
 * reasons of the run. */
#include "common/workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/workload_internal.h"

#define MAX_PARAMS    64
#define MAX_ARGUMENTS 256

struct raw_warmup {
	int64_t runs;
	uint64_t ns;
};

struct raw_workload {
	char *name;
	char *description;
	const struct kg_yaml_node *parameters;
	struct kg_texts requires;
	struct kg_texts helper;
	struct kg_texts command;
	struct kg_texts version;
	bool pair, canary;
	const struct kg_yaml_node *arguments;
	const struct kg_yaml_node *environment;
	struct raw_warmup warmup;
	char *duration;
	uint64_t timeout_ns;
	const struct kg_yaml_node *metrics;
};

static const struct kg_field warmup_fields[] = {
	{.key = "runs",
	 .type = KG_FIELD_INT,
	 .offset = offsetof(struct raw_warmup, runs),
	 .min = 0,
	 .max = 100,
	 .help = "Runs before the first one that counts"},
	{.key = "seconds",
	 .type = KG_FIELD_DURATION,
	 .offset = offsetof(struct raw_warmup, ns),
	 .min = 0,
	 .max = 3600,
	 .help = "Time to run before the first run that counts"},
	{0},
};

static const struct kg_field workload_fields[] = {
	{.key = "name",
	 .type = KG_FIELD_NAME,
	 .offset = offsetof(struct raw_workload, name),
	 .required = true,
	 .help = "Name by which a job file asks for the workload"},
	{.key = "description",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct raw_workload, description),
	 .help = "One line for people"},
	{.key = "parameters",
	 .type = KG_FIELD_NODE,
	 .offset = offsetof(struct raw_workload, parameters),
	 .help = "Mapping of a parameter's name to its type, range and default"},
	{.key = "requires",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct raw_workload, requires),
	 .help = "Programs that must be found on the machine"},
	{.key = "helper",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct raw_workload, helper),
	 .help = "Command that runs beside each run and is ended after it"},
	{.key = "command",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct raw_workload, command),
	 .required = true,
	 .help = "Argument vector of the program; {name} is replaced"},
	{.key = "version",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct raw_workload, version),
	 .help = "Command whose first line of output is the version of the program"},
	{.key = "pair",
	 .type = KG_FIELD_BOOL,
	 .offset = offsetof(struct raw_workload, pair),
	 .preset = "false",
	 .help = "Whether the helper may run on another machine than the command"},
	{.key = "canary",
	 .type = KG_FIELD_BOOL,
	 .offset = offsetof(struct raw_workload, canary),
	 .preset = "false",
	 .help = "Whether it does not depend on the kernel, so that it shows drift of the machine"},
	{.key = "arguments",
	 .type = KG_FIELD_NODE,
	 .offset = offsetof(struct raw_workload, arguments),
	 .help = "List of {when, add}: arguments appended when the condition holds"},
	{.key = "environment",
	 .type = KG_FIELD_NODE,
	 .offset = offsetof(struct raw_workload, environment),
	 .help = "Mapping of environment variables to values"},
	{.key = "warm-up",
	 .type = KG_FIELD_MAP,
	 .offset = offsetof(struct raw_workload, warmup),
	 .sub = warmup_fields,
	 .help = "What runs before the first run that counts"},
	{.key = "duration",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct raw_workload, duration),
	 .help = "Expected time of one iteration, for estimates"},
	{.key = "timeout",
	 .type = KG_FIELD_DURATION,
	 .offset = offsetof(struct raw_workload, timeout_ns),
	 .min = 1,
	 .max = 86400,
	 .preset = "60s",
	 .help = "Time over the expected one after which an iteration is ended"},
	{.key = "metrics",
	 .type = KG_FIELD_NODE,
	 .offset = offsetof(struct raw_workload, metrics),
	 .required = true,
	 .help = "List of the numbers that a run gives"},
	{0},
};

struct raw_param {
	int type;
	char *min, *max, *preset, *unit, *help;
	struct kg_texts choices;
	bool required;
};

static const char *const param_types[] = {"int", "bytes", "choice", "text", NULL};

static const struct kg_field param_fields[] = {
	{.key = "type",
	 .type = KG_FIELD_CHOICE,
	 .offset = offsetof(struct raw_param, type),
	 .required = true,
	 .choices = param_types,
	 .help = "What kind of value it takes"},
	{.key = "min",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct raw_param, min),
	 .help = "Smallest value (int, bytes)"},
	{.key = "max",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct raw_param, max),
	 .help = "Largest value (int, bytes)"},
	{.key = "choices",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct raw_param, choices),
	 .help = "Values of a choice"},
	{.key = "default",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct raw_param, preset),
	 .help = "Value where the job gives none"},
	{.key = "required",
	 .type = KG_FIELD_BOOL,
	 .offset = offsetof(struct raw_param, required),
	 .help = "Whether the job must give a value"},
	{.key = "unit",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct raw_param, unit),
	 .help = "Unit, for people"},
	{.key = "help",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct raw_param, help),
	 .help = "One line for people"},
	{0},
};

struct raw_arguments {
	const struct kg_yaml_node *when;
	struct kg_texts add;
};

static const struct kg_field arguments_fields[] = {
	{.key = "when",
	 .type = KG_FIELD_NODE,
	 .offset = offsetof(struct raw_arguments, when),
	 .help = "Mapping of parameters to the values for which the arguments are added"},
	{.key = "add",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct raw_arguments, add),
	 .required = true,
	 .help = "Arguments to append"},
	{0},
};

int kg_loader_no_memory(const struct kg_loader *l)
{
	return kg_err_set(l->err, -ENOMEM, "out of memory");
}

char *kg_loader_take(char **text)
{
	char *p = *text;

	*text = NULL;
	return p;
}

static struct kg_texts take_texts(struct kg_texts *t)
{
	struct kg_texts p = *t;

	memset(t, 0, sizeof(*t));
	return p;
}

static int bad_param(const struct kg_loader *l, const struct kg_yaml_node *n, const char *key,
		     const char *name, const char *why)
{
	const struct kg_yaml_node *at = kg_yaml_get(n, key);

	return kg_yaml_error(l->doc, at ? at : n, l->err, "parameter '%s': %s", name, why);
}

static int param_range(const struct kg_loader *l, const struct kg_yaml_node *n,
		       const struct raw_param *raw, struct kg_param_decl *d)
{
	bool number = d->type == KG_PARAM_INT || d->type == KG_PARAM_BYTES;

	d->min = d->type == KG_PARAM_BYTES ? 0 : INT64_MIN;
	d->max = INT64_MAX;
	if (!number && (raw->min || raw->max))
		return bad_param(l, n, raw->min ? "min" : "max", d->name,
				 "only int and bytes have a range");
	if (raw->min && kg_workload_number(d->type, raw->min, &d->min) < 0)
		return bad_param(l, n, "min", d->name, "'min' is not a number of this type");
	if (raw->max && kg_workload_number(d->type, raw->max, &d->max) < 0)
		return bad_param(l, n, "max", d->name, "'max' is not a number of this type");
	if (d->min > d->max)
		return bad_param(l, n, "min", d->name, "'min' is larger than 'max'");
	return 0;
}

static int param_choices(const struct kg_loader *l, const struct kg_yaml_node *n,
			 struct kg_param_decl *d)
{
	size_t i, j;

	if (d->type != KG_PARAM_CHOICE)
		return d->choices.n ? bad_param(l, n, "choices", d->name,
						"'choices' needs 'type: choice'")
				    : 0;
	if (d->choices.n == 0)
		return bad_param(l, n, "choices", d->name, "a choice needs 'choices: [...]'");
	if (d->choices.n > 256)
		return bad_param(l, n, "choices", d->name, "at most 256 choices");
	for (i = 0; i < d->choices.n; i++) {
		if (!kg_workload_text_ok(d->choices.items[i]))
			return bad_param(
				l, n, "choices", d->name,
				"a choice has 1 to 256 printable characters, not first '-'");
		for (j = 0; j < i; j++)
			if (strcmp(d->choices.items[i], d->choices.items[j]) == 0)
				return bad_param(l, n, "choices", d->name, "a choice stands twice");
	}
	return 0;
}

static int fill_param(const struct kg_loader *l, const struct kg_yaml_node *n,
		      struct raw_param *raw, struct kg_param_decl *d)
{
	struct kg_err why;
	char *preset;
	int rc;

	d->type = (enum kg_param_type)raw->type;
	d->required = raw->required;
	d->choices = take_texts(&raw->choices);
	d->unit = kg_loader_take(&raw->unit);
	d->help = kg_loader_take(&raw->help);
	rc = param_range(l, n, raw, d);
	if (rc == 0)
		rc = param_choices(l, n, d);
	if (rc < 0 || !raw->preset)
		return rc;
	if (d->required)
		return bad_param(l, n, "default", d->name, "a required parameter has no default");
	rc = kg_workload_normalise_decl(d, raw->preset, &preset, &why);
	if (rc == -ENOMEM)
		return kg_loader_no_memory(l);
	if (rc < 0)
		return kg_yaml_error(l->doc, kg_yaml_get(n, "default"), l->err, "default: %s",
				     why.text);
	d->preset = preset;
	return 0;
}

/* Declarations from before pairs may have a parameter 'host'; it then has its own value. */
static bool is_taken(const struct kg_workload *w, const char *name)
{
	return kg_workload_builtin(name) && (w->pair || strcmp(name, "host") != 0);
}

static int load_params(const struct kg_loader *l, const struct kg_yaml_node *map)
{
	struct kg_workload *w = l->w;
	size_t i;
	int rc;

	if (!map)
		return 0;
	if (map->kind != KG_YAML_MAP)
		return kg_yaml_error(l->doc, map, l->err,
				     "'parameters': expected a mapping of names to {type: ...}");
	if (map->n > MAX_PARAMS)
		return kg_yaml_error(l->doc, map, l->err, "at most %d parameters", MAX_PARAMS);
	w->params = calloc(map->n + 1, sizeof(*w->params));
	if (!w->params)
		return kg_loader_no_memory(l);
	for (i = 0; i < map->n; i++) {
		struct kg_param_decl *d = &w->params[i];
		struct raw_param raw = {0};

		if (!kg_name_valid(map->keys[i]->text) || is_taken(w, map->keys[i]->text))
			return kg_yaml_error(l->doc, map->keys[i], l->err,
					     "'%.64s' cannot be the name of a parameter",
					     map->keys[i]->text);
		d->name = strdup(map->keys[i]->text);
		if (!d->name)
			return kg_loader_no_memory(l);
		w->n_params++;
		rc = kg_yaml_read(l->doc, map->items[i], param_fields, &raw, l->err);
		if (rc == 0)
			rc = fill_param(l, map->items[i], &raw, d);
		kg_yaml_release(param_fields, &raw);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int unknown_param(const struct kg_loader *l, const struct kg_yaml_node *n, const char *name)
{
	const char *guess = kg_workload_suggest(l->w, name);

	return kg_yaml_error(l->doc, n, l->err, "'%.64s' is not a declared parameter%s%s%s", name,
			     guess ? "; did you mean '" : "", guess ? guess : "",
			     guess ? "'?" : "");
}

/* Values of a condition, as the parameter's values will look. */
static int condition_values(const struct kg_loader *l, const struct kg_yaml_node *n,
			    struct kg_condition *c)
{
	size_t count = n->kind == KG_YAML_SEQ ? n->n : 1;
	struct kg_err why;
	size_t i;
	int rc;

	if (n->kind == KG_YAML_MAP || count == 0)
		return kg_yaml_error(l->doc, n, l->err,
				     "'%s': expected a value or a list of values", c->param);
	c->values.items = calloc(count + 1, sizeof(char *));
	if (!c->values.items)
		return kg_loader_no_memory(l);
	for (i = 0; i < count; i++) {
		const struct kg_yaml_node *v = n->kind == KG_YAML_SEQ ? n->items[i] : n;

		if (v->kind != KG_YAML_SCALAR)
			return kg_yaml_error(l->doc, v, l->err, "'%s': expected a value", c->param);
		rc = kg_workload_normalise(l->w, c->param, v->text, &c->values.items[i], &why);
		if (rc == -ENOMEM)
			return kg_loader_no_memory(l);
		if (rc < 0)
			return kg_yaml_error(l->doc, v, l->err, "%s", why.text);
		c->values.n++;
	}
	return 0;
}

int kg_loader_conditions(const struct kg_loader *l, const struct kg_yaml_node *map,
			 struct kg_conditions *out)
{
	size_t i;
	int rc;

	if (!map)
		return 0;
	if (map->kind != KG_YAML_MAP)
		return kg_yaml_error(l->doc, map, l->err,
				     "'when': expected a mapping of parameters to values");
	out->items = calloc(map->n + 1, sizeof(*out->items));
	if (!out->items)
		return kg_loader_no_memory(l);
	for (i = 0; i < map->n; i++) {
		if (!kg_workload_find_param(l->w, map->keys[i]->text))
			return unknown_param(l, map->keys[i], map->keys[i]->text);
		out->items[i].param = strdup(map->keys[i]->text);
		if (!out->items[i].param)
			return kg_loader_no_memory(l);
		out->n++;
		rc = condition_values(l, map->items[i], &out->items[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool conditions_name(const struct kg_conditions *when, const char *param)
{
	size_t i;

	for (i = 0; when && i < when->n; i++)
		if (strcmp(when->items[i].param, param) == 0)
			return true;
	return false;
}

/* Every {name} must have a value whenever the template is used. */
static int check_template(const struct kg_loader *l, const struct kg_yaml_node *n, const char *text,
			  const struct kg_conditions *when)
{
	const struct kg_param_decl *d;
	struct kg_placeholder ph;
	const char *p = text;
	int rc;

	while ((rc = kg_workload_placeholder(&p, &ph)) > 0) {
		d = kg_workload_find_param(l->w, ph.name);
		if (!d && kg_workload_builtin(ph.name) && l->w->helper.n > 0)
			continue;
		if (!d && kg_workload_builtin(ph.name))
			return kg_yaml_error(l->doc, n, l->err,
					     "'{%s}' is for workloads with a helper", ph.name);
		if (!d)
			return unknown_param(l, n, ph.name);
		if (!d->required && !d->preset && !conditions_name(when, ph.name))
			return kg_yaml_error(
				l->doc, n, l->err,
				"parameter '%s' may have no value here: give it a default, "
				"'required: true', or a 'when' that names it",
				ph.name);
	}
	if (rc < 0)
		return kg_yaml_error(
			l->doc, n, l->err,
			"bad '{' or '}' in '%.64s': write {name}, or {{ and }} for braces", text);
	return 0;
}

static int check_templates(const struct kg_loader *l, const struct kg_yaml_node *n,
			   const struct kg_texts *t, const struct kg_conditions *when)
{
	size_t i;
	int rc;

	for (i = 0; i < t->n; i++) {
		rc = check_template(l, n->kind == KG_YAML_SEQ ? n->items[i] : n, t->items[i], when);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int check_command(const struct kg_loader *l, const struct kg_yaml_node *root,
			 const char *key, const struct kg_texts *argv)
{
	const struct kg_yaml_node *n = kg_yaml_get(root, key);

	if (!n)
		return 0;
	if (argv->n == 0 || !argv->items[0][0])
		return kg_yaml_error(l->doc, n, l->err, "'%s': the program is missing", key);
	if (strpbrk(argv->items[0], "{}"))
		return kg_yaml_error(l->doc, n, l->err,
				     "'%s': the program itself cannot be a parameter", key);
	return check_templates(l, n, argv, NULL);
}

/* It is asked once, when no parameter has a value. */
static int check_version(const struct kg_loader *l, const struct kg_yaml_node *n,
			 const struct kg_texts *argv)
{
	size_t i;

	if (!n)
		return 0;
	if (argv->n == 0 || !argv->items[0][0])
		return kg_yaml_error(l->doc, n, l->err, "'version': the program is missing");
	for (i = 0; i < argv->n; i++)
		if (strpbrk(argv->items[i], "{}"))
			return kg_yaml_error(l->doc, n, l->err,
					     "'version': there are no parameters here, write the "
					     "words as they are");
	return 0;
}

static int load_arguments(const struct kg_loader *l, const struct kg_yaml_node *list)
{
	struct kg_workload *w = l->w;
	size_t i;
	int rc;

	if (!list)
		return 0;
	if (list->kind != KG_YAML_SEQ || list->n > MAX_ARGUMENTS)
		return kg_yaml_error(l->doc, list, l->err,
				     "'arguments': expected a list of at most %d {when, add}",
				     MAX_ARGUMENTS);
	w->arguments = calloc(list->n + 1, sizeof(*w->arguments));
	if (!w->arguments)
		return kg_loader_no_memory(l);
	for (i = 0; i < list->n; i++) {
		struct kg_arguments *a = &w->arguments[i];
		struct raw_arguments raw = {0};

		rc = kg_yaml_read(l->doc, list->items[i], arguments_fields, &raw, l->err);
		if (rc < 0)
			return rc;
		a->add = take_texts(&raw.add);
		w->n_arguments++;
		rc = kg_loader_conditions(l, raw.when, &a->when);
		if (rc == 0)
			rc = check_templates(l, kg_yaml_get(list->items[i], "add"), &a->add,
					     &a->when);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool names_host(const struct kg_texts *t)
{
	struct kg_placeholder ph;
	const char *p;
	size_t i;

	for (i = 0; i < t->n; i++)
		for (p = t->items[i]; kg_workload_placeholder(&p, &ph) > 0;)
			if (strcmp(ph.name, "host") == 0)
				return true;
	return false;
}

/* A client that does not know where its server is would speak to itself. */
static int check_pair(const struct kg_loader *l, const struct kg_yaml_node *root)
{
	const struct kg_workload *w = l->w;
	bool found = names_host(&w->command);
	size_t i;

	for (i = 0; i < w->n_arguments && !found; i++)
		found = names_host(&w->arguments[i].add);
	if (!w->pair || found)
		return 0;
	return kg_yaml_error(
		l->doc, kg_yaml_get(root, "pair"), l->err,
		"'pair': nothing in 'command' names {host}, the address of the helper");
}

static bool variable_name_valid(const char *s)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

	return s[0] && !(s[0] >= '0' && s[0] <= '9') && s[strspn(s, letters)] == '\0';
}

static int load_environment(const struct kg_loader *l, const struct kg_yaml_node *map)
{
	struct kg_texts *env = &l->w->environment;
	size_t i;

	if (!map)
		return 0;
	if (map->kind != KG_YAML_MAP)
		return kg_yaml_error(l->doc, map, l->err,
				     "'environment': expected a mapping of names to values");
	env->items = calloc(map->n + 1, sizeof(char *));
	if (!env->items)
		return kg_loader_no_memory(l);
	for (i = 0; i < map->n; i++) {
		if (!variable_name_valid(map->keys[i]->text))
			return kg_yaml_error(l->doc, map->keys[i], l->err,
					     "'%.64s' is not the name of an environment variable",
					     map->keys[i]->text);
		if (map->items[i]->kind != KG_YAML_SCALAR)
			return kg_yaml_error(l->doc, map->items[i], l->err, "'%s': expected text",
					     map->keys[i]->text);
		if (asprintf(&env->items[i], "%s=%s", map->keys[i]->text, map->items[i]->text) <
		    0) {
			env->items[i] = NULL;
			return kg_loader_no_memory(l);
		}
		env->n++;
	}
	return 0;
}

static int check_duration(const struct kg_loader *l, const struct kg_yaml_node *root)
{
	const struct kg_yaml_node *n = kg_yaml_get(root, "duration");
	uint64_t ns;
	int rc;

	if (!n)
		return 0;
	rc = check_template(l, n, l->w->duration, NULL);
	if (rc < 0)
		return rc;
	if (!strpbrk(l->w->duration, "{}") && kg_parse_duration(l->w->duration, &ns) < 0)
		return kg_yaml_error(l->doc, n, l->err,
				     "'duration': expected a time such as 10s or \"{seconds}\"");
	return 0;
}

static int load(const struct kg_loader *l, struct raw_workload *raw)
{
	const struct kg_yaml_node *root = l->doc->root;
	struct kg_workload *w = l->w;
	int rc;

	w->name = kg_loader_take(&raw->name);
	w->description = kg_loader_take(&raw->description);
	w->duration = kg_loader_take(&raw->duration);
	w->requires = take_texts(&raw->requires);
	w->helper = take_texts(&raw->helper);
	w->command = take_texts(&raw->command);
	w->version = take_texts(&raw->version);
	w->pair = raw->pair;
	w->canary = raw->canary;
	if (w->pair && w->helper.n == 0)
		return kg_yaml_error(
			l->doc, kg_yaml_get(root, "pair"), l->err,
			"'pair': there is no 'helper' that could run on another machine");
	w->warmup_runs = (uint32_t)raw->warmup.runs;
	w->warmup_ns = raw->warmup.ns;
	w->timeout_ns = raw->timeout_ns;
	if (w->warmup_runs && w->warmup_ns)
		return kg_yaml_error(l->doc, kg_yaml_get(root, "warm-up"), l->err,
				     "'warm-up': expected either runs or seconds, not both");
	rc = load_params(l, raw->parameters);
	if (rc == 0)
		rc = check_command(l, root, "command", &w->command);
	if (rc == 0)
		rc = check_command(l, root, "helper", &w->helper);
	if (rc == 0)
		rc = check_version(l, kg_yaml_get(root, "version"), &w->version);
	if (rc == 0)
		rc = load_arguments(l, raw->arguments);
	if (rc == 0)
		rc = check_pair(l, root);
	if (rc == 0)
		rc = load_environment(l, raw->environment);
	if (rc == 0)
		rc = check_duration(l, root);
	if (rc == 0)
		rc = kg_loader_metrics(l, raw->metrics);
	return rc;
}

int kg_workload_parse(const char *file_name, const char *text, size_t len,
		      struct kg_workload **ret_w, struct kg_err *err)
{
	struct raw_workload raw = {0};
	struct kg_loader l = {.err = err};
	struct kg_yaml_doc *doc;
	int rc;

	rc = kg_yaml_parse(file_name, text, len, &doc, err);
	if (rc < 0)
		return rc;
	l.doc = doc;
	l.w = calloc(1, sizeof(*l.w));
	if (!l.w) {
		rc = kg_loader_no_memory(&l);
		goto free_doc;
	}
	rc = kg_yaml_read(doc, doc->root, workload_fields, &raw, err);
	if (rc == 0)
		rc = load(&l, &raw);
	kg_yaml_release(workload_fields, &raw);
	if (rc == 0)
		*ret_w = l.w;
	else
		kg_workload_free(l.w);

free_doc:
	kg_yaml_free(doc);
	return rc;
}

static void conditions_deinit(struct kg_conditions *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		free(c->items[i].param);
		kg_texts_deinit(&c->items[i].values);
	}
	free(c->items);
}

void kg_workload_free(struct kg_workload *w)
{
	size_t i;

	if (!w)
		return;
	for (i = 0; i < w->n_params; i++) {
		free(w->params[i].name);
		free(w->params[i].preset);
		free(w->params[i].unit);
		free(w->params[i].help);
		kg_texts_deinit(&w->params[i].choices);
	}
	for (i = 0; i < w->n_arguments; i++) {
		conditions_deinit(&w->arguments[i].when);
		kg_texts_deinit(&w->arguments[i].add);
	}
	for (i = 0; i < w->n_metrics; i++) {
		free(w->metrics[i].name);
		free(w->metrics[i].unit);
		free(w->metrics[i].pattern);
		conditions_deinit(&w->metrics[i].when);
	}
	free(w->params);
	free(w->arguments);
	free(w->metrics);
	kg_texts_deinit(&w->requires);
	kg_texts_deinit(&w->helper);
	kg_texts_deinit(&w->version);
	kg_texts_deinit(&w->command);
	kg_texts_deinit(&w->environment);
	free(w->duration);
	free(w->description);
	free(w->name);
	free(w);
}
