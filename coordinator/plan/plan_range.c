/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/plan_range.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

#define MAX_TEXT 200

bool plan_is_range(const struct kg_param_decl *d, const char *text)
{
	return (d->type == KG_PARAM_INT || d->type == KG_PARAM_BYTES) && strstr(text, "..");
}

/* Cuts blanks off both ends, in place. */
static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		s[--n] = '\0';
	return s;
}

static int read_number(const struct kg_workload *w, const char *param, const char *text,
		       int64_t *ret, struct kg_err *err)
{
	char *value = NULL;
	int rc = kg_workload_normalise(w, param, text, &value, err);

	if (rc < 0)
		return rc;
	rc = kg_parse_i64(value, ret);
	free(value);
	return rc < 0 ? kg_err_set(err, KG_EINVALID, "'%s': '%.64s' is too large", param, text) : 0;
}

/* A step is no value: the parameter's limits do not hold for it, its units do. */
static int read_step(const struct kg_workload *w, const struct kg_param_decl *d, const char *text,
		     struct plan_range *r, struct kg_err *err)
{
	struct kg_param_decl wide = *d;
	struct kg_workload one = {.name = w->name, .params = &wide, .n_params = 1};
	int64_t step = 0;
	int rc;

	if (r->multiply) {
		if (kg_parse_u64(text, &r->step) < 0 || r->step < 2)
			return kg_err_set(err, KG_EINVALID,
					  "'%s': the factor behind '*' must be a whole number of "
					  "at least 2, not '%.64s'",
					  d->name, text);
		return 0;
	}
	wide.min = d->type == KG_PARAM_INT ? INT64_MIN : 0;
	wide.max = INT64_MAX;
	rc = read_number(&one, d->name, text, &step, err);
	if (rc == 0 && step < 1)
		rc = kg_err_set(err, KG_EINVALID,
				"'%s': the step behind '+' must be at least 1, not '%.64s'",
				d->name, text);
	r->step = (uint64_t)step;
	return rc;
}

static int count(const struct kg_param_decl *d, const char *text, struct plan_range *r,
		 struct kg_err *err)
{
	int64_t v;

	if (r->first > r->last)
		return kg_err_set(err, KG_EINVALID,
				  "'%s': the range '%.64s' ends before it begins; write '%" PRId64
				  "..%" PRId64 "'",
				  d->name, text, r->last, r->first);
	if (!r->multiply) {
		/* in 64 bits without a sign, the difference of any two fits */
		r->n = ((uint64_t)r->last - (uint64_t)r->first) / r->step;
		r->n += r->n < UINT64_MAX;
		return 0;
	}
	if (r->first < 1)
		return kg_err_set(err, KG_EINVALID,
				  "'%s': a range with a factor starts from 1 or more, not %" PRId64,
				  d->name, r->first);
	r->n = 1;
	for (v = r->first; (uint64_t)v <= (uint64_t)r->last / r->step; v = plan_range_next(r, v))
		r->n++;
	return 0;
}

int plan_range_parse(const struct kg_workload *w, const struct kg_param_decl *d, const char *text,
		     struct plan_range *ret_range, struct kg_err *err)
{
	struct plan_range r = {.step = 1};
	char buf[MAX_TEXT];
	char *last, *step = NULL;
	int rc;

	if (strlen(text) >= sizeof(buf))
		return kg_err_set(err, KG_EINVALID, "'%s': the range '%.40s...' is too long",
				  d->name, text);
	(void)snprintf(buf, sizeof(buf), "%s", text);
	last = strstr(buf, "..");
	*last = '\0';
	last = trim(last + 2);
	if (*last)
		step = strpbrk(last + 1, "+*");
	if (step) {
		r.multiply = *step == '*';
		*step++ = '\0';
		rc = read_step(w, d, trim(step), &r, err);
		if (rc < 0)
			return rc;
	}
	if (!*trim(buf) || !*last)
		return kg_err_set(err, KG_EINVALID,
				  "'%s': a range has two ends, as in '64..1024*2', not '%.64s'",
				  d->name, text);
	rc = read_number(w, d->name, trim(buf), &r.first, err);
	if (rc == 0)
		rc = read_number(w, d->name, trim(last), &r.last, err);
	if (rc == 0)
		rc = count(d, text, &r, err);
	if (rc == 0)
		*ret_range = r;
	return rc;
}

int64_t plan_range_next(const struct plan_range *r, int64_t value)
{
	return r->multiply ? (int64_t)((uint64_t)value * r->step)
			   : (int64_t)((uint64_t)value + r->step);
}
