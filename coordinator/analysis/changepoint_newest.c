/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The newest points, when they look like a change that is too young to be one: two or more, as many
 * as no test could call a change at max_p (2 / C(before + newest, newest) is above it), all beyond
 * all of the up to 30 points before, by min_effect_pct and by 4 robust deviations of those. One
 * point alone is a spike until a second one says the same.
 */
#include <math.h>
#include <string.h>

#include "coordinator/analysis/changepoint_impl.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/window_test.h"

#define NEWEST_MIN 2
#define BEFORE_MIN 8 /* fewer show no spread */
#define SIGMAS	   4

/* Smallest two-sided p of the rank test. */
static double smallest_p(size_t before, size_t newest)
{
	double ways = 1;
	size_t i;

	for (i = 1; i <= newest; i++)
		ways *= (double)(before + i) / (double)i;
	return fmin(1, 2 / ways);
}

static bool separate(const double *x, size_t before, size_t newest, struct changepoint *c)
{
	double low = INFINITY, high = -INFINITY;
	double new_low = INFINITY, new_high = -INFINITY;
	double work[WINDOW_MAX];
	double needed, spread;
	size_t i;

	for (i = 0; i < before; i++) {
		low = fmin(low, x[i]);
		high = fmax(high, x[i]);
	}
	for (i = before; i < before + newest; i++) {
		new_low = fmin(new_low, x[i]);
		new_high = fmax(new_high, x[i]);
	}
	if (!(new_low > high || new_high < low))
		return false;
	memcpy(work, x, before * sizeof(*work));
	c->before = stats_median_inplace(work, before);
	for (i = 0; i < before; i++)
		work[i] = fabs(x[i] - c->before);
	spread = 1.4826 * stats_median_inplace(work, before);
	memcpy(work, x + before, newest * sizeof(*work));
	c->after = stats_median_inplace(work, newest);
	needed = new_low > high ? new_low - c->before : c->before - new_high;
	return needed > SIGMAS * spread;
}

int changepoint_newest(const struct changepoint_series *s, struct changepoint_list *l)
{
	const struct changepoint_options *o = s->options;
	size_t start = l->n > 0 ? l->at[l->n - 1].end : 0;
	size_t newest;

	for (newest = NEWEST_MIN; newest + BEFORE_MIN <= s->n - start; newest++) {
		size_t at = s->n - newest;
		size_t before = at - start < WINDOW_MAX ? at - start : WINDOW_MAX;
		struct changepoint c = {
			.index = at, .lo = at, .hi = at, .end = at, .kind = CHANGEPOINT_SUSPECT};

		c.p = smallest_p(before, newest);
		if (c.p <= o->max_p && newest >= o->min_segment)
			break;
		if (newest >= WINDOW_MAX)
			break;
		if (!separate(s->x + at - before, before, newest, &c))
			continue;
		if (100 * fabs(c.after - c.before) >= o->min_effect_pct * fabs(c.before))
			return changepoint_add(l, &c);
	}
	return 0;
}
