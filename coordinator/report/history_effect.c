/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/report/history_effect.h"

#include <math.h>

#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/verdict_shift.h"

#define LEVEL 0.95

struct sides {
	double before[HISTORY_EFFECT_POINTS], after[HISTORY_EFFECT_POINTS];
	size_t n_before, n_after;
};

static bool moves_level(const struct changepoint *c)
{
	return c->kind != CHANGEPOINT_VARIANCE;
}

/* The first point of the level that c[k] ends. */
static size_t level_start(const struct changepoint *c, size_t k)
{
	while (k-- > 0)
		if (moves_level(&c[k]))
			return c[k].end > c[k].index ? c[k].end : c[k].index;
	return 0;
}

static size_t level_end(const struct changepoint *c, size_t n_c, size_t k, size_t n)
{
	while (++k < n_c)
		if (moves_level(&c[k]))
			return c[k].index < n ? c[k].index : n;
	return n;
}

static void take(const double *x, size_t n, const struct changepoint *c, size_t n_c, size_t k,
		 struct sides *s)
{
	size_t from = level_start(c, k), at = c[k].index;
	size_t start = c[k].end > at ? c[k].end : at, end = level_end(c, n_c, k, n);

	if (at > HISTORY_EFFECT_POINTS && from < at - HISTORY_EFFECT_POINTS)
		from = at - HISTORY_EFFECT_POINTS;
	s->n_before = s->n_after = 0;
	for (; from < at && from < n; from++)
		s->before[s->n_before++] = x[from];
	for (; start < end && s->n_after < HISTORY_EFFECT_POINTS; start++)
		s->after[s->n_after++] = x[start];
}

/* Logarithms where there are, else what a power of two makes small enough for differences. */
static bool scale(struct sides *s)
{
	double top = 0, least = (double)INFINITY;
	double *all[] = {s->before, s->after};
	size_t n[] = {s->n_before, s->n_after}, side, i;
	int e = 0;

	for (side = 0; side < 2; side++)
		for (i = 0; i < n[side]; i++) {
			top = fmax(top, fabs(all[side][i]));
			least = fmin(least, all[side][i]);
		}
	(void)frexp(top, &e);
	for (side = 0; side < 2; side++)
		for (i = 0; i < n[side]; i++)
			all[side][i] = least > 0 ? log(all[side][i]) : ldexp(all[side][i], -e);
	return least > 0;
}

static double percent(double shift, bool log_scale, double base)
{
	return 100 * (log_scale ? expm1(shift) : shift / base) + 0.0;
}

int history_effect(const double *x, size_t n, const struct changepoint *c, size_t n_c, size_t k,
		   struct history_effect *ret, struct kg_err *err)
{
	struct stats_shift shift;
	struct sides s;
	bool log_scale;
	double base;
	int rc;

	*ret = (struct history_effect){.has_effect = false};
	take(x, n, c, n_c, k, &s);
	if (!moves_level(&c[k]) || s.n_before == 0 || s.n_after == 0)
		return 0;
	log_scale = scale(&s);
	rc = verdict_shift(s.after, s.n_after, s.before, s.n_before, LEVEL, &shift, err);
	if (rc < 0)
		return rc;
	base = log_scale ? 1 : fabs(stats_median_inplace(s.before, s.n_before));
	if (base == 0)
		return 0;
	ret->pct = percent(shift.shift, log_scale, base);
	ret->lo_pct = percent(shift.lo, log_scale, base);
	ret->hi_pct = percent(shift.hi, log_scale, base);
	ret->has_effect = isfinite(ret->pct);
	ret->has_interval = ret->has_effect && shift.has_interval && isfinite(ret->lo_pct) &&
			    isfinite(ret->hi_pct);
	return 0;
}
