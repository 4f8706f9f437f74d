/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of PELT's changes stay. ANALYSIS.md's rule: within windows of at most 30 points between the
 * neighbours both tests must give max_p or less, the medians differ by min_effect_pct or more and
 * the pieces have min_segment points or more; the worst is taken out and its neighbours judged anew,
 * until all pass. Beyond it:
 *
 * - The mean test is of trimmed means (window_test.h), so that a spike near a step does not hide it.
 * - A change's place is made exact (changepoint_place.c) whenever its surroundings have changed, and
 *   only then judged: PELT's squares put it some points off in skewed noise, and points on the wrong
 *   side cost the tests their power.
 * - When the noise is autocorrelated, both p are corrected for it: the tests take the values as
 *   independent, and a series that wanders has a "change" in every second window otherwise.
 * - Next to a long piece the medians of all of both pieces must differ as much as those of the
 *   windows.
 * - The newest piece, while it is short, borrows the variance of the piece before it: with three or
 *   four points Welch's test has two degrees of freedom and would see a change of 15 sd only.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/changepoint_impl.h"
#include "coordinator/analysis/pelt.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/window_test.h"

#define PELT_PENALTY   3    /* times sigma^2 ln n */
#define FAR	       1000 /* deviations */
#define NEWEST_BORROWS 8    /* fewer points than this */
#define LONG	       (8 * WINDOW_MAX)

struct candidate {
	size_t at;
	size_t lo, hi;	   /* interval */
	size_t start, end; /* between which it was placed; end 0: not yet */
	double p;
	double fault; /* 0: passes; the larger the worse */
};

struct candidates {
	struct changepoint_series *s;
	struct candidate *c;
	size_t n;
};

static size_t piece_start(const struct candidates *l, size_t i)
{
	return i > 0 ? l->c[i - 1].at : 0;
}

static size_t piece_end(const struct candidates *l, size_t i)
{
	return i + 1 < l->n ? l->c[i + 1].at : l->s->n;
}

static double change_of(double before, double after)
{
	if (fabs(before) > 0)
		return fabs(after - before) / fabs(before);
	return fabs(after) > 0 ? INFINITY : 0;
}

static double median_of(struct changepoint_series *s, size_t start, size_t end)
{
	memcpy(s->room, s->x + start, (end - start) * sizeof(*s->room));
	return stats_median_inplace(s->room, end - start);
}

/* Between all of both pieces; in a series of 10^5 points windows of 30 differ by chance now and then. */
static double whole_change(struct candidates *l, size_t i)
{
	size_t at = l->c[i].at;

	return change_of(median_of(l->s, piece_start(l, i), at),
			 median_of(l->s, at, piece_end(l, i)));
}

static void judge(struct candidates *l, size_t i)
{
	const struct changepoint_options *o = l->s->options;
	struct candidate *c = &l->c[i];
	size_t nl = c->at - piece_start(l, i);
	size_t nr = piece_end(l, i) - c->at;
	struct window_sides w = {
		.n_left = nl < WINDOW_MAX ? nl : WINDOW_MAX,
		.n_right = nr < WINDOW_MAX ? nr : WINDOW_MAX,
		.pooled = i + 1 == l->n && nr < NEWEST_BORROWS,
	};
	struct window_result r;

	w.left = l->s->x + c->at - w.n_left;
	w.right = l->s->x + c->at;
	window_test(&w, o->max_p, &r);
	c->p = changepoint_dependent_p(fmax(r.rank_p, r.mean_p), l->s->autocorr);
	c->fault = 0;
	if (nl < o->min_segment || nr < o->min_segment)
		c->fault = 3;
	else if (!(c->p <= o->max_p))
		c->fault = 1 + c->p;
	else if (100 * change_of(r.median_left, r.median_right) < o->min_effect_pct)
		c->fault = 2;
	else if ((nl > LONG || nr > LONG) && 100 * whole_change(l, i) < o->min_effect_pct)
		c->fault = 2;
}

static void place(struct candidates *l, size_t i)
{
	size_t start = piece_start(l, i);
	size_t end = piece_end(l, i);
	struct changepoint_place p;

	if (l->c[i].start == start && l->c[i].end == end)
		return; /* it was, and it stays where it is */
	changepoint_find_place(l->s, start, l->c[i].at, end, &p);
	l->c[i].start = start;
	l->c[i].end = end;
	l->c[i].at = p.index;
	l->c[i].lo = p.lo;
	l->c[i].hi = p.hi;
}

/* After the change between i - 1 and i has gone. */
static void renew(struct candidates *l, size_t i)
{
	size_t from = i > 2 ? i - 2 : 0;
	size_t to = i + 2 < l->n ? i + 2 : l->n;

	if (i > 0)
		place(l, i - 1);
	if (i < l->n)
		place(l, i);
	for (i = from; i < to; i++)
		judge(l, i);
}

static void prune(struct candidates *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		judge(l, i);
	for (;;) {
		size_t worst = 0;

		for (i = 1; i < l->n; i++)
			if (l->c[i].fault > l->c[worst].fault)
				worst = i;
		if (l->n == 0 || !(l->c[worst].fault > 0))
			return;
		l->n--;
		memmove(l->c + worst, l->c + worst + 1, (l->n - worst) * sizeof(*l->c));
		renew(l, worst);
	}
}

/* The levels on both sides: of the pieces, or where these differ by less than what counts, because
 * they wander, of the windows that were judged. */
static void levels(struct candidates *l, size_t i, struct changepoint *c)
{
	size_t start = piece_start(l, i), at = l->c[i].at, end = piece_end(l, i);

	c->before = median_of(l->s, start, at);
	c->after = median_of(l->s, at, end);
	if (100 * change_of(c->before, c->after) >= l->s->options->min_effect_pct)
		return;
	c->before = median_of(l->s, at - start > WINDOW_MAX ? at - WINDOW_MAX : start, at);
	c->after = median_of(l->s, at, end - at > WINDOW_MAX ? at + WINDOW_MAX : end);
}

static int report(struct candidates *l, struct changepoint_list *ret)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		struct changepoint c = {
			.index = l->c[i].at,
			.lo = l->c[i].lo,
			.hi = l->c[i].hi,
			.end = l->c[i].at,
			.p = l->c[i].p,
			.kind = CHANGEPOINT_STEP,
		};
		int rc;

		levels(l, i, &c);
		rc = changepoint_add(ret, &c);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Far values move together, in their order: the squares of a value that is 10^9 deviations away would
 * leave no digit for all others. */
static double compressed(double z)
{
	double size = fmin(fabs(z), 1e300);

	if (size <= FAR)
		return z;
	return copysign(FAR * (1 + log(size / FAR)), z);
}

/* PELT on the series with noise 1 around 0. */
static int cut(struct changepoint_series *s, size_t **ret, size_t *ret_n)
{
	double middle = median_of(s, 0, s->n);
	size_t i;

	for (i = 0; i < s->n; i++)
		s->room[i] = compressed((s->x[i] - middle) / s->sigma);
	return pelt_find(s->room, s->n, PELT_PENALTY * log((double)s->n), s->options->min_segment,
			 ret, ret_n);
}

int changepoint_levels(struct changepoint_series *s, struct changepoint_list *ret)
{
	struct candidates l = {.s = s};
	size_t *cuts = NULL;
	size_t i;
	int rc;

	if (!(s->sigma > 0))
		return 0;
	rc = cut(s, &cuts, &l.n);
	if (rc < 0)
		return rc;
	s->autocorr = changepoint_autocorr(s->x, s->n, cuts, l.n, s->room);
	l.c = calloc(l.n + 1, sizeof(*l.c));
	rc = -ENOMEM;
	if (!l.c)
		goto out;
	for (i = 0; i < l.n; i++)
		l.c[i] = (struct candidate){.at = cuts[i]};
	prune(&l);
	for (i = 0; i < l.n; i++)
		place(&l, i);
	prune(&l);
	rc = report(&l, ret);
out:
	free(l.c);
	free(cuts);
	return rc;
}
