/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps and ramps. PELT knows steps only and makes a stair of a level that moves slowly. So each run
 * of changes in one direction is compared with one ramp: level, straight line, level. Both are
 * fitted by least squares to the points from 30 before to 30 after (outliers pulled in), and the one
 * with the smaller m ln(RSS / m) + penalty is kept, with PELT's penalty 3 ln n for each place: a
 * ramp has two, a stair one for each step.
 */
#include <math.h>

#include "coordinator/analysis/changepoint_impl.h"
#include "coordinator/analysis/window_test.h"

#define PLACE_PENALTY 3	   /* times ln n */
#define EVIDENCE      6	   /* 2 ln 20: odds of 20 to 1, as steps are what histories are made of */
#define STEPS_APART   10   /* points; nearer, a ramp is no rarer than two steps in one direction */
#define CLIP_SIGMAS   3	   /* beyond the two levels */
#define GRID_MAX      24   /* places tried each for beginning and end, then all near the best */
#define RUN_MAX	      12   /* changes that one ramp may replace */
#define CHI2_95	      3.84 /* of one degree of freedom */

struct ramp_window {
	const struct changepoint_series *s;
	size_t start, end; /* of the points looked at */
	double low, high;  /* clip */
	double *sum;	   /* of the values before a point; n + 1 */
	double *moment;	   /* of point * value; n + 1 */
	double squares;	   /* around the mean */
	double penalty;	   /* for one place */
};

struct ramp {
	size_t from, to; /* first point off the old level, first on the new one; in the window */
	double rss;
	size_t lo, hi; /* of from */
};

static double clipped(const struct ramp_window *w, size_t i)
{
	return fmax(w->low, fmin(w->high, w->s->x[i]));
}

static void prepare(struct ramp_window *w, double a, double b)
{
	const struct changepoint_series *s = w->s;
	double m = (double)(w->end - w->start);
	double mean;
	size_t i;

	w->low = fmin(a, b) - CLIP_SIGMAS * s->sigma;
	w->high = fmax(a, b) + CLIP_SIGMAS * s->sigma;
	w->sum = s->room;
	w->moment = s->room + s->n + 1;
	w->sum[0] = w->moment[0] = 0;
	for (i = 0; i < w->end - w->start; i++) {
		/* around a value inside, so that an offset does not eat the squares */
		double v = clipped(w, w->start + i) - a;

		w->sum[i + 1] = w->sum[i] + v;
		w->moment[i + 1] = w->moment[i] + (double)i * v;
	}
	mean = w->sum[w->end - w->start] / m;
	w->squares = 0;
	for (i = w->start; i < w->end; i++)
		w->squares += (clipped(w, i) - a - mean) * (clipped(w, i) - a - mean);
	w->penalty = PLACE_PENALTY * log((double)s->n) * (1 + s->autocorr) / (1 - s->autocorr);
}

static double fit_cost(const struct ramp_window *w, double rss)
{
	double m = (double)(w->end - w->start);
	double jump = (w->high - w->low) * 1e-9; /* no noise at all is no infinite likelihood */

	return m * log(fmax(rss, 0) / m + jump * jump);
}

static double ramp_rss(const struct ramp_window *w, size_t from, size_t to)
{
	size_t n = w->end - w->start;
	double m = (double)n;
	double k = (double)(to - from) + 1; /* f rises by 1 / k a point */
	double tail = (double)(n - to);
	double f = (k - 1) / 2 + tail;
	double ff = (k - 1) * (2 * k - 1) / (6 * k) + tail - f * f / m;
	double xf = (w->moment[to] - w->moment[from] -
		     ((double)from - 1) * (w->sum[to] - w->sum[from])) /
		    k;

	xf += w->sum[n] - w->sum[to] - f / m * w->sum[n];
	return ff > 0 ? w->squares - xf * xf / ff : w->squares;
}

/* The best of the grid from `around` less `reach` to it and `reach`; 0 0 and a reach of n: all. */
static void search(const struct ramp_window *w, size_t margin, size_t reach, size_t stride,
		   struct ramp *best)
{
	size_t n = w->end - w->start;
	size_t from = best->from > margin + reach ? best->from - reach : margin;
	size_t from_end = best->from + reach + 1;
	size_t to_start = best->to > reach ? best->to - reach : 0;
	size_t to_end = best->to + reach + 1;

	for (; from < from_end && from + 2 + margin <= n; from += stride) {
		size_t to = from + 2 > to_start ? from + 2 : to_start;

		for (; to < to_end && to + margin <= n; to += stride) {
			double rss = ramp_rss(w, from, to);

			if (rss < best->rss) {
				best->rss = rss;
				best->from = from;
				best->to = to;
			}
		}
	}
}

static struct ramp best_ramp(const struct ramp_window *w, size_t margin)
{
	size_t n = w->end - w->start;
	struct ramp best = {.rss = INFINITY};
	size_t stride = 1 + n / GRID_MAX;

	search(w, margin, n, stride, &best);
	if (stride > 1 && best.rss < INFINITY)
		search(w, margin, stride - 1, 1, &best);
	return best;
}

/* Beginnings that fit nearly as well as the best, each with its best end. */
static void ramp_interval(const struct ramp_window *w, size_t margin, struct ramp *best)
{
	double limit = fit_cost(w, best->rss) + CHI2_95;
	size_t n = w->end - w->start;
	int side;

	best->lo = best->hi = best->from;
	for (side = -1; side <= 1; side += 2) {
		size_t *edge = side < 0 ? &best->lo : &best->hi;

		for (;;) {
			struct ramp r = {.from = side < 0 ? *edge - 1 : *edge + 1, .rss = INFINITY};
			size_t to;

			if (*edge == margin && side < 0)
				break;
			for (to = r.from + 2; to + margin <= n; to++)
				r.rss = fmin(r.rss, ramp_rss(w, r.from, to));
			if (!(fit_cost(w, r.rss) <= limit))
				break;
			*edge = r.from;
		}
	}
}

static double stair_cost(const struct ramp_window *w, const struct changepoint *c, size_t n)
{
	double rss = 0;
	size_t i, k;

	for (k = 0; k <= n; k++) {
		size_t start = k > 0 ? c[k - 1].index : w->start;
		size_t end = k < n ? c[k].index : w->end;
		double mean = 0;

		for (i = start; i < end; i++)
			mean += clipped(w, i);
		mean /= (double)(end - start);
		for (i = start; i < end; i++)
			rss += (clipped(w, i) - mean) * (clipped(w, i) - mean);
	}
	return fit_cost(w, rss) + (double)n * w->penalty;
}

static bool upwards(const struct changepoint *c)
{
	return c->after > c->before;
}

static double evidence(const struct changepoint *c, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (c[i].index - c[i - 1].index < STEPS_APART)
			return 0;
	return EVIDENCE;
}

/* Puts one ramp in the place of the changes i..i+n, when it fits better. */
static bool try_ramp(const struct changepoint_series *s, struct changepoint_list *l, size_t i,
		     size_t n)
{
	struct changepoint *c = &l->at[i];
	size_t start = i > 0 ? l->at[i - 1].end : 0;
	size_t end = i + n < l->n ? l->at[i + n].index : s->n;
	struct ramp_window w = {.s = s};
	struct ramp r;
	size_t margin = n == 1 ? s->options->min_segment : 1;
	size_t k;

	w.start = c->index - start > WINDOW_MAX ? c->index - WINDOW_MAX : start;
	w.end = end - c[n - 1].index > WINDOW_MAX ? c[n - 1].index + WINDOW_MAX : end;
	prepare(&w, c->before, c[n - 1].after);
	r = best_ramp(&w, margin);
	if (!(fit_cost(&w, r.rss) + evidence(c, n) + 2 * w.penalty < stair_cost(&w, c, n)))
		return false;
	ramp_interval(&w, margin, &r);
	c->kind = CHANGEPOINT_RAMP;
	c->index = w.start + r.from;
	c->end = w.start + r.to;
	c->lo = w.start + r.lo;
	c->hi = w.start + r.hi;
	c->after = c[n - 1].after;
	for (k = 1; k < n; k++)
		c->p = fmin(c->p, c[k].p);
	l->n -= n - 1;
	for (k = i + 1; k < l->n; k++)
		l->at[k] = l->at[k + n - 1];
	return true;
}

void changepoint_ramps(const struct changepoint_series *s, struct changepoint_list *l)
{
	size_t i, n;

	for (i = 0; i < l->n; i++) {
		for (n = 1; n < RUN_MAX && i + n < l->n; n++)
			if (upwards(&l->at[i + n]) != upwards(&l->at[i]))
				break;
		while (n > 0 && !try_ramp(s, l, i, n))
			n--;
	}
}
