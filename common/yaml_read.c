/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings through tables: types, ranges, presets, unknown keys, and the man page. */
#include "common/yaml.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELDS 64 /* of one table: a bug when there are more */

/* What one value is read with. */
struct reader {
	const struct kg_yaml_doc *doc;
	const struct kg_field *field;
	const struct kg_yaml_node *node;
	struct kg_err *err;
};

static void *at(void *out, const struct kg_field *f)
{
	return (char *)out + f->offset;
}

static size_t field_size(const struct kg_field *f)
{
	switch (f->type) {
	case KG_FIELD_TEXT:
	case KG_FIELD_NAME:
		return sizeof(char *);
	case KG_FIELD_INT:
		return sizeof(int64_t);
	case KG_FIELD_DOUBLE:
		return sizeof(double);
	case KG_FIELD_BOOL:
		return sizeof(bool);
	case KG_FIELD_BYTES:
	case KG_FIELD_DURATION:
		return sizeof(uint64_t);
	case KG_FIELD_CHOICE:
		return sizeof(int);
	case KG_FIELD_TEXTS:
		return sizeof(struct kg_texts);
	case KG_FIELD_NODE:
		return sizeof(struct kg_yaml_node *);
	case KG_FIELD_MAP:
		break;
	}
	return 0;
}

void kg_texts_deinit(struct kg_texts *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->items[i]);
	free(t->items);
	memset(t, 0, sizeof(*t));
}

void kg_yaml_release(const struct kg_field *fields, void *out)
{
	const struct kg_field *f;

	for (f = fields; f->key; f++) {
		if (f->type == KG_FIELD_MAP) {
			kg_yaml_release(f->sub, at(out, f));
			continue;
		}
		if (f->type == KG_FIELD_TEXT || f->type == KG_FIELD_NAME)
			free(*(char **)at(out, f));
		else if (f->type == KG_FIELD_TEXTS)
			kg_texts_deinit(at(out, f));
		memset(at(out, f), 0, field_size(f));
	}
}

static const char *kind_name(const struct kg_yaml_node *n)
{
	switch (n->kind) {
	case KG_YAML_SEQ:
		return "a list";
	case KG_YAML_MAP:
		return "a mapping";
	default:
		return n->quoted ? "text in quotes" : "a single value";
	}
}

static bool has_limits(const struct kg_field *f)
{
	return f->min != 0 || f->max != 0;
}

static void add_number(struct kg_str *s, enum kg_field_type type, double v)
{
	if (type == KG_FIELD_BYTES && v >= 1024 * 1024 && fmod(v, 1024 * 1024) == 0)
		kg_str_addf(s, "%.0fMiB", v / (1024 * 1024));
	else if (type == KG_FIELD_BYTES && v >= 1024 && fmod(v, 1024) == 0)
		kg_str_addf(s, "%.0fKiB", v / 1024);
	else if (type == KG_FIELD_DURATION && v >= 3600 && fmod(v, 3600) == 0)
		kg_str_addf(s, "%.0fh", v / 3600);
	else if (type == KG_FIELD_DURATION)
		kg_str_addf(s, "%gs", v);
	else if (v == floor(v) && fabs(v) < 1e18)
		kg_str_addf(s, "%.0f", v);
	else
		kg_str_addf(s, "%g", v);
}

/* "a whole number from 1 to 5", "one of higher, lower". */
static void add_expected(struct kg_str *s, const struct kg_field *f)
{
	static const char *const words[] = {
		[KG_FIELD_TEXT] = "text",
		[KG_FIELD_NAME] = "a name of 1 to 63 letters, digits and ._+- (not first . or -)",
		[KG_FIELD_INT] = "a whole number",
		[KG_FIELD_DOUBLE] = "a number",
		[KG_FIELD_BOOL] = "true or false",
		[KG_FIELD_BYTES] = "a size such as 64KiB",
		[KG_FIELD_DURATION] = "a duration such as 10s, 5m or 4h",
		[KG_FIELD_CHOICE] = "one of ",
		[KG_FIELD_TEXTS] = "a list of texts",
		[KG_FIELD_MAP] = "a mapping (key: value)",
		[KG_FIELD_NODE] = "a value",
	};
	size_t i;

	kg_str_add(s, words[f->type]);
	if (f->type == KG_FIELD_CHOICE)
		for (i = 0; f->choices[i]; i++)
			kg_str_addf(s, "%s%s", i ? ", " : "", f->choices[i]);
	if (!has_limits(f) || f->type == KG_FIELD_CHOICE)
		return;
	kg_str_add(s, " from ");
	add_number(s, f->type, f->min);
	kg_str_add(s, " to ");
	add_number(s, f->type, f->max);
}

/* "'key': expected ..., not 'x'". */
static int refuse(const struct reader *r)
{
	const struct kg_yaml_node *n = r->node;
	struct kg_str s = {0};
	const char *guess = NULL;
	size_t count = 0;
	int rc;

	add_expected(&s, r->field);
	if (n->kind != KG_YAML_SCALAR)
		kg_str_addf(&s, ", not %s", kind_name(n));
	else if (!n->quoted && !n->text[0])
		kg_str_add(&s, ", not nothing");
	else
		kg_str_addf(&s, ", not '%.64s'%s", n->text, n->quoted ? " in quotes" : "");
	if (r->field->type == KG_FIELD_CHOICE && n->kind == KG_YAML_SCALAR) {
		while (r->field->choices[count])
			count++;
		guess = kg_suggest(n->text, r->field->choices, count);
	}
	if (guess)
		kg_str_addf(&s, "; did you mean '%s'?", guess);
	if (r->field->type == KG_FIELD_BYTES && n->kind == KG_YAML_SCALAR)
		kg_str_add(&s, kg_bytes_hint(n->text));
	rc = kg_yaml_error(r->doc, n, r->err, "'%s': expected %s", r->field->key, kg_str_text(&s));
	kg_str_deinit(&s);
	return rc;
}

static bool within(const struct kg_field *f, double v)
{
	return !has_limits(f) || (v >= f->min && v <= f->max);
}

static bool is_null(const struct kg_yaml_node *n)
{
	return !n->quoted &&
	       (!n->text[0] || strcmp(n->text, "~") == 0 || strcmp(n->text, "null") == 0);
}

static int read_text(const struct reader *r, void *out)
{
	char *copy;

	if (r->node->kind != KG_YAML_SCALAR || is_null(r->node))
		return refuse(r);
	if (r->field->type == KG_FIELD_NAME && !kg_name_valid(r->node->text))
		return refuse(r);
	copy = strdup(r->node->text);
	if (!copy)
		return kg_err_set(r->err, -ENOMEM, "out of memory");
	*(char **)out = copy;
	return 0;
}

static int read_number(const struct reader *r, void *out)
{
	const struct kg_field *f = r->field;
	const char *text = r->node->text;
	double d;
	int64_t i;
	uint64_t u;

	if (r->node->kind != KG_YAML_SCALAR)
		return refuse(r);
	switch (f->type) {
	case KG_FIELD_INT:
		if (r->node->quoted || kg_parse_i64(text, &i) < 0 || !within(f, (double)i))
			return refuse(r);
		*(int64_t *)out = i;
		return 0;
	case KG_FIELD_DOUBLE:
		if (r->node->quoted || kg_parse_double(text, &d) < 0 || !within(f, d))
			return refuse(r);
		*(double *)out = d;
		return 0;
	case KG_FIELD_BYTES:
		if (kg_parse_bytes(text, &u) < 0 || !within(f, (double)u))
			return refuse(r);
		*(uint64_t *)out = u;
		return 0;
	case KG_FIELD_DURATION:
		if (kg_parse_duration(text, &u) < 0 || !within(f, (double)u / 1e9))
			return refuse(r);
		*(uint64_t *)out = u;
		return 0;
	default:
		assert(0);
		return -EINVAL;
	}
}

static int read_bool(const struct reader *r, void *out)
{
	static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
	size_t i;

	if (r->node->kind != KG_YAML_SCALAR || r->node->quoted)
		return refuse(r);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(r->node->text, words[i]) != 0)
			continue;
		*(bool *)out = i % 2;
		return 0;
	}
	return refuse(r);
}

static int read_choice(const struct reader *r, void *out)
{
	int i;

	if (r->node->kind != KG_YAML_SCALAR)
		return refuse(r);
	for (i = 0; r->field->choices[i]; i++) {
		if (strcmp(r->node->text, r->field->choices[i]) != 0)
			continue;
		*(int *)out = i;
		return 0;
	}
	return refuse(r);
}

static int read_texts(const struct reader *r, void *out)
{
	const struct kg_yaml_node *one = r->node;
	bool list = one->kind == KG_YAML_SEQ;
	size_t n = list ? one->n : 1;
	struct kg_texts t = {0};
	size_t i;
	int rc;

	if (one->kind == KG_YAML_MAP || (!list && is_null(one)))
		return refuse(r);
	t.items = calloc(n + 1, sizeof(*t.items)); /* ends with NULL, as exec wants it */
	if (!t.items)
		return kg_err_set(r->err, -ENOMEM, "out of memory");
	for (i = 0; i < n; i++) {
		const struct kg_yaml_node *item = list ? one->items[i] : one;

		if (item->kind != KG_YAML_SCALAR || is_null(item)) {
			rc = kg_yaml_error(r->doc, item, r->err,
					   "'%s': expected text in the list, not %s", r->field->key,
					   item->kind == KG_YAML_SCALAR ? "nothing"
									: kind_name(item));
			goto free_texts;
		}
		t.items[i] = strdup(item->text);
		if (!t.items[i]) {
			rc = kg_err_set(r->err, -ENOMEM, "out of memory");
			goto free_texts;
		}
		t.n++;
	}
	*(struct kg_texts *)out = t;
	return 0;

free_texts:
	kg_texts_deinit(&t);
	return rc;
}

static int read_value(const struct reader *r, void *out)
{
	switch (r->field->type) {
	case KG_FIELD_TEXT:
	case KG_FIELD_NAME:
		return read_text(r, out);
	case KG_FIELD_INT:
	case KG_FIELD_DOUBLE:
	case KG_FIELD_BYTES:
	case KG_FIELD_DURATION:
		return read_number(r, out);
	case KG_FIELD_BOOL:
		return read_bool(r, out);
	case KG_FIELD_CHOICE:
		return read_choice(r, out);
	case KG_FIELD_TEXTS:
		return read_texts(r, out);
	case KG_FIELD_NODE:
		*(const struct kg_yaml_node **)out = r->node;
		return 0;
	case KG_FIELD_MAP:
		if (r->node->kind != KG_YAML_MAP)
			return refuse(r);
		return kg_yaml_read(r->doc, r->node, r->field->sub, out, r->err);
	}
	return -EINVAL;
}

static int unknown_key(const struct kg_yaml_doc *doc, const struct kg_yaml_node *key,
		       const struct kg_field *fields, struct kg_err *err)
{
	const char *names[MAX_FIELDS] = {NULL};
	struct kg_str s = {0};
	const char *guess;
	size_t n = 0, i;
	int rc;

	for (; fields[n].key; n++) {
		assert(n < MAX_FIELDS);
		names[n] = fields[n].key;
	}
	guess = kg_suggest(key->text, names, n);
	if (guess) {
		kg_str_addf(&s, "did you mean '%s'?", guess);
	} else {
		kg_str_add(&s, "known keys: ");
		for (i = 0; i < n; i++)
			kg_str_addf(&s, "%s%s", i ? ", " : "", names[i]);
	}
	rc = kg_yaml_error(doc, key, err, "unknown key '%.64s'; %s", key->text, kg_str_text(&s));
	kg_str_deinit(&s);
	return rc;
}

/* The default of a field, written as in the file. A preset that does not read is a bug. */
static int read_preset(const struct kg_field *f, void *out, struct kg_err *err)
{
	struct reader r = {.field = f, .err = err};
	struct kg_yaml_doc *doc = NULL;
	const struct kg_field *sub;
	int rc = 0;

	if (f->type == KG_FIELD_MAP) { /* the defaults of its fields */
		for (sub = f->sub; sub->key && rc == 0; sub++)
			rc = read_preset(sub, at(out, sub), err);
		return rc;
	}
	if (!f->preset || f->type == KG_FIELD_NODE)
		return 0;
	rc = kg_yaml_parse("preset", f->preset, strlen(f->preset), &doc, err);
	if (rc == 0) {
		r.doc = doc;
		r.node = doc->root;
		rc = read_value(&r, out);
		kg_yaml_free(doc);
	}
	assert(rc == 0 || rc == -ENOMEM);
	return rc;
}

static int read_field(const struct reader *map, void *out)
{
	struct reader r = *map;

	r.node = kg_yaml_get(map->node, map->field->key);
	if (r.node)
		return read_value(&r, out);
	if (map->field->required)
		return kg_yaml_error(map->doc, map->node, map->err, "missing key '%s': %s",
				     map->field->key,
				     map->field->help ? map->field->help : "it is required");
	return read_preset(map->field, out, map->err);
}

int kg_yaml_read(const struct kg_yaml_doc *doc, const struct kg_yaml_node *map,
		 const struct kg_field *fields, void *out, struct kg_err *err)
{
	struct reader r = {.doc = doc, .node = map, .err = err};
	const struct kg_field *f;
	size_t i;
	int rc;

	if (map->kind != KG_YAML_MAP)
		return kg_yaml_error(doc, map, err, "expected a mapping (key: value), not %s",
				     kind_name(map));
	for (i = 0; i < map->n; i++) {
		for (f = fields; f->key; f++)
			if (strcmp(f->key, map->keys[i]->text) == 0)
				break;
		if (!f->key)
			return unknown_key(doc, map->keys[i], fields, err);
	}
	for (f = fields; f->key; f++) {
		r.field = f;
		rc = read_field(&r, at(out, f));
		if (rc < 0) {
			kg_yaml_release(fields, out);
			return rc;
		}
	}
	return 0;
}

static void add_roff(struct kg_str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\')
			kg_str_add(out, "\\e");
		else if (*text == '-')
			kg_str_add(out, "\\-");
		else
			kg_str_addn(out, text, 1);
	}
}

void kg_yaml_manual(const struct kg_field *fields, const char *prefix, struct kg_str *out)
{
	const struct kg_field *f;

	for (f = fields; f->key; f++) {
		struct kg_str name = {0}, expected = {0};

		kg_str_addf(&name, "%s%s", prefix, f->key);
		add_expected(&expected, f);
		kg_str_add(out, ".TP\n\\fB");
		add_roff(out, kg_str_text(&name));
		kg_str_add(out, "\\fR\n\\&"); /* the help may begin with a dot */
		if (f->help) {
			add_roff(out, f->help);
			kg_str_add(out, ".\n");
		}
		if (f->type != KG_FIELD_NODE && f->type != KG_FIELD_MAP) {
			kg_str_add(out, "\\&Expected: ");
			add_roff(out, kg_str_text(&expected));
			kg_str_add(out, ".\n");
		}
		if (f->required) {
			kg_str_add(out, "Required.\n");
		} else if (f->preset) {
			kg_str_add(out, "Default: ");
			add_roff(out, f->preset);
			kg_str_add(out, ".\n");
		}
		if (f->type == KG_FIELD_MAP) {
			kg_str_add(out, "\n");
			kg_str_add(&name, ".");
			kg_yaml_manual(f->sub, kg_str_text(&name), out);
		}
		if (name.failed || expected.failed)
			out->failed = true;
		kg_str_deinit(&name);
		kg_str_deinit(&expected);
	}
}
