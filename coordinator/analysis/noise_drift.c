/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/noise_impl.h"
#include "coordinator/analysis/verdict_shift.h"

#define LEVEL	    0.95
#define DRIFT_LEAST 6	 /* boots */
#define DRIFT_MOST  2000 /* two million slopes; of more boots a regular subsample */
#define EXACT	    30
#define EXACT_PAIRS (EXACT * (EXACT - 1) / 2)

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Share of the orders of n values that have 0, 1, ... pairs the wrong way (Kendall 1938, Biometrika
 * 30, 81-93). */
static void inversions(size_t n, double counts[EXACT_PAIRS + 1])
{
	size_t top = n * (n - 1) / 2;

	for (size_t k = 0; k <= top; k++)
		counts[k] = k == 0;
	for (size_t i = 2; i <= n; i++) {
		double next[EXACT_PAIRS + 1];

		for (size_t k = 0; k <= top; k++) {
			double sum = 0;

			for (size_t j = 0; j < i && j <= k; j++)
				sum += counts[k - j];
			next[k] = sum / (double)i;
		}
		for (size_t k = 0; k <= top; k++)
			counts[k] = next[k];
	}
}

/* Place of the lower end among the ordered slopes (Sen 1968, JASA 63, 1379-1389). */
static double slope_place(size_t n)
{
	double counts[EXACT_PAIRS + 1], m = (double)n;

	if (n <= EXACT) {
		inversions(n, counts);
		return verdict_shift_place_of(counts, n * (n - 1) / 2, LEVEL);
	}
	return (m * (m - 1) / 2 + 1 -
		stats_norm_quantile(0.5 + LEVEL / 2) * sqrt(m * (m - 1) * (2 * m + 5) / 18)) /
	       2;
}

/* Every i-th value, i boots apart. */
static size_t subsample(const double *y, size_t n, double *ret, size_t *ret_step)
{
	size_t step = (n + DRIFT_MOST - 1) / DRIFT_MOST, k = 0;

	for (size_t i = 0; i < n; i += step)
		ret[k++] = y[i];
	*ret_step = step;
	return k;
}

int noise_drift(const double *y, size_t n, struct noise_profile *p, struct kg_err *err)
{
	size_t m, k = 0, step;
	double *x, *slopes, at, pct;

	if (n < DRIFT_LEAST)
		return 0;
	x = calloc(DRIFT_MOST < n ? DRIFT_MOST : n, sizeof(*x));
	if (!x)
		return kg_err_set(err, -ENOMEM, "out of memory");
	m = subsample(y, n, x, &step);
	slopes = calloc(m * (m - 1) / 2, sizeof(*slopes));
	if (!slopes) {
		free(x);
		return kg_err_set(err, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < m; i++) {
		for (size_t j = i + 1; j < m; j++)
			slopes[k++] = (x[j] - x[i]) / (double)(j - i);
	}
	qsort(slopes, k, sizeof(*slopes), by_value);
	at = slope_place(m);
	pct = 100 / (double)step;
	p->has_drift = true;
	p->drift_pct_per_boot = pct * verdict_shift_at(slopes, (double)(k + 1) / 2);
	p->drift_lo = pct * verdict_shift_at(slopes, at);
	p->drift_hi = pct * verdict_shift_at(slopes, (double)(k + 1) - at);
	free(slopes);
	free(x);
	return 0;
}
