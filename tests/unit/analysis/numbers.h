/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the statistics share. */
#ifndef KG_TESTS_UNIT_ANALYSIS_NUMBERS_H
#define KG_TESTS_UNIT_ANALYSIS_NUMBERS_H

#include "tests/lib/cmocka_all.h"

#include <math.h>
#include <stdlib.h>

#include "coordinator/analysis/rng.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static inline void near_by(double got, double want, double rtol, double floor)
{
	if (!(fabs(got - want) <= rtol * fabs(want) + floor))
		fail_msg("%.17g, not %.17g", got, want);
}

static inline void near(double got, double want, double rtol)
{
	near_by(got, want, rtol, 0);
}

/* Owned (free): n values of the normal distribution; whole ones with `grain` > 0, so with ties. */
static inline double *draw(size_t n, double mean, double sd, double grain, uint64_t seed)
{
	struct stats_rng rng = {.state = seed};
	double *x = calloc(n, sizeof(*x));

	assert_non_null(x);
	for (size_t i = 0; i < n; i++) {
		x[i] = mean + sd * stats_rng_normal(&rng);
		if (grain > 0)
			x[i] = round(x[i] / grain) * grain;
	}
	return x;
}

static inline void shuffle(double *x, size_t n, uint64_t seed)
{
	struct stats_rng rng = {.state = seed};

	for (size_t i = n; i > 1; i--) {
		size_t j = stats_rng_index(&rng, (uint32_t)i);
		double v = x[i - 1];

		x[i - 1] = x[j];
		x[j] = v;
	}
}

static inline int order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

#endif
