/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/changepoint.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/changepoint_impl.h"
#include "coordinator/analysis/edivisive.h"

void changepoint_options_init(struct changepoint_options *o)
{
	*o = (struct changepoint_options){
		.method = CHANGEPOINT_PELT,
		.min_effect_pct = 1,
		.max_p = 0.001,
		.min_segment = 3,
		.window_len = 50,
		.max_pvalue = 0.001,
	};
}

const char *changepoint_kind_name(enum changepoint_kind k)
{
	static const char *const names[] = {"step", "ramp", "variance", "suspect"};

	return names[k];
}

int changepoint_add(struct changepoint_list *l, const struct changepoint *c)
{
	size_t i;

	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 8;
		struct changepoint *at = realloc(l->at, cap * sizeof(*at));

		if (!at)
			return -ENOMEM;
		l->at = at;
		l->cap = cap;
	}
	for (i = l->n; i > 0 && l->at[i - 1].index > c->index; i--)
		l->at[i] = l->at[i - 1];
	l->at[i] = *c;
	l->n++;
	return 0;
}

static int check_options(const struct changepoint_options *o, struct kg_err *err)
{
	if (!(o->min_effect_pct >= 0) || !isfinite(o->min_effect_pct))
		return kg_err_set(err, KG_EINVALID, "min effect is %g %%, expected 0 or more",
				  o->min_effect_pct);
	if (!(o->max_p > 0 && o->max_p < 1) || !(o->max_pvalue > 0 && o->max_pvalue < 1))
		return kg_err_set(err, KG_EINVALID, "largest p is %g, expected between 0 and 1",
				  o->method == CHANGEPOINT_PELT ? o->max_p : o->max_pvalue);
	if (o->min_segment < 1 || o->min_segment > CHANGEPOINT_SEGMENT_MAX)
		return kg_err_set(err, KG_EINVALID, "shortest segment is %zu, expected 1 to %d",
				  o->min_segment, CHANGEPOINT_SEGMENT_MAX);
	if (o->window_len < 2 || o->window_len > EDIVISIVE_WINDOW_MAX)
		return kg_err_set(err, KG_EINVALID, "window is %zu points, expected 2 to %d",
				  o->window_len, EDIVISIVE_WINDOW_MAX);
	if (!(o->min_magnitude >= 0))
		return kg_err_set(err, KG_EINVALID, "min magnitude is %g, expected 0 or more",
				  o->min_magnitude);
	return 0;
}

/* Copies x times 2^-e with the largest magnitude in [0.25, 0.5): exact, but for what is 2^1074 times
 * smaller than the largest. */
static int scale(const double *x, size_t n, double *ret, int *ret_e, struct kg_err *err)
{
	double top = 0;
	size_t i;
	int e = 0;

	for (i = 0; i < n; i++) {
		if (!isfinite(x[i]))
			return kg_err_set(err, KG_EINVALID,
					  "value %zu is %s, expected finite numbers", i,
					  isnan(x[i]) ? "nan" : "infinite");
		top = fmax(top, fabs(x[i]));
	}
	if (top > 0)
		(void)frexp(top, &e);
	e++;
	for (i = 0; i < n; i++)
		ret[i] = ldexp(x[i], -e);
	*ret_e = e;
	return 0;
}

static int run_levels(struct changepoint_series *s, struct changepoint_list *l)
{
	int rc = changepoint_levels(s, l);

	if (rc < 0)
		return rc;
	changepoint_ramps(s, l);
	rc = changepoint_newest(s, l);
	return rc < 0 ? rc : changepoint_spreads(s, l);
}

static int run_edivisive(const struct changepoint_series *s, struct changepoint_list *l)
{
	struct edivisive_options o = {.window_len = s->options->window_len,
				      .max_pvalue = s->options->max_pvalue,
				      .min_magnitude = s->options->min_magnitude};
	struct edivisive_point *points = NULL;
	size_t n = 0;
	size_t i;
	int rc = edivisive_find(s->x, s->n, &o, &points, &n);

	for (i = 0; rc == 0 && i < n; i++) {
		struct changepoint c = {.index = points[i].index,
					.end = points[i].index,
					.before = points[i].mean_before,
					.after = points[i].mean_after,
					.p = points[i].p,
					.kind = CHANGEPOINT_STEP};
		struct changepoint_place p;

		changepoint_find_place(s, i > 0 ? points[i - 1].index : 0, c.index,
				       i + 1 < n ? points[i + 1].index : s->n, &p);
		c.lo = p.lo < c.index ? p.lo : c.index;
		c.hi = p.hi > c.index ? p.hi : c.index;
		rc = changepoint_add(l, &c);
	}
	free(points);
	return rc;
}

static void unscale(struct changepoint_list *l, int e)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		struct changepoint *c = &l->at[i];

		c->has_change = fabs(c->before) > 0;
		c->change_pct = c->has_change ? 100 * (c->after / c->before - 1) : 0;
		if (!isfinite(c->change_pct))
			c->has_change = false;
		c->before = ldexp(c->before, e);
		c->after = ldexp(c->after, e);
	}
}

static int run(struct changepoint_series *s, struct changepoint_list *l)
{
	if (s->options->method == CHANGEPOINT_EDIVISIVE)
		return run_edivisive(s, l);
	if (s->options->trend)
		return changepoint_trends(s, l);
	s->sigma = changepoint_sigma(s->x, s->n, s->room);
	return run_levels(s, l);
}

int changepoint_find(const double *x, size_t n, const struct changepoint_options *o,
		     struct changepoint **ret, size_t *ret_n, struct kg_err *err)
{
	struct changepoint_series s = {.n = n, .options = o};
	struct changepoint_list l = {0};
	double *room;
	int e = 0;
	int rc = check_options(o, err);

	if (rc < 0)
		return rc;
	room = calloc(4 * n + 2, sizeof(*room));
	if (!room)
		return kg_err_set(err, -ENOMEM, "out of memory for %zu values", n);
	s.x = room;
	s.room = room + 2 * n;
	rc = scale(x, n, room, &e, err);
	if (rc < 0)
		goto out;
	if (o->hampel) {
		changepoint_hampel(room, n, room + n);
		s.x = room + n;
	}
	if (n >= 2)
		rc = run(&s, &l);
	if (rc < 0) {
		free(l.at);
		(void)kg_err_set(err, rc, "out of memory for %zu values", n);
		goto out;
	}
	unscale(&l, e);
	*ret = l.at;
	*ret_n = l.n;
out:
	free(room);
	return rc;
}

int changepoint_qhat(const double *x, size_t n, size_t *ret_index, double *ret_qhat,
		     struct kg_err *err)
{
	double *scaled = calloc(n + 1, sizeof(*scaled));
	double q = 0;
	int e = 0;
	int rc;

	if (!scaled)
		return kg_err_set(err, -ENOMEM, "out of memory for %zu values", n);
	rc = scale(x, n, scaled, &e, err);
	if (rc == 0)
		rc = edivisive_qhat(scaled, n, ret_index, &q);
	if (rc == 0)
		*ret_qhat = ldexp(q, e);
	else if (rc == -ENOMEM)
		(void)kg_err_set(err, rc, "out of memory for %zu values", n);
	free(scaled);
	return rc;
}
