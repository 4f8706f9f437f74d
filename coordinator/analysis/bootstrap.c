/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/bootstrap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/ordering.h"
#include "coordinator/analysis/rng.h"
#include "coordinator/analysis/summary.h"

#define PAIRWISE_BLOCK 128
#define PAIRWISE_SUMS  8

struct work {
	const double *x;
	size_t n;
	bootstrap_statistic stat;
	double *values;	    /* n, for one sample */
	double *thetas;	    /* of the resamples */
	double *jackknives; /* n */
};

/* Pairwise (Higham 1993, SIAM J. Sci. Comput. 14, 783-799) in NumPy's pattern, eight sums that run side
 * by side in blocks of at most 128 values: the vectors count resamples that equal the estimate, and
 * rounding decides which do. */
static double sum_pairwise(const double *x, size_t n)
{
	double s[PAIRWISE_SUMS], sum = 0;
	size_t i = 0;

	if (n > PAIRWISE_BLOCK) {
		size_t half = n / 2 / PAIRWISE_SUMS * PAIRWISE_SUMS;

		return sum_pairwise(x, half) + sum_pairwise(x + half, n - half);
	}
	if (n >= PAIRWISE_SUMS) {
		memcpy(s, x, sizeof(s));
		for (i = PAIRWISE_SUMS; i + PAIRWISE_SUMS <= n; i += PAIRWISE_SUMS) {
			for (size_t k = 0; k < PAIRWISE_SUMS; k++)
				s[k] += x[i + k];
		}
		sum = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
	}
	for (; i < n; i++)
		sum += x[i];
	return sum;
}

double bootstrap_mean(double *x, size_t n)
{
	double sum = sum_pairwise(x, n);

	if (isfinite(sum))
		return sum / (double)n;
	sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i] / (double)n;
	return sum;
}

double bootstrap_median(double *x, size_t n)
{
	return stats_median_inplace(x, n);
}

static double statistic(struct work *w)
{
	memcpy(w->values, w->x, w->n * sizeof(*w->values));
	return w->stat(w->values, w->n);
}

static void resample(struct work *w, unsigned resamples, uint64_t seed)
{
	struct stats_rng rng = {.state = seed};

	for (unsigned b = 0; b < resamples; b++) {
		for (size_t i = 0; i < w->n; i++)
			w->values[i] = w->x[stats_rng_index(&rng, (uint32_t)w->n)];
		w->thetas[b] = w->stat(w->values, w->n);
	}
}

static void jackknife_each(struct work *w)
{
	for (size_t i = 0; i < w->n; i++) {
		size_t k = 0;

		for (size_t j = 0; j < w->n; j++) {
			if (j != i)
				w->values[k++] = w->x[j];
		}
		w->jackknives[i] = w->stat(w->values, k);
	}
}

/* Leaving out one value gives the median one of three values. */
static void jackknife_median(struct work *w)
{
	size_t n = w->n, half = n / 2;
	double *v = w->values;

	memcpy(v, w->x, n * sizeof(*v));
	stats_sort(v, n);
	for (size_t i = 0; i < n; i++) {
		if (n % 2 == 0)
			w->jackknives[i] = i < half ? v[half] : v[half - 1];
		else if (i < half)
			w->jackknives[i] = stats_middle(v[half], v[half + 1]);
		else if (i == half)
			w->jackknives[i] = stats_middle(v[half - 1], v[half + 1]);
		else
			w->jackknives[i] = stats_middle(v[half - 1], v[half]);
	}
}

static void jackknife_mean(struct work *w)
{
	double n = (double)w->n, mean = statistic(w);

	for (size_t i = 0; i < w->n; i++)
		w->jackknives[i] = mean + (mean - w->x[i]) / (n - 1);
}

static void jackknife(struct work *w)
{
	if (w->n <= BOOTSTRAP_JACKKNIFE_EACH_MAX)
		jackknife_each(w);
	else if (w->stat == bootstrap_mean)
		jackknife_mean(w);
	else
		jackknife_median(w);
}

/* sum d^3 / (6 (sum d^2)^1.5), d in units of the largest, so that no cube overflows */
static double acceleration(const double *jackknives, size_t n)
{
	struct stats_moments m = stats_moments(jackknives, n, jackknives[0]);
	double largest = 0, squares = 0, cubes = 0;

	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, fabs(jackknives[i] - jackknives[0] - m.offset));
	if (m.sd == 0 || largest == 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		double d = (m.offset - (jackknives[i] - jackknives[0])) / largest;

		squares += d * d;
		cubes += d * d * d;
	}
	return cubes / (6 * squares * sqrt(squares));
}

static double bias(const double *thetas, unsigned n, double theta)
{
	double below = 0, share;

	for (unsigned b = 0; b < n; b++)
		below += thetas[b] < theta ? 1 : thetas[b] == theta ? 0.5 : 0;
	share = below / n;
	/* all on one side: as if half a resample were on the other */
	return stats_norm_quantile(fmin(fmax(share, 0.5 / n), 1 - 0.5 / n));
}

static double adjusted(double z0, double accel, double p)
{
	double z = z0 + stats_norm_quantile(p), slope = 1 - accel * z;

	if (slope <= 0) /* beyond where the transformation turns around */
		return z < 0 ? 0 : 1;
	return stats_norm_cdf(z0 + z / slope);
}

static int check(size_t n, bootstrap_statistic stat, unsigned resamples, double level,
		 struct kg_err *err)
{
	if (n > BOOTSTRAP_VALUES_MAX)
		return kg_err_set(err, KG_EINVALID, "%zu values, at most %u are wanted", n,
				  BOOTSTRAP_VALUES_MAX);
	if (n > BOOTSTRAP_JACKKNIFE_EACH_MAX && stat != bootstrap_mean && stat != bootstrap_median)
		return kg_err_set(err, KG_EINVALID,
				  "%zu values, at most %d are wanted for this statistic", n,
				  BOOTSTRAP_JACKKNIFE_EACH_MAX);
	if (resamples < BOOTSTRAP_RESAMPLES_MIN)
		return kg_err_set(err, KG_EINVALID, "%u resamples, at least %d are wanted",
				  resamples, BOOTSTRAP_RESAMPLES_MIN);
	if (!(level > 0) || !(level < 1))
		return kg_err_set(err, KG_EINVALID, "level is %g, above 0 and below 1 is wanted",
				  level);
	return 0;
}

int bootstrap_bca(const double *x, size_t n, bootstrap_statistic stat, unsigned resamples,
		  uint64_t seed, double level, struct bootstrap_interval *ret, struct kg_err *err)
{
	struct work w = {.x = x, .n = n, .stat = stat};
	struct bootstrap_interval r = {0};
	int rc = stats_check(x, n, 2, "x", err);

	if (rc == 0)
		rc = check(n, stat, resamples, level, err);
	if (rc < 0)
		return rc;
	w.values = calloc(n, sizeof(*w.values));
	w.jackknives = calloc(n, sizeof(*w.jackknives));
	w.thetas = calloc(resamples, sizeof(*w.thetas));
	if (!w.values || !w.jackknives || !w.thetas) {
		rc = kg_err_set(err, -ENOMEM, "out of memory for %zu values", n);
		goto out_free;
	}
	r.theta = statistic(&w);
	resample(&w, resamples, seed);
	jackknife(&w);
	r.z0 = bias(w.thetas, resamples, r.theta);
	r.accel = acceleration(w.jackknives, n);
	stats_sort(w.thetas, resamples);
	r.lo = stats_quantile_sorted(w.thetas, resamples, adjusted(r.z0, r.accel, (1 - level) / 2));
	r.hi = stats_quantile_sorted(w.thetas, resamples, adjusted(r.z0, r.accel, (1 + level) / 2));
	*ret = r;
out_free:
	free(w.thetas);
	free(w.jackknives);
	free(w.values);
	return rc;
}
