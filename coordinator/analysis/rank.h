/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rank tests and the shift that goes with them. Pure.
 *
 * Mann-Whitney U (Mann and Whitney 1947, Ann. Math. Stat. 18, 50-60): without ties exact by the
 * recurrence of the counts as long as nx ny <= STATS_EXACT_PAIRS_MAX (its work grows with the square
 * of that: 0.03 s there); with ties by permutation with mid-ranks as long as C(n+m, n) <=
 * STATS_PERMUTATIONS_MAX; else normal with the tie and the 0.5 continuity corrections (Lehmann,
 * Nonparametrics, 1.4). p is two-sided, min(1, 2 min tail). All values equal: p = 1.
 *
 * Hodges-Lehmann shift: median of all x - y; its interval are order statistics of those
 * differences at the U test's quantiles, as R's wilcox.test does (Hodges and Lehmann 1963, Ann.
 * Math. Stat. 34, 598-611; Bauer 1972, JASA 67, 687-690).
 */
#ifndef KG_COORDINATOR_ANALYSIS_RANK_H
#define KG_COORDINATOR_ANALYSIS_RANK_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

#define STATS_PERMUTATIONS_MAX 200000
#define STATS_EXACT_PAIRS_MAX  10000
#define STATS_KS_EXACT_MAX     10000000

enum stats_method { STATS_METHOD_EXACT, STATS_METHOD_PERMUTATION, STATS_METHOD_NORMAL };

struct stats_mwu {
	double u;		  /* pairs with x > y, ties half */
	double p;		  /* two-sided */
	double p_less, p_greater; /* one-sided: x tends to be less, greater than y */
	double p_normal;	  /* two-sided, by the normal approximation, whatever the method */
	double cles;		  /* P(x > y), ties half */
	double cliffs_delta;	  /* P(x > y) - P(x < y) */
	enum stats_method method;
	bool ties;
};

/* KG_EINVALID: an empty side or a value that is not finite; -ENOMEM. O(N log N), and below the
 * limits above the exact count. */
int stats_mwu(const double *x, size_t nx, const double *y, size_t ny, struct stats_mwu *ret,
	      struct kg_err *err);
/* Smallest two-sided p that nx + ny values can give: 2 / C(nx + ny, nx), at most 1. */
double stats_mwu_min_p(size_t nx, size_t ny);

struct stats_shift {
	double shift;	   /* x - y */
	bool has_interval; /* false: too few values for the level; then the range of all differences */
	double lo, hi;	   /* at least `level` */
};

/* Errors as above; also KG_EINVALID for a level outside (0, 1) and for differences beyond what a
 * double holds. The order statistics are those of the distribution without ties, with ties too. Time
 * and memory stay O(N log N) for sides of 10^6 (selection in the sorted matrix
 * of differences, Monahan 1984, ACM TOMS 10, 265-270, or likewise). */
int stats_shift(const double *x, size_t nx, const double *y, size_t ny, double level,
		struct stats_shift *ret, struct kg_err *err);
/* Median of the Walsh averages (one sample). */
int stats_center(const double *x, size_t n, double *ret, struct kg_err *err);
/* Two-sample Kolmogorov-Smirnov, exact p (ties too) while nx * ny <= 10^7, by the number of paths that
 * stay within D (Hodges 1957, Ark. Mat. 3, 469-486; with ties Schroeer and Trenkler 1995, Comput. Stat.
 * Data Anal. 20, 185-202), else asymptotic (Smirnov 1948, Ann. Math. Stat. 19, 279-281). */
int stats_ks(const double *x, size_t nx, const double *y, size_t ny, double *ret_d, double *ret_p,
	     struct kg_err *err);

#endif
