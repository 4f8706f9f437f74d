/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Noise profile of one machine, workload, parameters and metric, out of A/A boots: the same kernel
 * and list again and again. Pure.
 *
 * The verdict rule is tried on two kinds of A/A pairs: interleaved halves (of each two boots that
 * follow each other one to either side, at random), as A and B are run, and one block of boots
 * against a later one, as the baseline of another day is used. Halves alone would tell little: the
 * test is made so that random halves of any data give alpha. The kind that does worse counts.
 * 10 boots are the fewest.
 *
 * Drift: median of the slopes between all pairs of boots (Theil 1950; Sen 1968, JASA 63, 1379-1389)
 * with the interval from Kendall's distribution, exact up to 30 boots, its ends interpolated to the
 * level as in verdict_shift.h.
 *
 * Detectable: boots are drawn by a smoothed bootstrap of these ones, and for each draw the smallest
 * shift for which all conditions of verdict.h hold; what 80 % of 400 draws need.
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
	size_t splits;		    /* A/A pairs that were compared; 0: too few boots */
	double false_positive_rate; /* of the verdict rule, in the worse kind; 0 when no splits */
	double log_ratio_sd;	    /* of its A/A effects around 0; of shares where values <= 0 */
	double min_effect_pct;	    /* 1, or max(1, 3 sd) when the rate exceeds 2 alpha */
	bool raised;		    /* the latter */
	bool has_drift;		    /* 6 boots or more */
	double drift_pct_per_boot, drift_lo, drift_hi; /* Theil-Sen slope and its 95 % interval */
	double detectable_pct[3]; /* smallest change found with power 0.8 at 5, 8, 12 boots a side;
				   * 0: not known, or never at this alpha */
};

/* `boots` in time order. KG_EINVALID: none, or not finite; -ENOMEM. */
int noise_profile(const struct verdict_side *boots, const struct verdict_policy *policy,
		  uint64_t seed, struct noise_profile *ret, struct kg_err *err);

#endif
