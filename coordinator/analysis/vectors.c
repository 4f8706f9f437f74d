/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/vectors.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "coordinator/analysis/vectors_ops.h"

#define RTOL_FALLBACK 1e-9
#define TEXT_SIZE     512
#define DEPTH_MAX     16

const char *vectors_result_name(enum vectors_result r)
{
	switch (r) {
	case VECTORS_PASS:
		return "pass";
	case VECTORS_FAIL:
		return "fail";
	case VECTORS_UNKNOWN:
		return "unknown";
	}
	return "";
}

/* A number, or the name of one that JSON has no form for. */
static bool number_of(const json_t *v, double *ret)
{
	const char *text = json_string_value(v);

	if (json_is_number(v))
		*ret = json_number_value(v);
	else if (text && (strcasecmp(text, "nan") == 0))
		*ret = NAN;
	else if (text && (strcasecmp(text, "infinity") == 0 || strcasecmp(text, "inf") == 0))
		*ret = INFINITY;
	else if (text && (strcasecmp(text, "-infinity") == 0 || strcasecmp(text, "-inf") == 0))
		*ret = -INFINITY;
	else
		return false;
	return true;
}

void vectors_broken(struct vectors_run *r, const char *fmt, ...)
{
	va_list ap;

	if (r->broken)
		return;
	r->broken = true;
	va_start(ap, fmt);
	kg_err_vset(&r->where, KG_EINVALID, fmt, ap);
	va_end(ap);
}

static void broken(struct vectors_run *r, const char *key, const char *wanted)
{
	vectors_broken(r, "input '%s' %s, %s is wanted", key,
		       json_object_get(r->input, key) ? "is of another type" : "is missing",
		       wanted);
}

const double *vectors_array(struct vectors_run *r, const char *key, size_t *ret_n)
{
	json_t *list = json_object_get(r->input, key), *v;
	const char *series = json_string_value(json_object_get(r->input, "series"));
	double *x;
	size_t i;

	*ret_n = 0;
	if (!list && series && strcmp(key, "x") == 0)
		list = json_object_get(r->series, series);
	if (!json_is_array(list) || r->n_arrays == VECTORS_ARRAYS_MAX) {
		broken(r, key, "a list of numbers");
		return NULL;
	}
	x = calloc(json_array_size(list) + 1, sizeof(*x));
	if (!x) {
		r->no_memory = true;
		return NULL;
	}
	r->arrays[r->n_arrays++] = x;
	json_array_foreach(list, i, v)
	{
		if (number_of(v, &x[i]))
			continue;
		vectors_broken(r, "input '%s[%zu]' is no number", key, i);
		return x;
	}
	*ret_n = json_array_size(list);
	return x;
}

double vectors_number_or(struct vectors_run *r, const char *key, double otherwise)
{
	double v = 0;

	if (!json_object_get(r->input, key))
		return otherwise;
	if (!number_of(json_object_get(r->input, key), &v))
		broken(r, key, "a number");
	return v;
}

double vectors_number(struct vectors_run *r, const char *key)
{
	if (!json_object_get(r->input, key))
		broken(r, key, "a number");
	return vectors_number_or(r, key, 0);
}

const char *vectors_text(struct vectors_run *r, const char *key)
{
	const char *text = json_string_value(json_object_get(r->input, key));

	if (!text)
		broken(r, key, "a text");
	return text ? text : "";
}

void vectors_put_json(struct vectors_run *r, const char *key, json_t *owned)
{
	if (json_object_set_new(r->got, key, owned) < 0)
		r->no_memory = true;
}

static json_t *real_or_null(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

void vectors_put_near(struct vectors_run *r, const char *key, double v, double floor)
{
	vectors_put_json(r, key, real_or_null(v));
	if (floor > 0 && isfinite(floor) &&
	    json_object_set_new(r->floors, key, json_real(floor)) < 0)
		r->no_memory = true;
}

void vectors_put(struct vectors_run *r, const char *key, double v)
{
	vectors_put_near(r, key, v, 0);
}

void vectors_put_array(struct vectors_run *r, const char *key, const double *v, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		if (json_array_append_new(list, real_or_null(v[i])) < 0)
			r->no_memory = true;
	}
	vectors_put_json(r, key, list);
}

/* ---- comparison ---- */

static void print_value(const json_t *v, char *out, size_t size)
{
	char *text =
		v ? json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17) | JSON_COMPACT) : NULL;

	(void)snprintf(out, size, "%.100s%s", text ? text : "nothing",
		       text && strlen(text) > 100 ? "..." : "");
	free(text);
}

static bool differs(const char *place, const json_t *want, const json_t *got, char *text)
{
	char a[128], b[128];

	print_value(want, a, sizeof(a));
	print_value(got, b, sizeof(b));
	(void)snprintf(text, TEXT_SIZE, "%.200s: expected %s, got %s", place, a, b);
	return false;
}

static bool same_number(double want, double got, double rtol, double floor)
{
	return fabs(want - got) <= rtol * fabs(want) + floor;
}

static bool same_value(const char *place, const json_t *want, const json_t *got, double rtol,
		       double floor, int depth, char *text)
{
	char inner[256];
	const char *key;
	json_t *v;
	size_t i;

	if (!got || depth > DEPTH_MAX)
		return differs(place, want, got, text);
	if (json_is_number(want) && json_is_number(got))
		return same_number(json_number_value(want), json_number_value(got), rtol, floor) ||
		       differs(place, want, got, text);
	if (json_is_array(want) && json_array_size(want) == json_array_size(got)) {
		json_array_foreach((json_t *)want, i, v)
		{
			(void)snprintf(inner, sizeof(inner), "%.200s[%zu]", place, i);
			if (!same_value(inner, v, json_array_get(got, i), rtol, floor, depth + 1,
					text))
				return false;
		}
		return true;
	}
	if (json_is_object(want) && json_is_object(got)) {
		json_object_foreach((json_t *)want, key, v)
		{
			(void)snprintf(inner, sizeof(inner), "%.120s.%.100s", place, key);
			if (!same_value(inner, v, json_object_get(got, key), rtol, floor, depth + 1,
					text))
				return false;
		}
		return true;
	}
	if (json_is_array(want) || json_is_object(want) || json_is_number(want))
		return differs(place, want, got, text);
	return json_equal(want, got) || differs(place, want, got, text);
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (; *text; text++) {
		if (strncasecmp(text, word, n) == 0)
			return true;
	}
	return false;
}

/* Whether a refusal is for the reason that the vector names. */
static bool same_reason(const char *want, const char *got)
{
	static const struct {
		const char *want, *got;
	} reasons[] = {
		{"hmean", "harmonic"},	     {"n=0", "empty"},	       {"empty", "empty"},
		{"n>=2", "at least 2"},	     {"n >= 2", "at least 2"}, {"NaN refused", "nan"},
		{"Inf refused", "infinite"},
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (has_word(want, reasons[i].want))
			return has_word(got, reasons[i].got);
	}
	return true; /* another wording: that it is refused is all that can be said */
}

static bool compare_case(struct vectors_run *r, json_t *expect, int rc, char *text)
{
	json_t *error = json_object_get(expect, "error"), *want;
	const char *key;

	if (r->broken || (rc < 0 && !error)) {
		(void)snprintf(text, TEXT_SIZE, "%s: %.400s", r->broken ? "not run" : "refused",
			       r->broken ? r->where.text : r->err.text);
		return false;
	}
	if (error && rc >= 0) {
		vectors_put_json(r, "error", json_string("no refusal"));
		return differs("error", error, json_object_get(r->got, "error"), text);
	}
	if (error && json_is_string(error) && !same_reason(json_string_value(error), r->err.text)) {
		(void)snprintf(text, TEXT_SIZE, "error: expected \"%.200s\", got \"%.200s\"",
			       json_string_value(error), r->err.text);
		return false;
	}
	json_object_foreach(expect, key, want)
	{
		double floor = json_number_value(json_object_get(r->floors, key));

		if (want == error)
			continue;
		if (!same_value(key, want, json_object_get(r->got, key), r->rtol, floor, 0, text))
			return false;
	}
	return true;
}

/* ---- the file ---- */

static int run_case(json_t *c, json_t *series, struct vectors_case *ret)
{
	const struct vectors_op *op = vectors_op_find(json_string_value(json_object_get(c, "op")));
	json_t *rtol = json_object_get(c, "rtol");
	struct vectors_run r = {.input = json_object_get(c, "input"),
				.series = series,
				.rtol = rtol ? json_number_value(rtol) : RTOL_FALLBACK};
	char text[TEXT_SIZE] = "";
	int rc = 0;

	ret->id = strdup(json_string_value(json_object_get(c, "id")));
	ret->op = strdup(json_string_value(json_object_get(c, "op")));
	if (!op) {
		ret->result = VECTORS_UNKNOWN;
		(void)snprintf(text, sizeof(text), "unknown op '%.200s'", ret->op ? ret->op : "");
	} else {
		r.got = json_object();
		r.floors = json_object();
		rc = r.got && r.floors ? op->run(&r) : -ENOMEM;
		if (rc == -ENOMEM || r.no_memory)
			rc = -ENOMEM;
		else
			ret->result = compare_case(&r, json_object_get(c, "expect"), rc, text)
					      ? VECTORS_PASS
					      : VECTORS_FAIL;
		json_decref(r.got);
		json_decref(r.floors);
		for (size_t i = 0; i < r.n_arrays; i++)
			free(r.arrays[i]);
	}
	ret->text = strdup(text);
	return rc != -ENOMEM && ret->id && ret->op && ret->text ? 0 : -ENOMEM;
}

static int check_case(json_t *c, size_t i, struct kg_err *err)
{
	json_t *id = json_object_get(c, "id"), *rtol = json_object_get(c, "rtol");
	const char *name = json_is_string(id) ? json_string_value(id) : "";
	const char *missing = NULL;

	if (!json_is_object(c))
		return kg_err_set(err, KG_EINVALID, "case %zu is no object", i + 1);
	if (!json_is_string(id))
		missing = "'id', a text";
	else if (!json_is_string(json_object_get(c, "op")))
		missing = "'op', a text";
	else if (!json_is_object(json_object_get(c, "input")))
		missing = "'input', an object";
	else if (!json_is_object(json_object_get(c, "expect")) ||
		 json_object_size(json_object_get(c, "expect")) == 0)
		missing = "'expect', an object with something in it";
	if (missing)
		return kg_err_set(err, KG_EINVALID, "case %zu ('%.100s') has no %s", i + 1, name,
				  missing);
	if (rtol && (!json_is_number(rtol) || !(json_number_value(rtol) >= 0)))
		return kg_err_set(err, KG_EINVALID,
				  "'rtol' of case %zu ('%.100s') is no number from 0", i + 1, name);
	return 0;
}

static int run_cases(json_t *root, struct vectors_report *r, struct kg_err *err)
{
	json_t *series = json_object_get(json_object_get(root, "meta"), "series");
	json_t *cases = json_object_get(root, "cases"), *c;
	size_t i;

	if (!json_is_object(root))
		return kg_err_set(err, KG_EINVALID, "the file is no JSON object");
	if (!json_is_array(cases))
		return kg_err_set(err, KG_EINVALID, "the file has no 'cases', a list");
	json_array_foreach(cases, i, c)
	{
		int rc = check_case(c, i, err);

		if (rc < 0)
			return rc;
	}
	r->cases = calloc(json_array_size(cases) + 1, sizeof(*r->cases));
	if (!r->cases)
		return kg_err_set(err, -ENOMEM, "out of memory");
	json_array_foreach(cases, i, c)
	{
		struct vectors_case *to = &r->cases[r->n++];

		if (run_case(c, series, to) < 0)
			return kg_err_set(err, -ENOMEM, "out of memory in case %zu", i + 1);
		r->pass += to->result == VECTORS_PASS;
		r->fail += to->result == VECTORS_FAIL;
		r->unknown += to->result == VECTORS_UNKNOWN;
	}
	return 0;
}

int vectors_run(const char *text, size_t len, struct vectors_report *ret, struct kg_err *err)
{
	struct vectors_report r = {0};
	json_error_t e;
	json_t *root;
	int rc;

	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		len -= 3;
	}
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
	if (!root)
		return kg_err_set(err, KG_EINVALID, "line %d, column %d: %s", e.line, e.column,
				  e.text);
	rc = run_cases(root, &r, err);
	json_decref(root);
	if (rc < 0)
		vectors_report_deinit(&r);
	else
		*ret = r;
	return rc;
}

void vectors_report_deinit(struct vectors_report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->cases[i].id);
		free(r->cases[i].op);
		free(r->cases[i].text);
	}
	free(r->cases);
	*r = (struct vectors_report){0};
}
