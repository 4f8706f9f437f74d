/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a cell's iterations have more than one mode. Silverman's test (analysis/modes.h) costs
 * milliseconds, which thousands of cells do not have: it is asked only of those whose density at his
 * rule-of-thumb bandwidth (Silverman 1986, Density Estimation, 3.31), far narrower than what the test
 * lets pass as one mode, has a second mode that is worth a look.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/modes.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/report/compare_internal.h"

#define SEED	    1 /* fixed, so that the same data say the same */
#define VALUES_MIN  10
#define GRID	    256
#define HEIGHT_MIN  0.05 /* of the highest: a lower one is a few outliers */
#define BUDGET	    200	 /* tests in one report */
#define MODES_MAX_P 0.01 /* of "one mode": many cells are looked at */

/* Values shared out to the two grid points beside them. */
static void share_out(const double *x, size_t n, double min, double range, double *weights)
{
	for (size_t i = 0; i < n; i++) {
		double at = (x[i] - min) / range * (GRID - 1);
		size_t k = (size_t)at;

		if (k > GRID - 2)
			k = GRID - 2;
		weights[k] += (double)(k + 1) - at;
		weights[k + 1] += at - (double)k;
	}
}

/* Maxima of the density with a bandwidth in steps of the grid, of HEIGHT_MIN or more. */
static size_t count_maxima(const double *weights, double bandwidth)
{
	double kernel[GRID], heights[GRID + 2] = {0}, top = 0;
	size_t n = 0;

	for (size_t d = 0; d < GRID; d++)
		kernel[d] = exp(-0.5 * (double)d / bandwidth * (double)d / bandwidth);
	for (size_t i = 0; i < GRID; i++) {
		for (size_t k = 0; k < GRID; k++)
			heights[i + 1] += weights[k] * kernel[i > k ? i - k : k - i];
		top = fmax(top, heights[i + 1]);
	}
	for (size_t i = 1; i <= GRID; i++)
		n += heights[i] > heights[i - 1] && heights[i] >= heights[i + 1] &&
		     heights[i] >= HEIGHT_MIN * top;
	return n;
}

static int worth_a_look(const double *x, size_t n, bool *ret)
{
	double weights[GRID] = {0}, spread, range, bandwidth;
	struct stats_summary s;
	int rc = stats_summarise(x, n, &s, NULL);

	*ret = false;
	if (rc < 0)
		return rc;
	range = s.max - s.min;
	spread = (s.q75 - s.q25) / 1.34;
	if (!(spread > 0) || s.sd < spread)
		spread = s.sd;
	if (!(range > 0) || !(spread > 0))
		return 0;
	if (!isfinite(range)) { /* beyond what can be shared out here */
		*ret = true;
		return 0;
	}
	share_out(x, n, s.min, range, weights);
	bandwidth = 0.9 * spread * pow((double)n, -0.2) / range * (GRID - 1);
	*ret = count_maxima(weights, fmax(bandwidth, 1.5)) > 1;
	return 0;
}

int cell_multimodal(const struct table *t, const struct cell_data *d, struct modes_budget *budget,
		    bool *ret)
{
	const double *x = d->n_used ? t->boots[d->used].values : NULL;
	struct modes_result m;
	bool look = false;
	size_t n = 0;
	int rc = 0;

	*ret = false;
	for (size_t i = 0; i < d->n_used; i++)
		n += t->boots[d->used + i].n; /* boots of a cell follow on each other */
	if (n >= VALUES_MIN)
		rc = worth_a_look(x, n, &look);
	if (rc < 0 || !look)
		return rc == -ENOMEM ? rc : 0;
	if (budget->used == BUDGET) {
		budget->left_out++;
		return 0;
	}
	budget->used++;
	rc = modes_find(x, n, SEED, &m, NULL);
	*ret = rc == 0 && m.modes > 1 && m.p <= MODES_MAX_P;
	return rc == -ENOMEM ? rc : 0;
}
