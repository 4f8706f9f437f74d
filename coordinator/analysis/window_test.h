/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two short pieces of a series next to each other: how much their level differs, and how sure that
 * is. Made for many small windows: no allocation, a few microseconds. Pure.
 *
 * Mann-Whitney as rank.h defines it, exact without ties, exact given the ties (permutation of the
 * mid-ranks) while the shorter side has at most WINDOW_EXACT_TIES points, else normal with tie and
 * continuity corrections.
 *
 * Beside it Welch's t test of trimmed means (Yuen 1974, Biometrika 61, 165-170): 15 % are cut at each
 * end and the variance is the winsorised one. One spike of 20 % in 30 points of 1 % noise takes all
 * power from Welch's test of plain means, a step and a handful of spikes are common in histories; on
 * sides of fewer than seven points nothing is trimmed and it is Welch's test.
 */
#ifndef KG_COORDINATOR_ANALYSIS_WINDOW_TEST_H
#define KG_COORDINATOR_ANALYSIS_WINDOW_TEST_H

#include <stdbool.h>
#include <stddef.h>

#define WINDOW_MAX	  30 /* points a side */
#define WINDOW_EXACT_TIES 8

struct window_result {
	double median_left, median_right;
	double rank_p, mean_p; /* two-sided */
	double spread;	       /* 1.4826 median of |value - median of its side| */
};

struct window_sides {
	const double *left, *right;
	size_t n_left, n_right; /* 1..WINDOW_MAX */
	/* the variance is one for both sides (Student, not Welch): for a side that is too short to
	 * show its own, of 3 values it is off by more than a factor of 4 once in ten times */
	bool pooled;
};

/* Values are finite, scaled so that squares do not overflow. A p that is certainly above `needed` may
 * be given by its approximation. */
void window_test(const struct window_sides *w, double needed, struct window_result *ret);

#endif
