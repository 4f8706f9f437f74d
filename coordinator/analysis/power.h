/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many a side a test needs, and what it can see. Pure. Two-sample t test of equal sides by the
 * noncentral t distribution (Cohen 1988, Statistical Power Analysis, 2.4; as R's power.t.test, one
 * tail of the rejection region); a rank test of normal data needs pi/3 times as many (Pitman
 * efficiency, Lehmann, Nonparametrics, 2.4).
 */
#ifndef KG_COORDINATOR_ANALYSIS_POWER_H
#define KG_COORDINATOR_ANALYSIS_POWER_H

#include "common/err.h"

/* Values a side, not rounded; effect_sd = difference / sd > 0. KG_EINVALID for impossible
 * arguments. */
int stats_power_n(double effect_sd, double power, double alpha, double *ret_n, struct kg_err *err);
/* Power of n a side. */
int stats_power(double n, double effect_sd, double alpha, double *ret_power, struct kg_err *err);
/* Smallest difference, in sd, that n a side find with `power`. */
int stats_power_effect(double n, double power, double alpha, double *ret_effect_sd,
		       struct kg_err *err);

#endif
