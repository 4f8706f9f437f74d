/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the noise profile share. Pure. */
#ifndef KG_COORDINATOR_ANALYSIS_NOISE_IMPL_H
#define KG_COORDINATOR_ANALYSIS_NOISE_IMPL_H

#include "coordinator/analysis/noise.h"
#include "coordinator/analysis/rng.h"

/* `values`: the boots' values in time order. Each fills its fields of the profile. */
int noise_splits(const double *values, size_t n, const struct verdict_policy *policy,
		 struct stats_rng *rng, struct noise_profile *p, struct kg_err *err);
/* `y`: logarithms or shares of the median. */
int noise_drift(const double *y, size_t n, struct noise_profile *p, struct kg_err *err);
int noise_detectable(const double *y, size_t n, const struct verdict_policy *policy,
		     struct stats_rng *rng, struct noise_profile *p, struct kg_err *err);

#endif
