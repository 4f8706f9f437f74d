/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Welch's and Student's t tests of two means (Welch 1947, Biometrika 34, 28-35; Satterthwaite 1946,
 * Biometrics Bull. 2, 110-114). Pure. Both sides constant: equal means give p = 1, others p = 0 with
 * `constant` set; no interval then.
 */
#ifndef KG_COORDINATOR_ANALYSIS_TTEST_H
#define KG_COORDINATOR_ANALYSIS_TTEST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

struct stats_ttest {
	double t, df, p; /* two-sided */
	double diff;	 /* mean of x - mean of y */
	double lo, hi;	 /* 95 % of diff */
	bool constant;	 /* no variance on either side: t, df, lo, hi are not set */
};

/* KG_EINVALID: fewer than 2 values on a side, or one that is not finite. */
int stats_welch(const double *x, size_t nx, const double *y, size_t ny, struct stats_ttest *ret,
		struct kg_err *err);
int stats_student(const double *x, size_t nx, const double *y, size_t ny, struct stats_ttest *ret,
		  struct kg_err *err);

#endif
