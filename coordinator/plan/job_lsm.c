/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The `lsm:` part of a job file: labels and the lists behind them. */
#include "coordinator/plan/job_internal.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/lsm.h"
#include "coordinator/plan/warn.h"

/* {base: LABEL, without: NAMES, with: NAMES} */
struct derived {
	char *base;
	struct kg_texts without, with;
};

const struct kg_field job_lsm_fields[] = {
	{.key = "base",
	 .type = KG_FIELD_NAME,
	 .offset = offsetof(struct derived, base),
	 .required = true,
	 .help = "label of the list to start from"},
	{.key = "without",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct derived, without),
	 .help = "names to leave out, the order of the others is kept"},
	{.key = "with",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct derived, with),
	 .help = "names to add at the end"},
	{.key = NULL},
};

/* A list with its checks: the text of a scalar, or the joined items of a sequence. */
static int set_request(const struct job_input *in, const struct kg_yaml_node *n, struct job_lsm *l,
		       const char *text)
{
	struct kg_err why = {{0}};

	if (strcmp(text, JOB_LSM_DEFAULT) != 0 && lsm_check_list(text, &why) < 0)
		return kg_yaml_error(in->doc, n, in->err, "lsm '%s': %s", l->label, why.text);
	l->request = strdup(text);
	return l->request ? 0 : job_no_memory(in->err);
}

/* One item of a list. */
static int check_item(const struct job_input *in, const struct kg_yaml_node *n,
		      const struct job_lsm *l)
{
	struct kg_err why = {{0}};

	if (n->kind != KG_YAML_SCALAR || job_is_null(n) || !n->text[0] || strchr(n->text, ','))
		return kg_yaml_error(in->doc, n, in->err,
				     "lsm '%s': expected one name per item, as in [yama, bpf]",
				     l->label);
	if (lsm_check_list(n->text, &why) < 0)
		return kg_yaml_error(in->doc, n, in->err, "lsm '%s': %s", l->label, why.text);
	return 0;
}

static int read_sequence(const struct job_input *in, const struct kg_yaml_node *n,
			 struct job_lsm *l)
{
	struct kg_str text = {0};
	size_t i;
	int rc = 0;

	for (i = 0; i < n->n && rc == 0; i++) {
		rc = check_item(in, n->items[i], l);
		kg_str_addf(&text, "%s%s", i ? "," : "", rc == 0 ? n->items[i]->text : "");
	}
	if (rc == 0)
		rc = text.failed ? job_no_memory(in->err)
				 : set_request(in, n, l, kg_str_text(&text));
	kg_str_deinit(&text);
	return rc;
}

static struct job_lsm *find(const struct job_spec *j, const char *label)
{
	size_t i;

	for (i = 0; i < j->n_lsms; i++)
		if (strcmp(j->lsms[i].label, label) == 0)
			return &j->lsms[i];
	return NULL;
}

static bool has(const struct kg_texts *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (strcmp(t->items[i], name) == 0)
			return true;
	return false;
}

static int unknown_base(const struct job_input *in, const struct kg_yaml_node *n,
			const struct job_lsm *l, const char *base)
{
	const struct job_spec *j = in->job;
	const char **labels = calloc(j->n_lsms, sizeof(*labels));
	const char *meant;
	size_t i, n_labels = 0;

	if (!labels)
		return job_no_memory(in->err);
	for (i = 0; i < j->n_lsms; i++)
		if (&j->lsms[i] != l)
			labels[n_labels++] = j->lsms[i].label;
	meant = kg_suggest(base, labels, n_labels);
	free(labels);
	return kg_yaml_error(in->doc, kg_yaml_get(n, "base"), in->err,
			     "lsm '%s': there is no list '%s' to start from%s%s%s", l->label, base,
			     meant ? ", did you mean '" : "", meant ? meant : "",
			     meant ? "'?" : "");
}

/* The item of a list, or the single value, under a key. */
static const struct kg_yaml_node *item_of(const struct kg_yaml_node *map, const char *key, size_t i)
{
	const struct kg_yaml_node *n = kg_yaml_get(map, key);

	return n->kind == KG_YAML_SEQ ? n->items[i] : n;
}

/* Names that are to go must be there, names that come must not. */
static int check_changes(const struct job_input *in, const struct kg_yaml_node *n,
			 const struct job_lsm *l, const struct derived *d,
			 const struct kg_texts *base)
{
	size_t i;
	int rc;

	for (i = 0; i < d->without.n; i++) {
		const char *name = d->without.items[i];
		const char *meant = kg_suggest(name, (const char *const *)base->items, base->n);

		if (strchr(name, ','))
			return check_item(in, item_of(n, "without", i), l);
		if (!has(base, name))
			return kg_yaml_error(in->doc, item_of(n, "without", i), in->err,
					     "lsm '%s': '%s' is not in '%s'%s%s%s", l->label, name,
					     d->base, meant ? ", did you mean '" : "",
					     meant ? meant : "", meant ? "'?" : "");
	}
	for (i = 0; i < d->with.n; i++) {
		rc = check_item(in, item_of(n, "with", i), l);
		if (rc < 0)
			return rc;
		if (has(base, d->with.items[i]) && !has(&d->without, d->with.items[i]))
			return kg_yaml_error(in->doc, item_of(n, "with", i), in->err,
					     "lsm '%s': '%s' is in '%s' already", l->label,
					     d->with.items[i], d->base);
	}
	return 0;
}

static int split(const struct job_input *in, const char *list, struct kg_texts *ret)
{
	char *copy = strdup(list);
	char *p = copy;
	char *name;
	int rc = copy ? 0 : job_no_memory(in->err);

	while (rc == 0 && (name = strsep(&p, ",")))
		if (name[0] && plan_texts_add(ret, name) < 0)
			rc = job_no_memory(in->err);
	free(copy);
	return rc;
}

static int derive(const struct job_input *in, const struct kg_yaml_node *n, struct job_lsm *l,
		  const struct derived *d, const char *base_list)
{
	struct kg_texts base = {0};
	struct kg_str text = {0};
	size_t i;
	int rc = split(in, base_list, &base);

	if (rc == 0)
		rc = check_changes(in, n, l, d, &base);
	for (i = 0; rc == 0 && i < base.n; i++)
		if (!has(&d->without, base.items[i]))
			kg_str_addf(&text, "%s%s", text.len ? "," : "", base.items[i]);
	for (i = 0; rc == 0 && i < d->with.n; i++)
		kg_str_addf(&text, "%s%s", text.len ? "," : "", d->with.items[i]);
	if (rc == 0)
		rc = text.failed ? job_no_memory(in->err)
				 : set_request(in, n, l, kg_str_text(&text));
	kg_str_deinit(&text);
	kg_texts_deinit(&base);
	return rc;
}

static void add_names(struct kg_str *s, const char *word, const struct kg_texts *names)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		kg_str_addf(s, "%s%s", i ? ", " : word, names->items[i]);
}

/* What it is derived from, for --explain-cell. */
static int keep_origin(const struct job_input *in, const struct derived *d, struct job_lsm *l)
{
	struct kg_str s = {0};

	if (l->base)
		return 0; /* it has waited for its base */
	add_names(&s, " without ", &d->without);
	add_names(&s, s.len ? " and with " : " with ", &d->with);
	l->base = strdup(d->base);
	l->changes = kg_str_take(&s);
	return l->base && l->changes ? 0 : job_no_memory(in->err);
}

/* Derives one list if its base is known by now; *ret_waits tells that it is not. */
static int read_derived(const struct job_input *in, const struct kg_yaml_node *n, struct job_lsm *l,
			bool *ret_waits)
{
	struct derived d = {0};
	struct job_lsm *base;
	int rc = kg_yaml_read(in->doc, n, job_lsm_fields, &d, in->err);

	if (rc < 0)
		return rc;
	rc = keep_origin(in, &d, l);
	base = find(in->job, d.base);
	if (rc < 0)
		goto release;
	if (!base)
		rc = unknown_base(in, n, l, d.base);
	else if (!base->request)
		*ret_waits = true;
	else if (strcmp(base->request, JOB_LSM_DEFAULT) == 0)
		rc = kg_yaml_error(
			in->doc, kg_yaml_get(n, "base"), in->err,
			"lsm '%s': '%s' is each kernel's own list, which cannot be changed "
			"by name; start from a list that is written out",
			l->label, d.base);
	else
		rc = derive(in, n, l, &d, base->request);
release:
	kg_yaml_release(job_lsm_fields, &d);
	return rc;
}

/* Of those that wait for each other, one that comes back to itself: others only lead there. */
static bool is_in_circle(const struct job_spec *j, const struct job_lsm *l)
{
	const struct job_lsm *at = l;
	size_t i;

	for (i = 0; i < j->n_lsms && at && !at->request; i++) {
		at = find(j, at->base);
		if (at == l)
			return true;
	}
	return false;
}

/* Lists may be derived from derived ones, in any order, but not in a circle. */
static int derive_all(const struct job_input *in, const struct kg_yaml_node *map)
{
	struct job_spec *j = in->job;
	bool progress = true;
	size_t waiting = 1;
	size_t i;

	while (waiting > 0 && progress) {
		waiting = 0;
		progress = false;
		for (i = 0; i < j->n_lsms; i++) {
			bool waits = false;
			int rc;

			if (j->lsms[i].request)
				continue;
			rc = read_derived(in, map->items[i], &j->lsms[i], &waits);
			if (rc < 0)
				return rc;
			waiting += waits;
			progress = progress || !waits;
		}
	}
	for (i = 0; i < j->n_lsms; i++)
		if (!j->lsms[i].request && is_in_circle(j, &j->lsms[i]))
			return kg_yaml_error(
				in->doc, map->keys[i], in->err,
				"lsm '%s' is derived from itself%s: write one of them out",
				j->lsms[i].label,
				strcmp(j->lsms[i].base, j->lsms[i].label) == 0
					? ""
					: ", by way of others");
	return 0;
}

static int read_one(const struct job_input *in, const struct kg_yaml_node *key,
		    const struct kg_yaml_node *value, struct job_lsm *l)
{
	if (!kg_name_valid(key->text))
		return kg_yaml_error(
			in->doc, key, in->err,
			"lsm: '%.64s' is not a label: 1 to 63 letters, digits and ._+- (not "
			"first . or -)",
			key->text);
	l->label = strdup(key->text);
	if (!l->label)
		return job_no_memory(in->err);
	l->at = job_place_of(in, key);
	if (job_is_null(value))
		return kg_yaml_error(
			in->doc, value, in->err,
			"lsm '%s': expected a list such as 'landlock,yama', 'default', or "
			"\"\" for the empty list",
			l->label);
	if (value->kind == KG_YAML_SCALAR)
		return set_request(in, value, l, value->text);
	if (value->kind == KG_YAML_SEQ)
		return read_sequence(in, value, l);
	return 0; /* derived: later */
}

static int add_default(const struct job_input *in)
{
	struct job_spec *j = in->job;

	j->lsms = calloc(1, sizeof(*j->lsms));
	if (!j->lsms)
		return job_no_memory(in->err);
	j->n_lsms = 1;
	j->lsms[0].label = strdup(JOB_LSM_DEFAULT);
	j->lsms[0].request = strdup(JOB_LSM_DEFAULT);
	return j->lsms[0].label && j->lsms[0].request ? 0 : job_no_memory(in->err);
}

int job_read_lsms(const struct job_input *in, const struct kg_yaml_node *n)
{
	struct job_spec *j = in->job;
	size_t i;
	int rc;

	if (!n)
		return add_default(in);
	if (n->kind != KG_YAML_MAP)
		return kg_yaml_error(in->doc, n, in->err,
				     "'lsm': expected labels with lists, 'all: landlock,yama'");
	if (n->n == 0)
		return kg_yaml_error(
			in->doc, n, in->err,
			"'lsm': no list is given; leave the key out to use each kernel's "
			"own list");
	j->lsms = calloc(n->n, sizeof(*j->lsms));
	if (!j->lsms)
		return job_no_memory(in->err);
	for (i = 0; i < n->n; i++) {
		j->n_lsms = i + 1;
		rc = read_one(in, n->keys[i], n->items[i], &j->lsms[i]);
		if (rc < 0)
			return rc;
	}
	return derive_all(in, n);
}
