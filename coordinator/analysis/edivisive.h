/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * E-divisive with exponent 1 (Matteson and James 2014, JASA 109, 334-345) as Apache Otava 1ceb153
 * runs it (Fleming et al. 2023, ICPE, 199-206), so that its settings mean here what they mean there.
 * Pure.
 *
 *     q(X, Y) = 2 / (m + n) sum |x - y| - 2 m / ((m + n) (n - 1)) sum |x - x'|
 *                                       - 2 n / ((m + n) (m - 1)) sum |y - y'|
 *
 * Split: in windows of window_len that begin half a window apart (or at the last change found, when
 * that is later) the division with the largest q is taken as long as its t test gives at most a
 * relaxed p: 10 max_pvalue below 0.05, 2 max_pvalue below 0.5. Merge: over the whole series the
 * change with the largest p is taken out while that is max_pvalue or more, then the one with the
 * smallest change while that is at most min_magnitude (a fraction: 0.05).
 *
 * Two slips of the original are kept, because they decide which changes there are: the t test is
 * Student's with the deviations divided by n in place of n - 1, and when a change is taken out, the
 * p of the next two changes are made anew, not that of the one before.
 */
#ifndef KG_COORDINATOR_ANALYSIS_EDIVISIVE_H
#define KG_COORDINATOR_ANALYSIS_EDIVISIVE_H

#include <stddef.h>

#define EDIVISIVE_WINDOW_MAX 10000 /* time grows with its square */

struct edivisive_options {
	size_t window_len; /* 2..EDIVISIVE_WINDOW_MAX */
	double max_pvalue;
	double min_magnitude;
};

struct edivisive_point {
	size_t index; /* first point of the new level */
	double mean_before, mean_after;
	double p;
};

/* `x` is finite and scaled so that sums do not overflow. `*ret` is owned (free). -ENOMEM. Time
 * O(n window_len), a factor of the changes in a window on top. */
int edivisive_find(const double *x, size_t n, const struct edivisive_options *o,
		   struct edivisive_point **ret, size_t *ret_n);

/* The best division of all of x: first point of its right side, and q; 0 and 0 when n < 2.
 * -ENOMEM. Time O(n^2). */
int edivisive_qhat(const double *x, size_t n, size_t *ret_index, double *ret_q);

#endif
