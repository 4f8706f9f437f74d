/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers that other tools print, exactly as they do, for people who know them; never kgrid's own
 * verdict. Pure. Sources: MMTests lib/MMTests/Stat.pm and Compare.pm; LKP sbin/compare and
 * lib/stats.rb; netperf netlib.c (calculate_confidence).
 */
#ifndef KG_COORDINATOR_ANALYSIS_COMPAT_H
#define KG_COORDINATOR_ANALYSIS_COMPAT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

/* 100 new / base - 100; positive is better when higher is. Where there is no ratio, MMTests counts
 * like this: equal values or new 0: 0; base 0: 100. */
double compat_mmtests_pdiff(double new_value, double base);
/* 100 - 100 new / base; positive is better when lower is. Equal values: 0; new 0: 100; base 0: -99. */
double compat_mmtests_pndiff(double new_value, double base);

enum compat_star { COMPAT_STAR_SD, COMPAT_STAR_WELCH }; /* today; before November 2024 */
struct compat_side {
	double mean, sd;
	size_t n;
};
/* SD: |difference| beyond 1.96 (s1 + s2), 1.96 being the normal's quantile. WELCH: p < 0.05 with whole degrees of freedom. *ret_cidiff is
 * (base - new) / (1.96 (s1 + s2)); base - new when neither side varies. */
bool compat_mmtests_star(enum compat_star rule, const struct compat_side *base,
			 const struct compat_side *new_side, double *ret_cidiff);

/* LKP: whether ranges and medians separate (each median beyond the whole other side; the upper of two
 * middle values; n / 32 values are left out at both ends before) and the ratio of the medians exceeds
 * the bound (1.01 for index metrics, else 1.05). False for an empty side, values that are not finite,
 * and when memory ends. */
bool compat_lkp_changed(const double *base, size_t n_base, const double *new_values, size_t n_new,
			bool index_metric);
/* Mean of the best 95 % (the best floor(0.95 n), at least 1). NaN for no values, for one that is not
 * finite, and when memory ends. */
double compat_best95(const double *x, size_t n, bool higher_is_better);
/* netperf's -I: full width of the interval as a percentage of the mean, by the exact quantile of t
 * (netperf has a table of three decimals). KG_EINVALID: fewer than 2 values, a mean of 0. */
int compat_netperf_interval(const double *x, size_t n, int level_pct, double *ret_width_pct,
			    struct kg_err *err);

#endif
