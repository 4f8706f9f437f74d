/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The place of a change whose levels are about known. Benchmark noise is skewed, with a hard lower
 * edge, several modes and outliers; squares, and ranks too, then put the change some points off. So
 * the noise's own density is used: around the two levels' medians the values of both sides are
 * pooled, their density is estimated with a kernel (biweight, Silverman's width from the median
 * deviation; the value itself left out), and the place is the one with the largest likelihood.
 * A floor under the density keeps one outlier from deciding. With a flat prior the likelihoods of
 * all places make the interval that holds 95 %.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "coordinator/analysis/changepoint_impl.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/window_test.h"

#define LEVEL	      0.95
#define WIDTH_MAX     (2 * WINDOW_MAX)
#define BANDWIDTH     2.5   /* 0.9 of a normal kernel's, times 2.78 for a biweight one */
#define FAR_AWAY      1e300 /* from all values, in kernel widths */
#define DENSITY_FLOOR 0.02  /* of one kernel's peak */

struct place_window {
	const double *x;
	size_t n;	 /* points */
	size_t near;	 /* of them, on the left side */
	double level[2]; /* medians */
	double spread;
	double gain[WIDTH_MAX]; /* log likelihood of being on the left less on the right */
};

static bool measure(struct place_window *w)
{
	double work[WIDTH_MAX];
	size_t i;

	memcpy(work, w->x, w->near * sizeof(*work));
	w->level[0] = stats_median_inplace(work, w->near);
	memcpy(work, w->x + w->near, (w->n - w->near) * sizeof(*work));
	w->level[1] = stats_median_inplace(work, w->n - w->near);
	for (i = 0; i < w->n; i++)
		work[i] = fabs(w->x[i] - w->level[i >= w->near]);
	w->spread = 1.4826 * stats_median_inplace(work, w->n);
	return w->spread > 0;
}

static double kernel(double distance)
{
	double k = 1 - distance * distance;

	return k > 0 ? k * k : 0;
}

/* Four values at once, as gcc and clang have it on every machine: most of the time that a change
 * costs goes into this sum. */
typedef double four __attribute__((vector_size(32)));
typedef int64_t four_masks __attribute__((vector_size(32)));

/* Sum of the kernels around `at`. The noise is in kernel widths and ends with FAR_AWAY, up to a
 * multiple of four. */
static double density(const double *noise, size_t n, double at)
{
	four sum = {0, 0, 0, 0};
	size_t i;

	for (i = 0; i < n; i += 4) {
		four k;

		memcpy(&k, noise + i, sizeof(k));
		k = at - k;
		k = 1 - k * k;
		k = (four)((four_masks)k & (four_masks)(k > 0));
		sum += k * k;
	}
	return sum[0] + sum[1] + sum[2] + sum[3];
}

static void gains(struct place_window *w)
{
	double inverse = 1 / (BANDWIDTH * w->spread * pow((double)w->n, -0.2));
	double jump = (w->level[1] - w->level[0]) * inverse;
	double noise[WIDTH_MAX + 4];
	size_t i;

	for (i = 0; i < w->n; i++)
		noise[i] = (w->x[i] - w->level[i >= w->near]) * inverse;
	for (; i < w->n + 4; i++)
		noise[i] = FAR_AWAY;
	for (i = 0; i < w->n; i++) {
		double l = i < w->near ? noise[i] : noise[i] + jump;
		double r = l - jump;
		double own_l = kernel(l - noise[i]);
		double own_r = kernel(r - noise[i]);

		/* less the value's own kernel; max: rounding */
		l = fmax(0, density(noise, w->n, l) - own_l);
		r = fmax(0, density(noise, w->n, r) - own_r);
		w->gain[i] = log((DENSITY_FLOOR + l) / (DENSITY_FLOOR + r));
	}
}

/* Half of the points have no noise at all: each belongs to the level that is nearer. */
static void exact_gains(struct place_window *w)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		double l = fabs(w->x[i] - w->level[0]);
		double r = fabs(w->x[i] - w->level[1]);

		w->gain[i] = l < r ? 20 : l > r ? -20 : 0;
	}
}

/* total[t]: log likelihood of a change before the point t, but for a constant. */
static void interval(const double *total, size_t from, size_t to, size_t best, double tempered,
		     struct changepoint_place *ret)
{
	double weight[WIDTH_MAX + 1];
	double all = 0;
	double held;
	size_t lo = best;
	size_t hi = best;
	size_t t;

	for (t = from; t <= to; t++) {
		weight[t] = exp(tempered * (total[t] - total[best]));
		all += weight[t];
	}
	held = weight[best];
	while (held < LEVEL * all && (lo > from || hi < to)) {
		if (hi == to || (lo > from && weight[lo - 1] >= weight[hi + 1]))
			held += weight[--lo];
		else
			held += weight[++hi];
	}
	ret->lo = lo;
	ret->hi = hi;
}

void changepoint_find_place(const struct changepoint_series *s, size_t start, size_t near,
			    size_t end, struct changepoint_place *ret)
{
	size_t first = near - start > WINDOW_MAX ? near - WINDOW_MAX : start;
	size_t last = end - near > WINDOW_MAX ? near + WINDOW_MAX : end;
	size_t margin = s->options->min_segment;
	struct place_window w = {.x = s->x + first, .n = last - first, .near = near - first};
	double total[WIDTH_MAX + 1];
	size_t from, to, best, t;

	*ret = (struct changepoint_place){near, near, near};
	if (w.n < 2 * margin || w.near < margin || w.n - w.near < margin)
		return;
	if (measure(&w))
		gains(&w);
	else
		exact_gains(&w);
	total[0] = 0;
	for (t = 0; t < w.n; t++)
		total[t + 1] = total[t] + w.gain[t];
	from = margin;
	to = w.n - margin;
	best = w.near;
	for (t = from; t <= to; t++)
		if (total[t] > total[best] + 1e-9)
			best = t;
	interval(total, from, to, best, (1 - s->autocorr) / (1 + s->autocorr), ret);
	ret->index = first + best;
	ret->lo += first;
	ret->hi += first;
}
