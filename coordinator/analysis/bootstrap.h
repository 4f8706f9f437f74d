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

#define BOOTSTRAP_RESAMPLES_MIN	     20
#define BOOTSTRAP_VALUES_MAX	     UINT32_MAX
#define BOOTSTRAP_JACKKNIFE_EACH_MAX 2000 /* above only the two statistics here: n^2 steps */

/* `x` may be reordered by the statistic. */
typedef double (*bootstrap_statistic)(double *x, size_t n);
double bootstrap_mean(double *x, size_t n);
double bootstrap_median(double *x, size_t n);

struct bootstrap_interval {
	double theta, z0, accel, lo, hi;
};
/* KG_EINVALID: fewer than 2 values, one that is not finite, a level outside (0, 1), or beyond the
 * limits above; -ENOMEM. Equal values give an interval of no width. */
int bootstrap_bca(const double *x, size_t n, bootstrap_statistic stat, unsigned resamples,
		  uint64_t seed, double level, struct bootstrap_interval *ret, struct kg_err *err);

#endif
