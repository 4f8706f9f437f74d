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

/* 100 new / base - 100; positive is better when higher is. NaN for a base of 0. */
double compat_mmtests_pdiff(double new_value, double base);
/* 100 - 100 new / base; positive is better when lower is. */
double compat_mmtests_pndiff(double new_value, double base);

enum compat_star { COMPAT_STAR_SD, COMPAT_STAR_WELCH }; /* today; before November 2024 */
struct compat_side {
	double mean, sd;
	size_t n;
};
/* SD: |difference| beyond 1.96 (s1 + s2). *ret_cidiff is as MMTests counts it (vectors). */
bool compat_mmtests_star(enum compat_star rule, const struct compat_side *base,
			 const struct compat_side *new_side, double *ret_cidiff);

/* LKP: whether ranges and medians separate and the ratio exceeds the bound (1.01 for index metrics,
 * else 1.05). */
bool compat_lkp_changed(const double *base, size_t n_base, const double *new_values, size_t n_new,
			bool index_metric);
/* Mean of the best 95 % (the best floor(0.95 n), at least 1). */
double compat_best95(const double *x, size_t n, bool higher_is_better);
/* netperf's -I: full width of the interval as a percentage of the mean. */
int compat_netperf_interval(const double *x, size_t n, int level_pct, double *ret_width_pct,
			    struct kg_err *err);

#endif
