/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/verdict_shift.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "coordinator/analysis/dist.h"

#define COUNTS (VERDICT_SHIFT_EXACT * VERDICT_SHIFT_EXACT + 1)

/* Number of arrangements for each U: the Gaussian binomial [nx + ny over nx], one factor
 * (1 - q^(nx + i)) / (1 - q^i) after the other. Every step is a polynomial of whole numbers below
 * C(50, 25) = 1.3e14, so that doubles are exact. */
static void u_counts(size_t nx, size_t ny, double counts[COUNTS])
{
	size_t top = nx * ny;

	for (size_t u = 0; u <= top; u++)
		counts[u] = u == 0;
	for (size_t i = 1; i <= ny; i++) {
		for (size_t u = top; u >= nx + i; u--)
			counts[u] -= counts[u - nx - i];
		for (size_t u = i; u <= top; u++)
			counts[u] += counts[u - i];
	}
}

double verdict_shift_place_of(const double *counts, size_t top, double level)
{
	double total = 0, tail = 0;

	for (size_t u = 0; u <= top; u++)
		total += counts[u];
	for (size_t k = 1; k <= top; k++) {
		double before = 1 - 2 * tail / total, here;

		/* The pair of the k-th from below and from above fails when the statistic < k. */
		tail += counts[k - 1];
		here = 1 - 2 * tail / total;
		if (here < level)
			return (double)(k - 1) + (before - level) / (before - here);
	}
	return (double)top;
}

double verdict_shift_place(size_t nx, size_t ny, double level)
{
	double n = (double)nx, m = (double)ny, mid = (n * m + 1) / 2, counts[COUNTS];

	if (nx <= VERDICT_SHIFT_EXACT && ny <= VERDICT_SHIFT_EXACT) {
		u_counts(nx, ny, counts);
		return verdict_shift_place_of(counts, nx * ny, level);
	}
	return mid - stats_norm_quantile(0.5 + level / 2) * sqrt(n * m * (n + m + 1) / 12);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double verdict_shift_at(const double *sorted, double at)
{
	double below = floor(at), share = at - below;
	size_t k = (size_t)below;

	return share > 0 ? sorted[k - 1] + share * (sorted[k] - sorted[k - 1]) : sorted[k - 1];
}

int verdict_shift(const double *x, size_t nx, const double *y, size_t ny, double level,
		  struct stats_shift *ret, struct kg_err *err)
{
	size_t n = 0;
	double at, *d;

	if (nx == 0 || ny == 0 || nx > VERDICT_SHIFT_DIFFERENCES / ny)
		return stats_shift(x, nx, y, ny, level, ret, err);
	for (size_t i = 0; i < nx + ny; i++) {
		if (!isfinite(i < nx ? x[i] : y[i - nx]))
			return kg_err_set(err, KG_EINVALID, "a value is not finite");
	}
	if (!(level > 0 && level < 1))
		return kg_err_set(err, KG_EINVALID, "level %g is not between 0 and 1", level);
	d = malloc(nx * ny * sizeof(*d));
	if (!d)
		return kg_err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < nx; i++) {
		for (size_t k = 0; k < ny; k++)
			d[n++] = x[i] - y[k];
	}
	qsort(d, n, sizeof(*d), by_value);
	at = verdict_shift_place(nx, ny, level);
	ret->shift = n % 2 ? d[n / 2] : d[n / 2 - 1] + (d[n / 2] - d[n / 2 - 1]) / 2;
	ret->has_interval = at >= 1;
	ret->lo = ret->has_interval ? verdict_shift_at(d, at) : d[0];
	ret->hi = ret->has_interval ? verdict_shift_at(d, (double)(n + 1) - at) : d[n - 1];
	free(d);
	return 0;
}
