/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of the spread where the level stays. The distances from the pieces' medians are turned
 * into normal scores of their ranks (van der Waerden), which have deviation 1 whatever the noise and
 * its outliers, and PELT looks for steps in them. What stays must be far surer than a change of
 * level (p of the ranks at most a hundredth of max_p, ten points a side, the spread at least
 * doubled or halved): a spread that changes is seldom worth an alarm, and noise of several modes
 * looks like it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/changepoint_impl.h"
#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/pelt.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/window_test.h"

#define SIDE_MIN     10
#define RATIO_MIN    2
#define SURER	     100 /* times than max_p */
#define SCREEN	     3	 /* largest |z| of a division below which PELT is not asked */
#define PELT_PENALTY 3
#define AROUND	     15 /* points on each side for a local median */
#define STEP_NEAR    5	/* points from a change of level, which itself widens what is around it */

struct ranked {
	double value;
	size_t at;
};

static int by_value(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->value;
	double y = ((const struct ranked *)b)->value;

	return (x > y) - (x < y);
}

/* |x - median of its piece| */
static void distances(const struct changepoint_series *s, const struct changepoint_list *l,
		      double *ret)
{
	size_t i, k;

	for (k = 0; k <= l->n; k++) {
		size_t start = k > 0 ? l->at[k - 1].index : 0;
		size_t end = k < l->n ? l->at[k].index : s->n;
		double m;

		memcpy(s->room, s->x + start, (end - start) * sizeof(*s->room));
		m = stats_median_inplace(s->room, end - start);
		for (i = start; i < end; i++)
			ret[i] = fabs(s->x[i] - m);
	}
}

/* |x - median of the other points around it, in its piece|: steps too small to count and drift,
 * which the pieces leave in, are no spread. */
static void local_distances(const struct changepoint_series *s, const struct changepoint_list *l,
			    double *ret)
{
	size_t i, k;

	for (k = 0; k <= l->n; k++) {
		size_t start = k > 0 ? l->at[k - 1].index : 0;
		size_t end = k < l->n ? l->at[k].index : s->n;

		for (i = start; i < end; i++) {
			size_t from = i > start + AROUND ? i - AROUND : start;
			size_t to = i + AROUND + 1 < end ? i + AROUND + 1 : end;
			double work[2 * AROUND];

			memcpy(work, s->x + from, (i - from) * sizeof(*work));
			memcpy(work + (i - from), s->x + i + 1, (to - i - 1) * sizeof(*work));
			ret[i] = 0;
			if (to - from > 1)
				ret[i] = fabs(s->x[i] - stats_median_inplace(work, to - from - 1));
		}
	}
}

static void scores(const double *d, size_t n, struct ranked *work, double *ret)
{
	size_t i, k, end;

	for (i = 0; i < n; i++)
		work[i] = (struct ranked){d[i], i};
	qsort(work, n, sizeof(*work), by_value);
	for (i = 0; i < n; i = end) {
		double z;

		for (end = i + 1; end < n && work[end].value <= work[i].value; end++)
			continue;
		z = stats_norm_quantile((double)(i + end + 1) / 2 / (double)(n + 1));
		for (k = i; k < end; k++)
			ret[work[k].at] = z;
	}
}

/* Whether any division is worth ranking and cutting: the largest |z| of the distances themselves,
 * outliers pulled in to five times the median. Costs no sorting. */
static bool worth_a_look(const struct changepoint_series *s, const double *d)
{
	double n = (double)s->n;
	double limit, mean = 0, squares = 0, sum = 0;
	size_t i;

	memcpy(s->room, d, s->n * sizeof(*d));
	limit = 5 * stats_median_inplace(s->room, s->n);
	for (i = 0; i < s->n; i++) {
		s->room[i] = fmin(d[i], limit);
		mean += s->room[i] / n;
	}
	for (i = 0; i < s->n; i++)
		squares += (s->room[i] - mean) * (s->room[i] - mean);
	for (i = 1; i < s->n; i++) {
		double t = (double)i / n;

		sum += s->room[i - 1] - mean;
		if (i >= SIDE_MIN && s->n - i >= SIDE_MIN &&
		    sum * sum > SCREEN * SCREEN * t * (1 - t) * squares)
			return true;
	}
	return false;
}

static bool near_level_change(const struct changepoint_list *l, size_t at)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (at + STEP_NEAR > l->at[i].index && at < l->at[i].end + STEP_NEAR)
			return true;
	return false;
}

static bool judge(const struct changepoint_series *s, const double *d, const size_t cuts[3],
		  struct changepoint *ret)
{
	size_t nl = cuts[1] - cuts[0];
	size_t nr = cuts[2] - cuts[1];
	struct window_sides w = {.n_left = nl < WINDOW_MAX ? nl : WINDOW_MAX,
				 .n_right = nr < WINDOW_MAX ? nr : WINDOW_MAX};
	double needed = s->options->max_p / SURER;
	struct window_result r;

	if (nl < SIDE_MIN || nr < SIDE_MIN)
		return false;
	w.left = d + cuts[1] - w.n_left;
	w.right = d + cuts[1];
	window_test(&w, needed, &r);
	*ret = (struct changepoint){.index = cuts[1],
				    .lo = cuts[1],
				    .hi = cuts[1],
				    .end = cuts[1],
				    .kind = CHANGEPOINT_VARIANCE,
				    .p = changepoint_dependent_p(r.rank_p, s->autocorr)};
	memcpy(s->room, d + cuts[0], nl * sizeof(*d));
	ret->before = 1.4826 * stats_median_inplace(s->room, nl);
	memcpy(s->room, d + cuts[1], nr * sizeof(*d));
	ret->after = 1.4826 * stats_median_inplace(s->room, nr);
	return ret->p <= needed &&
	       fmax(ret->before, ret->after) >= RATIO_MIN * fmin(ret->before, ret->after);
}

/* Places whose likelihood is near enough to the best one's, of scores with noise 1. */
static void interval(const double *z, const size_t cuts[3], struct changepoint *c)
{
	double m[2] = {0, 0};
	double total = 0;
	size_t i;

	for (i = cuts[0]; i < cuts[2]; i++)
		m[i >= cuts[1]] +=
			z[i] / (double)(i < cuts[1] ? cuts[1] - cuts[0] : cuts[2] - cuts[1]);
	for (i = cuts[1]; i > cuts[0] + 1; i--) {
		total += (z[i - 1] - m[0]) * (z[i - 1] - m[0]) -
			 (z[i - 1] - m[1]) * (z[i - 1] - m[1]);
		if (total > -3.84)
			c->lo = i - 1;
	}
	for (total = 0, i = cuts[1]; i + 1 < cuts[2]; i++) {
		total += (z[i] - m[1]) * (z[i] - m[1]) - (z[i] - m[0]) * (z[i] - m[0]);
		if (total > -3.84)
			c->hi = i + 1;
	}
}

/* Drops what does not pass between its neighbours, from the left; the rest. */
static size_t sift(const struct changepoint_series *s, const struct changepoint_list *levels,
		   const double *d, size_t *cuts, size_t n)
{
	struct changepoint c;
	size_t kept = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		size_t around[3] = {kept > 0 ? cuts[kept - 1] : 0, cuts[i],
				    i + 1 < n ? cuts[i + 1] : s->n};

		if (!near_level_change(levels, cuts[i]) && judge(s, d, around, &c))
			cuts[kept++] = cuts[i];
	}
	return kept;
}

static int find(const struct changepoint_series *s, struct changepoint_list *l, const double *d,
		const double *z)
{
	size_t *cuts = NULL;
	size_t n, i;
	int rc = pelt_find(z, s->n, PELT_PENALTY * log((double)s->n), SIDE_MIN, &cuts, &n);

	if (rc < 0)
		return rc;
	n = sift(s, l, d, cuts, n);
	n = sift(s, l, d, cuts, n); /* neighbours have gone */
	for (i = 0; rc == 0 && i < n; i++) {
		size_t around[3] = {i > 0 ? cuts[i - 1] : 0, cuts[i],
				    i + 1 < n ? cuts[i + 1] : s->n};
		struct changepoint c;

		if (!judge(s, d, around, &c))
			continue;
		interval(z, around, &c);
		rc = changepoint_add(l, &c);
	}
	free(cuts);
	return rc;
}

int changepoint_spreads(const struct changepoint_series *s, struct changepoint_list *l)
{
	double *d;
	struct ranked *work;
	int rc = -ENOMEM;

	if (s->n < 2 * SIDE_MIN)
		return 0;
	d = calloc(2 * s->n, sizeof(*d));
	work = calloc(s->n, sizeof(*work));
	if (d && work) {
		distances(s, l, d);
		rc = 0;
		if (worth_a_look(s, d)) {
			local_distances(s, l, d);
			scores(d, s->n, work, d + s->n);
			rc = find(s, l, d, d + s->n);
		}
	}
	free(work);
	free(d);
	return rc;
}
