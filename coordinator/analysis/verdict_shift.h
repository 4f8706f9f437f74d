/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hodges-Lehmann shift with an interval at its nominal level. Pure.
 *
 * The order statistics of the differences that stats_shift() takes hold the shift with at least
 * the level, and with few values with clearly more: 96.8 % instead of 95 % at 5 + 5. So the ends are
 * interpolated, linearly in the coverage, between the last order statistic that has the level and
 * the next one that has not, as Hettmansperger and Sheather do for the median (1986, Stat. Probab.
 * Lett. 4, 75-79). The price: the nominal level is met on average over continuous distributions and
 * not guaranteed. tests/bench/detect measures it. Above VERDICT_SHIFT_EXACT values a side the places
 * come from the normal approximation of U, not rounded.
 */
#ifndef KG_COORDINATOR_ANALYSIS_VERDICT_SHIFT_H
#define KG_COORDINATOR_ANALYSIS_VERDICT_SHIFT_H

#include "coordinator/analysis/rank.h"

#define VERDICT_SHIFT_EXACT	  25	  /* counts of U stay whole numbers in a double */
#define VERDICT_SHIFT_DIFFERENCES 1000000 /* above, stats_shift() as it is */

/* Place (1-based, mostly between two) of the lower end among the nx ny ordered differences; below 1
 * there are too few. Its floor is the last difference whose interval has the level. */
double verdict_shift_place(size_t nx, size_t ny, double level);
/* What is at place 1 <= at <= number of ordered values. */
double verdict_shift_at(const double *sorted, double at);
/* The same from the counts of any symmetric statistic 0..top: arrangements for each value. */
double verdict_shift_place_of(const double *counts, size_t top, double level);

/* As stats_shift(), but for the level; without an interval lo and hi are the range of all
 * differences. */
int verdict_shift(const double *x, size_t nx, const double *y, size_t ny, double level,
		  struct stats_shift *ret, struct kg_err *err);

#endif
