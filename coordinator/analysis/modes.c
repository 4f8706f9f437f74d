/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For k = 1, 2, 3: the smallest bandwidth at which the density of the sample has at most k modes
 * (their number falls as a Gaussian kernel gets wider, Silverman 1981), then samples from that
 * density, shrunk to the sample's variance: when hardly any of them has more than k modes at that
 * bandwidth, k modes do not explain the sample. Densities are made on a grid, with the values shared
 * out to the two points beside them.
 */
#include "coordinator/analysis/modes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/ordering.h"
#include "coordinator/analysis/rng.h"
#include "coordinator/analysis/summary.h"

#define MODES_MAX     4
#define VALUES_MIN    10
#define VALUES_MAX    2000
#define RESAMPLES     200
#define REJECT_P      0.05
#define GRID	      256
#define GRID_PAD      2 /* points outside of the values at each end */
#define HALVINGS      30
#define BANDWIDTH_MIN 1.5  /* grid steps: below, the grid makes modes of its own */
#define HEIGHT_MIN    1e-6 /* of the highest: lower ones are rounding */

struct density {
	double first, step; /* place of grid point 0, distance of points */
	double weights[GRID];
	double kernel[GRID];
	double heights[GRID];
};

struct sample {
	double *x; /* ascending, scaled to [0, 1] */
	size_t n;
	double mean, sd;
	double *drawn;
};

static void share_out(struct density *d, const double *x, size_t n)
{
	double min = x[0], max = x[0];

	for (size_t i = 1; i < n; i++) {
		min = fmin(min, x[i]);
		max = fmax(max, x[i]);
	}
	memset(d->weights, 0, sizeof(d->weights));
	d->step = (max - min) / (GRID - 1 - 2 * GRID_PAD);
	d->first = min - GRID_PAD * d->step;
	for (size_t i = 0; i < n; i++) {
		double at = d->step > 0 ? (x[i] - d->first) / d->step : GRID_PAD;
		size_t k = (size_t)at;

		if (k > GRID - 2)
			k = GRID - 2;
		d->weights[k] += 1 - (at - (double)k);
		d->weights[k + 1] += at - (double)k;
	}
}

static void smooth(struct density *d, double bandwidth)
{
	for (size_t k = 0; k < GRID; k++) {
		double z = (double)k * d->step / bandwidth;

		d->kernel[k] = exp(-z * z / 2);
	}
	memset(d->heights, 0, sizeof(d->heights));
	for (size_t j = 0; j < GRID; j++) {
		if (d->weights[j] == 0)
			continue;
		for (size_t k = 0; k < GRID; k++)
			d->heights[k] += d->weights[j] * d->kernel[k > j ? k - j : j - k];
	}
}

/* Peaks of the heights; their places go to `centers` (at most `max` of them), if not NULL. */
static unsigned count_peaks(const struct density *d, double *centers, unsigned max)
{
	double highest = 0;
	unsigned n = 0;
	size_t rise = 0;
	bool rising = true;

	for (size_t k = 0; k < GRID; k++)
		highest = fmax(highest, d->heights[k]);
	for (size_t k = 1; k <= GRID; k++) {
		double before = d->heights[k - 1], here = k < GRID ? d->heights[k] : -1;

		if (here > before) {
			rising = true;
			rise = k;
		} else if (here < before && rising) {
			rising = false;
			if (before < highest * HEIGHT_MIN)
				continue;
			if (centers && n < max)
				centers[n] = d->first + d->step * (double)(rise + k - 1) / 2;
			n++;
		}
	}
	return n;
}

static unsigned peaks_at(struct density *d, double bandwidth)
{
	smooth(d, fmax(bandwidth, BANDWIDTH_MIN * d->step));
	return count_peaks(d, NULL, 0);
}

static double critical_bandwidth(struct density *d, unsigned k)
{
	double lo = BANDWIDTH_MIN * d->step, hi = d->step * GRID;

	if (peaks_at(d, lo) <= k)
		return lo;
	for (int i = 0; i < HALVINGS && hi - lo > 1e-4 * hi; i++) {
		double mid = sqrt(lo * hi);

		if (peaks_at(d, mid) <= k)
			hi = mid;
		else
			lo = mid;
	}
	return hi;
}

/* Share of samples from the density of bandwidth h that have more than k modes at h. */
static double p_of(struct sample *s, struct density *d, double h, unsigned k, struct stats_rng *rng)
{
	double shrink = 1 / sqrt(1 + h * h / (s->sd * s->sd));
	unsigned more = 0;

	for (unsigned b = 0; b < RESAMPLES; b++) {
		for (size_t i = 0; i < s->n; i++) {
			double v = s->x[stats_rng_index(rng, (uint32_t)s->n)];

			s->drawn[i] = s->mean + (v - s->mean + h * stats_rng_normal(rng)) * shrink;
		}
		share_out(d, s->drawn, s->n);
		more += peaks_at(d, h) > k;
	}
	return (double)more / RESAMPLES;
}

static void search(struct sample *s, struct density *d, struct stats_rng *rng,
		   struct modes_result *r)
{
	for (unsigned k = 1; k < MODES_MAX; k++) {
		double h, p;

		share_out(d, s->x, s->n);
		h = critical_bandwidth(d, k);
		p = p_of(s, d, h, k, rng);
		if (k == 1)
			r->p = p;
		if (p > REJECT_P) {
			r->modes = k;
			break;
		}
		r->modes = k + 1;
	}
	share_out(d, s->x, s->n);
	smooth(d, critical_bandwidth(d, r->modes));
	r->modes = count_peaks(d, r->centers, r->modes);
}

/* Ascending, every (n / VALUES_MAX)-th one of many, scaled to [0, 1]. */
static int take_sample(const double *x, size_t n, struct sample *s, double *ret_min,
		       double *ret_range)
{
	double *sorted = stats_sorted_copy(x, n);
	struct stats_moments m;

	if (!sorted)
		return -ENOMEM;
	*ret_min = sorted[0];
	*ret_range = sorted[n - 1] - sorted[0];
	s->n = n < VALUES_MAX ? n : VALUES_MAX;
	for (size_t i = 0; i < s->n; i++) {
		double at = ((double)i + 0.5) * (double)n / (double)s->n;
		double v = sorted[n <= VALUES_MAX ? i : (size_t)at];

		s->x[i] = *ret_range > 0 ? (v - *ret_min) / *ret_range : 0;
	}
	m = stats_moments(s->x, s->n, 0);
	s->mean = m.offset;
	s->sd = m.sd;
	free(sorted);
	return 0;
}

int modes_find(const double *x, size_t n, uint64_t seed, struct modes_result *ret,
	       struct kg_err *err)
{
	struct modes_result r = {.modes = 1, .p = 1};
	struct stats_rng rng = {.state = seed};
	struct sample s = {0};
	struct density *d = NULL;
	double min, range;
	int rc = stats_check(x, n, 1, "x", err);

	if (rc < 0)
		return rc;
	s.x = calloc(VALUES_MAX, sizeof(*s.x));
	s.drawn = calloc(VALUES_MAX, sizeof(*s.drawn));
	d = calloc(1, sizeof(*d));
	rc = s.x && s.drawn && d ? take_sample(x, n, &s, &min, &range) : -ENOMEM;
	if (rc < 0) {
		rc = kg_err_set(err, rc, "out of memory for %zu values", n);
		goto out_free;
	}
	if (!isfinite(range)) {
		rc = kg_err_set(err, KG_EINVALID, "'x' has a range that a number cannot hold");
		goto out_free;
	}
	if (n >= VALUES_MIN && range > 0 && s.sd > 0) {
		search(&s, d, &rng, &r);
	} else {
		r.centers[0] =
			s.n % 2 ? s.x[s.n / 2] : stats_middle(s.x[s.n / 2 - 1], s.x[s.n / 2]);
	}
	for (unsigned i = 0; i < r.modes; i++)
		r.centers[i] = min + r.centers[i] * range;
	*ret = r;
out_free:
	free(d);
	free(s.drawn);
	free(s.x);
	return rc;
}
