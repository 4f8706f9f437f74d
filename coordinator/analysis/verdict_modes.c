/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a side has several modes, without a bootstrap for each of the many that have one. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/modes.h"
#include "coordinator/analysis/ordering.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/verdict_impl.h"

#define SEED	   1	/* fixed, so that the same data say the same */
#define LEAST	   10	/* values; modes_find() says one mode below */
#define SEEN_MOST  2000 /* modes_find() looks at no more either */
#define GRID	   256
#define IQR_NORMAL 1.349 /* in sd */

static double density(const double *x, size_t n, double at, double width)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double z = (x[i] - at) / width;

		sum += exp(-0.5 * z * z);
	}
	return sum;
}

/* Maxima of the density with Silverman's width, 0.9 min(sd, IQR / 1.349) n^-0.2 (1986, Density
 * Estimation, 3.31): a sample that has one with it would not fail his test. `x` in order. */
static bool may_have_several(const double *x, size_t n, const struct stats_summary *s)
{
	double spread = s->q75 > s->q25 ? fmin(s->sd, (s->q75 - s->q25) / IQR_NORMAL) : s->sd;
	double width = 0.9 * spread * pow((double)n, -0.2), last = 0;
	bool rising = true;
	int maxima = 0;

	if (!(width > 0))
		return false;
	for (int i = 0; i <= GRID; i++) {
		double at = x[0] - width + (x[n - 1] - x[0] + 2 * width) * i / GRID;
		double d = density(x, n, at, width);

		if (rising && d < last)
			maxima++;
		rising = d > last || (rising && !(d < last));
		last = d;
	}
	return maxima > 1 || (maxima == 1 && (x[n - 1] - x[0]) / width > GRID / 2.0);
}

static int several(const double *values, size_t n, bool *ret_several, struct kg_err *err)
{
	size_t step = (n + SEEN_MOST - 1) / SEEN_MOST, seen = 0;
	struct stats_summary s;
	struct modes_result m;
	double *x;
	int rc;

	if (n < LEAST)
		return 0;
	x = stats_sorted_copy(values, n);
	if (!x)
		return kg_err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i += step)
		x[seen++] = x[i];
	rc = stats_summarise(x, seen, &s, err);
	if (rc == 0 && s.has_sd && may_have_several(x, seen, &s)) {
		rc = modes_find(values, n, SEED, &m, err);
		*ret_several = rc == 0 && m.modes > 1;
	}
	free(x);
	return rc == -ENOMEM ? rc : 0; /* else values too far apart for a density */
}

int verdict_several_modes(const struct verdict_side *in, const double *values, bool *ret_several,
			  struct kg_err *err)
{
	size_t n = 0, at = 0;
	double *around;
	int rc;

	*ret_several = false;
	rc = several(values, in->n, ret_several, err);
	for (size_t i = 0; i < in->n; i++)
		n += in->boots[i].n > 1 ? in->boots[i].n : 0;
	if (rc < 0 || *ret_several || n < LEAST)
		return rc;
	around = calloc(n, sizeof(*around));
	if (!around)
		return kg_err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < in->n; i++) {
		for (size_t k = 0; in->boots[i].n > 1 && k < in->boots[i].n; k++)
			around[at++] = in->boots[i].values[k] - values[i];
	}
	rc = several(around, n, ret_several, err);
	free(around);
	return rc;
}
