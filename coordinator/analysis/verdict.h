/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a comparison says. Pure. ANALYSIS.md's rules, in this order:
 *
 * Unit: the boot. A boot's value is the median of its iterations; tests are over boots. Side A is
 * the baseline.
 *
 * Per pair (verdict_pair): Mann-Whitney over the boots' values; effect = exp of the Hodges-Lehmann
 * shift of logarithms, as a percentage, with its interval at the nominal level (verdict_shift.h);
 * where a value is <= 0, the shift over the median of A. Sign: positive is better (100 (r - 1) for
 * higher, 100 (1 - r) for lower, as MMTests); without a declared direction it is the plain change.
 * Over a baseline with the median 0 there is no percentage: has_effect is false, `sign` remains.
 *
 * Per family (verdict_family): q over all pairs of a report, then the first word that fits:
 *   regression, improvement (different without a direction):
 *       as many boots a side as p needs to reach alpha (5 at 0.01; VERDICT_GATE_BOOTS for a gate),
 *       p <= alpha and q <= q_max,
 *       |effect| >= min effect,
 *       the interval's end nearer to 0 lies on the effect's side, VERDICT_NEAR_SHARE of the min
 *       effect away or more
 *   same: the whole interval lies within +- min effect
 *   unstable: the iterations say a difference (p_iterations <= alpha, min effect or more) that the
 *       boots do not carry (p > alpha), and boots of one side differ beyond their iterations
 *       (Kruskal and Wallis, p <= 0.05)
 *   unknown: else, with how many boots a side would decide, about
 * Gate mode: Holm, and at least VERDICT_GATE_BOOTS a side, else unknown with that reason.
 *
 * Why the near end: between two times of the same kernel there is a real shift, small and not of
 * the kernel's making, so that "no change" is a band around 0 and not the point that p tests (a
 * minimum-effect test: Murphy and Myors 1999, J. Appl. Psychol. 84, 234-248). The share is one number
 * for all, chosen with real A/A series in view (10 boots a side, other days): it takes a quarter of
 * the false alarms that p and the effect leave, for 0.02 of the power at twice the min effect and
 * none at five times; either half of the series alone and fresh draws say about the same
 * (tests/bench/detect). The interval is the one that is shown, so that word and interval do not
 * contradict. More boots draw it together, so that they never lose a change that is clearly above
 * the min effect.
 */
#ifndef KG_COORDINATOR_ANALYSIS_VERDICT_H
#define KG_COORDINATOR_ANALYSIS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/analysis/adjust.h"

#define VERDICT_GATE_BOOTS  8
#define VERDICT_NEAR_SHARE  0.625
#define VERDICT_REASON_SIZE 192

enum verdict_word {
	VERDICT_NONE, /* the baseline, or nothing to compare */
	VERDICT_REGRESSION,
	VERDICT_IMPROVEMENT,
	VERDICT_DIFFERENT,
	VERDICT_SAME,
	VERDICT_UNKNOWN,
	VERDICT_UNSTABLE,
	VERDICT_INCOMPARABLE, /* decided by provenance, before numbers are looked at */
};

const char *verdict_name(enum verdict_word w);	   /* "regression"; "" for NONE */
enum verdict_word verdict_parse(const char *name); /* NONE for an unknown one */

enum verdict_direction { VERDICT_NO_DIRECTION, VERDICT_HIGHER, VERDICT_LOWER };
/* "higher", "lower", else no direction. */
enum verdict_direction verdict_direction(const char *name);

struct verdict_boot {
	const double *values; /* iterations; borrows */
	size_t n;	      /* > 0 */
};

struct verdict_side {
	const struct verdict_boot *boots;
	size_t n;
};

struct verdict_policy {
	double alpha;		      /* 0.01 */
	double q_max;		      /* 0.05 */
	double level;		      /* of intervals: 0.95 */
	double min_effect_pct;	      /* 1; a machine's own A/A runs may raise it */
	enum stats_adjust correction; /* BH; gate: HOLM */
	bool gate;
	bool brief; /* only what words need: neither Welch nor modes */
};
void verdict_policy_init(struct verdict_policy *p); /* the values above */

struct verdict {
	enum verdict_word word;
	enum verdict_direction direction;
	bool has_effect;
	double effect_pct; /* positive is better, see above */
	bool has_interval; /* the boots are enough for the level */
	double lo_pct, hi_pct;
	bool has_p; /* both sides have boots */
	double p;   /* Mann-Whitney over boots */
	double q;   /* in its family */
	bool has_welch;
	double welch_p; /* beside it, as information */
	double p_worse; /* one-sided: B worse than A, for confirmation; 1 without a direction */
	double p_iterations; /* the same test over all iterations, as information */
	double cliffs_delta; /* positive is better, as the effect */
	bool has_log;	     /* the effect is a ratio (all values > 0) with a standard error */
	double log_ratio;    /* of B over A, not turned by the direction: for meta.h */
	double log_se;	     /* half the interval over Student's quantile; may be 0 */
	bool has_noise;
	double noise_pct;	      /* deviation between boots of one side, pooled */
	double effect_iterations_pct; /* change of the median of all iterations, sign as above */
	bool boots_differ; /* boots of one side differ more than their iterations explain */
	double sign;	   /* of the effect: 1 better or more, -1, 0; without a percentage too */
	size_t boots[2], iterations[2];
	uint32_t
		more_boots; /* unknown: further boots a side that would decide, about; 0: not known */
	bool multimodal[2]; /* its boots, or the iterations around them (10 or more) */
	char reason[VERDICT_REASON_SIZE]; /* "" or why the word is not a plain answer */
};

/* One pair: everything but q and word (which is left NONE, or UNKNOWN with a reason when a side has
 * no boot, or INCOMPARABLE never). KG_EINVALID: a value that is not finite, a boot without values;
 * -ENOMEM. */
int verdict_pair(const struct verdict_side *a, const struct verdict_side *b,
		 enum verdict_direction direction, const struct verdict_policy *policy,
		 struct verdict *ret, struct kg_err *err);
/* q and words of all pairs of one report. A verdict that is INCOMPARABLE already stays and takes
 * no part. policies[i] belongs to verdicts[i] (min effects differ); correction and gate are the
 * first one's. -ENOMEM. */
int verdict_family(struct verdict *verdicts, const struct verdict_policy *policies, size_t n);

/* Median over boots of their values: what tables show, and its interval by order statistics (6
 * boots or more) or BCa bootstrap with a fixed seed (5; the range of 4 holds the median in 87.5 %
 * only, so there is none below). KG_EINVALID: no boot, or as verdict_pair(). */
struct verdict_level {
	double value;
	bool has_interval;
	double lo, hi;
	bool has_cov;
	double cov_pct; /* between boots */
};
int verdict_level(const struct verdict_side *s, double level, struct verdict_level *ret,
		  struct kg_err *err);

/* "Everything moved": whether most metrics of one machine shift together, so that the environment is
 * to be suspected first. Over the pairs of one machine and one boundary, different metrics or
 * workloads, after verdict_family(): at least 4 pairs, more than half of them changed, and three
 * quarters of these to the same side (better or worse; up or down without a direction). */
bool verdict_everything_moved(const struct verdict *verdicts, size_t n);

#endif
