/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Noise profile of one machine, workload, parameters and metric, out of A/A boots: the same kernel
 * and list again and again. Pure.
 */
#ifndef KG_COORDINATOR_ANALYSIS_NOISE_H
#define KG_COORDINATOR_ANALYSIS_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/analysis/verdict.h"

struct noise_profile {
	size_t boots;
	double median;
	bool has_between;
	double between_cov_pct; /* of the boots' medians */
	bool has_within;
	double within_cov_pct; /* median over boots of the CoV of a boot's iterations */
	bool has_autocorrelation;
	double autocorrelation;	    /* lag 1, of boots in time order */
	size_t splits;		    /* random interleaved halves that were compared */
	double false_positive_rate; /* of the verdict rule among them; NaN-free: 0 when no splits */
	double log_ratio_sd;	    /* of the A/A effects */
	double min_effect_pct;	    /* 1, or max(1, 3 sd) when the rate exceeds 2 alpha */
	bool raised;		    /* the latter */
	bool has_drift;
	double drift_pct_per_boot, drift_lo, drift_hi; /* Theil-Sen slope and its 95 % interval */
	double detectable_pct
		[3]; /* smallest change found with power 0.8 at 5, 8, 12 boots a side */
};

/* `boots` in time order. KG_EINVALID: none, or not finite; -ENOMEM. */
int noise_profile(const struct verdict_side *boots, const struct verdict_policy *policy,
		  uint64_t seed, struct noise_profile *ret, struct kg_err *err);

#endif
