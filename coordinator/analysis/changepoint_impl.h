/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files changepoint*.c share; not for others. Series here are finite and scaled by a power
 * of two so that the largest magnitude is below 1: squares and sums cannot overflow. Pure. */
#ifndef KG_COORDINATOR_ANALYSIS_CHANGEPOINT_IMPL_H
#define KG_COORDINATOR_ANALYSIS_CHANGEPOINT_IMPL_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/analysis/changepoint.h"

struct changepoint_series {
	const double *x;
	size_t n;
	double sigma;	 /* noise; 0 only when all values are equal */
	double autocorr; /* lag 1 of the noise, 0 unless it is there for sure */
	const struct changepoint_options *options;
	double *room; /* 2 n doubles for whoever works at the moment */
};

/* A change on its way to being reported; values still scaled. */
struct changepoint_list {
	struct changepoint *at; /* owned (free) */
	size_t n, cap;
};
/* Kept in ascending order of index. -ENOMEM. */
int changepoint_add(struct changepoint_list *l, const struct changepoint *c);
/* changepoint_noise.c */
/* 1.4826 MAD(first differences) / sqrt 2. Where most differences are 0 (values that are rounded
 * coarsely, or a constant with steps), the root of their mean square with the median of those that
 * are not 0 for all of them. 0: all values are equal. `room`: n. */
double changepoint_sigma(const double *x, size_t n, double *room);
/* Lag-1 autocorrelation of what is left when the pieces' medians are taken off, with outliers pulled
 * in to 2.5 robust deviations; 0 where it is not surely there. `room`: 2 n. */
double changepoint_autocorr(const double *x, size_t n, const size_t *cuts, size_t n_cuts,
			    double *room);
/* p of a test that took the values as independent, when they are not: a mean of n values with
 * lag-1 autocorrelation r has the variance of n (1 - r) / (1 + r) independent ones (Bayley and
 * Hammersley 1946, JRSS Suppl. 8, 184-197). */
double changepoint_dependent_p(double p, double autocorr);
/* x with values beyond 4 MAD of the window of 3 on each side put on its median (Hampel). */
void changepoint_hampel(const double *x, size_t n, double *ret);

/* changepoint_prune.c: the level changes. `*ret` owned. */
int changepoint_levels(struct changepoint_series *s, struct changepoint_list *ret);

/* changepoint_place.c */
struct changepoint_place {
	size_t index, lo, hi;
};
/* Where between `start` and `end` the level changes, known to be near `near`. */
void changepoint_find_place(const struct changepoint_series *s, size_t start, size_t near,
			    size_t end, struct changepoint_place *ret);

/* changepoint_ramp.c: steps that are rather ramps become such; stairs become one ramp. */
void changepoint_ramps(const struct changepoint_series *s, struct changepoint_list *l);
/* changepoint_spread.c: adds changes of the spread. -ENOMEM. */
int changepoint_spreads(const struct changepoint_series *s, struct changepoint_list *l);
/* changepoint_newest.c: adds the newest points when they are suspect. -ENOMEM. */
int changepoint_newest(const struct changepoint_series *s, struct changepoint_list *l);
/* changepoint_trend.c: changes of level and slope. */
int changepoint_trends(struct changepoint_series *s, struct changepoint_list *ret);

#endif
