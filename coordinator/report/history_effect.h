/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much the level of a series moved at a change, with an interval. Pure.
 *
 * As for a pair of sides (verdict.h): exp of the Hodges-Lehmann shift of the logarithms, and the
 * interval of verdict_shift.h. The sides are the points of the level before and of the level after,
 * the HISTORY_EFFECT_POINTS nearest of each. A series with values <= 0 has no logarithms: there it
 * is the shift over the median of the level before. The points are taken as independent and the place
 * of the change as known, so the interval is a little too narrow for a change whose place is not sure.
 */
#ifndef KG_COORDINATOR_REPORT_HISTORY_EFFECT_H
#define KG_COORDINATOR_REPORT_HISTORY_EFFECT_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/analysis/changepoint.h"

#define HISTORY_EFFECT_POINTS 30

struct history_effect {
	bool has_effect;   /* false: for a change of the spread, and after a level of 0 */
	double pct;	   /* positive: the values grew */
	bool has_interval; /* false: too few points for 95 % */
	double lo_pct, hi_pct;
};

/* Of c[k]; c[0..n_c) are all changes of x[0..n) in order of index. KG_EINVALID (values that are not
 * finite), -ENOMEM. */
int history_effect(const double *x, size_t n, const struct changepoint *c, size_t n_c, size_t k,
		   struct history_effect *ret, struct kg_err *err);

#endif
