/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BCa bootstrap intervals (Efron 1987, JASA 82, 171-185) with the fixed generator, so that the same
 * seed gives the same interval. Ties with the estimate count half in z0; quantiles are type 7. Pure.
 */
#ifndef KG_COORDINATOR_ANALYSIS_BOOTSTRAP_H
#define KG_COORDINATOR_ANALYSIS_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

/* `x` may be reordered by the statistic. */
typedef double (*bootstrap_statistic)(double *x, size_t n);
double bootstrap_mean(double *x, size_t n);
double bootstrap_median(double *x, size_t n);

struct bootstrap_interval {
	double theta, z0, accel, lo, hi;
};
int bootstrap_bca(const double *x, size_t n, bootstrap_statistic stat, unsigned resamples,
		  uint64_t seed, double level, struct bootstrap_interval *ret, struct kg_err *err);

#endif
