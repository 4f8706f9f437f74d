/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parameter values, and what a workload's templates become with them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/workload_internal.h"

#define DURATION_UNKNOWN_NS (10ULL * 1000000000ULL)

/* What templates are filled from. */
struct values {
	const struct kg_params *params;
	const struct kg_param_value *extra;
	size_t n_extra;
};

static int no_memory(struct kg_err *err)
{
	return kg_err_set(err, -ENOMEM, "out of memory");
}

bool kg_workload_builtin(const char *name)
{
	static const char *const names[] = {KG_WORKLOAD_BUILTINS};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

const struct kg_param_decl *kg_workload_find_param(const struct kg_workload *w, const char *name)
{
	size_t i;

	for (i = 0; i < w->n_params; i++)
		if (strcmp(w->params[i].name, name) == 0)
			return &w->params[i];
	return NULL;
}

const char *kg_workload_suggest(const struct kg_workload *w, const char *name)
{
	const char *names[64]; /* as many as a declaration may have */
	size_t i;

	for (i = 0; i < w->n_params && i < 64; i++)
		names[i] = w->params[i].name;
	return kg_suggest(name, names, i);
}

int kg_workload_number(enum kg_param_type type, const char *text, int64_t *ret)
{
	uint64_t bytes;

	if (type == KG_PARAM_INT)
		return kg_parse_i64(text, ret);
	if (kg_parse_bytes(text, &bytes) < 0 || bytes > INT64_MAX)
		return KG_EINVALID;
	*ret = (int64_t)bytes;
	return 0;
}

bool kg_workload_text_ok(const char *text)
{
	size_t len = strlen(text), i;

	if (len == 0 || len > 256 || text[0] == '-' || !kg_utf8_valid(text, len))
		return false;
	for (i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return false;
	return true;
}

/* What one unit of a declaration is in ns, or in bytes; the other one is 0. */
static bool find_unit(const char *unit, uint64_t *ret_ns, uint64_t *ret_bytes)
{
	static const struct {
		const char *unit;
		uint64_t ns, bytes;
	} units[] = {{"ns", 1, 0},
		     {"us", 1000, 0},
		     {"ms", 1000000, 0},
		     {"s", 1000000000, 0},
		     {"sec", 1000000000, 0},
		     {"second", 1000000000, 0},
		     {"seconds", 1000000000, 0},
		     {"min", 60000000000, 0},
		     {"minute", 60000000000, 0},
		     {"minutes", 60000000000, 0},
		     {"h", 3600000000000, 0},
		     {"hour", 3600000000000, 0},
		     {"hours", 3600000000000, 0},
		     {"d", 86400000000000, 0},
		     {"day", 86400000000000, 0},
		     {"days", 86400000000000, 0},
		     {"bytes", 0, 1},
		     {"byte", 0, 1},
		     {"B", 0, 1},
		     {"kB", 0, 1000},
		     {"MB", 0, 1000 * 1000},
		     {"GB", 0, 1000 * 1000 * 1000},
		     {"KiB", 0, 1024},
		     {"MiB", 0, 1024 * 1024},
		     {"GiB", 0, 1024 * 1024 * 1024}};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].unit) != 0)
			continue;
		*ret_ns = units[i].ns;
		*ret_bytes = units[i].bytes;
		return true;
	}
	return false;
}

/* What is written with a unit, in ns or in bytes, and what of that one is in the declaration's. */
static bool read_unit(const char *unit, const char *value, uint64_t *ret_v, uint64_t *ret_one)
{
	uint64_t ns, bytes;

	if (!unit || !value[0] || !strpbrk(value, "abcdefghijklmnopqrstuvwxyzBKMGT") ||
	    !find_unit(unit, &ns, &bytes))
		return false;
	*ret_one = ns ? ns : bytes;
	return (ns ? kg_parse_duration(value, ret_v) : kg_parse_bytes(value, ret_v)) == 0;
}

bool kg_workload_in_unit(const char *unit, const char *value, double *ret)
{
	uint64_t v, one;

	if (!read_unit(unit, value, &v, &one))
		return false;
	*ret = (double)v / (double)one;
	return true;
}

/* "10s" of a parameter in seconds is 10; false: no such unit, or not whole. */
static bool with_unit(const struct kg_param_decl *d, const char *value, int64_t *ret)
{
	uint64_t v, one;

	if (!read_unit(d->unit, value, &v, &one) || v % one != 0 || v / one > INT64_MAX)
		return false;
	*ret = (int64_t)(v / one);
	return true;
}

/* `v`: the number that was understood, out of range; NULL: none was. "64KiB" does not look like more
 * than a limit of 65507, so the text says what it is. */
static int refuse_number(const struct kg_param_decl *d, const char *value, const int64_t *v,
			 struct kg_err *err)
{
	const char *kind = d->type == KG_PARAM_INT ? "a whole number" : "a size such as 64KiB";
	bool low = d->min != (d->type == KG_PARAM_INT ? INT64_MIN : 0);
	uint64_t ns, bytes = d->type == KG_PARAM_BYTES;
	struct kg_str s = {0};
	char number[32];
	int rc;

	if (low && d->max != INT64_MAX)
		kg_str_addf(&s, " from %" PRId64 " to %" PRId64, d->min, d->max);
	else if (low)
		kg_str_addf(&s, " of at least %" PRId64, d->min);
	else if (d->max != INT64_MAX)
		kg_str_addf(&s, " of at most %" PRId64, d->max);
	kg_str_addf(&s, ", not '%.64s'", value);
	if (bytes || (d->unit && find_unit(d->unit, &ns, &bytes) && bytes))
		kg_str_add(&s, kg_bytes_hint(value));
	(void)snprintf(number, sizeof(number), "%" PRId64, v ? *v : 0);
	if (v && strcmp(number, value) != 0)
		kg_str_addf(&s, ", which is %s%s%s and %s than the limit", number,
			    d->unit ? " " : "", d->unit ? d->unit : "",
			    *v > d->max ? "more" : "less");
	rc = kg_err_set(err, KG_EINVALID, "'%s': expected %s%s", d->name, kind, kg_str_text(&s));
	kg_str_deinit(&s);
	return rc;
}

static int refuse_choice(const struct kg_param_decl *d, const char *value, struct kg_err *err)
{
	const char *guess = kg_suggest(value, (const char *const *)d->choices.items, d->choices.n);
	struct kg_str list = {0};
	size_t i;

	for (i = 0; i < d->choices.n; i++)
		kg_str_addf(&list, "%s%s", i ? ", " : "", d->choices.items[i]);
	(void)kg_err_set(err, KG_EINVALID, "'%s': expected one of %.256s, not '%.64s'%s%s%s",
			 d->name, kg_str_text(&list), value, guess ? "; did you mean '" : "",
			 guess ? guess : "", guess ? "'?" : "");
	kg_str_deinit(&list);
	return KG_EINVALID;
}

int kg_workload_normalise_decl(const struct kg_param_decl *d, const char *value, char **ret_value,
			       struct kg_err *err)
{
	char number[32];
	int64_t v;
	size_t i;
	char *copy;

	switch (d->type) {
	case KG_PARAM_INT:
	case KG_PARAM_BYTES:
		if (kg_workload_number(d->type, value, &v) < 0 && !with_unit(d, value, &v))
			return refuse_number(d, value, NULL, err);
		if (v < d->min || v > d->max)
			return refuse_number(d, value, &v, err);
		(void)snprintf(number, sizeof(number), "%" PRId64, v);
		value = number;
		break;
	case KG_PARAM_CHOICE:
		for (i = 0; i < d->choices.n; i++)
			if (strcmp(d->choices.items[i], value) == 0)
				break;
		if (i == d->choices.n)
			return refuse_choice(d, value, err);
		break;
	case KG_PARAM_TEXT:
		if (!kg_workload_text_ok(value))
			return kg_err_set(
				err, KG_EINVALID,
				"'%s': expected 1 to 256 printable characters that do not "
				"begin with '-'",
				d->name);
		break;
	}
	copy = strdup(value);
	if (!copy)
		return no_memory(err);
	*ret_value = copy;
	return 0;
}

static int undeclared(const struct kg_workload *w, const char *name, struct kg_err *err)
{
	const char *guess = kg_workload_suggest(w, name);
	struct kg_str list = {0};
	size_t i;

	if (guess)
		return kg_err_set(err, KG_EINVALID,
				  "'%s' has no parameter '%.64s'; did you mean '%s'?", w->name,
				  name, guess);
	for (i = 0; i < w->n_params; i++)
		kg_str_addf(&list, "%s%s", i ? ", " : "", w->params[i].name);
	(void)kg_err_set(err, KG_EINVALID, "'%s' has no parameter '%.64s'; %s%.300s", w->name, name,
			 list.len ? "it has " : "it has none", kg_str_text(&list));
	kg_str_deinit(&list);
	return KG_EINVALID;
}

int kg_workload_normalise(const struct kg_workload *w, const char *param, const char *value,
			  char **ret_value, struct kg_err *err)
{
	const struct kg_param_decl *d = kg_workload_find_param(w, param);

	if (!d)
		return undeclared(w, param, err);
	return kg_workload_normalise_decl(d, value, ret_value, err);
}

void kg_params_deinit(struct kg_params *p)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		free(p->items[i].name);
		free(p->items[i].value);
	}
	free(p->items);
	memset(p, 0, sizeof(*p));
}

const char *kg_params_get(const struct kg_params *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (strcmp(p->items[i].name, name) == 0)
			return p->items[i].value;
	return NULL;
}

char *kg_params_text(const struct kg_params *p)
{
	struct kg_str s = {0};
	size_t i;

	for (i = 0; i < p->n; i++) {
		const char *v = p->items[i].value;

		kg_str_addf(&s, "%s%s=", i ? " " : "", p->items[i].name);
		if (v[0] && !strpbrk(v, " \"\\")) {
			kg_str_add(&s, v);
			continue;
		}
		kg_str_add(&s, "\"");
		for (; *v; v++)
			kg_str_addf(&s, *v == '"' || *v == '\\' ? "\\%c" : "%c", *v);
		kg_str_add(&s, "\"");
	}
	return kg_str_take(&s);
}

static int by_name(const void *a, const void *b)
{
	const struct kg_param_value *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int check_given(const struct kg_workload *w, const struct kg_param_value *given, size_t n,
		       struct kg_err *err)
{
	size_t i, j;

	for (i = 0; i < n; i++) {
		if (!kg_workload_find_param(w, given[i].name))
			return undeclared(w, given[i].name, err);
		for (j = 0; j < i; j++)
			if (strcmp(given[i].name, given[j].name) == 0)
				return kg_err_set(err, KG_EINVALID, "parameter '%s' is given twice",
						  given[i].name);
	}
	return 0;
}

int kg_workload_params(const struct kg_workload *w, const struct kg_param_value *given, size_t n,
		       struct kg_params *ret_params, struct kg_err *err)
{
	struct kg_params p = {0};
	size_t i, j;
	int rc = check_given(w, given, n, err);

	if (rc < 0)
		return rc;
	p.items = calloc(w->n_params + 1, sizeof(*p.items));
	if (!p.items)
		return no_memory(err);
	for (i = 0; i < w->n_params; i++) {
		const struct kg_param_decl *d = &w->params[i];
		const char *value = d->preset;

		for (j = 0; j < n; j++)
			if (strcmp(given[j].name, d->name) == 0)
				value = given[j].value;
		if (!value && d->required) {
			rc = kg_err_set(err, KG_EINVALID, "'%s' needs the parameter '%s'", w->name,
					d->name);
			goto free_params;
		}
		if (!value)
			continue;
		p.items[p.n].name = strdup(d->name);
		p.items[p.n].value = strdup(value);
		p.n++;
		if (!p.items[p.n - 1].name || !p.items[p.n - 1].value) {
			rc = no_memory(err);
			goto free_params;
		}
	}
	if (p.n > 1)
		qsort(p.items, p.n, sizeof(*p.items), by_name);
	*ret_params = p;
	return 0;

free_params:
	kg_params_deinit(&p);
	return rc;
}

int kg_workload_placeholder(const char **p, struct kg_placeholder *ret_ph)
{
	const char *s = *p, *end;
	size_t len;

	ret_ph->before = s;
	for (;;) {
		s += strcspn(s, "{}");
		if (*s && s[1] == *s) {
			s += 2; /* {{ or }} */
			continue;
		}
		break;
	}
	ret_ph->before_len = (size_t)(s - ret_ph->before);
	*p = s;
	if (!*s)
		return 0;
	end = *s == '{' ? strpbrk(s + 1, "{}") : NULL;
	if (!end || *end != '}')
		return KG_EINVALID;
	len = (size_t)(end - s - 1);
	if (len == 0 || len >= sizeof(ret_ph->name))
		return KG_EINVALID;
	memcpy(ret_ph->name, s + 1, len);
	ret_ph->name[len] = '\0';
	*p = end + 1;
	return 1;
}

static void add_literal(struct kg_str *out, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		kg_str_addn(out, text + i, 1);
		if (text[i] == '{' || text[i] == '}')
			i++; /* they come in pairs */
	}
}

static const char *value_of(const struct values *v, const char *name)
{
	const char *own = kg_params_get(v->params, name);
	size_t i;

	for (i = 0; !own && i < v->n_extra; i++)
		if (strcmp(v->extra[i].name, name) == 0)
			own = v->extra[i].value;
	return own;
}

/* What is put in is not looked at again. */
static int expand(const char *text, const struct values *v, char **ret_text, struct kg_err *err)
{
	struct kg_placeholder ph;
	struct kg_str out = {0};
	const char *value;
	int rc;

	while ((rc = kg_workload_placeholder(&text, &ph)) > 0) {
		add_literal(&out, ph.before, ph.before_len);
		value = value_of(v, ph.name);
		if (!value) {
			kg_str_deinit(&out);
			return kg_err_set(err, KG_EINVALID, "'{%s}' has no value", ph.name);
		}
		kg_str_add(&out, value);
	}
	if (rc < 0) {
		kg_str_deinit(&out);
		return kg_err_set(err, KG_EINVALID, "bad '{' or '}'");
	}
	add_literal(&out, ph.before, ph.before_len);
	*ret_text = kg_str_take(&out);
	return *ret_text ? 0 : no_memory(err);
}

/* Appends to a list that has room. */
static int expand_all(const struct kg_texts *from, const struct values *v, struct kg_texts *to,
		      struct kg_err *err)
{
	size_t i;
	int rc;

	for (i = 0; i < from->n; i++) {
		rc = expand(from->items[i], v, &to->items[to->n], err);
		if (rc < 0)
			return rc;
		to->n++;
	}
	return 0;
}

bool kg_conditions_hold(const struct kg_conditions *c, const struct kg_params *p)
{
	size_t i, j;

	for (i = 0; i < c->n; i++) {
		const char *value = kg_params_get(p, c->items[i].param);

		for (j = 0; value && j < c->items[i].values.n; j++)
			if (strcmp(value, c->items[i].values.items[j]) == 0)
				break;
		if (!value || j == c->items[i].values.n)
			return false;
	}
	return true;
}

int kg_workload_argv(const struct kg_workload *w, const struct kg_params *p,
		     const struct kg_param_value *extra, size_t n_extra, struct kg_texts *ret_argv,
		     struct kg_err *err)
{
	const struct values v = {.params = p, .extra = extra, .n_extra = n_extra};
	size_t room = w->command.n + 1, i;
	struct kg_texts argv = {0};
	int rc;

	for (i = 0; i < w->n_arguments; i++)
		room += w->arguments[i].add.n;
	argv.items = calloc(room, sizeof(char *));
	if (!argv.items)
		return no_memory(err);
	rc = expand_all(&w->command, &v, &argv, err);
	for (i = 0; i < w->n_arguments && rc == 0; i++)
		if (kg_conditions_hold(&w->arguments[i].when, p))
			rc = expand_all(&w->arguments[i].add, &v, &argv, err);
	if (rc < 0) {
		kg_texts_deinit(&argv);
		return kg_err_wrap(err, rc, "command of '%s'", w->name);
	}
	*ret_argv = argv;
	return 0;
}

int kg_workload_helper_argv(const struct kg_workload *w, const struct kg_params *p,
			    const struct kg_param_value *extra, size_t n_extra,
			    struct kg_texts *ret_argv, struct kg_err *err)
{
	const struct values v = {.params = p, .extra = extra, .n_extra = n_extra};
	struct kg_texts argv = {0};
	int rc;

	argv.items = calloc(w->helper.n + 1, sizeof(char *));
	if (!argv.items)
		return no_memory(err);
	rc = expand_all(&w->helper, &v, &argv, err);
	if (rc < 0) {
		kg_texts_deinit(&argv);
		return kg_err_wrap(err, rc, "helper of '%s'", w->name);
	}
	*ret_argv = argv;
	return 0;
}

uint64_t kg_workload_duration_ns(const struct kg_workload *w, const struct kg_params *p)
{
	const struct values v = {.params = p};
	uint64_t ns;
	char *text;
	int rc;

	if (!w->duration || expand(w->duration, &v, &text, NULL) < 0)
		return DURATION_UNKNOWN_NS;
	rc = kg_parse_duration(text, &ns);
	free(text);
	return rc < 0 ? DURATION_UNKNOWN_NS : ns;
}
