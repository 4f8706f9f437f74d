/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a sample of numbers looks like. Pure.
 *
 * Sums are scaled by a power of two before squaring and made in two passes, so that values of
 * 1e150 do not overflow and an offset of 1e9 does not eat the deviation (Chan, Golub and LeVeque
 * 1983, Am. Stat. 37, 242-247). Quantiles are type 7 of Hyndman and Fan 1996, Am. Stat. 50,
 * 361-365. hstddev is MMTests' deviation of a harmonic mean, sqrt(sum (1/x - 1/H)^2 / n * H^4),
 * with the sum over n. Interval of the median: order statistics of the binomial (David and Nagaraja,
 * Order Statistics, 3rd ed., 7.1), for n >= 6.
 */
#ifndef KG_COORDINATOR_ANALYSIS_SUMMARY_H
#define KG_COORDINATOR_ANALYSIS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

struct stats_summary {
	size_t n;
	double mean, median, min, max;
	double q25, q75;
	double mad;  /* raw: median of |x - median|, not scaled */
	bool has_sd; /* n >= 2 */
	double sd;   /* n - 1 */
	bool has_cv; /* has_sd and a mean that is not 0 */
	double cv_pct;
	bool has_hmean; /* all values > 0; the next four too */
	double hmean, gmean, hstddev, hcv_pct;
};

/* KG_EINVALID, naming the place: empty, a value that is not finite, or a range (max - min) beyond
 * what a double holds; so all that is returned is finite. -ENOMEM. `x` is not changed. O(n). */
int stats_summarise(const double *x, size_t n, struct stats_summary *ret, struct kg_err *err);

/* Mean and deviation of finite values, n > 0, about a value they have in common, so that differences
 * of means near 1e9 keep their digits: mean = center + offset. `center` may be any number near the
 * values. Nothing overflows as long as all |x - center| are finite. */
struct stats_moments {
	double offset; /* mean - center */
	double sd;     /* n - 1; exactly 0 for equal values, and for n = 1 */
};
struct stats_moments stats_moments(const double *x, size_t n, double center);

/* For those who ask for the harmonic mean alone: KG_EINVALID, naming the place, for a value <= 0 and
 * as above. */
int stats_hmean(const double *x, size_t n, double *ret, struct kg_err *err);

/* Of finite values; n > 0. `x` is reordered. O(n). */
double stats_median_inplace(double *x, size_t n);
/* Type 7, 0 <= q <= 1, of values in ascending order. */
double stats_quantile_sorted(const double *sorted, size_t n, double q);

/* 1-based places of the order statistics that hold the median with at least `level`; false when n
 * is too small for it (n < 6 at 0.95). */
bool stats_median_order(size_t n, double level, size_t *ret_lo, size_t *ret_hi,
			double *ret_coverage);

#endif
